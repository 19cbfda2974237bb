"""How well and how fast names become codes: `python -m benchmarks.linking astock|speed [--master PATH ...]`.

astock: share of dated news whose gold code is among the linked codes (its leading zeros are lost in the file).
speed: the finder beside a bare automaton pass over the same text with the same patterns, one core, best of three.
The data is read from LIANTU_DATA or ../shared/data; where it is absent the benchmark says so and ends with success.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import daachorse

from kg.securities.finder import Finder
from kg.securities.master import Master
from kg.securities.resolver import Resolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATA = Path(os.environ.get("LIANTU_DATA", "../shared/data"))
SPEED_BYTES = 20_000_000
MISSES_SHOWN = 40


def read_news(path: Path) -> Iterator[tuple[str, date, str]]:
    """Gold code, day and text of each row."""
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            yield row["CODE"].zfill(6), date.fromisoformat(row["DATE"][:10]), row["text_a"]


def load_master(options: argparse.Namespace) -> Master:
    start = time.perf_counter()
    master = Master.load(options.master, namechange=options.namechange)
    print(f"master: {len(master)} issuers, {time.perf_counter() - start:.2f} s, {len(master.faults)} rows skipped")
    return master


def measure_astock(options: argparse.Namespace) -> None:
    path = options.file or DATA / "astock" / "val.csv"
    if not path.exists():
        print(f"skipped: no {path}; set LIANTU_DATA or --file")
        return
    master = load_master(options)
    resolver = Resolver(master)
    total = linked = ambiguous = extra = 0
    misses = []
    start = time.perf_counter()
    for gold, day, text in read_news(path):
        found = resolver.resolve(text, day)
        entities = {each.entity_id for each in found if each.status == "linked"}
        issuer = master.by_code(gold)
        total += 1
        if issuer is not None and issuer.id in entities:
            linked += 1
        else:
            near = any(issuer and issuer.id == each.entity_id for hit in found for each in hit.candidates)
            ambiguous += near
            misses.append((gold, issuer.name if issuer else "not in the master", near, str(day), text[:50]))
        extra += len(entities - {issuer.id if issuer else None})
    seconds = time.perf_counter() - start
    print(f"gold code linked: {linked}/{total} = {linked / total:.2%}; only a candidate: {ambiguous / total:.2%}")
    print(f"other issuers linked per text: {extra / total:.2f}; {total / seconds:.0f} texts/s")
    for miss in misses[: MISSES_SHOWN if options.misses else 0]:
        print("miss", *miss)


def best_of(runs: int, call: Callable[[], object]) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def measure_speed(options: argparse.Namespace) -> None:
    notes = sorted((DATA / "gator").glob("*.md"))
    if not notes:
        print(f"skipped: no notes in {DATA / 'gator'}; set LIANTU_DATA")
        return
    once = "\n".join(path.read_text(encoding="utf-8") for path in notes)
    text = once * (SPEED_BYTES // len(once.encode()) + 1)
    size = len(text.encode()) / 1e6
    finder = Finder(load_master(options))
    bare = daachorse.CharwiseDoubleArrayAhoCorasick(finder.patterns, daachorse.MATCH_KIND_LEFTMOST_LONGEST)
    bare_seconds = best_of(3, lambda: bare.find(text))
    seconds = best_of(3, lambda: finder.find(text))
    print(f"text {size:.1f} MB, {len(finder.patterns)} patterns, {len(finder.find(text))} names found")
    print(f"bare automaton {size / bare_seconds:.1f} MB/s | finder {size / seconds:.1f} MB/s")
    print(f"share of the bare pass: {bare_seconds / seconds:.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measure", choices=("astock", "speed"))
    parser.add_argument("--file", type=Path)
    parser.add_argument("--master", type=Path)
    parser.add_argument("--namechange", type=Path)
    parser.add_argument("--misses", action="store_true", help="print the texts whose gold code was not linked")
    options = parser.parse_args()
    {"astock": measure_astock, "speed": measure_speed}[options.measure](options)


if __name__ == "__main__":
    main()
