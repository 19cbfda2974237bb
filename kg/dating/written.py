"""Read dates written in full: days, ranges of years, fiscal years, 3Q24, decades, five-year plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg import period as periods
from kg.dating.forms import NO_LETTER, TO, YEAR, Groups
from kg.dating.reference import (
    DateReference,
    Reading,
    day_of,
    fiscal,
    last_day,
    month_span,
    number_of,
    quarter_span,
    span,
)
from kg.period import Period

if TYPE_CHECKING:
    from collections.abc import Callable

_CENTURY = 2000
_LATE = 1950


@dataclass(frozen=True, slots=True)
class Form:
    """A notation for a whole date."""

    name: str
    pattern: str
    example: str
    read: Callable[[DateReference, Groups], Reading]


def century(text: str) -> int:
    """Read a year of two or four digits."""
    return int(text) if len(text) > 2 else _CENTURY + int(text)  # noqa: PLR2004


def _years(frame: DateReference, g: Groups) -> Reading:
    first, last = century(g["y"]), century(g["y2"])
    if not first < last <= frame.today.year + 50:  # 2060 is the last target year in use
        return None
    if len(g["y"]) == 2 and not _are_years(first, last, frame.today.year):  # noqa: PLR2004 - two digits
        return None
    return periods.years(first, last)


def _are_years(first: int, last: int, today: int) -> bool:
    """Whether two-digit numbers are years: 10-15年 and 20-25年 are durations, 20-22年 in a note of 2021 is not."""
    if first % 10:
        return abs(first - today) < 10  # noqa: PLR2004 - a decade
    return abs(first - today) <= 1 and last - first <= 3  # noqa: PLR2004 - as far as forecasts go


def _written_day(_: DateReference, g: Groups) -> Reading:
    return day_of(int(g["y"]), int(g["m"]), int(g["d"]))


def _written_days(frame: DateReference, g: Groups) -> Reading:
    first = _written_day(frame, g)
    last = day_of(int(g["y"]), int(g.get("m2") or g["m"]), int(g["d2"]))
    if isinstance(first, Period) and isinstance(last, Period) and first < last:
        return span(first.start or frame.today, last.end or frame.tomorrow)
    return first


def _fiscal(frame: DateReference, g: Groups) -> Reading:
    year, number = century(g["y"]), g.get("q") or g.get("q2") or ""
    found = quarter_span(year, int(number), int(number)) if number else periods.year(year)
    if g.get("h"):
        found = periods.half(year, int(g["h"]))
    return fiscal(found, frame.fiscal_year_end) if isinstance(found, Period) else found


def _fiscal_year(frame: DateReference, g: Groups) -> Reading:
    named = {"q": str(number_of(g["q"]))} if g.get("q") else {}
    half = {"h": {"上": "1", "下": "2"}[g["part"]]} if g.get("part") else {}
    return _fiscal(frame, {**g, **named, **half})


def _reversed(_: DateReference, g: Groups) -> Reading:
    year = century(g["y"])
    if g.get("h"):
        return periods.half(year, int(g["h"]))
    if month := g.get("m") or g.get("m1"):
        return month_span(year, 1, int(month))
    first = int(g["q"])
    return quarter_span(year, first, int(g.get("q2") or first))


def _decade(_: DateReference, g: Groups) -> Reading:
    if g.get("y"):
        return periods.years(int(g["y"]), int(g["y"]) + 9)
    first = 1900 + number_of(g["d"])
    return periods.years(first, first + 9) if first >= _LATE else None


def _plan(_: DateReference, g: Groups) -> Reading:
    """Read a five-year plan; the tenth began in 2001."""
    first = 2001 + 5 * (number_of(g["n"]) - 10)
    whole = periods.years(first, first + 4)
    return {"末": last_day(whole), "初": periods.year(first)}.get(g.get("edge") or "", whole)


_YY = rf"(?:{YEAR}|\d\d)"
_FREE = r"(?<![\d.A-Za-z])"

WRITTEN = (
    Form(
        "written days",
        rf"{_FREE}(?P<y>{YEAR})[./](?P<m>\d{{1,2}})[./](?P<d>\d{{1,2}}){TO}(?:(?P<m2>\d{{1,2}})[./])?(?P<d2>\d{{1,2}})(?![\d.])",
        "2025.06.02-06.06",
        _written_days,
    ),
    Form(
        "written day",
        rf"{_FREE}(?P<y>{YEAR})(?P<sep>[-./])(?P<m>\d{{1,2}})(?P<sep2>[-./])(?P<d>\d{{1,2}})(?![\d.])",
        "2025-09-21",
        _written_day,
    ),
    Form(
        "packed day",
        r"(?<![\d.A-Za-z])(?P<y>20\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?![\d.%万亿元A-Za-z])",
        "20250921",
        _written_day,
    ),
    Form(
        "written month",
        r"(?<![\d.A-Za-z])(?P<y>20\d\d)[-./](?P<m>0[1-9]|1[0-2])(?=$|[\s|）)，,、。；;：:])",
        "2025-09",
        lambda _, g: month_span(int(g["y"]), int(g["m"]), int(g["m"])),
    ),
    Form(
        "years",
        rf"{_FREE}(?P<y>{_YY})(?:年|[EFA])?{TO}(?P<y2>{_YY})(?:年(?![期龄来后前版])|[EFA]{NO_LETTER})",
        "2025-2027年",
        _years,
    ),
    Form("unmarked years", rf"{_FREE}(?P<y>{YEAR}){TO}(?P<y2>{YEAR})(?![\d.%/万亿元个-])", "2020-2024", _years),
    Form(
        "fiscal part", rf"(?<![A-Za-z])FY ?'?(?P<y>{_YY}) ?(?:Q(?P<q>[1-4])|H(?P<h>[12])){NO_LETTER}", "FY25Q1", _fiscal
    ),
    Form(
        "fiscal year",
        rf"(?<![A-Za-z])(?:(?P<q>[1-4])Q ?|Q(?P<q2>[1-4]) ?)?FY ?'?(?P<y>{_YY})(?:财?年|[EFA]{NO_LETTER})?(?!\d)",
        "FY2024",
        _fiscal,
    ),
    Form(
        "财年",
        rf"{_FREE}(?P<y>{_YY})(?:财政?年度?|财务年度)(?:第?(?P<q>[一二三四1-4])(?:季度|财季|季)"
        rf"| ?Q(?P<q2>[1-4]){NO_LETTER}| ?H(?P<h>[12]){NO_LETTER}|(?P<part>[上下])半年)?",
        "2025财年Q3",
        _fiscal_year,
    ),
    Form(
        "nQyy",
        rf"{_FREE}(?P<q>[1-4])(?:Q?{TO}(?P<q2>[2-4]))?Q ?'?(?P<y>{_YY})(?:[EFA]|年)?{NO_LETTER}",
        "3Q24",
        _reversed,
    ),
    Form("nHyy", rf"{_FREE}(?P<h>[12])H ?'?(?P<y>{_YY})(?:[EFA]|年)?{NO_LETTER}", "1H25", _reversed),
    Form(
        "nMyy",
        rf"{_FREE}(?:1[-~](?P<m>[2-9]|1[0-2])|(?P<m1>[369]))M ?'?(?P<y>{_YY})(?:年)?{NO_LETTER}",
        "9M24",
        _reversed,
    ),
    Form(
        "Qn yyyy",
        rf"{_FREE}Q(?P<q>[1-4])(?:{TO}Q(?P<q2>[2-4]))?(?: |'| ')(?P<y>{YEAR}|(?<=')\d\d){NO_LETTER}",
        "Q3 2024",
        _reversed,
    ),
    Form("Hn yyyy", rf"{_FREE}H(?P<h>[12])(?: |'| ')(?P<y>{YEAR}|(?<=')\d\d){NO_LETTER}", "H1 2025", _reversed),
    Form("decade of a century", r"(?:20|二十|上)世纪(?P<d>[2-9]0|[二三四五六七八九]十)年代", "20世纪90年代", _decade),
    Form("decade", r"(?<!\d)(?P<y>(?:19|20)\d0)年代", "2010年代", _decade),
    Form("short decade", r"(?<![\d世纪])(?P<d>[5-9]0|[五六七八九]十)年代", "90年代", _decade),
    Form(
        "five-year plan",
        "[“「]?(?P<n>二?十[一二三四五六七八九]?)五[”」]?(?![规计纲五六七八九十分种个家大项点年月日天成])(?:期间|时期|(?P<edge>[末初]))?",
        "十四五期间",
        _plan,
    ),
)
