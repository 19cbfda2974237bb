from __future__ import annotations

import pytest

from tests.goldens.reports import PUBLISHER, facts_of, names_of, read, report

Row = tuple[str, str, str, str]


def rows(*lines: str, **about: object) -> set[Row]:
    """(who rates, what, action, rating)."""
    reading = read(report(*lines, **about))  # type: ignore[arg-type]
    names = names_of(reading)
    return {
        (names[fact.subject], names[fact.object], fact.qualifier("action"), fact.qualifier("rating"))
        for fact in reading.facts
        if fact.relation == "rates"
    }


def price(text: str, **about: object) -> tuple[float, float | None, str, str] | None:
    (fact,) = facts_of(text, relation="rates", **about)
    value = fact.value
    return (value.number, value.high, value.unit, value.basis) if value else None


@pytest.mark.parametrize(
    ("text", "action", "rating"),
    [
        ("给予宁德时代“买入”评级。", "给予", "买入"),
        ("维持宁德时代“增持”评级。", "维持", "增持"),
        ("首次覆盖宁德时代，", "", ""),
        ("首次覆盖给予宁德时代“买入”评级。", "首次覆盖", "买入"),
        ("上调宁德时代评级至“买入”评级。", "上调", "买入"),
        ("下调宁德时代至中性评级。", "下调", "中性"),
        ("重申宁德时代「优于大市」评级。", "重申", "优于大市"),
        ("维持宁德时代买入的投资评级。", "维持", "买入"),
        ("维持宁德时代“强烈推荐”投资评级。", "维持", "强烈推荐"),
        ("我们维持对宁德时代的“跑赢行业”评级。", "维持", "跑赢行业"),
        ("给予宁德时代“审慎增持”评级。", "给予", "审慎增持"),
        ("予以宁德时代'推荐'评级。", "", ""),
    ],
)
def test_action_and_rating(text, action, rating):
    expected = {(PUBLISHER, "宁德时代", action, rating)} if action else set()
    assert rows(text) == expected


def test_the_report_s_own_company_is_rated_where_none_is_named():
    assert rows("维持“买入”评级。", codes=("300750.SZ",)) == {(PUBLISHER, "宁德时代", "维持", "买入")}


def test_the_only_company_before_is_rated():
    assert rows("宁德时代业绩稳健，维持“买入”评级。") == {(PUBLISHER, "宁德时代", "维持", "买入")}


def test_of_two_companies_before_none_is_guessed():
    assert rows("宁德时代强于比亚迪，维持“买入”评级。") == set()


def test_an_industry_is_rated_too():
    assert rows("维持白酒行业“看好”评级。") == {(PUBLISHER, "白酒", "维持", "看好")}


def test_without_a_subject_nothing_is_rated():
    assert rows("维持“买入”评级。") == set()


def test_the_named_house_rates_not_the_publisher():
    (row,) = rows("中金公司给予贵州茅台“跑赢行业”评级。")
    assert row[1:] == ("贵州茅台", "给予", "跑赢行业")
    assert row[0] != PUBLISHER


def test_a_named_foreign_bank_rates():
    assert rows("高盛维持宁德时代“买入”评级。") == {("高盛", "宁德时代", "维持", "买入")}


def test_without_a_publisher_nobody_rates():
    assert rows("维持宁德时代“买入”评级。", publisher="") == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("给予宁德时代“买入”评级，目标价300元。", (300.0, None, "元", "target_price")),
        ("给予宁德时代“买入”评级，目标价为300.5元。", (300.5, None, "元", "target_price")),
        ("给予宁德时代“买入”评级，目标价上调至320元。", (320.0, None, "元", "target_price")),
        ("给予宁德时代“买入”评级，目标价280-300元。", (280.0, 300.0, "元", "target_price")),
        ("给予宁德时代“买入”评级，合理价值为300元。", (300.0, None, "元", "target_price")),
        ("给予腾讯控股“买入”评级，目标价600港元。", (600.0, None, "港元", "target_price")),
        ("给予腾讯控股“买入”评级，目标价600港币。", (600.0, None, "港元", "target_price")),
        ("给予特斯拉“买入”评级，目标价400美元。", (400.0, None, "美元", "target_price")),
        ("给予特斯拉“买入”评级，目标价400USD。", (400.0, None, "美元", "target_price")),
        ("给予宁德时代“买入”评级。", None),
    ],
)
def test_the_target_price_is_the_value(text, expected):
    assert price(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "宁德时代信用评级为AAA。",
        "宁德时代获得多家机构买入。",
        "评级说明：买入指未来六个月涨幅超过20%。",
        "我们看好宁德时代的长期发展。",
    ],
)
def test_what_is_no_rating_gives_none(text):
    assert rows(text) == set()


def test_the_quote_holds_the_rating():
    (fact,) = facts_of("业绩稳健。维持宁德时代“买入”评级，目标价300元。", relation="rates")
    assert fact.evidence[0].quote == "维持宁德时代“买入”评级，目标价300元。"
