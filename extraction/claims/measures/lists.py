"""Pair enumerated numbers with the years, indicators or names enumerated before them.

「2025-2027年归母净利润分别为9.45/10.3/11.2亿元」 gives three facts; a list that does not pair one to one gives none.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from extraction.claims.measures.described import measure_described, measure_described_row
from extraction.claims.measures.measurement import PreviousMeasurement, last_named
from extraction.claims.measures.owner import read_owner
from extraction.claims.measures.subject import (
    compound_measurement,
    is_place,
    without,
)
from extraction.claims.measures.words import AFTER_LEVEL, CONTINUES, FILLER, VAGUE
from extraction.quantities.reader import align, find_lists
from extraction.sentence import EntityMention, nearest
from kg.dating.reader import quarterly, yearly
from kg.model import Kind, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extraction.claims.measures.measurement import Measurement
    from extraction.claims.measures.subject import SubjectFinder
    from extraction.quantities.reader import Quantity, QuantityList
    from extraction.sentence import AnnotatedSentence
    from kg.dating.reader import Dated
    from kg.period import Period

_JOINER = re.compile(r"(?:[、/]|和|及|与|以及)$")
_AND = str.maketrans("", "", "和及与、/")  # joiners between enumerated years
_JOINED = re.compile(r"(?:[、/，]|和|及|与|以及|的)*(?:同比|环比)?")


_MORE = re.compile("(?<![年月日季度])[一-鿿A-Za-z]$")
_TOWARDS = re.compile("[对向从自]$")
_NEXT_IN_ROW_FACTOR = 0.8  # confidence of the later items of a list relative to the first
RowMeasurements = list[tuple["Measurement", "Quantity", "Period | None"]]


class RowReader:
    """Reads the number lists of one sentence in order, as earlier text may name what a list measures."""

    def __init__(self, annotated: AnnotatedSentence, indicators: Sequence[EntityMention], finder: RowSubjects) -> None:
        self._annotated, self._indicators, self._finder = annotated, indicators, finder
        self._rows = {row.start: row for row in find_lists(annotated.text, annotated.quantities)}
        self._last: tuple[int, RowMeasurements] = (0, [])

    def at(self, start: int) -> QuantityList | None:
        """Return the list that starts at an offset."""
        return self._rows.get(start)

    def read(self, row: QuantityList, *, previous: PreviousMeasurement | None) -> RowMeasurements:
        """Return what each number measures; empty if the list cannot be paired."""
        end, last = self._last
        last_in_row = PreviousMeasurement(last[-1][0], last[-1][1]) if last else None
        measurements = (
            _changes_of_last_row(self._annotated, row, end, last)
            or _paired(self._annotated, row, self._indicators, replace(self._finder, row=last))
            or self._continued(row, previous or last_in_row)
        )
        self._last = row.end, measurements
        return measurements

    def _continued(self, row: QuantityList, previous: PreviousMeasurement | None) -> RowMeasurements:
        """Continue the previous indicator in other years: 「…达10亿元，预计2026年和2030年将分别达到20亿元和30亿元」."""
        previous, first = previous or self._finder.before, row.items[0]
        if previous is None:
            return []
        start = previous.quantity.end if previous is not self._finder.before else 0
        words = AFTER_LEVEL if first.change else CONTINUES
        like = first.change not in {"", "share"} or (not first.change and first.unit == previous.quantity.unit)
        if not like or not words.fullmatch(without(self._annotated, start, row.start).translate(_AND)):
            return []
        pairs = _with_years(self._annotated, row, since=start)
        return [(previous.measurement, quantity, period) for period, quantity in pairs]


def _changes_of_last_row(
    annotated: AnnotatedSentence, row: QuantityList, end: int, last: RowMeasurements
) -> RowMeasurements:
    """Read a list of changes of the list before it: 「…达526、654、755亿元，同增2%、24%、16%」."""
    if len(last) != len(row.items) or not row.items[0].change:
        return []
    if not AFTER_LEVEL.fullmatch(without(annotated, end, row.start).translate(_AND)):
        return []
    own: list[Period | None] = [period for period, _ in _with_years(annotated, row, since=end)]
    own = own or [period for _, _, period in last]
    return [(last_item[0], quantity, period) for last_item, quantity, period in zip(last, row.items, own, strict=True)]


class RowSubjects(Struct, frozen=True):
    """Finds the subject of a list's indicator; `row` is the list before it, `before` the previous sentence's result."""

    subjects: SubjectFinder
    before: PreviousMeasurement | None
    row: RowMeasurements = field(default_factory=list)

    def find(self, annotated: AnnotatedSentence, indicator: EntityMention) -> Measurement | None:
        """Return the indicator with its subject, or None if there is none."""
        before = last_named(self.before)
        previous = PreviousMeasurement(self.row[-1][0], self.row[-1][1]) if self.row else None
        found = self.subjects.find(annotated, indicator, previous=previous, before=before)
        macro = indicator.entity in self.subjects.macro
        return found or measure_described(annotated, indicator, previous=previous, before=self.before, macro=macro)


def _paired(
    annotated: AnnotatedSentence, row: QuantityList, indicators: Sequence[EntityMention], finder: RowSubjects
) -> RowMeasurements:
    indicator = nearest(indicators, row.start)
    if indicator is None or not FILLER.fullmatch(without(annotated, indicator.end, row.start)):
        return []
    if indicator.name.endswith(VAGUE):
        return []  # 「食品/医疗/用品占比43%/22%/26%」: the whole is unstated
    if shared := _pair_with_same_owners(indicator, row, finder):
        return shared
    named = _indicators_in_row(annotated, indicators, indicator, len(row.items))
    if len(named) == len(row.items):
        first = finder.find(annotated, named[0])
        if first is None:
            return []
        measured = [first, *(_next_in_row(annotated, first, each, finder) for each in named[1:])]
        return [(measurement, quantity, None) for measurement, quantity in zip(measured, row.items, strict=True)]
    owners, scope = _owners_in_row(annotated, indicator, len(row.items))
    if owners:
        measured = [finder.subjects.for_subject(owner, indicator, scope) for owner in owners]
        return [(measurement, quantity, None) for measurement, quantity in zip(measured, row.items, strict=True)]
    return _pair_one_indicator(annotated, row, indicator, finder)


def _pair_one_indicator(
    annotated: AnnotatedSentence, row: QuantityList, indicator: EntityMention, finder: RowSubjects
) -> RowMeasurements:
    """Pair one indicator with the places, years or descriptions enumerated before it."""
    first = finder.find(annotated, indicator)
    places = read_owner(annotated, indicator.start if not indicator.about else max(indicator.owner_end, 0)).places
    if first and len(places) == len(row.items):
        towards = _TOWARDS.search(annotated.text, 0, annotated.text.rfind(places[0], 0, row.start))
        mark = towards[0] if towards else ""  # 「对越南、智利出口额」 is exports to 越南, not from it
        return [
            (replace(first, scope=mark + place), quantity, None)
            for place, quantity in zip(places, row.items, strict=True)
        ]
    pairs = _with_years(annotated, row)
    if first and pairs:
        return [(first, quantity, period) for period, quantity in pairs]
    measured = measure_described_row(annotated, indicator, len(row.items))
    return [(measurement, quantity, None) for measurement, quantity in zip(measured, row.items, strict=bool(measured))]


def _with_same_subject(first: Measurement, indicator: EntityMention, finder: RowSubjects) -> Measurement:
    """Return the next indicator of a list with the subject of the first."""
    if first.described:
        return replace(first, indicator=indicator)
    return finder.subjects.for_subject(first.subject, indicator, first.scope)


def _next_in_row(
    annotated: AnnotatedSentence, first: Measurement, indicator: EntityMention, finder: RowSubjects
) -> Measurement:
    """Return the next indicator of a list with its own owner, if it names one: 「粗钢产量和钢材产量」."""
    if company := _company_before(annotated, indicator):
        return finder.subjects.for_subject(company, indicator)
    if indicator.owner_end <= indicator.start:
        return _with_same_subject(first, indicator, finder)
    scope = first.scope if is_place(annotated, first.scope) else ""
    if first.subject.kind == Kind.COMPANY:  # 「甲公司铜产量和金产量」
        return replace(first, indicator=indicator, scope=scope)
    own = compound_measurement(indicator)
    return replace(own, confidence=_NEXT_IN_ROW_FACTOR * own.confidence, scope=scope)


def _company_before(annotated: AnnotatedSentence, indicator: EntityMention) -> EntityMention | None:
    """Return the company written right before an indicator."""
    return next((ref for ref in annotated.refs if ref.kind == Kind.COMPANY and ref.end == indicator.start), None)


def _pair_with_same_owners(indicator: EntityMention, row: QuantityList, finder: RowSubjects) -> RowMeasurements:
    """Pair a second list with the owners of the first: 「甲、乙、丙收入增速分别为…，净利润增速分别为…」."""
    measured = [measurement for measurement, _, _ in finder.row]
    if (
        indicator.about
        or len(measured) != len(row.items)
        or len({each.subject.entity for each in measured}) != len(measured)
    ):
        return []
    return [
        (_with_same_subject(measurement, indicator, finder), quantity, period)
        for (measurement, _, period), quantity in zip(finder.row, row.items, strict=True)
    ]


def _with_years(annotated: AnnotatedSentence, row: QuantityList, *, since: int = 0) -> list[tuple[Period, Quantity]]:
    stated = [each for each in annotated.periods if since <= each.start < row.start and each.role == "stated"]
    if not stated:
        return []
    steps = next((each for each in (yearly(stated[-1]), quarterly(stated[-1])) if len(each) == len(row.items)), [])
    aligned = align(row, steps or _one_by_one(annotated, stated, len(row.items)))
    return [] if isinstance(aligned, Problem) else aligned


def _one_by_one(annotated: AnnotatedSentence, stated: list[Dated], count: int) -> list[Period]:
    """Return the last `count` stated periods if they are enumerated: 2025/2026/2027年, 2020Q1、Q2和Q3."""
    last = stated[-count:]
    joined = all(_JOINED.fullmatch(annotated.text[left.end : right.start]) for left, right in pairwise(last))
    return [dated.period for dated in last] if joined else []


def _indicators_in_row(
    annotated: AnnotatedSentence, indicators: Sequence[EntityMention], last: EntityMention, count: int
) -> list[EntityMention]:
    """Return the indicators enumerated up to the last one: 营收、净利润增速分别为."""
    row = [last]
    for ref in reversed([each for each in indicators if each.end <= last.start]):
        company = _company_before(annotated, row[0])
        between = annotated.text[ref.end : company.start if company else row[0].start]
        owned = not between and row[0].owner_end > row[0].start  # 「进口轮胎价格」 is one indicator
        if len(row) == count or owned or not _JOINED.fullmatch(between):
            break
        row.insert(0, ref)
    return row


def _owners_in_row(
    annotated: AnnotatedSentence, indicator: EntityMention, count: int
) -> tuple[list[EntityMention], str]:
    """Return the names enumerated before an indicator's head, and their scope (国内降压药和糖尿病用药市场规模)."""
    own = indicator.owner_end if indicator.about and indicator.owner_end > indicator.start else indicator.start
    owners: list[EntityMention] = []
    while len(owners) < count:
        phrase = read_owner(annotated, own, alone=True)
        if phrase.ref is None:
            return [], ""
        owners.insert(0, phrase.ref)
        joiner = _JOINER.search(annotated.text, 0, phrase.ref.start)
        if len(owners) == count and joiner and _MORE.search(annotated.text, 0, joiner.start()):
            return [], ""  # 「空调与冰箱/洗衣机」: more names than numbers
        if joiner is None or len(owners) == count:
            of_firms = owners[0].kind == Kind.COMPANY  # 「台湾三大代工厂甲、乙、丙」
            return (owners, "" if of_firms else phrase.scope) if len(owners) == count else ([], "")
        own = joiner.start()
    return [], ""
