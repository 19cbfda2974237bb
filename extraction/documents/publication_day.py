"""Find a document's publication day in its first page or file name, never from the clock.

A day that is too early would leak the future into a view, so a date inside a sentence (截至2021年11月30日) is not used.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import TYPE_CHECKING

from extraction.text.lexicon import phrases
from kg.period import instant_in
from kg.settings import market_day

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EARLIEST = date(1990, 1, 1)  # the Shanghai exchange opened in December 1990
_PHRASES = phrases("documents/publication_day")
_DAY = _PHRASES["day"]
_ENGLISH = _PHRASES["english"]
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LABEL = _PHRASES["label"]
_NOT_PUBLICATION = _PHRASES["not_publication"]
_COMPACT = re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<m>[01]\d)(?P<d>[0-3]\d)(?!\d)")
_SHORT_YEAR = re.compile(r"(?<!\d)(?P<y>[0-3]\d)(?P<m>[01]\d)(?P<d>[0-3]\d)(?!\d)")
_HEAD_LINES = 60
_STANDALONE = 30  # other characters allowed on the line of a date (证券研究报告/量化投资策略报告)
_OPENING = 300
_MAX_LINE = 3000  # characters of a line searched for a date, for text that lost its line breaks


def read_day(value: object) -> date | None:
    """Parse a day from a front-matter or JSON value: a date, a timestamp or text in any common format.

    An instant with a time zone counts as the day on which the market could know it (setting `market_zone`); without
    one, as the calendar day it is written with. Text with two days, such as a range, is none.

    >>> read_day("2025-05-13T00:00:00+08:00"), read_day("2025年9月21日"), read_day("soon")
    (datetime.date(2025, 5, 13), datetime.date(2025, 9, 21), None)
    """
    if isinstance(value, datetime):
        return market_day(value)
    if isinstance(value, date):
        return value
    if isinstance(value, int):
        value = str(value)
    if not isinstance(value, str):
        return None
    if instant := instant_in(value):
        return market_day(instant)
    days = {day for _, day in find_days(value)}
    return days.pop() if len(days) == 1 else None if days else _first(_COMPACT, value)


def find_days(text: str) -> Iterator[tuple[int, date]]:
    """Yield every full date in running text with its start offset."""
    places = [(match, match["d"]) for match in _DAY.finditer(text)]
    places += [(match, match["d1"] or match["d2"]) for match in _ENGLISH.finditer(text)]
    for match, day in sorted(places, key=lambda place: place[0].start()):
        if day and (found := _make_date(match["y"], match["m"], day)):
            yield match.start(), found


def day_of_head(lines: Sequence[str], today: date) -> date | None:
    """Return the publication day on a first page: a labelled date, else one on a line of its own."""
    head = lines[:_HEAD_LINES]
    dated = [(line, start, day) for line in head for start, day in find_days(line[:_MAX_LINE]) if usable(day, today)]
    for line, start, day in dated:
        if _LABEL.search(line[:start]):
            return day
    for line, _, day in dated:
        rest, dates = _DAY.subn("", line)
        if dates <= 1 and len(rest.strip()) <= _STANDALONE and not _NOT_PUBLICATION.search(rest) and "。" not in rest:
            return day
    return None


def day_of_opening(text: str, today: date) -> date | None:
    """Return the first date in the opening characters, the fallback for text that lost its line breaks."""
    for start, day in find_days(text[:_OPENING]):
        if usable(day, today) and not _NOT_PUBLICATION.search(text[max(0, start - 4) : start]):
            return day
    return None


def day_of_name(stem: str, today: date) -> date | None:
    """Parse a date from a file name or a similar title: 2025-09-21, 20250921, 250921.

    >>> day_of_name("中泰证券-锂电池产业链量化选股-220105", date(2026, 1, 1))
    datetime.date(2022, 1, 5)
    """
    days = [day for _, day in find_days(stem.replace("_", "-"))]
    days += [day for pattern in (_COMPACT, _SHORT_YEAR) if (day := _first(pattern, stem))]
    return next((day for day in days if usable(day, today)), None)


def usable(day: date, today: date) -> bool:
    """Return whether a day can be a publication day: after the exchanges opened and not in the future."""
    return _EARLIEST <= day <= today


def _first(pattern: re.Pattern[str], text: str) -> date | None:
    for match in pattern.finditer(text):
        year = match["y"] if len(match["y"]) > 2 else f"20{match['y']}"  # noqa: PLR2004 - two-digit years
        if found := _make_date(year, match["m"], match["d"]):
            return found
    return None


def _make_date(year: str, month: str, day: str) -> date | None:
    try:
        number = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
        return date(int(year), number, int(day))
    except ValueError:
        return None
