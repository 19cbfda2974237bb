"""Numbers told in a row, paired with the years, indicators or names told in a row before them.

「2025-2027年归母净利润分别为9.45/10.3/11.2亿元」 is three facts; a row that does not pair one to one yields nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from extraction.annotated import Ref, nearest
from extraction.dating import yearly
from extraction.patterns.metric_owner import read_owner
from extraction.patterns.metric_subject import Said, without
from extraction.patterns.metric_words import AFTER_LEVEL, FILLER, VAGUE
from extraction.quantities import align, find_lists
from kg.model import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.annotated import Annotated
    from extraction.dating import Dated
    from extraction.patterns.metric_subject import Measured, SubjectFinder
    from extraction.quantities import Quantity, QuantityList
    from kg.period import Period

_JOINER = re.compile(r"(?:[、/]|和|及|与|以及)$")
_JOINED = re.compile(r"(?:[、/，]|和|及|与|以及|的)*(?:同比|环比)?")


@dataclass(frozen=True, slots=True)
class Row:
    """Where a list stands and what each of its numbers measures; empty where it cannot be paired."""

    start: int
    end: int
    readings: tuple[tuple[Measured, Quantity, Period | None], ...] = ()


def read_lists(
    annotated: Annotated, indicators: Sequence[Ref], subjects: SubjectFinder, *, before: Measured | None
) -> Iterator[Row]:
    """Yield the lists of a sentence in order."""
    last: Row | None = None
    for row in find_lists(annotated.text, annotated.quantities):
        readings = _following(annotated, row, last) or _paired(
            annotated, row, indicators, _Finder(subjects, last, before)
        )
        last = Row(row.start, row.end, tuple(readings))
        yield last


def _following(
    annotated: Annotated, row: QuantityList, last: Row | None
) -> list[tuple[Measured, Quantity, Period | None]]:
    """「…达526、654、755亿元，同增2%、24%、16%」: the second list tells the changes of the first."""
    if last is None or len(last.readings) != len(row.items) or not row.items[0].change:
        return []
    if not AFTER_LEVEL.fullmatch(without(annotated, last.end, row.start)):
        return []
    return [
        (reading, quantity, period) for (reading, _, period), quantity in zip(last.readings, row.items, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Finder:
    """Whom an indicator of this list can mean: `last` is the list before it, `before` the sentence before."""

    subjects: SubjectFinder
    last: Row | None
    before: Measured | None

    def find(self, annotated: Annotated, indicator: Ref) -> Measured | None:
        told = self.last.readings[-1] if self.last and self.last.readings else None
        return self.subjects.find(
            annotated, indicator, said=Said(told[0], told[1]) if told else None, before=self.before
        )


def _paired(
    annotated: Annotated, row: QuantityList, indicators: Sequence[Ref], finder: _Finder
) -> list[tuple[Measured, Quantity, Period | None]]:
    indicator = nearest(indicators, row.start)
    if indicator is None or not FILLER.fullmatch(without(annotated, indicator.end, row.start)):
        return []
    if indicator.name.endswith(VAGUE):
        return []  # 「食品/医疗/用品占比43%/22%/26%」: of what
    named = _indicators_in_row(annotated, indicators, indicator, len(row.items))
    if len(named) == len(row.items):
        first = finder.find(annotated, named[0])
        if first is None:
            return []
        told = [first, *(finder.subjects.of_names(first.subject, each, first.scope) for each in named[1:])]
        return [(reading, quantity, None) for reading, quantity in zip(told, row.items, strict=True)]
    owners, scope = _owners_in_row(annotated, indicator, len(row.items))
    if owners:
        told = [finder.subjects.of_names(owner, indicator, scope) for owner in owners]
        return [(reading, quantity, None) for reading, quantity in zip(told, row.items, strict=True)]
    first = finder.find(annotated, indicator)
    places = read_owner(annotated, indicator.start if not indicator.about else max(indicator.owner_end, 0)).places
    if first and len(places) == len(row.items):
        return [
            (replace(first, scope=place), quantity, None) for place, quantity in zip(places, row.items, strict=True)
        ]
    pairs = _with_years(annotated, row)
    return [(first, quantity, period) for period, quantity in pairs] if first else []


def _with_years(annotated: Annotated, row: QuantityList) -> list[tuple[Period, Quantity]]:
    stated = [dated for dated in annotated.periods if dated.end <= row.start and dated.role == "stated"]
    if not stated:
        return []
    years = yearly(stated[-1])
    aligned = align(row, years if len(years) == len(row.items) else _one_by_one(annotated, stated, len(row.items)))
    return [] if isinstance(aligned, Problem) else aligned


def _one_by_one(annotated: Annotated, stated: list[Dated], count: int) -> list[Period]:
    """Return the last `count` stated periods: 2025/2026/2027年, or 2020Q1、Q2和Q3, told one by one."""
    last = stated[-count:]
    joined = all(_JOINED.fullmatch(annotated.text[left.end : right.start]) for left, right in pairwise(last))
    return [dated.period for dated in last] if joined else []


def _indicators_in_row(annotated: Annotated, indicators: Sequence[Ref], last: Ref, count: int) -> list[Ref]:
    """Return the indicators joined to the last one: 营收、净利润增速分别为."""
    row = [last]
    for ref in reversed([each for each in indicators if each.end <= last.start]):
        if len(row) == count or not _JOINED.fullmatch(annotated.text[ref.end : row[0].start]):
            break
        row.insert(0, ref)
    return row


def _owners_in_row(annotated: Annotated, indicator: Ref, count: int) -> tuple[list[Ref], str]:
    """Return the names joined before the indicator's own word, with their place (国内降压药和糖尿病用药市场规模)."""
    own = indicator.owner_end if indicator.about and indicator.owner_end > indicator.start else indicator.start
    owners: list[Ref] = []
    while len(owners) < count:
        phrase = read_owner(annotated, own, alone=True)
        if phrase.ref is None:
            return [], ""
        owners.insert(0, phrase.ref)
        joiner = _JOINER.search(annotated.text, 0, phrase.ref.start)
        if joiner is None or len(owners) == count:
            return (owners, phrase.scope) if len(owners) == count else ([], "")
        own = joiner.start()
    return [], ""
