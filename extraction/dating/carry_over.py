"""Which time the lines of a note go on about: its own week, the day of its figures, the period told last."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec import structs

from kg.period import Precision

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from extraction.dating.reader import Dated
    from kg.period import Period

_DAY, _WEEK, _STILL_NEW = timedelta(days=1), timedelta(days=7), timedelta(days=10)
_AS_OF = re.compile("截至|截止")
_SHORTEST_WEEK, _LONGEST_WEEK = 3, 8
_EARLY_IN_WEEK = 2  # Wednesday, Monday being 0
_SINCE_NEW_YEAR = re.compile("年初|YTD|今年|20\\d\\d ?年")
_THIS_WEEK = re.compile(r"(?:截至|截止|在)?(?:本周|当周|周内|本星期|这周)")
_BASE = re.compile("(?:的|同期)?[高低]?基数")  # 「源于去年高基数」 dates nothing that follows
_SUMMED = re.compile(r"[，、]?(?:合计|累计|总计|累积)")


def shift_to_reported_week(
    periods: list[Dated], published_on: date, named: Callable[[], Period | None] = lambda: None
) -> list[Dated]:
    """Move 「本周」 to the week that the note tells of: the one it names, else, early in a week, the one before.

    Weeklies are written over the weekend and dated Monday to Wednesday; read on real notes, three of four such 「本周」
    give figures of the days before. `named` is asked for the week that the note names only where one is spoken of.
    """
    if not any(_THIS_WEEK.match(dated.text) for dated in periods):
        return periods
    week = named()
    if week is None and published_on.weekday() > _EARLY_IN_WEEK:
        return periods
    told = week.start if week and week.start else published_on - _WEEK
    step = timedelta(days=7 * round((_monday(published_on) - _monday(told)) / _WEEK))
    return [
        structs.replace(dated, period=_earlier(dated.period, step)) if _THIS_WEEK.match(dated.text) else dated
        for dated in periods
    ]


def named_week(periods: Sequence[Dated], published_on: date) -> Period | None:
    """Return the days that a note names at its top (9月8日-9月12日), when they ended not long before it.

    Where it names none, the last day that its top gives figures of (截至9月12日) stands for its week.
    """
    for dated in periods:
        start, end = dated.period.start, dated.period.end
        if start and end and _SHORTEST_WEEK <= (end - start).days <= _LONGEST_WEEK and end <= published_on + _DAY:
            return dated.period if published_on - end <= 2 * _WEEK else None
    days = [dated.period for dated in periods if _AS_OF.match(dated.text) and dated.period.precision is Precision.DAY]
    past = [day for day in days if day.start and published_on - day.start <= _STILL_NEW and day.start <= published_on]
    return max(past, key=lambda day: day.start or published_on, default=None)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _earlier(period: Period, step: timedelta) -> Period:
    return replace(period, start=period.start and period.start - step, end=period.end and period.end - step)


def as_of(periods: list[Dated], published_on: date, week: Callable[[], Period | None] = lambda: None) -> list[Dated]:
    """End what lasts until today (年初至今, 近一年) on the day that the sentence gives its figures of: 截至6月10日.

    Without such a day, with the week that the sentence tells of (本周), else with the note's own `week`.
    """
    today = published_on + _DAY
    lasting = any(dated.period.end == today for dated in periods)
    told = _told_until(periods, published_on, week) if lasting else None
    if told is None:
        return periods
    return [
        structs.replace(
            dated, period=_ending(dated.period, told, year_to_date=_SINCE_NEW_YEAR.search(dated.text) is not None)
        )
        if dated.period.end == today and dated.period.start and dated.period.start < told - _WEEK
        else dated
        for dated in periods
    ]


def _told_until(periods: list[Dated], published_on: date, week: Callable[[], Period | None]) -> date | None:
    days = [dated.period for dated in periods if _AS_OF.match(dated.text) and dated.period.precision is Precision.DAY]
    if days:
        return days[0].end if len(days) == 1 and days[0].end and days[0].end <= published_on else None
    weeks = [dated.period for dated in periods if dated.role == "stated" and _is_week(dated.period)]
    told = weeks[-1] if weeks else week()
    if told is None or told.end is None or not published_on - _STILL_NEW <= told.end <= published_on:
        return None
    return told.end


def _is_week(period: Period) -> bool:
    length = period.end - period.start if period.start and period.end else timedelta()
    return _SHORTEST_WEEK <= length.days <= _LONGEST_WEEK


def _ending(period: Period, end: date, *, year_to_date: bool) -> Period:
    assert period.start is not None  # as_of asks for both
    assert period.end is not None
    return replace(period, start=period.start if year_to_date else period.start - (period.end - end), end=end)


def carry_period(text: str, periods: Sequence[Dated], before: Period | None) -> Period | None:
    """Return the period that the next sentence goes on about: the last stated one, asides and a sum up to it apart.

    Behind 「6月出口87吨，上半年合计出口4651吨」 the next item is told of June first.
    """
    stated = [dated for dated in periods if dated.role == "stated" and not _BASE.match(text, dated.end)]
    stated = [dated for dated in stated if text.count("（", 0, dated.start) <= text.count("）", 0, dated.start)]
    single = [dated for at, dated in enumerate(stated) if not (at and _SUMMED.match(text, dated.end))]
    return single[-1].period if single else before


def is_estimate(periods: Sequence[Dated], before: bool) -> bool:
    """Whether the period handed on was marked as estimated: 「25H1E收入…。净利润…」."""
    stated = [dated for dated in periods if dated.role == "stated"]
    return stated[-1].text.endswith("E") if stated else before
