"""Represent tables as plain rows, with a stored text, a skeleton for search, and HTML for display."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CELL_GAP = " | "
_SPLIT = re.compile(r" ?\| ?")
_NUMBER = re.compile(r"[-+＋－]?[(（]?[\d０-９][\d０-９,.:/\-~～]*[)）]?[%％‰]?[A-Z]?(?![A-Za-z])|[\d０-９]")
_LABEL = re.compile(r"^(?:图表|图|表|表格|Table|Exhibit)\s*[A-Z]?\d+(?:[-.]\d+)*\s*[:：.、]?\s*", re.IGNORECASE)
_NOTE = re.compile(r"^(?:注|备注|说明|Notes?)\s*\d*\s*[:：]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Table:
    """A table with one header row; `header` and all rows have the same number of cells, at least two."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def to_text(self) -> str:
        """Return the stored form: the title, one row per line with cells joined by " | ", then the notes."""
        lines = [self.title] if self.title else []
        lines += [_CELL_GAP.join(row) for row in (self.header, *self.rows)]
        return "\n".join([*lines, *self.notes])

    def to_skeleton(self) -> str:
        """Return the text to index for search: title, headers and notes as Markdown, without numbers.

        Numbers look alike to an index, so a table full of them would match every query.
        """
        heads = [_without_numbers(cell) for cell in self.header]
        lines = [f"**{title}**"] if (title := _without_numbers(_LABEL.sub("", self.title))) else []
        lines += [f"| {_CELL_GAP.join(heads)} |", "|" + " --- |" * len(heads)]
        lines += [f"| {head} |" for row in self.rows if (head := _without_numbers(row[0]))]
        return "\n".join([*lines, *(note for text in self.notes if (note := _without_numbers(text)))])

    def to_html(self) -> str:
        """Return HTML for display, with every cell escaped."""
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self.header)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows)
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def table_from_rows(
    rows: Iterable[Sequence[str | None]], *, title: str = "", notes: Iterable[str] = ()
) -> Table | None:
    """Build a table from raw rows: squeeze blanks, drop empty rows and columns, join split header rows.

    Returns None if fewer than two rows or two columns remain.
    """
    cells = [[_plain(cell) for cell in row] for row in rows]
    width = max((len(row) for row in cells), default=0)
    cells = [row + [""] * (width - len(row)) for row in cells if any(row)]
    used = [column for column in range(width) if any(row[column] for row in cells)]
    cells = [[row[column] for column in used] for row in cells]
    if len(cells) > 1 and len(used) > 1:
        cells = _join_header_rows(cells)
    if len(cells) < 2 or len(used) < 2:  # noqa: PLR2004 - minimum size of a grid
        return None
    plain_notes = tuple(note for text in notes if (note := _plain(text)))
    return Table(_plain(title), tuple(cells[0]), tuple(tuple(row) for row in cells[1:]), plain_notes)


def table_from_text(text: str) -> Table | None:
    """Parse a stored table; the inverse of `Table.to_text`."""
    lines = [line for line in text.split("\n") if line.strip()]
    places = [index for index, line in enumerate(lines) if "|" in line]
    if not places:
        return None
    rows = [_split_row(lines[index]) for index in places]
    width = max(len(row) for row in rows)
    rows = [(*row, *[""] * (width - len(row))) for row in rows]
    title = " ".join(lines[: places[0]])
    return Table(title, rows[0], tuple(rows[1:]), tuple(lines[places[-1] + 1 :]))


def skeleton_of(text: str) -> str:
    """Return the skeleton of a stored table, or the text without numbers if it is not a table."""
    table = table_from_text(text)
    return table.to_skeleton() if table else _without_numbers(text)


def is_note(text: str) -> bool:
    """Return whether the line is a note below a table (注：…)."""
    return bool(_NOTE.match(text.strip()))


def _split_row(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in _SPLIT.split(line))


def _plain(cell: str | None) -> str:
    text = re.sub(r"(?<=[\u3000-\u9fff\uff00-\uffef])\s*\n\s*(?=[\u3000-\u9fff\uff00-\uffef])", "", cell or "")
    return " ".join(text.split()).replace("|", "｜")


def _without_numbers(text: str) -> str:
    return re.sub(r"[(（]\s*[)）]", "", " ".join(_NUMBER.sub("", text).split())).strip()


def _join_header_rows(cells: list[list[str]]) -> list[list[str]]:
    """Join a two-row header (EPS over 2023, 2024) into one row, so that each column has its full name."""
    top, second = cells[0], cells[1]
    if len(cells) < 3 or second[0] or not any(second):  # noqa: PLR2004 - two header rows and a data row
        return cells
    if not any(re.search(r"\d", cell) for cell in second):  # a wrapped header cell
        return [[upper + lower for upper, lower in zip(top, second, strict=True)], *cells[2:]]
    if all(top[1:]):
        return cells
    # A spanning header stays with the column below it: guessing its extent would name columns wrongly.
    heads = [" ".join(part for part in (upper, lower) if part) for upper, lower in zip(top, second, strict=True)]
    return [heads, *cells[2:]]
