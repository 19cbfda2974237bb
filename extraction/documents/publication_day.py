"""The day a document was published: found in its head or its name, never taken from the clock.

A day that is too early would let a view see the future, so a date inside a sentence (截至2021年11月30日)
is no evidence.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EARLIEST = date(1990, 1, 1)  # the Shanghai exchange opened in December 1990
_DAY = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d\d)\s*(?:年|[-./])\s*(?P<m>\d{1,2})\s*(?:月|[-./])\s*(?P<d>\d{1,2})(?!\d)\s*日?"
)
_ENGLISH = re.compile(
    r"(?:(?P<d1>\d{1,2})\s+)?(?P<m>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+"
    r"(?:(?P<d2>\d{1,2})(?:st|nd|rd|th)?\s*,\s*)?(?P<y>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LABEL = re.compile(
    r"(?:发布|报告|出版|撰写|完成|公告|更新)(?:日期|时间|日)\s*[:：|]?\s*$|(?:日期|published(?: on)?|date)\s*[:：]\s*$",
    re.IGNORECASE,
)
_NOT_PUBLICATION = re.compile(r"截至|截止|收盘|数据|来源|自|从|至|到|预计|[~～—]")
_COMPACT = re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<m>[01]\d)(?P<d>[0-3]\d)(?!\d)")
_SHORT_YEAR = re.compile(r"(?<!\d)(?P<y>[0-3]\d)(?P<m>[01]\d)(?P<d>[0-3]\d)(?!\d)")
_HEAD_LINES = 60
_STANDALONE = 30  # characters that may stand beside a date on its line (证券研究报告/量化投资策略报告)
_OPENING = 300
_DEEP = 3000  # how far a labelled date is sought in a text whose line ends were lost


def read_day(value: object) -> date | None:
    """Read a day from a front-matter or JSON value: a date, a time stamp or text in any common spelling.

    A time stamp counts for the calendar day that it is written with.

    >>> read_day("2025-05-13T00:00:00+08:00"), read_day("2025年9月21日"), read_day("soon")
    (datetime.date(2025, 5, 13), datetime.date(2025, 9, 21), None)
    """
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, int):
        value = str(value)
    if not isinstance(value, str):
        return None
    found = next(find_days(value), None)
    return found[1] if found else _first(_COMPACT, value)


def find_days(text: str) -> Iterator[tuple[int, date]]:
    """Yield every full date in running text with the offset at which it begins."""
    places = [(match, match["d"]) for match in _DAY.finditer(text)]
    places += [(match, match["d1"] or match["d2"]) for match in _ENGLISH.finditer(text)]
    for match, day in sorted(places, key=lambda place: place[0].start()):
        if day and (found := _make(match["y"], match["m"], day)):
            yield match.start(), found


def day_of_head(lines: Sequence[str], today: date) -> date | None:
    """Read the publication day from a first page: a labelled date first, then one that has a line to itself."""
    head = lines[:_HEAD_LINES]
    dated = [(line, start, day) for line in head for start, day in find_days(line[:_DEEP]) if usable(day, today)]
    for line, start, day in dated:
        if _LABEL.search(line[:start]):
            return day
    for line, _, day in dated:
        rest, dates = _DAY.subn("", line)
        if dates <= 1 and len(rest.strip()) <= _STANDALONE and not _NOT_PUBLICATION.search(rest) and "。" not in rest:
            return day
    return None


def day_of_opening(text: str, today: date) -> date | None:
    """Read the first date among the opening characters: a last resort for texts that lost their lines."""
    for start, day in find_days(text[:_OPENING]):
        if usable(day, today) and not _NOT_PUBLICATION.search(text[max(0, start - 4) : start]):
            return day
    return None


def day_of_name(stem: str, today: date) -> date | None:
    """Read a date from a file name or a title like it: 2025-09-21, 20250921, 250921.

    >>> day_of_name("中泰证券-锂电池产业链量化选股-220105", date(2026, 1, 1))
    datetime.date(2022, 1, 5)
    """
    days = [day for _, day in find_days(stem.replace("_", "-"))]
    days += [day for pattern in (_COMPACT, _SHORT_YEAR) if (day := _first(pattern, stem))]
    return next((day for day in days if usable(day, today)), None)


def usable(day: date, today: date) -> bool:
    """Whether a day can be a publication day: an exchange was open and it is not in the future."""
    return _EARLIEST <= day <= today


def _first(pattern: re.Pattern[str], text: str) -> date | None:
    for match in pattern.finditer(text):
        year = match["y"] if len(match["y"]) > 2 else f"20{match['y']}"  # noqa: PLR2004 - two-digit years
        if found := _make(year, match["m"], match["d"]):
            return found
    return None


def _make(year: str, month: str, day: str) -> date | None:
    try:
        number = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
        return date(int(year), number, int(day))
    except ValueError:
        return None
