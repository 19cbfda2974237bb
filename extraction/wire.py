"""What `liantu extract` writes of a reading: plain objects for JSON, offsets into the text that was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kg.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kg.model import Entity, Fact, Mention, Problem, Reading, Value
    from kg.period import Period


def reading_on_wire(name: str, reading: Reading, *, explain: bool = False) -> dict[str, Any]:
    """Return one document's mentions, facts and problems; with `explain`, which pattern read a fact and how sure."""
    entities = {entity.id: entity for entity in reading.entities}
    return {
        "id": name,
        "mentions": [mention_on_wire(mention, entities, explain=explain) for mention in reading.mentions],
        "facts": [_fact(fact, entities, explain=explain) for fact in reading.facts],
        "problems": [_problem(problem) for problem in reading.problems],
    }


def mention_on_wire(mention: Mention, entities: Mapping[str, Entity], *, explain: bool = False) -> dict[str, Any]:
    """Return a mention with its judgement and its candidates, the surest first."""
    entity = entities.get(mention.entity)
    return {
        "start": mention.start,
        "end": mention.end,
        "text": mention.text,
        "status": mention.status.value,
        "entity": mention.entity or None,
        "code": entity.codes[0] if entity and entity.codes else None,
        "kind": mention.kind.value,
        "score": round(mention.score, 4),
        "candidates": [
            {
                "entity": candidate.entity,
                "score": round(candidate.score, 4),
                **({"features": dict(candidate.features)} if explain else {}),
            }
            for candidate in mention.candidates
        ],
    }


def _fact(fact: Fact, entities: Mapping[str, Entity], *, explain: bool) -> dict[str, Any]:
    evidence = fact.evidence[0]
    written = {
        "subject": _end(fact.subject, entities),
        "relation": fact.relation,
        "object": _end(fact.object, entities),
        "sign": fact.sign,
        "polarity": fact.polarity.value,
        "modality": fact.modality.value,
        "valid": _period(fact.valid),
        "value": _value(fact.value),
        "qualifiers": dict(fact.qualifiers),
        "speaker": evidence.speaker,
        "confidence": fact.confidence,
        "evidence": {"start": evidence.start, "end": evidence.end, "quote": evidence.quote},
    }
    if explain:
        written["explanation"] = {"id": fact.id, "pattern": evidence.extractor, "places": len(fact.evidence)}
    return written


def _end(identity: str, entities: Mapping[str, Entity]) -> dict[str, Any]:
    entity = entities.get(identity)
    name = entity.name if entity else identity.partition(":")[2]
    code = {"code": entity.codes[0]} if entity and entity.codes else {}
    about = {"about": entity.about} if entity and entity.about else {}
    return {"id": identity, "name": name, "kind": (entity.kind if entity else kind_of(identity)).value, **code, **about}


def _period(period: Period | None) -> dict[str, Any] | None:
    if period is None:
        return None
    start, end = (day.isoformat() if day else None for day in (period.start, period.end))
    return {"start": start, "end": end, "precision": period.precision.value}


def _value(value: Value | None) -> dict[str, Any] | None:
    if value is None:
        return None
    stated = {"scale": value.scale, "change": value.change, "basis": value.basis, "high": value.high}
    return {"number": value.number, "unit": value.unit, **{key: item for key, item in stated.items() if item}}


def _problem(problem: Problem) -> dict[str, Any]:
    return {"kind": problem.kind, "message": problem.message, "start": problem.start, "end": problem.end}
