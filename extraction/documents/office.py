"""Read Word, PowerPoint and Excel files with the libraries of the extra `office`, and CSV files without."""

from __future__ import annotations

import csv
import io
import lzma
import re
import zipfile
import zlib
from datetime import date, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from extraction.documents.assembly import TextPiece, assemble, judge, table_piece, title_tables
from extraction.documents.encoding import decode
from extraction.documents.metadata import Metadata, build, codes_of_title, from_head
from extraction.documents.table import Cell, Grid, cell_text, spread, table_from_grid
from kg.errors import DocumentError
from kg.model import BlockKind, Document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from extraction.documents.metadata import SourceFile

INSTALL = "install the extra (pip install 'liantu[office]') or save it as PDF"
_MOST_UNPACKED = 64 << 20  # bytes of the parts that are read; pictures do not count
_MOST_MARKS = 1_300_000  # `<` in these parts: elements cost more than bytes
_MOST_ROWS, _MOST_COLUMNS = 20_000, 100  # of one table
_MOST_PIECES, _MOST_CHARACTERS = 20_000, 10_000_000  # of a document
_MOST_CELLS, _MOST_SHEET_CELLS, _MOST_SLIDE_CELLS = 100_000, 300_000, 20_000  # of a document, a workbook, slides
_AT_ONCE = 1 << 20  # bytes
_HEADING = re.compile(r"(?:heading|标题)\s*(\d)", re.IGNORECASE)
_LIST = re.compile(r"list|列表|项目符号", re.IGNORECASE)
_PERCENT = re.compile(r"%")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\b[^>]*?\bref=\"([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})\"")


def read_docx(source: SourceFile) -> Document:
    """Read a Word document.

    Raises:
        DocumentError: not such a file, the extra is absent, empty, or without a publication day.
    """
    opened, pieces = _read(source, "docx", _word, _of_word)
    return _document(source, opened.core_properties.title, pieces)


def read_pptx(source: SourceFile) -> Document:
    """Read a presentation; each slide is a page and its title a heading.

    Raises:
        DocumentError: as read_docx does.
    """
    opened, pieces = _read(source, "pptx", _slides, _of_slides)
    return _document(source, opened.core_properties.title, pieces, pages=len(opened.slides))


def read_xlsx(source: SourceFile) -> Document:
    """Read a workbook; each sheet is a heading and a table, numbers as they are shown.

    Raises:
        DocumentError: as read_docx does, or a sheet larger than 20,000 rows.
    """
    opened, pieces = _read(source, "xlsx", _workbook, _of_sheets)
    return _document(source, opened.properties.title, pieces)


def read_csv(source: SourceFile) -> Document:
    """Read a table of values separated by commas, semicolons or tabs.

    Raises:
        DocumentError: undecodable, empty, without a publication day, or larger than 20,000 rows or 300,000 cells.
    """
    text = decode(source.data, source.name)
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    read = (map(Cell, row[:_MOST_COLUMNS]) for row in csv.reader(io.StringIO(text), delimiter=delimiter))
    try:
        rows = _TableRows(_MOST_SHEET_CELLS).of(read)
    except _TooLong as fault:
        raise DocumentError(source.name, str(fault), "split it into single documents") from fault
    except csv.Error as fault:
        advice = "open it in an office program and save it again"
        raise DocumentError(source.name, "not a readable csv file", advice) from fault
    return _document(source, None, [_table(rows)])


def _read(
    source: SourceFile, kind: str, opener: Callable[[io.BytesIO], Any], reader: Callable[[Any], Iterable[TextPiece]]
) -> tuple[Any, list[TextPiece]]:
    """Open a file with its library, after a look at what it unpacks to, and return it with its pieces."""
    if find_spec({"docx": "docx", "pptx": "pptx", "xlsx": "openpyxl"}[kind]) is None:
        raise DocumentError(source.name, f"{kind} is not read without the extra office", INSTALL)
    packed = io.BytesIO(source.data)
    try:
        _refuse_large(packed)
        opened = opener(packed)
        return opened, list(_bounded(reader(opened)))
    except _TooLong as fault:
        raise DocumentError(source.name, str(fault), "split it into single documents") from fault
    except _FAULTS as fault:
        advice = "open it in an office program and save it again"
        raise DocumentError(source.name, f"not a readable {kind} file", advice) from fault


class _TooLong(Exception):
    """A file has more of something than is read."""


def _refuse_large(packed: io.BytesIO) -> None:
    """Refuse XML that is too large or has too many elements, as it is unpacked: its stated sizes are not believed.

    Raises:
        _TooLong: with what there is too much of.
    """
    size = marks = 0
    with zipfile.ZipFile(packed) as parts:
        for part in parts.infolist():
            if not part.filename.endswith((".xml", ".rels")):
                continue
            with parts.open(part) as file:
                while read := file.read(_AT_ONCE):
                    size, marks = size + len(read), marks + read.count(b"<")
                    if size > _MOST_UNPACKED:
                        raise _TooLong(f"unpacks to more than {_MOST_UNPACKED >> 20:,} MB of XML")
                    if marks > _MOST_MARKS:
                        raise _TooLong(f"has more than {_MOST_MARKS // 2:,} XML elements")


def _bounded(pieces: Iterable[TextPiece]) -> Iterator[TextPiece]:
    """Yield pieces while there are not too many, and not too much text in them.

    Raises:
        _TooLong: with what there is too much of.
    """
    characters = 0
    for number, piece in enumerate(pieces):
        characters += len(piece.text)
        if number >= _MOST_PIECES:
            raise _TooLong(f"has more than {_MOST_PIECES:,} paragraphs and tables")
        if characters > _MOST_CHARACTERS:
            raise _TooLong(f"has more than {_MOST_CHARACTERS:,} characters")
        yield piece


class _TableRows:
    """The rows of the tables of one document, while they have not too many cells and characters."""

    def __init__(self, most_cells: int = _MOST_CELLS) -> None:
        self._cells = self._characters = 0
        self._most_cells = most_cells

    def of(self, rows: Iterable[Iterable[Cell]], name: str = "a table") -> list[list[Cell | None]]:
        """Return the rows of one table.

        Raises:
            _TooLong: with what there is too much of.
        """
        found: list[list[Cell | None]] = []
        for row in rows:
            if len(found) > _MOST_ROWS:
                raise _TooLong(f"{name} has more than {_MOST_ROWS:,} rows")
            cells: list[Cell | None] = []
            for cell in row:
                cells.append(cell)
                self._cells += 1
                self._characters += len(cell.text)
                if len(cells) > _MOST_COLUMNS:
                    raise _TooLong(f"{name} has more than {_MOST_COLUMNS:,} columns")
                if self._cells > self._most_cells:
                    raise _TooLong(f"its tables have more than {self._most_cells:,} cells")
                if self._characters > _MOST_CHARACTERS:
                    raise _TooLong(f"has more than {_MOST_CHARACTERS:,} characters")
            found.append(cells)
        return found


# What the libraries raise for a file that is not of its type: parts that are missing, broken, encrypted (RuntimeError).
_FAULTS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, LookupError, ValueError, SyntaxError, OSError,
    AttributeError, TypeError, ArithmeticError, RuntimeError, AssertionError,
)  # fmt: skip


def _word(packed: io.BytesIO) -> Any:
    import docx  # noqa: PLC0415 -- an extra
    from docx.opc.exceptions import PackageNotFoundError  # noqa: PLC0415

    try:
        return docx.Document(packed)
    except PackageNotFoundError as fault:
        raise ValueError(str(fault)) from fault


def _slides(packed: io.BytesIO) -> Any:
    import pptx  # noqa: PLC0415 -- an extra

    try:
        return pptx.Presentation(packed)
    except pptx.exc.PackageNotFoundError as fault:
        raise ValueError(str(fault)) from fault


def _workbook(packed: io.BytesIO) -> Any:
    import openpyxl  # noqa: PLC0415 -- an extra

    try:
        return openpyxl.load_workbook(packed, data_only=True, read_only=True)
    except openpyxl.utils.exceptions.InvalidFileException as fault:
        raise ValueError(str(fault)) from fault


def _document(source: SourceFile, named: str | None, pieces: list[TextPiece], *, pages: int = 0) -> Document:
    """Build the document; its own date properties are not believed, since templates carry theirs along."""
    body = assemble(judge(list(title_tables(iter(pieces))), headings_known=True), page_count=pages)
    title = next((piece.text for piece in pieces if piece.kind is BlockKind.HEADING and piece.level == 1), "")
    declared = Metadata(title=" ".join((named or "").split()))
    head = from_head(body.text.split("\n"), source.today, title=title)
    return build(source, body, [head, declared, Metadata(codes=codes_of_title(declared.title))])


def _of_word(document: Any) -> Iterator[TextPiece]:
    # The library finds a style by a search through all of them, and one that is absent by two.
    names = {style.style_id: style.name or "" for style in document.styles}
    default = document.styles.default(1)  # of paragraphs
    usual = (default.name or "") if default is not None else ""
    tables = _TableRows()
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            yield _table(tables.of(_word_rows(block)))
            continue
        style = names.get(block._p.style, usual)  # noqa: SLF001 -- the id of its style
        text = " ".join(block.text.split())
        if style.lower() in {"title", "标题"}:
            yield TextPiece(text, BlockKind.HEADING, 1)
        elif found := _HEADING.search(style):
            yield TextPiece(text, BlockKind.HEADING, int(found[1]))
        elif _LIST.search(style) or _is_numbered(block._p):  # noqa: SLF001 -- numbering has no public name
            yield TextPiece(text, BlockKind.ITEM, 1)
        else:
            yield TextPiece(text)


def _is_numbered(paragraph: Any) -> bool:
    return paragraph.pPr is not None and paragraph.pPr.numPr is not None


def _word_rows(table: Any) -> Iterator[Iterator[Cell]]:
    """Yield the cells of each row: one that spans columns is repeated, one that continues from above is that cell.

    The library makes all cells of a table before it gives the first one.
    """
    above: list[Cell] = []
    for row in table._tbl.tr_lst:  # noqa: SLF001 -- the elements of the table
        cells: list[Cell] = []

        def made(row: Any = row, above: list[Cell] = above, cells: list[Cell] = cells) -> Iterator[Cell]:
            for each in row.tc_lst:
                place, goes_on = len(cells), each.vMerge == "continue"
                text = "" if goes_on else "\n".join(paragraph.text for paragraph in each.p_lst)
                cell = above[place] if goes_on and place < len(above) else Cell(cell_text(text, first=not place))
                for _ in range(each.grid_span):
                    cells.append(cell)
                    yield cell

        yield made()
        above = cells


def _of_slides(presentation: Any) -> Iterator[TextPiece]:
    tables = _TableRows(_MOST_SLIDE_CELLS)
    for number, slide in enumerate(presentation.slides):
        title = slide.shapes.title
        if title is not None and title.has_text_frame:
            yield TextPiece(" ".join(title.text_frame.text.split()), BlockKind.HEADING, 2 if number else 1, page=number)
        for shape in _shapes(slide.shapes):
            if shape.has_text_frame and (title is None or shape.shape_id != title.shape_id):
                for paragraph in shape.text_frame.paragraphs:
                    yield TextPiece(" ".join(paragraph.text.split()), page=number)
            elif getattr(shape, "has_table", False) and shape.has_table:
                yield _table(_slide_grid(shape.table, tables), page=number)
        if slide.has_notes_slide:
            yield TextPiece(" ".join(slide.notes_slide.notes_text_frame.text.split()), page=number)


def _slide_grid(table: Any, tables: _TableRows) -> list[list[Cell | None]]:
    """Return the cells of a slide's table; a merged cell covers the places that it spans."""
    grid = tables.of(
        (Cell(cell_text(cell.text, first=not column)) for column, cell in enumerate(row.cells)) for row in table.rows
    )
    covered = 0
    for number, row in enumerate(table.rows):
        for column, cell in enumerate(row.cells):
            right = column + cell.span_width
            covered += max(cell.span_width, 1) * max(min(cell.span_height, len(grid) - number), 1)
            if right > _MOST_COLUMNS:
                raise _TooLong(f"a table has more than {_MOST_COLUMNS:,} columns")
            if covered > _MOST_SLIDE_CELLS:
                raise _TooLong(f"its tables have more than {_MOST_SLIDE_CELLS:,} cells")
            if not cell.is_spanned and (found := grid[number][column]):
                spread(grid, found, (number, column, number + cell.span_height, right))
    return grid


def _shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    """Yield shapes in reading order, top to bottom and left to right, those of groups in their group's place."""
    stack = sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0), reverse=True)
    while stack:
        shape = stack.pop()
        if hasattr(shape, "shapes"):
            stack += sorted(shape.shapes, key=lambda inner: (inner.top or 0, inner.left or 0), reverse=True)
        else:
            yield shape


def _of_sheets(workbook: Any) -> Iterator[TextPiece]:
    tables = _TableRows(_MOST_SHEET_CELLS)
    for sheet in workbook.worksheets:
        cells = (
            (Cell(cell_text(_shown(cell.value, cell.number_format or ""), first=not at)) for at, cell in enumerate(row))
            for row in sheet.iter_rows(max_col=_MOST_COLUMNS)
        )
        rows, covered = tables.of(cells, f"sheet {sheet.title}"), 0
        for top, left, bottom, right in _merged(workbook, sheet):
            if top < len(rows) and left < len(rows[top]) and (cell := rows[top][left]):
                covered += (min(bottom, len(rows)) - top) * (right - left)
                if covered > _MOST_SHEET_CELLS:
                    raise _TooLong(f"its tables have more than {_MOST_SHEET_CELLS:,} cells")
                spread(rows, cell, (top, left, bottom, right))
        yield TextPiece(sheet.title, BlockKind.HEADING, 2)
        yield _table(rows)


def _merged(workbook: Any, sheet: Any) -> Iterator[tuple[int, int, int, int]]:
    """Yield the merged ranges of a sheet; openpyxl does not read them from a workbook that it streams."""
    from openpyxl.utils.cell import range_boundaries  # noqa: PLC0415 -- an extra

    part = workbook._archive.read(sheet._worksheet_path)  # noqa: SLF001 -- the sheet's own XML
    for found in _MERGED.findall(part)[:_MOST_ROWS]:
        left, top, right, bottom = range_boundaries(found.decode())
        yield top - 1, left - 1, bottom, min(right, _MOST_COLUMNS)


def _shown(value: object, number_format: str) -> str:
    """Return a cell as a reader sees it: 0.253 in percent is 25.3%."""
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool)):
        return f"{value * 100:.6g}%" if _PERCENT.search(number_format) else f"{value:.10g}"
    return "" if value is None else str(value)


def _table(grid: Grid, page: int = 0) -> TextPiece:
    table = table_from_grid(grid)
    if table is None:
        lines = (" ".join(cell.text for cell in dict.fromkeys(row) if cell and cell.text) for row in grid)
        return TextPiece("\n".join(line for line in lines if line), page=page)
    return table_piece(table, page=page)
