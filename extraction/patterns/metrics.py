"""Measured facts: whose indicator, which number, for which period.

A number belongs to the last indicator before it when only words of measuring stand between (为, 达到, 同比增长 …); a
change behind a level belongs to the same indicator (营收 9.45 亿元，同比增长 34%). What does not fit is left alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from extraction.annotated import Claim, Ref, kind_of, nearest
from extraction.dating import yearly
from extraction.patterns.metric_words import (
    AFTER_LEVEL,
    CHANGES,
    CLAUSE_END,
    CODE,
    COMPANY_HEADS,
    FILLER,
    LONGEST_SCOPE,
    MACRO_KINDS,
    NARROWS,
    NOISE,
    OPENING,
    SAME_TIME,
    SCOPE_WORDS,
    STARTS_RANGE,
    STEP,
    SUBJECT_KINDS,
    SUPPOSED,
    UNIT_KINDS,
    VAGUE,
)
from extraction.quantities import align, find_lists
from kg.model import Kind, Problem, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from extraction.annotated import Annotated
    from extraction.dating import Dated
    from extraction.mentions import Lexicon
    from extraction.quantities import Quantity
    from kg.period import Period


@dataclass(frozen=True, slots=True)
class _Reading:
    """An indicator with the subject it is measured of."""

    indicator: Ref
    subject: Ref
    confidence: float
    scope: str = ""


class MetricReader:
    """Reads measured facts; needs the gazetteer for the units an indicator may be measured in."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._units: Mapping[str, tuple[str, ...]] = {
            term.entity: term.units for term in lexicon.terms.values() if term.kind == Kind.INDICATOR
        }
        self._basis = {term.entity: term.basis for term in lexicon.terms.values() if term.basis}
        self._macro = {term.entity for term in lexicon.terms.values() if term.macro}
        self._heads = {head.name: head.units for head in lexicon.heads.values()}

    def read(self, annotated: Annotated) -> Iterator[Claim]:
        """Yield the measured claims of one sentence."""
        indicators = [
            ref for ref in annotated.refs if ref.kind == Kind.INDICATOR and ref.start >= 0 and ref.name not in CHANGES
        ]
        if not indicators or not annotated.quantities:
            return
        listed = set()
        for claim, spans in self._lists(annotated, indicators):
            listed |= spans
            if claim:
                yield claim
        previous: tuple[Quantity, _Reading] | None = None
        resume = 0
        for quantity in annotated.quantities:
            if not any(map(str.isdigit, quantity.text)):
                continue  # 「总市值(百万元)」 names a unit
            if quantity.start in listed:
                previous = None
                continue
            if STARTS_RANGE.match(annotated.text, quantity.end):
                resume = quantity.end  # the first of 「从5%升至8%」 was true before
                continue
            reading = self._reading_for(annotated, indicators, quantity, previous, resume)
            if reading is not None and (scope := _scope(annotated, reading)) is not None:
                ended = _end_of(annotated, quantity) if resume else None
                yield self._claim(annotated, replace(reading, scope=scope), quantity, ended)
                resume = 0
                previous = (quantity, reading)

    def _reading_for(
        self,
        annotated: Annotated,
        indicators: list[Ref],
        quantity: Quantity,
        previous: tuple[Quantity, _Reading] | None,
        resume: int,
    ) -> _Reading | None:
        """Return whose indicator a number measures; `resume` is where a range's first number ended."""
        indicator = nearest(indicators, quantity.start)
        if indicator is None or indicator.name.endswith(VAGUE):
            return None
        if previous and previous[0].end > indicator.end:
            gap = _without(annotated, previous[0].end, quantity.start)
            follows = quantity.change and AFTER_LEVEL.fullmatch(gap) and not previous[0].change
            return previous[1] if follows else None
        gap = _without(annotated, max(indicator.end, resume), quantity.start)
        compared = any(indicator.end <= dated.start < quantity.start for dated in _bases(annotated))
        if compared or _moved_to(annotated, quantity):
            return None  # 「较2019年增长57倍」 is no change of this year, 「降230万至4.17亿」 no range
        if gap.endswith(("从", "由")) or not FILLER.fullmatch(gap) or not self._fits(indicator, quantity):
            return None
        return self._carried(annotated, indicator, previous) or self._with_subject(annotated, indicator)

    def _carried(
        self, annotated: Annotated, indicator: Ref, previous: tuple[Quantity, _Reading] | None
    ) -> _Reading | None:
        """「宁德时代营收3620亿元，归母净利润507亿元」: the second indicator is the first one's subject's."""
        if previous is None or indicator.about or indicator.entity in self._macro:
            return None
        before, reading = previous
        gap = _without(annotated, before.end, indicator.start)
        between = [
            ref for ref in annotated.between(before.end, indicator.start) if ref.kind in SUBJECT_KINDS | MACRO_KINDS
        ]
        if between or not OPENING.fullmatch(gap) or reading.indicator.about == reading.subject.entity:
            return None
        return replace(reading, indicator=indicator, scope="")

    def _lists(self, annotated: Annotated, indicators: list[Ref]) -> Iterator[tuple[Claim | None, set[int]]]:
        """「2025-2027年归母净利润分别为9.45/10.3/11.2亿元」: one claim a year."""
        for row in find_lists(annotated.text):
            indicator = nearest(indicators, row.start)
            spans = set(range(row.start, row.end))
            yield None, spans  # a list that names no years belongs to names, not to the one indicator before it
            dated = _last(annotated.periods, row.start)
            if (
                indicator is None
                or dated is None
                or not FILLER.fullmatch(_without(annotated, indicator.end, row.start))
            ):
                continue
            named = _years_before(annotated.periods, row.start, len(row.items))
            aligned = align(row, named if len(yearly(dated)) != len(row.items) else yearly(dated))
            reading = self._with_subject(annotated, indicator)
            if reading is None or isinstance(aligned, Problem):
                continue
            for period, quantity in aligned:
                if self._fits(indicator, quantity):
                    yield self._claim(annotated, reading, quantity, period), spans

    def _fits(self, indicator: Ref, quantity: Quantity) -> bool:
        """Whether the unit is one that this indicator is measured in; a change in percent fits any."""
        if not quantity.unit or (quantity.unit in ("%", "pct", "bp") and quantity.change not in ("", "share")):
            return bool(quantity.unit)
        units = self._units.get(indicator.entity) or next(
            (u for name, u in self._heads.items() if indicator.name.endswith(name)), ()
        )
        return not units or _unit_kind(quantity.unit) in units

    def _with_subject(self, annotated: Annotated, indicator: Ref) -> _Reading | None:
        begin = max((m.end() for m in CLAUSE_END.finditer(annotated.text, 0, indicator.start)), default=0)
        if indicator.about:
            return self._of_company(annotated, indicator, begin) or self._of_product(indicator)
        allowed = MACRO_KINDS if indicator.entity in self._macro else SUBJECT_KINDS
        subjects = [ref for ref in annotated.between(begin, indicator.start) if ref.kind in SUBJECT_KINDS | MACRO_KINDS]
        if subjects and subjects[-1].kind not in allowed:
            return None
        if subjects:
            subject = subjects[-1]
            gap = _without(annotated, subject.end, indicator.start)
            plain = re.fullmatch(
                r"(?:[，、：（）/]|的|在|于|年|期间|内|公司|行业|板块|实现|预计|其|整体|单季|单季度|全年|合计|累计|我们|和|及|与|报告期|共|方面|业务)*",
                gap,
            )
            owner = annotated.subject if subject.kind == Kind.PRODUCT and "，" in gap else subject
            if plain is None or owner is None or (owner is not subject and owner.kind != Kind.COMPANY):
                return None
            return _Reading(indicator, owner, 0.85 * owner.score)
        understood = annotated.region if indicator.entity in self._macro else annotated.subject
        if understood is None or not OPENING.fullmatch(
            _without(annotated, _clause_start(annotated, indicator), indicator.start)
        ):
            return None
        if any(ref.kind == Kind.INDICATOR and ref.about for ref in annotated.between(begin, indicator.start)):
            return None  # 「全球汽车销量…，预计增速3%」 is not the heading's growth
        return _Reading(indicator, understood, 0.7 * understood.score)

    def _of_product(self, indicator: Ref) -> _Reading:
        about = Ref(
            indicator.about,
            kind_of(indicator.about),
            indicator.owner,
            indicator.start,
            indicator.end,
            score=indicator.score,
        )
        return _Reading(indicator, about, 0.85 * indicator.score)

    def _of_company(self, annotated: Annotated, indicator: Ref, begin: int) -> _Reading | None:
        """A company's own 煤炭产量: it stands right before, or the bullet or section is the company's."""
        if kind_of(indicator.about) == Kind.COMPANY or not indicator.name.endswith(COMPANY_HEADS):
            return None
        before = [ref for ref in annotated.between(begin, indicator.start) if ref.kind == Kind.COMPANY]
        subject = annotated.subject
        if before and (subject is None or before[-1].entity != subject.entity):
            gap = _without(annotated, before[-1].end, indicator.start)
            return _Reading(indicator, before[-1], 0.8 * before[-1].score) if OPENING.fullmatch(gap) else None
        return _Reading(indicator, subject, 0.7 * subject.score) if subject and subject.kind == Kind.COMPANY else None

    def _claim(
        self, annotated: Annotated, reading: _Reading, quantity: Quantity, period: Period | None = None
    ) -> Claim:
        dated = _last(annotated.periods, quantity.start)
        subject = reading.subject
        start = subject.start if subject.start >= 0 else reading.indicator.start
        value = Value(
            number=quantity.number,
            unit=quantity.unit,
            scale=quantity.scale,
            change=quantity.change,
            basis=self._basis.get(reading.indicator.entity, ""),
            high=quantity.high,
        )
        return Claim(
            relation="reports",
            subject=subject,
            object=reading.indicator,
            start=min(start, reading.indicator.start),
            end=quantity.end,
            pattern="metric",
            value=value,
            qualifiers=(("scope", reading.scope),) if reading.scope else (),
            valid=period or (dated.period if dated else annotated.period),
            confidence=reading.confidence,
        )


def _bases(annotated: Annotated) -> list[Dated]:
    """Return the years a change is counted from, 去年同期 and its like aside."""
    return [dated for dated in annotated.periods if dated.role == "comparison" and not SAME_TIME.search(dated.text)]


def _moved_to(annotated: Annotated, quantity: Quantity) -> bool:
    before = annotated.text[max(0, quantity.start - 4) : quantity.start]
    return quantity.high is not None and "至" in quantity.text and STEP.search(before) is not None


def _end_of(annotated: Annotated, quantity: Quantity) -> Period | None:
    """Return the last year of a span of years: 「2015-2024年规模从4797亿元增至1.11万亿元」 ends at 2024."""
    dated = _last(annotated.periods, quantity.start)
    spanned = yearly(dated) if dated else []
    return spanned[-1] if spanned else None


def _years_before(periods: tuple[Dated, ...], before: int, count: int) -> list[Period]:
    """Return the last `count` stated periods: 2025/2026/2027年 told one by one."""
    stated = [dated.period for dated in periods if dated.end <= before and dated.role == "stated"]
    return stated[-count:]


def _scope(annotated: Annotated, reading: _Reading) -> str | None:
    """Return what narrows the indicator, as the source words it right before the name: a region, a venue, a grade.

    None when the words before it are more than that: then the name is only the end of some other thing's (保险 in
    阳光保险). Where the sentence says nothing, the region of its lead-in or heading counts.
    """
    start = reading.indicator.start
    first = _clause_start(annotated, reading.indicator)
    if reading.subject.start >= 0 and reading.subject.start < start:
        first = max(first, reading.subject.end)
    words = NOISE.sub("", _without(annotated, first, start)).strip("，、：（）()的 ")
    if not words:
        return annotated.region.name if annotated.region and reading.subject.kind != Kind.COMPANY else ""
    known = any(words.startswith(ref.name) or words.endswith(ref.name) for ref in annotated.refs if ref.kind in NARROWS)
    if not (known or SCOPE_WORDS.fullmatch(words)) or words.endswith(("及", "和", "与", "、", "以及", "-")):
        return None
    return words if len(words) <= LONGEST_SCOPE and not SUPPOSED.search(words) else None


def _clause_start(annotated: Annotated, ref: Ref) -> int:
    return max((m.end() for m in re.finditer(r"[，。；：！？]", annotated.text[: ref.start])), default=0)


def _unit_kind(unit: str) -> str:
    if "/" in unit:
        return "price"
    return UNIT_KINDS.get(unit, "count")


def _without(annotated: Annotated, start: int, end: int) -> str:
    """Return text[start:end] with the periods and the securities codes in brackets taken out."""
    kept, position = [], start
    for dated in annotated.periods:
        if start <= dated.start and dated.end <= end:
            kept.append(annotated.text[position : dated.start])
            position = dated.end
    kept.append(annotated.text[position:end])
    return CODE.sub("", "".join(kept))


def _last(periods: tuple[Dated, ...], before: int) -> Dated | None:
    stated = [dated for dated in periods if dated.end <= before and dated.role == "stated"]
    return stated[-1] if stated else None
