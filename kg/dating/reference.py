"""Resolve dates against the publication day, the last stated period and the fiscal year."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from kg import period as periods
from kg.period import Period, Precision

if TYPE_CHECKING:
    from collections.abc import Callable

CHINESE_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2}

_MONTHS_PER_YEAR = 12
_LAST_MONTHS = timedelta(days=75)  # a range of months counts as begun this long before its end
_SOON = timedelta(days=62)
_JUST_ENDED = timedelta(days=120)  # 预计上半年 in August is a preview of the half year that has just ended
_CANONICAL = {1: Precision.MONTH, 3: Precision.QUARTER, 6: Precision.HALF, 12: Precision.YEAR}
_MONTH_NAMES = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_M = r"(?P<m>1[0-2]|0?[1-9])月(?:\d{1,2}日|底|末)?"
# A month is never guessed from a name or a market.
_FISCAL_YEAR_ENDS = (
    # 财年截至6月30日, 财政年度结束于每年3月31日, 财年于每年6月底结束, 财务年度为每年7月至次年6月
    re.compile(
        rf"(?:财年|财政年度|财务年度|会计年度)[^，。；\d]{{0,8}}(?:截至|截止|止于|结束于|终于)[^，。；\d]{{0,6}}{_M}"
    ),
    re.compile(rf"(?:财年|财政年度|财务年度|会计年度)[^，。；\d]{{0,6}}(?:每年|次年)?{_M}(?:结束|截止|为止)"),
    re.compile(rf"(?:财年|财政年度|财务年度|会计年度)[^。；]{{0,24}}(?:至|到)(?:次年|翌年|第二年|下一?年)的?{_M}"),
    # 截至2024年3月31日止年度, 截至6月30日止财年
    re.compile(rf"截[至止](?:(?:19|20)\d\d年)?{_M}止?(?:的)?(?:财政|财务|会计)?(?:年度|财年)"),
    re.compile(
        r"(?:fiscal|financial) year (?:ended|ending|ends|end)(?: on| in| date)?(?: \d{1,2})? (?P<name>"
        + "|".join(_MONTH_NAMES)
        + r")\b",
        re.IGNORECASE,
    ),
)


@dataclass(frozen=True, slots=True)
class Impossible:
    """Text that looks like a date that does not exist; `reason` is shown in the problem list."""

    reason: str


Reading = Period | Impossible | None


class DateReference(Struct, frozen=True):
    """The reference that dates are resolved against.

    Args:
        published_on: day of publication.
        context: the last stated period, or None.
        fiscal_year_end: month in which the company's fiscal year ends, 1 … 12.
        ahead: whether the text looks ahead: "" if not, "near" if 预计 follows later (「7月产量预计」 in June), "soft"
            after 预计 (a preview may cover a period that has just ended), "strict" after 下 or 将.
    """

    published_on: date
    context: Period | None = None
    fiscal_year_end: int = 12
    ahead: str = ""

    @property
    def today(self) -> date:
        """The publication day."""
        return self.published_on

    @property
    def tomorrow(self) -> date:
        """The day after publication: the exclusive end of periods that last until today."""
        return self.published_on + timedelta(days=1)

    @property
    def context_year(self) -> int | None:
        """The calendar year that contains the context, or None if it spans several."""
        if self.context is None or self.context.start is None or self.context.end is None:
            return None
        first, last = self.context.start.year, (self.context.end - timedelta(days=1)).year
        return first if first == last else None

    def bare(self, read: Callable[[int], Reading]) -> Reading:
        """Resolve an expression without a year (三季度): by the context, else as the latest one that has begun."""
        year = self.context_year
        found = read(year) if year is not None else None
        if isinstance(found, Impossible):
            return found
        if self.ahead == "near":
            coming = read(self.today.year)
            near = isinstance(coming, Period) and coming.start and self.today < coming.start <= self.today + _SOON
            return found or (coming if near else self._begun(read))
        if found is not None and not (self.ahead and self._is_over(found)):
            return found
        return self._upcoming(read) if self.ahead else self._begun(read)

    def _begun(self, read: Callable[[int], Reading]) -> Reading:
        found = read(self.today.year)
        if not isinstance(found, Period) or found.start is None or found.end is None:
            return found
        # figures for 1-11月 are not published in January: a range counts as begun when its last months have
        reached = found.end - _LAST_MONTHS if found.precision is Precision.RANGE else found.start
        return read(self.today.year - 1) if max(reached, found.start) > self.today else found

    def _upcoming(self, read: Callable[[int], Reading]) -> Reading:
        last, found = read(self.today.year - 1), read(self.today.year)
        if self.ahead == "soft" and isinstance(last, Period) and not self._is_over(last):
            return last
        if isinstance(found, Period) and self._is_over(found):
            return read(self.today.year + 1)
        return found

    def _is_over(self, found: Period) -> bool:
        grace = _JUST_ENDED if self.ahead == "soft" else timedelta()
        return found.end is not None and found.end + grace <= self.today


def span(start: date, end: date) -> Period:
    """Return [start, end) with the precision of the calendar unit it equals, so that 1-6月 equals 上半年."""
    if end - start == timedelta(days=1):
        return periods.day(start)
    length = (end.year - start.year) * _MONTHS_PER_YEAR + end.month - start.month
    whole = start.day == end.day == 1 and length in _CANONICAL and (start.month - 1) % length == 0
    return Period(start, end, _CANONICAL[length] if whole else Precision.RANGE)


def add_months(value: date, count: int) -> date:
    """Return the same day `count` months later, or that month's last day."""
    carried, index = divmod(value.month - 1 + count, _MONTHS_PER_YEAR)
    last = calendar.monthrange(value.year + carried, index + 1)[1]
    return date(value.year + carried, index + 1, min(value.day, last))


def month_span(year: int, first: int, last: int) -> Period | Impossible:
    """Return months `first` to `last` of `year`, inclusive."""
    if not 1 <= first <= last <= _MONTHS_PER_YEAR:
        return Impossible(f"没有{first}月至{last}月" if first != last else f"没有{first}月")
    return span(date(year, first, 1), add_months(date(year, last, 1), 1))


def quarter_span(year: int, first: int, last: int) -> Period | Impossible:
    """Return quarters `first` to `last` of `year`, inclusive."""
    if not 1 <= first <= last <= 4:  # noqa: PLR2004 - four quarters
        return Impossible(f"没有第{first}至{last}季度" if first != last else f"没有第{first}季度")
    return month_span(year, 3 * first - 2, 3 * last)


def day_of(year: int, month: int, number: int) -> Period | Impossible:
    """Return that day, or the reason why it does not exist (2月30日)."""
    if not 1 <= month <= _MONTHS_PER_YEAR:
        return Impossible(f"没有{month}月")
    if not 1 <= number <= calendar.monthrange(year, month)[1]:
        return Impossible(f"{year}年{month}月没有{number}日")
    return periods.day(date(year, month, number))


def last_day(found: Period) -> Period:
    """Return the last day of a closed period."""
    assert found.end is not None
    return periods.day(found.end - timedelta(days=1))


def fiscal_year_end(text: str) -> int:
    """Return the month in which FY2024 and 2024财年 end in this text; 12 if it names none or several.

    >>> fiscal_year_end("公司财年截至6月30日。"), fiscal_year_end("2024财年收入增长。")
    (6, 12)
    """
    return stated_year_end(text) or _MONTHS_PER_YEAR


def stated_year_end(text: str) -> int | None:
    """Return the month in which a text states that fiscal years end; None if it states none or several."""
    found = {_month(match) for form in _FISCAL_YEAR_ENDS for match in form.finditer(text)}
    return found.pop() if len(found) == 1 else None


def _month(match: re.Match[str]) -> int:
    groups = match.groupdict()
    if groups.get("name"):
        return _MONTH_NAMES.index(groups["name"].lower()) + 1
    return int(groups["m"])


def fiscal(found: Period, fiscal_year_end: int) -> Period:
    """Move a calendar period to the fiscal year named after the calendar year in which it ends."""
    lag = fiscal_year_end - _MONTHS_PER_YEAR
    assert found.start is not None
    assert found.end is not None
    return span(add_months(found.start, lag), add_months(found.end, lag))


def number_of(text: str) -> int:
    """Read a small whole number: 12, 三, 十二, 二十."""
    if text.isdecimal():
        return int(text)
    if "十" not in text:
        return int("".join(str(CHINESE_DIGITS[c]) for c in text))
    tens, _, ones = text.partition("十")
    return 10 * CHINESE_DIGITS.get(tens, 1) + CHINESE_DIGITS.get(ones, 0)
