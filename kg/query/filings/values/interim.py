"""Which months and which fiscal year the columns of an interim report's table are for.

Heads of columns are words over several lines (Three Months Ended / June 30, / 2023 2022). They are read in order: spans
of months, months of days, years. A table whose heads do not fit the width of its rows has no columns.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from kg.filing import Filing
    from kg.query.filings.values.rows import Row

_SPAN = re.compile(
    r"(?:(?P<m3>three months|3 months|\bquarters?|(?:thir|four)teen weeks|1[34] weeks)"
    r"|(?P<m6>six months|6 months|twenty-(?:six|seven) weeks|2[67] weeks)"
    r"|(?P<m9>nine months|9 months|(?:thirty-nine|forty) weeks|(?:39|40) weeks)"
    r"|(?P<m12>twelve months|12 months|(?:fiscal )?years?|fifty-(?:two|three) weeks|5[23] weeks))[\s-]+ended",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile(
    r"\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?\s+\d{1,2}\b|(?<=年)\s*(\d{1,2})\s*月\s*\d{1,2}",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d,.$])(20\d\d)(?![\d,]|\.\d)")
_CHINESE_NOW = re.compile(r"期末|本期|本报告期")
_HEAD = 1_500
_Columns = tuple[int, tuple[int | None, ...]]


def interim_columns(
    statement: str, lines: Sequence[tuple[str, int]], rows: Sequence[Row], *, filing: Filing
) -> Iterator[_Columns]:
    """Yield the months of columns with the fiscal year of each column that has them; 0 months for days.

    Args:
        statement: what the table is: of a balance sheet only the columns of the report's last day count.
        lines: the lines of the table with their offsets.
        rows: its rows.
        filing: the report.
    """
    width = Counter(len(row.figures) for row in rows).most_common(1)[0][0]
    first = next(row.start for row in rows if len(row.figures) == width)
    head = "\n".join(line for line, at in lines if at < first)[-_HEAD:]
    if not filing.ends or not filing.year or statement == "key":
        return
    years = [int(each) for each in _YEAR.findall(head)][-width:]
    if filing.form in {"季报", "半年报"} and not years and _CHINESE_NOW.search(head) and width == 2:  # noqa: PLR2004
        years = [filing.ends.year, filing.ends.year - 1]
        yield (0, (filing.year, None)) if statement == "balance" else (3 * filing.quarter, _fiscal(years, filing))
    elif len(years) == width and statement == "balance":
        yield 0, _days(head, years, filing, filing.ends)
    elif len(years) == width:
        yield from _spans(head, years, filing)


def _days(head: str, years: Sequence[int], filing: Filing, ends: date) -> tuple[int | None, ...]:
    found = [(match[1] or match[2]).lower() for match in _MONTH.finditer(head)][-len(years) :]
    months = [int(each) if each.isdigit() else _MONTHS.index(each) + 1 for each in found]
    if len(months) != len(years):
        return (None,) * len(years)
    return tuple(
        filing.year - ends.year + year if month == ends.month else None
        for month, year in zip(months, years, strict=True)
    )


def _spans(head: str, years: Sequence[int], filing: Filing) -> Iterator[_Columns]:
    spans = list(dict.fromkeys(int(str(match.lastgroup)[1:]) for match in _SPAN.finditer(head)))
    if filing.form in {"季报", "半年报"}:
        spans = [3 * filing.quarter]
    if not spans or len(years) % len(spans):
        return
    count = len(years) // len(spans)
    groups = [years[at : at + count] for at in range(0, len(years), count)]
    if any(group != groups[0] or len(set(group)) != count for group in groups):
        return
    for number, months in enumerate(spans):
        own = range(number * count, (number + 1) * count)
        fiscal = _fiscal(years, filing)
        yield months, tuple(year if place in own else None for place, year in enumerate(fiscal))


def _fiscal(years: Sequence[int], filing: Filing) -> tuple[int, ...]:
    return tuple(filing.year - max(years) + year for year in years)
