"""One model of a table for all formats: cells with spans, which become plain rows with one header row.

HTML, Word, Excel, Markdown and PDF fill a grid of `Cell`s; `table_from_grid` resolves its spans and joins its header
rows, so that each column is named in full (营业收入（亿元） 2024A). A table has a stored text, a skeleton for search,
and HTML for display.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_CELL_GAP = " | "
_SPLIT = re.compile(r" ?\| ?")
_NUMBER = re.compile(r"[-+＋－]?[(（]?[\d０-９][\d０-９,.:/\-~～]*[)）]?[%％‰]?[A-Z]?(?![A-Za-z])|[\d０-９]")
_LABEL = re.compile(r"^(?:图表|图|表|表格|Table|Exhibit)\s*[A-Z]?\d+(?:[-.]\d+)*\s*[:：.、]?\s*", re.IGNORECASE)
_YEAR = re.compile(r"[（(]?(?:19|20)\d\d(?!\d)|\d{2}[AEFQH]|[1-4][QH]\d\d")
_MOST_HEADER_ROWS = 4
_ITEM = re.compile(r"[^\d（()）\[\]%]{2,}")  # a name of a list of names, not a label, number or unit
_MARK = re.compile(r"[\d,，、*]{1,6}")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_NOTE = re.compile(r"^(?:注|备注|说明|Notes?)\s*\d*\s*[:：]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A cell of a grid; the same object at several places spans them. `head` marks a header cell (`<th>`)."""

    text: str
    head: bool = False


Grid = Sequence[Sequence["Cell | None"]]


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
    """Build a table from rows without spans; see `table_from_grid`."""
    return table_from_grid([[Cell(text or "") for text in row] for row in rows], title=title, notes=notes)


def spread(grid: list[list[Cell | None]], cell: Cell, box: tuple[int, int, int, int]) -> None:
    """Put a cell at all places that it spans; `box` is its top, left, bottom and right, the last two exclusive."""
    top, left, bottom, right = box
    for row in grid[top:bottom]:
        row.extend([None] * (right - len(row)))
        row[left:right] = [cell] * (right - left)


def table_from_grid(grid: Grid, *, title: str = "", notes: Iterable[str] = ()) -> Table | None:
    """Build a table from a grid: squeeze blanks, drop empty rows and columns, repeat spanning cells, join header rows.

    A cell that spans the whole width is a title above the header row, and a section's name below it.
    Returns None if fewer than two rows or two columns remain.
    """
    placed = _squeezed(grid)
    above: list[str] = []
    while len(placed) > 2 and _is_title(placed):  # noqa: PLR2004 - a header and a row stay
        above.append(placed[0][0].text)
        placed = _squeezed(placed[1:])
    width = len(placed[0]) if placed else 0
    if len(placed) < 2 or width < 2:  # noqa: PLR2004 - minimum size of a grid
        return None
    depth = _header_rows(placed)
    if depth > 1:
        header, body = [_stacked([row[column] for row in placed[:depth]]) for column in range(width)], placed[depth:]
        rows = [header, *(_row_texts(row) for row in body)]
    else:
        rows = _join_header_rows([_row_texts(row) for row in placed])
    if len(rows) < 2:  # noqa: PLR2004 - a header and a row
        return None
    plain_notes = tuple(note for text in notes if (note := _plain(text)))
    titles = " ".join(part for part in dict.fromkeys((_plain(title), *above)) if part)
    return Table(titles, tuple(rows[0]), tuple(tuple(row) for row in rows[1:]), plain_notes)


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


def cell_text(lines: str, *, first: bool) -> str:
    r"""Return a cell's lines as one: several names are listed, a broken label in the first column is joined.

    >>> cell_text("恩捷股份\n星源材质", first=False), cell_text("归母\n净利润", first=True)
    ('恩捷股份、星源材质', '归母 净利润')
    """
    parts = lines.split("\n")
    listed = not first and len(parts) > 1 and all(_ITEM.fullmatch(part) for part in parts)
    return ("、" if listed else " ").join(parts)


def raised(text: str) -> str:
    """Return the text of a superscript in raised characters, so that a note's mark does not join a number.

    >>> "3620" + raised("1") + "亿", raised("[2]"), raised("TM")
    ('3620¹亿', '²', 'TM')
    """
    mark = text.strip().strip("[]()（）【】〔〕")
    return mark.translate(_RAISED) if _MARK.fullmatch(mark) else text


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


def _squeezed(grid: Grid) -> list[list[Cell]]:
    """Return a rectangular grid without empty rows and columns, texts on one line, spans kept."""
    width = max((len(row) for row in grid), default=0)
    known: dict[int, Cell] = {}
    rows = []
    for row in grid:
        cells = [*row, *[None] * (width - len(row))]
        rows.append(
            [
                known.setdefault(id(cell), Cell(_plain(cell.text), cell.head)) if cell is not None else Cell("")
                for cell in cells
            ]
        )
    rows = [row for row in rows if any(cell.text for cell in row)]
    used = [column for column in range(width) if any(row[column].text for row in rows)]
    # a column that only repeats spanning cells of the one before it holds nothing of its own
    used = [at for at in used if not at or any(row[at] is not row[at - 1] and row[at].text for row in rows)]
    return [[row[column] for column in used] for row in rows]


def _is_title(rows: Sequence[Sequence[Cell]]) -> bool:
    """Return whether the first row is a title: one cell over the whole width, or one text above rows of several."""
    first, width = rows[0], len(rows[0])
    if width < 2 or not first[0].text:  # noqa: PLR2004 - a grid
        return False
    if all(cell is first[0] for cell in first):
        return True
    alone = not any(cell.text for cell in first[1:])
    return alone and width > 2 and sum(bool(cell.text) for cell in rows[1]) > width // 2  # noqa: PLR2004 - a wide grid


def _header_rows(rows: Sequence[Sequence[Cell]]) -> int:
    """Return how many rows at the top form the header, by header cells and by spans; 1 if nothing shows more."""
    first = rows[0]
    deepest = 1
    for column, cell in enumerate(first):
        depth = next((at for at, row in enumerate(rows) if row[column] is not cell), len(rows))
        deepest = max(deepest, depth)
    wide = any(left is right for left, right in pairwise(first))
    if wide and deepest == 1 and all(_is_head(cell) for cell in rows[1][1:]):
        deepest = 2
    heads = next((at for at, row in enumerate(rows) if not all(cell.head or not cell.text for cell in row)), len(rows))
    found = max(deepest if wide else 1, heads)
    return found if found < len(rows) and found <= _MOST_HEADER_ROWS else 1


def _is_head(cell: Cell) -> bool:
    """Return whether a cell may name a column: it is no number, but may be a year."""
    return not _NUMBER.fullmatch(cell.text) or _YEAR.match(cell.text) is not None


def _stacked(cells: Sequence[Cell]) -> str:
    """Return the name of a column, from its header cells top to bottom."""
    return " ".join(dict.fromkeys(cell.text for cell in cells if cell.text))


def _row_texts(row: Sequence[Cell]) -> list[str]:
    """Return the texts of a row: a spanning cell at each of its places, a section's name only at the first."""
    if all(cell is row[0] for cell in row):
        return [row[0].text, *[""] * (len(row) - 1)]
    return [cell.text for cell in row]


def _join_header_rows(cells: list[list[str]]) -> list[list[str]]:
    """Join a two-row header (EPS over 2023, 2024) into one row, so that each column has its full name."""
    top, second = cells[0], cells[1]
    if len(cells) < 3 or second[0] not in {"", top[0]} or not any(second):  # noqa: PLR2004 - two header rows, a data row
        return cells
    if not any(re.search(r"\d", cell) for cell in second) and not second[0]:  # a wrapped header cell
        if not (spread_out := _spread_out(top, second)):
            return [[upper + lower for upper, lower in zip(top, second, strict=True)], *cells[2:]]
        return [_joined(spread_out, second), *cells[2:]]
    if all(top[1:]):
        repeated = len(set(top[1:])) < len(top[1:]) and all(_is_head(Cell(cell)) for cell in second)
        return [_joined(top, second), *cells[2:]] if repeated else cells
    # A spanning header of unclear extent stays with the column below it: a guess would name columns wrongly.
    return [_joined(_spread_out(top, second) or top, second), *cells[2:]]


def _joined(top: Sequence[str], second: Sequence[str]) -> list[str]:
    return [" ".join(dict.fromkeys(filter(None, pair))) for pair in zip(top, second, strict=True)]


def _spread_out(top: Sequence[str], second: Sequence[str]) -> list[str]:
    """Repeat header cells over the blanks after them if the row below shows how far: 2024A | | 2025E | over PE | PB.

    It does if each of two groups or more has the same names below it; else the list is empty.
    """
    starts = [at for at, cell in enumerate(top) if at and cell]
    groups = [tuple(second[start:stop]) for start, stop in pairwise([*starts, len(top)])]
    if len(groups) < 2 or len(set(groups)) > 1 or len(groups[0]) < 2 or not all(groups[0]):  # noqa: PLR2004 - groups
        return []
    out = list(top)
    for at in range(starts[0], len(out)):
        out[at] = out[at] or out[at - 1]
    return out
