"""Recognise a company filing by its first pages: issuer, form, fiscal period, listing codes and unit.

File names and PDF metadata are not looked at: they hold accession numbers and typesetters' names. What the cover does
not state stays unknown (`Filing.missing`).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from extraction.documents.publication_day import find_days
from extraction.text.lexicon import phrases
from kg.filing import ANNUAL, CURRENT, QUARTERLY, RELEASE, Filing
from kg.securities.codes import parse_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_PHRASES = phrases("filings/cover")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_COVER_PAGES, _COVER = 4, 20_000  # pages and characters
_FORM_REACH = 6_000
_HEADLINE, _HEADLINE_LENGTH = 12, 1_500  # lines, characters
_INSIDE, _INSIDE_PAGES = 60_000, 12
_SPILL = 7  # a 52- or 53-week year that ends in the first days of a month belongs to the month before
_EVENT_DELAY, _REPORT_DELAY = timedelta(days=10), timedelta(days=130)
_SCALES = {"thousands": 10**3, "millions": 10**6, "billions": 10**9, "元": 1, "千元": 10**3, "万元": 10**4}
_SCALES |= {"百万元": 10**6, "亿元": 10**8}
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, **{each: n for n, each in enumerate("一二三四", 1)}}
# Months or weeks of a period → quarters.
_SPANS = {"three": 1, "thirteen": 1, "fourteen": 1, "3": 1, "13": 1, "14": 1, "six": 2, "6": 2, "26": 2, "27": 2}
_SPANS |= {"twentysix": 2, "twentyseven": 2, "nine": 3, "9": 3, "39": 3, "40": 3, "thirtynine": 3, "forty": 3}
_SPANS |= {"twelve": 4, "12": 4, "52": 4, "53": 4, "fiftytwo": 4, "fiftythree": 4}


def read_cover(pages: Sequence[str]) -> Filing | None:
    """Return the filing that pages belong to, None if they are those of another document.

    Args:
        pages: the text of all pages, lines in reading order.
    """
    first = next((number for number, page in enumerate(pages[:_INSIDE_PAGES]) if _is_cover(page)), None)
    head = _plain("\n".join(pages[first or 0 : (first or 0) + _COVER_PAGES])[:_COVER])
    lines = [line for line in (re.sub(r"[_*■]{2,}", " ", line).strip() for line in head.split("\n")) if line]
    flat = " ".join(head.split())
    inside = _plain(" ".join(" ".join(pages[:_INSIDE_PAGES]).split()))[:_INSIDE]
    if first is not None:  # an annual report for shareholders has its letter before the cover
        return _sec_form(lines, flat, inside)
    return _chinese_form(lines) or _release(lines, inside)


def _is_cover(page: str) -> bool:
    """Return whether a page is the cover of a form: the commission on a line of its own, or the registrant's label."""
    top = _plain(page[:_FORM_REACH])
    form = _PHRASES["form"].search(top) or _PHRASES["proxy"].search(top)
    return bool(form and (_PHRASES["commission"].search(top) or _PHRASES["registrant"].search(top)))


def published_on(filing: Filing, pages: Sequence[str]) -> date | None:
    """Return the day a filing was signed or released: the latest one that its last pages or its headline state.

    The end of the period is never taken: nobody knew the figures that day.
    """
    if filing.ends is None:
        return None
    event = filing.form in CURRENT
    first = filing.ends if event else filing.ends + timedelta(days=1)
    last = filing.ends + (_EVENT_DELAY if event else _REPORT_DELAY)

    def stated(texts: Iterable[str]) -> Iterator[date]:
        plain = (" ".join(_plain(text).split()) for text in texts)
        found = (day for text in plain for day in (*_days(text), *(day for _, day in find_days(text)), *_months(text)))
        return (day for day in found if first <= day <= last)

    if filing.form == RELEASE and (day := next(stated([pages[0][:3000]]), None)):
        return day
    signed = [text for text in pages[1:] if _PHRASES["signature"].search(text)]
    # The fallbacks may be late, which leaks nothing.
    return next((max(days) for texts in (signed, pages[:_COVER_PAGES], pages) if (days := [*stated(texts)])), None)


def _sec_form(lines: Sequence[str], flat: str, inside: str) -> Filing | None:
    form = _PHRASES["form"].search(flat, 0, _FORM_REACH)
    company, codes = _registrant(lines) or _most_named(inside), _symbols(flat)
    if form is None:
        return Filing(company, "proxy statement", codes=codes) if _PHRASES["proxy"].search(flat) else None
    name = re.sub(r"[\s–‑—-]", "", form[1].upper())
    name = f"{name[:-1]}-{name[-1]}"
    ended = _PHRASES["year_ended" if name in ANNUAL else "quarter_ended" if name in QUARTERLY else "event_day"]
    ends = next(_after(ended, flat), None)
    quarter = _longest_span(inside, ends) if name == "10-Q" and ends else 0
    found = Filing(company, name, quarter=quarter, ends=ends, codes=codes, number=_file_number(flat))
    if name in CURRENT:  # one that announces results is found by their period as well
        item, spans = _PHRASES["results_item"].search(inside), list(_spans(inside))
        return replace(_reported(found, spans, inside[item.end() :], inside), ends=ends) if item and spans else found
    return found if ends is None else _dated(found, inside)


def _file_number(flat: str) -> str:
    """Return the commission's file number of the first registrant, without leading zeros: 001-36042 is 1-36042."""
    match = _PHRASES["numbered"].search(flat, 0, _FORM_REACH)
    return f"{int(match[1])}-{int(match[2])}" if match else ""


def _reported(filing: Filing, spans: Sequence[tuple[int, date]], headline: str, text: str) -> Filing:
    """Add the latest of the periods that a release reports, its quarter by the headline if that names one."""
    quarters, ends = max(spans, key=lambda span: (span[1], span[0]))
    named = _PHRASES["named_quarter"].search(headline[:_HEADLINE_LENGTH])
    quarter = (_QUARTERS.get((named[1] or "").casefold()) or int(named[2] or named[3])) if named else quarters
    return _dated(replace(filing, quarter=quarter, ends=ends), text)


def _dated(filing: Filing, text: str) -> Filing:
    """Add the fiscal year and quarter to a report whose period ends on a known day."""
    assert filing.ends is not None
    year, month = filing.ends.year, filing.ends.month
    if filing.ends.day <= _SPILL:
        year, month = (year, month - 1) if month > 1 else (year - 1, 12)
    quarter = filing.quarter
    if filing.form in ANNUAL or quarter == 4:  # noqa: PLR2004 - the last quarter ends with the year
        months_left = 0
    elif quarter:
        months_left = 3 * (4 - quarter)
    else:
        return replace(filing, year=year)
    last = month + months_left
    year, month = (year + (last - 1) // 12, (last - 1) % 12 + 1)
    return replace(filing, year=year, own_year=_own_year(text, year, month))


def _own_year(text: str, year: int, month: int) -> int:
    """Return what the issuer calls a year that ends early in the next one, 0 if that is its own number."""
    if month > 2:  # noqa: PLR2004 - only a year that ends in January or February is named after the one before
        return 0
    named = Counter(int(each) for each in re.findall(r"(?i)fiscal(?:\s+year)?\s+((?:19|20)\d\d)", text))
    return year - 1 if named[year - 1] > 2 * named[year] else 0


def _registrant(lines: Sequence[str]) -> str:
    """Return the issuer's name: above 「Exact name of registrant」, else below the commission file number."""
    no_name = _PHRASES["no_name"]
    for index, line in enumerate(lines):
        if label := _PHRASES["registrant"].search(line):
            before = line[: label.start()].strip(" (")
            above = lines[max(0, index - 4) : index][::-1]
            named = (each for each in (before, *above) if _letters(each) > 1 and not no_name.search(each))
            if name := next(named, ""):
                return _tidy(name)
    for index, line in enumerate(lines):
        if _PHRASES["file_number"].search(line):
            below = (each for each in lines[index + 1 : index + 4] if _letters(each) > 1)
            if name := next((each for each in below if not no_name.search(each) and not re.search(r"\d{3}", each)), ""):
                return _tidy(name)
    return ""


def _release(lines: Sequence[str], inside: str) -> Filing | None:
    """Read an earnings release, or the transcript of a call: a headline about results, and periods that ended."""
    headline = " ".join(lines[:_HEADLINE])
    if _PHRASES["transcript"].search(headline) and any(map(_PHRASES["speaker"].match, lines)):
        return Filing(_speaking(lines, inside), "transcript", codes=_symbols(inside))
    spans = list(_spans(inside))
    if not spans or not _PHRASES["results"].search(headline) or not _PHRASES["statements"].search(inside):
        return None
    company = _speaking(lines, inside)
    codes = _symbols(inside)
    announced = any(_PHRASES["announces"].match(line) for line in lines[:_HEADLINE])
    if not company or not (codes or announced):
        return None
    return _reported(Filing(company, RELEASE, codes=codes), spans, headline, inside)


def _spans(flat: str) -> Iterator[tuple[int, date]]:
    """Yield the periods of statements as quarters and last day: twenty-six weeks ended July 29, 2023 → 2 and the day.

    Of several columns (June 30, 2022 … 2023) the later year counts.
    """
    for match in _PHRASES["spell"].finditer(flat):
        quarters = _quarters_of(match)
        ends = next(_days(flat[match.end() : match.end() + 90]), None)
        if ends and quarters is not None:
            years = {int(each) for each in re.findall(r"\b(20\d\d)\b", flat[match.end() : match.end() + 75])}
            yield quarters, ends.replace(year=ends.year + 1) if ends.year + 1 in years and ends.day < 29 else ends  # noqa: PLR2004 - 29 February


def _quarters_of(span: re.Match[str]) -> int | None:
    """Return how many quarters a span of months or weeks has; 0 for 「quarter ended」, None for another length."""
    return _SPANS.get(re.sub(r"[-\s]", "", span[1].casefold())) if span[1] else 0


def _longest_span(flat: str, ends: date) -> int:
    """Return which quarter of its year ends on a day: the longest span of months that ends then, whatever the year."""
    found = 0
    for match in _PHRASES["spell"].finditer(flat):
        named = _PHRASES["month_day"].search(flat, match.end(), match.end() + 40)
        quarters = _quarters_of(match) or 0
        if named and quarters < 4 and (_month(named["m"]), int(named["d"])) == (ends.month, ends.day):  # noqa: PLR2004 - a 10-Q has at most three
            found = max(found, quarters)
    return found


def _speaking(lines: Sequence[str], inside: str) -> str:
    """Return who reports: the name before its ticker, that of the headline, else the one named most often."""
    if (listed := _PHRASES["listed_at"].search(inside)) and (
        named := _PHRASES["before_symbol"].search(inside[max(0, listed.start() - 70) : listed.start()].strip() + " ")
    ):
        return _tidy(_PHRASES["dateline_end"].sub("", named[1]))
    for line in lines[:_HEADLINE]:
        if named := _PHRASES["announces"].match(line):
            return _tidy(named[1])
    return _most_named(inside)


def _most_named(inside: str) -> str:
    """Return the legal name that a text repeats most; covers print some names as pictures."""
    names = Counter(_tidy(name) for name in _PHRASES["legal_name"].findall(inside))
    names.pop("The Company", None)
    return min(names, key=lambda name: (-names[name], name)) if names else ""


def _chinese_form(lines: Sequence[str]) -> Filing | None:
    """Read the cover of a report of the mainland's exchanges, or a notice."""
    opening = "\n".join(lines[:80])
    codes = tuple(dict.fromkeys(str(c) for c in map(parse_code, _PHRASES["chinese_code"].findall(opening)) if c))
    company = next((line for line in lines[:40] if _PHRASES["chinese_name"].match(line.replace(" ", ""))), "")
    company = company.replace(" ", "")
    for line in lines[:40]:
        tight = re.sub(r"\s+", "", line)
        if named := _PHRASES["chinese_form"].match(tight):
            form = "半年报" if named["half"] else "季报" if named["q"] else "年报"
            quarter = 2 if named["half"] else (_QUARTERS.get(named["q"]) or int(named["q"])) if named["q"] else 0
            year, month = int(named["y"]), 3 * (quarter or 4)
            ends = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
            return Filing(named["name"] or company, form, year, quarter, ends=ends, codes=codes, currency="CNY")
        if _PHRASES["prospectus"].search(tight) and company and len(tight) < 40:  # noqa: PLR2004 - a title, no sentence
            return Filing(company, "招股书", codes=codes, currency="CNY")
    notice = _PHRASES["notice"].search("\n".join(lines[:6]))
    titled = any(_PHRASES["notice_title"].match(re.sub(r"\s+", "", line)) for line in lines[:20])
    return Filing(company, "公告", codes=codes) if notice and codes and titled else None


def with_unit(filing: Filing, pages: Sequence[str]) -> Filing:
    """Add the currency and scale of the statements: the unit that most pages state."""
    scales = Counter[str]()
    for page in pages:
        if found := re.search(_PHRASES["chinese_unit"], page) or _PHRASES["scale"].search(page[:1500]):
            scales[next(part for part in found.groups() if part).casefold()] += 1
    if not scales:
        return filing
    unit = min(scales, key=lambda name: (-scales[name], name))
    return replace(filing, scale=_SCALES[unit], currency="CNY" if unit.endswith("元") else "USD")


def _symbols(flat: str) -> tuple[str, ...]:
    """Return the issuer's tickers as codes; notes are listed under longer symbols with a stroke."""
    found = [match[1] for match in _PHRASES["symbol"].finditer(flat)]
    found += [match[1] for match in _PHRASES["listed_at"].finditer(flat[:_COVER])][:1]
    tickers = (each.replace(".", "-") for each in found if not _PHRASES["no_symbol"].match(each))
    return tuple(dict.fromkeys(f"{ticker}.US" for ticker in tickers))[:3]


def _after(label: re.Pattern[str], flat: str) -> Iterator[date]:
    for match in label.finditer(flat):
        yield from list(_days(flat[match.end() - 1 : match.end() + 90]))[:1]


def _days(flat: str) -> Iterator[date]:
    places = [match for name in ("day", "day_first") for match in _PHRASES[name].finditer(flat)]
    for match in sorted(places, key=lambda each: each.start()):
        try:
            yield date(int(match["y"]), _month(match["m"]), int(match["d"]))
        except ValueError:
            continue


def _month(name: str) -> int:
    return _MONTHS.index(name[:3].casefold()) + 1


def _months(flat: str) -> Iterator[date]:
    """Yield the last day of months that are named without a day, as on Chinese covers: 2024年4月."""
    for match in _PHRASES["chinese_month"].finditer(flat):
        year, month = int(match["y"]), int(match["m"])
        if 1 <= month <= 12:  # noqa: PLR2004 - months
            yield date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)


def _plain(text: str) -> str:
    return text.replace("\xa0", " ").replace("\r", "")


def _letters(text: str) -> int:
    return sum(char.isalnum() for char in text)


def _tidy(name: str) -> str:
    return " ".join(re.sub(r"[_*®™]+", " ", name).split()).strip(" ,.-–—()") + (
        "." if re.search(r"(?i)\b(?:inc|corp|co)\.\W*$", name) else ""
    )
