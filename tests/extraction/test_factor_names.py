"""What a cause is called: its turn, that it is only expected, what narrows it, against what it falls short."""

from __future__ import annotations

import pytest

from tests.goldens.reports import names_of, read, report

SAID = [
    ("降息预期支撑金价。", "降息预期", "", "黄金价格", ""),
    ("降息预期升温推动金价上涨。", "降息预期", "", "黄金价格", ""),
    ("受集采缓和影响，医疗器械毛利率回升。", "集采缓和", "", "医疗器械毛利率", ""),
    ("风电政策收紧导致风电需求下降。", "风电政策收紧", "", "风电需求", ""),
    ("美国关税政策导致铜价下跌。", "关税", "美国", "铜价格", ""),
    ("AI服务器升级带动高频覆铜板需求增长。", "AI服务器", "", "覆铜板需求", "高频"),
    ("全球光伏装机增长不及预期，导致光伏玻璃需求下降。", "光伏装机量", "全球不及预期", "光伏玻璃需求", ""),
    ("重稀土供给收缩推升海外稀土价格。", "重稀土供给", "", "稀土价格", "海外"),
]


@pytest.mark.parametrize(("text", "cause", "cause_scope", "effect", "effect_scope"), SAID, ids=[row[0] for row in SAID])
def test_a_factor_is_named_with_what_stands_around_it(text, cause, cause_scope, effect, effect_scope):
    reading = read(report(text))
    names = names_of(reading)
    told = {
        (
            names[fact.subject],
            fact.qualifier("cause_scope") or "",
            names[fact.object],
            fact.qualifier("effect_scope") or "",
        )
        for fact in reading.facts
        if fact.relation == "affects"
    }
    assert (cause, cause_scope, effect, effect_scope) in told


INHERITED = [
    ("碳酸锂供给收缩，推动价格上涨。", ("碳酸锂供给", "碳酸锂价格", "down", "up")),
    ("铁矿石供给过剩会令价格下行。", ("铁矿石供给", "铁矿石价格", "up", "down")),
]


@pytest.mark.parametrize(("text", "expected"), INHERITED)
def test_a_bare_price_is_that_of_what_is_scarce(text, expected):
    reading = read(report(text))
    names = names_of(reading)
    told = {
        (names[fact.subject], names[fact.object], fact.qualifier("cause_direction"), fact.qualifier("effect_direction"))
        for fact in reading.facts
    }
    assert expected in told


UNSAID = [
    "铜价上涨提振稀土关键战略价值。",  # its worth, not the thing
    "涨幅居前的个股受益于游戏版号政策利好及潮玩概念驱动。",
    "化学制药同比增长12.4%，主要受益于创新药放量。",  # of what, it does not say
    "管理费用减少12.0%，主要因去年股权激励支出较多。",  # explains the comparison
    "再生铜增长带动精炼铜供给增速分别为2.5%、3.5%。",
    "市场电价走低导致业绩增速放缓。",
]


@pytest.mark.parametrize("text", UNSAID)
def test_a_measure_that_is_not_named_is_no_effect(text):
    assert [fact for fact in read(report(text)).facts if fact.relation == "affects"] == []


def test_a_firms_cause_has_the_period_of_its_sentence():
    reading = read(report("2025年上半年万华化学毛利率回升，财务费用下降46%，主要因汇兑收益增加。"))
    assert {str(fact.valid) for fact in reading.facts if fact.relation == "affects"} <= {"2025H1"}


def test_a_bare_measure_is_not_of_a_firm_above_the_heading():
    lines = ("# 隆基绿能（601012.SH）", "## 某某电子中国（220 HK）", "铜成本下降拉动毛利率提升0.5个百分点。")
    assert [fact for fact in read(report(*lines)).facts if fact.relation == "affects"] == []
