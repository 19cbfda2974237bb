"""Read PDF reports: reflowed paragraphs with page numbers, tables, running lines hidden."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

import pypdfium2
import pypdfium2.raw as pdfium

from extraction.documents.assembly import assemble, judge
from extraction.documents.encoding import normalise
from extraction.documents.filings.reader import FilingReader
from extraction.documents.metadata import Metadata, build, from_head, from_title
from extraction.documents.pdf.layout import lay_out, title_of
from extraction.documents.pdf.lines import Page, read_page
from extraction.documents.pdf.ocr import INSTALL, OcrReader, installed, is_scan
from extraction.documents.pdf.ocr import MAX_PAGES as MAX_SCANS
from extraction.documents.publication_day import usable
from extraction.worker_process import is_out_of_time, report_progress
from kg.errors import DocumentError
from kg.period import instant_in
from kg.settings import market_day

if TYPE_CHECKING:
    from extraction.documents.metadata import SourceFile
    from kg.model import Document

PARTIAL = "partial"  # tag of a document whose last pages are not read
MAX_PAGES = 2_000
MAX_CHARACTERS = 10_000_000
MAX_PAGE_CHARACTERS = 100_000  # an A4 page in the smallest legible print has 40,000
_MIN_CHARACTERS = 20  # one page of a report has hundreds; fewer in the whole document means a scan
_MOST_PER_BYTE = 20  # characters of a file: text is packed to a third or a quarter
_CREATED = re.compile(r"D:(\d{4})(\d\d)(\d\d)(?:(\d{6})([Z+-][\d']*))?")
_EDGE_PAGES = 3
_TRAILER = b"%%EOF"


def read_pdf(source: SourceFile) -> Document:
    """Read one PDF.

    Raises:
        DocumentError: encrypted, truncated, too long, without a text layer, or without a publication day.
    """
    document = _open(source)
    try:
        info = document.get_metadata_dict()
        filing = FilingReader(source, partial(_page_text, source, document), _page_count(source, document))
        if filing.plain:
            made = _CREATED.match(info.get("CreationDate", ""))
            return filing.read(_created(made, source) if made else None)
        ocr = OcrReader()
        pages = _read_pages(source, document, ocr)
        is_partial = len(pages) < len(document)
    finally:
        document.close()
    body = assemble(judge(lay_out(pages)), page_count=len(pages))
    if ocr.legibility:
        body = replace(body, legibility=tuple(ocr.legibility.get(number, 1.0) for number in range(len(pages))))
    read = build(source, body, [*filing.layers(), *_layers(source, info, pages)])
    return replace(read, tags=(*read.tags, PARTIAL)) if is_partial else read


def _open(source: SourceFile) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(source.data)
    except pypdfium2.PdfiumError as fault:
        if fault.err_code == pdfium.FPDF_ERR_PASSWORD:
            raise DocumentError(source.name, "the PDF is encrypted", "save it without a password") from fault
        truncated = _TRAILER not in source.data[-2048:]
        cause = "the PDF is truncated" if truncated else "the PDF is damaged"
        raise DocumentError(source.name, cause, "download it again") from fault


def _page_count(source: SourceFile, document: pypdfium2.PdfDocument) -> int:
    count = len(document)
    if count > MAX_PAGES:
        raise DocumentError(source.name, f"{count:,} pages, more than {MAX_PAGES:,}", "split it into single reports")
    return count


def _page(source: SourceFile, document: pypdfium2.PdfDocument, number: int) -> pypdfium2.PdfPage:
    try:
        return document[number]
    except pypdfium2.PdfiumError as fault:
        raise DocumentError(source.name, f"page {number + 1} of the PDF is damaged", "download it again") from fault


def _too_full(source: SourceFile, number: int) -> DocumentError:
    cause = f"page {number + 1} has more than {MAX_PAGE_CHARACTERS:,} characters"
    return DocumentError(source.name, cause, "remove that page or export the report again")


def _page_text(source: SourceFile, document: pypdfium2.PdfDocument, number: int) -> str:
    """Return the text of a page without its layout."""
    page = _page(source, document, number)
    text = page.get_textpage()
    try:
        if text.count_chars() > MAX_PAGE_CHARACTERS:
            raise _too_full(source, number)
        return normalise(text.get_text_range())
    finally:
        text.close()
        page.close()


def _read_pages(source: SourceFile, document: pypdfium2.PdfDocument, ocr: OcrReader) -> list[Page]:
    pages: list[Page] = []
    characters = 0
    scans: list[int] = []
    for number in range(len(document)):
        if pages and is_out_of_time():
            report_progress()  # what was read gets its own time to be laid out
            break
        page = _page(source, document, number)
        found = _read_page(source, page, number, characters)
        pages.append(found)
        if not pages[-1].lines and is_scan(page):
            scans.append(number)
        page.close()
        characters += sum(len(line.text) for line in pages[-1].lines)
        if characters > MAX_CHARACTERS:
            raise DocumentError(source.name, f"more than {MAX_CHARACTERS:,} characters", "split it into single reports")
    if scans and installed():
        characters += _read_scans(source, document, scans, ocr, pages)
    if characters < _MIN_CHARACTERS:
        advice = "check that its pages are legible" if ocr.legibility or (scans and installed()) else INSTALL
        raise DocumentError(source.name, "the PDF has no text layer (images only)", advice)
    return pages


def _read_page(source: SourceFile, page: Any, number: int, characters: int) -> Page:
    """Read a page, when the pages before it have so many characters.

    Raises:
        DocumentError: when it has too many itself, or all have too many for the size of the file.
    """
    left = max(MAX_PAGE_CHARACTERS, _MOST_PER_BYTE * len(source.data)) - characters
    found = read_page(page, number, min(MAX_PAGE_CHARACTERS, left))
    if found is not None:
        return found
    advice = "remove that page or export the report again"
    if left < MAX_PAGE_CHARACTERS:  # many pages of one text, or codes for many characters each
        cause = f"{characters:,} characters by page {number + 1}, too many for a file of {len(source.data):,} bytes"
        raise DocumentError(source.name, cause, advice)
    cause = f"page {number + 1} has more than {MAX_PAGE_CHARACTERS:,} characters"
    raise DocumentError(source.name, cause, advice)


def _read_scans(
    source: SourceFile, document: pypdfium2.PdfDocument, scans: list[int], ocr: OcrReader, pages: list[Page]
) -> int:
    """Read pages without a text layer, in place; return their characters."""
    if len(scans) > MAX_SCANS:
        cause = f"{len(scans):,} pages without a text layer, more than {MAX_SCANS:,}"
        raise DocumentError(source.name, cause, "run OCR on it first or split it")
    for number in scans:
        page = document[number]
        pages[number] = ocr.read(page, number)
        page.close()
    return sum(len(line.text) for number in scans for line in pages[number].lines)


def _layers(source: SourceFile, info: dict[str, str], pages: list[Page]) -> list[Metadata]:
    """Return metadata layers, most trusted first.

    A PDF's title field is either right or a template's name. Its creation date is that of the last conversion, days
    late on real reports, so it ranks below the file name and is used only if it is not in the future.
    """
    named = from_title(info.get("Title", ""), source.today)
    edge = pages[:1] + pages[1:][-_EDGE_PAGES:]  # the first page, and the legal notice that names the publisher
    first = [line.text for line in pages[0].lines if line.upright]
    legal = [line.text for page in edge[1:] for line in page.lines if line.upright]
    head = from_head(first, source.today, title=title_of(pages[0]))
    notice = from_head(legal, source.today)
    file = from_title(source.path.stem, source.today)
    made = _CREATED.match(info.get("CreationDate", ""))
    return [
        replace(named, published_on=None),
        head,
        Metadata(publisher=notice.publisher),
        file,
        Metadata(published_on=named.published_on),
        Metadata(published_on=_created(made, source) if made else None),
    ]


def _created(match: re.Match[str], source: SourceFile) -> date | None:
    instant = instant_in("".join(match.groups())) if match[5] else None
    try:
        day = market_day(instant) if instant else date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None
    return day if usable(day, source.today) else None
