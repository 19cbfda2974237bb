"""Figures that do not add up: what is stated, what is withheld, what is left alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from extraction.facts.consistency import contradictions, rounding
from kg.ids import fact_id
from kg.model import Evidence, Fact, Modality, Value
from kg.period import Period, Precision, month, quarter, year
from tests.goldens.reports import read, report

FIRM, SALES, MARGIN = "sec:300750.SZ", "indicator:营业收入", "indicator:毛利率"


def stated(  # noqa: PLR0913 - a test names only what it is about
    value: Value,
    period: Period,
    *,
    indicator: str = SALES,
    scope: str = "",
    quote: str = "原文",
    start: int = 0,
    modality: Modality = Modality.ASSERTED,
) -> Fact:
    item = Evidence("doc:1", start, start + len(quote), quote, date(2025, 8, 1), datetime(2025, 9, 1, tzinfo=UTC))
    named = (("scope", scope),) if scope else ()
    fact = Fact(
        id="",
        subject=FIRM,
        relation="reports",
        object=indicator,
        modality=modality,
        valid=period,
        value=value,
        qualifiers=named,
        evidence=(item,),
    )
    return replace(fact, id=fact_id(fact))


def yuan(number: float) -> Value:
    return Value(number * 1e8, "元", "亿")


@pytest.mark.parametrize(
    ("now", "before", "change", "fits"),
    [
        (yuan(12), yuan(10), Value(20, "%", change="yoy"), True),
        (yuan(12), yuan(10), Value(25, "%", change="yoy"), True),  # both are rounded to a whole 亿
        (yuan(12.11), yuan(10.05), Value(30.2, "%", change="yoy"), False),
        (yuan(8.05), yuan(10.05), Value(-19.9, "%", change="yoy"), True),
        (yuan(8.05), yuan(10.05), Value(19.9, "%", change="yoy"), False),
        (Value(35.1, "%"), Value(30.1, "%"), Value(5, "pct", change="yoy"), True),
        (Value(35.1, "%"), Value(30.1, "%"), Value(15.1, "pct", change="yoy"), False),
        (yuan(30.05), yuan(10.05), Value(1.99, "倍", change="yoy"), True),
        (yuan(12.05), Value(10.05e8, "美元", "亿"), Value(90, "%", change="yoy"), True),  # no common unit
        (yuan(2.05), yuan(-1.05), Value(50, "%", change="yoy"), True),  # growth over a loss has no agreed meaning
        (yuan(12.11), yuan(10.05), Value(30.2, "%", change="cagr"), True),  # another kind of change
    ],
)
def test_a_change_is_held_against_two_levels(now: Value, before: Value, change: Value, fits: bool):
    claim = stated(change, year(2024))
    found = contradictions([stated(now, year(2024)), stated(before, year(2023)), claim])
    assert [(each.problem.kind, each.withheld) for each in found] == ([] if fits else [("arithmetic", {claim.id})])


@pytest.mark.parametrize(
    ("now", "before", "kind"),
    [(quarter(2025, 1), quarter(2024, 4), "qoq"), (month(2025, 1), month(2024, 12), "mom")],
)
def test_a_change_counts_from_its_own_period(now: Period, before: Period, kind: str):
    wrong = stated(Value(50.5, "%", change=kind), now)
    (found,) = contradictions([stated(yuan(11.05), now), stated(yuan(10.05), before), wrong])
    assert found.withheld == {wrong.id}


def test_one_of_several_levels_that_fits_is_enough():
    levels = [stated(yuan(12.11), year(2024)), stated(yuan(13.09), year(2024)), stated(yuan(10.05), year(2023))]
    assert contradictions([*levels, stated(Value(30.2, "%", change="yoy"), year(2024))]) == []


@pytest.mark.parametrize(
    "more",
    [{"quote": "按可比口径增长30.2%"}, {"modality": Modality.RUMOURED}, {"scope": "海外"}, {"indicator": MARGIN}],
)
def test_another_ground_scope_or_indicator_contradicts_nothing(more: dict[str, object]):
    levels = [stated(yuan(12.11), year(2024)), stated(yuan(10.05), year(2023))]
    assert contradictions([*levels, stated(Value(30.2, "%", change="yoy"), year(2024), **more)]) == []  # type: ignore[arg-type]


def test_a_part_above_its_whole_is_withheld():
    part = stated(yuan(130.5), year(2024), scope="动力电池")
    (found,) = contradictions([stated(yuan(100.5), year(2024)), part, stated(yuan(40.5), year(2024), scope="储能")])
    assert found.withheld == {part.id}
    assert "动力电池" in found.problem.message
    wider = stated(yuan(130.5), year(2024), scope="全球市场")
    assert contradictions([stated(yuan(100.5), year(2024)), wider]) == []


def test_parts_of_one_sentence_above_the_whole_are_reported_and_kept():
    whole = stated(yuan(100.5), year(2024))
    parts = [stated(yuan(n), year(2024), scope=name, start=9) for n, name in ((70.5, "动力电池"), (50.5, "储能"))]
    (found,) = contradictions([whole, *parts])
    assert found.withheld == frozenset()
    apart = [stated(yuan(70.5), year(2024), scope="动力电池"), stated(yuan(60.5), year(2024), scope="境外", start=50)]
    assert contradictions([whole, *apart]) == []  # by product and by place: each sums to the whole by itself


def test_shares_above_a_hundred_are_reported_and_kept():
    def shares(*numbers: float) -> list[Fact]:
        return [stated(Value(n, "%", change="share"), year(2024), scope=f"业务{at}") for at, n in enumerate(numbers)]

    (found,) = contradictions(shares(60, 30, 25))
    assert (found.problem.kind, found.withheld) == ("arithmetic", frozenset())
    assert contradictions(shares(60, 30, 10)) == contradictions(shares(33.4, 33.3, 33.4)) == []  # rounded


@pytest.mark.parametrize(("value", "half"), [(yuan(9.45), 0.005e8), (Value(12.3, "%"), 0.05), (yuan(12), 0.5e8)])
def test_rounding(value: Value, half: float):
    assert rounding(value) == pytest.approx(half)


def test_a_report_that_contradicts_itself_loses_the_change_and_says_so():
    reading = read(
        report("宁德时代2023年实现营业收入400.92亿元。", "宁德时代2024年实现营业收入362.01亿元，同比增长9.7%。")
    )
    kept = {(str(fact.valid), fact.value.change) for fact in reading.facts if fact.relation == "reports" and fact.value}
    assert kept == {("2023", ""), ("2024", "")}
    assert [problem.kind for problem in reading.problems] == ["arithmetic"]
    right = read(
        report("宁德时代2023年实现营业收入400.92亿元。", "宁德时代2024年实现营业收入362.01亿元，同比下降9.7%。")
    )
    assert [problem.kind for problem in right.problems] == []
    assert sum(fact.relation == "reports" for fact in right.facts) == 3


def test_a_span_of_days_at_a_months_end_has_no_period_before():
    days = Period(date(2024, 6, 29), date(2024, 6, 30), Precision.DAY)
    facts = [stated(yuan(10), days), stated(Value(20.0, "%", change="yoy"), days)]
    assert list(contradictions(facts)) == []
