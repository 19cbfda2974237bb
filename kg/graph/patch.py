"""The arrays of a compiled graph, and patches that apply a few changed facts to it.

A patch leaves the mapped, shared arrays of the base untouched. Changed edges are marked as gone and replaced by a few
separate rows; two small maps renumber the nodes, so that a node is still a position among the sorted ids of visible
entities. Results equal those of a newly compiled snapshot.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from kg.graph.edges import EdgeRows, Edges, Ids, Kinds
from kg.graph.layout import anchored, inward, outward, read_edges
from kg.model import Kind
from kg.store.columns import Texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from numpy.typing import NDArray

    from kg.graph.edges import Buckets, Passes
    from kg.graph.outlines import Outlines
    from kg.model import Entity, Fact
    from kg.relations import Vocabulary
    from kg.store.port import View

_MANY = 64  # bounds of buckets from which it may pay to read all edges of the nodes
_CODES = {kind: code for code, kind in enumerate(Kind)}


@dataclass(frozen=True, slots=True)
class Patch:
    """Changes relative to a compiled base graph.

    Attributes:
        base_of: for each current node its number in the base, or −1.
        now_of: for each base node its current number, or −1.
        gone: mask of base edges that are removed or replaced, shape (base edges,).
        edges: new edges, in current node numbers.
        outward: buckets of `edges` by source.
        inward: buckets of `edges` by target.
        touched: masks of nodes whose outgoing or incoming edges differ from the base.
        moves: whether any node number differs from the base.
    """

    base_of: NDArray[np.int32]
    now_of: NDArray[np.int32]
    gone: NDArray[np.bool_]
    edges: Edges
    outward: Buckets
    inward: Buckets
    touched: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    moves: bool

    def moved(self, edges: Edges) -> Edges:
        """Return base edges in current node numbers."""
        if not self.moves:
            return edges
        others = (getattr(edges, name) for name in Edges.__slots__[2:])
        return Edges(self.now_of[edges.source], self.now_of[edges.target], *others)


@dataclass(frozen=True, slots=True)
class Parts:
    """The arrays of a compiled graph, described in `kg.graph.snapshot.Snapshot`."""

    as_of: date | None
    entity_ids: Texts
    kinds: Kinds
    about: NDArray[np.int32]
    fact_ids: Ids
    rows: EdgeRows
    outward: Buckets
    inward: Buckets
    anchored: Buckets
    patch: Patch | None = None
    outlines: Outlines | None = None  # where the base has a table

    @property
    def edges(self) -> Edges:
        """The edges as columns."""
        return self.rows.columns


def compiled(view: View, vocabulary: Vocabulary) -> Parts:
    """Compile a view fact by fact, for stores that cannot supply a table."""
    entities = list(view.entities())
    nodes = {entity.id: node for node, entity in enumerate(entities)}
    as_of, ids, edges, by_id = read_edges(view.facts(), vocabulary, nodes, as_of=view.as_of)
    about = np.array([nodes.get(entity.about, -1) for entity in entities], dtype=np.int32)
    return Parts(
        as_of=as_of,
        entity_ids=Texts.of(nodes),
        kinds=Kinds(np.array([_CODES[entity.kind] for entity in entities], dtype=np.int8)),
        about=about,
        fact_ids=Ids.of(ids),
        rows=EdgeRows.of(edges),
        outward=outward(edges, len(vocabulary.relations)),
        inward=inward(edges, len(vocabulary.relations), by_id),
        anchored=anchored(about),
    )


@dataclass(frozen=True, slots=True)
class Changed:
    """Differences from a compiled graph: current `facts` by id; removed entities map to None.

    `lost` are the rows of the table that the facts replace, `gone` their edges.
    """

    lost: NDArray[np.bool_]
    gone: NDArray[np.bool_]
    facts: list[Fact]
    entities: Mapping[str, Entity | None]


def patched(parts: Parts, changed: Changed, vocabulary: Vocabulary) -> Parts:
    """Apply changes to a compiled graph that has no patch yet."""
    entity_ids, base_of, now_of = _renumber(parts.entity_ids, changed.entities)
    nodes = _positions(entity_ids, changed)
    known = base_of >= 0
    codes = np.zeros(len(base_of), dtype=np.int8)
    codes[known] = parts.kinds.codes[base_of[known]]
    about = np.full(len(base_of), -1, dtype=np.int32)
    old = parts.about[base_of[known]]
    about[known] = np.where(old >= 0, now_of[old], -1)
    for identity, entity in changed.entities.items():
        if entity is not None:
            codes[nodes[identity]] = _CODES[entity.kind]
            about[nodes[identity]] = nodes.get(entity.about, -1)
    first = len(parts.fact_ids.array)
    _, ids, edges, by_id = read_edges(changed.facts, vocabulary, nodes, as_of=parts.as_of, first=first)
    width = len(vocabulary.relations)
    removed = parts.rows.take(changed.gone.nonzero()[0])
    touched = (
        _touched(base_of, edges.source, now_of[removed.source]),
        _touched(base_of, edges.target, now_of[removed.target]),
    )
    moves = len(base_of) != len(now_of) or bool((base_of != np.arange(len(base_of))).any())
    return replace(
        parts,
        entity_ids=entity_ids,
        kinds=Kinds(codes),
        about=about,
        fact_ids=Ids(parts.fact_ids.array, ids),
        anchored=anchored(about),
        patch=Patch(
            base_of, now_of, changed.gone, edges, outward(edges, width), inward(edges, width, by_id), touched, moves
        ),
        outlines=_outlines(parts, changed, entity_ids, nodes=nodes, vocabulary=vocabulary),
    )


def _outlines(
    parts: Parts, changed: Changed, entity_ids: Texts, *, nodes: Mapping[str, int], vocabulary: Vocabulary
) -> Outlines | None:
    relations = {name: number for number, name in enumerate(vocabulary.relations)}
    if parts.outlines is None or any(fact.relation not in relations for fact in changed.facts):
        return None
    placed = (
        (fact, (nodes[fact.subject], relations[fact.relation], nodes[fact.object]))
        for fact in changed.facts
        if fact.subject in nodes and fact.object in nodes
    )
    return parts.outlines.changed(entity_ids, changed.lost, placed)


def _touched(base_of: NDArray[np.int32], added: NDArray[np.int32], removed: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return the mask of nodes that are new or have gained or lost an edge."""
    found: NDArray[np.bool_] = base_of < 0
    found[added] = True
    found[removed[removed >= 0]] = True
    return found


def strongest(
    parts: Parts, nodes: NDArray[np.int64], numbers: NDArray[np.int64], *, out: bool, limit: int, within: EdgeWindow
) -> Edges:
    """Return the strongest edges of each bucket, sorted by node, relation, descending weight and fact id.

    Args:
        parts: the graph.
        nodes: sorted and unique.
        numbers: sorted relation numbers, each followed by the next greater number.
        out: from subjects to objects if true, else the reverse.
        limit: edges per node and relation.
        within: filter on the edges.
    """
    patch = parts.patch
    if patch is None:
        return _strongest_in_base(parts, nodes, numbers, out=out, limit=limit, within=within)
    touched = patch.touched[0 if out else 1][nodes]
    if not touched.any():
        base = nodes if not patch.moves else patch.base_of[nodes].astype(np.int64)
        return patch.moved(_strongest_in_base(parts, base, numbers, out=out, limit=limit, within=within))
    if touched.all():
        return _strongest_in_both(parts, nodes, numbers, out=out, limit=limit, within=within)
    same, other = (
        strongest(parts, some, numbers, out=out, limit=limit, within=within)
        for some in (nodes[~touched], nodes[touched])
    )
    joined = same.joined(other)
    return joined.take((joined.source if out else joined.target).argsort(kind="stable"))


def _strongest_in_base(
    parts: Parts, nodes: NDArray[np.int64], numbers: NDArray[np.int64], *, out: bool, limit: int, within: EdgeWindow
) -> Edges:
    buckets = parts.outward if out else parts.inward
    return parts.rows.take(
        _rows_of(buckets, nodes, numbers, limit=limit, passes=within.passes(parts.edges), width=within.relations)
    )


def _strongest_in_both(
    parts: Parts, nodes: NDArray[np.int64], numbers: NDArray[np.int64], *, out: bool, limit: int, within: EdgeWindow
) -> Edges:
    patch = cast("Patch", parts.patch)
    buckets = parts.outward if out else parts.inward
    base = patch.base_of[nodes].astype(np.int64)
    rows = _rows_of(
        buckets,
        base[base >= 0],
        numbers,
        limit=limit,
        passes=within.passes(parts.edges, patch.gone),
        width=within.relations,
    )
    found = patch.moved(parts.rows.take(rows))
    buckets = patch.outward if out else patch.inward
    added_rows = _rows_of(
        buckets, nodes, numbers, limit=limit, passes=within.passes(patch.edges), width=within.relations
    )
    joined = found.joined(patch.edges.take(added_rows))
    node = joined.source if out else joined.target
    by_bucket = joined.take(order := _sort_order(parts.fact_ids, joined, node))
    return by_bucket.take(_within_limit(node[order], by_bucket.relation, limit))


def _rows_of(
    buckets: Buckets,
    nodes: NDArray[np.int64],
    numbers: NDArray[np.int64],
    *,
    limit: int,
    passes: Passes | None,
    width: int,
) -> NDArray[np.integer]:
    """Return the rows of the strongest edges of nodes and relations."""
    if len(nodes) * len(numbers) > _MANY:
        wanted = np.zeros(width, dtype=np.bool_)
        wanted[numbers[::2]] = True
        rows = buckets.strongest_at(nodes, wanted, limit, passes=passes)
        if rows is not None:
            return rows
    return buckets.strongest(_bucket_keys(nodes, numbers, width), limit, passes)


def all_edges(parts: Parts) -> Edges:
    """Return all edges, sorted by source, relation, descending weight and fact id."""
    if parts.patch is None:
        return parts.edges
    joined = parts.patch.moved(parts.rows.take((~parts.patch.gone).nonzero()[0])).joined(parts.patch.edges)
    return joined.take(_sort_order(parts.fact_ids, joined, joined.source))


class EdgeWindow(NamedTuple):
    """Filter for edges whose effective validity overlaps [start, end) and that were published by `published`.

    `relations` is the number of relations in the vocabulary; a bound of None does not apply.
    """

    relations: int
    start: int | None = None
    end: int | None = None
    published: int | None = None

    def passes(self, edges: Edges, gone: NDArray[np.bool_] | None = None) -> Passes | None:
        """Return the filter on rows of `edges`, or None when every row passes."""
        bounds: list[tuple[NDArray[Any], np.ufunc, NDArray[Any]]] = []
        if self.end is not None:
            bounds.append((edges.start, np.less, _number(self.end)))
        if self.start is not None:
            bounds.append((edges.end, np.greater, _number(self.start)))
        if self.published is not None:
            bounds.append((edges.published, np.less_equal, _number(self.published)))
        if gone is not None:
            bounds.append((gone, np.equal, _KEPT))
        return partial(_within, bounds) if bounds else None


_KEPT = np.zeros((), dtype=np.bool_)


@lru_cache(maxsize=256)
def _number(value: int) -> NDArray[np.int32]:
    """Return a NumPy scalar, cached because the conversion costs more than the comparison."""
    return np.array(value, dtype=np.int32)


def _within(
    bounds: Sequence[tuple[NDArray[Any], np.ufunc, NDArray[Any]]], rows: NDArray[np.integer]
) -> NDArray[np.bool_]:
    (column, compare, bound), *others = bounds
    kept: NDArray[np.bool_] = compare(column[rows], bound)
    for column, compare, bound in others:
        kept &= compare(column[rows], bound)
    return kept


def _bucket_keys(nodes: NDArray[np.int64], numbers: NDArray[np.int64], relations: int) -> NDArray[np.int64]:
    wanted: NDArray[np.int64] = np.add.outer(nodes * _number(relations), numbers).ravel()
    return wanted


def _sort_order(ids: Ids, edges: Edges, node: NDArray[np.int32]) -> NDArray[np.int64]:
    order: NDArray[np.int64] = np.lexsort((-edges.weight, edges.relation, node))
    node, relation, weight = node[order], edges.relation[order], edges.weight[order]
    tied = (node[1:] == node[:-1]) & (relation[1:] == relation[:-1]) & (weight[1:] == weight[:-1])
    begins = np.append(True, ~tied)
    for run in np.split(np.arange(len(order)), np.flatnonzero(begins)[1:]) if tied.any() else ():
        if len(run) > 1:
            texts = ids.at(edges.fact[order[run]])
            order[run] = order[run][sorted(range(len(run)), key=texts.__getitem__)]
    return order


def _within_limit(node: NDArray[np.int32], relation: NDArray[np.int16], limit: int) -> NDArray[np.bool_]:
    begins = np.ones(len(node), dtype=np.bool_)
    begins[1:] = (node[1:] != node[:-1]) | (relation[1:] != relation[:-1])
    places = np.arange(len(node))
    within: NDArray[np.bool_] = places - np.maximum.accumulate(np.where(begins, places, 0)) < limit
    return within


def _renumber(ids: Texts, entities: Mapping[str, Entity | None]) -> tuple[Texts, NDArray[np.int32], NDArray[np.int32]]:
    """Return the current sorted ids, the old number of each node, and the new number of each old node."""
    kept = np.ones(len(ids), dtype=np.bool_)
    fresh: list[str] = []
    for identity in sorted(entities):
        node = bisect_left(ids, identity)
        known = node < len(ids) and ids[node] == identity
        if known:
            kept[node] = entities[identity] is not None
        elif entities[identity] is not None:
            fresh.append(identity)
    old = np.flatnonzero(kept).astype(np.int32)
    before = np.array([bisect_left(ids, identity) for identity in fresh], dtype=np.int64)
    base_of = np.insert(old, np.searchsorted(old, before), -1)
    now_of = np.full(len(ids), -1, dtype=np.int32)
    now_of[base_of[base_of >= 0]] = np.flatnonzero(base_of >= 0)
    added = Texts.of(fresh)
    ends = np.concatenate([ids.ends, ids.ends[-1] + added.ends[1:]])
    own = np.arange(len(ids), dtype=np.int32) if ids.rows is None else ids.rows
    rows = np.full(len(base_of), -1, dtype=np.int32)
    rows[base_of >= 0] = own[old]
    rows[base_of < 0] = np.arange(len(ids.ends) - 1, len(ends) - 1)
    return Texts(np.concatenate([ids.content, added.content]), ends, rows), base_of, now_of


def _positions(ids: Texts, changed: Changed) -> dict[str, int]:
    """Return the nodes of all entities in the changes."""
    named = {end for fact in changed.facts for end in (fact.subject, fact.object)} | set(changed.entities)
    named |= {entity.about for entity in changed.entities.values() if entity}
    found: dict[str, int] = {}
    for identity in named:
        node = bisect_left(ids, identity)
        if node < len(ids) and ids[node] == identity:
            found[identity] = node
    return found


def degree(parts: Parts, node: int, relations: int) -> int:
    """Return the number of edges at a node, in both directions."""
    patch = parts.patch
    if patch is None:
        return sum(len(_edges_at(buckets, node, relations)) for buckets in (parts.outward, parts.inward))
    count = sum(len(_edges_at(buckets, node, relations)) for buckets in (patch.outward, patch.inward))
    base = int(patch.base_of[node])
    if base >= 0:
        for buckets in (parts.outward, parts.inward):
            count += int(np.count_nonzero(~patch.gone[_edges_at(buckets, base, relations)]))
    return count


def _edges_at(buckets: Buckets, node: int, relations: int) -> NDArray[np.integer]:
    first, last = buckets.bounds(np.array([node, node + 1], dtype=np.int64) * relations)
    places = np.arange(int(first[0]), int(last[0]))
    return places if buckets.rows is None else buckets.rows[places]
