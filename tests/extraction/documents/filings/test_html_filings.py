"""Filings as the SEC's HTML: pages by their breaks, cells for signs, hidden XBRL; read and asked as PDFs are."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from extraction.documents.html import read_html
from extraction.documents.metadata import SourceFile
from extraction.pipeline import Extractor
from kg.filing import Filing
from kg.query.filings.outline import outline_of
from kg.service.base import KnowledgeBase
from tests.contracts.reference import MemoryStore
from tests.extraction.documents.filings.sec_markup import sec_markup

COVER = """UNITED STATES
SECURITIES AND EXCHANGE COMMISSION
Washington, D.C. 20549
FORM 10-K
ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934
For the fiscal year ended December 31, 2022
Commission file number 001-98765
Oakwell Instruments, Inc.
(Exact name of registrant as specified in its charter)"""
BUSINESS = """Item 1. Business
Oakwell makes pressure gauges for water works and sells them through distributors in North America and in Europe.
Item 7. Management's Discussion and Analysis
Sales rose because utilities replaced gauges that were installed before 1990, and prices were raised in the spring."""
BALANCE = """Item 8. Financial Statements
CONSOLIDATED BALANCE SHEETS
(In millions)
The split was made on June 24, 2015.
December 31, 2022 2021
Cash and cash equivalents $ 210 $ 190
Inventories 530 480
Total current assets 1,240 1,130
Total assets $ 4,400 $ 4,100
Total current liabilities 640 610
Total liabilities 1,900 1,850
Total shareholders' equity 2,500 2,250
Total liabilities and shareholders' equity $ 4,400 $ 4,100"""
INCOME = """CONSOLIDATED STATEMENTS OF INCOME
(In millions)
Years ended December 31, 2022 2021 2020
Net sales $ 3,300 $ 3,000 $ 2,800
Cost of sales 2,000 1,850 1,700
Gross profit 1,300 1,150 1,100
Other expense (40) (35) (30)
Net income $ 310 $ 260 $ 220"""
SIGNATURES = """SIGNATURES
Pursuant to the requirements of Section 13 the registrant has duly caused this report to be signed.
Date: February 21, 2023"""
PAGES = (COVER, BUSINESS, BALANCE, INCOME, SIGNATURES)


def _source(pages: tuple[str, ...] = PAGES) -> SourceFile:
    return SourceFile(Path("x.htm"), sec_markup(pages).encode(), date(2026, 1, 1))


def test_a_html_filing_is_known_by_its_cover_and_has_pages():
    document = read_html(_source())
    filing = Filing.of(document)
    assert filing is not None
    assert (filing.company, filing.form, filing.year, filing.number) == (
        "Oakwell Instruments, Inc.",
        "10-K",
        2022,
        "1-98765",
    )
    assert (filing.currency, filing.scale, document.published_on) == ("USD", 10**6, date(2023, 2, 21))
    assert len(document.pages) == len(PAGES)
    assert "98,765,432" not in document.text
    assert [(each.title[:7], each.page) for each in outline_of(document).sections][:3] == [
        ("Item 1.", 2),
        ("Item 7.", 2),
        ("Item 8.", 3),
    ]


def test_without_page_breaks_it_has_no_pages():
    markup = sec_markup(("\n".join(PAGES),))
    document = read_html(SourceFile(Path("x.htm"), markup.encode(), date(2026, 1, 1)))
    assert document.pages == ()
    assert document.kind == "10-K"


@pytest.mark.parametrize(
    ("question", "value", "page"),
    [
        ("What is the FY2022 gross profit of Oakwell Instruments?", 1.3e9, 4),
        ("What are the FY2021 total assets of Oakwell Instruments?", 4.1e9, 3),
        ("By how much did inventories of Oakwell Instruments grow in FY2022, in percent?", 100 * (530 / 480 - 1), 3),
    ],
)
def test_questions_to_a_html_filing(question: str, value: float, page: int):
    store = MemoryStore()
    extractor = Extractor.default(ner=False, edge_model="off", filing_pages=0)
    with store.writer() as writer:
        writer.write(extractor.extract(read_html(_source()), recorded_at=datetime(2026, 1, 1, tzinfo=UTC)))
    answer = KnowledgeBase(store, lang="en").filing_value(question)
    assert answer.value == pytest.approx(value)
    assert {operand.page for operand in answer.operands} == {page}
