"""Facts by filter, a page at a time, in the order of their ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kg.errors import QuestionError
from kg.ids import normal_name
from kg.query.browse.conversions import GraphAnswer
from kg.query.resolve import resolve
from kg.store.rules.superseding import effective

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date

    from numpy.typing import NDArray

    from kg.graph.snapshot import Snapshot
    from kg.model import Fact
    from kg.period import Period
    from kg.query.answers import Citation, EntityRef
    from kg.query.session import QuerySession

_CITATIONS = 5
_BATCH = 500  # facts read at once while looking for matches


class TooManyDetails(QuestionError):
    """Superseded facts of the whole base were asked for."""

    def __init__(self) -> None:
        super().__init__("superseded needs name or ids: superseded facts are listed for one entity only")


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Conditions that a fact must meet; empty ones exclude nothing.

    Attributes:
        name: an entity at either end.
        relations: one of these.
        kinds: the kind of an end, of the other end if `name` is given.
        during: a period that the effective validity overlaps.
        publisher: of a document that states the fact.
        published: the first and the last day on which a document states the fact; None leaves an end open.
        ids: one of these facts, superseded or not.
        superseded: also what a later fact has superseded; only with `name`.
    """

    name: str = ""
    relations: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    during: Period | None = None
    publisher: str = ""
    published: tuple[date | None, date | None] | None = None
    ids: tuple[str, ...] = ()
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact with its ends and citations; `confidence` is that of all its documents together."""

    fact: Fact
    subject: EntityRef
    object: EntityRef
    wording: str
    confidence: float
    independent_sources: int
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class FactsAnswer(GraphAnswer):
    """A page of facts; `next` continues the list, "" at its end."""

    facts: tuple[FactRow, ...]
    next: str


class FactOrder:
    """The live, affirmed facts of one view in id order, with the columns to filter by."""

    def __init__(self, snapshot: Snapshot) -> None:
        edges, known = snapshot.edges(), snapshot.fact_ids
        ids = known.array if not known.later else np.concatenate([known.array, np.array(known.later, dtype=np.bytes_)])
        ids = ids[edges.fact]
        order = ids.argsort(kind="stable")
        self._ids, self._edges = ids[order], edges.take(order)
        self._kinds, self._names = snapshot.kinds, snapshot.relation_names

    def matching(self, wanted: FactFilter, after: str) -> NDArray[np.bytes_]:
        """Return the ids after one that meet the conditions on relation, kind and period."""
        begin = int(self._ids.searchsorted(after.encode(), side="right"))
        ids, edges = self._ids[begin:], self._edges
        mask = np.ones(len(ids), dtype=np.bool_)
        if wanted.relations:
            mask &= np.isin(edges.relation[begin:], [self._names.index(name) for name in wanted.relations])
        if wanted.kinds:
            of_kind = np.array([kind.value in wanted.kinds for kind in self._kinds], dtype=np.bool_)
            mask &= of_kind[edges.source[begin:]] | of_kind[edges.target[begin:]]
        if wanted.during and wanted.during.end:
            mask &= edges.start[begin:] < wanted.during.end.toordinal()
        if wanted.during and wanted.during.start:
            mask &= edges.end[begin:] > wanted.during.start.toordinal()
        return ids[mask]


def find_facts(
    session: QuerySession, wanted: FactFilter, order: Callable[[], FactOrder], *, after: str = "", limit: int = 50
) -> FactsAnswer:
    """Return a page of facts that hold: not superseded and, without a name, not denied.

    Args:
        session: the view, and the least confidence of a fact.
        wanted: the conditions.
        order: gives the facts of the session's view; called only for a filter without a name and ids.
        after: the `next` of the page before.
        limit: most facts of a page.

    Raises:
        UnknownName: when no entity has the name.
        UnknownRelation: when a relation is not in the vocabulary.
        TooManyDetails: for superseded facts without a name.
    """
    session.words.check(wanted.relations)
    if wanted.superseded and not (wanted.name or wanted.ids):
        raise TooManyDetails
    entity = resolve(session, wanted.name).id if wanted.name else ""
    found: list[Fact] = []
    for facts in _batches(session, wanted, entity, after=after, order=order, first=2 * limit):
        sure = [fact for fact in facts if session.confident([fact]) and _meets(session, fact, wanted, entity=entity)]
        found += _published(session, sure, wanted.publisher)
        if len(found) > limit:
            break
    page = found[:limit]
    session.refs(sorted({end for fact in page for end in (fact.subject, fact.object)}))
    return FactsAnswer(tuple(_row(session, fact) for fact in page), page[-1].id if len(found) > limit else "")


def _batches(
    session: QuerySession, wanted: FactFilter, entity: str, *, after: str, order: Callable[[], FactOrder], first: int
) -> Iterator[list[Fact]]:
    """Yield candidates in id order, `first` of them, then ever more at once."""
    if wanted.ids:
        yield [fact for fact in session.view.facts(ids=wanted.ids) if fact.id > after]
        return
    if entity and session.graph.outlines is None:
        ends = (session.view.facts(subject=entity), session.view.facts(object=entity))
        found = {fact.id: fact for facts in ends for fact in facts if fact.id > after}
        yield [found[identity] for identity in sorted(found)]
        return
    ids = _ids_at(session, entity, wanted) if entity else order().matching(wanted, after)
    begin, size = int(ids.searchsorted(after.encode(), side="right")), first
    while begin < len(ids):
        wanted_ids = [identity.decode() for identity in ids[begin : begin + size].tolist()]
        begin, size = begin + size, min(2 * size, _BATCH)
        yield list(session.view.facts(ids=wanted_ids))


def _ids_at(session: QuerySession, entity: str, wanted: FactFilter) -> NDArray[np.bytes_]:
    """Return the ids of the facts of an entity that may meet the conditions, sorted, from the columns of the base."""
    found = [
        outline.id.encode()
        for outline in session.outlines_at(entity)
        if (outline.live or wanted.superseded)
        and (not wanted.relations or session.graph.relation_names[outline.ends[1]] in wanted.relations)
    ]
    return np.array(sorted(found), dtype=np.bytes_)


def _meets(session: QuerySession, fact: Fact, wanted: FactFilter, *, entity: str) -> bool:
    if wanted.relations and fact.relation not in wanted.relations:
        return False
    if fact.superseded_by and not (wanted.superseded or wanted.ids):
        return False
    if wanted.during and not effective(fact).overlaps(wanted.during):
        return False
    if wanted.published and not any(_within(item.published_on, wanted.published) for item in fact.evidence):
        return False
    others = [end for end in (fact.subject, fact.object) if end != entity]
    return not wanted.kinds or any(session.kind(end) in wanted.kinds for end in others)


def _within(day: date, ends: tuple[date | None, date | None]) -> bool:
    first, last = ends
    return (first is None or first <= day) and (last is None or day <= last)


def _published(session: QuerySession, facts: list[Fact], publisher: str) -> list[Fact]:
    """Return the facts that a document of this publisher states."""
    if not publisher:
        return facts
    documents = {item.document for fact in facts for item in fact.evidence}
    folded = normal_name(publisher)
    own = {head.id for head in session.view.documents(documents) if normal_name(head.publisher) == folded}
    return [fact for fact in facts if any(item.document in own for item in fact.evidence)]


def _row(session: QuerySession, fact: Fact) -> FactRow:
    subject, object_ = session.refs([fact.subject, fact.object])
    relation = session.words.relations.get(fact.relation)
    return FactRow(
        fact=fact,
        subject=subject,
        object=object_,
        wording=relation.wording[session.lang] if relation else fact.relation,
        confidence=session.certainty([fact]),
        independent_sources=fact.witnesses,
        citations=tuple(session.citations([fact], _CITATIONS)),
    )
