"""Write, read back and delete one document in Neo4j, with one UNWIND statement per kind of row."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from kg.ids import digest
from kg.model import MentionStatus, Polarity, Reading
from kg.store import codec
from kg.store.neo4j import changes as cypher
from kg.store.neo4j import statements as queries
from kg.store.rules.document_facts import written_facts
from kg.store.visibility import instant_of, microseconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kg.model import Fact
    from kg.store.neo4j.connection import Moment
    from kg.store.rules.validated import Prepared, Profile

Properties = dict[str, object]


def insert(moment: Moment, reading: Prepared) -> None:
    """Write a document with its profiles, passages and facts."""
    document = reading.document.id
    moment.rows(cypher.DOCUMENT, document=_document(reading))
    if reading.copies:
        moment.rows(cypher.COPIES, id=document, copies=list(reading.copies))
    moment.rows(
        cypher.ENTITIES,
        entities=sorted(map(_entity, reading.profiles), key=lambda row: (row["id"], not row["implied"])),
    )
    profiles = {row["key"]: row for row in map(_profile, reading.profiles)}
    known = {key for (key,) in moment.rows(cypher.KNOWN_PROFILES, keys=list(profiles))}
    moment.rows(cypher.PROFILES, profiles=[row for key, row in profiles.items() if key not in known])
    moment.rows(cypher.DESCRIBES, id=document, keys=list(profiles))
    moment.rows(cypher.PASSAGES, id=document, passages=_passages(reading))
    known_facts = {identity for (identity,) in moment.rows(cypher.KNOWN_FACTS, ids=[fact.id for fact in reading.facts])}
    moment.rows(cypher.FACTS, facts=[_fact(fact) for fact in reading.facts if fact.id not in known_facts])
    moment.rows(cypher.STATES, id=document, evidence=list(_evidence(reading)))


def _document(reading: Prepared) -> Properties:
    document = reading.document
    return {
        "id": document.id,
        "title": document.title,
        "published_on": document.published_on,
        "recorded_at": None if reading.recorded_at is None else microseconds(reading.recorded_at),
        "path": document.path,
        "signature": document.signature or None,
        "head": codec.head_out(document),
        "body": codec.body_out(document, reading.problems).decode(),
        "passages": len(reading.chunks),
        "mentions": [codec.mention_out(mention) for mention in reading.mentions],
    }


def _entity(profile: Profile) -> dict[str, Any]:
    entity = profile.entity
    return {
        "id": entity.id,
        "kind": entity.kind.value,
        "name": entity.name,
        "aliases": [alias.name for alias in entity.aliases],
        "codes": list(entity.codes),
        "about": entity.about,
        "implied": profile.implied,
    }


def _profile(profile: Profile) -> Properties:
    record = codec.entity_out(profile.entity)
    return {
        "key": digest((profile.entity.id, str(int(profile.implied)), record)),
        "entity": profile.entity.id,
        "implied": profile.implied,
        "record": record,
    }


def _passages(reading: Prepared) -> list[Properties]:
    mentioned: dict[int, Counter[str]] = defaultdict(Counter)
    for mention, holder in zip(reading.mentions, reading.holders, strict=True):
        if holder is not None and mention.status is MentionStatus.LINKED and mention.entity:
            mentioned[holder][mention.entity] += 1
    return [
        {
            "properties": {
                "id": chunk.id,
                "place": place,
                "record": codec.chunk_out(chunk),
            },
            "mentions": [list(pair) for pair in mentioned[place].items()],
        }
        for place, chunk in enumerate(reading.chunks)
    ]


def _fact(fact: Fact) -> Properties:
    """Return the properties of a fact for people who ask in Cypher; its wording is stored with the evidence."""
    valid = fact.valid
    return {
        "id": fact.id,
        "subject": fact.subject,
        "relation": fact.relation,
        "object": fact.object,
        "sign": fact.sign,
        "negative": fact.polarity is Polarity.NEGATIVE,
        "modality": fact.modality.value,
        "valid_from": valid and valid.start,
        "valid_to": valid and valid.end,
        "value": fact.value and fact.value.number,
        "unit": fact.value and fact.value.unit,
        "product": fact.qualifier("product"),
        "cause": fact.qualifier("cause_direction"),
        "effect": fact.qualifier("effect_direction"),
    }


def _evidence(reading: Prepared) -> Iterator[Properties]:
    for fact in reading.facts:
        claim = codec.claim_out(fact)
        for place, item in enumerate(fact.evidence):
            properties = {
                "document": item.document,
                "place": place,
                "claim": claim,
                "start": item.start,
                "end": item.end,
                "quote": item.quote,
                "published_on": item.published_on,
                "recorded_at": microseconds(item.recorded_at),
                "speaker": item.speaker,
                "confidence": float(item.confidence),
                "extractor": item.extractor,
            }
            yield {"fact": fact.id, "properties": properties}


def read_back(moment: Moment, document_id: str) -> Reading | None:
    """Return the stored reading of a document."""
    rows = moment.rows(queries.WRITTEN, id=document_id)
    if not rows:
        return None
    key, published_on, path, head, signature, body, recorded_at, mentions, copies = rows[0]
    decoded_head = codec.head_in(document_id, published_on.to_native(), head, path=path)
    document = codec.body_in(decoded_head, signature or b"", body)
    return Reading(
        document=document,
        chunks=tuple(codec.chunk_in(*row) for row in moment.rows(queries.WRITTEN_PASSAGES, key=key)),
        mentions=tuple(map(codec.mention_in, mentions)),
        entities=tuple(codec.entity_in(*row) for row in sorted(moment.rows(queries.WRITTEN_ENTITIES, key=key))),
        facts=tuple(written_facts(moment.rows(queries.WRITTEN_FACTS, key=key), document)),
        problems=codec.problems_in(body),
        copies=tuple(sorted(copies)),
        recorded_at=None if recorded_at is None else instant_of(recorded_at),
    )


def purge(moment: Moment, documents: Sequence[str]) -> None:
    """Delete documents that no reader sees, and the facts, profiles and entities that no other document has."""
    for key in documents:
        facts = [identity for (identity,) in moment.rows(cypher.FACTS_OF, key=key)]
        profiles = [profile for (profile,) in moment.rows(cypher.PROFILES_OF, key=key)]
        moment.rows(cypher.DROP_PASSAGES, key=key)
        moment.rows(cypher.DROP_DOCUMENT, key=key)
        moment.rows(cypher.DROP_FACTS, ids=facts)
        orphans = moment.rows(cypher.LONELY_PROFILES, keys=profiles)
        moment.rows(cypher.DROP_PROFILES, keys=[profile for profile, _ in orphans])
        moment.rows(cypher.DROP_ENTITIES, ids=sorted({entity for _, entity in orphans}))
    moment.rows(cypher.DROP_RUNS)
