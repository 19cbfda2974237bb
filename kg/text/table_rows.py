"""Rows of a stored table: one line each, cells joined by " | ", the head row first, below a title."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FIGURE = re.compile(r"[-+＋－(（]?\d[\d,.]*\s*[%％倍)）]?")
_PERIOD = re.compile(r"(?:19|20)\d\d|\d{2}[QH]\d|Q\d|\d{2}[AE]", re.IGNORECASE)
_PAIRS = 12  # cells of a row that are shown with their heads


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """A row of a stored table: `text[start:end]` is its line, `placed` its cells as (start, end, text)."""

    start: int
    end: int
    placed: tuple[tuple[int, int, str], ...]

    @property
    def cells(self) -> tuple[str, ...]:
        """Texts of the cells."""
        return tuple(text for _, _, text in self.placed)


def placed_rows(text: str, start: int, end: int) -> tuple[str, list[PlacedRow]]:
    r"""Return a stored table's title and its rows with the offsets of every cell, header row first.

    >>> table = "表1：产能\n公司 | 2023\n天齐锂业 | 8.1"
    >>> title, rows = placed_rows(table, 0, len(table))
    >>> title, [row.cells for row in rows]
    ('表1：产能', [('公司', '2023'), ('天齐锂业', '8.1')])
    """
    title: list[str] = []
    rows: list[PlacedRow] = []
    at = start
    for line in text[start:end].split("\n"):
        if "|" in line:
            rows.append(PlacedRow(at, at + len(line), tuple(_placed(line, at))))
        elif not rows and line.strip():
            title.append(line.strip())
        at += len(line) + 1
    return " ".join(title), rows


def headed_rows(text: str) -> tuple[str, list[tuple[int, int, str]]]:
    r"""Return a stored table's title, and each row below its head as (start, end, cells with their heads).

    >>> headed_rows("产能\n公司 | 2023 | 2024\n天齐锂业 | 8.1 | ")
    ('产能', [(20, 33, '公司：天齐锂业；2023：8.1')])
    """
    title, rows = placed_rows(text, 0, len(text))
    if len(rows) < 2 or not _is_head(rows[0].cells):  # noqa: PLR2004 -- a head and a row
        return title, [(row.start, row.end, text[row.start : row.end]) for row in rows]
    return title, [(row.start, row.end, _headed(rows[0].cells, row.cells)) for row in rows[1:]]


def _headed(heads: Sequence[str], cells: Sequence[str]) -> str:
    pairs = [
        f"{heads[place]}：{cell}" if place < len(heads) and heads[place] else cell
        for place, cell in enumerate(cells)
        if cell
    ]
    return "；".join(pairs[:_PAIRS])


def _is_head(cells: Sequence[str]) -> bool:
    """Whether a row names columns: hardly any of its cells is a figure that is no period."""
    figures = sum(bool(_FIGURE.fullmatch(cell)) and not _PERIOD.match(cell) for cell in cells)
    return 2 * figures < len(cells)


def _placed(line: str, offset: int) -> Iterator[tuple[int, int, str]]:
    at = 0
    for cell in line.split("|"):
        plain = cell.strip()
        start = offset + at + (len(cell) - len(cell.lstrip()) if plain else 0)
        yield start, start + len(plain), plain
        at += len(cell) + 1
