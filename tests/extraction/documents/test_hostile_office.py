"""Office files and PDFs of a few kilobytes that would cost minutes: each is limited while it is read, within 5 s."""

from __future__ import annotations

import io
import zipfile
import zlib
from datetime import date
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import process_time
from typing import TYPE_CHECKING

import pytest

from extraction.documents.metadata import SourceFile
from extraction.documents.office import read_docx, read_pptx, read_xlsx
from extraction.documents.pdf.reader import read_pdf
from extraction.reading import FileReader
from kg.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg.model import Document

docx = pytest.importorskip("docx")
pptx = pytest.importorskip("pptx")
openpyxl = pytest.importorskip("openpyxl")

SECONDS = 5  # of processor time
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_STRINGS = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
_DATED = "<w:p><w:r><w:t>2025年8月20日 示例证券</w:t></w:r></w:p>"


def with_part(saved: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """Return an office file with one of its parts changed."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved)) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        assert name in old.namelist()
        for each in old.namelist():
            new.writestr(each, change(old.read(each)) if each == name else old.read(each))
    return packed.getvalue()


def saved(made: object) -> bytes:
    made.save(packed := io.BytesIO())  # type: ignore[attr-defined]
    return packed.getvalue()


def word(body: str) -> bytes:
    text = f'<w:document xmlns:w="{_W}"><w:body>{_DATED}{body}</w:body></w:document>'
    return with_part(saved(docx.Document()), "word/document.xml", lambda _: text.encode())


def table(rows: str) -> str:
    return f"<w:tbl><w:tblPr/><w:tblGrid/>{rows}</w:tbl>"


def spanning(columns: int) -> str:
    cell = f'<w:tcPr><w:gridSpan w:val="{columns}"/></w:tcPr><w:p><w:r><w:t>甲</w:t></w:r></w:p>'
    return f"<w:tr><w:tc>{cell}</w:tc></w:tr>"


def excel(sheet: str, strings: str = "") -> bytes:
    book = openpyxl.Workbook()
    book.active["A1"] = "x"
    data = f'<worksheet xmlns="{_S}"><sheetData>{sheet}</sheetData></worksheet>'
    changed = with_part(saved(book), "xl/worksheets/sheet1.xml", lambda _: data.encode())
    named = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{_STRINGS}"/></Types>'.encode()
    changed = with_part(changed, "[Content_Types].xml", lambda part: part.replace(b"</Types>", named))
    packed = io.BytesIO(changed)
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/sharedStrings.xml", f'<sst xmlns="{_S}"><si><t>2025-08-20</t></si>{strings}</sst>')
    return packed.getvalue()


def rows(count: int, cells: str) -> str:
    return "".join(f'<row r="{number}">{cells}</row>' for number in range(1, count + 1))


def slides(shapes: int) -> bytes:
    show = pptx.Presentation()
    show.slides.add_slide(show.slide_layouts[6]).shapes.add_textbox(0, 0, 9, 9).text_frame.text = "2025年8月20日"

    def repeat(part: bytes) -> bytes:
        begin, end = part.index(b"<p:sp>"), part.index(b"</p:sp>") + len(b"</p:sp>")
        return part[:end] + part[begin:end] * shapes + part[end:]

    return with_part(saved(show), "ppt/slides/slide1.xml", repeat)


def mapped(characters: int, each: int, pages: int = 1) -> bytes:
    """Return a PDF whose font says that one code stands for many characters (ToUnicode), on pages of one content."""
    target = "".join(f"{0x4E00 + number % 200:04X}" for number in range(each))
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def "
        f"1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <41> <{target}> endbfchar endcmap end end"
    )
    drawn = b"BT /F1 8 Tf 10 700 Td (" + b"A" * characters + b") Tj ET"
    font = b"/Resources << /Font << /F1 5 0 R >> >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R %s >>" % font
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b"3 0 R " * pages, pages),
        page,
        stream(drawn),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>",
        stream(cmap.encode()),
    )
    body = b"%PDF-1.4\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % numbered for numbered in enumerate(objects, 1))
    return body + b"trailer << /Size 7 /Root 1 0 R >>\n%%EOF\n"


def stream(data: bytes) -> bytes:
    packed = zlib.compress(data)
    return b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed)


_PARAGRAPH = "<w:p><w:r><w:t>甲</w:t></w:r></w:p>"
_NUMBERS, _TEXTS = "<c><v>1</v></c>" * 100, '<c t="s"><v>1</v></c>' * 100
HOSTILE: dict[str, tuple[Callable[[SourceFile], Document], Callable[[], bytes], str]] = {
    "a cell that spans 100,000 columns": (read_docx, lambda: word(table(spanning(100_000))), "columns"),
    "20,000 rows of cells that span": (read_docx, lambda: word(table(spanning(90) * 20_000)), "cells"),
    "300,000 paragraphs": (read_docx, lambda: word(_PARAGRAPH * 300_000), "elements|paragraphs"),
    "100,000 empty paragraphs": (read_docx, lambda: word("<w:p/>" * 100_000), "paragraphs"),
    "cells merged downwards": (
        read_docx,
        lambda: word(table(f"<w:tr>{'<w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc>' * 90}</w:tr>" * 1500)),
        "cells",
    ),
    "tables within tables": (
        read_docx,
        lambda: word("<w:tbl><w:tr><w:tc>" * 2000 + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * 2000),
        "not a readable docx",
    ),
    "six million shared strings": (read_xlsx, lambda: excel("<row/>", "<si><t/></si>" * 6_000_000), "MB|elements"),
    "a cell far away": (
        read_xlsx,
        lambda: excel('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
        "more than",
    ),
    "a full sheet": (read_xlsx, lambda: excel(rows(20_000, _NUMBERS)), "elements"),
    "a long string in many cells": (
        read_xlsx,
        lambda: excel(rows(3000, _TEXTS), f"<si><t>{'长' * 30_000}</t></si>"),
        "characters",
    ),
    "60,000 shapes": (read_pptx, lambda: slides(60_000), "elements|paragraphs"),
    "a code that stands for 100 characters": (read_pdf, lambda: mapped(950, 100), ""),
    "a code that stands for 500 characters": (read_pdf, lambda: mapped(5000, 500), "characters"),
    "300 pages of such a code": (read_pdf, lambda: mapped(950, 100, pages=300), "too many for a file"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_costs_little_and_one_line(name: str):
    read, make, refused = HOSTILE[name]
    source = SourceFile(Path("hostile"), make(), date(2025, 9, 1), date(2025, 8, 20))
    began = process_time()
    if refused:
        with pytest.raises(DocumentError, match=refused) as fault:
            read(source)
        assert "\n" not in str(fault.value)
    else:
        read(source)
    assert process_time() - began < SECONDS


def test_a_code_for_thousands_of_characters_meets_the_limit_on_memory(tmp_path: Path):
    """PDFium makes all of them before it counts them."""
    path = tmp_path / "mapped.pdf"
    path.write_bytes(mapped(40_000, 2000))
    reader = FileReader(date(2025, 9, 1))
    began = getrusage(RUSAGE_CHILDREN).ru_utime
    (fault,) = reader.read(path)
    reader.close()
    assert "memory" in str(fault)
    assert getrusage(RUSAGE_CHILDREN).ru_utime - began < SECONDS
