"""Read how a filing breaks a line down: revenue by segment, by region, by product.

No heading is trusted. A row states the whole where its figure is the consolidated figure of the statements, which also
says what year its column is for; the rows before it belong to the breakdown where they add up to it. Rows that add up
to a subtotal are its parts; they count where the subtotal is that of the segments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kg.query.filings.values.rows import Row, lines_of, split_row
from kg.query.filings.values.totals import slack

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kg.query.filings.page_table import PageTable

_UNITS = (1.0, 1e3, 1e4, 1e6, 1e8, 1e9)
_MOST_PARTS, _FEWEST_DIGITS, _MOST_NOTES = 30, 3, 20
_FOOTNOTE = re.compile(r"\(\s*(?:\d{1,2}|[a-z])\s*\)|[®™*]|(?<=[a-z])\d\b")
_OF_SEGMENTS = re.compile(r"\bsegments?\b|分部", re.IGNORECASE)
_BY_PRODUCT = re.compile(r"product|revenues? by:|categor|产品", re.IGNORECASE)
_PLAIN = frozenset(
    "total net sales revenue revenues operating segment segments business group and of the our from external income "  # noqa: SIM905 -- words read best as words
    "profit earnings products 合计 小计 营业收入 其中".split()
)
_YEARS = range(1990, 2040)
_CONTEXT = 7  # lines above the first part that say what kind of parts they are


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Rows that add up to a line of a statement.

    Attributes:
        rows: the parts.
        total: the row of the whole.
        page: its page by index.
        unit: what its figures are to be multiplied by.
        about: the lines above it.
    """

    rows: tuple[Row, ...]
    total: Row
    page: int
    unit: float
    about: str

    def column(self, whole: float) -> int | None:
        """Return the column whose whole is an amount."""
        return next((n for n, each in enumerate(self.total.figures) if _is(each, whole, self.unit)), None)


def part_name(label: str) -> str:
    """Return the name of a part as its row prints it, without a head before it, footnotes and words for a sum.

    >>> part_name("Net sales: North America Retail"), part_name("Total Americas"), part_name("United States (a)")
    ('North America Retail', 'Americas', 'United States')
    """
    plain = _FOOTNOTE.sub(" ", label.rpartition(":")[2])
    return " ".join(re.sub(r"(?i)^\W*(?:total|sales to)\b|合计$|^其中", " ", plain).split()).strip(" .,-–—")


def label_words(label: str) -> tuple[str, ...]:
    """Return the words of a part's name without footnotes and words for the whole.

    >>> label_words("Total Optical Communications (1)"), label_words("Europe & Australia")
    (('optical', 'communications'), ('europe', 'australia'))
    """
    plain = _FOOTNOTE.sub(" ", label).casefold()
    words = re.findall(r"[a-z0-9]+(?:['’][a-z]+)?|[\u4e00-\u9fff]+", plain)
    return tuple(kept for kept in (word for word in words if word not in _PLAIN)) or tuple(words)


class FilingBreakdowns:
    """The breakdowns of one filing."""

    def __init__(self, table: PageTable) -> None:
        self._pages = [list(_rows(table, page)) for page in range(len(table))]

    def of(self, whole: float) -> list[Breakdown]:
        """Return the breakdowns of an amount, with the parts that add up to it in the column that states it."""
        return [found for page, rows in enumerate(self._pages) for found in _found(rows, page, whole)]


@dataclass(frozen=True, slots=True)
class _Stacked:
    """A row, or a subtotal with its parts."""

    row: Row
    parts: tuple[_Stacked, ...] = ()


def _found(rows: Sequence[tuple[Row, str]], page: int, whole: float) -> Iterator[Breakdown]:
    for place, (row, _) in enumerate(rows):
        for column, figure in enumerate(row.figures):
            unit = next((unit for unit in _UNITS if _is(figure, whole, unit)), None)
            if unit is None:
                continue
            fitting = [_without_note(each, len(row.figures)) for each, _ in rows]
            about = "\n".join((rows[0][1], rows[place][1]))
            parts = _parts(fitting[:place], row, column, about) or _parts_below(fitting[place + 1 :], row, column)
            if parts:
                first = next(n for n, each in enumerate(fitting) if each == parts[0])
                yield Breakdown(parts, row, page, unit, rows[first][1])
            break


def _without_note(row: Row, width: int) -> Row:
    """Return a row without the mark of a footnote, which looks like a small figure in brackets: (1)."""
    first = row.figures[0]
    marked = len(row.figures) == width + 1 and first is not None and -_MOST_NOTES <= first < 0
    return replace(row, figures=row.figures[1:]) if marked else row


def _is(figure: float | None, whole: float, unit: float) -> bool:
    if not figure or len(f"{abs(figure):.10g}".replace(".", "")) < _FEWEST_DIGITS:
        return False
    return abs(figure * unit - whole) <= max(1e-6 * abs(whole), unit * 0.0005)


def _parts(before: Sequence[Row], total: Row, column: int, about: str) -> tuple[Row, ...]:
    """Return the rows before a total that add up to it in a column, subtotals of segments opened."""
    stack: list[_Stacked] = []
    for row in before:
        figures = row.figures
        if column >= len(figures) or figures[column] is None:
            continue
        count = _adding(stack, figures[column] or 0.0, column)
        parts = tuple(stack[len(stack) - count :]) if count else ()
        del stack[len(stack) - count :]
        stack.append(_Stacked(row, parts))
    whole = total.figures[column] or 0.0
    count = _adding(stack, whole, column)
    held = stack[len(stack) - count :] if count else _reconciled(stack, whole, column)
    opened: list[_Stacked] = []
    for each in held:
        segments = _OF_SEGMENTS.search(each.row.label) or (_OF_SEGMENTS.search(about) and not _BY_PRODUCT.search(about))
        opened += each.parts if each.parts and segments and not _named_part(each, held) else (each,)
    if len({label_words(each.row.label) for each in opened}) < len(opened):  # the same parts of two subtotals
        opened = held
    width = len(total.figures)
    return tuple(each.row for each in opened if len(each.row.figures) == width)


def _named_part(subtotal: _Stacked, held: Sequence[_Stacked]) -> bool:
    """Return whether a subtotal is itself one of several parts: Total Safety and Industrial Business Segment."""
    return sum(bool(each.parts) for each in held) > 2 and subtotal in held  # noqa: PLR2004


def _parts_below(after: Sequence[Row], total: Row, column: int) -> tuple[Row, ...]:
    """Return the rows after a total that comes first, up to the one with which they add up to it."""
    found: list[Row] = []
    summed, whole = 0.0, total.figures[column] or 0.0
    for row in after[:_MOST_PARTS]:
        if len(row.figures) != len(total.figures) or row.figures[column] is None:
            continue
        found.append(row)
        summed += row.figures[column] or 0.0
        if len(found) > 1 and abs(summed - whole) <= slack((whole, row.figures[column]), len(found)):
            return tuple(found)
    return ()


def _adding(stack: Sequence[_Stacked], figure: float, column: int) -> int:
    """Return how many of the last rows add up to a figure, 0 where none do."""
    summed = 0.0
    for count, each in enumerate(reversed(stack[-_MOST_PARTS:]), start=1):
        summed += each.row.figures[column] or 0.0
        if count > 1 and figure and abs(summed - figure) <= slack((figure, each.row.figures[column]), count):
            return count
    return 0


def _reconciled(stack: Sequence[_Stacked], whole: float, column: int) -> list[_Stacked]:
    """Return the subtotal of segments from which a whole follows when what comes after it is taken off."""
    left = 0.0
    for count, each in enumerate(reversed(stack[-_MOST_PARTS:]), start=1):
        figure = each.row.figures[column] or 0.0
        fits = abs(figure - left - whole) <= slack((whole, figure), count)
        if fits and each.parts and _OF_SEGMENTS.search(each.row.label):
            return [each]
        left += figure
    return []


def _rows(table: PageTable, page: int) -> Iterator[tuple[Row, str]]:
    """Yield the rows of a page with the lines above them; percentages are figures, a row of years is a head."""
    start, end = (int(each) for each in table.spans[page])
    label, above = "", list(table.sections[page][-1:])
    for line, at in lines_of(table.text, start, end):
        name, figures = split_row(line, percent=True)
        if figures and not all(each is not None and each == int(each) and int(each) in _YEARS for each in figures):
            if not re.search(r"[A-Za-z\u4e00-\u9fff]{2}", _FOOTNOTE.sub("", name)):
                name = label
            yield Row(name, figures, at, at + len(line)), "\n".join(above[-_CONTEXT:])
            label = ""
        else:
            label = name if not figures else ""
            above.append(line)
