"""Benchmark the weekly job: detection against plain igraph, a million facts, real weeks, one more report, tracking.

`python -m benchmarks.themes detection | million | weeks --kb KB | one-more --kb KB | tracking`
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING

import igraph
import numpy as np

from benchmarks.themes_planted import planted_weeks, turns_found
from communities.detection import DetectionOptions, detect, modularity
from communities.projection import Projection
from communities.weekly import run_week
from kg.ids import fact_id
from kg.model import Document, Entity, Evidence, Fact, Kind, Reading
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.store.port import Store

_NODES, _PAIRS, _SEED = 200_000, 1_000_000, 20260101
_READ = datetime(2026, 1, 1, tzinfo=UTC)
_WEEK = timedelta(days=7)
_FIRST, _LAST = date(2025, 5, 16), date(2025, 12, 26)
_PER_DOCUMENT = 500


def planted_graph(nodes: int, pairs: int, communities: int, *, mixing: float) -> Projection:
    """Return a graph of equal-sized communities with a share `mixing` of random pairs."""
    source = np.random.default_rng(_SEED)
    home = np.sort(source.integers(0, communities, nodes))
    starts = np.searchsorted(home, np.arange(communities + 1))
    one = source.integers(0, nodes, pairs * 13 // 10)
    inside = starts[home[one]] + (source.random(len(one)) * np.diff(starts)[home[one]]).astype(np.int64)
    other = np.where(source.random(len(one)) < mixing, source.integers(0, nodes, len(one)), inside)
    keys = np.unique((np.minimum(one, other) * nodes + np.maximum(one, other))[one != other])
    kept = np.sort(source.permutation(keys)[:pairs])
    return Projection(np.arange(nodes), np.stack(np.divmod(kept, nodes), axis=1), np.ones(len(kept)))


def measure_detection(rounds: int = 3) -> None:
    """Compare `detect` with igraph on the same arrays, by minimum CPU seconds."""
    graph = planted_graph(_NODES, _PAIRS, 4_000, mixing=0.3)
    flat = DetectionOptions(resolutions=(1.0,), largest=_NODES, smallest=1, seed=_SEED)
    rows: dict[str, list[float]] = {}
    for _ in range(rounds):
        began = time.process_time()
        bare = igraph.Graph(n=_NODES, edges=graph.pairs)
        igraph.set_random_number_generator(random.Random(_SEED))  # noqa: S311 -- a seed
        built = time.process_time()
        bare.community_leiden(objective_function="modularity", weights=graph.weights.tolist(), n_iterations=4)
        rows.setdefault("bare igraph: the call", []).append(time.process_time() - built)
        rows.setdefault("bare igraph: graph and call", []).append(time.process_time() - began)
        for name, options in (("detect, one level", flat), ("detect, two levels and size limits", DetectionOptions())):
            began = time.process_time()
            found = detect(graph, options)
            rows.setdefault(name, []).append(time.process_time() - began)
            if options is flat:
                quality = modularity(graph, found[0])
    least = {name: min(times) for name, times in rows.items()}
    peer = least["bare igraph: graph and call"]
    for name, seconds in least.items():
        print(f"{name:38} {seconds:7.2f} s  {seconds / peer:5.2f} ×")
    print(f"modularity of one level {quality:.4f}")


def synthetic_readings(facts: int, entities: int) -> Iterator[Reading]:
    """Yield documents with synthetic chain and causal facts among products in planted groups."""
    graph = planted_graph(entities, facts, entities // 50, mixing=0.3)
    pairs = graph.pairs.tolist()
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


def measure_weeks(kb: Path) -> None:
    """Run every Friday and print the table of weeks."""
    store = open_store(kb)
    print("| week | themes | with sub-themes | rewritten | share | stability | variation | in themes | events |")
    print("|---|---|---|---|---|---|---|---|---|")
    day = _FIRST
    while day <= _LAST:
        week = run_week(store, day)
        quality, total = week.run.quality, week.written + week.carried
        print(
            f"| {day} | {quality['themes']:.0f} | {total} | {week.written} | {week.written / max(total, 1):.0%} | "
            f"{quality['stability']:.3f} | {quality['variation']:.2f} | {quality['in_themes']:.0%} | "
            f"{len(week.run.events)} |"
        )
        day += _WEEK
    store.close()


def measure_one_more(kb: Path, reports: int) -> None:
    """Measure the share of summaries rewritten when one report is added and the same day is run again."""
    with tempfile.TemporaryDirectory() as folder:
        shares = [_one_more(Path(copyfile(kb, Path(folder) / "one.liantu")), number) for number in range(reports)]
    for written, total in shares:
        print(f"{written:4} of {total} rewritten, {written / total:.1%}")
    print(f"mean {sum(w / t for w, t in shares) / len(shares):.1%}, worst {max(w / t for w, t in shares):.1%}")


def _one_more(kb: Path, number: int) -> tuple[int, int]:
    """Return rewritten and total summaries after adding one held-back report to the first 500 by date."""
    store = open_store(kb)
    heads = sorted(store.view().documents(), key=lambda head: (head.published_on, head.id))
    kept, last = heads[:500], heads[499].published_on
    held = random.Random(number).choice(kept)  # noqa: S311 -- a sample
    reading = _reading(store, held.id)
    with store.writer() as writer:
        for head in (*heads[500:], held):
            writer.remove(head.id)
    run_week(store, last - _WEEK)
    run_week(store, last)
    with store.writer() as writer:
        writer.write(reading)
    week = run_week(store, last)
    store.close()
    return week.written, week.written + week.carried


def _reading(store: Store, document: str) -> Reading:
    """Reconstruct a document's reading from the store, so that it can be written again."""
    view = store.view()
    body = view.document(document)
    assert body is not None
    facts = [
        fact.with_evidence(replace(item, witness="") for item in fact.evidence if item.document == document)
        for fact in view.facts()
        if any(item.document == document for item in fact.evidence)
    ]
    mentions = tuple(view.mentions(document))
    mentioned = {mention.entity for mention in mentions} | {
        end for fact in facts for end in (fact.subject, fact.object)
    }
    entities = [entity for name in sorted(mentioned) if name and (entity := view.entity(name))]
    about = [entity for item in entities if item.about and (entity := view.entity(item.about))]
    known = {entity.id: entity for entity in (*entities, *about)}
    return Reading(
        body,
        chunks=tuple(view.chunks(document)),
        mentions=mentions,
        entities=tuple(known.values()),
        facts=tuple(replace(fact, superseded_by="") for fact in facts),
    )


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
    parser.add_argument("what", choices=["detection", "million", "weeks", "one-more", "tracking"])
    parser.add_argument("--kb", type=Path, help="a knowledge base; one-more works on a copy")
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--entities", type=int, default=200_000)
    parser.add_argument("--reports", type=int, default=8)
    options = parser.parse_args()
    match options.what:
        case "detection":
            measure_detection()
        case "million":
            measure_million(options.facts, options.entities, options.kb)
        case "weeks":
            measure_weeks(options.kb)
        case "one-more":
            measure_one_more(options.kb, options.reports)
        case "tracking":
            measure_tracking()


if __name__ == "__main__":
    main()
