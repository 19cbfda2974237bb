"""Convert the pages of a PDF to pieces: running lines and figures hidden, paragraphs joined across pages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from extraction.documents.assembly import TextPiece
from extraction.documents.cleaning import PlacedLine, Reason, line_reason, running_lines, section_reason
from extraction.documents.pdf.flow import (
    FlowUnit,
    Paragraph,
    TextColumn,
    by_columns,
    continues,
    in_order,
    join,
    paragraphs,
    piece_of,
    units_of,
)
from extraction.documents.pdf.regions import RegionFinder, read_table
from extraction.documents.pdf.tables import is_numeric
from kg.model import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.documents.pdf.lines import Page, PageLine

_REPEATS = 3
_ROW_CELLS = 3
_MIN_ROWS = 3
_CELL_LENGTH = 16
_REACH = 400  # maximum number of pieces between the halves of a paragraph
_AXIS = 4  # this many stacked numbers are an axis


@dataclass(frozen=True, slots=True)
class _PageParts:
    """A page's hidden header and footer, and its body in reading order."""

    header: tuple[TextPiece, ...]
    body: tuple[Paragraph | TextPiece, ...]
    footer: tuple[TextPiece, ...]


def lay_out(pages: Sequence[Page]) -> list[TextPiece]:
    """Return the document's pieces in reading order, with those recognised by layout already hidden."""
    size = body_size(pages)
    running = running_lines(
        [[PlacedLine(line.text, line.middle / page.height) for line in page.lines] for page in pages]
    )
    turned = ({line.text for line in page.lines if not line.upright and not is_numeric(line.text)} for page in pages)
    marks = Counter(text for texts in turned for text in texts)
    finder = RegionFinder(size)
    flow: list[Paragraph | TextPiece] = []
    for page, reasons in zip(pages, running, strict=True):
        parts = _read_parts(page, reasons, marks, finder)
        for item in (*parts.header, *parts.body, *parts.footer):
            _append(flow, item)
    return [item if isinstance(item, TextPiece) else piece_of(item, size) for item in flow]


def body_size(pages: Sequence[Page]) -> float:
    """Return the line height shared by most characters, in points."""
    sizes = Counter[float]()
    for page in pages:
        for line in page.lines:
            sizes[round(line.size, 1)] += len(line.text) if line.upright else 0
    return sizes.most_common(1)[0][0] if sizes else 0.0


def title_of(page: Page) -> str:
    """Return the title: the largest text in the upper half of the first page, with the lines right below it."""
    lines = [line for line in page.lines if line.upright and line.middle < 0.5 * page.height and len(line.text) > 3]  # noqa: PLR2004 - skip the letters of a logo
    lines = [line for line in lines if not section_reason(line.text) and not line_reason(line.text)]
    if not lines:
        return ""
    largest = max(line.size for line in lines)
    same = sorted((line for line in lines if line.size > 0.93 * largest), key=lambda line: line.middle)
    longest = max(same, key=lambda line: len(line.text))
    found = [line for line in same if line.overlaps(longest) and abs(line.middle - longest.middle) < 2.5 * largest]
    return "".join(line.text for line in found[:3])


def _append(flow: list[Paragraph | TextPiece], item: Paragraph | TextPiece) -> None:
    """Append an item; a paragraph that continues after hidden lines or a table is joined to its first part."""
    if isinstance(item, Paragraph):
        for at in range(len(flow) - 1, max(-1, len(flow) - _REACH), -1):
            earlier = flow[at]
            if isinstance(earlier, Paragraph):
                interrupted = at < len(flow) - 1 or earlier.page != item.page
                if interrupted and continues(earlier, item):
                    flow[at] = join(earlier, item)
                    return
                break
            if not earlier.reason and earlier.kind is not BlockKind.TABLE:
                break
    flow.append(item)


def _read_parts(page: Page, running: dict[int, Reason], marks: Counter[str], finder: RegionFinder) -> _PageParts:
    lines = page.lines
    header: list[TextPiece] = []
    footer: list[TextPiece] = []
    turned: list[str] = []
    for index, line in enumerate(lines):
        if not line.upright and marks[line.text] >= _REPEATS:
            footer.append(TextPiece(line.text, reason=Reason.WATERMARK, page=page.number))
        elif not line.upright:
            turned.append(line.text)
        elif index in running:
            side = header if line.middle < page.height / 2 else footer
            side.append(TextPiece(line.text, reason=running[index], page=page.number))
    free = [index for index, line in enumerate(lines) if line.upright and index not in running]
    regions = finder.find(page, free)
    taken = {index for region in regions for index in region.lines}
    rest = [lines[index] for index in free if index not in taken]
    units: list[FlowUnit] = list(units_of(by_columns(rest)))
    for region in regions:
        own = [lines[index] for index in region.lines]
        frame = (min(x.x0 for x in own), min(x.top for x in own), max(x.x1 for x in own), max(x.bottom for x in own))
        units.append(FlowUnit(pieces=tuple(replace(piece, page=page.number) for piece in region.pieces), frame=frame))
    column = TextColumn.of(rest)
    body = [item for unit in in_order(units) for item in _items(page, unit, column)]
    axis = TextPiece("".join(turned), reason=Reason.FIGURE_TEXT, page=page.number)
    footer += [TextPiece(line.text, reason=Reason.UNSEEN, page=page.number) for line in page.unseen]
    return _PageParts(tuple(header), tuple(body), (axis, *footer))


def _items(page: Page, unit: FlowUnit, column: TextColumn) -> Iterator[Paragraph | TextPiece]:
    if unit.pieces:
        yield from unit.pieces
        return
    for lines, rows in _split_by_kind(unit.lines):
        table = read_table(page, lines) if rows else None
        if table:
            yield replace(table, page=page.number)
        elif sum(len(line.words) for line in lines) >= _AXIS and all(is_numeric(line.text) for line in lines):
            yield TextPiece("\n".join(line.text for line in lines), reason=Reason.FIGURE_TEXT, page=page.number)
        else:
            yield from paragraphs(FlowUnit(tuple(lines)), column, page.number)


def _split_by_kind(lines: Sequence[PageLine]) -> Iterator[tuple[list[PageLine], bool]]:
    """Split a run into running text, table rows and axes."""
    group: list[PageLine] = []
    kind = ""
    for line in lines:
        found = "row" if _is_row(line) else "axis" if is_numeric(line.text) else ""
        if group and found != kind:
            yield group, kind == "row" and len(group) >= _MIN_ROWS
            group = []
        group.append(line)
        kind = found
    if group:
        yield group, kind == "row" and len(group) >= _MIN_ROWS


def _is_row(line: PageLine) -> bool:
    words = line.words
    return len(words) >= _ROW_CELLS and sum(len(word.text) for word in words) <= _CELL_LENGTH * len(words)
