"""Fiscal years as the report says them, and what a document's dates come to in the pipeline."""

from __future__ import annotations

from datetime import date

import pytest

from kg.dating.reader import find_periods
from kg.dating.reference import fiscal_year_end
from tests.goldens.reports import facts_of, read, report


def _shown(text: str, *, fiscal_year_end: int) -> list[tuple[str, str]]:
    found = find_periods(text, date(2025, 8, 20), fiscal_year_end=fiscal_year_end)
    return [(each.text, str(each.period)) for each in found]


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("公司财年截至每年6月30日。", 6),
        ("公司财政年度结束于3月31日，与日历年不同。", 3),
        ("该公司财年于每年9月底结束。", 9),
        ("公司财年为每年7月至次年6月，2024财年收入增长。", 6),
        ("截至2024年3月31日止年度，公司实现收入100亿元。", 3),
        ("For the fiscal year ended June 30, 2024, revenue rose.", 6),
        ("The financial year ends 31 March.", 3),
        ("截至2024年12月31日止年度，公司盈利。", 12),
        ("2024财年收入增长，6月30日召开股东会。", 12),
        ("甲公司财年截至6月30日，乙公司财年截至3月31日。", 12),  # whose FY2024 it is is unknown
        ("", 12),
    ],
)
def test_a_report_says_when_its_fiscal_year_ends(text: str, month: int):
    assert fiscal_year_end(text) == month


def test_a_fiscal_year_is_that_of_the_report():
    facts = facts_of("宁德时代财年截至6月30日。", "宁德时代2024财年实现营业收入3620亿元。", relation="reports")
    assert [str(fact.valid) for fact in facts] == ["2023-07-01…2024-06-30"]
    facts = facts_of("宁德时代2024财年实现营业收入3620亿元。", relation="reports")
    assert [str(fact.valid) for fact in facts] == ["2024"]


def test_an_impossible_date_is_reported_at_its_place():
    reading = read(report("宁德时代向特斯拉供应电池。", "公司于2025年2月30日公告增持。"))
    (problem,) = [problem for problem in reading.problems if problem.kind == "date"]
    assert reading.document.text[problem.start : problem.end] == "2025年2月30日"


def test_fiscal_years_end_where_the_company_says():
    assert _shown("FY2024", fiscal_year_end=3) == [("FY2024", "2023-04-01…2024-03-31")]
    assert _shown("FY25Q1", fiscal_year_end=3) == [("FY25Q1", "2024Q2")]
    assert _shown("2025财年第一季度", fiscal_year_end=6) == [("2025财年第一季度", "2024Q3")]
