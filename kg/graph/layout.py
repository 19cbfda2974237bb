"""Lays the facts of a view out as arrays: from its records, or from the table of a base."""

from __future__ import annotations

from array import array
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from kg.graph.edges import Buckets, Edges
from kg.graph.weights import faded, fresh_until, strength
from kg.model import Polarity
from kg.store.columns import OPEN_END, OPEN_START

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from kg.graph.view_columns import Live, Nodes
    from kg.model import Fact
    from kg.relations import Vocabulary
    from kg.store.columns import FactTable

_DIRECTIONS = {"up": 1, "down": -1}
_COLUMNS = ("source", "target", "relation", "sign", "start", "end", "published", "fresh", "cause", "effect")


def read_edges(
    facts: Iterable[Fact], vocabulary: Vocabulary, nodes: Mapping[str, int], *, as_of: date | None, first: int = 0
) -> tuple[date | None, list[str], Edges, NDArray[np.int64]]:
    """Lay out the live, positive ones of some facts.

    Args:
        facts: by id, superseding judged.
        vocabulary: relations are numbered in its order; a fact of a relation it lacks is left out.
        nodes: entity ids to numbers.
        as_of: the day weights fade to; without it, the latest day anything was published: never the clock.
        first: the position of the first fact among all ids.

    Returns:
        The day, the facts' ids, the edges sorted for walking out, and for each edge its rank by fact id.
    """
    relations = {name: number for number, name in enumerate(vocabulary.relations)}
    ids: list[str] = []
    strengths = array("d")
    cells = array("i")  # row by row; a list of tuples would keep the garbage collector busy
    last = 0
    for fact in facts:
        said_last = fact.last_published_on
        last = max(last, said_last.toordinal())
        if fact.superseded_by or fact.polarity is Polarity.NEGATIVE or fact.relation not in relations:
            continue
        if fact.subject not in nodes or fact.object not in nodes:
            continue  # its document was written after the nodes were read; the next snapshot has it
        ids.append(fact.id)
        strengths.append(strength(fact, vocabulary))
        cells.extend((nodes[fact.subject], nodes[fact.object], relations[fact.relation], fact.sign))
        cells.extend(_days(fact, said_last))
        cells.extend(_directions(fact))
    table = dict(zip(_COLUMNS, np.array(cells, dtype=np.int32).reshape(-1, len(_COLUMNS)).T, strict=True))
    faded_to = as_of or (date.fromordinal(last) if last else None)
    age = (faded_to.toordinal() if faded_to else 0) - table["fresh"]
    weight = faded(
        np.array(strengths, dtype=np.float64), age, table["relation"].astype(np.int16), vocabulary=vocabulary
    )
    # Facts come by id and lexsort is stable, so equal weights stay in the order of ids.
    by_id = np.lexsort((-weight, table["relation"], table["source"]))
    edges = Edges(
        source=table["source"][by_id],
        target=table["target"][by_id],
        relation=table["relation"][by_id].astype(np.int16),
        sign=table["sign"][by_id].astype(np.int8),
        weight=weight[by_id],
        start=table["start"][by_id],
        end=table["end"][by_id],
        published=table["published"][by_id],
        cause=table["cause"][by_id].astype(np.int8),
        effect=table["effect"][by_id].astype(np.int8),
        fact=np.arange(first, first + len(ids), dtype=np.int32),
    )
    return faded_to, [ids[row] for row in by_id.tolist()], edges, by_id


def _days(fact: Fact, said_last: date) -> tuple[int, int, int, int]:
    """Return the effective validity, the first day of publication, and the day from which the fact fades."""
    valid, said_first = fact.valid, fact.published_on.toordinal()
    if valid is None:
        return said_first, OPEN_END, said_first, said_last.toordinal()
    start = OPEN_START if valid.start is None else valid.start.toordinal()
    end = OPEN_END if valid.end is None else valid.end.toordinal()
    return start, end, said_first, fresh_until(fact).toordinal()


def _directions(fact: Fact) -> tuple[int, int]:
    """Return the stated directions of cause and effect."""
    if not fact.qualifiers:
        return 0, 0
    said = dict(fact.qualifiers)
    return _DIRECTIONS.get(said.get("cause_direction", ""), 0), _DIRECTIONS.get(said.get("effect_direction", ""), 0)


def table_edges(table: FactTable, nodes: Nodes, live: Live, *, relations: int) -> tuple[Edges, Buckets, Buckets]:
    """Lay out the live facts of a table: edges, their buckets by source and by target.

    Rows of a table are sorted by node, relation and id already, so only weights within a bucket are left to sort.
    """
    node = np.full(len(table.entity_ends) - 1, -1, dtype=np.int32)
    node[nodes.rows] = np.arange(len(nodes.rows), dtype=np.int32)
    rows = live.rows[_by_weight(table.source[live.rows], table.relation[live.rows], live.weight)]
    place = np.searchsorted(live.rows, rows)
    edges = Edges(
        source=node[table.source[rows]],
        target=node[table.target[rows]],
        relation=table.relation[rows],
        sign=table.sign[rows],
        weight=live.weight[place],
        start=live.start[place],
        end=live.end[place],
        published=live.published[place],
        cause=table.cause[rows],
        effect=table.effect[rows],
        fact=rows.astype(np.int32),
    )
    edge = np.full(len(table.fact_id), -1, dtype=np.int32)
    edge[rows] = np.arange(len(rows), dtype=np.int32)
    back = edge[table.by_target]
    back = back[back >= 0]
    back = back[_by_weight(edges.target[back], edges.relation[back], edges.weight[back])]
    return (
        edges,
        Buckets(_keys(edges.source, edges.relation, relations), None),
        Buckets(_keys(edges.target[back], edges.relation[back], relations), back),
    )


def _by_weight(node: NDArray[np.int32], relation: NDArray[np.int16], weight: NDArray[np.float32]) -> NDArray[np.int64]:
    """Sort rows that lie by node and relation by falling weight within; equal weights stay in their order."""
    begins = np.ones(len(node), dtype=np.bool_)
    begins[1:] = (node[1:] != node[:-1]) | (relation[1:] != relation[:-1])
    bucket = np.cumsum(begins, dtype=np.int64)
    # The bits of a float that is not negative sort like the number: one integer key instead of two.
    falling = np.int64(np.iinfo(np.uint32).max) - weight.view(np.uint32).astype(np.int64)
    order = np.arange(len(node), dtype=np.int64)
    alone = begins & np.append(begins[1:], True)
    several = np.flatnonzero(~alone)
    order[several] = several[np.argsort((bucket[several] << 32) + falling[several], kind="stable")]
    return order


def outward(edges: Edges, relations: int) -> Buckets:
    """Return the buckets of edges by source; the edges lie in that order already."""
    return Buckets(_keys(edges.source, edges.relation, relations), None)


def inward(edges: Edges, relations: int, by_id: NDArray[np.int64]) -> Buckets:
    """Return the buckets of edges by target."""
    rows = np.lexsort((by_id, -edges.weight, edges.relation, edges.target)).astype(np.int32)
    return Buckets(_keys(edges.target[rows], edges.relation[rows], relations), rows)


def anchored(about: NDArray[np.int32]) -> Buckets:
    """Return, as buckets by the node that is spoken of, the nodes that are about it."""
    speaking = np.flatnonzero(about >= 0).astype(np.int32)
    rows = speaking[np.argsort(about[speaking], kind="stable")]
    return Buckets(about[rows], rows)


def _keys(nodes: NDArray[np.int32], relation: NDArray[np.int16], relations: int) -> NDArray[np.int32 | np.int64]:
    keys = nodes.astype(np.int64) * relations + relation
    fits = not len(keys) or int(keys.max()) < np.iinfo(np.int32).max - relations
    return keys.astype(np.int32) if fits else keys
