"""Rows of indicators that name their own owners, and rows of places."""

from __future__ import annotations

import pytest

from kg.settings import Settings
from tests.goldens.reports import names_of, read, report


def stated(text: str) -> list[tuple[str, str, float, str]]:
    """(owner, indicator, number, scope) of every stored figure, in order of its place."""
    reading = read(report(text))
    names = names_of(reading)
    facts = [fact for fact in reading.facts if fact.relation == "reports" and fact.value]
    return [
        (names[fact.subject], names[fact.object], fact.value.number, fact.qualifier("scope") or "")
        for fact in facts
        if fact.confidence >= Settings().min_confidence
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "6月白糖进口量和玉米进口量分别同比增长12.5%和3.4%。",
            [("白糖", "白糖进口量", 12.5, ""), ("玉米", "玉米进口量", 3.4, "")],
        ),
        (  # a place is that of the whole row, a grade is not
            "1-6月，我国生铁产量、钢材产量分别为4亿吨、7亿吨。",
            [("生铁", "生铁产量", 4e8, "我国"), ("钢材", "钢材产量", 7e8, "我国")],
        ),
        (
            "6月动力煤均价和焦煤均价环比分别上涨1.1%和2.2%。",
            [("动力煤", "动力煤价格", 1.1, ""), ("焦煤", "焦煤价格", 2.2, "")],
        ),
        (  # an indicator without an owner of its own is of the first one's
            "6月汽车产量和销量分别为200万辆和210万辆。",
            [("汽车", "汽车产量", 2e6, ""), ("汽车", "汽车销量", 2.1e6, "")],
        ),
        (
            "2024年比亚迪收入和宁德时代收入分别为1000亿元和900亿元。",
            [("比亚迪", "收入", 1e11, ""), ("宁德时代", "收入", 9e10, "")],
        ),
        (
            "2024年隆基绿能硅片出货量和组件出货量分别为100GW、80GW。",
            [("隆基绿能", "硅片出货量", 100, ""), ("隆基绿能", "光伏组件出货量", 80, "")],
        ),
    ],
)
def test_each_of_a_row_is_of_whom_it_names(text, expected):
    assert stated(text) == expected


def test_what_is_imported_and_its_price_are_no_row():
    assert ("水泥", "水泥价格", 80.5, "") not in stated("2025年4月，从越南和智利进口水泥的价格分别为90、80.5美元/吨。")


def test_to_whom_a_row_is_exported():
    assert stated("2025年4月，中国对越南、智利水泥出口额同比分别增长3%、5%。") == [
        ("水泥", "水泥出口额", 3, "对越南"),
        ("水泥", "水泥出口额", 5, "对智利"),
    ]


def test_several_places_are_distinguished():
    assert stated("2025年4月，贵州 & 湖南金属硅周度产量2.5万吨。") == [("工业硅", "工业硅产量", 2.5e4, "贵州、湖南")]
    assert stated("江苏、安徽水泥价格400元/吨。") == [("水泥", "水泥价格", 400, "江苏、安徽")]


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("2024年，某某咨询统计国内纯碱产量3700万吨。", "国内"),
        ("如河北水泥价格400元/吨。", "河北"),
        ("ii. 水泥价格400元/吨。", ""),
        ("聚碳酸酯（阻燃）PC价格1.5万元/吨。", "聚碳酸酯"),
        ("抢装带动水泥需求增长5%。", ""),
    ],
)
def test_what_drives_or_counts_a_figure_is_no_part_of_what_narrows_it(text, scope):
    assert [figure[3] for figure in stated(text)] == [scope]


def test_what_is_added_is_another_figure_than_the_whole():
    assert stated("2024年水泥新增产量10万吨。") == []
    assert stated("2026年全固态电池新增需求3GWh。") == [("全固态电池", "全固态电池新增需求", 3, "")]
