"""Reflow lines into paragraphs: reading order on the page, joins within it and across pages."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from extraction.documents.assembly import TextPiece, join_text
from extraction.documents.cleaning import Reason, line_reason
from extraction.documents.pdf.lines import joined
from extraction.documents.text import heading_level, is_item
from kg.model import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.documents.pdf.lines import PageLine

_LONE = frozenset({Reason.CONTENTS, Reason.CONTACT, Reason.PAGE_NUMBER, Reason.SOURCE_LINE, Reason.FIGURE_LABEL})
_STOPS = ("。", "！", "？", "；", "：", "!", "?", ";")
_BULLET = re.compile(r"^[•●◆■□▪❑➢⚫\uf06c-\uf0fe]\s*")
_OPEN_MARK = re.compile(r"^\[(?=[^\[\]]{2,16}$)")  # remainder of a template's [投资要点 Table_Summary]
_FIELD = re.compile(r"(?:评级|日期|目标价|分析师)\s*[:：]\s*\S")  # 投资评级: 增持 is a statement at any font size
_MAX_HEADING = 45
_MAX_LINES = 1_000  # a page with more is a drawing or an attack, and is not reflowed
_MAX_UNITS = 400  # a page with more fragments is a drawing, for which stream order will do
_COLUMN_ROWS, _COLUMN_WIDTH, _FILLED, _CLOSE = 3, 9, 0.7, 1.5  # rows; line heights; share of the width; line heights
_INDENT = 1.2  # in line heights
_OUTDENT = 2.8
_RAGGED = 2.2
_SAME_COLUMN = 4
_OTHER_SIZE = 0.11  # a line of only Latin letters measures a tenth less than a Chinese one of the same font size
_WIDE_GAP = 1.3  # relative to the usual line distance


@dataclass(frozen=True, slots=True)
class FlowUnit:
    """A part of a page that is ordered as a whole: lines of text, or finished pieces."""

    lines: tuple[PageLine, ...] = ()
    pieces: tuple[TextPiece, ...] = ()
    frame: tuple[float, float, float, float] = (0, 0, 0, 0)  # x0, top, x1, bottom


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines of one paragraph, with the data needed to join across pages."""

    text: str
    first: PageLine
    last: PageLine
    full: bool
    lines: int
    page: int

    @property
    def unfinished(self) -> bool:
        """Whether the sentence continues: the last line is full and ends without a stop."""
        return self.full and not self.text.endswith(_STOPS)


@dataclass(frozen=True, slots=True)
class TextColumn:
    """All text lines of a page, and the usual distance between two."""

    lines: tuple[PageLine, ...]
    pitch: float

    @classmethod
    def of(cls, lines: Sequence[PageLine]) -> TextColumn:
        """Return the column of a page's lines; one without lines if there are too many to compare them in pairs."""
        kept = tuple(lines) if len(lines) <= _MAX_LINES else ()
        return cls(kept, _pitch(kept))


def units_of(lines: Sequence[PageLine]) -> Iterator[FlowUnit]:
    """Group lines in stream order into runs down one column; fragments side by side become one line."""
    run: list[PageLine] = []
    for line in lines:
        if run and line.beside(run[-1]) and line.x0 > run[-1].x1:
            run[-1] = joined([run[-1], line])
            continue
        if run and not (
            line.middle > run[-1].middle and line.top - run[-1].bottom < 3 * line.size and line.overlaps(run[-1])
        ):
            yield _unit(run)
            run = []
        run.append(line)
    if run:
        yield _unit(run)


def by_columns(lines: Sequence[PageLine]) -> list[PageLine]:
    """Return the lines with columns of text that are drawn row by row set one after the other.

    At least three rows must have a fragment in each column, and the columns be filled like running text: the cells of
    a table stay in their rows.
    """
    rows: list[list[PageLine]] = []
    for line in lines:
        if rows and line.beside(rows[-1][-1]) and line.x0 > rows[-1][-1].x1:
            rows[-1].append(line)
        else:
            rows.append([line])
    ordered: list[PageLine] = []
    at = 0
    while at < len(rows):
        columns, stop = _columns_from(rows, at)
        if columns:
            ordered += [line for column in columns for line in column]
        else:
            ordered += rows[at]
        at = stop
    return ordered


def _columns_from(rows: Sequence[list[PageLine]], at: int) -> tuple[list[list[PageLine]], int]:
    """Return the columns of text that start at a row, and the row after them; no columns if there are none."""
    columns = [[line] for line in rows[at]]
    spans = [(line.x0, line.x1) for line in rows[at]]
    shared = stop = at + 1
    while len(columns) > 1 and stop < len(rows):
        row, above = rows[stop], rows[stop - 1][-1]
        places = [[k for k, (x0, x1) in enumerate(spans) if line.x0 < x1 and x0 < line.x1] for line in row]
        close = row[0].middle > above.middle and row[0].top - above.bottom < _CLOSE * above.size
        if not close or any(len(place) != 1 for place in places):
            break
        for line, (place,) in zip(row, places, strict=True):
            columns[place].append(line)
            spans[place] = min(spans[place][0], line.x0), max(spans[place][1], line.x1)
        stop += 1
        shared = stop if len(row) == len(columns) else shared
    filled = len(columns) > 1 and shared - at >= _COLUMN_ROWS and all(map(_is_text_column, columns))
    return (columns, stop) if filled else ([], at + 1)


def _is_text_column(lines: Sequence[PageLine]) -> bool:
    widths = [line.x1 - line.x0 for line in lines]
    full = [width for width in widths if width > _FILLED * max(widths)]
    return max(widths) > _COLUMN_WIDTH * lines[0].size and 2 * len(full) >= len(widths)


def in_order(units: Sequence[FlowUnit]) -> list[FlowUnit]:
    """Sort units into reading order: those above in the same column first, otherwise stream order."""
    if len(units) > _MAX_UNITS:
        return list(units)
    remaining = list(units)
    ordered: list[FlowUnit] = []
    while remaining:
        free = next(
            (unit for unit in remaining if not any(_above(other, unit) for other in remaining if other is not unit)),
            remaining[0],
        )
        ordered.append(free)
        remaining.remove(free)
    return ordered


def paragraphs(unit: FlowUnit, column: TextColumn, page: int) -> Iterator[Paragraph]:
    """Split a run of lines into paragraphs.

    Args:
        unit: the run.
        column: shows where a full line ends.
        page: index from 0.
    """
    group: list[PageLine] = []
    for line in unit.lines:
        if group and _starts_paragraph(group, line, column.pitch, _right_edge(group[-1], column.lines)):
            yield _paragraph(group, column, page)
            group = []
        group.append(line)
    if group:
        yield _paragraph(group, column, page)


def continues(upper: Paragraph, lower: Paragraph) -> bool:
    """Return whether a paragraph continues in the next one, across a page break or a figure."""
    same = (
        abs(upper.last.size - lower.first.size) < _OTHER_SIZE * upper.last.size and upper.last.bold == lower.first.bold
    )
    mixed = abs(upper.last.size - lower.first.size) < _OTHER_SIZE * upper.last.size and not heading_level(lower.text)
    starts = is_item(lower.text) or bool(heading_level(lower.text))
    indented = lower.lines > 1 and lower.first.x0 > lower.last.x0 + _INDENT * lower.first.size
    alone = _stands_alone(upper.last) or _stands_alone(lower.first)
    return (same or mixed) and not alone and upper.unfinished and not starts and not indented and not is_heading(upper)


def join(upper: Paragraph, lower: Paragraph) -> Paragraph:
    """Join two paragraphs; the result belongs to the page on which it begins."""
    text = join_text(upper.text, lower.text)
    return replace(upper, text=text, last=lower.last, full=lower.full, lines=upper.lines + lower.lines)


def is_heading(paragraph: Paragraph, body_size: float = 0.0) -> bool:
    """Return whether a paragraph reads and looks like a heading."""
    text = paragraph.text
    if len(text) > _MAX_HEADING or text.endswith(("。", "；", "，", "、")) or paragraph.lines > 2:  # noqa: PLR2004 - headings have at most two lines
        return False
    if _FIELD.search(text):
        return False
    larger = bool(body_size) and paragraph.first.size > 1.1 * body_size
    led = paragraph.first.bold and (bool(heading_level(text)) or not paragraph.full or paragraph.lines > 1)
    return (larger or led) and len(text) > 1


def piece_of(paragraph: Paragraph, body_size: float) -> TextPiece:
    """Convert a finished paragraph to a piece, without its bullet."""
    text = _OPEN_MARK.sub("", _BULLET.sub("", paragraph.text))
    if is_heading(replace(paragraph, text=text), body_size):
        ratio = paragraph.first.size / body_size if body_size else 1.0
        level = heading_level(text) or (1 if ratio > 1.5 else 2 if ratio > 1.1 else 3)  # noqa: PLR2004 - title, section, lead
        return TextPiece(text, BlockKind.HEADING, level, page=paragraph.page)
    kind = BlockKind.ITEM if is_item(paragraph.text) else BlockKind.PARAGRAPH
    return TextPiece(text, kind, int(kind is BlockKind.ITEM), page=paragraph.page)


def _unit(run: Sequence[PageLine]) -> FlowUnit:
    frame = (min(line.x0 for line in run), run[0].top, max(line.x1 for line in run), run[-1].bottom)
    return FlowUnit(tuple(run), frame=frame)


def _above(upper: FlowUnit, lower: FlowUnit) -> bool:
    one, two = upper.frame, lower.frame
    return one[0] < two[2] and two[0] < one[2] and (one[1] + one[3]) < (two[1] + two[3]) and one[3] < two[1] + 4


def _pitch(column: Sequence[PageLine]) -> float:
    steps = [low.middle - up.middle for up, low in itertools.pairwise(column)]
    near = [step for step, line in zip(steps, column, strict=False) if 0.8 * line.size < step < 3 * line.size]
    return median(near) if near else 0.0


def _right_edge(line: PageLine, column: Sequence[PageLine], *, any_size: bool = False) -> float:
    """Return where the column ends: the furthest edge shared by two lines, so that one outlier has no effect."""
    edges = sorted(
        (
            other.x1
            for other in column
            if abs(other.x0 - line.x0) < _SAME_COLUMN * line.size
            and (any_size or abs(other.size - line.size) < _OTHER_SIZE * line.size)
        ),
        reverse=True,
    )
    shared = (high for high, low in pairwise(edges) if high - low < line.size)
    return next(shared, max(edges, default=line.x1))


def _first_word_width(line: PageLine) -> float:
    """Return the width of an unbreakable first word (Latin, number), for which the line above may end early."""
    word = re.match(r"[!-~]+", line.text)
    return (_RAGGED + (0.5 * len(word[0]) if word else 0)) * line.size


def _is_full(line: PageLine, right: float) -> bool:
    return line.x1 >= right - _RAGGED * line.size


def _starts_paragraph(group: Sequence[PageLine], line: PageLine, pitch: float, right: float) -> bool:
    """Return whether a line begins a new paragraph after the lines in `group`."""
    last = group[-1]
    full = last.x1 + _first_word_width(line) > right
    stopped = last.text.endswith(_STOPS)
    gap = pitch and line.middle - last.middle > _WIDE_GAP * pitch
    indent = line.x0 - last.x0
    if abs(line.size - last.size) > _OTHER_SIZE * last.size or not full or _stands_alone(last) or _stands_alone(line):
        return True
    if is_item(line.text) or heading_level(line.text):
        return stopped or abs(indent) > line.size or bool(gap)
    if gap and (stopped or indent > _INDENT * line.size):
        return True
    if len(group) == 1:
        return (indent > _INDENT * line.size and not is_item(last.text)) or indent < -_OUTDENT * line.size
    return indent > _INDENT * line.size or indent < -_INDENT * line.size


def _stands_alone(line: PageLine) -> bool:
    """Return whether a line is hidden by its own text (contents, contacts) or has a value in a second column."""
    pair = len(line.words) > 1 and line.words[1].x0 - line.words[0].x1 > 2 * line.size and not is_item(line.text)
    return pair or line_reason(line.text) in _LONE


def _paragraph(group: Sequence[PageLine], column: TextColumn, page: int) -> Paragraph:
    text = ""
    for line in group:
        text = join_text(text, line.text)
    full = _is_full(group[-1], _right_edge(group[-1], column.lines, any_size=True))
    return Paragraph(" ".join(text.split()), group[0], group[-1], full, len(group), page)
