from __future__ import annotations

import io
from datetime import date
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from extraction.documents.filings.pages import heading_level, is_row, pieces_of, prose_of
from extraction.documents.html import read_html
from extraction.documents.metadata import SourceFile
from extraction.documents.pdf.reader import read_pdf
from extraction.facts.chunking import chunk_pages
from kg.filing import Filing
from kg.model import BlockKind, Document
from tests.extraction.documents.filings.test_cover import ANNUAL

SENTENCE = "Net sales rose because customers in the northern region bought more pumps than in the year before. "


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("Item 1A. Risk Factors", 1),
        ("PART II Item 7. Management’s Discussion and Analysis", 1),
        ("第三节 管理层讨论与分析", 1),
        ("NOTE 5. Restructuring Actions and Exit Activities", 2),
        ("Consolidated Statement of Cash Flow s", 2),
        ("一、报告期内公司所处行业情况", 2),
        ("Note 12 for more detail of these debt issuances.", 0),
        ("Net sales 1,234 1,100", 0),
        ("The items above are described in note 3.", 0),
    ],
)
def test_headings_open_a_section(line: str, level: int):
    assert heading_level(line) == level


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("Inventories $ 4,366 $ 4,134", True),
        ("Total current assets (1,234) —", True),
        ("营业收入 1,234,567.89 987,654.32 25.0%", True),
        ("In 2018, sales grew 3% in the United States and 4% in other regions because of higher prices there.", False),
        ("Item 7", False),
    ],
)
def test_a_row_has_a_label_and_amounts(line: str, row: bool):
    assert is_row(line) == row


def test_pages_become_headings_tables_and_paragraphs_that_never_cross_a_page():
    pages = [
        f"Oakwell 10-K\nItem 7. Discussion\n{SENTENCE}\n1",
        "Oakwell 10-K\nConsolidated Balance Sheets\n2018 2017\nInventories 4,366 4,134\nTotal assets 36,500 37,987\n2",
        f"Oakwell 10-K\n{SENTENCE}\n3",
    ]
    pieces = [piece for piece in pieces_of(pages) if not piece.reason]
    assert [(piece.page, piece.kind) for piece in pieces] == [
        (0, BlockKind.HEADING),
        (0, BlockKind.PARAGRAPH),
        (1, BlockKind.HEADING),
        (1, BlockKind.TABLE),
        (2, BlockKind.PARAGRAPH),
    ]
    assert pieces[3].text == "2018 2017\nInventories 4,366 4,134\nTotal assets 36,500 37,987"


def test_rows_glued_by_the_pdf_are_cut():
    found = [piece.text for piece in pieces_of(["Inventories 4,366 4,134 Total assets 36,500 37,987"])]
    assert found == ["Inventories 4,366 4,134\nTotal assets 36,500 37,987"]


def filing_pdf() -> bytes:
    """Return a PDF of four pages whose metadata title is an accession number."""
    file = io.BytesIO()
    canvas = Canvas(file)
    canvas.setTitle("0000000000-19-000007")
    body = [
        ANNUAL.format(day="December 31, 2018"),
        f"Item 1. Business\n{SENTENCE}\n{SENTENCE}",
        "Consolidated Balance Sheets\n(In millions)\nInventories 4,366 4,134\nTotal assets 36,500 37,987",
        "SIGNATURES\nDate: February 7, 2019",
    ]
    for page in body:
        for number, line in enumerate(page.split("\n")):
            canvas.drawString(40, 800 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def test_a_filing_is_titled_by_its_cover_and_keeps_its_page_numbers():
    document = read_pdf(SourceFile(Path("0000000000-19-000007.pdf"), filing_pdf(), date(2026, 1, 1)))
    assert document.title == "OAKWELL PUMPS, INC. 10-K FY2018"
    assert document.published_on == date(2019, 2, 7)
    assert Filing.of(document) == Filing(
        "OAKWELL PUMPS, INC.",
        "10-K",
        2018,
        ends=date(2018, 12, 31),
        codes=("OAKW.US",),
        number="0-99999",
        currency="USD",
        scale=1_000_000,
    )
    table = next(chunk for chunk in chunk_pages(document) if "Inventories" in chunk.text)
    assert (table.page, table.heading) == (3, ("Item 1. Business", "Consolidated Balance Sheets"))
    assert table.text == document.text[table.start : table.end]


def test_relations_are_read_from_prose_within_the_budget():
    document = read_pdf(SourceFile(Path("a.pdf"), filing_pdf(), date(2026, 1, 1)))
    (block,) = prose_of(document, 5)
    assert document.text[block.start : block.end].startswith("Net sales rose")
    assert prose_of(document, 0) == ()
    assert prose_of(Document("doc:1", "", date(2020, 1, 1), ""), 5) == ()


def test_a_filing_in_html_is_titled_by_its_cover_too():
    lines = ANNUAL.format(day="December 31, 2018").split("\n")
    page = "".join(f"<p>{line}</p>" for line in (*lines, SENTENCE * 40, "SIGNATURES", "Date: February 7, 2019"))
    markup = f"<html><head><title>0000000000-19-000007</title></head><body>{page}</body></html>"
    document = read_html(SourceFile(Path("a.html"), markup.encode(), date(2026, 1, 1)))
    assert (document.title, document.published_on) == ("OAKWELL PUMPS, INC. 10-K FY2018", date(2019, 2, 7))
    assert document.pages == ()
    assert Filing.of(document) is not None
