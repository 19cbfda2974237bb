"""Covers are made up: no issuer here exists."""

from __future__ import annotations

from datetime import date

import pytest

from extraction.documents.filings.cover import published_on, read_cover, with_unit
from kg.filing import Filing

ANNUAL = """Table of Contents
UNITED STATES
SECURITIES AND EXCHANGE COMMISSION
Washington, D.C. 20549
FORM 10-K
(Mark One)
☒ ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934
For the fiscal year ended {day}
Commission File Number: 0-99999
OAKWELL PUMPS, INC.
(Exact name of registrant as specified in its charter)
Delaware 99-9999999
Title of each class Trading Symbol(s) Name of each exchange on which registered
Common Stock, par value $0.01 OAKW New York Stock Exchange
"""
QUARTER = """UNITED STATES SECURITIES AND EXCHANGE COMMISSION
FORM 10-Q
For the quarterly period ended July 29, 2023
OAKWELL PUMPS, INC.
(Exact name of registrant as specified in its charter)
Common Stock OAKW New York Stock Exchange
Three Months Ended July 29, Six Months Ended July 29,
2023 2022 2023 2022
"""
EVENT = """UNITED STATES
SECURITIES AND EXCHANGE COMMISSION
FORM 8-K
Date of Report (Date of earliest event reported): April 24, 2023
Oakwell Pumps, Inc.
(Exact name of registrant as specified in its charter)
"""
RELEASE = """Oakwell Pumps Reports Second Quarter Fiscal 2024 Results
DULUTH, Minn., August 29, 2023 – Oakwell Pumps, Inc. (NYSE: OAKW) today announced results for the 13-week
second quarter ended July 29, 2023. This release contains forward-looking statements.
Condensed Consolidated Statements of Earnings
Three Months Ended July 29, 2023 Six Months Ended July 29, 2023
"""
ANNUAL_ZH = """示例泵业股份有限公司
2023 年年度报告
公司代码：600000
2024 年 4 月 20 日
"""


def test_an_annual_report_is_known_by_its_cover():
    found = read_cover([ANNUAL.format(day="December 31, 2018")])
    ends, codes, number = date(2018, 12, 31), ("OAKW.US",), "0-99999"
    assert found == Filing("OAKWELL PUMPS, INC.", "10-K", 2018, ends=ends, codes=codes, number=number)
    assert found.missing == ()
    assert found.title == "OAKWELL PUMPS, INC. 10-K FY2018"


@pytest.mark.parametrize(
    ("day", "year"),
    [
        ("January 2, 2021", 2020),  # a year of 52 or 53 weeks that ends in the first days of the next one
        ("November 27, 2015", 2015),
        ("June 30, 2022", 2022),
    ],
)
def test_the_fiscal_year_is_that_in_which_it_ends(day: str, year: int):
    found = read_cover([ANNUAL.format(day=day)])
    assert found is not None
    assert found.year == year


def test_what_an_issuer_calls_its_year_is_kept():
    inside = "In fiscal 2022 sales rose. Fiscal 2022 had 52 weeks. Fiscal 2022 compared with fiscal 2021."
    found = read_cover([ANNUAL.format(day="January 28, 2023"), inside])
    assert found is not None
    assert (found.year, found.own_year) == (2023, 2022)


def test_a_quarter_is_counted_by_the_longest_span_that_ends_with_it():
    found = read_cover([QUARTER])
    assert found is not None
    assert (found.form, found.year, found.quarter) == ("10-Q", 2024, 2)


def test_a_current_report_has_the_day_of_its_event():
    found = read_cover([EVENT])
    assert found is not None
    assert (found.company, found.form, found.ends) == ("Oakwell Pumps, Inc.", "8-K", date(2023, 4, 24))
    assert found.title == "Oakwell Pumps, Inc. 8-K 2023-04-24"


def test_a_current_report_that_announces_results_has_their_period_too():
    item = "Item 2.02 Results of Operations and Financial Condition\nResults of the quarter ended July 29, 2023.\n"
    found = read_cover([EVENT.replace("April 24", "August 29"), item, RELEASE])
    assert found is not None
    assert (found.form, found.year, found.quarter, found.ends) == ("8-K", 2024, 2, date(2023, 8, 29))


def test_a_letter_to_shareholders_may_come_before_the_cover():
    found = read_cover(["To our shareholders", "Sales rose.", ANNUAL.format(day="December 31, 2018")])
    assert found is not None
    assert (found.form, found.year) == ("10-K", 2018)


def test_a_release_that_refers_to_a_form_is_a_release():
    note = "Factors are described in our Form 10-K filed with the Securities and Exchange Commission."
    found = read_cover([f"{RELEASE}{note}"])
    assert found is not None
    assert found.form == "earnings release"


def test_an_earnings_release_has_no_cover_but_a_headline():
    found = read_cover([RELEASE])
    assert found is not None
    assert (found.company, found.form, found.year, found.quarter) == (
        "Oakwell Pumps, Inc.",
        "earnings release",
        2024,
        2,
    )
    assert found.codes == ("OAKW.US",)
    assert published_on(found, [RELEASE]) == date(2023, 8, 29)


def test_chinese_reports_are_known_by_title_and_code():
    found = read_cover([ANNUAL_ZH])
    assert found is not None
    assert (found.company, found.form, found.year) == ("示例泵业股份有限公司", "年报", 2023)
    assert found.codes == ("600000.SH",)
    assert found.title == "示例泵业股份有限公司2023年年度报告"
    quarterly = read_cover([ANNUAL_ZH.replace("年年度报告", "年第三季度报告")])
    assert quarterly is not None
    assert (quarterly.form, quarterly.quarter, quarterly.ends) == ("季报", 3, date(2023, 9, 30))


@pytest.mark.parametrize(
    "text",
    [
        "示例证券\n示例泵业（600000）2023年年报点评：业绩超预期\n分析师：张三\n",
        "Oakwell Pumps: second quarter preview\nWe expect three months ended July 29, 2023 to grow (NYSE: OAKW).",
        "The SEC asks for Form 10-K within sixty days.",
        "See our Form 10-K filed with the\nSecurities and Exchange Commission for factors that matter.",
        "",
    ],
)
def test_notes_about_a_company_are_no_filings(text: str):
    assert read_cover([text]) is None


def test_a_cover_without_a_name_or_a_period_is_a_problem_not_a_guess():
    found = read_cover(["UNITED STATES SECURITIES AND EXCHANGE COMMISSION\nFORM 10-K\nannual report"])
    assert found == Filing("", "10-K")
    assert found.missing == ("company", "period")


def test_the_day_of_publication_is_never_the_end_of_the_period():
    cover = ANNUAL.format(day="December 31, 2018")
    found = read_cover([cover])
    assert found is not None
    assert published_on(found, [cover, "December 31, 2018", "SIGNATURES\nDate: February 7, 2019"]) == date(2019, 2, 7)
    assert published_on(found, [cover]) is None


def test_chinese_covers_state_a_day_or_a_month():
    found = read_cover([ANNUAL_ZH])
    assert found is not None
    assert published_on(found, [ANNUAL_ZH]) == date(2024, 4, 20)
    assert published_on(found, [ANNUAL_ZH.replace("4 月 20 日", "4 月")]) == date(2024, 4, 30)


@pytest.mark.parametrize("text", ["A" * 60_000, "Aa " * 20_000, "three months " * 5_000, "and of & " * 8_000])
def test_no_text_hangs_the_reader(text: str):
    assert read_cover([text]) is None


def test_the_unit_is_the_one_that_most_pages_state():
    found = Filing("Oakwell", "10-K")
    pages = ["(In millions, except per share data)", "(Dollars in millions)\n", "(in thousands)"]
    assert with_unit(found, pages).scale == 1_000_000
    assert with_unit(found, ["单位：千元"]).scale == 1_000
    assert with_unit(found, ["no unit"]) == found
