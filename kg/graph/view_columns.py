"""From the table of a base to the graph of one view, all facts at once.

Applies the rules of kg/store/rules/superseding.py and kg/store/rules/merging.py to columns instead of single facts;
tests/properties/ holds the two to the same answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kg.graph.weights import MODALITY_FACTORS, faded
from kg.model import Modality
from kg.store.columns import OPEN_END, OPEN_START
from kg.store.rules.superseding import SPEAKER_BOUND

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kg.period import Period
    from kg.relations import Vocabulary
    from kg.store.columns import FactTable

_NO_DAY = -1


@dataclass(frozen=True, slots=True)
class VisibleBounds:
    """What a view may see: ordinals and microseconds, None for no bound; `period` keeps what holds on a day of it."""

    day: int | None
    read: int | None
    period: Period | None = None


@dataclass(frozen=True, slots=True)
class Nodes:
    """The visible entities.

    Attributes:
        rows: their rows in the table, sorted.
        kinds: position in `kg.model.Kind`.
        about: the node each is about, or −1.
    """

    rows: NDArray[np.int32]
    kinds: NDArray[np.int8]
    about: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Live:
    """The facts that carry a walk, by their rows in the table: visible, positive, not closed.

    Attributes:
        rows: sorted, so by (subject, relation, id).
        weight: faded to `day`.
        start: first day of the effective validity.
        end: the day after its last.
        published: the day it was first said.
        day: the latest day on which any visible fact was said, or what was asked for; 0 where nothing is visible.
    """

    rows: NDArray[np.int64]
    weight: NDArray[np.float32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    published: NDArray[np.int32]
    day: int


@dataclass(frozen=True, slots=True)
class _Said:
    """By fact: its visible days, best confidence and witnesses; by evidence: whether and when it is seen."""

    first: NDArray[np.int32]
    last: NDArray[np.int32]
    sure: NDArray[np.float64]
    witnesses: NDArray[np.int64]
    days: NDArray[np.int32]


def visible_nodes(table: FactTable, sight: VisibleBounds) -> Nodes:
    """Return the entities that a visible document describes, mentions or uses."""
    size, profiles = len(table.entity_ends) - 1, len(table.profile_entity)
    never = len(table.document_day)
    order = np.where(_documents(table, sight), np.arange(never, dtype=np.int64), never)
    first = np.full(profiles, never, dtype=np.int64)
    filled = np.flatnonzero(np.diff(table.profile_ends))
    if len(filled):
        first[filled] = np.minimum.reduceat(order[table.seen_in], table.profile_ends[:-1][filled])
    seen = np.flatnonzero(first < never)
    # Who describes comes before who implies, then the first to say so (kg/store/rules/merging.py, unite_entity).
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
    whose, which = np.unique(table.profile_entity[anchored], return_index=True)
    about[node[whose]] = node[table.profile_about[anchored[which]]]
    return Nodes(rows, table.profile_kind[by_entity[begins]], about)


def live_facts(
    table: FactTable,
    sight: VisibleBounds,
    words: Vocabulary,
    *,
    without: NDArray[np.int64] | None = None,
    least_day: int = 0,
) -> Live:
    """Return the facts that carry a walk.

    Args:
        table: the base.
        sight: what may be seen; without a day, weights fade to the latest day of any visible fact.
        words: the vocabulary the table was read with.
        without: rows to leave out, as if nobody had said them.
        least_day: weights fade to this day at least.
    """
    said = _said(table, sight, without)
    positive = (said.last != _NO_DAY) & (table.negative == 0)
    closed = _closed(table, said, positive, words)
    stated = table.stated != 0
    start = np.where(stated, table.start, said.first)
    end = np.where(stated, table.end, np.int32(OPEN_END))
    inside = said.last != _NO_DAY
    if sight.period is not None:
        low = OPEN_START if sight.period.start is None else sight.period.start.toordinal()
        high = OPEN_END if sight.period.end is None else sight.period.end.toordinal()
        inside &= (start < high) & (low < end)
    newest = int(said.last[inside].max(initial=0))
    day = max(newest, least_day) if sight.day is None else sight.day
    rows = np.flatnonzero(positive & inside & ~closed & (table.relation >= 0))
    fresh = np.where(end[rows] == OPEN_END, said.last[rows], np.maximum(end[rows], said.last[rows]))
    weight = faded(_strength(table, said, rows, words), day - fresh, table.relation[rows], vocabulary=words)
    return Live(rows, weight, start[rows], end[rows], said.first[rows], day)


def _documents(table: FactTable, sight: VisibleBounds) -> NDArray[np.bool_]:
    seen = np.ones(len(table.document_day), dtype=np.bool_)
    if sight.day is not None:
        seen &= table.document_day <= sight.day
    if sight.read is not None:
        seen &= table.document_read <= sight.read
    return seen


def _said(table: FactTable, sight: VisibleBounds, without: NDArray[np.int64] | None) -> _Said:
    facts = len(table.fact_id)
    documents = _documents(table, sight)
    day = np.where(documents, table.document_day, np.int32(_NO_DAY))
    days = day[table.evidence_document]
    if sight.read is not None:
        days[(table.instants > sight.read)[table.evidence_read]] = _NO_DAY
    if without is not None and len(without):
        days[_evidence_of(table, without)] = _NO_DAY
    starts = table.evidence_ends[:-1]
    if len(days) == facts:  # one witness each: nothing to put together
        sure = np.where(days == _NO_DAY, 0.0, table.confidences[table.evidence_sure])
        return _Said(days, days, sure, (days != _NO_DAY).astype(np.int64), days)
    last = np.maximum.reduceat(days, starts)
    first = np.minimum.reduceat(np.where(days == _NO_DAY, np.int32(OPEN_END), days), starts)
    sure = np.maximum.reduceat(np.where(days == _NO_DAY, 0.0, table.confidences[table.evidence_sure]), starts)
    return _Said(first, last, sure, _witnesses(table, documents, days), days)


def _evidence_of(table: FactTable, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    starts, ends = table.evidence_ends[:-1][rows], table.evidence_ends[1:][rows]
    counts = ends - starts
    return np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())


def _witnesses(table: FactTable, documents: NDArray[np.bool_], days: NDArray[np.int32]) -> NDArray[np.int64]:
    """Count distinct families of the visible evidence of each fact."""
    counts = np.diff(table.evidence_ends)
    witnesses = np.ones(len(counts), dtype=np.int64)
    several = np.flatnonzero(counts > 1)
    places = _evidence_of(table, several)
    facts = np.repeat(several, counts[several])
    seen = days[places] != _NO_DAY
    family = _families(table, documents)[table.evidence_document[places[seen]]]
    pairs = np.unique(facts[seen] * len(documents) + family)
    witnesses[several] = np.bincount(pairs // max(len(documents), 1), minlength=len(counts))[several]
    return witnesses


def _families(table: FactTable, documents: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each document the first of its family; only links between visible documents count."""
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


def _closed(table: FactTable, said: _Said, positive: NDArray[np.bool_], words: Vocabulary) -> NDArray[np.bool_]:
    """Return which facts a later one has closed (DESIGN §4)."""
    bound = np.array([name in SPEAKER_BOUND for name in words.relations], dtype=np.bool_)
    closed = np.zeros(len(positive), dtype=np.bool_)
    rivals = np.flatnonzero((table.place >= 0) & positive)
    spoken = bound[table.relation[rivals]]
    free = rivals[~spoken]
    latest = np.full(int(table.place.max(initial=-1)) + 1, _NO_DAY, dtype=np.int32)
    np.maximum.at(latest, table.place[free], said.last[free])
    closed[free] = latest[table.place[free]] > said.last[free]
    pairs = np.stack([table.denied, table.denial], axis=1).astype(np.int64)
    pairs = pairs[(said.last[pairs] != _NO_DAY).all(axis=1)]
    outright = pairs[~bound[table.relation[pairs[:, 0]]]]
    closed[outright[said.last[outright[:, 1]] > said.last[outright[:, 0]], 0]] = True
    _close_by_speakers(table, said, (rivals[spoken], pairs[bound[table.relation[pairs[:, 0]]]]), closed)
    return closed


def _close_by_speakers(
    table: FactTable, said: _Said, rivals: tuple[NDArray[np.int64], NDArray[np.int64]], closed: NDArray[np.bool_]
) -> None:
    """Close the facts whose every speaker has said something newer in the same place, or denied them since."""
    mine, pairs = rivals
    facts = np.union1d(mine, pairs[:, 0]) if len(pairs) else mine
    if not len(facts):
        return
    fact, speaker, day = _by_speaker(table, said, facts)
    speakers = int(table.evidence_speaker.max(initial=0)) + 1
    # What each speaker said last in a place: by the fact itself too, which is never later than itself.
    places = table.place[fact].astype(np.int64)
    shared = places >= 0
    keys, inverse = np.unique(places[shared] * speakers + speaker[shared], return_inverse=True)
    latest = np.full(len(keys), _NO_DAY, dtype=np.int64)
    np.maximum.at(latest, inverse, day[shared])
    moved = np.zeros(len(fact), dtype=np.bool_)
    moved[shared] = latest[inverse] > day[shared]
    if len(pairs):
        denying = _by_speaker(table, said, np.unique(pairs[:, 1]))
        said_on = {(int(f), int(s)): int(d) for f, s, d in zip(*denying, strict=True)}
        against: dict[int, list[int]] = {}
        for one, other in pairs.tolist():
            against.setdefault(one, []).append(other)
        for place in np.flatnonzero(np.isin(fact, pairs[:, 0])).tolist():
            days = (said_on.get((other, int(speaker[place])), _NO_DAY) for other in against[int(fact[place])])
            moved[place] |= max(days) > day[place]
    moved &= speaker != 0  # an unnamed speaker is nobody in particular
    unmoved = np.unique(fact[~moved])
    closed[np.setdiff1d(fact, unmoved)] = True


def _by_speaker(
    table: FactTable, said: _Said, facts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return (fact, speaker, the last visible day on which he said it), one row for each."""
    places = _evidence_of(table, facts)
    held = np.repeat(facts, np.diff(table.evidence_ends)[facts])
    seen = said.days[places] != _NO_DAY
    places, held = places[seen], held[seen]
    speaker, day = table.evidence_speaker[places].astype(np.int64), said.days[places].astype(np.int64)
    order = np.lexsort((-day, speaker, held))
    held, speaker, day = held[order], speaker[order], day[order]
    first = np.ones(len(held), dtype=np.bool_)
    first[1:] = (held[1:] != held[:-1]) | (speaker[1:] != speaker[:-1])
    return held[first], speaker[first], day[first]


def _strength(table: FactTable, said: _Said, rows: NDArray[np.int64], words: Vocabulary) -> NDArray[np.float64]:
    """Return what each fact counts while it is fresh, as kg/graph/weights.py has it."""
    relation = np.array([item.weight for item in words.relations.values()])[table.relation[rows]]
    certainty = np.array([MODALITY_FACTORS[modality] for modality in Modality])[table.modality[rows]]
    strength: NDArray[np.float64] = said.witnesses[rows] * said.sure[rows] * relation * certainty
    return strength
