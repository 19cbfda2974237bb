"""Three-hop expansion with relation and time filters: `Snapshot.expand` compared with peers.

Every peer gets the same arrays and expands the same three frontiers; speed-ups compare the total time of all walks. The
NumPy loop and NetworkX keep the strongest edges per node and relation, as `expand` does; Ladybug returns all edges that
pass the filter, which is less work per query.
"""

from __future__ import annotations

import csv
import tempfile
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from benchmarks.store.growing import synthetic
from benchmarks.store.table import Figure
from kg.graph.edges import Edges
from kg.graph.snapshot import Snapshot
from kg.period import Period
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from kg.store.port import Store

RELATIONS = ("supplies", "produces", "upstream_of", "affects")
WITHIN = Period(date(2022, 1, 1), date(2023, 1, 1))
LIMIT, HOPS = 10, 3


@dataclass(frozen=True, slots=True)
class Task:
    """A snapshot with the three frontiers of each walk."""

    snapshot: Snapshot
    walks: list[list[NDArray[np.int64]]]


def task(snapshot: Snapshot, count: int) -> Task:
    """Start walks from the subjects of random facts, so that none is empty, and compute their frontiers."""
    source = np.random.default_rng(11)
    starts = source.choice(snapshot.edges().source, size=count, replace=False)
    return Task(snapshot, [_frontiers(snapshot, int(start)) for start in starts])


def _frontiers(snapshot: Snapshot, start: int) -> list[NDArray[np.int64]]:
    found = [np.array([start], dtype=np.int64)]
    for _ in range(HOPS - 1):
        edges = _expand(snapshot, found[-1])
        found.append(np.unique(edges.target).astype(np.int64))
    return found


def _expand(snapshot: Snapshot, frontier: NDArray[np.int64]) -> Edges:
    return snapshot.expand(frontier, RELATIONS, "out", limit_per_node=LIMIT, during=WITHIN)


def numpy_loop(snapshot: Snapshot) -> Callable[[NDArray[np.int64]], list[NDArray[Any]]]:
    """Return a minimal hop over bare CSR arrays that returns the same columns as `expand`."""
    edges = snapshot.edges()
    ends = np.concatenate([[0], np.cumsum(np.bincount(edges.source, minlength=len(snapshot.entity_ids)))])
    wanted = np.isin(np.array(snapshot.relation_names), RELATIONS)
    low, high = WITHIN.start.toordinal(), WITHIN.end.toordinal()  # type: ignore[union-attr]
    columns = [np.ascontiguousarray(getattr(edges, name)) for name in Edges.__slots__]
    relation, start, end = (columns[Edges.__slots__.index(name)] for name in ("relation", "start", "end"))

    def hop(frontier: NDArray[np.int64]) -> list[NDArray[Any]]:
        first, counts = ends[frontier], ends[frontier + 1] - ends[frontier]
        rows = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        node = np.repeat(frontier, counts)
        kept = wanted[relation[rows]] & (start[rows] < high) & (end[rows] > low)
        rows, node = rows[kept], node[kept]
        key = node * len(wanted) + relation[rows]
        begins = np.flatnonzero(np.diff(key, prepend=-1))
        place = np.arange(len(key)) - np.repeat(begins, np.diff(np.append(begins, len(key))))
        rows = rows[place < LIMIT]
        return [column[rows] for column in columns]

    return hop


def networkx_loop(snapshot: Snapshot) -> Callable[[NDArray[np.int64]], list[int]]:
    """Return a hop over a NetworkX MultiDiGraph with the same attributes."""
    edges = snapshot.edges()
    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    names = ("source", "target", "relation", "start", "end", "weight", "fact")
    columns = zip(*(getattr(edges, name).tolist() for name in names), strict=True)
    for one, other, relation, start, end, weight, fact in columns:
        graph.add_edge(one, other, fact, relation=relation, start=start, end=end, weight=weight)
    wanted = {number for number, name in enumerate(snapshot.relation_names) if name in RELATIONS}
    low, high = WITHIN.start.toordinal(), WITHIN.end.toordinal()  # type: ignore[union-attr]

    def hop(frontier: NDArray[np.int64]) -> list[int]:
        found: list[int] = []
        for node in frontier.tolist():
            if node not in graph:
                continue
            buckets: dict[int, list[tuple[float, int]]] = {}
            for _, _, fact, data in graph.out_edges(node, keys=True, data=True):
                if data["relation"] in wanted and data["start"] < high and data["end"] > low:
                    buckets.setdefault(data["relation"], []).append((-data["weight"], fact))
            for bucket in buckets.values():
                found += [fact for _, fact in sorted(bucket)[:LIMIT]]
        return found

    return hop


def ladybug_loop(snapshot: Snapshot, folder: Path) -> Callable[[NDArray[np.int64]], object]:
    """Return a hop as one parameterised Cypher query.

    Raises:
        ImportError: when the package is not installed (the extra `bench`).
    """
    import ladybug  # noqa: PLC0415 - optional

    database = ladybug.Database(str(folder / "peer.lbug"))
    connection = ladybug.Connection(database, num_threads=1)
    connection.execute("CREATE NODE TABLE N(id INT64, PRIMARY KEY(id))")
    connection.execute(
        "CREATE REL TABLE E(FROM N TO N, relation INT64, first INT64, last INT64, weight DOUBLE, fact INT64)"
    )
    edges = snapshot.edges()
    with (folder / "n.csv").open("w", newline="") as file:
        csv.writer(file).writerows([node] for node in range(len(snapshot.entity_ids)))
    names = ("source", "target", "relation", "start", "end", "weight", "fact")
    with (folder / "e.csv").open("w", newline="") as file:
        csv.writer(file).writerows(zip(*(getattr(edges, name).tolist() for name in names), strict=True))
    connection.execute(f'COPY N FROM "{folder / "n.csv"}"')
    connection.execute(f'COPY E FROM "{folder / "e.csv"}"')
    wanted = [number for number, name in enumerate(snapshot.relation_names) if name in RELATIONS]
    statement = connection.prepare(
        "MATCH (a:N)-[e:E]->(b:N) WHERE a.id IN $nodes AND e.relation IN $relations AND e.first < $high "
        "AND e.last > $low RETURN b.id, e.weight, e.fact"
    )
    bounds = {"low": WITHIN.start.toordinal(), "high": WITHIN.end.toordinal()}  # type: ignore[union-attr]

    def hop(frontier: NDArray[np.int64]) -> object:
        result: Any = connection.execute(statement, {"nodes": frontier.tolist(), "relations": wanted, **bounds})
        return result.get_all()

    return hop


def timed(job: Task, hops: Sequence[Callable[[NDArray[np.int64]], object]], walks: int) -> list[NDArray[np.float64]]:
    """Return, for each implementation, the CPU milliseconds of each walk, best of five rounds.

    Implementations alternate within a round, as machine speed varies within seconds. All are single-threaded and
    measured in CPU time, so that tail latencies are comparable.
    """
    best = np.full((len(hops), walks), np.inf)
    for _ in range(5):
        for place, hop in enumerate(hops):
            for number, frontiers in enumerate(job.walks[:walks]):
                began = time.process_time()
                for frontier in frontiers:
                    hop(frontier)
                best[place, number] = min(best[place, number], (time.process_time() - began) * 1000)
    return list(best)


def _expand_hop(snapshot: Snapshot) -> Callable[[NDArray[np.int64]], Edges]:
    return lambda frontier: _expand(snapshot, frontier)


def _compared_with_numpy(job: Task, own: NDArray[np.float64], floor: NDArray[np.float64]) -> list[Figure]:
    ratio = np.percentile(own, 99) / np.percentile(floor, 99)
    suffix = " on a graph with a patch" if job.snapshot.parts.patch else ""
    return [
        Figure(f"expand, 3 hops{suffix}", _percentiles(own)),
        Figure("  bare NumPy CSR loop", f"{_percentiles(floor)}; p99 × {ratio:.2f}", "p99 ≤ 2 ×", bool(ratio <= 2)),
    ]


def _checked_numpy_loop(job: Task) -> Callable[[NDArray[np.int64]], list[NDArray[Any]]]:
    """Return the bare loop after checking that it finds the same facts as `expand`."""
    bare = numpy_loop(job.snapshot)
    for frontiers in job.walks:
        for frontier in frontiers:
            assert sorted(_expand(job.snapshot, frontier).fact.tolist()) == sorted(bare(frontier)[-1].tolist())
    return bare


def after_a_commit(store: Store, *, walks: int = 200) -> list[Figure]:
    """Measure `expand` and the bare loop after one more document is committed, then remove the document."""
    reading = synthetic(1)
    with store.writer() as writer:
        writer.write(reading)
    snapshot = Snapshot.compile(store.view(), vocabulary())
    job = task(snapshot, walks)
    figures = _compared_with_numpy(job, *timed(job, [_expand_hop(snapshot), _checked_numpy_loop(job)], walks))
    with store.writer() as writer:
        writer.remove(reading.document.id)
    return figures


def measure(snapshot: Snapshot, *, walks: int = 200) -> list[Figure]:
    """Measure `expand` and its peers."""
    job = task(snapshot, walks)
    own, floor, peer = timed(job, [_expand_hop(snapshot), _checked_numpy_loop(job), networkx_loop(snapshot)], walks)
    figures = _compared_with_numpy(job, own, floor)
    times = float(peer.sum() / own.sum())
    figures.append(Figure("  NetworkX", f"{_percentiles(peer)}; expand is {times:.1f} × faster", "≥ 5 ×", times >= 5))
    with tempfile.TemporaryDirectory() as folder:
        try:
            hop = ladybug_loop(snapshot, Path(folder))
        except ImportError:
            return [*figures, Figure("  Ladybug", "not installed; run `pip install 'liantu[bench]'`", "≥ 10 ×")]
        few = min(walks, 40)
        own, peer = timed(job, [_expand_hop(snapshot), hop], few)
    times = float(peer.sum() / own.sum())
    return [
        *figures,
        Figure("  Ladybug", f"{_percentiles(peer)}; expand is {times:.0f} × faster", "≥ 10 ×", times >= 10),
    ]


def _percentiles(milliseconds: NDArray[np.float64]) -> str:
    return f"p50 {np.percentile(milliseconds, 50):.2f} ms, p99 {np.percentile(milliseconds, 99):.2f} ms"
