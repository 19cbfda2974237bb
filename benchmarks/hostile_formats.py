"""Hostile Word, Excel, PowerPoint, PDF, HTML and CSV files of a few kilobytes, for benchmarks.hostile and the tests."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DAY = "2025-08-20"
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_STRINGS = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
_PARAGRAPH = "<w:p><w:r><w:t>甲</w:t></w:r></w:p>"
_STYLE, _MERGED = '<w:style w:styleId="a"/>', '<mergeCell ref="A1:XFD1048576"/>'
_CELL = '<c r="A1"><v>1</v></c>'
_NUMBERS, _TEXTS = "<c><v>1</v></c>" * 100, '<c t="s"><v>1</v></c>' * 100


def with_part(saved: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """Return an office file with one of its parts changed."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved)) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        assert name in old.namelist()
        for each in old.namelist():
            new.writestr(each, change(old.read(each)) if each == name else old.read(each))
    return packed.getvalue()


def _saved(made: object) -> bytes:
    made.save(packed := io.BytesIO())  # type: ignore[attr-defined]
    return packed.getvalue()


def word(body: str, part: str = "word/document.xml") -> bytes:
    """Return a Word file with this body, or with this text as another part."""
    import docx  # noqa: PLC0415 -- an extra

    dated = f"<w:p><w:r><w:t>{DAY} 示例证券</w:t></w:r></w:p>"
    text = f'<w:document xmlns:w="{_W}"><w:body>{dated}{body}</w:body></w:document>'
    whole = part == "word/document.xml"
    return with_part(_saved(docx.Document()), part, lambda _: (text if whole else body).encode())


def table(rows: str) -> str:
    """Return a table of Word."""
    return f"<w:tbl><w:tblPr/><w:tblGrid/>{rows}</w:tbl>"


def spanning(columns: int) -> str:
    """Return a row of Word with one cell."""
    cell = f'<w:tcPr><w:gridSpan w:val="{columns}"/></w:tcPr><w:p><w:r><w:t>甲</w:t></w:r></w:p>'
    return f"<w:tr><w:tc>{cell}</w:tc></w:tr>"


def excel(sheet: str, strings: str = "", after: str = "") -> bytes:
    """Return a workbook with these rows, shared strings, and what follows the rows."""
    import openpyxl  # noqa: PLC0415 -- an extra

    book = openpyxl.Workbook()
    book.active["A1"] = "x"
    data = f'<worksheet xmlns="{_S}"><sheetData>{sheet}</sheetData>{after}</worksheet>'
    changed = with_part(_saved(book), "xl/worksheets/sheet1.xml", lambda _: data.encode())
    named = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{_STRINGS}"/></Types>'.encode()
    changed = with_part(changed, "[Content_Types].xml", lambda part: part.replace(b"</Types>", named))
    packed = io.BytesIO(changed)
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/sharedStrings.xml", f'<sst xmlns="{_S}"><si><t>{DAY}</t></si>{strings}</sst>')
    return packed.getvalue()


def rows(count: int, cells: str) -> str:
    """Return rows of Excel."""
    return "".join(f'<row r="{number}">{cells}</row>' for number in range(1, count + 1))


def slides(shapes: int) -> bytes:
    """Return a presentation with so many shapes on its slide."""
    import pptx  # noqa: PLC0415 -- an extra

    show = pptx.Presentation()
    show.slides.add_slide(show.slide_layouts[6]).shapes.add_textbox(0, 0, 9, 9).text_frame.text = DAY

    def repeat(part: bytes) -> bytes:
        begin, end = part.index(b"<p:sp>"), part.index(b"</p:sp>") + len(b"</p:sp>")
        return part[:end] + part[begin:end] * shapes + part[end:]

    return with_part(_saved(show), "ppt/slides/slide1.xml", repeat)


def slide_table(height: int, width: int, *, spans: bool) -> bytes:
    """Return a presentation with a table; if wanted, each of its cells says that it covers the whole of it."""
    import pptx  # noqa: PLC0415 -- an extra

    show = pptx.Presentation()
    shapes = show.slides.add_slide(show.slide_layouts[6]).shapes
    shapes.add_textbox(0, 0, 9, 9).text_frame.text = DAY
    shapes.add_table(1, 1, 0, 0, 9, 9).table.cell(0, 0).text = "甲"
    covers = f'<a:tc rowSpan="{height}" gridSpan="{width}">'.encode() if spans else b"<a:tc>"

    def enlarge(part: bytes) -> bytes:
        begin, end = part.index(b"<a:tc>"), part.index(b"</a:tc>") + len(b"</a:tc>")
        part = part[:begin] + part[begin:end].replace(b"<a:tc>", covers) * width + part[end:]
        begin, end = part.index(b"<a:tr "), part.index(b"</a:tr>") + len(b"</a:tr>")
        return part[:begin] + part[begin:end] * height + part[end:]

    return with_part(_saved(show), "ppt/slides/slide1.xml", enlarge)


def pdf(*objects: bytes, pages: int = 1, resources: bytes = b"/Font << /F1 5 0 R >>") -> bytes:
    """Return a PDF whose pages have object 4 as their content; objects are numbered from 4."""
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << %s >> >>" % resources
    first = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b"3 0 R " * pages, pages),
        page,
    )
    numbered = enumerate((*first, *objects), 1)
    body = b"%PDF-1.4\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % each for each in numbered)
    return body + b"trailer << /Size %d /Root 1 0 R >>\n%%%%EOF\n" % (len(objects) + 4)


def stream(data: bytes, head: bytes = b"") -> bytes:
    """Return a stream object of a PDF."""
    packed = zlib.compress(data, 9)
    return b"<< /Length %d /Filter /FlateDecode %s >>\nstream\n%s\nendstream" % (len(packed), head, packed)


_HELVETICA = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
_WORDS = b"BT /F1 9 Tf 40 800 Td (%s CATL supplies cells to Tesla.) Tj ET " % DAY.encode()


def mapped(characters: int, each: int, pages: int = 1) -> bytes:
    """Return a PDF whose font says that one code stands for many characters (ToUnicode), on pages of one content."""
    target = "".join(f"{0x4E00 + number % 200:04X}" for number in range(each))
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def "
        f"1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <41> <{target}> endbfchar endcmap end end"
    )
    drawn = b"BT /F1 8 Tf 10 700 Td (" + b"A" * characters + b") Tj ET"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
    return pdf(stream(drawn), font, stream(cmap.encode()), pages=pages)


def laughing(depth: int, times: int) -> bytes:
    """Return a PDF with forms that each draw the next several times."""
    forms = []
    for number in range(depth):
        head = b"/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /Font << /F1 5 0 R >>"
        head += b" /XObject << /X %d 0 R >> >>" % (7 + number)
        forms.append(stream(b"/X Do " * times if number + 1 < depth else _WORDS, head))
    resources = b"/Font << /F1 5 0 R >> /XObject << /X 6 0 R >>"
    return pdf(stream(_WORDS + b"/X Do"), _HELVETICA, *forms, resources=resources)


def ruled(lines: int, words: int) -> bytes:
    """Return a PDF with a page full of rules and words, as a table would have them."""
    rules = b"".join(b"0 %.2f m 590 %.2f l S " % (800 * n / lines, 800 * n / lines) for n in range(lines))
    rules += b"".join(b"%.2f 0 m %.2f 800 l S " % (590 * n / lines, 590 * n / lines) for n in range(lines))
    drawn = b"".join(
        b"1 0 0 1 %.1f %.1f Tm (a%d) Tj " % (10 + n % 40 * 14, 790 - n // 40 * 7.0, n % 10) for n in range(words)
    )
    return pdf(stream(_WORDS + rules + b"BT /F1 4 Tf " + drawn + b"ET"), _HELVETICA)


def looping_outline() -> bytes:
    """Return a PDF whose outline never ends."""
    made = pdf(stream(_WORDS), _HELVETICA, b"<< /First 7 0 R >>", b"<< /Title (a) /Next 7 0 R /First 7 0 R >>")
    return made.replace(b"/Pages 2 0 R", b"/Pages 2 0 R /Outlines 6 0 R", 1)


def deep_pages(depth: int) -> bytes:
    """Return a PDF whose tree of pages is deep."""
    nodes = [b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (7 + n) for n in range(depth)]
    made = pdf(stream(_WORDS), _HELVETICA, *nodes, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
    return made.replace(b"/Kids [3 0 R ]", b"/Kids [6 0 R]", 1)


def html(body: str) -> bytes:
    """Return a dated page."""
    return f"<html><body><p>{DAY} 示例证券</p>{body}</body></html>".encode()


def _encrypted() -> bytes:
    made = bytearray(word(_PARAGRAPH))
    at = 0
    while (at := made.find(b"PK\x01\x02", at)) >= 0:
        made[at + 8] |= 1  # the flag in the directory
        at += 4
    return bytes(made)


def _laughs(part: bytes) -> bytes:
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    head = f'<!DOCTYPE w [<!ENTITY a0 "哈"><!ENTITY file SYSTEM "file:///etc/passwd">{entities}]>'.encode()
    return head + part.replace(b"</w:body>", b"<w:p><w:r><w:t>&a11;&file;</w:t></w:r></w:p></w:body>")


def _overlapping() -> bytes:
    """Return a Word file whose directory names one part a thousand times."""
    packed = io.BytesIO(word(""))
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("word/extra.xml", " " * (60 << 20))
        info = book.getinfo("word/extra.xml")
        for number in range(1000):
            again = zipfile.ZipInfo(f"word/extra{number}.xml")
            for name in ("compress_type", "CRC", "compress_size", "file_size", "header_offset"):
                setattr(again, name, getattr(info, name))
            book.filelist.append(again)
            book.NameToInfo[again.filename] = again
    return packed.getvalue()


FILES: dict[str, Callable[[], bytes]] = {
    "a cell that spans 100,000 columns.docx": lambda: word(table(spanning(100_000))),
    "20,000 rows of cells that span.docx": lambda: word(table(spanning(90) * 20_000)),
    "300,000 paragraphs.docx": lambda: word(_PARAGRAPH * 300_000),
    "100,000 empty paragraphs.docx": lambda: word("<w:p/>" * 100_000),
    "cells merged downwards.docx": lambda: word(
        table(f"<w:tr>{'<w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc>' * 90}</w:tr>" * 1500)
    ),
    "tables within tables.docx": lambda: word(
        "<w:tbl><w:tr><w:tc>" * 2000 + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * 2000
    ),
    "700,000 runs.docx": lambda: word(f"<w:p>{'<w:r><w:t>甲</w:t></w:r>' * 230_000}</w:p>"),
    "19,000 paragraphs of 30 runs.docx": lambda: word(f"<w:p>{'<w:r><w:t/></w:r>' * 30}</w:p>" * 19_000),
    "19,000 tables.docx": lambda: word(table(spanning(1)) * 19_000),
    "200,000 styles.docx": lambda: word(f'<w:styles xmlns:w="{_W}">{_STYLE * 200_000}</w:styles>', "word/styles.xml"),
    "19,000 styles used.docx": lambda: word(
        "".join(f'<w:p><w:pPr><w:pStyle w:val="s{n}"/></w:pPr></w:p>' for n in range(19_000))
    ),
    "entities of entities.docx": lambda: with_part(word(""), "word/document.xml", _laughs),
    "encrypted.docx": _encrypted,
    "one part under 1,000 names.docx": _overlapping,
    "six million shared strings.xlsx": lambda: excel("<row/>", "<si><t/></si>" * 6_000_000),
    "a cell far away.xlsx": lambda: excel('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
    "a full sheet.xlsx": lambda: excel(rows(20_000, _NUMBERS)),
    "a long string in many cells.xlsx": lambda: excel(rows(3000, _TEXTS), f"<si><t>{'长' * 30_000}</t></si>"),
    "all merged.xlsx": lambda: excel(rows(2000, _NUMBERS), after=f"<mergeCells>{_MERGED * 20_000}</mergeCells>"),
    "a day beyond the calendar.xlsx": lambda: excel(
        '<row r="1"><c t="d"><v>99999-99-99</v></c><c><v>1e308</v></c></row>'
    ),
    "rows backwards.xlsx": lambda: excel("".join(f'<row r="{n}"><c><v>1</v></c></row>' for n in range(19_000, 0, -1))),
    "a row a hundred times.xlsx": lambda: excel(f'<row r="1">{_CELL * 300_000}</row>'),
    "60,000 shapes.pptx": lambda: slides(60_000),
    "a table of 100,000 cells.pptx": lambda: slide_table(1000, 99, spans=False),
    "cells that all cover the table.pptx": lambda: slide_table(200, 90, spans=True),
    "a code that stands for 100 characters.pdf": lambda: mapped(950, 100),
    "a code that stands for 500 characters.pdf": lambda: mapped(5000, 500),
    "300 pages of such a code.pdf": lambda: mapped(950, 100, pages=300),
    "a code for thousands of characters.pdf": lambda: mapped(40_000, 2000),
    "forms of forms, ten million.pdf": lambda: laughing(8, 10),
    "forms of forms, six thousand.pdf": lambda: laughing(5, 9),
    "a form that draws itself.pdf": lambda: laughing(2, 50).replace(b"/X 8 0 R", b"/X 6 0 R"),
    "4,000 rules.pdf": lambda: ruled(2000, 4000),
    "400 rules.pdf": lambda: ruled(200, 4500),
    "an outline in a circle.pdf": looping_outline,
    "pages 20,000 deep.pdf": lambda: deep_pages(20_000),
    "2,000 pages.pdf": lambda: pdf(stream(_WORDS * 40), _HELVETICA, pages=2000),
    "cells that span 65,534 rows.html": lambda: html(
        f"<table>{'<tr>' + '<td colspan=1000 rowspan=65534>甲' * 30 + '</tr>' + '<tr><td>乙' * 3000}</table>"
    ),
    "spans that overlap.html": lambda: html(f"<table>{('<tr>' + '<td colspan=90 rowspan=500>甲' * 3) * 3000}</table>"),
    "tables in tables.html": lambda: html("<table><tr><td>" * 300 + "甲" + "</table>" * 300),
    "100,000 small tables.html": lambda: html("<table><tr><td>甲<td>1</table>" * 100_000),
    "a million cells.html": lambda: html("<table>" + ("<tr>" + "<td>1" * 90) * 11_000 + "</table>"),
    "5,000 items in items.html": lambda: html("<ul><li>甲" * 900),
    "a million commas.csv": f"{DAY}\n{',' * 10_000_000}".encode,
    "a million quotes.csv": f"{DAY}\n{chr(34) * 5_000_001}".encode,
    "19,000 rows of 100.csv": f"{DAY}\n{('甲,' * 99 + '1' + chr(10)) * 19_000}".encode,
}
