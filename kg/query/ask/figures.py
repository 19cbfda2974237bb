"""Figures that answer a question: values of an indicator by period, company and speaker, and what follows from them."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from kg.messages.words import word
from kg.model import Kind, Modality
from kg.period import Precision
from kg.query.answers import AnswerLine
from kg.query.wording import claim_text, value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kg.model import Entity, Fact
    from kg.query.ask.understand import QuestionTerm, Understood
    from kg.query.session import QuerySession

_LINES, _NEWEST, _TWO = 6, 3, 2
LEAST = re.compile(r"[低少小]|lower|less|smaller")
_ENOUGH = 0.67  # the share of a question's measure words that an indicator has to meet
_SAID_OTHERWISE = frozenset({"预计", "预测", "预期", "一致预期", "同比", "环比", "增长", "增速", "中性"})
_CHANGES = frozenset({"yoy", "qoq", "mom", "cagr", "change", "ytd", "wow"})


@dataclass(frozen=True, slots=True)
class _Hit:
    fact: Fact
    match: float


def figure_lines(session: QuerySession, asked: Understood) -> list[AnswerLine]:
    """Return the figures of the named things that the question asks for, best match first, by period; else nothing."""
    subjects = _subjects(session, asked)
    indicators = {entity.id for entity in asked.entities if entity.kind == Kind.INDICATOR}
    measures = [
        term
        for term in asked.terms
        if not term.name and term.entity not in subjects and term.word not in _SAID_OTHERWISE
    ]
    if not measures and not indicators:
        return []
    out: list[AnswerLine] = []
    levels: dict[str, list[Fact]] = defaultdict(list)
    for subject in subjects.values():
        for fact in _best(session, asked, _hits(session, asked, subject, measures, indicators), measures):
            out.append(AnswerLine(claim_text(session, fact), tuple(session.citations([fact], 1)), 1))
            if fact.value and not fact.value.change:
                levels[subject.name].append(fact)
    derived = {"compare": _verdict, "growth": _growth}.get(asked.operation)
    first = derived(session, asked, levels) if derived else []
    shown = {citation.quote for line in first for citation in line.citations}
    return first + [line for line in out if asked.operation != "compare" or line.citations[0].quote not in shown]


def _subjects(session: QuerySession, asked: Understood) -> dict[str, Entity]:
    """Return whose figures are asked for: the companies if any is named, else the things that indicators are about."""
    companies = {each.id: each for each in asked.entities if each.kind in (Kind.COMPANY, Kind.INSTITUTION)}
    if companies:
        return companies
    things = {each.id: each for each in asked.entities if each.kind not in (Kind.INDICATOR, Kind.REGION)}
    for each in asked.entities:
        if each.kind == Kind.INDICATOR and each.about and (about := session.view.entity(each.about)):
            things[about.id] = about
    return things


def _hits(
    session: QuerySession, asked: Understood, subject: Entity, measures: Sequence[QuestionTerm], indicators: set[str]
) -> list[_Hit]:
    facts = [fact for fact in session.facts_of("figure", subject=subject.id) if not fact.superseded_by]
    out = []
    for fact in session.confident(facts):
        match = _match(session, fact, subject, measures)
        if fact.object in indicators:
            match = max(match, 1.0 if not measures else 0.0)
        if match >= _ENOUGH and _in_period(asked, fact):
            out.append(_Hit(fact, match))
    return out


def _match(session: QuerySession, fact: Fact, subject: Entity, measures: Sequence[QuestionTerm]) -> float:
    """Return the share of the measure words that an indicator's name or scope holds, less for a longer name."""
    name = session.name(fact.object).removeprefix(subject.name).lower()
    said = f"{name} {fact.qualifier('scope') or ''} {fact.qualifier('product') or ''}".lower()
    if not measures:
        return 0.0
    if _named(name, measures):
        said += "".join(f"{item.speaker} {item.quote} " for item in fact.evidence[:1]).lower()
    met = sum(any(word.lower() in said for word in term.spellings) for term in measures)
    exact = any(name in (word.lower() for word in term.spellings) for term in measures)
    share = met / len(measures)
    return share if share < _ENOUGH else share + (0.2 if exact else 0.0) - (0.1 if fact.qualifier("scope") else 0.0)


def _named(name: str, measures: Sequence[QuestionTerm]) -> bool:
    """Whether one of the words is the indicator's own; only then may the others stand in the sentence around it."""
    return any(word.lower() in name for term in measures for word in term.spellings)


def _in_period(asked: Understood, fact: Fact) -> bool:
    """Whether a figure is of the period asked for: that period itself, or one of the years of several."""
    period = asked.period
    if period is None:
        return True
    if fact.valid is None:
        return period.contains(fact.last_published_on) and period.precision in (Precision.MONTH, Precision.DAY)
    if (fact.valid.start, fact.valid.end) == (period.start, period.end):
        return True
    return period.precision is Precision.RANGE and fact.valid.precision is Precision.YEAR and period.covers(fact.valid)


def _best(session: QuerySession, asked: Understood, hits: list[_Hit], measures: Sequence[QuestionTerm]) -> list[Fact]:
    """Keep the facts of the best-matching indicator, those of the kind asked for first, newest periods first."""
    if not hits:
        return []
    wanted_change = asked.operation == "growth" or "变化" in asked.question
    forecast = asked.operation == "forecast"

    def order(hit: _Hit) -> tuple[float, int, bool, bool, bool, bool]:
        value = hit.fact.value
        change = bool(value and value.change in _CHANGES)
        exact = asked.period is not None and hit.fact.valid == asked.period
        bound = bool(hit.fact.qualifier("bound"))  # 不低于500亿元 is no exact figure
        scope = f"{session.name(hit.fact.object)} {hit.fact.qualifier('scope') or ''}".lower()
        narrowed = sum(any(word.lower() in scope for word in term.spellings) for term in measures)
        return (
            -round(hit.match, 1),
            -narrowed,
            change != wanted_change,
            (hit.fact.modality is Modality.FORECAST) != forecast,
            not exact,
            bound,
        )

    hits = sorted(hits, key=lambda hit: (*order(hit), -_day(hit.fact), hit.fact.id))
    kept = [hit.fact for hit in hits if order(hit)[:2] == order(hits[0])[:2]]
    same = [fact for fact in kept if fact.object == kept[0].object]
    if asked.period is None:  # the newest figure answers; an older one only shows where it came from
        return _once(same)[:_NEWEST]
    return _once(same)[:_LINES]


def _once(facts: Iterable[Fact]) -> list[Fact]:
    """Drop what says the same value for the same period again."""
    seen: set[tuple[object, ...]] = set()
    out = []
    for fact in facts:
        value = fact.value
        key = (fact.valid, value.number if value else None, value.change if value else "", fact.qualifier("scope"))
        if key not in seen:
            seen.add(key)
            out.append(fact)
    return out


def _day(fact: Fact) -> int:
    start = fact.valid.start if fact.valid else None
    return (start or fact.last_published_on).toordinal()


def _growth(session: QuerySession, _: Understood, levels: dict[str, list[Fact]]) -> list[AnswerLine]:
    """Return the growth from year to year that follows from the levels; operands are cited."""
    out = []
    for name, facts in levels.items():
        by_year = _by_year(facts)
        for before, after in pairwise(sorted(by_year)):
            old, new = by_year[before].value, by_year[after].value
            if after == before + 1 and old and new and old.unit == new.unit and old.number > 0:
                growth = f"{(new.number / old.number - 1) * 100:+.2f}"
                text = word("ask.growth", session.lang, name=name, before=before, after=after, growth=growth)
                out.append(AnswerLine(text, tuple(session.citations([by_year[before], by_year[after]], 2)), 1))
    return out


def _by_year(facts: Sequence[Fact]) -> dict[int, Fact]:
    return {
        fact.valid.start.year: fact
        for fact in reversed(facts)
        if fact.valid and fact.valid.start and fact.valid.precision is Precision.YEAR
    }


def _verdict(session: QuerySession, asked: Understood, levels: dict[str, list[Fact]]) -> list[AnswerLine]:
    """Return which of the things compared has most, or least, in the newest period that all have a figure of.

    One thing is compared with itself in another year.
    """
    if len(levels) == 1:
        ((_, facts),) = levels.items()
        sides = {str(year): fact for year, fact in _by_year(facts).items()}
    else:
        shared = [
            [next((each for each in facts if _comparable(each, first)), None) for facts in levels.values()]
            for first in next(iter(levels.values()), [])
        ]
        whole = next((row for row in shared if all(row)), [])
        sides = {name: fact for name, fact in zip(levels, whole, strict=False) if fact}
    numbers = {name: fact.value.number for name, fact in sides.items() if fact.value}
    if len(numbers) < _TWO or len(set(numbers.values())) < _TWO or len({_unit(fact) for fact in sides.values()}) > 1:
        return []
    best = (min if LEAST.search(asked.question) else max)(numbers, key=lambda name: numbers[name])
    values = word("comma", session.lang).join(f"{name} {value_text(sides[name].value, session.lang)}" for name in sides)
    kind = "less" if LEAST.search(asked.question) else "more"
    text = word(f"ask.{kind}", session.lang, more=best, values=values)
    return [AnswerLine(text, tuple(session.citations(list(sides.values()), len(sides))), 1)]


def _comparable(one: Fact, other: Fact) -> bool:
    return one.valid == other.valid and _unit(one) == _unit(other)


def _unit(fact: Fact) -> str:
    return fact.value.unit if fact.value else ""
