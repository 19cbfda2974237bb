"""Refuse figures of a table that contradict one another: sums that break, growth that its two values deny."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from extraction.claims.tables.cells import broken_sums, contradicts
from extraction.claims.tables.labels import RowClaim
from kg.model import Problem
from kg.period import Precision

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kg.text.table_rows import PlacedRow

_REPORTED = frozenset({Precision.YEAR, Precision.HALF, Precision.QUARTER})
_SUMMED_KINDS = frozenset({"%", "倍", "pct", "bp", "‰"})  # kinds of units that are never added up
Key = tuple[str, str, tuple[tuple[str, str], ...], date | None, date | None]


def consistent(found: Sequence[RowClaim | Problem], rows: Sequence[PlacedRow]) -> Iterator[RowClaim | Problem]:
    """Yield what was read, with a problem for each figure that another one of the table contradicts."""
    levels = _levels(found)
    broken = {
        row.placed[column][0] for column in broken_sums(rows[1:], range(1, len(rows[0].cells))) for row in rows[1:]
    }
    for each in found:
        cause = _cause(each, levels, broken) if isinstance(each, RowClaim) else ""
        if cause and isinstance(each, RowClaim):
            claim = each.claim
            number = f"{claim.value.number:g}{claim.value.unit}" if claim.value else ""
            yield Problem("figure", f"{claim.object.name} {number}: {cause}", each.cell, each.cell + 1)
        else:
            yield each


def _cause(each: RowClaim, levels: dict[Key, float], broken: set[int]) -> str:
    """Return why a figure is refused, "" if nothing contradicts it."""
    claim = each.claim
    value, valid = claim.value, claim.valid
    if value is None:
        return ""
    if not value.change:
        summed = each.cell in broken and value.unit not in _SUMMED_KINDS and "/" not in value.unit
        return "the parts of its column do not add up to the total" if summed else ""
    if value.change != "yoy" or value.unit != "%" or valid is None or valid.precision not in _REPORTED:
        return ""
    this, before = _key(each, valid.start, valid.end), _key(each, _earlier(valid.start), _earlier(valid.end))
    if not {this, before} <= levels.keys():
        return ""
    return "its two values give another growth" if contradicts(levels[before], levels[this], value.number) else ""


def _levels(found: Sequence[RowClaim | Problem]) -> dict[Key, float]:
    """Return the levels of a table by subject, indicator, qualifiers and first day; ones stated twice count first."""
    levels: dict[Key, float] = {}
    for each in found:
        if isinstance(each, RowClaim) and each.claim.value and not each.claim.value.change and each.claim.valid:
            valid = each.claim.valid
            levels.setdefault(_key(each, valid.start, valid.end), each.claim.value.number)
    return levels


def _key(each: RowClaim, start: date | None, end: date | None) -> Key:
    return each.claim.subject.entity, each.claim.object.entity, each.claim.qualifiers, start, end


def _earlier(day: date | None) -> date | None:
    """Return the day a year earlier; bounds of years, halves and quarters are firsts of a month."""
    return day.replace(year=day.year - 1) if day else None
