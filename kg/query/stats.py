"""What a base holds: documents, days, publishers, facts by relation, main names, and questions it can answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.messages.words import word
from kg.model import Kind
from kg.query.plain import Answer

if TYPE_CHECKING:
    from datetime import date

    from kg.model import Entity
    from kg.query.session import QuerySession

_MAIN = {Kind.COMPANY: 8, Kind.INDUSTRY: 6, Kind.PRODUCT: 8}
_PUBLISHERS = 5
# Relations of the sample questions (question.* of words.yaml), and the end that most facts of it share.
_QUESTIONS = {
    "upstream_of": "object",
    "produces": "object",
    "supplies": "subject",
    "reports": "subject",
    "affects": "object",
    "belongs_to": "object",
}


@dataclass(frozen=True, slots=True)
class BaseStats(Answer):
    """The contents of a base as a view sees it; `below` counts facts under the confidence that answers ask for."""

    documents: int
    first: date | None
    last: date | None
    publishers: tuple[tuple[str, int], ...]
    facts: tuple[tuple[str, int], ...]
    below: int
    names: tuple[Entity, ...]
    questions: tuple[str, ...]


def stats(session: QuerySession) -> BaseStats:
    """Describe the base of a session."""
    heads = list(session.view.documents())
    facts = list(session.view.facts())
    sure = [fact for fact in facts if fact.confidence >= session.min_confidence and not fact.superseded_by]
    touched: Counter[str] = Counter(end for fact in sure for end in (fact.subject, fact.object))
    shared = {relation: Counter[str]() for relation in _QUESTIONS}
    measured: dict[str, str] = {}
    for fact in sure:
        if fact.relation in shared:
            shared[fact.relation][fact.subject if _QUESTIONS[fact.relation] == "subject" else fact.object] += 1
        if fact.relation == "reports":
            measured.setdefault(fact.subject, fact.object)
    names: list[Entity] = []
    ranked = sorted(touched, key=lambda entity_id: (-touched[entity_id], entity_id))
    known = {entity.id: entity for entity in session.view.entities(ids=ranked[:2000])}
    for kind, count in _MAIN.items():
        names += [known[each] for each in ranked if each in known and known[each].kind == kind][:count]
    return BaseStats(
        documents=len(heads),
        first=min((head.published_on for head in heads), default=None),
        last=max((head.published_on for head in heads), default=None),
        publishers=tuple(Counter(head.publisher for head in heads if head.publisher).most_common(_PUBLISHERS)),
        facts=tuple(sorted(Counter(fact.relation for fact in sure).items(), key=lambda row: (-row[1], row[0]))),
        below=len(facts) - len(sure),
        names=tuple(names),
        questions=tuple(_questions(session, shared, measured)),
    )


def _questions(session: QuerySession, shared: dict[str, Counter[str]], measured: dict[str, str]) -> list[str]:
    out = []
    for relation, counts in shared.items():
        entity_id = min(counts, key=lambda each: (-counts[each], each), default=None)
        if entity_id is not None:
            name = session.name(entity_id)
            indicator = session.name(measured[entity_id]).removeprefix(name) if relation == "reports" else ""
            out.append(word(f"question.{relation}", session.lang, name=name, indicator=indicator))
    return out
