"""Half-open periods [start, end) that keep their stated precision."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum

_MONTHS_PER_YEAR = 12
_INSTANT = re.compile(
    r"\s*(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?|\d{8}T?\d{6})"
    r" ?(Z|UTC|GMT|[+-]\d\d(?:[:']?\d\d'?)?)'?\s*"
)
_MAIL = re.compile(r"\s*(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d")


class Precision(StrEnum):
    """Stated precision of a period; RANGE is any other span."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    HALF = "half"
    YEAR = "year"
    RANGE = "range"


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """Days from `start` up to but excluding `end`; None means unbounded.

    Raises:
        ValueError: when the period would be empty.
    """

    start: date | None
    end: date | None
    precision: Precision = Precision.RANGE

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise ValueError(f"empty period {self.start} … {self.end}")

    def contains(self, day: date) -> bool:
        """Whether the period contains `day`."""
        return (self.start is None or self.start <= day) and (self.end is None or day < self.end)

    def overlaps(self, other: Period) -> bool:
        """Whether the two share at least one day."""
        return _before(self.start, other.end) and _before(other.start, self.end)

    def covers(self, other: Period) -> bool:
        """Whether the period contains every day of `other`."""
        starts = self.start is None or (other.start is not None and self.start <= other.start)
        ends = self.end is None or (other.end is not None and other.end <= self.end)
        return starts and ends

    def __str__(self) -> str:
        """Format as in research notes: 2024、2024H1、2024Q3、2024-09、2024-09-30、2024-01-01…2024-10-01."""
        if self.start is None or self.end is None or self.precision is Precision.RANGE:
            return _range_text(self.start, self.end)
        return _label(self.start, self.precision)


def day(value: date) -> Period:
    """Return a single day."""
    return Period(value, value + timedelta(days=1), Precision.DAY)


def week(value: date) -> Period:
    """Return the ISO 8601 week, Monday to Sunday, that contains `value`."""
    monday = value - timedelta(days=value.weekday())
    return Period(monday, monday + timedelta(days=7), Precision.WEEK)


def months(year: int, month: int, count: int, *, precision: Precision = Precision.RANGE) -> Period:
    """Return `count` months from the first day of `year`-`month`."""
    return Period(date(year, month, 1), _first_of(year, month + count), precision)


def month(year: int, number: int) -> Period:
    """Return a calendar month."""
    return months(year, number, 1, precision=Precision.MONTH)


def quarter(year: int, number: int) -> Period:
    """Return a calendar quarter, `number` 1 … 4."""
    return months(year, 3 * number - 2, 3, precision=Precision.QUARTER)


def half(year: int, number: int) -> Period:
    """Return a calendar half year, `number` 1 or 2."""
    return months(year, 6 * number - 5, 6, precision=Precision.HALF)


def year(number: int) -> Period:
    """Return a calendar year."""
    return months(number, 1, 12, precision=Precision.YEAR)


def years(first: int, last: int) -> Period:
    """Return the calendar years `first` to `last`, inclusive."""
    return year(first) if first == last else months(first, 1, 12 * (last - first + 1))


def since(value: date) -> Period:
    """Return everything from `value` on."""
    return Period(value, None)


def instant_in(text: str) -> datetime | None:
    """Parse an instant with a time zone, by ISO 8601 or as mail and feeds write it (RFC 5322); other text is None.

    >>> instant_in("2026-01-04T16:00:00Z"), instant_in("2026-01-04 16:00")
    (datetime.datetime(2026, 1, 4, 16, 0, tzinfo=datetime.timezone.utc), None)
    """
    try:
        if written := _INSTANT.fullmatch(text):
            zone = "Z" if written[2].isalpha() else written[2].replace("'", "")
            moment = written[1].replace(",", ".")
            return datetime.fromisoformat((f"{moment[:8]}T{moment[-6:]}" if moment.isdigit() else moment) + zone)
        found = parsedate_to_datetime(text) if _MAIL.match(text) else None
    except ValueError:
        return None
    return found if found and found.tzinfo else None


def _first_of(year_number: int, month_number: int) -> date:
    carried, index = divmod(month_number - 1, _MONTHS_PER_YEAR)
    return date(year_number + carried, index + 1, 1)


def _before(start: date | None, end: date | None) -> bool:
    return start is None or end is None or start < end


def _range_text(start: date | None, end: date | None) -> str:
    return f"{start or ''}…{(end - timedelta(days=1)) if end else ''}"


def _label(start: date, precision: Precision) -> str:
    match precision:
        case Precision.YEAR:
            return str(start.year)
        case Precision.HALF:
            return f"{start.year}H{1 if start.month == 1 else 2}"
        case Precision.QUARTER:
            return f"{start.year}Q{(start.month + 2) // 3}"
        case Precision.MONTH:
            return f"{start.year}-{start.month:02}"
        case Precision.WEEK:
            return f"{start.isocalendar().year}-W{start.isocalendar().week:02}"
        case _:
            return start.isoformat()
