"""Figures whose owner is only described: indicator, value and period are read, nothing is stored."""

from __future__ import annotations

import pytest

from kg.settings import Settings
from tests.goldens.reports import names_of, read, report


def stated(*lines: str) -> list[tuple[str, str, float, str, bool]]:
    """(subject, indicator, number, period, stored) of every figure, in the order of the text."""
    reading = read(report(*lines))
    names = names_of(reading)
    least = Settings().min_confidence
    found = [fact for fact in reading.facts if fact.relation == "reports" and fact.value]
    return [
        (names[fact.subject], names[fact.object], fact.value.number, str(fact.valid), fact.confidence >= least)
        for fact in found
    ]


@pytest.mark.parametrize(
    ("line", "figures"),
    [
        (  # a group of firms that the line describes
            "我们统计的九家样本公司2023年合计收入为310亿元，同比增长4.5%。",
            [
                ("统计的九家样本公司", "收入", 3.1e10, "2023", False),
                ("统计的九家样本公司", "收入", 4.5, "2023", False),
            ],
        ),
        (  # nobody at all but a place
            "2022年全球市场规模达到84亿美元。",
            [("全球", "市场规模", 8.4e9, "2022", False)],
        ),
        (  # a row of two indicators
            "2023年某类企业毛利率、净利率分别为31.2%、8.4%。",
            [("某类企业", "毛利率", 31.2, "2023", False), ("某类企业", "净利率", 8.4, "2023", False)],
        ),
    ],
)
def test_a_figure_of_a_described_owner_is_read_and_not_stored(line, figures):
    assert stated(line) == figures


def test_a_described_owner_is_nobody_else_s():
    """What stands behind a described figure belongs to whom it belonged to without it."""
    plain = stated("# 宁德时代", "2024年收入3620亿元。", "净利润507亿元。")
    assert [figure[0] for figure in plain] == ["宁德时代", "宁德时代"]
    behind = stated("# 宁德时代", "2024年收入3620亿元，某类客户的采购金额为12亿元。", "净利润507亿元。")
    assert [each for each in behind if each[1] != "采购金额"] == plain


def test_a_range_over_a_span_of_years_has_both_ends():
    figures = stated("2015-2020年，中国碳酸锂产量从4万吨增长至17万吨。")
    assert figures == [
        ("碳酸锂", "碳酸锂产量", 4e4, "2015", True),
        ("碳酸锂", "碳酸锂产量", 1.7e5, "2020", True),
    ]
    assert [number for _, _, number, *_ in stated("2020年，中国碳酸锂产量从4万吨增长至17万吨。")] == [1.7e5]


def test_a_row_is_of_the_words_joined_before_it():
    assert stated("2024年3月，32/55寸某类面板价格分别为75/126美元/片，环比上涨7%/4%。") == [
        ("32寸某类面板", "面板价格", 75, "2024-03", False),
        ("55寸某类面板", "面板价格", 126, "2024-03", False),
        ("32寸某类面板", "面板价格", 7, "2024-03", False),
        ("55寸某类面板", "面板价格", 4, "2024-03", False),
    ]
    assert not stated("2024年甲类、乙类制品销量分别为5/6/7万吨。")  # as many words as numbers, or nothing


def test_what_a_row_of_described_owners_says_next_is_not_stored():
    figures = stated("2024年甲类、乙类制品毛利率分别为5%、6%，净利率分别为1%、2%。")
    assert [(subject, number, stored) for subject, _, number, _, stored in figures] == [
        ("甲类", 5, False),
        ("乙类制品", 6, False),
        ("甲类", 1, False),
        ("乙类制品", 2, False),
    ]
