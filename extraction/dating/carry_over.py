"""Carry periods from sentence to sentence: the note's week, the as-of day of its figures, the last stated period."""

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

    from kg.dating.reader import Dated
    from kg.period import Period

_DAY, _WEEK, _RECENT = timedelta(days=1), timedelta(days=7), timedelta(days=10)
_AS_OF = re.compile("截至|截止")
_SHORTEST_WEEK, _LONGEST_WEEK = 3, 8
_EARLY_IN_WEEK = 2  # Wednesday, Monday being 0
_SINCE_NEW_YEAR = re.compile("年初|YTD|今年|20\\d\\d ?年")
_THIS_WEEK = re.compile(r"(?:截至|截止|在)?(?:本周|当周|周内|本星期|这周)")
_BASE = re.compile("(?:的|同期)?[高低]?基数")  # the year of 「源于去年高基数」 is not inherited
_SUMMED = re.compile(r"[，、]?(?:合计|累计|总计|累积)")


def shift_to_reported_week(
    periods: list[Dated], published_on: date, named: Callable[[], Period | None] = lambda: None
) -> list[Dated]:
    """Move 「本周」 to the week that the note covers: the one it names, else, early in a week, the previous one.

    Weekly reports are written over the weekend and dated Monday to Wednesday; in real notes, three of four of their
    「本周」 refer to the days before. `named` returns the week that the note names, and is called only if needed.
    """
    if not any(_THIS_WEEK.match(dated.text) for dated in periods):
        return periods
    week = named()
    if week is None and published_on.weekday() > _EARLY_IN_WEEK:
        return periods
    covered = week.start if week and week.start else published_on - _WEEK
    step = timedelta(days=7 * round((_monday(published_on) - _monday(covered)) / _WEEK))
    return [
        structs.replace(dated, period=_earlier(dated.period, step)) if _THIS_WEEK.match(dated.text) else dated
        for dated in periods
    ]


def named_week(periods: Sequence[Dated], published_on: date) -> Period | None:
    """Return the week that a note names at its top (9月8日-9月12日), if it ended shortly before publication.

    If it names none, return the last as-of day at the top (截至9月12日).
    """
    for dated in periods:
        start, end = dated.period.start, dated.period.end
        if start and end and _SHORTEST_WEEK <= (end - start).days <= _LONGEST_WEEK and end <= published_on + _DAY:
            return dated.period if published_on - end <= 2 * _WEEK else None
    days = [dated.period for dated in periods if _AS_OF.match(dated.text) and dated.period.precision is Precision.DAY]
    past = [day for day in days if day.start and published_on - day.start <= _RECENT and day.start <= published_on]
    return max(past, key=lambda day: day.start or published_on, default=None)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _earlier(period: Period, step: timedelta) -> Period:
    return replace(period, start=period.start and period.start - step, end=period.end and period.end - step)


def as_of(periods: list[Dated], published_on: date, week: Callable[[], Period | None] = lambda: None) -> list[Dated]:
    """End periods that last until today (年初至今, 近一年) on the as-of day of the sentence: 截至6月10日.

    Without such a day, end them with the week that the sentence states (本周), else with the note's own `week`.
    """
    tomorrow = published_on + _DAY
    lasting = any(dated.period.end == tomorrow for dated in periods)
    end = _data_end(periods, published_on, week) if lasting else None
    if end is None:
        return periods
    return [
        structs.replace(
            dated, period=_ending(dated.period, end, year_to_date=_SINCE_NEW_YEAR.search(dated.text) is not None)
        )
        if dated.period.end == tomorrow and dated.period.start and dated.period.start < end - _WEEK
        else dated
        for dated in periods
    ]


def _data_end(periods: list[Dated], published_on: date, week: Callable[[], Period | None]) -> date | None:
    days = [dated.period for dated in periods if _AS_OF.match(dated.text) and dated.period.precision is Precision.DAY]
    if days:
        return days[0].end if len(days) == 1 and days[0].end and days[0].end <= published_on else None
    weeks = [dated.period for dated in periods if dated.role == "stated" and _is_week(dated.period)]
    last = weeks[-1] if weeks else week()
    if last is None or last.end is None or not published_on - _RECENT <= last.end <= published_on:
        return None
    return last.end


def _is_week(period: Period) -> bool:
    length = period.end - period.start if period.start and period.end else timedelta()
    return _SHORTEST_WEEK <= length.days <= _LONGEST_WEEK


def _ending(period: Period, end: date, *, year_to_date: bool) -> Period:
    assert period.start is not None  # as_of checks both
    assert period.end is not None
    return replace(period, start=period.start if year_to_date else period.start - (period.end - end), end=end)


def carry_period(text: str, periods: Sequence[Dated], before: Period | None) -> Period | None:
    """Return the period that the next sentence inherits: the last stated one, except in brackets and before totals.

    After 「6月出口87吨，上半年合计出口4651吨」, the next item is about June.
    """
    stated = [dated for dated in periods if dated.role == "stated" and not _BASE.match(text, dated.end)]
    stated = [dated for dated in stated if text.count("（", 0, dated.start) <= text.count("）", 0, dated.start)]
    single = [dated for at, dated in enumerate(stated) if not (at and _SUMMED.match(text, dated.end))]
    return single[-1].period if single else before


def is_estimate(periods: Sequence[Dated], before: bool) -> bool:
    """Whether the inherited period is marked as estimated: 「25H1E收入…。净利润…」."""
    stated = [dated for dated in periods if dated.role == "stated"]
    return stated[-1].text.endswith("E") if stated else before
