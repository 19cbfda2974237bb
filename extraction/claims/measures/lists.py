"""Numbers told in a row, paired with the years, indicators or names told in a row before them.

「2025-2027年归母净利润分别为9.45/10.3/11.2亿元」 is three facts; a row that does not pair one to one yields nothing.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from extraction.claims.measures.measurement import PreviousMeasurement, named_of
from extraction.claims.measures.owner import read_owner
from extraction.claims.measures.subject import described, described_row, is_place, of_product, without
from extraction.claims.measures.words import AFTER_LEVEL, CONTINUES, FILLER, VAGUE
from extraction.dating.reader import quarterly, yearly
from extraction.quantities.reader import align, find_lists
from extraction.sentence import EntityMention, nearest
from kg.model import Kind, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extraction.claims.measures.measurement import Measurement
    from extraction.claims.measures.subject import SubjectFinder
    from extraction.dating.reader import Dated
    from extraction.quantities.reader import Quantity, QuantityList
    from extraction.sentence import AnnotatedSentence
    from kg.period import Period

_JOINER = re.compile(r"(?:[、/]|和|及|与|以及)$")
_AND = str.maketrans("", "", "和及与、/")  # between the years of a row
_JOINED = re.compile(r"(?:[、/，]|和|及|与|以及|的)*(?:同比|环比)?")


_TOWARDS = re.compile("[对向从自]$")
_NEXT_OF_A_ROW = 0.8  # how much surer the first of a row is than the others
Readings = list[tuple["Measurement", "Quantity", "Period | None"]]


class RowReader:
    """Reads the lists of one sentence, each where it stands: what was said before it may say what it measures."""

    def __init__(self, annotated: AnnotatedSentence, indicators: Sequence[EntityMention], finder: RowSubjects) -> None:
        self._annotated, self._indicators, self._finder = annotated, indicators, finder
        self._rows = {row.start: row for row in find_lists(annotated.text, annotated.quantities)}
        self._last: tuple[int, Readings] = (0, [])

    def at(self, start: int) -> QuantityList | None:
        """Return the list that begins at an offset."""
        return self._rows.get(start)

    def read(self, row: QuantityList, *, said: PreviousMeasurement | None) -> Readings:
        """Return what each number measures; empty where the row cannot be paired."""
        end, last = self._last
        told = PreviousMeasurement(last[-1][0], last[-1][1]) if last else None
        readings = (
            _following(self._annotated, row, end, last)
            or _paired(self._annotated, row, self._indicators, replace(self._finder, row=last))
            or self._goes_on(row, said or told)
        )
        self._last = row.end, readings
        return readings

    def _goes_on(self, row: QuantityList, said: PreviousMeasurement | None) -> Readings:
        """「…达10亿元，预计2026年和2030年将分别达到20亿元和30亿元」: the same indicator in other years."""
        said, first = said or self._finder.before, row.items[0]
        if said is None:
            return []
        start = said.quantity.end if said is not self._finder.before else 0
        words = AFTER_LEVEL if first.change else CONTINUES
        like = first.change not in {"", "share"} or (not first.change and first.unit == said.quantity.unit)
        if not like or not words.fullmatch(without(self._annotated, start, row.start).translate(_AND)):
            return []
        pairs = _with_years(self._annotated, row, since=start)
        return [(said.reading, quantity, period) for period, quantity in pairs]


def _following(annotated: AnnotatedSentence, row: QuantityList, end: int, last: Readings) -> Readings:
    """「…达526、654、755亿元，同增2%、24%、16%」: the second list tells the changes of the first."""
    if len(last) != len(row.items) or not row.items[0].change:
        return []
    if not AFTER_LEVEL.fullmatch(without(annotated, end, row.start).translate(_AND)):
        return []
    own: list[Period | None] = [period for period, _ in _with_years(annotated, row, since=end)]
    own = own or [period for _, _, period in last]
    return [(told[0], quantity, period) for told, quantity, period in zip(last, row.items, own, strict=True)]


class RowSubjects(Struct, frozen=True):
    """Whom an indicator of a list can mean: `row` is the list before it, `before` the sentence before."""

    subjects: SubjectFinder
    before: PreviousMeasurement | None
    row: Readings = field(default_factory=list)

    def find(self, annotated: AnnotatedSentence, indicator: EntityMention) -> Measurement | None:
        """Return the indicator with its subject, or None where nobody can be meant."""
        before = named_of(self.before)
        said = PreviousMeasurement(self.row[-1][0], self.row[-1][1]) if self.row else None
        found = self.subjects.find(annotated, indicator, said=said, before=before)
        macro = indicator.entity in self.subjects.macro
        return found or described(annotated, indicator, said=said, before=self.before, macro=macro)


def _paired(
    annotated: AnnotatedSentence, row: QuantityList, indicators: Sequence[EntityMention], finder: RowSubjects
) -> Readings:
    indicator = nearest(indicators, row.start)
    if indicator is None or not FILLER.fullmatch(without(annotated, indicator.end, row.start)):
        return []
    if indicator.name.endswith(VAGUE):
        return []  # 「食品/医疗/用品占比43%/22%/26%」: of what
    if shared := _of_same_owners(indicator, row, finder):
        return shared
    named = _indicators_in_row(annotated, indicators, indicator, len(row.items))
    if len(named) == len(row.items):
        first = finder.find(annotated, named[0])
        if first is None:
            return []
        told = [first, *(_beside(annotated, first, each, finder) for each in named[1:])]
        return [(reading, quantity, None) for reading, quantity in zip(told, row.items, strict=True)]
    owners, scope = _owners_in_row(annotated, indicator, len(row.items))
    if owners:
        told = [finder.subjects.of_names(owner, indicator, scope) for owner in owners]
        return [(reading, quantity, None) for reading, quantity in zip(told, row.items, strict=True)]
    return _of_one(annotated, row, indicator, finder)


def _of_one(annotated: AnnotatedSentence, row: QuantityList, indicator: EntityMention, finder: RowSubjects) -> Readings:
    """Pair one indicator of one subject with the places or years, else with what is described, in a row before it."""
    first = finder.find(annotated, indicator)
    places = read_owner(annotated, indicator.start if not indicator.about else max(indicator.owner_end, 0)).places
    if first and len(places) == len(row.items):
        towards = _TOWARDS.search(annotated.text, 0, annotated.text.rfind(places[0], 0, row.start))
        mark = towards[0] if towards else ""  # 「对越南、智利出口额」 is not of 越南
        return [
            (replace(first, scope=mark + place), quantity, None)
            for place, quantity in zip(places, row.items, strict=True)
        ]
    pairs = _with_years(annotated, row)
    if first and pairs:
        return [(first, quantity, period) for period, quantity in pairs]
    told = described_row(annotated, indicator, len(row.items))
    return [(reading, quantity, None) for reading, quantity in zip(told, row.items, strict=bool(told))]


def _of_the_same(first: Measurement, indicator: EntityMention, finder: RowSubjects) -> Measurement:
    """Return the next indicator of a row with the subject of the first, described where that is."""
    if first.described:
        return replace(first, indicator=indicator)
    return finder.subjects.of_names(first.subject, indicator, first.scope)


def _beside(
    annotated: AnnotatedSentence, first: Measurement, indicator: EntityMention, finder: RowSubjects
) -> Measurement:
    """Return the next indicator of a row, of whom it names itself: 「粗钢产量和钢材产量」."""
    if firm := _firm_before(annotated, indicator):
        return finder.subjects.of_names(firm, indicator)
    if indicator.owner_end <= indicator.start:
        return _of_the_same(first, indicator, finder)
    scope = first.scope if is_place(annotated, first.scope) else ""
    if first.subject.kind == Kind.COMPANY:  # 「甲公司铜产量和金产量」
        return replace(first, indicator=indicator, scope=scope)
    own = of_product(indicator)
    return replace(own, confidence=_NEXT_OF_A_ROW * own.confidence, scope=scope)


def _firm_before(annotated: AnnotatedSentence, indicator: EntityMention) -> EntityMention | None:
    """Return the firm written right before an indicator."""
    return next((ref for ref in annotated.refs if ref.kind == Kind.COMPANY and ref.end == indicator.start), None)


def _of_same_owners(indicator: EntityMention, row: QuantityList, finder: RowSubjects) -> Readings:
    """「甲、乙、丙收入增速分别为…，净利润增速分别为…」: the second row's figures are the same owners'."""
    told = [reading for reading, _, _ in finder.row]
    if indicator.about or len(told) != len(row.items) or len({each.subject.entity for each in told}) != len(told):
        return []
    return [
        (_of_the_same(reading, indicator, finder), quantity, period)
        for (reading, _, period), quantity in zip(finder.row, row.items, strict=True)
    ]


def _with_years(annotated: AnnotatedSentence, row: QuantityList, *, since: int = 0) -> list[tuple[Period, Quantity]]:
    stated = [each for each in annotated.periods if since <= each.start < row.start and each.role == "stated"]
    if not stated:
        return []
    steps = next((each for each in (yearly(stated[-1]), quarterly(stated[-1])) if len(each) == len(row.items)), [])
    aligned = align(row, steps or _one_by_one(annotated, stated, len(row.items)))
    return [] if isinstance(aligned, Problem) else aligned


def _one_by_one(annotated: AnnotatedSentence, stated: list[Dated], count: int) -> list[Period]:
    """Return the last `count` stated periods: 2025/2026/2027年, or 2020Q1、Q2和Q3, told one by one."""
    last = stated[-count:]
    joined = all(_JOINED.fullmatch(annotated.text[left.end : right.start]) for left, right in pairwise(last))
    return [dated.period for dated in last] if joined else []


def _indicators_in_row(
    annotated: AnnotatedSentence, indicators: Sequence[EntityMention], last: EntityMention, count: int
) -> list[EntityMention]:
    """Return the indicators joined to the last one: 营收、净利润增速分别为."""
    row = [last]
    for ref in reversed([each for each in indicators if each.end <= last.start]):
        firm = _firm_before(annotated, row[0])
        between = annotated.text[ref.end : firm.start if firm else row[0].start]
        owned = not between and row[0].owner_end > row[0].start  # 「进口轮胎价格」 is one
        if len(row) == count or owned or not _JOINED.fullmatch(between):
            break
        row.insert(0, ref)
    return row


def _owners_in_row(
    annotated: AnnotatedSentence, indicator: EntityMention, count: int
) -> tuple[list[EntityMention], str]:
    """Return the names joined before the indicator's own word, with their place (国内降压药和糖尿病用药市场规模)."""
    own = indicator.owner_end if indicator.about and indicator.owner_end > indicator.start else indicator.start
    owners: list[EntityMention] = []
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
