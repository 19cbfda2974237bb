"""Compute the nodes and live facts of one view from the columns of a base.

Selects what kg/store/rules/superseding.py decides on, and applies kg/store/rules/merging.py to whole columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kg.graph.weights import MODALITY_FACTORS, faded
from kg.model import Modality
from kg.store.columns import OPEN_END, OPEN_START
from kg.store.rules.superseding import SPEAKER_BOUND, Statements, superseding_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kg.period import Period
    from kg.relations import Vocabulary
    from kg.store.columns import FactTable

_NO_DAY = -1


@dataclass(frozen=True, slots=True)
class VisibleBounds:
    """Bounds of a view: day ordinal, microseconds, and a period that facts must overlap; None means unbounded."""

    day: int | None
    read: int | None
    period: Period | None = None

    def overlapping(self, start: NDArray[np.int32], end: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which validities overlap the period."""
        low = OPEN_START if self.period is None or self.period.start is None else self.period.start.toordinal()
        high = OPEN_END if self.period is None or self.period.end is None else self.period.end.toordinal()
        everything = self.period is None
        overlaps: NDArray[np.bool_] = everything | ((start < high) & (low < end))
        return overlaps


@dataclass(frozen=True, slots=True)
class Nodes:
    """The visible entities.

    Attributes:
        rows: their rows in the table, sorted.
        kinds: positions in `kg.model.Kind`.
        about: the node each is about, or −1.
    """

    rows: NDArray[np.int32]
    kinds: NDArray[np.int8]
    about: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Live:
    """The traversable facts (visible, positive, not superseded) by their rows in the table.

    Attributes:
        rows: sorted, and so by (subject, relation, id).
        weight: weight faded to `day`.
        start: first day of the effective validity.
        end: the day after its last day.
        published: day of first publication.
        day: the day of the view, else the latest publication day of a visible fact; 0 when nothing is visible.
    """

    rows: NDArray[np.int64]
    weight: NDArray[np.float32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    published: NDArray[np.int32]
    day: int


@dataclass(frozen=True, slots=True)
class _Visibility:
    """Per fact: first and last visible day, best confidence, witnesses; per evidence: visible day or `_NO_DAY`."""

    first: NDArray[np.int32]
    last: NDArray[np.int32]
    confidence: NDArray[np.float64]
    witnesses: NDArray[np.int64]
    days: NDArray[np.int32]


def visible_nodes(table: FactTable, bounds: VisibleBounds) -> Nodes:
    """Return the entities that a visible document describes, mentions or uses."""
    size, profiles = len(table.entity_ends) - 1, len(table.profile_entity)
    never = len(table.document_day)
    order = np.where(visible_documents(table, bounds), np.arange(never, dtype=np.int64), never)
    first = np.full(profiles, never, dtype=np.int64)
    filled = np.flatnonzero(np.diff(table.profile_ends))
    if len(filled):
        first[filled] = np.minimum.reduceat(order[table.seen_in], table.profile_ends[:-1][filled])
    seen = np.flatnonzero(first < never)
    # Descriptions precede implied entities, then the earliest document wins (kg/store/rules/merging.py, unite_entity).
    by_entity = seen[
        np.lexsort((table.profile_rank[seen], first[seen], table.profile_implied[seen], table.profile_entity[seen]))
    ]
    entity = table.profile_entity[by_entity]
    begins = np.flatnonzero(np.diff(entity, prepend=-1))
    rows = entity[begins]
    node = np.full(size, -1, dtype=np.int32)
    node[rows] = np.arange(len(rows), dtype=np.int32)
    about = np.full(len(rows), -1, dtype=np.int32)
    anchored = by_entity[table.profile_about[by_entity] >= 0]
    owners, first_rows = np.unique(table.profile_entity[anchored], return_index=True)
    about[node[owners]] = node[table.profile_about[anchored[first_rows]]]
    return Nodes(rows, table.profile_kind[by_entity[begins]], about)


def live_facts(
    table: FactTable,
    bounds: VisibleBounds,
    words: Vocabulary,
    *,
    without: NDArray[np.int64] | None = None,
    least_day: int = 0,
) -> Live:
    """Return the traversable facts.

    Args:
        table: columns of the base.
        bounds: bounds of the view; without a day, weights fade to the latest day of any visible fact.
        words: vocabulary that the table was read with.
        without: rows to exclude.
        least_day: earliest reference day for fading.
    """
    visible = _visibility(table, bounds, without)
    positive = (visible.last != _NO_DAY) & (table.negative == 0)
    closed = _closed(table, visible, positive, words)
    stated = table.stated != 0
    start = np.where(stated, table.start, visible.first)
    end = np.where(stated, table.end, np.int32(OPEN_END))
    inside = (visible.last != _NO_DAY) & bounds.overlapping(start, end)
    newest = int(visible.last[inside].max(initial=0))
    day = max(newest, least_day) if bounds.day is None else bounds.day
    rows = np.flatnonzero(positive & inside & ~closed & (table.relation >= 0))
    fresh = np.where(end[rows] == OPEN_END, visible.last[rows], np.maximum(end[rows], visible.last[rows]))
    weight = faded(_strength(table, visible, rows, words), day - fresh, table.relation[rows], vocabulary=words)
    return Live(rows, weight, start[rows], end[rows], visible.first[rows], day)


def visible_documents(table: FactTable, bounds: VisibleBounds) -> NDArray[np.bool_]:
    """Return the mask of visible documents."""
    seen = np.ones(len(table.document_day), dtype=np.bool_)
    if bounds.day is not None:
        seen &= table.document_day <= bounds.day
    if bounds.read is not None:
        seen &= table.document_read <= bounds.read
    return seen


def _visibility(table: FactTable, bounds: VisibleBounds, without: NDArray[np.int64] | None) -> _Visibility:
    facts = len(table.fact_id)
    documents = visible_documents(table, bounds)
    day = np.where(documents, table.document_day, np.int32(_NO_DAY))
    days = day[table.evidence_document]
    if bounds.read is not None:
        days[(table.instants > bounds.read)[table.evidence_read]] = _NO_DAY
    if without is not None and len(without):
        days[evidence_of(table, without)] = _NO_DAY
    starts = table.evidence_ends[:-1]
    if len(days) == facts:  # one piece of evidence per fact: nothing to aggregate
        confidence = np.where(days == _NO_DAY, 0.0, table.confidences[table.evidence_sure])
        return _Visibility(days, days, confidence, (days != _NO_DAY).astype(np.int64), days)
    last = np.maximum.reduceat(days, starts)
    first = np.minimum.reduceat(np.where(days == _NO_DAY, np.int32(OPEN_END), days), starts)
    confidence = np.maximum.reduceat(np.where(days == _NO_DAY, 0.0, table.confidences[table.evidence_sure]), starts)
    return _Visibility(first, last, confidence, _witnesses(table, documents, days), days)


def evidence_of(table: FactTable, rows: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the rows of the evidence of facts, in their order."""
    starts, ends = table.evidence_ends[:-1][rows], table.evidence_ends[1:][rows]
    counts = ends - starts
    return np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())


def _witnesses(table: FactTable, documents: NDArray[np.bool_], days: NDArray[np.int32]) -> NDArray[np.int64]:
    """Count the distinct near-duplicate families in the visible evidence of each fact."""
    counts = np.diff(table.evidence_ends)
    witnesses = np.ones(len(counts), dtype=np.int64)
    several = np.flatnonzero(counts > 1)
    places = evidence_of(table, several)
    facts = np.repeat(several, counts[several])
    seen = days[places] != _NO_DAY
    family = families(table, documents)[table.evidence_document[places[seen]]]
    pairs = np.unique(facts[seen] * len(documents) + family)
    witnesses[several] = np.bincount(pairs // max(len(documents), 1), minlength=len(counts))[several]
    return witnesses


def families(table: FactTable, documents: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each document the first of its near-duplicate family, using only links between visible documents."""
    head = np.arange(len(documents), dtype=np.int64)
    links = np.stack([table.copy_one, table.copy_other], axis=1)
    for one, other in links[documents[links].all(axis=1)].tolist():
        roots = []
        for document in (one, other):
            while head[document] != document:
                head[document] = head[head[document]]
                document = head[document]  # noqa: PLW2901 - climbing to the root
            roots.append(document)
        head[max(roots)] = min(roots)  # documents are numbered by day and id
    while (above := head[head]).tolist() != head.tolist():
        head = above
    return head


def _closed(
    table: FactTable, visible: _Visibility, positive: NDArray[np.bool_], words: Vocabulary
) -> NDArray[np.bool_]:
    """Return the mask of superseded facts."""
    pairs = np.stack([table.denied, table.denial], axis=1).astype(np.int64)
    pairs = pairs[(visible.last[pairs] != _NO_DAY).all(axis=1)]
    place = np.where(positive, table.place, -1).astype(np.int64)
    competing = np.union1d(np.flatnonzero(place >= 0), pairs)
    evidence = evidence_of(table, competing)
    fact = np.repeat(competing, np.diff(table.evidence_ends)[competing])
    seen = visible.days[evidence] != _NO_DAY
    speaker, day = (column[evidence[seen]].astype(np.int64) for column in (table.evidence_speaker, visible.days))
    bound = np.array([name in SPEAKER_BOUND for name in (*words.relations, "")], dtype=np.bool_)[table.relation]
    return superseding_rows(Statements(fact[seen], speaker, day), place, pairs, bound=bound) >= 0


def _strength(
    table: FactTable, visible: _Visibility, rows: NDArray[np.int64], words: Vocabulary
) -> NDArray[np.float64]:
    """Return the weight of each fact while fresh, as in kg/graph/weights.py."""
    relation = np.array([item.weight for item in words.relations.values()])[table.relation[rows]]
    certainty = np.array([MODALITY_FACTORS[modality] for modality in Modality])[table.modality[rows]]
    strength: NDArray[np.float64] = visible.witnesses[rows] * visible.confidence[rows] * relation * certainty
    return strength
