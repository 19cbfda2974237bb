"""What a base holds: documents, days, publishers, facts by relation, main names, and questions it can answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kg.messages.words import word
from kg.model import Kind
from kg.query.plain import Answer
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from numpy.typing import NDArray

    from kg.graph.outlines import FactColumns
    from kg.model import Entity
    from kg.query.session import QuerySession

_MAIN = {Kind.COMPANY: 8, Kind.INDUSTRY: 6, Kind.PRODUCT: 8}
_PUBLISHERS = 5
_RANKED = 2000  # entities among which the main names are looked for
_QUESTIONS = {relation.name: relation.sample for relation in vocabulary().relations.values() if relation.sample}


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
    columns = session.graph.outlines
    counted = _of_facts(session) if columns is None else _of_columns(session, columns.stated(_cuts(session)))
    names: list[Entity] = []
    known = {entity.id: entity for entity in session.view.entities(ids=counted.busiest)}
    for kind, count in _MAIN.items():
        names += [known[each] for each in counted.busiest if each in known and known[each].kind == kind][:count]
    return BaseStats(
        documents=len(heads),
        first=min((head.published_on for head in heads), default=None),
        last=max((head.published_on for head in heads), default=None),
        publishers=tuple(Counter(head.publisher for head in heads if head.publisher).most_common(_PUBLISHERS)),
        facts=tuple(sorted(counted.relations.items(), key=lambda row: (-row[1], row[0]))),
        below=counted.below,
        names=tuple(names),
        questions=tuple(
            word(
                f"question.{relation}",
                session.lang,
                name=session.name(end),
                indicator=session.name(other).removeprefix(session.name(end))
                if session.words[relation].role == "figure"
                else "",
            )
            for relation, (end, other) in counted.examples.items()
        ),
    )


class _Counted(NamedTuple):
    """Numbers of facts that are live and sure.

    `busiest` are the ids with most facts, `examples` the end that most facts of a relation share, with the other end of
    its first fact.
    """

    relations: Mapping[str, int]
    below: int
    busiest: list[str]
    examples: dict[str, tuple[str, str]]


def _of_columns(session: QuerySession, stated: FactColumns) -> _Counted:
    """Count columns; nodes are in the order of ids."""
    names, sure = session.graph.relation_names, stated.sure
    source, relation, target, ids = (
        column[sure] for column in (stated.source, stated.relation, stated.target, stated.ids)
    )
    size = len(session.graph.entity_ids)
    touched = np.bincount(source, minlength=size) + np.bincount(target, minlength=size)
    busiest = np.argsort(-touched, kind="stable")[: min(_RANKED, np.count_nonzero(touched))]
    examples: dict[str, tuple[str, str]] = {}
    for name, end in _QUESTIONS.items():
        rows = np.flatnonzero(relation == names.index(name))
        if len(rows):
            near, far = (source, target) if end == "subject" else (target, source)
            shared = int(np.bincount(near[rows]).argmax())
            own = rows[near[rows] == shared]
            examples[name] = session.id_of(shared), session.id_of(int(far[min(own, key=ids.__getitem__)]))
    counts = np.bincount(relation, minlength=len(names)).tolist()
    return _Counted(
        {name: count for name, count in zip(names, counts, strict=True) if count},
        len(sure) - len(source),
        [session.id_of(node) for node in busiest.tolist()],
        examples,
    )


def _cuts(session: QuerySession) -> NDArray[np.float64]:
    """Return the cut of each relation, by its number."""
    return np.array([session.cut(name) for name in session.graph.relation_names])


def _of_facts(session: QuerySession) -> _Counted:
    """Count facts one by one, for a store without columns."""
    facts = list(session.view.facts())
    sure = [fact for fact in facts if fact.confidence >= session.cut(fact.relation) and not fact.superseded_by]
    touched: Counter[str] = Counter(end for fact in sure for end in (fact.subject, fact.object))
    first: dict[str, dict[str, str]] = {relation: {} for relation in _QUESTIONS}
    shared = {relation: Counter[str]() for relation in _QUESTIONS}
    for fact in sure:
        if fact.relation in shared:
            ends = fact.subject, fact.object
            end, other = ends if _QUESTIONS[fact.relation] == "subject" else ends[::-1]
            shared[fact.relation][end] += 1
            first[fact.relation].setdefault(end, other)
    chosen = {name: min((-count, end) for end, count in counts.items())[1] for name, counts in shared.items() if counts}
    return _Counted(
        Counter(fact.relation for fact in sure),
        len(facts) - len(sure),
        sorted(touched, key=lambda entity_id: (-touched[entity_id], entity_id))[:_RANKED],
        {name: (end, first[name][end]) for name, end in chosen.items()},
    )
