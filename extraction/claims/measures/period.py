"""Of which time a figure is: what dates it in its sentence, or what the sentence goes on about."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from extraction.claims.measures.words import SAME_TIME, STARTS_RANGE
from extraction.dating.reader import yearly
from kg.period import Precision, year

if TYPE_CHECKING:
    from collections.abc import Iterable

    from extraction.dating.reader import Dated
    from extraction.quantities.reader import Quantity
    from extraction.sentence import AnnotatedSentence, EntityMention
    from kg.period import Period


_NOW = re.compile("目前|当前|现阶段|如今")
AT_A_CLOSE, _WEEK = ("股价", "收盘价", "市值", "总市值"), timedelta(days=8)
_MONTH = timedelta(days=45)
_OF_THEN = re.compile("的?(?:约|近)?")
_SPAN = timedelta(days=366)  # what is told of more than a year dates the one figure behind it


def period_of(
    annotated: AnnotatedSentence, indicator: EntityMention, quantity: Quantity
) -> tuple[Dated | None, Period | None]:
    """Return what dates a figure: the period stated last; 目前 behind it, or alone, is the day of the note.

    A span of years is that of the first figure behind it (「近三年分红超600亿元，股息率3.4%」), and of no percentile.
    """
    behind = _bracketed(annotated, quantity.end)
    if behind is not None:
        return behind, behind.period
    told = (each for each in annotated.periods if not _aside(annotated.text, each, quantity))
    told = (each for each in told if not of_a_start(annotated, each, quantity))
    dated = _last(told, quantity.start)
    if _NOW.search(annotated.text, dated.end if dated else 0, quantity.start):
        return None, None
    if dated is None and indicator.name in AT_A_CLOSE and annotated.period and _lasts(annotated.period, _WEEK):
        return None, None  # 「股价13.3元，2024年EPS1.4元」
    if dated is None:  # years told before date a change over them, and no figure that follows
        carried = annotated.period
        summed = carried and (_is_long(carried) or (_spot(annotated, indicator) and _is_span(carried)))
        return None, None if summed and not quantity.change else carried
    between = any(dated.end <= each.start < quantity.start for each in annotated.quantities)
    if between and not quantity.change and annotated.text.find("每年", dated.end, quantity.start) >= 0:
        return None, None  # 「2024年需求80万吨，预计每年增加5万吨」
    spot = indicator.name.endswith(("价格", "库存")) and dated.period.precision is Precision.YEAR
    if spot and between and "，" in annotated.text[dated.end : max(indicator.start, dated.end)]:
        return None, None  # 「2025年指标5.8万吨，钨精矿价格涨至…」: no price is a whole year's behind another figure
    if not (_is_long(dated.period) and (between or "分位" in indicator.name)) or quantity.change:
        return dated, dated.period
    earlier = tuple(each for each in annotated.periods if each is not dated and not _is_long(each.period))
    shorter = _last(earlier, quantity.start)
    return shorter, shorter.period if shorter else None


def years_of(annotated: AnnotatedSentence, quantity: Quantity) -> list[Period]:
    """Return the years of a span told before: 「2015-2024年规模从4797亿元增至1.11万亿元」 is 2015 … 2024."""
    dated = _last(annotated.periods, quantity.start)
    years = yearly(dated) if dated else []
    return years if len(years) > 1 else []


def _bracketed(annotated: AnnotatedSentence, end: int) -> Dated | None:
    """Return what stands alone in a bracket right behind a figure: 「市占率71%（2024年）」."""
    text = annotated.text
    for dated in annotated.periods:
        if dated.role == "stated" and text[end : dated.start] == "（" and text[dated.end : dated.end + 1] == "）":
            return dated
    return None


def _aside(text: str, dated: Dated, quantity: Quantity) -> bool:
    """Whether a period is that of other words in a bracket: 「配额（5-7月首批）推动价格涨至1904元」."""
    opened, closed = text.rfind("（", 0, dated.start), text.find("）", dated.end, quantity.start)
    if opened < 0 or closed < 0 or "）" in text[opened : dated.start]:
        return False
    return text[opened + 1 : closed] != text[dated.start : dated.end]


def of_a_start(annotated: AnnotatedSentence, dated: Dated, quantity: Quantity | None = None) -> bool:
    """Whether a period is only that of the number behind it, where a change began, and this is another number.

    「从2023年的10%升至12%，净利率5%」: 12 % and 5 % are not of 2023.
    """
    if dated.start == 0 or annotated.text[dated.start - 1] not in "从由自":
        return False
    first = next((each for each in annotated.quantities if each.start >= dated.end), None)
    begins = first is not None and _OF_THEN.fullmatch(annotated.text, dated.end, first.start) is not None
    return begins and first is not quantity


def last_year(period: Period | None) -> Period | None:
    """Return the last year of a span of years, any other period as it is."""
    return year(period.end.year - 1) if period and period.end and _is_long(period) else period


def _spot(annotated: AnnotatedSentence, indicator: EntityMention) -> bool:
    """Whether a figure is one of a day: a price that is no mean, a stock."""
    written = annotated.text[max(indicator.start, 0) : max(indicator.end, 0)]
    return indicator.name.endswith(("价格", "价差", "库存", "存栏量")) and "均价" not in written


def _is_span(period: Period) -> bool:
    """Whether a period is one of several months, over which output is summed: 1-4月."""
    return period.precision is Precision.RANGE and _lasts(period, _MONTH)


def _is_long(period: Period) -> bool:
    return _lasts(period, _SPAN)


def _lasts(period: Period, longer: timedelta) -> bool:
    return bool(period.start and period.end and period.end - period.start > longer)


def _last(periods: Iterable[Dated], before: int) -> Dated | None:
    stated = [dated for dated in periods if dated.end <= before and dated.role == "stated"]
    closed = [dated for dated in stated if dated.period.end is not None]  # 「2020年以来…，三季度营收」
    return closed[-1] if closed else stated[-1] if stated else None


_OF_THAT_TIME = re.compile("的?(?:约|近)?")
_WRITTEN = re.compile(r"[\dQH]+[^同]*$")


def dated_start(annotated: AnnotatedSentence, quantity: Quantity) -> bool:
    """Whether the first number of a range names its own time: 「从2013年的5.63%提升至…」."""
    return any(re.fullmatch("的?(?:约|近)?", annotated.text[dated.end : quantity.start]) for dated in annotated.periods)


def begins(annotated: AnnotatedSentence, quantity: Quantity) -> bool:
    """Whether a number begins a range that says when: at its own time, or over a span of years."""
    if dated_start(annotated, quantity):
        return True
    return bool(STARTS_RANGE.match(annotated.text, quantity.end) and years_of(annotated, quantity))


def bases(annotated: AnnotatedSentence) -> list[Dated]:
    """Return the years a change is counted from, 去年同期 and its like aside."""
    return [dated for dated in annotated.periods if dated.role == "comparison" and not SAME_TIME.search(dated.text)]


def ended(annotated: AnnotatedSentence, first: Quantity, quantity: Quantity) -> Period | None:
    """Return when a range ends: 「2020年出货量将从2019年的13.63亿部下降至11.52亿部」 in 2020."""
    if any(first.end <= dated.start < quantity.start for dated in annotated.periods):
        return None  # said right before the number
    if steps := years_of(annotated, quantity):
        return steps[-1]
    told = [dated for dated in annotated.periods if dated.end <= first.start and dated.role == "stated"]
    told = [dated for dated in told if not of_a_start(annotated, dated)]  # 「从上半年的7%收窄至6%」
    if told:
        return told[0].period
    return last_year(annotated.period)  # 「2015-2024年…。其中份额从21%增至29%」 ends in 2024


def base_of(annotated: AnnotatedSentence, quantity: Quantity) -> Period | None:
    """Return the period of what a figure was before: 2023 of 90亿元 in 「100亿元，较2023年的90亿元增长11%」."""
    if quantity.change or annotated.text.startswith("亏损", quantity.end):
        return None
    for dated in annotated.periods:
        told = dated.role == "comparison" and dated.period.precision is not Precision.RANGE
        told = told and _WRITTEN.match(dated.text) is not None  # 去年同期 and 上月 are of the figure before, whichever
        if told and _OF_THAT_TIME.fullmatch(annotated.text, dated.end, quantity.start):
            return dated.period
    return None
