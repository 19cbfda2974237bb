"""Whether a sentence speaks of the period that a question asks about, its dates read as of its publication."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from kg.dating.reader import find_periods
from kg.period import Period, Precision

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from kg.dating.reader import Dated

_YEAR_DAYS = 360
_WORDS_SPAN = 2  # what is said of a span this many times as long still speaks of the period asked about
_WIDE_SPAN = timedelta(days=400)
_EDGE = timedelta(days=3)  # 截至12月30日 is the state at the end of the year
_SHORT = timedelta(days=45)
# How long after a period a text that names no date may still be about it: its figures are not known earlier.
_LAGS = {
    Precision.YEAR: timedelta(days=130),
    Precision.HALF: timedelta(days=100),
    Precision.QUARTER: timedelta(days=100),
}
_LAG, _LAG_OF_DAYS, _DAYS = timedelta(days=35), timedelta(days=10), timedelta(days=11)
_A_QUARTER = timedelta(days=100)
_WEEK = timedelta(days=7)
_VALUE_CLAUSE = re.compile(r"[^，,；;]{2,40}\d[^，,；;]*[，,；;]")


def _is_relative(stated: Period, published_on: date, *, heading: bool) -> bool:
    """Whether a date only reaches up to the publication (年初至今, 近三年), or is that day in a heading."""
    until_now = stated.precision is Precision.RANGE and stated.end == published_on + timedelta(days=1)
    return until_now or (heading and stated.precision is Precision.DAY and stated.contains(published_on))


def _meant(found: Dated) -> Period:
    """Return the days of a date; 本周 of a note that reports on a week may be the one before."""
    period = found.period
    if period.precision is Precision.WEEK and found.text.startswith(("本", "这")) and period.start:
        return Period(period.start - _WEEK, period.end)
    return period


@dataclass(frozen=True, slots=True)
class AskedPeriod:
    """The period of a question; for a `value` the period itself has to be stated, not one that only overlaps."""

    period: Period
    value: bool

    def fits(self, own: str, before: Sequence[str], published_on: date, *, above: Sequence[str] = ()) -> bool:
        """Whether a sentence is about the period by its own dates, else by a heading, else by what stands nearest.

        Args:
            own: the sentence.
            before: the sentences before it, nearest first.
            published_on: the day that relative dates (本周, 4月) count from.
            above: its label, headings and title, nearest first; one that names the period covers what has no date.
        """
        for number, text in enumerate((own, *before, *above)):
            found = find_periods("".join(text.split()), published_on)
            dates = [_meant(each) for each in found if each.role == "stated"]  # 较上年末 dates what is compared with
            if any(map(self._is_of, dates)):
                return True
            is_dated = any(not _is_relative(each, published_on, heading=number > 0) for each in dates)
            if is_dated and (number or not self._opens_undated(found[0].start, own)):
                return bool(number) and self._is_headed(above, published_on)
        return self._is_reported(published_on)

    def _is_headed(self, above: Sequence[str], published_on: date) -> bool:
        """Whether a heading names the period, a quarter at most: a year covers too much."""
        found = (each for text in above for each in find_periods("".join(text.split()), published_on))
        return any(
            self._is_of(period) and bool(period.start and period.end and period.end - period.start <= _A_QUARTER)
            for period in map(_meant, found)
        )

    def states(self, text: str, published_on: date) -> bool:
        """Whether a text names the period itself."""
        found = find_periods("".join(text.split()), published_on)
        return any((each.period.start, each.period.end) == (self.period.start, self.period.end) for each in found)

    def _opens_undated(self, start: int, own: str) -> bool:
        """Whether a sentence gives a value before its first date, which is dated by what stands above it."""
        return self.value and bool(_VALUE_CLAUSE.match("".join(own.split())[:start]))

    def _is_of(self, stated: Period) -> bool:
        asked = self.period
        if None in (asked.start, asked.end, stated.start, stated.end) or not asked.overlaps(stated):
            return asked.overlaps(stated)
        assert asked.start and asked.end and stated.start and stated.end  # noqa: PT018 -- narrowed for the type checker
        own, other = asked.end - asked.start, stated.end - stated.start
        if stated.end == asked.end and own <= timedelta(days=1):  # 2025年底: what is said of 2025
            return True
        if not self.value:
            return other <= max(_WORDS_SPAN * own, _WIDE_SPAN if own > _SHORT else _SHORT)
        if asked.covers(stated):
            state = own > _SHORT and other <= timedelta(days=1) and asked.end - stated.end <= _EDGE
            yearly = asked.precision is Precision.RANGE and other.days >= _YEAR_DAYS
            return own - other <= (_EDGE if own > _SHORT else timedelta(0)) or own <= _SHORT or state or yearly
        return own <= _SHORT and other <= _SHORT

    def _is_reported(self, published_on: date) -> bool:
        """Whether a text without dates was published in the period or when its figures came out."""
        start, end = self.period.start, self.period.end
        if start is None or end is None:
            return self.period.contains(published_on)
        lag = _LAG_OF_DAYS if end - start <= _DAYS else _LAG
        return start <= published_on < end + _LAGS.get(self.period.precision, lag)
