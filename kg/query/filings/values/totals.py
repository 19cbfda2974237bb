"""What a statement says without a label or a total: found by adding up."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kg.query.filings.values.rows import Row

_FEWEST = 2  # rows that have a total


def with_totals(rows: Sequence[Row], statement: str) -> list[Row]:
    """Return rows with a label for those that have none and are the sum of the rows below a heading.

    In a balance sheet the row without a label that comes twice is the total of assets, then that of liabilities and
    equity.
    """
    named = [_total(rows, place) if not row.label else row for place, row in enumerate(rows)]
    if statement != "balance" or any(row.label.casefold().startswith("total assets") for row in rows):
        return named
    twice = [(one, other) for one, other in pairwise(_unnamed(named)) if named[one].figures == named[other].figures]
    for (one, other), label in zip(
        twice[:1] + twice[-1:], ("Total assets", "Total liabilities and equity"), strict=False
    ):
        place = one if label == "Total assets" else other
        named[place] = replace(named[place], label=label)
    return named


def _unnamed(rows: Sequence[Row]) -> list[int]:
    return [place for place, row in enumerate(rows) if not row.label]


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
    """Return whether rows add up to another one in every column, but for rounding."""
    columns = zip(*(each.figures for each in parts), strict=True)
    return all(
        abs(sum(figure or 0.0 for figure in column) - (whole or 0.0)) <= len(parts) / 2
        for column, whole in zip(columns, total.figures, strict=True)
    )


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
