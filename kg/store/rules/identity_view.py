"""A store's view with the judgements applied: what they touch comes from an overlay, all else straight from the store.

The overlay holds what the visible documents say of judged entities, read as the judgements have it
(kg/store/rules/identities.py). It is made once per state of the base, in proportion to what is said of those entities.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from heapq import merge
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Protocol, Self

from kg.ids import normal_name
from kg.model import Document
from kg.store.port import View
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
    from kg.store.columns import TableSource
    from kg.store.port import DocumentHead, Triple
    from kg.store.rules.validated import Profile


class PlainView(View, Protocol):
    """What a store reads by itself, no judgement applied; the three calls are for judged entities only."""

    def appearances(self, entity_ids: Collection[str]) -> Iterator[tuple[str, date, Profile]]:
        """Go through what visible documents say of these entities: document, its day, profile."""

    def linked(self, entity_ids: Collection[str]) -> Iterator[tuple[str, str, Mention]]:
        """Go through the visible mentions linked to these entities in the order of each text: document, chunk or ""."""

    def touching(self, entity_ids: Collection[str]) -> Iterator[Fact]:
        """Go through the facts with such an end: by id, one a wording of the claim, superseding not judged."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """What is said of judged entities in one state of one view.

    Attributes:
        identities: who is who.
        entities: judged entities by the id they go by.
        facts: facts that touch them, by id, superseding judged.
        became: the facts that a stored fact's id now stands for.
        closed: of facts that touch none of them but compete with one that does: by which fact each is superseded.
        by_end: the facts of each entity at either end.
        mentioned: for each judged entity the chunk of every mention.
        days: days of the documents that speak of them.
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
    def of(plain: PlainView, judgements: Iterable[Judgement], vocabulary: Vocabulary) -> Overlay:
        """Read what a view says of the judged entities."""
        identities = Identities.of(judgements, vocabulary)
        if not identities.touched:
            return Overlay(identities, {}, {}, {}, {}, {}, {}, {})
        readings, chunks = _footprints(plain, identities.touched)
        said: dict[str, list[StatedEntity]] = defaultdict(list)
        facts: dict[str, list[Fact]] = defaultdict(list)
        became: dict[str, set[str]] = defaultdict(set)
        mentioned: dict[str, list[str]] = defaultdict(list)
        for reading in readings:
            applied, moves = identities.applied(reading), identities.moves_in(reading)
            place = (reading.document.published_on, reading.document.id)
            for profile in applied.profiles:
                said[profile.entity.id].append(StatedEntity(profile.implied, place, place, profile.entity))
            for fact in reading.facts:
                for claim in identities.claims(fact, reading, moves):
                    facts[claim.id].append(claim)
                    became[fact.id].add(claim.id)
            for mention, chunk in zip(applied.mentions, chunks[reading.document.id], strict=True):
                mentioned[mention.entity] += [chunk] if chunk else []
        united, closed = _judged({key: unite(facts[key]) for key in sorted(facts)}, plain, identities, vocabulary)
        by_end: dict[str, list[Fact]] = defaultdict(list)
        for fact in united.values():
            for end in dict.fromkeys((fact.subject, fact.object)):
                by_end[end].append(fact)
        return Overlay(
            identities,
            {identity: unite_entity(said[identity]) for identity in sorted(said)},
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
        """Go through the facts that meet all conditions, by id; the id of a stored fact finds what it has become."""
        one, other = (end and self.identities.who(end) for end in (subject, object_))
        wanted = None if ids is None else {*ids, *(new for old in ids for new in self.became.get(old, ()))}
        who = self.identities.who
        among = None if triples is None else {(who(first), name, who(last)) for first, name, last in triples}
        end = one or other
        for fact in self.facts.values() if end is None else self.by_end.get(end, ()):
            known = among is None or (fact.subject, fact.relation, fact.object) in among
            asked = known and (wanted is None or fact.id in wanted)
            if asked and one in {None, fact.subject} and other in {None, fact.object}:
                yield fact

    def has(self, fact: Fact) -> bool:
        """Whether a stored fact touches a judged entity, so that it is to be read here."""
        return fact.subject in self.identities.touched or fact.object in self.identities.touched


def _footprints(plain: PlainView, entities: frozenset[str]) -> tuple[list[Prepared], dict[str, list[str]]]:
    """Return the part of each document that speaks of some entities, and the chunk of each of its mentions."""
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
            said = tuple(item for item in fact.evidence if item.document == document)
            facts[document].append(replace(fact, evidence=said))
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


def _judged(
    facts: Mapping[str, Fact], plain: PlainView, identities: Identities, vocabulary: Vocabulary
) -> tuple[dict[str, Fact], dict[str, str]]:
    """Judge what is superseded among the facts and those of the store that compete with one of them.

    Only where one fact a subject holds can one of them close a fact between ends that no judgement touches: denials
    and values share both ends.
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
    """A view of a store as everybody but the store itself sees it."""

    def __init__(self, plain: PlainView, overlay: Callable[[], Overlay], period: Period | None = None) -> None:
        self._plain, self._overlay, self._period = plain, overlay, period

    @property
    def as_of(self) -> date | None:
        """The last day of publication that is seen."""
        return self._plain.as_of

    @property
    def known_at(self) -> datetime | None:
        """The last instant of reading that is seen."""
        return self._plain.known_at

    def during(self, period: Period) -> Self:
        """Keep only facts that hold at some day of `period`."""
        return type(self)(self._plain, self._overlay, period)

    @property
    def source(self) -> TableSource | None:
        """The base itself, with what the judgements change in it; None where it cannot be read as columns."""
        plain: Any = getattr(self._plain, "source", None)
        if plain is None:
            return None
        overlay = self._overlay()
        facts = frozenset(overlay.facts) | frozenset(overlay.closed)
        judged: TableSource = replace(plain, period=self._period, judged=overlay.identities.touched, judged_facts=facts)
        return judged

    def judgements(self) -> list[Judgement]:
        """Return all judgements."""
        return self._plain.judgements()

    def entity(self, entity_id: str) -> Entity | None:
        """Return one entity."""
        overlay = self._overlay()
        if entity_id in overlay.identities.touched:
            return overlay.entities.get(overlay.identities.who(entity_id))
        found = self._plain.entity(entity_id)
        return found and _anchored(found, overlay)

    def entities(self, kind: Kind | None = None, *, ids: Collection[str] | None = None) -> Iterator[Entity]:
        """Go through the visible entities."""
        overlay = self._overlay()
        who, touched = overlay.identities.who, overlay.identities.touched
        wanted = None if ids is None else {who(identity) for identity in ids if identity in touched}
        judged = (
            entity
            for entity in overlay.entities.values()
            if kind in {None, entity.kind} and (wanted is None or entity.id in wanted)
        )
        yield from merge(_plain(self._plain.entities(kind, ids=ids), overlay), judged, key=attrgetter("id"))

    def named(self, text: str) -> list[Entity]:
        """Return the entities of that name."""
        overlay, wanted = self._overlay(), normal_name(text)
        judged = [entity for entity in overlay.entities.values() if wanted in map(normal_name, _called(entity))]
        return sorted([*_plain(self._plain.named(text), overlay), *judged], key=attrgetter("id"))

    def names(self, containing: str = "") -> Iterator[tuple[str, str]]:
        """Go through all names, or those that hold a text."""
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
        yield from merge((pair for pair in self._plain.names(containing) if pair[1] not in touched), judged)

    def facts(
        self,
        *,
        subject: str | None = None,
        object: str | None = None,  # noqa: A002 - the model's own word for a fact's second end
        relation: str | None = None,
        ids: Collection[str] | None = None,
        triples: Collection[Triple] | None = None,
    ) -> Iterator[Fact]:
        """Go through the facts that meet all conditions."""
        overlay = self._overlay()
        stored: Iterator[Fact] = iter(())
        if not overlay.identities.touched.intersection((subject, object)):
            stored = self._plain.facts(subject=subject, object=object, relation=relation, ids=ids, triples=triples)
        found = overlay.matching(subject, object, ids=ids, triples=triples)
        judged = (fact for fact in found if relation in {None, fact.relation})
        for fact in merge(_unjudged(stored, overlay), judged, key=attrgetter("id")):
            if self._period is None or effective(fact).overlaps(self._period):
                yield fact

    def document(self, document_id: str) -> Document | None:
        """Return one document."""
        return self._plain.document(document_id)

    def documents(self, ids: Collection[str] | None = None) -> Iterator[DocumentHead]:
        """Go through the visible documents."""
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
        spoken = {mention.entity for mention in found}
        moves = {} if day is None else overlay.identities.moves(document_id, day, spoken)
        return [overlay.identities.mention(mention, moves) for mention in found]

    def search(self, query: str, limit: int) -> list[tuple[Chunk, float]]:
        """Return the passages that match best."""
        return self._plain.search(query, limit)

    def chunks_mentioning(self, entity_id: str, limit: int) -> list[Chunk]:
        """Return the passages that mention an entity."""
        overlay = self._overlay()
        if entity_id not in overlay.identities.touched:
            return self._plain.chunks_mentioning(entity_id, limit)
        often = Counter(overlay.mentioned.get(overlay.identities.who(entity_id), ()))
        found = [(-count, chunk) for key, count in often.items() if (chunk := self._plain.chunk(key))]
        ranked = sorted(found, key=lambda pair: (pair[0], -overlay.days[pair[1].document].toordinal(), pair[1].id))
        return [chunk for _, chunk in ranked[: max(limit, 0)]]

    def run(self) -> Run | None:
        """Return the run with the latest visible day."""
        found = self._plain.run()
        return found and self._overlay().identities.run(found)

    def runs(self) -> Iterator[Run]:
        """Go through the visible runs."""
        return map(self._overlay().identities.run, self._plain.runs())


def _plain(entities: Iterable[Entity], overlay: Overlay) -> Iterator[Entity]:
    touched = overlay.identities.touched
    return (_anchored(entity, overlay) for entity in entities if entity.id not in touched)


def _anchored(entity: Entity, overlay: Overlay) -> Entity:
    """Let an entity be about what its anchor goes by."""
    about = overlay.identities.who(entity.about)
    return entity if about == entity.about else replace(entity, about=about)


def _unjudged(facts: Iterable[Fact], overlay: Overlay) -> Iterator[Fact]:
    for fact in facts:
        if not overlay.has(fact):
            by = overlay.closed.get(fact.id)
            yield fact if by is None or by == fact.superseded_by else replace(fact, superseded_by=by)


def _called(entity: Entity) -> tuple[str, ...]:
    return (entity.name, *(alias.name for alias in entity.aliases), *entity.codes)
