from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from extraction.facts.checks import CHECKS, problem_of
from kg.model import Evidence, Fact, Kind, Modality, Value
from kg.period import year
from tests.goldens.reports import READ, report

DOCUMENT = report("宁德时代持有甲公司30%的股权。")
KINDS = {
    "org:甲": Kind.COMPANY,
    "org:乙": Kind.COMPANY,
    "product:铜箔": Kind.PRODUCT,
    "indicator:毛利率": Kind.INDICATOR,
}


def evidence(start: int = 0, end: int = 4, quote: str = "宁德时代") -> Evidence:
    return Evidence(DOCUMENT.id, start, end, quote, DOCUMENT.published_on, READ)


def fact(relation: str = "produces", subject: str = "org:甲", object_: str = "product:铜箔", **more: object) -> Fact:
    return Fact("fact:1", subject, relation, object_, evidence=(evidence(),), **more)  # type: ignore[arg-type]


def kind_of_problem(one: Fact) -> str:
    problem = problem_of(one, DOCUMENT, KINDS)
    return problem.kind if problem else ""


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (fact(), ""),
        # the quote
        (replace(fact(), evidence=(evidence(quote="宁德时光"),)), "quote"),
        (replace(fact(), evidence=(evidence(1, 5),)), "quote"),
        (replace(fact(), evidence=(evidence(0, 0, ""),)), "quote"),
        (replace(fact(), evidence=(evidence(), evidence(0, 3, "假引文"))), "quote"),
        (replace(fact(), evidence=(evidence(900, 904),)), "quote"),
        # the ends
        (fact("partners_with", "org:甲", "org:甲"), "self"),
        (fact("produces", "org:甲", "org:乙"), "ends"),
        (fact("supplies", "product:铜箔", "org:甲"), "ends"),
        (fact("supplies", "org:甲", "org:乙"), ""),
        # the stake
        (fact("holds_stake_in", "org:甲", "org:乙", value=Value(100.0, "%")), ""),
        (fact("holds_stake_in", "org:甲", "org:乙", value=Value(0.0, "%")), "stake"),
        (fact("holds_stake_in", "org:甲", "org:乙", value=Value(120.0, "%")), "stake"),
        (fact("holds_stake_in", "org:甲", "org:乙", value=Value(-3.0, "%")), "stake"),
        (fact("holds_stake_in", "org:甲", "org:乙", value=Value(5e8, "元")), ""),
        (fact("acquires", "org:甲", "org:乙", value=Value(120.0, "%")), ""),
        # the sign
        (fact("affects", "product:铜箔", "org:甲"), ""),  # no direction is stated
        (fact("affects", "product:铜箔", "org:甲", sign=-1), ""),
        (fact("produces", sign=1), "sign"),
        # the period
        (fact("reports", object_="indicator:毛利率", valid=year(2024)), ""),
        (fact("reports", object_="indicator:毛利率", valid=year(1948)), "period"),
        (fact("reports", object_="indicator:毛利率", valid=year(1949)), ""),
        (fact("reports", object_="indicator:毛利率", valid=year(2065), modality=Modality.FORECAST), ""),
        (fact("reports", object_="indicator:毛利率", valid=year(2065)), "period"),  # nobody measured that yet
        (fact("reports", object_="indicator:毛利率", valid=year(2066)), "period"),
    ],
)
def test_what_is_written_and_what_is_not(one, expected):
    assert kind_of_problem(one) == expected


def test_a_problem_of_the_quote_says_where():
    problem = problem_of(replace(fact(), evidence=(evidence(1, 5),)), DOCUMENT, KINDS)
    assert problem is not None
    assert (problem.start, problem.end) == (1, 5)
    assert "produces" in problem.message


def test_the_first_problem_is_reported():
    both = replace(fact("partners_with", "org:甲", "org:甲"), evidence=(evidence(1, 5),))
    assert kind_of_problem(both) == "quote"


def test_every_check_is_a_function_of_a_good_fact_too():
    for check in CHECKS:
        assert check(fact(), DOCUMENT, KINDS) is None


def test_a_period_is_judged_from_the_day_of_the_report():
    early = report("宁德时代持有甲公司30%的股权。", day=date(2001, 1, 1))
    one = fact("reports", object_="indicator:毛利率", valid=year(2042))
    assert problem_of(one, early, KINDS) is not None
