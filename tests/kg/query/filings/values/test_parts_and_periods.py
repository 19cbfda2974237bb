"""Lists, segments, quarters, shares and employees of one made-up issuer, and what must be refused beside them."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from kg.filing import Filing
from kg.query.filings.values.answer import filing_value
from kg.service.base import KnowledgeBase
from tests.contracts.reference import MemoryStore
from tests.kg.query.filings.world import HEADING, PARAGRAPH, TABLE, Page, reading_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.query.session import QuerySession

COMPANY = "Oakwell Pumps, Inc."
UNIT = (PARAGRAPH, 0, "(in millions, except per share data)")
ANNUAL: list[Page] = [
    [
        (PARAGRAPH, 0, f"{COMPANY} annual report for 2022"),
        (PARAGRAPH, 0, "As of December 31, 2022, we employed approximately 12,400 people worldwide."),
        (PARAGRAPH, 0, "The Mill plant, opened in 1990, had 700 employees."),
    ],
    [
        (HEADING, 2, "Consolidated Statements of Income"),
        UNIT,
        (
            TABLE,
            0,
            (
                "2022 2021 2020\nNet sales $ 4,548 $ 4,411 $ 4,274\nCost of sales 2,728 2,646 2,564\n"
                "Operating income 909 882 854\nIncome before income taxes 758 735 712\n"
                "Provision for income taxes 151 147 142\nNet income 607 588 570"
            ),
        ),
        (PARAGRAPH, 0, "Diluted earnings per share"),
        (
            TABLE,
            0,
            "Net income attributable to Oakwell $ 3.03 $ 2.92 $ 2.81\nWeighted-average shares 200.3 201.4 202.8",
        ),
    ],
    [
        (HEADING, 2, "Consolidated Balance Sheets"),
        UNIT,
        (TABLE, 0, "2022 2021\nInventories 528 521\nTotal current assets 1,353 1,348\nTotal assets 4,200 4,150"),
        (TABLE, 0, "Total current liabilities 1,012 1,009\nTotal liabilities 944 933\nTotal equity 3,256 3,217"),
    ],
    [
        (HEADING, 2, "NOTE 12. Segments"),
        (PARAGRAPH, 0, "Net sales by segment were as follows (in millions)"),
        (
            TABLE,
            0,
            (
                "2022 2021 2020\nWater Works $ 2,900 $ 2,600 $ 2,500\nBreweries (1) 1,700 1,850 1,800\n"
                "Eliminations (52) (39) (26)\nTotal net sales $ 4,548 $ 4,411 $ 4,274"
            ),
        ),
        (PARAGRAPH, 0, "Subscription sales by segment (in millions)"),
        (
            TABLE,
            0,
            "2022 2021 2020\nWater Works 120 110 100\nHouseholds 90 80 70\nTotal subscription sales 210 190 170",
        ),
    ],
]
QUARTER: list[Page] = [
    [(PARAGRAPH, 0, f"{COMPANY} quarterly report")],
    [
        (HEADING, 2, "Condensed Consolidated Statements of Income"),
        UNIT,
        (PARAGRAPH, 0, "Three Months Ended Six Months Ended\nJune 30, June 30,"),
        (
            TABLE,
            0,
            (
                "2022 2021 2022 2021\nNet sales $ 1,150 $ 1,100 $ 2,260 $ 2,190\nCost of sales 690 670 1,350 1,310\n"
                "Operating income 230 215 450 440\nNet income 150 140 300 290"
            ),
        ),
    ],
    [
        (HEADING, 2, "Condensed Consolidated Balance Sheets"),
        UNIT,
        (PARAGRAPH, 0, "June 30, December 31,"),
        (TABLE, 0, "2022 2021\nInventories 560 521\nTotal current assets 1,400 1,348\nTotal assets 4,260 4,150"),
        (TABLE, 0, "Total current liabilities 1,030 1,009\nTotal liabilities 950 933\nTotal equity 3,310 3,217"),
    ],
    [
        (HEADING, 2, "Condensed Consolidated Statements of Cash Flows"),
        UNIT,
        (PARAGRAPH, 0, "Six Months Ended\nJune 30,"),
        (
            TABLE,
            0,
            "2022 2021\nNet income 300 290\nDepreciation 60 58\nNet cash provided by operating activities 310 305",
        ),
        (TABLE, 0, "Purchases of property, plant and equipment (110) (100)\nDividends paid (40) (38)"),
    ],
]


@pytest.fixture(scope="module")
def session() -> Iterator[QuerySession]:
    store = MemoryStore()
    codes = ("OAKW.US",)
    with store.writer() as writer:
        annual = Filing(COMPANY, "10-K", 2022, ends=date(2022, 12, 31), codes=codes, currency="USD")
        writer.write(reading_of(annual, ANNUAL, date(2023, 2, 7)))
        quarter = Filing(COMPANY, "10-Q", 2022, 2, ends=date(2022, 6, 30), codes=codes, currency="USD")
        writer.write(reading_of(quarter, QUARTER, date(2022, 8, 4)))
    with KnowledgeBase(store, lang="en").session() as session:
        yield session


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Oakwell's diluted EPS in FY2022?", 3.03),
        ("How many employees did Oakwell have at the end of 2022?", 12_400),
        ("What was Oakwell's Water Works net sales in 2021?", 2.6e9),
        ("How much revenue did the Breweries segment of Oakwell make in 2022?", 1.7e9),
        ("By what percentage did Oakwell's Water Works revenue grow in 2022?", 100 * (2900 / 2600 - 1)),
        ("What percentage of Oakwell's 2022 revenue came from Water Works?", 100 * 2900 / 4548),
        ("What were Oakwell's net sales in Q2 2022?", 1.15e9),
        ("What were Oakwell's net sales in the first half of 2022?", 2.26e9),
        ("How did Oakwell's net sales change in percent in Q2 2022 compared with Q2 2021?", 100 * (1150 / 1100 - 1)),
        ("What inventories did Oakwell have as of June 30, 2022?", 560e6),
        ("What was Oakwell's operating cash flow for the six months ended June 30, 2022?", 310e6),
    ],
)
def test_a_value_of_a_part_or_a_period(session: QuerySession, question: str, expected: float):
    answer = filing_value(session, question)
    assert answer.value == pytest.approx(expected)
    assert answer.operands


@pytest.mark.parametrize(
    "question",
    [
        "What were Oakwell's net sales in Q3 2022?",
        "What was Oakwell's operating cash flow in Q2 2022?",  # the report states six months
        "What were Oakwell's inventories as of March 31, 2022?",
        "What was Oakwell's Households revenue in 2022?",  # of another total
        "What was Oakwell's Water revenue in 2022?",
        "What was Oakwell's revenue from subscription in 2022?",
        "What was the segment revenue of Oakwell in 2022?",
        "What was Oakwell's asset turnover in Q2 2022?",
        "What share of Oakwell's cost of sales in 2022 came from Water Works?",
    ],
)
def test_what_no_statement_says_is_refused(session: QuerySession, question: str):
    answer = filing_value(session, question)
    assert (answer.value, answer.items, answer.status) == (None, (), answer.status)
    assert answer.status != "answered"


def test_lists_name_each_value(session: QuerySession):
    years = filing_value(session, "What were Oakwell's net sales in each of the three years 2020 to 2022?")
    assert [(each.period, each.value) for each in years.items] == [
        ("FY2020", 4.274e9),
        ("FY2021", 4.411e9),
        ("FY2022", 4.548e9),
    ]
    lines = filing_value(session, "What were total assets and total liabilities of Oakwell in 2022?")
    assert [(each.label, each.value) for each in lines.items] == [
        ("total assets", 4.2e9),
        ("total liabilities", 944e6),
    ]
    segments = filing_value(session, "List the net sales of each segment of Oakwell in 2022.")
    assert {each.label: each.value for each in segments.items} == {"Water Works": 2.9e9, "Breweries": 1.7e9}
    best = filing_value(session, "Which segment of Oakwell had the lowest net sales in 2022?")
    assert (best.decision, best.value) == ("Breweries", 1.7e9)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What was Blue Tractor's revenue in 2022?", "Blue Tractor"),
        ("蓝色拖拉机2022年营业收入是多少？", "蓝色拖拉机"),
    ],
)
def test_a_company_that_is_not_there_is_named(session: QuerySession, question: str, name: str):
    answer = filing_value(session, question)
    assert (answer.reason, name in answer.text) == ("company", True)


def test_a_second_company_that_is_not_there_is_not_ignored(session: QuerySession):
    assert filing_value(session, "Oakwell or Tractorix: which had the higher revenue in 2022?").status != "answered"
