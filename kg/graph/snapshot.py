"""A view compiled to arrays; `expand` is the only primitive for traversing the graph (DESIGN §6).

An edge is one live, positive fact. Edges are sorted by (subject, relation, descending weight, fact id), so the
strongest k edges of a node and relation are the first k of a bucket, and a hop is a few array operations for a graph of
any size; a permutation serves the opposite direction. Only the ids of facts are stored; read the facts from the view.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from kg.graph.cache import parts_of
from kg.graph.edges import Edges
from kg.graph.patch import EdgeWindow, all_edges, degree, strongest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from numpy.typing import NDArray

    from kg.graph.edges import Ids, Kinds
    from kg.graph.outlines import Outlines
    from kg.graph.patch import Parts
    from kg.period import Period
    from kg.relations import Vocabulary
    from kg.store.columns import Texts
    from kg.store.port import View

__all__ = ["Direction", "Edges", "Snapshot"]

Direction = Literal["out", "in"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The immutable live graph of one view. Compile it once per view and store revision.

    Attributes:
        relation_names: all relations of the vocabulary, in its order.
        parts: the arrays.
    """

    relation_names: tuple[str, ...]
    parts: Parts

    @staticmethod
    def compile(view: View, vocabulary: Vocabulary) -> Snapshot:
        """Compile the live facts of a view, or reuse a cached graph (kg/graph/cache.py).

        Superseded and negated facts are excluded; the view still returns them.
        """
        return Snapshot(tuple(vocabulary.relations), parts_of(view, vocabulary))

    @property
    def as_of(self) -> date | None:
        """The reference day for fading; None when nothing is visible."""
        return self.parts.as_of

    @property
    def entity_ids(self) -> Texts:
        """Sorted ids of all visible entities; a node is a position in it."""
        return self.parts.entity_ids

    @property
    def kinds(self) -> Kinds:
        """The kind of each node."""
        return self.parts.kinds

    @property
    def fact_ids(self) -> Ids:
        """Ids of facts; `Edges.fact` points into it."""
        return self.parts.fact_ids

    @property
    def about(self) -> NDArray[np.int32]:
        """For each node the node it is about (碳酸锂价格 → 碳酸锂), or −1."""
        return self.parts.about

    @property
    def outlines(self) -> Outlines | None:
        """Outlines of all facts, superseded and denied ones included; None if the store has no columns."""
        return self.parts.outlines

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
        """Return the strongest edges that leave the nodes of a frontier (`out`) or reach them (`in`).

        A symmetric relation is stored once, from the smaller id to the larger; expand both directions.

        Args:
            frontier: nodes; duplicates are ignored.
            relations: names; unknown ones are ignored.
            direction: from subjects to objects (`out`), or the reverse.
            limit_per_node: edges per node *and relation*: the strongest, ties by fact id.
            during: keep only edges whose effective validity overlaps this period.
            published_by: keep only edges whose fact was first published by this day; weights and superseding stay
                those of the snapshot's own day, so the result is not a view as of that day.

        Returns:
            Edges sorted by frontier node, relation in vocabulary order, and descending weight.
        """
        within = EdgeWindow(
            len(self.relation_names),
            start=None if during is None or during.start is None else during.start.toordinal(),
            end=None if during is None or during.end is None else during.end.toordinal(),
            published=None if published_by is None else published_by.toordinal(),
        )
        nodes = np.asarray(frontier, dtype=np.int64)
        if len(nodes) > 1 and np.count_nonzero(nodes[1:] > nodes[:-1]) < len(nodes) - 1:
            nodes = np.unique(nodes)
        wanted = _numbers(self.relation_names, frozenset(relations))
        return strongest(self.parts, nodes, wanted, out=direction == "out", limit=limit_per_node, within=within)

    def edges(self) -> Edges:
        """Return all edges, sorted by source, relation and descending weight."""
        return all_edges(self.parts)

    def facts_of(self, edges: Edges) -> list[str]:
        """Return the ids of the facts of edges, in their order."""
        return self.fact_ids.at(edges.fact)

    def about_target(self, node: int) -> int | None:
        """Return the node that `node` is about, or None."""
        target = int(self.about[node])
        return None if target < 0 else target

    def about_of(self, node: int) -> list[int]:
        """Return the nodes that are about `node`: the prices, outputs and margins of a product."""
        found = self.parts.anchored.strongest(np.array([node, node + 1], dtype=np.int64), len(self.about))
        nodes: list[int] = found.tolist()
        return nodes

    def degree(self, node: int) -> int:
        """Return the number of edges at a node, in both directions."""
        return degree(self.parts, node, len(self.relation_names))


@lru_cache(maxsize=256)
def _numbers(relation_names: tuple[str, ...], wanted: frozenset[str]) -> NDArray[np.int64]:
    """Return relation numbers, each followed by the next number: the bounds of its bucket."""
    numbers = [number for number, name in enumerate(relation_names) if name in wanted]
    return np.array([end for number in numbers for end in (number, number + 1)], dtype=np.int64)
