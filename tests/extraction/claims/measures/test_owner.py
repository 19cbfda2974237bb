"""Whose place a figure is."""

from __future__ import annotations

import pytest

from kg.model import Modality
from kg.settings import Settings
from tests.goldens.reports import facts_of, names_of, read, report


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("全球需求回暖，服务器市场规模592亿美元。", False),
        ("山西：焦煤价格965元/吨。", True),  # the place is the figure's scope
        ("焦煤价格965元/吨。", True),
        ("受海外需求拉动，宁德时代2024年营业收入100亿元。", True),  # a firm's figure is the firm's
    ],
)
def test_a_place_before_a_figure_that_bears_none_makes_it_doubtful(text, stored):
    facts = [fact for fact in facts_of(text) if fact.relation == "reports" and not fact.value.change]
    assert facts
    assert all((fact.confidence >= Settings().min_confidence) == stored for fact in facts)


def stated(*lines: str) -> set[tuple[str, str, bool]]:
    """(indicator, scope, stored) of every level in a report."""
    reading = read(report(*lines))
    names = names_of(reading)
    return {
        (names[fact.object], fact.qualifier("scope") or "", fact.confidence >= Settings().min_confidence)
        for fact in reading.facts
        if fact.relation == "reports" and fact.value and not fact.value.change
    }


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # at home a place holds on, abroad nobody can say
        (("6月全国冰箱产量904万台；冷柜产量241万台。",), {("冰箱产量", "全国", True), ("冷柜产量", "全国", True)}),
        (("6月印度汽车销量30万辆。卡车销量5万辆。",), {("汽车销量", "印度", True), ("卡车销量", "", False)}),
        # the nearest heading or label of places holds, a headline is none
        (("# 一、全球储能", "# （一）中国市场", "2024年储能装机量138GW。"), {("储能装机量", "中国", True)}),
        (("# 全球汽车销售", "2024年汽车销量1724万辆。"), {("汽车销量", "全球", True)}),
        (("# 一、海外市场", "美国：", "2024年汽车销量1600万辆。"), {("汽车销量", "美国", True)}),
        # an exchange abroad is not at home
        (("国内铝锭库存10万吨；LME铜库存15万吨。",), {("铝锭库存", "国内", True), ("伦铜库存", "", True)}),
        # a label is that of its whole paragraph
        (("中国大陆市场：政策减弱。2024年汽车销量3000万辆。",), {("汽车销量", "中国大陆", True)}),
        # behind another place of the paragraph the heading's is unsure
        (("# 全球汽车销售", "中国来看，政策仍在。2024年汽车销量3000万辆。"), {("汽车销量", "全球", False)}),
        (("# 有色：美国对铜加征关税", "7月电解铝产量378万吨。"), {("电解铝产量", "", True)}),
    ],
)
def test_whose_place_a_figure_has(lines, expected):
    assert stated(*lines) == expected


@pytest.mark.parametrize(
    ("heading", "owners"),
    [
        ("（一）营销板块", set()),
        ("（一）细分行业", {"光伏"}),
        ("（一）行业", {"光伏"}),
        ("（一）风电行业（2024年）", {"风电"}),
        ("某某电子（8230 HK）", set()),
    ],
)
def test_a_heading_of_an_unknown_trade_hides_the_one_above(heading, owners):
    reading = read(report("# 一、光伏", f"# {heading}", "2024年新增装机45GW。"))
    names = names_of(reading)
    sure = [fact for fact in reading.facts if fact.confidence >= Settings().min_confidence]
    assert {names[fact.subject] for fact in sure if fact.relation == "reports"} == owners


def test_a_doubtful_figure_says_nothing_of_where_the_next_is_measured():
    found = stated("2024年5月全球水泥产量（特种 + 普通）为30万吨。2024年7月电解铝产量378万吨。")
    assert found == {("水泥产量", "全球", False), ("电解铝产量", "", True)}


def dated(*lines: str) -> set[tuple[str, str]]:
    """(indicator, period) of every figure in a report."""
    reading = read(report(*lines))
    names = names_of(reading)
    return {
        (names[fact.object], str(fact.valid) if fact.valid else "")
        for fact in reading.facts
        if fact.relation == "reports"
    }


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # the nearest heading that states one, or one above it of results
        (("# 一、2025Q1业绩总览", "# （一）白酒", "白酒收入100亿元。"), {("白酒收入", "2025Q1")}),
        (("# 一、2025年投资展望", "# （一）白酒", "白酒价格100元/瓶。"), {("白酒价格", "")}),
        (("# 锂价（6.9-6.13）", "碳酸锂价格6万元/吨。"), {("碳酸锂价格", "2025-06-09…2025-06-13")}),
        (("# 一、主要价差（2025年5月）", "# （一）化工", "纯苯价差1694元/吨。"), {("纯苯价差", "2025-05")}),
        (("2025年Q2E白酒收入100亿元。",), {("白酒收入", "2025Q2")}),
        # a label above the lines
        (("# 一、2018年至今的周期", "2024年数据：", "奶牛存栏下降17%。"), {("奶牛存栏", "2024")}),
        # a line that introduces a list dates it, down to where the list ends
        (("2025年1-7月，水泥行业表现如下：", "- 水泥产量9亿吨；"), {("水泥产量", "2025-01-01…2025-07-31")}),
        (("2025年1-7月，水泥行业承压：", "- 需求下降。", "水泥价格400元/吨。"), {("水泥价格", "")}),
        (("# 2024年业绩", "4月30日，白酒企业公布财报：", "- 白酒收入100亿元。"), {("白酒收入", "2024")}),
        # when a change began is the time of nothing else
        (("2025年1-7月，光伏产量从上半年的31万吨升至35万吨。",), {("光伏产量", "2025-01-01…2025-07-31")}),
        (("宁德时代2025年上半年毛利率从2023年的10%升至12%，净利率5%。",), {("净利率", "2025H1")}),
        (("2024年煤炭需求80万吨，预计水泥产量每年增至15万吨。",), {("水泥产量", "")}),
        # the period of other words in a bracket, of a span mentioned another figure
        (("首批配额（5-7月发放）下达，尿素价格1904元/吨。",), {("尿素价格", "")}),
        (("尿素价格（5月）1904元/吨。",), {("尿素价格", "2025-05")}),
        (("长江电力近三年累计分红600亿元，股息率3.4%。",), {("股息率", "")}),
        # the base of a change is no time of the next figure
        (("5月汽车销量200万辆，源于去年高基数。卡车销量10万辆。",), {("卡车销量", "2025-05")}),
        # the months of a sum are no day of a price; a mean has them
        (("2025年1-4月锑锭产量2万吨。锑价21万元/吨。",), {("锑锭产量", "2025-01-01…2025-04-30"), ("锑价格", "")}),
        (("2025年1-4月锑锭产量2万吨。锑均价21万元/吨。",), {("锑价格", "2025-01-01…2025-04-30")}),
        (("长江电力：2024年净利润300亿元。股价30元。",), {("净利润", "2024"), ("股价", "")}),
    ],
)
def test_whose_period_a_figure_has(lines, expected):
    assert expected <= dated(*lines)


@pytest.mark.parametrize(
    ("lines", "modality"),
    [
        (("2026年全球服务器市场规模将达1380亿美元。",), Modality.FORECAST),
        (("# 七、数据总结与展望", "8月服务器市场规模100亿美元。"), Modality.ASSERTED),
        (("# 七、展望", "服务器市场规模100亿美元。"), Modality.FORECAST),
        (("# 风险提示", "2025年一季度铜价格同比上涨15%。"), Modality.ASSERTED),
        (("# 风险提示", "铜价格上涨15%。"), Modality.CONDITIONAL),
        (("2024-2027年全球铯需求CAGR达14%。",), Modality.FORECAST),
        (("# 七、展望", "长江电力：股价30元。"), Modality.ASSERTED),
        (("# 七、展望", "当前水泥价格400元/吨。"), Modality.ASSERTED),
    ],
)
def test_how_certain_a_figure_is(lines, modality):
    assert {fact.modality for fact in facts_of(*lines) if fact.relation == "reports"} == {modality}


def test_a_long_run_of_letters_before_an_indicator_is_read_in_no_time():
    """A nested repetition would try 2^200 ways to cut the letters before it gives up: the test would not end."""
    facts = facts_of("A" * 200 + "与手机出货量12亿部。")
    assert all(fact.confidence < Settings().min_confidence for fact in facts)
