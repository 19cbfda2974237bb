"""Classes of passages: by their words, by what was read from them, by what stood before."""

from __future__ import annotations

import pytest

from extraction.facts.chunking import chunk_document
from extraction.facts.passage_class import is_bare_numbers, with_classes
from kg.model import ChunkKind, ValueClass
from tests.goldens.reports import read, report


def classes(*lines: str, **about: object) -> list[str]:
    return [chunk.value_class.value for chunk in read(report(*lines, **about)).chunks]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("公司毛利率回落，主要系原料涨价与新厂折旧增加，管理层正在调整产品结构。", "causal"),
        ("我们预计明年行业需求有望继续回暖，龙头企业的份额也将随之提升。", "forecast"),
        ("宁德时代2024年实现营业收入3620亿元。", "measured"),
        ("公司成立于上海，主要从事工业软件的研发、销售与服务。", "plain"),
        ("12.5 13.8 15.2 16.9 18.1 22.4 25.0 31.7", "bare_numbers"),
        ("风险提示：宏观经济波动；行业竞争加剧；政策推进不及预期。", "boilerplate"),
    ],
)
def test_the_class_of_a_passage(line: str, expected: str):
    assert classes(line) == [expected]


def test_a_forecast_value_is_a_forecast_and_an_estimate_in_a_table_is_not_one():
    assert classes("宁德时代预计2026年营业收入达到5000亿元。") == ["forecast"]
    table = "| （百万元） | 2025E | 2026E\n营业收入 | 420,000 | 500,000"
    assert classes(table, codes=("300750.SZ",)) == ["measured"]


def test_a_table_that_nothing_was_read_from_is_bare_numbers():
    assert classes("| 1 | 2024 | 2023\n2 | 17.3 | 18.4\n3 | 19.5 | 20.6") == ["bare_numbers"]


def test_a_risk_that_is_explained_is_no_boilerplate():
    listed, explained = classes(
        "# 风险提示",
        "宏观经济波动的风险，行业竞争加剧的风险，新产品推广不及预期的风险，以及原料供应不稳定的风险。",
        "# 经营情况与风险因素",
        "由于原料依赖进口，汇率贬值将导致采购成本上升，公司毛利率可能因此承压，需要持续跟踪。",
    )
    assert (listed, explained) == ("boilerplate", "causal")


def test_what_was_said_before_is_repeated_and_other_figures_are_not():
    first = "本周公司公告与两家海外整车厂签署长期协议，供货周期为五年，首批产品已经装船发运，协议金额为{}亿元。"
    body = "此外，公司的新工厂进展顺利，土建部分已经封顶，设备安装调试将在下半年陆续展开，员工招聘同步进行。"
    lines = ("# 要点", first.format("30"), "# 正文", first.format("30"), "# 其他", body)
    assert classes(*lines).count("repeated") == 1
    assert classes(*lines)[0] != "repeated"
    assert "repeated" not in classes(
        "# 甲", "甲厂产量为一百二十吨。", "# 乙", "甲厂产量为一百二十吨。"
    )  # too short to tell


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2023 | 17.3% | 5亿元", True), ("", False), ("产能利用率维持高位", False), ("收入为3亿元，同比增长", False)],
)
def test_bare_numbers(text: str, expected: bool):
    assert is_bare_numbers(text) is expected


def test_classes_change_nothing_else_and_follow_from_the_reading_alone():
    document = report("# 行业", "由于限产，水泥价格上涨。", "| 地区 | 价格\n华东 | 350")
    cut = chunk_document(document)
    classed = with_classes(cut, ())
    assert [(chunk.id, chunk.text, chunk.search_text) for chunk in classed] == [
        (chunk.id, chunk.text, chunk.search_text) for chunk in cut
    ]
    assert with_classes(cut, ()) == classed
    assert {chunk.kind for chunk in classed} == {ChunkKind.TEXT, ChunkKind.TABLE}
    assert classed[0].value_class is ValueClass.CAUSAL
