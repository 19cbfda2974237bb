from __future__ import annotations

import pytest

from kg.filing import Filing
from kg.query.filings.names import SURE, CompanyNames, names_of

COMPANIES = (
    "AMAZON.COM, INC.",
    "JOHNSON & JOHNSON",
    "THE PROCTER & GAMBLE COMPANY",
    "PG&E CORPORATION",
    "AMERICAN WATER WORKS COMPANY, INC.",
    "AMERICAN EXPRESS COMPANY",
    "L3HARRIS TECHNOLOGIES, INC.",
    "V. F. CORPORATION",
    "MONDELĒZ INTERNATIONAL, INC.",
    "LOWE’S COMPANIES, INC.",
    "MORGAN STANLEY",
    "JPMORGAN CHASE & CO.",
    "PEPSICO, INC.",
    "SQUARE, INC.",
)
NAMED = {
    "What was Amazon's revenue in FY2022?": 0,
    "What is J&J's FY2022 net income?": 1,
    "P&G2022年的营业收入是多少？": 2,
    "What are the total assets of PG&E in FY2022?": 3,
    "How much did American Water spend on property in FY2022?": 4,
    "AMEX FY2022 total assets": 5,
    "L3 Harris FY2022 inventories": 6,
    "VF Corp FY2022 inventories": 7,
    "Mondelez FY2022 inventories": 8,
    "What did Lowe's sell in FY2022?": 9,
    "JP Morgan's FY2022 total assets": 11,
    "J.P. Morgan FY2022 total assets": 11,
    "What was Pepsi's capital spending in FY2022?": 12,
    "FY2016 revenue of Block (formerly known as Square)": 13,
}


def names(*without: int) -> CompanyNames:
    kept = (each for each in enumerate(COMPANIES) if each[0] not in without)
    return CompanyNames({number: names_of(Filing(name, "10-K", 2022)) for number, name in kept})


@pytest.mark.parametrize(("question", "company"), NAMED.items())
def test_a_company_is_found_by_the_names_in_use(question: str, company: int):
    found = names().named(question)
    assert list(found) == [company]
    assert found[company] >= SURE


@pytest.mark.parametrize("question", ["JP Morgan's FY2022 total assets", "Morgan Guaranty FY2022 total assets"])
def test_a_part_of_another_name_is_nobody(question: str):
    assert not any(score >= SURE for score in names(11).named(question).values())
