"""Lays the facts of a view out as arrays: one pass, then sorting."""

from __future__ import annotations

from array import array
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from kg.graph.edges import Buckets, Edges, Ids
from kg.graph.weights import fresh_until, strength
from kg.model import Polarity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from kg.model import Fact
    from kg.relations import Vocabulary
    from kg.store.port import View

_OPEN_START = int(np.iinfo(np.int32).min)
_OPEN_END = int(np.iinfo(np.int32).max)
_DIRECTIONS = {"up": 1, "down": -1}
_COLUMNS = ("source", "target", "relation", "sign", "start", "end", "fresh", "cause", "effect")


def read_edges(
    view: View, vocabulary: Vocabulary, nodes: Mapping[str, int]
) -> tuple[date | None, Ids, Edges, NDArray[np.int64]]:
    """Read the live, positive facts of a view.

    Args:
        view: what may be seen.
        vocabulary: relations are numbered in its order; a fact of a relation it lacks is left out.
        nodes: entity ids to numbers.

    Returns:
        The day weights have faded to (the view's, else the latest day anything was published: never the clock), the
        facts' ids, the edges sorted for walking out, and for each edge its rank by fact id.
    """
    relations = {name: number for number, name in enumerate(vocabulary.relations)}
    ids: list[str] = []
    strengths = array("d")
    cells = array("i")  # row by row; a list of tuples would keep the garbage collector busy
    last = 0
    for fact in view.facts():
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
    as_of = view.as_of or (date.fromordinal(last) if last else None)
    half_lives = np.array([relation.half_life for relation in vocabulary.relations.values()], dtype=np.float64)
    age = np.maximum((as_of.toordinal() if as_of else 0) - table["fresh"], 0)
    weight = (np.array(strengths) * 0.5 ** (age / half_lives[table["relation"]])).astype(np.float32)
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
        cause=table["cause"][by_id].astype(np.int8),
        effect=table["effect"][by_id].astype(np.int8),
        fact=np.arange(len(ids), dtype=np.int32),
    )
    return as_of, Ids([ids[row] for row in by_id.tolist()]), edges, by_id


def _days(fact: Fact, said_last: date) -> tuple[int, int, int]:
    """Return the effective validity, and the day from which the fact fades."""
    valid = fact.valid
    if valid is None:
        return fact.published_on.toordinal(), _OPEN_END, said_last.toordinal()
    start = _OPEN_START if valid.start is None else valid.start.toordinal()
    end = _OPEN_END if valid.end is None else valid.end.toordinal()
    return start, end, fresh_until(fact).toordinal()


def _directions(fact: Fact) -> tuple[int, int]:
    """Return the stated directions of cause and effect."""
    if not fact.qualifiers:
        return 0, 0
    said = dict(fact.qualifiers)
    return _DIRECTIONS.get(said.get("cause_direction", ""), 0), _DIRECTIONS.get(said.get("effect_direction", ""), 0)


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
