"""How a factor and a subject went together before: the facts that join them, by episode."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.messages.words import word
from kg.query.browse.conversions import GraphAnswer
from kg.query.resolve import resolve
from kg.query.session import spoken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kg.messages.words import Lang
    from kg.model import Entity, Fact
    from kg.query.answers import Link
    from kg.query.session import QuerySession

_FAMILY = 300  # members that are looked at: a family is a name and what is about it, not half the base


@dataclass(frozen=True, slots=True)
class Episode:
    """The facts of one stretch of years, said so or, without a stated period, published then."""

    label: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class HistoryAnswer(GraphAnswer):
    """What sources said of a factor's effect on a subject, oldest episode first."""

    factor: Entity
    subject: Entity
    episodes: tuple[Episode, ...]


def history(session: QuerySession, factor: str, subject: str) -> tuple[Entity, Entity, tuple[Episode, ...]]:
    """Return what sources say of a factor's hold on a subject, oldest episode first.

    Raises:
        UnknownName: when one of the names is unknown in the view.
    """
    first, second = resolve(session, factor), resolve(session, subject)
    causes, effects = family(session, first), family(session, second)
    found = {
        fact.id: fact
        for cause in sorted(causes)
        for fact in session.facts_of("effect", subject=cause)
        if fact.object in effects
    }
    return first, second, _episodes(session, found.values())


def family(session: QuerySession, entity: Entity) -> set[str]:
    """Return an entity with all that is about it: 银行 with 银行净息差 and 银行估值; 加息 with 美联储加息 by name."""
    index = session.index(entity.id)
    about = [] if index is None else [session.graph.entity_ids[other] for other in session.graph.about_of(index)]
    alike = sorted({other for _, other in session.view.names(entity.name)})
    return set([entity.id, *about, *alike][:_FAMILY])


def _episodes(session: QuerySession, facts: Iterable[Fact]) -> tuple[Episode, ...]:
    grouped: dict[str, dict[tuple[str, str, int, str], list[Fact]]] = defaultdict(lambda: defaultdict(list))
    for fact in facts:
        if not fact.superseded_by:
            grouped[_label(fact, session.lang)][fact.subject, fact.object, fact.sign, fact.polarity].append(fact)
    return tuple(
        Episode(label, tuple(_link(session, group) for _, group in sorted(grouped[label].items())))
        for label in sorted(grouped)
    )


def _link(session: QuerySession, facts: list[Fact]) -> Link:
    return session.link(sorted(facts, key=spoken), sum(fact.witnesses * fact.confidence for fact in facts))


def _label(fact: Fact, lang: Lang) -> str:
    valid = fact.valid
    if valid is None or valid.start is None:
        return word("history.published", lang, year=fact.published_on.year)
    last = valid.end.year - (valid.end.month == 1 and valid.end.day == 1) if valid.end else None
    if last in (None, valid.start.year):
        return word("history.year", lang, year=valid.start.year)
    return word("history.years", lang, first=valid.start.year, last=last)
