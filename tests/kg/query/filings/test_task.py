from __future__ import annotations

import re
from datetime import date
from importlib import resources

import pytest
import yaml

from kg.query.filings.lexicon import lexicon, words_of
from kg.query.filings.task import read_task


@pytest.mark.parametrize(
    ("question", "year", "quarters", "form"),
    [
        ("What is the FY2015 - FY2017 3 year average net profit margin?", 2017, (), ""),
        ("As of FY 2021, how much will be paid in 2024?", 2021, (), ""),
        ("Was there a drop in cash between FY23 and Q2 of FY2024?", 2024, (2,), ""),
        ("According to the 10-Q, what were second quarter sales?", 0, (2,), "10-Q"),
        ("示例公司2023年年报的研发费用是多少？", 2023, (), "年报"),
        ("示例公司2024年第一季度报告的净利润？", 2024, (1,), "季报"),
    ],
)
def test_period_and_form_are_read(question: str, year: int, quarters: tuple[int, ...], form: str):
    task = read_task(question)
    assert (task.year, task.quarters, task.form) == (year, quarters, form)


def test_the_name_of_a_form_is_no_word_of_the_content():
    assert set(read_task("What does the 10-K of Oakwell say about pumps?").words) >= {"pump", "oakwell"}
    assert not {"10", "k"} & set(read_task("What does the 10-K of Oakwell say about pumps?").words)


def test_the_day_of_an_event_is_no_end_of_a_fiscal_year():
    assert read_task("What was the agenda of the 8k filing dated 1st July 2022?").day == date(2022, 7, 1)
    assert read_task("What drove the margin as of FY2022?").day is None


def test_statements_that_are_named_shut_out_the_others():
    assert read_task("From the balance sheet, what were revenues to assets?").wanted == (1.0, 0.0, 0.0, 0.0)
    assert read_task("What is the quick ratio?").wanted == (0.6, 0.0, 0.0, 0.0)


def test_every_row_of_the_lexicon_is_asked_by_its_example():
    table = yaml.safe_load(resources.files("kg").joinpath("query/filings/lexicon.yaml").read_text("utf-8"))
    for name, row in (*table["indicators"].items(), *table["topics"].items()):
        assert re.search(row["asks"], row["example"], re.IGNORECASE), name
    assert {each.statement for each in lexicon().indicators} <= {each.name for each in lexicon().statements}


def test_plurals_and_marks_are_folded():
    assert words_of("Inventories, net: $1,234") == ["inventorie", "net", "1", "234"]
    assert read_task("How did sales develop?").operation == ""
