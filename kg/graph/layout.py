"""Build edge arrays and buckets from the facts of a view or from the table of a base."""

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
    """Build edges from the live, positive facts.

    Args:
        facts: sorted by id, superseding already applied.
        vocabulary: numbers the relations; facts of unknown relations are skipped.
        nodes: entity ids to numbers.
        as_of: reference day for fading; default is the latest publication day, never the current date.
        first: the position of the first fact among all ids.

    Returns:
        The reference day, the fact ids, the edges sorted for outward traversal, and the rank of each edge by fact id.
    """
    relations = {name: number for number, name in enumerate(vocabulary.relations)}
    ids: list[str] = []
    strengths = array("d")
    cells = array("i")  # row by row; a list of tuples would load the garbage collector
    last = 0
    for fact in facts:
        last_published = fact.last_published_on
        last = max(last, last_published.toordinal())
        if fact.superseded_by or fact.polarity is Polarity.NEGATIVE or fact.relation not in relations:
            continue
        if fact.subject not in nodes or fact.object not in nodes:
            continue  # its document was written after the nodes were read; the next snapshot has it
        ids.append(fact.id)
        strengths.append(strength(fact, vocabulary))
        cells.extend((nodes[fact.subject], nodes[fact.object], relations[fact.relation], fact.sign))
        cells.extend(_days(fact, last_published))
        cells.extend(_directions(fact))
    table = dict(zip(_COLUMNS, np.array(cells, dtype=np.int32).reshape(-1, len(_COLUMNS)).T, strict=True))
    reference_day = as_of or (date.fromordinal(last) if last else None)
    age = (reference_day.toordinal() if reference_day else 0) - table["fresh"]
    weight = faded(
        np.array(strengths, dtype=np.float64), age, table["relation"].astype(np.int16), vocabulary=vocabulary
    )
    # Facts are sorted by id and lexsort is stable, so equal weights stay in the order of ids.
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
    return reference_day, [ids[row] for row in by_id.tolist()], edges, by_id


def _days(fact: Fact, last_published: date) -> tuple[int, int, int, int]:
    """Return the effective validity, the first day of publication, and the day from which the fact fades."""
    valid, first_published = fact.valid, fact.published_on.toordinal()
    if valid is None:
        return first_published, OPEN_END, first_published, last_published.toordinal()
    start = OPEN_START if valid.start is None else valid.start.toordinal()
    end = OPEN_END if valid.end is None else valid.end.toordinal()
    return start, end, first_published, fresh_until(fact).toordinal()


def _directions(fact: Fact) -> tuple[int, int]:
    """Return the stated directions of cause and effect."""
    if not fact.qualifiers:
        return 0, 0
    qualifiers = dict(fact.qualifiers)
    cause, effect = (qualifiers.get(name, "") for name in ("cause_direction", "effect_direction"))
    return _DIRECTIONS.get(cause, 0), _DIRECTIONS.get(effect, 0)


def table_edges(table: FactTable, nodes: Nodes, live: Live, *, relations: int) -> tuple[Edges, Buckets, Buckets]:
    """Build edges from the live facts of a table, with buckets by source and by target.

    Table rows are already sorted by node, relation and id, so only weights within a bucket need sorting.
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
    """Order rows within each (node, relation) group by descending weight, stably."""
    begins = np.ones(len(node), dtype=np.bool_)
    begins[1:] = (node[1:] != node[:-1]) | (relation[1:] != relation[:-1])
    bucket = np.cumsum(begins, dtype=np.int64)
    # The bits of a non-negative float sort like the number, so one integer key is enough.
    falling = np.int64(np.iinfo(np.uint32).max) - weight.view(np.uint32).astype(np.int64)
    order = np.arange(len(node), dtype=np.int64)
    single = begins & np.append(begins[1:], True)
    multiple = np.flatnonzero(~single)
    order[multiple] = multiple[np.argsort((bucket[multiple] << 32) + falling[multiple], kind="stable")]
    return order


def outward(edges: Edges, relations: int) -> Buckets:
    """Return the buckets of edges by source; the edges are already in that order."""
    return Buckets(_keys(edges.source, edges.relation, relations), None)


def inward(edges: Edges, relations: int, by_id: NDArray[np.int64]) -> Buckets:
    """Return the buckets of edges by target."""
    rows = np.lexsort((by_id, -edges.weight, edges.relation, edges.target)).astype(np.int32)
    return Buckets(_keys(edges.target[rows], edges.relation[rows], relations), rows)


def anchored(about: NDArray[np.int32]) -> Buckets:
    """Return buckets that map each node to the nodes that are about it."""
    dependents = np.flatnonzero(about >= 0).astype(np.int32)
    rows = dependents[np.argsort(about[dependents], kind="stable")]
    return Buckets(about[rows], rows)


def _keys(nodes: NDArray[np.int32], relation: NDArray[np.int16], relations: int) -> NDArray[np.int32 | np.int64]:
    keys = nodes.astype(np.int64) * relations + relation
    fits = not len(keys) or int(keys.max()) < np.iinfo(np.int32).max - relations
    return keys.astype(np.int32) if fits else keys
