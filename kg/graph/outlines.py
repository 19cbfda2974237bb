"""Outlines of facts: what ranking needs of a fact, read from the columns of a base instead of its rows.

A hub has thousands of facts, of which an answer shows a few; choosing them takes claims, confidences and sources, not
quotes. An outline has the same values as the fact of the view.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kg.graph.view_columns import evidence_of, families, visible_documents
from kg.model import Polarity
from kg.store.columns import OPEN_END

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from kg.graph.edges import Edges
    from kg.graph.view_columns import VisibleBounds
    from kg.model import Fact
    from kg.store.columns import FactTable, Texts

Ends = tuple[int, int, int]  # source node, relation number, target node
Claim = tuple[Ends, int, bool]  # with the sign, and whether it is affirmed
Doubts = tuple[tuple[object, float], ...]  # document, 1 − confidence


class Outline(NamedTuple):
    """What ranking needs of a fact.

    Attributes:
        id: of the fact.
        ends: its subject, relation and object.
        sign: +1, −1 or 0.
        affirmed: false for a denial.
        live: whether no later fact supersedes it.
        witnesses: number of independent sources.
        confidence: the highest of its evidence.
        doubts: of each piece of evidence, in canonical order.
    """

    id: str
    ends: Ends
    sign: int
    affirmed: bool
    live: bool
    witnesses: int
    confidence: float
    doubts: Doubts

    @property
    def claim(self) -> Claim:
        """Its statement; several facts may state the same for different periods or values."""
        return self.ends, self.sign, self.affirmed

    @staticmethod
    def of(fact: Fact, ends: Ends) -> Outline:
        """Return the outline of a fact."""
        affirmed, live = fact.polarity is Polarity.POSITIVE, not fact.superseded_by
        return Outline(fact.id, ends, fact.sign, affirmed, live, fact.witnesses, fact.confidence, doubts_of(fact))


def doubts_of(fact: Fact) -> Doubts:
    """Return what the documents leave in doubt."""
    return tuple((item.document, 1 - item.confidence) for item in fact.evidence)


class FactColumns(NamedTuple):
    """All visible facts as columns: their ends, and whether they hold with at least some confidence."""

    source: NDArray[np.integer]
    relation: NDArray[np.integer]
    target: NDArray[np.integer]
    sure: NDArray[np.bool_]
    ids: NDArray[np.bytes_]

    @staticmethod
    def of(outlines: Iterable[Outline], cuts: NDArray[np.float64]) -> FactColumns:
        """Return outlines as columns; `cuts` are the least confidences by relation."""
        given = list(outlines)
        ends = np.array([outline.ends for outline in given], dtype=np.int64).reshape(-1, 3)
        sure = [outline.live and outline.confidence >= cuts[outline.ends[1]] for outline in given]
        ids = np.array([outline.id.encode() for outline in given], dtype=np.bytes_)
        return FactColumns(ends[:, 0], ends[:, 1], ends[:, 2], np.array(sure, dtype=np.bool_), ids)


class Outlines:
    """The outlines of all facts of a compiled view; their relations are in the vocabulary.

    Facts of one claim are either all in the table or all later.
    """

    def __init__(self, table: FactTable, bounds: VisibleBounds, entity_ids: Texts, *, edges: Edges) -> None:
        self._table, self._bounds, self._ids, self._edges = table, bounds, entity_ids, edges
        self._lost: NDArray[np.bool_] | None = None
        self._later: dict[Ends, list[Outline]] = {}

    @staticmethod
    def of(table: FactTable, bounds: VisibleBounds, entity_ids: Texts, *, edges: Edges) -> Outlines | None:
        """Return the outlines of a table, or None if it has relations that the vocabulary lacks."""
        return None if (table.relation < 0).any() else Outlines(table, bounds, entity_ids, edges=edges)

    def changed(self, entity_ids: Texts, lost: NDArray[np.bool_], later: Iterable[tuple[Fact, Ends]]) -> Outlines:
        """Return the outlines with later facts instead of lost rows of the table."""
        made = Outlines(self._table, self._bounds, entity_ids, edges=self._edges)
        made._lost, made._live = lost, self._live  # the mask of the table is the same
        for fact, ends in later:
            made._later.setdefault(ends, []).append(Outline.of(fact, ends))
        return made

    def between(self, wanted: Iterable[Ends]) -> list[Outline]:
        """Return the facts with these ends and relations, those of the same ends in id order."""
        keys = sorted(wanted)
        nodes = np.array(keys, dtype=np.int64).reshape(-1, 3)
        rows = self._table_rows
        triples = np.stack([rows[nodes[:, 0]], rows[nodes[:, 2]], nodes[:, 1]], axis=1)
        later = (outline for key in keys for outline in self._later.get(key, ()))
        return [*self._read(rows_between(self._table, triples)), *later]

    def at(self, node: int) -> list[Outline]:
        """Return the facts with this end, in id order."""
        table, row = self._table, np.array([self._table_rows[node], self._table_rows[node] + 1], dtype=np.int32)
        first, last = np.searchsorted(table.source, row)
        begin, end = np.searchsorted(table.target, row, sorter=table.by_target)
        rows = np.union1d(np.arange(first, last), table.by_target[begin:end])
        later = (outline for ends, found in self._later.items() if node in (ends[0], ends[2]) for outline in found)
        return sorted([*self._read(rows), *later])

    def stated(self, cuts: NDArray[np.float64]) -> FactColumns:
        """Return all facts as columns, in no order; `cuts` are the least confidences of sure ones by relation."""
        table, starts = self._table, self._table.evidence_ends[:-1]
        confidence, day = table.confidences[table.evidence_sure], table.document_day[table.evidence_document]
        seen = self._seen(np.arange(len(table.evidence_document)))
        first = np.minimum.reduceat(np.where(seen, day, OPEN_END), starts) if len(starts) else day
        best = np.maximum.reduceat(np.where(seen, confidence, -1.0), starts) if len(starts) else confidence
        holds = np.where(table.stated != 0, table.start, first), np.where(table.stated != 0, table.end, OPEN_END)
        visible = (best >= 0) & self._bounds.overlapping(*holds)
        rows = np.flatnonzero(visible if self._lost is None else visible & ~self._lost)
        sure = (best[rows] >= cuts[table.relation[rows]]) & (self._live[rows] | (table.negative[rows] != 0))
        source, target = self._nodes[table.source[rows]], self._nodes[table.target[rows]]
        own = FactColumns(source, table.relation[rows], target, sure, table.fact_id[rows])
        later = FactColumns.of((outline for found in self._later.values() for outline in found), cuts)
        return FactColumns(*[np.concatenate(pair) for pair in zip(own, later, strict=True)])

    @cached_property
    def _table_rows(self) -> NDArray[np.int32]:
        """For each node its entity in the table; an entity that the table lacks has a number beyond its end."""
        rows = self._ids.rows
        return np.arange(len(self._ids), dtype=np.int32) if rows is None else rows

    @cached_property
    def _nodes(self) -> NDArray[np.int32]:
        """For each entity of the table its node, or −1."""
        nodes = np.full(len(self._ids.ends) - 1, -1, dtype=np.int32)
        nodes[self._table_rows] = np.arange(len(self._ids), dtype=np.int32)
        return nodes

    @cached_property
    def _live(self) -> NDArray[np.bool_]:
        live = np.zeros(len(self._table.fact_id), dtype=np.bool_)
        live[self._edges.fact] = True
        return live

    @cached_property
    def _documents(self) -> NDArray[np.bool_]:
        return visible_documents(self._table, self._bounds)

    @cached_property
    def _families(self) -> list[int]:
        found: list[int] = families(self._table, self._documents).tolist()
        return found

    def _read(self, rows: NDArray[np.integer]) -> Iterator[Outline]:
        """Yield the outlines of those facts of the table that the view sees."""
        table = self._table
        rows = rows if self._lost is None else rows[~self._lost[rows]]
        places, counts = evidence_of(table, rows), table.evidence_ends[1:][rows] - table.evidence_ends[:-1][rows]
        fact, document = np.repeat(np.arange(len(rows)), counts), table.evidence_document[places]
        seen = self._seen(places)
        order = np.lexsort((document, fact))  # documents are numbered by day and id
        order = order[seen[order]]
        document, confidence = document[order], table.confidences[table.evidence_sure[places[order]]].tolist()
        bounds = np.searchsorted(fact[order], np.arange(len(rows) + 1))
        known = self._inside(rows, document, bounds)
        cells = self._cells(rows[known], bounds[known], bounds[known + 1])
        family, evidence = self._families, document.tolist()
        for identity, source, relation, target, sign, negative, live, begin, end in cells:
            said, sure = evidence[begin:end], confidence[begin:end]
            yield Outline(
                identity.decode(),
                (source, relation, target),
                sign,
                not negative,
                bool(negative) or live,
                1 if len(said) == 1 else len({family[each] for each in said}),
                max(sure),
                tuple((each, 1 - one) for each, one in zip(said, sure, strict=True)),
            )

    def _cells(self, rows: NDArray[np.integer], *more: NDArray[np.intp]) -> Iterator[tuple[Any, ...]]:
        table = self._table
        source, target = self._nodes[table.source[rows]], self._nodes[table.target[rows]]
        claim = (table.fact_id[rows], source, table.relation[rows], target, table.sign[rows], table.negative[rows])
        return zip(*(column.tolist() for column in (*claim, self._live[rows], *more)), strict=True)

    def _seen(self, places: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which pieces of evidence the view sees."""
        table = self._table
        seen: NDArray[np.bool_] = self._documents[table.evidence_document[places]]
        if self._bounds.read is not None:
            seen &= table.instants[table.evidence_read[places]] <= self._bounds.read
        return seen

    def _inside(
        self, rows: NDArray[np.integer], document: NDArray[np.int32], bounds: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """Return the positions of the facts with visible evidence that hold in the period of the view."""
        table, known = self._table, np.flatnonzero(np.diff(bounds))
        rows = rows[known]
        stated, first = table.stated[rows] != 0, table.document_day[document[bounds[known]]]
        start = np.where(stated, table.start[rows], first)
        inside: NDArray[np.intp] = known[
            self._bounds.overlapping(start, np.where(stated, table.end[rows], np.int32(OPEN_END)))
        ]
        return inside


def rows_between(table: FactTable, triples: NDArray[np.integer]) -> NDArray[np.int32]:
    """Return the facts with these ends, those of the same ends in id order.

    Args:
        table: the columns.
        triples: unique entities and relations as (subject, object, relation), shape (n, 3).
    """
    source, target, relation = triples.astype(np.int32).T
    first, last = np.searchsorted(table.source, source), np.searchsorted(table.source, source, side="right")
    low = _place(table, first, last, target=target, relation=relation)
    high = _place(table, low, last, target=target, relation=relation + 1)
    counts = high - low
    places = np.repeat(low - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    rows: NDArray[np.int32] = table.by_ends[places]
    return rows


def _place(
    table: FactTable,
    low: NDArray[np.intp],
    high: NDArray[np.intp],
    *,
    target: NDArray[np.int32],
    relation: NDArray[np.int32],
) -> NDArray[np.intp]:
    """Find by bisection where facts with these ends begin among those of their subjects."""
    low, high = low.copy(), high.copy()
    while len(searched := np.flatnonzero(low < high)):
        middle = (low[searched] + high[searched]) // 2
        row = table.by_ends[middle]
        other, wanted = table.target[row], target[searched]
        before = (other < wanted) | ((other == wanted) & (table.relation[row] < relation[searched]))
        low[searched[before]] = middle[before] + 1
        high[searched[~before]] = middle[~before]
    return low
