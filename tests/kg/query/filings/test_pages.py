from __future__ import annotations

from datetime import date
from itertools import product

import pytest

from kg.query.filings.outline import outline_of
from kg.query.filings.pages import filing_pages, is_about_filings
from kg.query.session import QuerySession
from kg.service.base import KnowledgeBase
from tests.contracts.reference import MemoryStore
from tests.kg.query.filings.world import ISSUERS, YEARS, filings

TOPICS = {
    "What is the FY{y} capital expenditure amount for {c}, from the cash flow statement?": 5,
    "What is the year end FY{y} inventories balance for {c}?": 4,
    "What drove operating margin change as of FY{y} for {c}?": 3,
    "What does {c} say about litigation and plaintiffs in FY{y}?": 6,
}


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    return KnowledgeBase(filings(), lang="en")


@pytest.mark.parametrize(
    ("wording", "issuer", "year"), list(product(TOPICS, ("Oakwell Pumps", "Elmford's", "ELMF"), YEARS))
)
def test_issuers_and_years_on_one_template_are_not_exchanged(kb: KnowledgeBase, wording: str, issuer: str, year: int):
    answer = kb.filing_pages(wording.format(y=year, c=issuer))
    company = ISSUERS[0][0] if issuer.startswith("Oak") else ISSUERS[1][0]
    assert (answer.filings[0].company, answer.filings[0].fiscal_year) == (company, year)
    first = [(each.title, each.page) for each in answer.pages[:3]]
    assert {title for title, _ in first[:1]} == {f"{company} 10-K FY{year}"}
    assert (f"{company} 10-K FY{year}", TOPICS[wording]) in first
    assert answer.missing == ()


def test_a_quote_is_cut_out_of_the_stored_text(kb: KnowledgeBase):
    answer = kb.filing_pages("How much was the capital expenditure of Oakwell in FY2022?")
    page = answer.pages[0]
    with kb.session() as session:
        document = session.view.document(page.document)
    assert document is not None
    assert document.text[page.start : page.end] == page.quote
    assert document.page_of(page.start) == page.page
    assert "Purchases of property" in page.quote


def test_what_a_question_leaves_open_is_said(kb: KnowledgeBase):
    no_year = kb.filing_pages("What industry does Oakwell operate in?")
    assert no_year.missing == ("year",)
    assert no_year.filings[0].fiscal_year == max(YEARS)
    assert kb.filing_pages("What were total assets in FY2021?").missing == ("company",)


def test_a_report_on_an_event_answers_what_is_about_it(kb: KnowledgeBase):
    answer = kb.filing_pages("Which nominees were elected to the board in Oakwell's 8-K dated May 20, 2022?")
    assert (answer.filings[0].form, answer.filings[0].period_end) == ("8-K", date(2022, 5, 20))


def test_nothing_that_was_published_later_is_seen(kb: KnowledgeBase):
    answer = kb.filing_pages("What is the FY2022 capital expenditure amount for Oakwell?", as_of=date(2022, 12, 31))
    assert {each.fiscal_year for each in answer.filings if each.form == "10-K"} == {2021}
    assert all(page.published_on <= date(2022, 12, 31) for page in answer.pages)


def test_ask_goes_to_the_filings_by_itself(kb: KnowledgeBase):
    answer = kb.ask("What is the FY2022 capital expenditure amount for Oakwell?")
    assert answer.status == "partial"  # the unit of its statements is not stated
    assert answer.passages[1].citations[0].page == 5
    with kb.session() as session:
        assert is_about_filings(session, "Oakwell 2022年年报的存货是多少？")
        assert is_about_filings(session, "Who is the largest customer of Oakwell in FY2022?")
        assert not is_about_filings(session, "Who is the largest customer of Oakwell in 2022?")
        assert not is_about_filings(session, "谁生产水泵？")
        assert not is_about_filings(session, "Which companies make pumps in 2022?")


def test_a_base_without_filings_has_no_pages():
    session = QuerySession(MemoryStore().view())
    answer = filing_pages(session, "What is the FY2022 capital expenditure amount for Oakwell?")
    assert (answer.filings, answer.pages, answer.missing) == ((), (), ())


def test_the_outline_has_the_pages_of_each_section(kb: KnowledgeBase):
    with kb.session() as session:
        head = next(each for each in session.view.documents() if each.kind == "10-K")
        document = session.view.document(head.id)
    assert document is not None
    rows = [(each.level, each.title, each.page, each.last_page) for each in outline_of(document).sections]
    assert rows[0] == (1, "Item 1. Business", 2, 3)
    assert rows[2:4] == [
        (1, "Item 8. Financial Statements", 4, 6),
        (2, "Consolidated Balance Sheets", 4, 5),
    ]
    assert kb.filing_outline(head.id).sections == outline_of(document).sections
