"""Read English dates in Chinese notes: Sep 30, 2024, first half of 2025, last quarter."""

from __future__ import annotations

from kg import period as periods
from kg.dating.forms import YEAR, Groups
from kg.dating.reference import (
    DateReference,
    Impossible,
    Reading,
    day_of,
    last_day,
    month_span,
    quarter_span,
    span,
)
from kg.dating.relative import move, nearby_month, nearby_quarter, nearby_week, nearby_year, steps
from kg.dating.written import Form

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_WORDS = {word: number for number, word in enumerate(_NUMBERS, 1)}
_YEAR_WORDS = ("[Ii]n", "[Bb]y", "[Ss]ince", "[Dd]uring", "[Ff]or", "of", "[Ff]rom", "[Bb]efore", "[Aa]fter")
_YEAR_BEFORE = "|".join(f"(?<={word} )" for word in _YEAR_WORDS)
_NEARBY = "(?<![A-Za-z])(?P<r>[Ll]ast|[Tt]his|[Nn]ext)"


def _english_span(frame: DateReference, g: Groups) -> Reading:
    count = _WORDS.get(g["n"].lower()) or int(g["n"])
    months, days = steps(g["u"].lower(), count)
    if g["r"].lower() in {"next", "coming"}:
        return span(frame.tomorrow, move(frame.tomorrow, months, days))
    return span(move(frame.tomorrow, -months, -days), frame.tomorrow)


_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAME = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}


def _english(_: DateReference, g: Groups) -> Reading:
    year = int(g["y"])
    if g.get("o"):
        number = _ORDINALS[g["o"].lower()]
        if g["u"].lower() == "half":
            return periods.half(year, number) if number <= 2 else Impossible("no such half year")  # noqa: PLR2004
        return quarter_span(year, number, number)
    month = _MONTH_NAMES.index(g["name"][:3].lower()) + 1
    return day_of(year, month, int(g["d"])) if g.get("d") else month_span(year, month, month)


ENGLISH = (
    Form(
        "English day",
        rf"(?<![A-Za-z])(?P<name>{_MONTH_NAME}) (?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y>{YEAR})(?!\d)",
        "Sep 30, 2024",
        _english,
    ),
    Form(
        "English day first",
        rf"(?<![\dA-Za-z])(?P<d>\d{{1,2}})(?:st|nd|rd|th)? (?P<name>{_MONTH_NAME}),? (?P<y>{YEAR})(?!\d)",
        "30 September 2024",
        _english,
    ),
    Form("English month", rf"(?<![A-Za-z])(?P<name>{_MONTH_NAME}),? (?P<y>{YEAR})(?!\d)", "September 2024", _english),
    Form(
        "English part",
        r"(?<![A-Za-z])(?P<o>[Ff]irst|[Ss]econd|[Tt]hird|[Ff]ourth)[ -](?P<u>half|quarter)(?: of| in)? "
        rf"(?P<y>{YEAR})(?!\d)",
        "first half of 2025",
        _english,
    ),
    Form(
        "English year end",
        rf"(?<![A-Za-z])(?:[Yy]ear-end|[Ee]nd of|[Ee]nd-) ?(?P<y>{YEAR})(?![\d.%])",
        "year-end 2024",
        lambda _, g: last_day(periods.year(int(g["y"]))),
    ),
    Form(
        "English year",
        rf"(?:{_YEAR_BEFORE})(?P<y>{YEAR})(?![\d.%,/-])(?! (?:units|people|tons|MW|GW))",
        "in 2024",
        lambda _, g: periods.year(int(g["y"])),
    ),
    Form("English nearby week", rf"{_NEARBY} week(?!\w)", "last week", nearby_week),
    Form("English nearby month", rf"{_NEARBY} month(?!\w)", "last month", nearby_month),
    Form(
        "English nearby quarter",
        rf"{_NEARBY} quarter(?!\w)",
        "last quarter",
        nearby_quarter,
    ),
    Form("English nearby year", rf"{_NEARBY} year(?!\w)", "next year", nearby_year),
    Form(
        "English span",
        r"(?<![A-Za-z])(?P<r>[Pp]ast|[Ll]ast|[Nn]ext|[Cc]oming) "
        rf"(?P<n>\d{{1,2}}|{'|'.join(_NUMBERS)}) (?P<u>year|quarter|month|week|day)s(?!\w)",
        "past three years",
        _english_span,
    ),
)
