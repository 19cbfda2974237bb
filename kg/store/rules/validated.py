"""Prepare a reading for writing, for all stores: validate it, merge its facts and complete its profiles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kg.model import Entity, Kind, MentionStatus
from kg.store.rules.merging import unite

if TYPE_CHECKING:
    from kg.model import Chunk, Document, Evidence, Fact, Mention, Problem, Reading


@dataclass(frozen=True, slots=True)
class Profile:
    """An entity as one document describes it; `implied` if the document uses the entity without describing it."""

    entity: Entity
    implied: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A validated reading. `holders` gives for each mention the position of its chunk in `chunks`, or None.

    `recorded_at` is the earliest recording time in the reading; None (no times given) is always visible.
    """

    document: Document
    recorded_at: datetime | None
    chunks: tuple[Chunk, ...]
    mentions: tuple[Mention, ...]
    holders: tuple[int | None, ...]
    profiles: tuple[Profile, ...]
    facts: tuple[Fact, ...]
    problems: tuple[Problem, ...]
    copies: tuple[str, ...]


def prepare(reading: Reading) -> Prepared:
    """Validate and complete a reading.

    Raises:
        ValueError: when it refers to another document, dates evidence differently from its document, has a fact
            without evidence or with an end without id, or uses an entity of unknown kind; each is a bug in the
            program that produced the reading.
    """
    document = reading.document
    chunks = tuple(sorted(reading.chunks, key=lambda c: (c.start, c.end, c.id)))
    for chunk in chunks:
        if chunk.document != document.id:
            raise ValueError(f"{document.id}: chunk {chunk.id} belongs to {chunk.document}")
    facts = _facts(reading)
    if any(not (fact.subject and fact.object) for fact in facts):
        raise ValueError(f"{document.id}: a fact has an end without an id")
    mentions = tuple(sorted(reading.mentions, key=lambda m: (m.start, m.end, m.text, m.entity)))
    instants = [item.recorded_at for fact in facts for item in fact.evidence]
    return Prepared(
        document=document,
        recorded_at=utc(reading.recorded_at) if reading.recorded_at else min(instants, default=None),
        chunks=chunks,
        mentions=mentions,
        holders=_holders(chunks, mentions),
        profiles=_profiles(reading),
        facts=facts,
        problems=reading.problems,
        copies=tuple(sorted(set(reading.copies) - {document.id})),
    )


def read_from(path: str, file: str) -> bool:
    """Return whether a document's path is a file or one of its lines: `notes.jsonl:7` was read from `notes.jsonl`."""
    return bool(path) and (path == file or (path.startswith(f"{file}:") and path[len(file) + 1 :].isdigit()))


def utc(instant: datetime) -> datetime:
    """Convert an instant to UTC; one without a time zone is taken as UTC, so that all can be compared."""
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


def _facts(reading: Reading) -> tuple[Fact, ...]:
    """Return the facts in id order with evidence in UTC, merging facts with the same id."""
    by_id: dict[str, list[Fact]] = {}
    for fact in reading.facts:
        if not fact.evidence:
            raise ValueError(f"{reading.document.id}: {fact.id} has no evidence")
        evidence = tuple(_checked(item, reading.document) for item in fact.evidence)
        by_id.setdefault(fact.id, []).append(replace(fact, evidence=evidence, superseded_by=""))
    return tuple(unite(by_id[identity]) for identity in sorted(by_id))


def _checked(item: Evidence, document: Document) -> Evidence:
    if item.document != document.id:
        raise ValueError(f"{document.id}: evidence of {item.document}")
    if item.published_on != document.published_on:
        raise ValueError(f"{document.id}: published on {document.published_on}, evidence says {item.published_on}")
    # The first document of a family depends on the view, which sets `witness`.
    return replace(item, recorded_at=utc(item.recorded_at), witness="")


def _holders(chunks: tuple[Chunk, ...], mentions: tuple[Mention, ...]) -> tuple[int | None, ...]:
    """Return for each mention the position of the first chunk that contains it; both are sorted by start."""
    found: list[int | None] = []
    first = 0
    for mention in mentions:
        while first < len(chunks) and chunks[first].end <= mention.start:
            first += 1
        place = first
        while place < len(chunks) and chunks[place].start <= mention.start and chunks[place].end < mention.end:
            place += 1
        contained = place < len(chunks) and chunks[place].start <= mention.start
        found.append(place if contained else None)
    return tuple(found)


def _profiles(reading: Reading) -> tuple[Profile, ...]:
    """Return the profiles of described entities, and a bare profile for each entity used without description.

    An entity is therefore visible exactly when a visible document describes, mentions or uses it.
    """
    profiles = [Profile(entity) for entity in dict.fromkeys(reading.entities)]
    known = {entity.id for entity in reading.entities}
    for mention in sorted(reading.mentions, key=lambda m: m.start):
        if mention.status is MentionStatus.LINKED and mention.entity and mention.entity not in known:
            known.add(mention.entity)
            profiles.append(Profile(Entity(mention.entity, mention.kind, mention.text), implied=True))
    used = {end for fact in reading.facts for end in (fact.subject, fact.object)}
    used.update(entity.about for entity in reading.entities if entity.about)
    profiles.extend(Profile(bare_entity(identity), implied=True) for identity in sorted(used - known))
    return tuple(profiles)


def bare_entity(identity: str) -> Entity:
    """Return the entity implied by an id alone: `product:碳酸锂` is the product 碳酸锂.

    Raises:
        ValueError: when the id has no known kind.
    """
    prefix, _, name = identity.partition(":")
    return Entity(identity, _KINDS.get(prefix) or Kind(prefix), name or identity)


_KINDS = {"sec": Kind.COMPANY, "org": Kind.COMPANY, **{kind.value: kind for kind in Kind}}
