"""Extract tables from PDF pages: ruled ones by their rules, others by the blank gutters between columns."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from extraction.documents.pdf.lines import TextRun
from extraction.documents.pdf.rulings import ruled_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from extraction.documents.pdf.lines import Page, PageLine
    from extraction.documents.table import Cell, Grid


_NUMERIC = re.compile(r"[-+－(（]?[\d.,]+[%％)）A-Za-z]{0,2}|[-–—/]+|N/?A", re.IGNORECASE)
_COVERED = 0.8
_FILLED = 0.5
_DENSE = 0.7
_WORDED = 0.2
_TIGHT = 0.25
_MIN_COLUMNS = 3
_SLACK = 4.0  # points by which a centred label may be off
_CELLS_TOUCH = re.compile(
    r"(?<=[\d%)E]) (?=[\d(（]|[\u4e00-\u9fff])(?![年月日季亿万元个家倍吨辆台股])(?!\d+[年月日亿万])"
)


def ruled(page: Page, lines: Sequence[PageLine]) -> list[list[Cell | None]]:
    """Return the rows of the ruled table that contains nearly all of these lines, or an empty list."""
    margin = max(line.size for line in lines)  # of a cell
    top, bottom = min(line.top for line in lines) - margin, max(line.bottom for line in lines) + margin
    found = list(ruled_tables(page.rulings.between(top, bottom), page.lines))
    box, rows = max(found, key=lambda table: _inside(lines, table[0]), default=((0.0, 0.0, 0.0, 0.0), []))
    return rows if _inside(lines, box) >= _COVERED * len(lines) and not _is_coarse(rows) else []


def _is_coarse(rows: Grid) -> bool:
    """Return whether most rows have a cell with several numbers, for lack of a rule between their columns."""
    texts = [[cell.text.split() for cell in row if cell] for row in rows]
    return sum(any(len(words) > 1 and all(map(is_numeric, words)) for words in row) for row in texts) > len(rows) / 2


def grid(lines: Sequence[PageLine]) -> list[list[str]]:
    """Read lines as a grid: rows by height, columns by the vertical gutters that few words cross."""
    split = [replace(line, words=tuple(part for word in line.words for part in _tokens(word))) for line in lines]
    rows = by_row(sorted(split, key=lambda line: line.middle))
    cuts = _gutters([word for row in rows for line in row for word in line.words], len(rows))
    cells = [[_cell(row, low, high) for low, high in pairwise([-1e9, *cuts, 1e9])] for row in rows]
    heights = [min(line.middle for line in row) for row in rows]
    cells, heights = _spread_labels(cells, heights)
    return _stack_twins(_merge_wrapped(cells, heights, median(line.size for line in lines)))


def is_grid(rows: Sequence[Sequence[str]], *, labelled: bool) -> bool:
    """Return whether rows are a table rather than the scattered numbers of a chart.

    Args:
        rows: cells.
        labelled: the label names a table (表), so less evidence is required.
    """
    width = max((len(row) for row in rows), default=0)
    if len(rows) < 2 or width < 2:  # noqa: PLR2004 - minimum size of a grid
        return False
    filled = [sum(bool(cell) for cell in row) for row in rows]
    dense = sum(count for count in filled if count >= _FILLED * width) / max(1, sum(filled))
    if labelled:
        return dense >= _FILLED
    below = [cell for row in rows[1:] for cell in row if cell]
    words = sum(not is_numeric(cell) for cell in below)
    if width > 2 and len(rows) > 2 and dense >= _DENSE and words >= _WORDED * len(below):  # noqa: PLR2004 - three columns
        return True
    heads = sum(bool(row[0]) and not is_numeric(row[0]) for row in rows)
    return dense >= _COVERED and len(rows) > 2 and heads >= _FILLED * len(rows)  # noqa: PLR2004 - a header and two rows


def is_numeric(text: str) -> bool:
    """Return whether a cell or axis label is only a number, a date or a dash."""
    return bool(_NUMERIC.fullmatch(text)) or bool(re.fullmatch(r"[\d\s./:%％年月日\-~～,+]+", text))


def within(line: PageLine, bbox: tuple[float, float, float, float]) -> bool:
    """Return whether a line is inside a box: left, top, right, bottom."""
    left, top, right, bottom = bbox
    return top <= line.middle <= bottom and left - 2 <= line.x0 and line.x1 <= right + 2


def _inside(lines: Iterable[PageLine], bbox: tuple[float, float, float, float]) -> int:
    return sum(within(line, bbox) for line in lines)


def by_row(lines: Iterable[PageLine]) -> list[list[PageLine]]:
    """Group consecutive lines at the same height."""
    rows: list[list[PageLine]] = []
    for line in lines:
        if rows and line.beside(rows[-1][0]):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _gutters(words: Sequence[TextRun], rows: int) -> list[float]:
    """Return the centres of vertical strips crossed by at most a tenth of the rows (by spanning headers)."""
    allowed = max(1, rows // 10) if rows > 3 else 0  # noqa: PLR2004 - with fewer rows no crossing is allowed
    edges = sorted([(word.x0, 1) for word in words] + [(word.x1, -1) for word in words])
    cuts: list[float] = []
    crossing, open_from, seen = 0, None, False
    for place, step in edges:
        crossing += step
        if crossing > allowed:
            if open_from is not None and seen and place - open_from > 1:
                cuts.append((open_from + place) / 2)
            open_from, seen = None, True
        elif open_from is None:
            open_from = place
    return cuts


def _cell(row: Sequence[PageLine], low: float, high: float) -> str:
    words = sorted((word for line in row for word in line.words), key=lambda word: word.x0)
    return " ".join(word.text for word in words if low <= (word.x0 + word.x1) / 2 < high)


def _tokens(word: TextRun) -> Iterator[TextRun]:
    """Split a word where only a space separates two cells: 655918 营业收入, 2022-01 2022-02."""
    share = (word.x1 - word.x0) / max(1, _display_width(word.text))
    start = 0
    for cut in [*(match.start() for match in _CELLS_TOUCH.finditer(word.text)), len(word.text)]:
        text = word.text[start:cut].strip()
        left = word.x0 + share * _display_width(word.text[:start])
        yield TextRun(left, word.x0 + share * _display_width(word.text[:cut]), text)
        start = cut + 1


def _display_width(text: str) -> int:
    return sum(1 if char.isascii() else 2 for char in text)


def _spread_labels(cells: list[list[str]], heights: list[float]) -> tuple[list[list[str]], list[float]]:
    """Copy the label of a merged first cell to each row it spans.

    Such a label is vertically centred on its rows: the first group ends as far below its label as it begins above it,
    the next group begins there, and so on. If the groups do not add up, the rows are returned unchanged.
    """
    orphan = [bool(row[0]) and not any(row[1:]) for row in cells]
    first = next((at for at, row in enumerate(cells) if at and any(row[1:])), 0)
    if not any(orphan[first:]) or any(len(row) < _MIN_COLUMNS for row in cells):
        return cells, heights
    spread: dict[int, str] = {}
    at = first
    while at < len(cells):
        label = next((below for below in range(at, len(cells)) if cells[below][0]), None)
        if label is None:
            return cells, heights
        end = 2 * heights[label] - heights[at] + _SLACK
        group = [row for row in range(at, len(cells)) if heights[row] <= end]
        if any(cells[row][0] for row in group if row != label):
            return cells, heights
        spread.update(dict.fromkeys(group, cells[label][0]))
        at = group[-1] + 1
    kept = [row for row in range(len(cells)) if row < first or not orphan[row]]
    return [[spread.get(row, cells[row][0]), *cells[row][1:]] for row in kept], [heights[row] for row in kept]


def _merge_wrapped(cells: list[list[str]], heights: Sequence[float], size: float) -> list[list[str]]:
    """Join the lines of wrapped cells, which are clearly closer together than rows.

    Rows with numbers in the same column are never joined, so a plain table with gaps between its parts is unchanged.
    """
    gaps = sorted(after - before for before, after in pairwise(heights))
    if len(gaps) < 2:  # noqa: PLR2004 - nothing to compare
        return cells
    jump, near = max((after / max(before, 1), before) for before, after in pairwise(gaps))
    if jump < 1 + _TIGHT or near > 1.6 * size:
        return cells
    merged = [cells[0]]
    for row, (before, after) in zip(cells[1:], pairwise(heights), strict=True):
        if after - before <= near and not _conflict(merged[-1], row):
            merged[-1] = [_join(upper, lower) for upper, lower in zip(merged[-1], row, strict=True)]
        else:
            merged.append(row)
    return merged


def _conflict(upper: Sequence[str], lower: Sequence[str]) -> bool:
    both = [(up, low) for up, low in zip(upper, lower, strict=True) if up and low]
    return any(is_numeric(up) or is_numeric(low) for up, low in both)


def _stack_twins(rows: list[list[str]]) -> list[list[str]]:
    """Put the right one of two tables printed side by side below the left one, if their headers are equal."""
    half, odd = divmod(len(rows[0]), 2) if rows else (0, 0)
    if odd or half < _MIN_COLUMNS or rows[0][1:half] != rows[0][half + 1 :]:
        return rows
    return [row[:half] for row in rows] + [row[half:] for row in rows[1:] if any(row[half:])]


def _join(upper: str, lower: str) -> str:
    if upper == lower:
        return upper
    glue = " " if upper and lower and upper[-1].isascii() and lower[0].isascii() else ""
    return f"{upper}{glue}{lower}"
