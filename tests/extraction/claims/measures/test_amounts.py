"""Losses, amounts in any spelling, bounds and financial years in sentences."""

from __future__ import annotations

import pytest

from tests.extraction.claims.measures.test_reader import Row, rows
from tests.goldens.reports import read, report


def _signed(
    *texts: str, indicator: str = "归母净利润", number: float = -70.4e8, unit: str = "元"
) -> list[tuple[str, Row]]:
    return [(text, ("通威股份", indicator, number, unit, "", "2024")) for text in texts]


LOSSES = [
    *_signed(
        "通威股份2024年归母净利润为负70.4亿元。",
        "通威股份2024年归母净利润(70.4亿元)。",
        "通威股份2024年归母净利润（70.4）亿元。",
        "通威股份2024年归母净利润亏损70.4亿元。",
        "通威股份2024年归母净利润为亏损70.4亿元。",
        "通威股份2024年归母净利润由盈转亏，亏损70.4亿元。",
        "通威股份2024年归母净亏损约70.4亿元。",
        "通威股份2024年归属于母公司股东的净亏损为70.4亿元。",
        "通威股份2024年归母净利润–70.4亿元。",
        "通威股份2024年归母净利润亏损收窄至70.4亿元。",
        "通威股份2024年归母净亏损扩大至70.4亿元。",
        "通威股份2024年归母净利润为70.4亿元的亏损。",
        "通威股份2024年归母净利润为(RMB7.04bn)。",
        "通威股份2024年归母净利润（7,040）百万元。",
        "通威股份2024年归母净利润—70.4亿元。",
        "通威股份2024年归母净利润﹣70.4亿元。",
    ),
    *_signed(
        "通威股份2024年亏损70.4亿元。",
        "通威股份2024年净亏损70.4亿元，同比扩大20%。",
        "通威股份2024年净亏损达70.4亿元，亏损率8%。",
        "通威股份2024年净利润巨亏70.4亿元。",
        "通威股份2024年净亏70.4亿元。",
        "通威股份2024年净利润亏70.4亿元。",
        indicator="净利润",
    ),
    *_signed("通威股份2024年扣非净亏损70.4亿元。", indicator="扣非归母净利润"),
    *_signed("通威股份2024年营业利润亏损70.4亿元。", indicator="营业利润"),
    *_signed("通威股份2024年每股亏损1.57元。", "通威股份2024年每股收益为-1.57元。", indicator="EPS", number=-1.57),
    *_signed(
        "通威股份2024年毛利率为负3.2%。",
        "通威股份2024年毛利率负3.2%。",
        "通威股份2024年毛利率-3.2%。",
        indicator="毛利率",
        number=-3.2,
        unit="%",
    ),
]


@pytest.mark.parametrize(("text", "expected"), LOSSES)
def test_a_loss_is_a_negative_result_and_nothing_else(text, expected):
    assert rows(text) == {expected}


@pytest.mark.parametrize(
    "text",
    [
        "通威股份2024年亏损面30%。",
        "通威股份未弥补亏损70亿元。",
        "通威股份2024年归母净利润亏损收窄50%。",
        "通威股份2024年亏损同比减少30%。",
        "通威股份2024年净利润同比减亏20亿元。",
        "通威股份2024年净利润同比（36.2%）。",
        "养殖户2024年头均亏损200元。",
        "通威股份2024年投资亏损3亿元。",
    ],
)
def test_what_is_no_loss_of_the_firm_yields_no_figure(text):
    assert not [row for row in rows(text) if row[1].endswith("利润")]


def test_an_aside_in_brackets_is_no_loss():
    assert rows("宁德时代2024年归母净利润（507亿元）创历史新高。") == {
        ("宁德时代", "归母净利润", 507e8, "元", "", "2024")
    }


def test_the_level_of_last_year_is_dated_by_it():
    found = rows("通威股份2024年归母净利润-70.4亿元，去年同期为135.7亿元。")
    assert ("通威股份", "归母净利润", 135.7e8, "元", "", "2023") in found
    assert ("通威股份", "归母净利润", -70.4e8, "元", "", "2024") in found


AMOUNTS = [
    ("宁德时代2024年营业收入3620亿。", 3620e8, "元", ""),
    ("宁德时代2024年营业收入达3,620亿。", 3620e8, "元", ""),
    ("宁德时代2024年营业收入人民币3620亿元。", 3620e8, "元", ""),
    ("宁德时代2024年营业收入RMB362bn。", 362e9, "元", ""),
    ("宁德时代2024年营业收入RMB 362 billion。", 362e9, "元", ""),
    ("宁德时代2024年营业收入￥3620亿。", 3620e8, "元", ""),
    ("宁德时代2024年营业收入3620亿元人民币。", 3620e8, "元", ""),
    ("宁德时代2024年营业收入US$50.2bn。", 50.2e9, "美元", ""),
    ("宁德时代2024年营业收入HK$391.2bn。", 391.2e9, "港元", ""),
    ("宁德时代2024年营业收入约合502亿美元。", 502e8, "美元", ""),
    ("宁德时代2024年营业收入三千六百二十亿元。", 3620e8, "元", ""),
    ("宁德时代2024年营业收入同比增长百分之十五点七。", 15.7, "%", "yoy"),
    ("宁德时代2024年营业收入同比下降近三成。", -30.0, "%", "yoy"),
    ("宁德时代2024年营业收入同比增长一成五。", 15.0, "%", "yoy"),
    ("宁德时代2024年营业收入人民币三千六百二十亿元。", 3620e8, "元", ""),
    ("宁德时代2024年营业收入同比增长2倍。", 200.0, "%", "yoy"),
    ("宁德时代2024年营业收入同比增长近两倍。", 200.0, "%", "yoy"),
    ("宁德时代2024年营业收入不低于3600亿元。", 3600e8, "元", ""),
    ("宁德时代2024年营业收入3620¹亿元。", 3620e8, "元", ""),
    ("宁德时代2024年营业收入[1]3620亿元。", 3620e8, "元", ""),
]


@pytest.mark.parametrize(("text", "number", "unit", "change"), AMOUNTS)
def test_an_amount_in_any_spelling(text, number, unit, change):
    (found,) = rows(text)
    assert found[1:2] + found[3:] == ("营业收入", unit, change, "2024")
    assert found[2] == pytest.approx(number)


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("宁德时代预计2025年归母净利润不低于500亿元。", "≥"),
        ("宁德时代2024年营收超3600亿元。", ">"),
        ("宁德时代2024年营收近3700亿元。", "<"),
        ("宁德时代2024年研发费用不超过186亿元。", "≤"),
        ("宁德时代2024年营收约3620亿元。", ""),
        ("宁德时代2024年营收3600多亿元。", ">"),
        ("宁德时代2024年营收三千六百余亿元。", ">"),
    ],
)
def test_a_bound_is_kept(text, bound):
    (fact,) = [fact for fact in read(report(text)).facts if fact.relation == "reports"]
    assert fact.qualifier("bound") == bound


PERIODS = [
    ("阿里巴巴（9988.HK）财年截至3月底。阿里巴巴2025财年营业收入9963亿元。", "2024-04-01…2025-03-31"),
    ("阿里巴巴财年截至3月31日。阿里巴巴2025财年Q3营业收入2801亿元。", "2024Q4"),
    ("阿里巴巴财年截至3月31日。阿里巴巴2025财年第三财季营业收入2801亿元。", "2024Q4"),
    ("阿里巴巴财年截至3月31日。阿里巴巴FY25Q3营业收入2801亿元。", "2024Q4"),
    ("宁德时代2024财年营业收入3620亿元。", "2024"),
    ("宁德时代2024年第四季营业收入1030亿元。", "2024Q4"),
    ("宁德时代2025年中期营业收入1789亿元。", "2025H1"),
]


@pytest.mark.parametrize(("text", "period"), PERIODS)
def test_a_financial_year_or_part_of_it(text, period):
    reading = read(report(text))
    found = [fact for fact in reading.facts if fact.relation == "reports" and fact.evidence[0].confidence > 0.4]
    assert [str(fact.valid) for fact in found] == [period]


def test_a_financial_year_of_another_firm_stays_undated():
    reading = read(report("阿里巴巴财年截至3月31日。", "英伟达2025财年营业收入1305亿美元。"))
    assert not [fact for fact in reading.facts if fact.relation == "reports" and fact.evidence[0].confidence > 0.4]


def test_two_quarters_listed_are_paired():
    assert rows("宁德时代2024年三、四季度营业收入分别为923亿元、1030亿元。") == {
        ("宁德时代", "营业收入", 923e8, "元", "", "2024Q3"),
        ("宁德时代", "营业收入", 1030e8, "元", "", "2024Q4"),
    }


def test_a_financial_year_of_unknown_end_dates_nothing_behind_it():
    reading = read(report("英伟达2026财年Q1营收441亿美元。净利润188亿美元，同比+26%。"))
    assert not [fact for fact in reading.facts if fact.evidence[0].confidence > 0.4]


def test_a_figure_behind_a_semicolon_is_as_sure_as_the_one_before_it():
    reading = read(report("宁德时代2024年营收3620亿，同比-9.7%；归母净利507亿，同比+15%。"))
    assert len({fact.evidence[0].confidence for fact in reading.facts if fact.relation == "reports"}) == 1
