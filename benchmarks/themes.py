"""Benchmark the weekly job: themes of a day, topics that one theme carries, past weeks, one more note, a million facts.

`python -m benchmarks.themes day --kb KB [--as-of DAY] [--topics FILE] | weeks --kb KB | one-more --kb KB`
`| million --kb KB | tracking`; all but `million` work on a copy of the base. A topics file has one JSON object a line:
{"topic": "固态电池", "companies": [{"name": "宁德时代", "code": "300750.SZ"}, …]}.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import tempfile
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.themes_planted import planted_weeks, turns_found
from communities.tracking import stability
from communities.weekly import past_weeks, run_week
from kg.ids import fact_id
from kg.model import Document, Entity, Evidence, Fact, Kind, Reading
from kg.query.themes.biography import title_of
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.model import Run
    from kg.store.port import Store

_SEED = 20260101
_CODE = re.compile(r"（[\w.]+\.[A-Z]{1,2}）|（\w+\.US）")
_READ = datetime(2026, 1, 1, tzinfo=UTC)
_WEEK = timedelta(days=7)
_FIRST = date(2025, 5, 16)
_PER_DOCUMENT = 500


def synthetic_readings(facts: int, entities: int) -> Iterator[Reading]:
    """Yield documents with synthetic chain and causal facts among products in planted groups."""
    source = np.random.default_rng(_SEED)
    one = source.integers(0, entities, facts)
    near = one // 50 * 50 + source.integers(0, 50, facts)
    other = np.where(source.random(facts) < 0.3, source.integers(0, entities, facts), near)
    pairs = [pair for pair in zip(one.tolist(), other.tolist(), strict=True) if pair[0] != pair[1]]
    for number, begin in enumerate(range(0, len(pairs), _PER_DOCUMENT)):
        identity, day = f"doc:{number}", _FIRST + timedelta(days=number % 200)
        rows = [_fact(identity, day, place, *pair) for place, pair in enumerate(pairs[begin : begin + _PER_DOCUMENT])]
        names = sorted({end for fact in rows for end in (fact.subject, fact.object)})
        described = tuple(Entity(name, Kind.PRODUCT, name.split(":")[1]) for name in names)
        text = "甲" * len(rows)
        yield Reading(Document(identity, identity, day, text), entities=described, facts=tuple(rows), recorded_at=_READ)


def _fact(document: str, day: date, place: int, one: int, other: int) -> Fact:
    relation = "affects" if (one + other) % 3 == 0 else "upstream_of"
    evidence = Evidence(document, place, place + 1, "甲", day, _READ, confidence=0.5 + (one % 5) / 10)
    fact = Fact("", f"product:p{one}", relation, f"product:p{other}", sign=1 if relation == "affects" else 0)
    return replace(fact, id=fact_id(fact), evidence=(evidence,))


def measure_million(facts: int, entities: int, kb: Path) -> None:
    """Write synthetic facts, unless the base exists, and time the job on them."""
    if not kb.exists():
        began = time.perf_counter()
        store = open_store(kb, create=True)
        with store.writer() as writer, writer.together():
            for reading in synthetic_readings(facts, entities):
                writer.write(reading)
        store.close()
        print(f"written in {time.perf_counter() - began:.0f} s (not included)")
    store = open_store(kb)
    stages: list[tuple[str, float]] = []
    began, cpu_began = time.perf_counter(), time.process_time()
    week = run_week(store, None, progress=lambda stage, _d, _t: stages.append((stage, time.perf_counter() - began)))
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
    first_seen: dict[str, float] = {}
    for stage, at in stages:
        first_seen.setdefault(stage, at)
    print("  ".join(f"{stage} at {at:.0f} s" for stage, at in first_seen.items()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{store.stats()['facts']:,} facts, {len(week.run.communities):,} themes: {seconds:.0f} s wall, "
          f"{cpu_seconds:.0f} s CPU, peak {peak:,.0f} MB")  # fmt: skip
    store.close()


def measure_day(kb: Path, day: date | None, topics: Path | None) -> None:
    """Print count, sizes, empty summaries and time of the themes of a day, and which topics one of them carries."""
    with _copied(kb) as store:
        began, cpu_began = time.perf_counter(), time.process_time()
        run = run_week(store, day).run
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
        top = [community for community in run.communities if community.level == 0]
        sizes = np.percentile([len(community.members) for community in top] or [0], [0, 25, 50, 75, 100]).astype(int)
        lines = [
            line for community in run.communities for line in (community.summary.lines if community.summary else ())
        ]
        coded = sum(bool(_CODE.search(line.text)) for line in lines)
        print(f"{run.as_of}: {len(top)} themes, {len(run.communities)} with sub-themes; {seconds:.1f} s, "
              f"{cpu_seconds:.1f} s CPU; members {sizes.tolist()} (least, quartiles, most); {len(lines)} lines, "
              f"{coded} with a code, {sum(not line.facts for line in lines)} without a fact")  # fmt: skip
        print("  ".join(f"{name} {value:g}" for name, value in sorted(run.quality.items())))
        if topics:
            codes = {
                code: entity.id for entity in store.view(as_of=day).entities(Kind.COMPANY) for code in entity.codes
            }
            _print_topics(run, codes, [json.loads(line) for line in topics.read_text(encoding="utf-8").splitlines()])


def _print_topics(run: Run, codes: dict[str, str], topics: list[dict[str, Any]]) -> None:
    """Print for each topic the theme of its name with most of its companies; six of ten carry it."""
    carried = 0
    for item in topics:
        wanted = {codes.get(each["code"], each["code"]) for each in item["companies"]}
        named = [community for community in run.communities if _is_of(title_of(community), item["topic"])]
        best = max(named, key=lambda each: len(wanted.intersection(each.members)), default=None)
        held = len(wanted.intersection(best.members)) if best else 0
        carried += 10 * held >= 6 * len(wanted) > 0
        print(f"{item['topic']}: {title_of(best) if best else '—'}, {held} of {len(wanted)}")
    print(f"{carried} of {len(topics)} topics are carried by one theme of their name")


def _is_of(title: str, topic: str) -> bool:
    name = title.split("：", 1)[0]
    return name in topic or topic in name


def measure_weeks(kb: Path) -> None:
    """Run all past weeks and print the table."""
    print("| week | themes | with sub-themes | rewritten | share | stability | variation | in themes | events | s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with _copied(kb) as store:
        for day in past_weeks(store, None):
            began = time.perf_counter()
            week = run_week(store, day)
            quality, total = week.run.quality, week.written + week.carried
            print(
                f"| {day} | {quality['themes']:.0f} | {total} | {week.written} | {week.written / max(total, 1):.0%} | "
                f"{quality['stability']:.3f} | {quality['variation']:.2f} | {quality['in_themes']:.0%} | "
                f"{len(week.run.events)} | {time.perf_counter() - began:.1f} |"
            )


def measure_one_more(kb: Path, last: date | None, notes: int) -> None:
    """Measure the share of summaries rewritten, and of members that move, when one note of the last weeks is added."""
    with _copied(kb) as store:
        days = past_weeks(store, last)
        heads = [head.id for head in store.view(as_of=days[-1]).documents() if head.published_on > days[-1] - 4 * _WEEK]
        found = []
        for document in random.Random(0).sample(sorted(heads), notes):  # noqa: S311 -- a sample
            found.append(_one_more(store, document, days))
            print("{:4} of {} rewritten, {:.1%} of members of the top move".format(*found[-1]), flush=True)
    shares = [written / total for written, total, _ in found]
    moved = sum(each for *_, each in found) / len(found)
    print(f"mean {sum(shares) / len(shares):.1%}, worst {max(shares):.1%}; {moved:.2%} of members move")


def _one_more(store: Store, document: str, days: list[date]) -> tuple[int, int, float]:
    """Return rewritten and total summaries after one more note on the last day, and the share of members that move."""
    reading = store.reading(document)
    assert reading is not None
    with store.writer() as writer:
        writer.remove(document)
    run_week(store, days[-2])
    without = run_week(store, days[-1]).run
    with store.writer() as writer:
        writer.write(reading)
    week = run_week(store, days[-1])
    top = [[each for each in run.communities if each.level == 0] for run in (without, week.run)]
    return week.written, week.written + week.carried, 1 - stability(*top)


@contextmanager
def _copied(kb: Path) -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(copyfile(kb, Path(folder) / "copy.liantu")))
        try:
            yield store
        finally:
            store.close()


def measure_tracking() -> None:
    """Print precision and recall of detected splits and mergers against the planted ones."""
    for mixing in (0.1, 0.2, 0.3):
        counts = [turns_found(planted_weeks(seed=seed, weeks=24, mixing=mixing)) for seed in range(5)]
        right, detected, planted = (sum(each) for each in zip(*counts, strict=True))
        precision, recall = right / max(detected, 1), right / max(planted, 1)
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        print(f"mixing {mixing}: {planted} planted, {detected} detected, {right} right: "
              f"precision {precision:.3f} recall {recall:.3f} F1 {f1:.3f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["day", "weeks", "one-more", "million", "tracking"])
    parser.add_argument("--kb", type=Path, help="a knowledge base")
    parser.add_argument("--as-of", type=date.fromisoformat)
    parser.add_argument("--topics", type=Path)
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--entities", type=int, default=200_000)
    parser.add_argument("--notes", type=int, default=20)
    options = parser.parse_args()
    match options.what:
        case "day":
            measure_day(options.kb, options.as_of, options.topics)
        case "weeks":
            measure_weeks(options.kb)
        case "one-more":
            measure_one_more(options.kb, options.as_of, options.notes)
        case "million":
            measure_million(options.facts, options.entities, options.kb)
        case "tracking":
            measure_tracking()


if __name__ == "__main__":
    main()
