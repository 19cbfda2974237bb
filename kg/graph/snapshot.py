"""A view compiled to arrays: `expand` is the one primitive by which anything walks the graph (DESIGN §6).

An edge is one live, positive fact. Edges lie sorted by (subject, relation, weight falling, fact id), so the strongest k
of a node and relation are the first k of a bucket, and a hop is a handful of array operations whatever the size of the
graph; a permutation serves the other direction. Facts are held as ids only: ask the view for more.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

import numpy as np

from kg.graph.edges import Edges
from kg.graph.layout import anchored, inward, outward, read_edges

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from numpy.typing import NDArray

    from kg.graph.edges import Buckets, Ids
    from kg.model import Kind
    from kg.relations import Vocabulary
    from kg.store.port import View

__all__ = ["Direction", "Edges", "Snapshot"]

Direction = Literal["out", "in"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The live graph of one view; it never changes. Compile it once per view and store revision.

    Attributes:
        as_of: the day that weights have faded to; None when nothing is visible.
        entity_ids: all visible entities, sorted; a node is a position in it.
        kinds: the kind of each node.
        relation_names: all relations of the vocabulary, in its order.
        fact_ids: the id of the fact behind each edge.
        about: for each node the node it is about (碳酸锂价格 → 碳酸锂), or −1.
    """

    as_of: date | None
    entity_ids: tuple[str, ...]
    kinds: tuple[Kind, ...]
    relation_names: tuple[str, ...]
    fact_ids: Ids
    about: NDArray[np.int32]
    _edges: Edges
    _out: Buckets
    _in: Buckets
    _anchored: Buckets

    @staticmethod
    def compile(view: View, vocabulary: Vocabulary) -> Snapshot:
        """Read a view once and lay its live facts out for walking.

        Superseded and negated facts carry no walk; the view still tells of them.
        """
        entities = list(view.entities())
        nodes = {entity.id: node for node, entity in enumerate(entities)}
        names = tuple(vocabulary.relations)
        as_of, fact_ids, edges, by_id = read_edges(view, vocabulary, nodes)
        about = np.array([nodes.get(entity.about, -1) for entity in entities], dtype=np.int32)
        return Snapshot(
            as_of=as_of,
            entity_ids=tuple(nodes),
            kinds=tuple(entity.kind for entity in entities),
            relation_names=names,
            fact_ids=fact_ids,
            about=about,
            _edges=edges,
            _out=outward(edges, len(names)),
            _in=inward(edges, len(names), by_id),
            _anchored=anchored(about),
        )

    def index_of(self, entity_id: str) -> int | None:
        """Return the node of an entity, or None when the view does not know it."""
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
    ) -> Edges:
        """Return the strongest edges that leave the nodes of a frontier (`out`) or reach them (`in`).

        A symmetric relation is stored once, from the smaller id to the larger: ask for both directions.

        Args:
            frontier: nodes; one given twice counts once.
            relations: names; one that the vocabulary does not hold finds nothing.
            direction: from subjects to objects, or back.
            limit_per_node: how many edges to keep per node *and relation*: the strongest, ties by fact id.

        Returns:
            Edges by frontier node, relation in the order of the vocabulary, and falling weight.
        """
        names = set(relations)
        numbers = [number for number, name in enumerate(self.relation_names) if name in names]
        nodes = np.unique(np.asarray(frontier, dtype=np.int64))
        wanted = nodes[:, None] * len(self.relation_names) + np.array(numbers, dtype=np.int64)[None, :]
        buckets = self._out if direction == "out" else self._in
        return self._edges.take(buckets.strongest(wanted.ravel(), limit_per_node))

    def edges(self) -> Edges:
        """Return all edges, by source, relation and falling weight."""
        return self._edges

    def facts_of(self, edges: Edges) -> list[str]:
        """Return the ids of the facts behind edges, in their order."""
        return [identity.decode() for identity in self.fact_ids.array[edges.fact].tolist()]

    def about_target(self, node: int) -> int | None:
        """Return the node that `node` is about, or None."""
        target = int(self.about[node])
        return None if target < 0 else target

    def about_of(self, node: int) -> list[int]:
        """Return the nodes that are about `node`: the prices, outputs and margins of a product."""
        found: list[int] = self._anchored.strongest(np.array([node], dtype=np.int64), len(self.about)).tolist()
        return found

    def degree(self, node: int) -> int:
        """Return how many edges leave or reach a node."""
        span = np.array([node, node + 1], dtype=np.int64) * len(self.relation_names)
        return sum(int(np.diff(buckets.bounds(span)[0])[0]) for buckets in (self._out, self._in))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = [getattr(self._edges, field.name) for field in fields(self._edges)]
        for buckets in (self._out, self._in, self._anchored):
            arrays += [buckets.keys] if buckets.rows is None else [buckets.keys, buckets.rows]
        return sum(array.nbytes for array in [*arrays, self.about, self.fact_ids.array])
