"""Labels of tables are read whole: what is left over of one belongs to its owner or its indicator, or it is left."""

from __future__ import annotations

from datetime import date

import pytest

from kg.model import Modality
from tests.goldens.reports import names_of, read, report


def table(*rows: str) -> str:
    """Return rows as a stored table is read from a text."""
    return "| " + "\n".join(rows)


def stored(*lines: str, **about: object) -> set[tuple[str, str, str, str, str]]:
    """(subject, indicator, scope, number with change, period) of the facts that are sure enough to be stored."""
    reading = read(report(table(*lines), **about))  # type: ignore[arg-type]
    names = names_of(reading)
    return {
        (
            names[fact.subject],
            names[fact.object],
            dict(fact.qualifiers).get("scope", ""),
            f"{fact.value.number:g}{fact.value.unit}{fact.value.change}",
            str(fact.valid or ""),
        )
        for fact in reading.facts
        if fact.evidence[0].extractor.endswith(":table") and fact.value and fact.evidence[0].confidence >= 0.5
    }


def test_words_before_a_heads_indicator_belong_to_it():
    found = stored("公司 | 2024年权益产量（万吨）", "紫金矿业 | 56.7", "洛阳钼业 | 26.5")
    assert {indicator for _, indicator, *_ in found} == {"权益产量"}


@pytest.mark.parametrize("head", ["营业收入（亿元，2024）", "营业收入（2024，亿元）", "营业收入 2024（亿元）"])
def test_a_bare_year_behind_an_indicator_dates_it(head):
    assert stored(f"公司 | {head}", "格力电器 | 1891.6", "海信家电 | 927.5") == {
        ("格力电器", "营业收入", "", "1.8916e+11元", "2024"),
        ("海信家电", "营业收入", "", "9.275e+10元", "2024"),
    }


def test_a_row_label_is_not_cut_to_the_indicator_at_its_end():
    found = stored("（百万元） | 2023 | 2024", "非流动负债 | 400 | 500", "流动负债 | 300 | 200", codes=("300750.SZ",))
    assert {(row[1], row[3]) for row in found if row[4] == "2024"} == {
        ("非流动负债", "5e+08元"),
        ("流动负债", "2e+08元"),
    }


def test_what_narrows_an_owner_is_kept_as_scope():
    found = stored("指标 | 2023 | 2024", "半固态锂电池出货量（GWh） | 3 | 8", "动力电池装机量（GWh） | 387 | 548")
    assert not {row for row in found if row[:3] == ("锂电池", "锂电池出货量", "")}


def test_two_indicators_in_one_head_are_none():
    assert stored("公司 | 2024年收入（亿元）及增速", "宁德时代 | 3620", "比亚迪 | 7771") == set()


def test_a_share_of_an_unsaid_whole_is_doubtful():
    assert stored("公司 | 2024年占比", "宁德时代 | 45%", "比亚迪 | 25%") == set()
    assert stored("公司 | 2024年市占率", "宁德时代 | 45%", "比亚迪 | 25%") == set()


def test_the_title_names_the_market_of_a_share_and_the_place_of_a_row():
    found = stored("表3：全球动力电池市占率", "公司 | 2024年市占率", "宁德时代 | 37%", "比亚迪 | 17%")
    assert {row[2] for row in found} == {"全球动力电池"}
    found = stored("表4：国内隔膜市场", "指标 | 2023 | 2024", "隔膜出货量（亿平方米） | 160 | 200")
    assert {row[2] for row in found} == {"国内"}


def test_a_run_of_rising_years_belongs_to_one_indicator():
    """The second row of a head has slipped one cell to the left, as flattened tables do."""
    found = stored(
        "代码 | 简称 | 股价（元） | EPS（元） 2024A | PE（倍） 2025E | 2026E | 2024A | 2025E | 2026E",
        "300750.SZ | 宁德时代 | 250 | 11.5 | 14.9 | 18.1 | 21 | 17 | 14",
        "002594.SZ | 比亚迪 | 350 | 13.8 | 17.2 | 20.9 | 25 | 20 | 17",
    )
    own = {(indicator, number, period) for name, indicator, _, number, period in found if name == "宁德时代"}
    assert own == {
        ("EPS", "11.5元", "2024"),
        ("EPS", "14.9元", "2025"),
        ("EPS", "18.1元", "2026"),
        ("PE", "21倍", "2024"),
        ("PE", "17倍", "2025"),
        ("PE", "14倍", "2026"),
    }


def test_years_that_do_not_pair_with_indicators_are_left():
    found = stored(
        "简称 | PE（倍） 2024A | 2025E | 2024A | 2025E",
        "宁德时代 | 21 | 17 | 14 | 12",
        "比亚迪 | 25 | 20 | 17 | 15",
    )
    assert found == set()


def test_a_change_behind_a_level_is_the_levels():
    found = stored(
        "公司 | 2025Q1营收（亿元） | 同比 | 2025Q1净利润（亿元） | 同比增速",
        "宁德时代 | 847.1 | +6.2% | 139.6 | 32.9%",
        "比亚迪 | 1703.6 | +36.4% | 91.5 | 100.4%",
    )
    own = {(indicator, number) for name, indicator, _, number, _ in found if name == "宁德时代"}
    assert own == {
        ("营业收入", "8.471e+10元"),
        ("营业收入", "6.2%yoy"),
        ("净利润", "1.396e+10元"),
        ("净利润", "32.9%yoy"),
    }


def test_only_the_column_of_names_names():
    found = stored("药品名称 | 原料 | 2024年销量（吨）", "甲胶囊 | 碳酸锂 | 143", "乙片 | 氢氧化锂 | 448")
    assert found == set()


def test_this_week_in_a_head_is_the_week_that_the_note_tells_of():
    found = stored("公司 | 本周涨跌幅", "宁德时代 | 3.1%", "比亚迪 | -1.2%", day=date(2025, 6, 16))
    assert {period for *_, period in found} == {"2025-W24"}


def test_this_week_in_a_caption_is_the_week_that_a_heading_names():
    rows = table("表1：本周涨幅居前", "公司 | 周涨跌幅", "宁德时代 | 3.1%", "比亚迪 | -1.2%")
    reading = read(report("# 价格跟踪（2025.05.26-06.01）", rows, day=date(2025, 6, 5)))
    periods = {str(fact.valid) for fact in reading.facts if fact.value}
    assert periods == {"2025-W22"}


def test_a_rise_within_the_year_is_no_forecast():
    reading = read(report(table("公司 | 年内涨幅", "宁德时代 | 12.5%", "比亚迪 | 30.1%"), day=date(2025, 6, 16)))
    assert {(str(fact.valid), fact.modality) for fact in reading.facts if fact.value} == {
        ("2025-01-01…2025-06-16", Modality.ASSERTED)
    }


def test_what_another_cell_expects_is_not_expected_of_a_maker():
    reading = read(report(table("公司 | 核心产品 | 展望", "宁德时代 | 磷酸铁锂电池 | 预计2026年扭亏")))
    assert {fact.modality for fact in reading.facts if fact.relation == "produces"} == {Modality.ASSERTED}


def test_what_is_added_is_another_indicator_than_the_stock():
    found = stored("指标 | 2023 | 2024", "光伏新增装机（GW） | 216 | 277", "光伏累计装机（GW） | 609 | 887")
    assert ("光伏", "光伏新增装机量", "", "277GW", "2024") in found
    assert not any(name == "光伏装机量" and number == "277GW" for _, name, _, number, _ in found)
