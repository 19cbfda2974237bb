"""An answer as JSON: the versioned format of `liantu ask --json`, described in schema.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kg.model import Entity
    from kg.query.answers import AnswerLine, AskAnswer, Citation

SCHEMA = 1


def answer_out(answer: AskAnswer) -> dict[str, Any]:
    """Return an answer as plain objects."""
    asked = answer.understood
    return {
        "schema": SCHEMA,
        "question": answer.question,
        "status": answer.status,
        "understood": {
            "operation": asked.operation,
            "direction": asked.direction,
            "entities": [_entity(entity) for entity in asked.entities],
            "relation": asked.aspect.relation if asked.aspect else None,
            "period": str(asked.period) if asked.period else None,
            "day": asked.as_of.isoformat() if asked.as_of else None,
            "terms": [term.word for term in asked.terms],
            "corrections": [{"written": written, "meant": meant} for written, meant in asked.corrections],
        },
        "as_of": answer.as_of.isoformat() if answer.as_of else None,
        "lines": [_line(line) for line in answer.lines],
        "passages": [_line(line) for line in answer.passages],
        "choices": [_entity(entity) for entity in asked.choices] if answer.status == "ambiguous" else [],
        "near": list(answer.near),
        "covered": [day.isoformat() for day in answer.covered] if answer.covered else None,
    }


def _entity(entity: Entity) -> dict[str, Any]:
    return {"id": entity.id, "kind": entity.kind.value, "name": entity.name, "codes": list(entity.codes)}


def _line(line: AnswerLine) -> dict[str, Any]:
    return {
        "text": line.text,
        "source": line.source,
        "indent": line.indent,
        "citations": [_citation(citation) for citation in line.citations],
    }


def _citation(citation: Citation) -> dict[str, Any]:
    return {
        "fact": citation.fact or None,
        "document": citation.document,
        "title": citation.title,
        "publisher": citation.publisher,
        "speaker": citation.speaker,
        "published_on": citation.published_on.isoformat(),
        "page": citation.page,
        "start": citation.start,
        "end": citation.end,
        "quote": citation.quote,
    }
