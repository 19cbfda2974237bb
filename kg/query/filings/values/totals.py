"""What a statement says without a label or a total: found by adding up."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kg.query.filings.values.rows import Row

_FEWEST = 2  # rows that have a total
_MOST_SLACK = 3.0  # units of the last digit; of many rows, errors of rounding cancel out


def with_totals(rows: Sequence[Row], statement: str) -> list[Row]:
    """Return rows with a label for those that have none and are the sum of the rows below a heading.

    In a balance sheet the first row without a label, or with Total alone, whose figures come again is the total of
    assets, the last of them that of liabilities and equity.
    """
    named = [_total(rows, place) if not row.label else row for place, row in enumerate(rows)]
    if statement != "balance" or any(row.label.casefold().startswith("total assets") for row in rows):
        return named
    for place, row in enumerate(named):
        again = [later for later in range(place + 1, len(named)) if named[later].figures == row.figures]
        if row.label.casefold() in {"", "total"} and len(row.figures) > 1 and again:
            named[place] = replace(row, label="Total assets")
            named[again[-1]] = replace(named[again[-1]], label="Total liabilities and equity")
            break
    return named


def _total(rows: Sequence[Row], place: int) -> Row:
    """Return an unnamed row, named a total of its heading where the rows below that add up to it."""
    row = rows[place]
    first = place
    while first and rows[first - 1].head == row.head and len(rows[first - 1].figures) == len(row.figures):
        first -= 1
    parts = rows[first:place]
    if not row.head or len(parts) < _FEWEST or not adds_up(parts, row):
        return row
    return replace(row, label=f"Total {row.head.rstrip(':').lower()}")


def adds_up(parts: Sequence[Row], total: Row) -> bool:
    """Return whether rows add up to another one in every column, but for rounding.

    >>> from kg.query.filings.values.rows import Row
    >>> rates = [Row("", (1.2,), 0, 1), Row("", (0.4,), 1, 2)]
    >>> adds_up(rates, Row("", (1.6,), 2, 3)), adds_up(rates, Row("", (2.1,), 2, 3))
    (True, False)
    """
    columns = zip(*(each.figures for each in (*parts, total)), strict=True)
    return all(
        abs(sum(each or 0.0 for each in column[:-1]) - (column[-1] or 0.0)) <= slack(column, len(parts))
        for column in columns
    )


def slack(figures: Iterable[float | None], count: int) -> float:
    """Return by how much the sum of `count` rounded figures may differ from a total: in units of their last digit."""
    digits = max((len(f"{each:.10g}".partition(".")[2]) for each in figures if each), default=0)
    return min(0.51 * count, _MOST_SLACK) * 10.0**-digits


def parts_below(rows: Sequence[Row], is_head: Callable[[str], bool], is_part: Callable[[str], bool]) -> list[Row]:
    """Return the rows right below a heading that are parts of it: the line has no total of its own.

    >>> from kg.query.filings.values.rows import Row
    >>> rows = [Row("Raw materials", (9.0,), 0, 1, "Inventories"), Row("Finished goods", (1.0,), 1, 2, "Inventories")]
    >>> rows.append(Row("Prepaid expenses", (3.0,), 2, 3, "Inventories"))
    >>> [row.label for row in parts_below(rows, "Inventories".__eq__, lambda label: label != "Prepaid expenses")]
    ['Raw materials', 'Finished goods']
    """
    first = next((place for place, row in enumerate(rows) if is_head(row.head)), len(rows))
    found = list(takewhile(lambda row: row.head == rows[first].head and is_part(row.label), rows[first:]))
    return found if len(found) >= _FEWEST else []
