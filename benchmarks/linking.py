"""Benchmark securities name linking: `python -m benchmarks.linking speed|start|common|registered`.

speed: the finder compared with a bare automaton pass over the same text and patterns; minimum CPU time of three runs.
start: CPU seconds to load and compile the shipped master, minimum of five runs.
common: every hit of a name that is also a common word, with its resolution, in a sample of notes, for manual review.
registered: the registered names of the development data's master, looked up by the shipped one, each once as it is and
once without its own issuer, when every link is false.
For linking accuracy, run `python -m benchmarks.quality astock`.

Data is read from LIANTU_DATA or ../shared/data; if it is missing, the benchmark prints a notice and exits successfully.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections import Counter
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import daachorse

from kg.securities.finder import NameFinder
from kg.securities.master import Master
from kg.securities.resolver import Resolver

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(os.environ.get("LIANTU_DATA", "../shared/data"))
SPEED_BYTES = 20_000_000
NOTES_DAY = date(2025, 9, 1)  # the notes are from 2025; few state their date in a parseable place
AROUND = 28


def best_of(runs: int, call: Callable[[], object]) -> float:
    """Return the minimum CPU seconds, to exclude other load on the machine."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def measure_speed(notes: list[Path], options: argparse.Namespace) -> None:
    once = "\n".join(path.read_text(encoding="utf-8") for path in notes)
    text = once * (SPEED_BYTES // len(once.encode()) + 1)
    size = len(text.encode()) / 1e6
    finder = NameFinder(Master.load(options.master, namechange=options.namechange))
    bare = daachorse.CharwiseDoubleArrayAhoCorasick(finder.patterns, daachorse.MATCH_KIND_LEFTMOST_LONGEST)
    bare_seconds = best_of(3, lambda: bare.find(text))
    seconds = best_of(3, lambda: finder.find(text))
    print(f"text {size:.1f} MB, {len(finder.patterns):,} patterns, {len(finder.find(text)):,} names found\n")
    print("| pass | MB/s | relative to bare |\n|---|---|---|")
    print(f"| bare automaton | {size / bare_seconds:.1f} | 100% |")
    print(f"| finder | {size / seconds:.1f} | {bare_seconds / seconds:.0%} |")


def measure_registered(_: list[Path], options: argparse.Namespace) -> None:
    master = Master.load(options.master, namechange=options.namechange)
    counts = {"as it is": Counter[str](), "without its issuer": Counter[str]()}
    for line in (DATA / "securities" / "merged_master.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        issuer = master.by_code(row["code"])
        if issuer is None or not row["full"] or not row["code"].endswith((".SH", ".SZ", ".BJ")):
            continue
        name = row["full"][max(row["full"])]
        known = {each.id for each, _ in master.entries(name)}
        derived = master.derived.registered(name, NOTES_DAY)
        found = {each.id for each in derived.issuers} if derived else set()
        sure = derived is not None and derived.sure
        for ids, count in zip((known or found, found - {issuer.id}), counts.values(), strict=True):
            linked = len(ids) == 1 and (sure or ids == known)
            count["none" if not ids else "ambiguous" if not linked else "right" if issuer.id in ids else "wrong"] += 1
    print("| registered names | right | wrong | ambiguous | none |\n|---|---|---|---|---|")
    for label, count in counts.items():
        print(f"| {label} | {count['right']:,} | {count['wrong']:,} | {count['ambiguous']:,} | {count['none']:,} |")


def measure_start(_: list[Path], options: argparse.Namespace) -> None:
    loading = best_of(5, lambda: Master.load(options.master, namechange=options.namechange))
    master = Master.load(options.master, namechange=options.namechange)
    compiling = best_of(5, lambda: NameFinder(master))
    print("| step | CPU seconds |\n|---|---|")
    print(f"| read and join {len(master):,} issuers | {loading:.2f} |")
    print(f"| compile the names | {compiling:.2f} |\n| total | {loading + compiling:.2f} |")


def list_common(notes: list[Path], options: argparse.Namespace) -> None:
    """Print linked and ambiguous hits; rejected ones are only counted."""
    master = Master.load(options.master, namechange=options.namechange)
    resolver = Resolver(master)
    chosen = sorted(random.Random(options.seed).sample(notes, min(options.notes, len(notes))))  # noqa: S311 -- a sample
    counts = dict.fromkeys(("linked", "ambiguous", "unknown"), 0)
    for path in chosen:
        text = path.read_text(encoding="utf-8")
        for hit in resolver.resolve(text, NOTES_DAY):
            if master.word_kind(hit.text) is None:
                continue
            counts[hit.status] += 1
            if hit.status == "linked" or (options.all and hit.status == "ambiguous"):
                around = text[max(0, hit.start - AROUND) : hit.end + AROUND].replace("\n", "⏎")
                print(f"{path.stem}\t{hit.status}\t{hit.text}\t{hit.code}\t{hit.score}\t{around}")
    print(f"{len(chosen)} notes: " + ", ".join(f"{count} {status}" for status, count in counts.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measures = {"speed": measure_speed, "start": measure_start, "common": list_common, "registered": measure_registered}
    parser.add_argument("measure", choices=measures)
    parser.add_argument("--master", type=Path)
    parser.add_argument("--namechange", type=Path)
    parser.add_argument("--notes", type=int, default=60, help="notes to read for `common`")
    parser.add_argument("--seed", type=int, default=20251122, help="seed of the sample")
    parser.add_argument("--all", action="store_true", help="include ambiguous hits")
    options = parser.parse_args()
    notes = sorted((DATA / "gator").glob("*.md"))
    if not notes and options.measure != "start":
        print(f"skipped: no notes in {DATA / 'gator'}; set LIANTU_DATA")
        return
    measures[options.measure](notes, options)


if __name__ == "__main__":
    main()
