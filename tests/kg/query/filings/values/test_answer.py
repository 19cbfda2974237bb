from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from kg.query.filings.values.answer import filing_value
from kg.query.filings.values.concepts import concepts
from kg.service.base import KnowledgeBase
from tests.kg.query.filings.values.world import ISSUERS, RESTATED, YEARS, amounts, filings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.query.session import QuerySession

LINES = {
    "revenue": "Revenues",
    "cost": "CostOfRevenue",
    "operating": "OperatingIncomeLoss",
    "net": "NetIncomeLoss",
    "inventories": "Inventories",
    "assets": "Assets",
    "liabilities": "Liabilities",
    "equity": "EquityTotal",
    "operating_cash": "NetCashProvidedByOperatingActivities",
    "spending": "PaymentsToAcquireProperty",
}


@pytest.fixture(scope="module")
def session() -> Iterator[QuerySession]:
    with KnowledgeBase(filings(), lang="en").session() as session:
        yield session


def test_rows_are_read_with_their_year_and_the_same_year_in_the_next_filing_agrees(session: QuerySession):
    agree = read = 0
    for listed in session.filings.filings:
        statements = session.statements(listed)
        base = next(base for name, _, base in ISSUERS if name == listed.filing.company)
        assert statements is not None
        for name, concept in LINES.items():
            for year in (listed.filing.year, listed.filing.year - 1):
                figure = statements.find(concepts()[concept], year)
                assert figure is not None
                read += 1
                agree += figure.value == amounts(base, year)[name] * 1e6
    # One figure is restated on purpose.
    assert (read - agree, read) == (1, len(ISSUERS) * len(YEARS) * len(LINES) * 2)


def test_assets_are_liabilities_and_equity(session: QuerySession):
    for listed in session.filings.filings:
        statements = session.statements(listed)
        assert statements is not None
        found = [
            statements.find(concepts()[name], listed.filing.year) for name in ("Assets", "Liabilities", "EquityTotal")
        ]
        assets, liabilities, equity = [each.value for each in found if each]
        assert assets == liabilities + equity


@pytest.mark.parametrize("year", YEARS[1:])
@pytest.mark.parametrize(("company", "base"), [("Oakwell", 4_000), ("Elmford Pumps", 7_000)])
@pytest.mark.parametrize(
    ("wording", "expected"),
    [
        ("What is the FY{y} capital expenditure amount (in USD millions) for {c}?", lambda n, _: n["spending"] * 1e6),
        (
            "FY{y} operating cash flow less capital expenditures, {c}?",
            lambda n, _: (n["operating_cash"] - n["spending"]) * 1e6,
        ),
        ("What is the ratio of long-term debt to total equity of {c} in FY{y}?", lambda n, _: n["debt"] / n["equity"]),
        (
            "What is the sum of inventories and long-term debt of {c} in FY{y}?",
            lambda n, _: (n["inventories"] + n["debt"]) * 1e6,
        ),
        (
            "What is the FY{y} spending ratio of {c}, defined as capex / revenue?",
            lambda n, _: n["spending"] / n["revenue"],
        ),
        ("How much were {c}'s total assets at the end of FY{y}?", lambda n, _: n["assets"] * 1e6),
        ("What is {c}'s FY{y} gross margin?", lambda n, _: 100 * (n["revenue"] - n["cost"]) / n["revenue"]),
        ("What was the growth of revenue of {c} in FY{y}?", lambda n, b: 100 * (n["revenue"] / b["revenue"] - 1)),
        (
            "FY{y} turnover for {c}? It is defined as: FY{y} revenue / (average total assets between FY{x} and FY{y}).",
            lambda n, b: n["revenue"] / ((n["assets"] + b["assets"]) / 2),
        ),
    ],
)
def test_values_are_of_the_right_issuer_and_year(session: QuerySession, wording, expected, company, base, year):
    answer = filing_value(session, wording.format(c=company, y=year, x=year - 1))
    assert answer.value == pytest.approx(expected(amounts(base, year), amounts(base, year - 1)))
    for operand in answer.operands:
        assert operand.company.startswith(company)
        assert operand.basis == "consolidated"
        document = session.view.document(operand.document)
        assert document is not None
        assert document.text[operand.start : operand.end] == operand.quote
        assert document.page_of(operand.start) == operand.page


def test_decisions_follow_from_the_numbers(session: QuerySession):
    rose = filing_value(session, "Did Oakwell's revenue increase in FY2022?")
    assert (rose.decision, len(rose.operands)) == ("yes", 2)
    assert filing_value(session, "Did Oakwell's revenue decline in FY2022?").decision == "no"
    both = filing_value(session, "Which had the higher net income in FY2022, Oakwell or Elmford?")
    assert both.decision == "Elmford Pumps, Inc."
    assert "Oakwell" in both.text


def test_what_is_restated_later_is_named(session: QuerySession):
    company, year = RESTATED
    answer = filing_value(session, f"What were the inventories of {company} in FY{year}?")
    true = amounts(4_000, year)["inventories"] * 1e6
    assert answer.value == true
    assert answer.operands[0].restated == true + 60e6


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("What were total assets in FY2021?", "company"),
        ("What were Oakwell's total assets?", "year"),
        ("What were Oakwell's total assets in FY2015?", "missing"),
        ("What was Oakwell's revenue in the second quarter of FY2021?", "filing"),
        ("What was Oakwell's adjusted operating income in FY2021?", "part"),
        ("What was the revenue of Oakwell's European segment in FY2021?", "part"),
        ("What was Oakwell's revenue in Greater China in FY2021?", "part"),
        ("What was Oakwell's operating income minus income tax in FY2021?", "part"),
        ("What was Oakwell's revenue in the second half of FY2021?", "quarter"),
        ("State the cash that Oakwell paid as income tax in FY2021.", "part"),
        ("What was Oakwell's inventory impairment in FY2021?", "part"),
        ("What was Oakwell's service revenue in FY2021?", "part"),
        ("What was Oakwell's goodwill in FY2021?", "missing"),
        ("What is the FY2021 zeal of Oakwell? Zeal is defined as: pumps sold / prayers said.", "definition"),
        ("What was Oakwell's revenue in June 2021?", "period"),
        ("What were Oakwell's inventories at the beginning of FY2021?", "period"),
        ("Was Oakwell's revenue higher than $9 billion in FY2021?", "part"),
        ("Why did Oakwell's operating income fall in FY2021?", "part"),
    ],
)
def test_what_is_not_certain_is_refused(session: QuerySession, question: str, reason: str):
    answer = filing_value(session, question)
    assert (answer.value, answer.reason) == (None, reason)
    assert answer.status != "answered"


def test_pages_of_another_issuer_are_no_evidence(session: QuerySession):
    answer = filing_value(session, "What does Oakwell say about litigation in FY2021?")
    assert answer.pages
    assert {page.title for page in answer.pages} <= {f"{ISSUERS[0][0]} 10-K FY{year}" for year in (2021, 2022)}
    assert any("dropped" in step for step in answer.trace) or len(answer.pages) < 15


def test_ask_answers_with_the_value_and_cites_its_rows():
    base = KnowledgeBase(filings(), lang="en")
    answer = base.ask("What is the FY2022 gross margin of Oakwell?")
    assert answer.status == "answered"
    assert [cited.page for cited in answer.lines[0].citations] == [2, 2]
    assert {cited.title for cited in answer.lines[0].citations} == {"Oakwell Pumps, Inc. 10-K FY2022"}


LOOK_ALIKE = (
    "What is the FY{y} {line} for {c}?",
    "How much was the {line} of {c} in FY{y}?",
    "Using the statements only, what is {c}'s year end FY{y} {line}? Answer in USD millions.",
    "Please report the {line} that {c} shows in its FY{y} annual report.",
)
SPOKEN = {
    "revenue": "revenue",
    "cost": "cost of goods sold",
    "operating": "operating income",
    "net": "net income",
    "inventories": "inventory",
    "assets": "total assets",
    "liabilities": "total liabilities",
    "operating_cash": "cash from operations",
    "spending": "capital expenditures",
}


def test_of_216_questions_to_like_filings_none_is_exchanged(session: QuerySession):
    asked = exchanged = 0
    for company, _, base in ISSUERS:
        for year, wording, (name, spoken) in product(YEARS, LOOK_ALIKE, SPOKEN.items()):
            answer = filing_value(session, wording.format(c=company, y=year, line=spoken))
            asked += 1
            exchanged += answer.value != amounts(base, year)[name] * 1e6
    assert (exchanged, asked) == (0, 216)


@pytest.mark.parametrize(
    "question",
    [
        "What was Oakwell's book value per share in FY2022?",
        "Oakwell 2022年的存货率是多少？",
        "Oakwell 2022年所得税费用率？",
    ],
)
def test_what_is_no_amount_is_not_answered_with_one(session: QuerySession, question: str):
    assert filing_value(session, question).status == "refused"
