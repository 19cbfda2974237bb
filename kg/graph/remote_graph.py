"""A graph whose edges stay on the server; each expansion fetches the same edges that a snapshot would return.

Entities are read once, because a node is a position among their sorted ids. Edges are fetched and cached per bucket
(node and relation), so that a repeated request needs no round trip.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from kg.graph.edges import Edges
from kg.graph.layout import anchored
from kg.graph.weights import MODALITY_FACTORS, faded
from kg.store.columns import OPEN_END, OPEN_START
from kg.store.neo4j.hops import Hop, HopWindow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from numpy.typing import NDArray

    from kg.graph.snapshot import Direction
    from kg.model import Kind
    from kg.period import Period
    from kg.relations import Vocabulary
    from kg.store.neo4j.hops import End, Hops
    from kg.store.port import View

_DIRECTIONS = {"up": 1, "down": -1}
_ID_BYTES = 64
_ENDS: dict[str, End] = {"out": "subject", "in": "object"}

Bucket = tuple[str, int, int]  # direction, node, relation


@runtime_checkable
class HopView(Protocol):
    """A view whose store can expand edges itself."""

    def hops(self) -> Hops | None:
        """Return the expansion interface, or None when the view must be compiled."""


def served_graph(view: View, vocabulary: Vocabulary) -> ServedGraph | None:
    """Return a server-side graph of a view, or None when the view must be compiled to a snapshot."""
    hops = view.hops() if isinstance(view, HopView) else None
    return None if hops is None else ServedGraph(view, hops, vocabulary)


class ServedGraph:
    """The interface of `kg.graph.snapshot.Snapshot`, answered by the server."""

    def __init__(self, view: View, hops: Hops, vocabulary: Vocabulary) -> None:
        self._view, self._hops, self._vocabulary = view, hops, vocabulary
        self.relation_names = tuple(vocabulary.relations)
        self.outlines = None  # the server has no columns
        entities = list(view.entities())
        self.entity_ids: Sequence[str] = tuple(entity.id for entity in entities)
        self.kinds: Sequence[Kind] = tuple(entity.kind for entity in entities)
        nodes = {identity: node for node, identity in enumerate(self.entity_ids)}
        # An empty `about` means no node, even if a document contains an entity with an empty id.
        about = (nodes.get(entity.about, -1) if entity.about else -1 for entity in entities)
        self.about = np.fromiter(about, dtype=np.int32, count=len(entities))
        self.fact_ids = _FactIds()
        self._anchored = anchored(self.about)
        self._buckets: dict[Bucket, tuple[int, Edges]] = {}
        self._degrees: dict[int, int] = {}

    @cached_property
    def as_of(self) -> date | None:
        """The reference day for fading; None when nothing is visible."""
        return self._view.as_of or self._hops.last_said()

    def index_of(self, entity_id: str) -> int | None:
        """Return the node of an entity, or None when it is not in the view."""
        place = bisect_left(self.entity_ids, entity_id)
        found = place < len(self.entity_ids) and self.entity_ids[place] == entity_id
        return place if found else None

    def expand(
        self,
        frontier: NDArray[np.integer] | Sequence[int],
        relations: Iterable[str],
        direction: Direction,
        *,
        limit_per_node: int,
        during: Period | None = None,
        published_by: date | None = None,
    ) -> Edges:
        """Return the strongest edges that leave a frontier (`out`) or reach it (`in`), in at most one round trip."""
        names = set(relations)
        numbers = [number for number, name in enumerate(self.relation_names) if name in names]
        nodes = np.unique(np.asarray(frontier, dtype=np.int64)).tolist()
        wanted = [(direction, node, number) for node in nodes for number in numbers]
        if during is None and published_by is None:
            self._fetch([bucket for bucket in wanted if not self._is_cached(bucket, limit_per_node)], limit_per_node)
            return _cut([self._buckets[bucket][1] for bucket in wanted], limit_per_node)
        found = self._request(wanted, limit_per_node, HopWindow(during, published_by))
        return _cut([found[bucket] for bucket in wanted], limit_per_node)

    def facts_of(self, edges: Edges) -> list[str]:
        """Return the ids of the facts behind edges, in their order."""
        return [self.fact_ids[code] for code in edges.fact.tolist()]

    def about_target(self, node: int) -> int | None:
        """Return the node that `node` is about, or None."""
        target = int(self.about[node])
        return None if target < 0 else target

    def about_of(self, node: int) -> list[int]:
        """Return the nodes that are about `node`."""
        found = self._anchored.strongest(np.array([node, node + 1], dtype=np.int64), len(self.about))
        nodes: list[int] = found.tolist()
        return nodes

    def degree(self, node: int) -> int:
        """Return the number of edges at a node, in both directions."""
        if node not in self._degrees:
            self._degrees[node] = self._hops.degree(self.entity_ids[node])
        return self._degrees[node]

    def _is_cached(self, bucket: Bucket, limit: int) -> bool:
        """Whether a bucket was fetched to this depth; one shorter than requested is complete."""
        depth, edges = self._buckets.get(bucket, (-1, None))
        return depth >= limit or (edges is not None and len(edges) < depth)

    def _fetch(self, wanted: Sequence[Bucket], limit: int) -> None:
        self._buckets |= {bucket: (limit, edges) for bucket, edges in self._request(wanted, limit, HopWindow()).items()}

    def _request(self, wanted: Sequence[Bucket], limit: int, within: HopWindow) -> dict[Bucket, Edges]:
        """Fetch buckets of one direction in one call."""
        rows: dict[Bucket, list[Hop]] = defaultdict(list)
        if wanted and self.as_of is not None and limit > 0:
            direction = wanted[0][0]
            number = {name: place for place, name in enumerate(self.relation_names)}
            hops = self._hops.strongest(
                [self.entity_ids[node] for node in dict.fromkeys(node for _, node, _ in wanted)],
                [self.relation_names[place] for place in dict.fromkeys(place for *_, place in wanted)],
                _ENDS[direction],
                limit=limit,
                weighing=(self.as_of, {str(name): factor for name, factor in MODALITY_FACTORS.items()}),
                within=within,
            )
            for hop in hops:
                node = self.index_of(hop.subject if direction == "out" else hop.object)
                if node is not None:
                    rows[direction, node, number[hop.relation]].append(hop)
        return {bucket: self._edges(rows[bucket]) if bucket in rows else _EMPTY for bucket in wanted}

    def _edges(self, hops: Sequence[Hop]) -> Edges:
        """Convert hops of one bucket to edges in snapshot order: descending weight, then fact id."""
        known = [(hop, source, target) for hop in hops for source, target in self._ends(hop)]
        relation = np.array([self.relation_names.index(hop.relation) for hop, *_ in known], dtype=np.int16)
        reference = self.as_of.toordinal() if self.as_of else 0
        age = np.array([reference - hop.fresh.toordinal() for hop, *_ in known], dtype=np.int64)
        weight = faded(np.array([hop.strength for hop, *_ in known]), age, relation, vocabulary=self._vocabulary)
        order = sorted(range(len(known)), key=lambda row: (-weight[row], known[row][0].fact))
        days = np.array([_days(hop) for hop, *_ in known], dtype=np.int64).reshape(-1, 3)
        edges = Edges(
            source=np.array([source for _, source, _ in known], dtype=np.int32),
            target=np.array([target for *_, target in known], dtype=np.int32),
            relation=relation,
            sign=np.array([hop.sign for hop, *_ in known], dtype=np.int8),
            weight=weight,
            start=days[:, 0].astype(np.int32),
            end=days[:, 1].astype(np.int32),
            published=days[:, 2].astype(np.int32),
            cause=np.array([_DIRECTIONS.get(hop.cause, 0) for hop, *_ in known], dtype=np.int8),
            effect=np.array([_DIRECTIONS.get(hop.effect, 0) for hop, *_ in known], dtype=np.int8),
            fact=np.zeros(len(known), dtype=np.int32),
        )
        codes = [
            _code(source, number, hop.fact) for (hop, source, _), number in zip(known, relation.tolist(), strict=True)
        ]
        return _with_facts(edges, codes).take(np.array(order, dtype=np.int64))

    def _ends(self, hop: Hop) -> list[tuple[int, int]]:
        """Return the nodes of an edge; empty when it comes from a document newer than the entities read."""
        source, target = self.index_of(hop.subject), self.index_of(hop.object)
        return [] if source is None or target is None else [(source, target)]


class _FactIds:
    """Fact ids by code; codes sort like fact positions in a snapshot without knowing all facts."""

    def __getitem__(self, code: int) -> str:
        return (int(code) % (1 << 8 * _ID_BYTES)).to_bytes(_ID_BYTES, "big").rstrip(b"\0").decode()


def _code(source: int, relation: int, fact: str) -> int:
    """Return a number that sorts like (source, relation, fact id) and encodes the fact id."""
    return (source << 16 | relation) << 8 * _ID_BYTES | int.from_bytes(fact.encode().ljust(_ID_BYTES, b"\0"), "big")


def _with_facts(edges: Edges, codes: Sequence[int]) -> Edges:
    column = np.empty(len(codes), dtype=object)
    column[:] = codes
    return Edges(*(column if name == "fact" else getattr(edges, name) for name in Edges.__slots__))


def _cut(buckets: Iterable[Edges], limit: int) -> Edges:
    filled = [edges for edges in buckets if len(edges)]
    if not filled:
        return _EMPTY
    return Edges(*(np.concatenate([getattr(edges, name)[:limit] for edges in filled]) for name in Edges.__slots__))


def _days(hop: Hop) -> tuple[int, int, int]:
    published = hop.published.toordinal()
    if hop.valid is None:
        return published, OPEN_END, published
    start, end = hop.valid
    return OPEN_START if start is None else start.toordinal(), OPEN_END if end is None else end.toordinal(), published


_EMPTY = Edges(
    source=np.zeros(0, dtype=np.int32),
    target=np.zeros(0, dtype=np.int32),
    relation=np.zeros(0, dtype=np.int16),
    sign=np.zeros(0, dtype=np.int8),
    weight=np.zeros(0, dtype=np.float32),
    start=np.zeros(0, dtype=np.int32),
    end=np.zeros(0, dtype=np.int32),
    published=np.zeros(0, dtype=np.int32),
    cause=np.zeros(0, dtype=np.int8),
    effect=np.zeros(0, dtype=np.int8),
    fact=np.zeros(0, dtype=object),
)
