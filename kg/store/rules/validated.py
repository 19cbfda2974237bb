"""A reading made ready to be written, the same for every store: checked, merged within itself, and completed."""

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
    """An entity as one document describes it; `implied` when the document only uses it without describing it."""

    entity: Entity
    implied: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a store writes. `holders` gives for each mention the place of its chunk in `chunks`, or None.

    `recorded_at` is the earliest instant at which anything of it was read; None (nothing timed) is always visible.
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
    """Make a reading ready.

    Raises:
        ValueError: when it speaks of another document, dates evidence differently from its document, holds a fact
            without evidence or with an end that has no id, or uses an entity whose kind nobody says: each is a fault
            of the program that read it.
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
    """Whether a document's path is a file or one of its lines: `notes.jsonl:7` was read from `notes.jsonl`."""
    return bool(path) and (path == file or (path.startswith(f"{file}:") and path[len(file) + 1 :].isdigit()))


def utc(instant: datetime) -> datetime:
    """Return the instant in UTC; one without a zone is taken to be in UTC, so that all can be compared."""
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


def _facts(reading: Reading) -> tuple[Fact, ...]:
    """Return the facts by id with evidence in UTC, the same claim once."""
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
    # Who was the first of a family depends on the view, which fills it in.
    return replace(item, recorded_at=utc(item.recorded_at), witness="")


def _holders(chunks: tuple[Chunk, ...], mentions: tuple[Mention, ...]) -> tuple[int | None, ...]:
    """Find for each mention the first chunk that holds all of it; both come sorted by their start."""
    found: list[int | None] = []
    first = 0
    for mention in mentions:
        while first < len(chunks) and chunks[first].end <= mention.start:
            first += 1
        place = first
        while place < len(chunks) and chunks[place].start <= mention.start and chunks[place].end < mention.end:
            place += 1
        holds = place < len(chunks) and chunks[place].start <= mention.start
        found.append(place if holds else None)
    return tuple(found)


def _profiles(reading: Reading) -> tuple[Profile, ...]:
    """Return what the document says of entities, and a bare profile for each it uses without describing it.

    So an entity is visible exactly when a visible document describes, mentions or uses it: one rule, one table.
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
    """Return what an id alone says of an entity: `product:碳酸锂` is the product 碳酸锂.

    Raises:
        ValueError: when the id does not name a kind.
    """
    kind, name = bare_name(identity)
    return Entity(identity, kind, name)


def bare_name(identity: str) -> tuple[Kind, str]:
    """Return the kind and the name of an entity that an id alone tells.

    Raises:
        ValueError: when the id does not name a kind.
    """
    prefix, _, name = identity.partition(":")
    kind = _KINDS.get(prefix)
    return kind or Kind(prefix), name or identity


_KINDS = {"sec": Kind.COMPANY, "org": Kind.COMPANY, **{kind.value: kind for kind in Kind}}
