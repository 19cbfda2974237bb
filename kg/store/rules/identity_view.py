"""A store's view with judgements applied: judged entities come from an overlay, everything else from the store.

The overlay holds the visible data about judged entities with the judgements applied (kg/store/rules/identities.py). It
is computed once per state of the store, at a cost proportional to that data.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from heapq import merge
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Self

from kg.ids import normal_name
from kg.model import Document
from kg.store.rules.identities import Identities
from kg.store.rules.merging import StatedEntity, unite, unite_entity
from kg.store.rules.superseding import effective, one_at_a_time, superseded
from kg.store.rules.validated import Prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from datetime import date, datetime

    from kg.judgement import Judgement
    from kg.model import Chunk, Entity, Fact, Kind, Mention, Run
    from kg.period import Period
    from kg.relations import Vocabulary
    from kg.store.port import DocumentHead, Triple
    from kg.store.rules.validated import Profile
    from kg.store.sqlite.columns import SqliteSource
    from kg.store.sqlite.view import SqliteView


@dataclass(frozen=True, slots=True)
class Overlay:
    """The data about judged entities in one state of one view.

    Attributes:
        identities: the judgements in force.
        entities: judged entities by current id.
        facts: facts with a judged entity at an end, by id, with superseding computed.
        became: for the id of a stored fact the ids of its current facts.
        closed: for facts without a judged entity that compete with one that has: the superseding fact's id, or "".
        by_end: the facts of each entity at either end.
        mentioned: for each judged entity the chunk of every mention.
        days: publication days of the documents about them.
    """

    identities: Identities
    entities: Mapping[str, Entity]
    facts: Mapping[str, Fact]
    became: Mapping[str, tuple[str, ...]]
    closed: Mapping[str, str]
    by_end: Mapping[str, list[Fact]]
    mentioned: Mapping[str, list[str]]
    days: Mapping[str, date]

    @staticmethod
    def of(plain: SqliteView, judgements: Iterable[Judgement], vocabulary: Vocabulary) -> Overlay:
        """Compute the overlay of a view."""
        identities = Identities.of(judgements, vocabulary)
        if not identities.touched:
            return Overlay(identities, {}, {}, {}, {}, {}, {}, {})
        readings, chunks = _judged_readings(plain, identities.touched)
        stated: dict[str, list[StatedEntity]] = defaultdict(list)
        facts: dict[str, list[Fact]] = defaultdict(list)
        became: dict[str, set[str]] = defaultdict(set)
        mentioned: dict[str, list[str]] = defaultdict(list)
        for reading in readings:
            applied, moves = identities.applied(reading), identities.moves_in(reading)
            place = (reading.document.published_on, reading.document.id)
            for profile in applied.profiles:
                stated[profile.entity.id].append(StatedEntity(profile.implied, place, place, profile.entity))
            for fact in reading.facts:
                for claim in identities.claims(fact, reading, moves):
                    facts[claim.id].append(claim)
                    became[fact.id].add(claim.id)
            for mention, chunk in zip(applied.mentions, chunks[reading.document.id], strict=True):
                mentioned[mention.entity] += [chunk] if chunk else []
        united, closed = _with_superseding(
            {key: unite(facts[key]) for key in sorted(facts)}, plain, identities, vocabulary
        )
        by_end: dict[str, list[Fact]] = defaultdict(list)
        for fact in united.values():
            for end in dict.fromkeys((fact.subject, fact.object)):
                by_end[end].append(fact)
        return Overlay(
            identities,
            {identity: unite_entity(stated[identity]) for identity in sorted(stated)},
            united,
            {old: tuple(sorted(new)) for old, new in became.items()},
            closed,
            by_end,
            mentioned,
            {reading.document.id: reading.document.published_on for reading in readings},
        )

    def matching(
        self,
        subject: str | None,
        object_: str | None,
        *,
        ids: Collection[str] | None,
        triples: Collection[Triple] | None,
    ) -> Iterator[Fact]:
        """Yield the facts that meet all conditions in id order; the id of a stored fact finds its current facts."""
        one, other = (end and self.identities.who(end) for end in (subject, object_))
        wanted = None if ids is None else {*ids, *(new for old in ids for new in self.became.get(old, ()))}
        who = self.identities.who
        current_triples = None if triples is None else {(who(first), name, who(last)) for first, name, last in triples}
        end = one or other
        for fact in self.facts.values() if end is None else self.by_end.get(end, ()):
            in_triples = current_triples is None or (fact.subject, fact.relation, fact.object) in current_triples
            selected = in_triples and (wanted is None or fact.id in wanted)
            if selected and one in {None, fact.subject} and other in {None, fact.object}:
                yield fact

    def has(self, fact: Fact) -> bool:
        """Return whether a stored fact has a judged entity at an end, so that the overlay replaces it."""
        return fact.subject in self.identities.touched or fact.object in self.identities.touched


def _judged_readings(plain: SqliteView, entities: frozenset[str]) -> tuple[list[Prepared], dict[str, list[str]]]:
    """Return the part of each document about some entities, and the chunk of each of its mentions."""
    profiles: dict[tuple[str, date], list[Profile]] = defaultdict(list)
    for document, day, profile in plain.appearances(entities):
        profiles[document, day].append(profile)
    mentions: dict[str, list[Mention]] = defaultdict(list)
    chunks: dict[str, list[str]] = defaultdict(list)
    for document, chunk, mention in plain.linked(entities):
        mentions[document].append(mention)
        chunks[document].append(chunk)
    facts: dict[str, list[Fact]] = defaultdict(list)
    for fact in plain.touching(entities):
        for document in dict.fromkeys(item.document for item in fact.evidence):
            evidence = tuple(item for item in fact.evidence if item.document == document)
            facts[document].append(replace(fact, evidence=evidence))
    readings = [
        Prepared(
            document=Document(document, "", day, ""),
            recorded_at=None,
            chunks=(),
            mentions=tuple(mentions[document]),
            holders=(),
            profiles=tuple(described),
            facts=tuple(facts[document]),
            problems=(),
            copies=(),
        )
        for (document, day), described in sorted(profiles.items(), key=itemgetter(0))
    ]
    return readings, chunks


def _with_superseding(
    facts: Mapping[str, Fact], plain: SqliteView, identities: Identities, vocabulary: Vocabulary
) -> tuple[dict[str, Fact], dict[str, str]]:
    """Compute superseding among the facts and the stored facts that compete with them.

    Only for relations with one fact per subject can one of them supersede a fact between entities that are not judged:
    denials and values share both ends.
    """
    contested = {
        (fact.subject, fact.relation)
        for fact in facts.values()
        if fact.subject not in identities.touched
        and one_at_a_time(fact.relation, vocabulary)
        and vocabulary[fact.relation].one_per == "subject"
    }
    rivals = [
        fact
        for subject, relation in sorted(contested)
        for fact in plain.facts(subject=subject, relation=relation)
        if fact.object not in identities.touched
    ]
    closed = superseded([*facts.values(), *rivals], vocabulary)
    judged = {key: replace(fact, superseded_by=closed.get(key, "")) for key, fact in facts.items()}
    return judged, {fact.id: closed.get(fact.id, "") for fact in rivals}


class JudgedView:
    """The public view of a store, with judgements applied."""

    def __init__(
        self,
        plain: SqliteView,
        overlay: Callable[[], Overlay],
        period: Period | None = None,
        *,
        until: Callable[[date], Self] | None = None,
    ) -> None:
        self._plain, self._overlay, self._period, self._until = plain, overlay, period, until

    @property
    def as_of(self) -> date | None:
        """The last visible publication day."""
        return self._plain.as_of

    @property
    def known_at(self) -> datetime | None:
        """The last visible recording time."""
        return self._plain.known_at

    def during(self, period: Period) -> Self:
        """Return the view restricted to facts that hold on some day of `period`."""
        return type(self)(self._plain, self._overlay, period, until=self._until)

    def until(self, as_of: date) -> Self:
        """Return the same state of the base as of a day."""
        assert self._until is not None, "a writer's view has no other days"
        seen = self._until(as_of)
        return seen if self._period is None else seen.during(self._period)

    @property
    def source(self) -> SqliteSource:
        """The table source of the store with the entities and facts that judgements change."""
        overlay = self._overlay()
        facts = frozenset(overlay.facts) | frozenset(overlay.closed)
        touched = overlay.identities.touched
        return replace(self._plain.source, period=self._period, judged=touched, judged_facts=facts)

    def judgements(self) -> list[Judgement]:
        """Return the visible judgements."""
        return self._plain.judgements()

    def entity(self, entity_id: str) -> Entity | None:
        """Return one entity."""
        overlay = self._overlay()
        if entity_id in overlay.identities.touched:
            return overlay.entities.get(overlay.identities.who(entity_id))
        found = self._plain.entity(entity_id)
        return found and _with_current_about(found, overlay)

    def entities(self, kind: Kind | None = None, *, ids: Collection[str] | None = None) -> Iterator[Entity]:
        """Yield the visible entities."""
        overlay = self._overlay()
        who, touched = overlay.identities.who, overlay.identities.touched
        wanted = None if ids is None else {who(identity) for identity in ids if identity in touched}
        judged = (
            entity
            for entity in overlay.entities.values()
            if kind in {None, entity.kind} and (wanted is None or entity.id in wanted)
        )
        yield from merge(_not_judged(self._plain.entities(kind, ids=ids), overlay), judged, key=attrgetter("id"))

    def named(self, text: str) -> list[Entity]:
        """Return the entities with that name."""
        overlay, wanted = self._overlay(), normal_name(text)
        judged = [entity for entity in overlay.entities.values() if wanted in map(normal_name, _all_names(entity))]
        return sorted([*_not_judged(self._plain.named(text), overlay), *judged], key=attrgetter("id"))

    def names(self, containing: str = "") -> Iterator[tuple[str, str]]:
        """Yield all names, or those that contain a text."""
        overlay = self._overlay()
        touched = overlay.identities.touched
        judged = sorted(
            {
                (name, entity.id)
                for entity in overlay.entities.values()
                for name in (entity.name, *(alias.name for alias in entity.aliases))
                if containing in name
            }
        )
        stored = self._plain.names(containing)
        yield from merge((pair for pair in stored if pair[1] not in touched), judged) if touched else stored

    def facts(
        self,
        *,
        subject: str | None = None,
        object: str | None = None,  # noqa: A002 - the model's name for a fact's second end
        relation: str | None = None,
        ids: Collection[str] | None = None,
        triples: Collection[Triple] | None = None,
    ) -> Iterator[Fact]:
        """Yield the facts that meet all conditions."""
        overlay = self._overlay()
        stored: Iterator[Fact] = iter(())
        if not overlay.identities.touched.intersection((subject, object)):
            stored = self._plain.facts(subject=subject, object=object, relation=relation, ids=ids, triples=triples)
        found = overlay.matching(subject, object, ids=ids, triples=triples)
        judged = (fact for fact in found if relation in {None, fact.relation})
        for fact in merge(_facts_not_judged(stored, overlay), judged, key=attrgetter("id")):
            if self._period is None or effective(fact).overlaps(self._period):
                yield fact

    def document(self, document_id: str) -> Document | None:
        """Return one document."""
        return self._plain.document(document_id)

    def documents(self, ids: Collection[str] | None = None) -> Iterator[DocumentHead]:
        """Yield the visible documents."""
        return self._plain.documents(ids)

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Return one passage."""
        return self._plain.chunk(chunk_id)

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return the passages of a document."""
        return self._plain.chunks(document_id)

    def mentions(self, document_id: str) -> list[Mention]:
        """Return the mentions of a document."""
        found, overlay = self._plain.mentions(document_id), self._overlay()
        if not overlay.identities.touched:
            return found
        day = overlay.days.get(document_id)
        mentioned = {mention.entity for mention in found}
        moves = {} if day is None else overlay.identities.moves(document_id, day, mentioned)
        return [overlay.identities.mention(mention, moves) for mention in found]

    def frequency(self, words: Collection[str]) -> tuple[int, dict[str, int]]:
        """Return the number of visible passages, and in how many of them each index word occurs."""
        return self._plain.frequency(words)

    def search(self, query: str, limit: int) -> list[tuple[Chunk, float]]:
        """Return the best-matching passages."""
        return self._plain.search(query, limit)

    def chunks_mentioning(self, entity_id: str, limit: int) -> list[Chunk]:
        """Return the passages that mention an entity."""
        overlay = self._overlay()
        if entity_id not in overlay.identities.touched:
            return self._plain.chunks_mentioning(entity_id, limit)
        counts = Counter(overlay.mentioned.get(overlay.identities.who(entity_id), ()))
        found = [(-count, chunk) for key, count in counts.items() if (chunk := self._plain.chunk(key))]
        ranked = sorted(found, key=lambda pair: (pair[0], -overlay.days[pair[1].document].toordinal(), pair[1].id))
        return [chunk for _, chunk in ranked[: max(limit, 0)]]

    def run(self) -> Run | None:
        """Return the latest visible run."""
        found = self._plain.run()
        return found and self._overlay().identities.run(found)

    def runs(self) -> Iterator[Run]:
        """Yield the visible runs."""
        return map(self._overlay().identities.run, self._plain.runs())


def _not_judged(entities: Iterable[Entity], overlay: Overlay) -> Iterator[Entity]:
    touched = overlay.identities.touched
    return (_with_current_about(entity, overlay) for entity in entities if entity.id not in touched)


def _with_current_about(entity: Entity, overlay: Overlay) -> Entity:
    """Return an entity whose `about` is a current id."""
    about = overlay.identities.who(entity.about)
    return entity if about == entity.about else replace(entity, about=about)


def _facts_not_judged(facts: Iterable[Fact], overlay: Overlay) -> Iterator[Fact]:
    for fact in facts:
        if not overlay.has(fact):
            by = overlay.closed.get(fact.id)
            yield fact if by is None or by == fact.superseded_by else replace(fact, superseded_by=by)


def _all_names(entity: Entity) -> tuple[str, ...]:
    return (entity.name, *(alias.name for alias in entity.aliases), *entity.codes)
