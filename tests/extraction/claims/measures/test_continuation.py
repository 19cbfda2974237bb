"""Figures that name no indicator, and rows mentioned several years."""

from __future__ import annotations

import pytest

from kg.settings import Settings
from tests.goldens.reports import facts_of, names_of, read, report


def stated(text: str) -> list[tuple[float, str, str, str]]:
    """(number, unit, change, period) of every figure."""
    found = [fact for fact in facts_of(text) if fact.relation == "reports" and fact.value]
    return [(fact.value.number, fact.value.unit, fact.value.change, str(fact.valid)) for fact in found]


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        (  # the level behind its change
            "2024年硅料板块净利率提升1.8pct至15.3%。",
            [(1.8, "pct", "change", "2024"), (15.3, "%", "", "2024")],
        ),
        (  # a share at both ends of a range
            "智能手机出货量占比从2023年的42%提升至2024年的52%。",
            [(42, "%", "share", "2023"), (52, "%", "share", "2024")],
        ),
        (  # the next sentence's level and growth
            "2023年智能手机市场规模达到10亿元。预计2027年将达到20亿元，2023-2027年CAGR将达到19%。",
            [(1e9, "元", "", "2023"), (2e9, "元", "", "2027"), (19, "%", "cagr", "2023-01-01…2027-12-31")],
        ),
        (
            "2023年智能手机市场规模达到10亿元，预计到2027年和2035年将分别达到20亿元和30亿元。",
            [(1e9, "元", "", "2023"), (2e9, "元", "", "2027"), (3e9, "元", "", "2035")],
        ),
        (  # the second row states its own years
            "2027年、2035年智能手机市场规模将分别达到20亿元和30亿元，2023-2027年、2027-2035年CAGR分别为19%和5%。",
            [
                (2e9, "元", "", "2027"),
                (3e9, "元", "", "2035"),
                (19, "%", "cagr", "2023-01-01…2027-12-31"),
                (5, "%", "cagr", "2027-01-01…2035-12-31"),
            ],
        ),
    ],
)
def test_what_follows_a_figure_is_of_the_same_indicator(text, figures):
    assert stated(text) == figures


@pytest.mark.parametrize(
    "text",
    [
        "2023年智能手机市场规模达到10亿元。预计2027年将达到20万台。",  # another unit
        "2023年智能手机市场规模达到10亿元。将达到20亿元。",  # nobody says when
        "2023年智能手机市场规模达到10亿元。平板电脑产线预计2027年将投入20亿元。",  # another thing
    ],
)
def test_a_bare_level_goes_on_only_with_a_year_and_in_the_same_unit(text):
    assert [number for number, *_ in stated(text)] == [1e9]


def named(text: str) -> list[tuple[str, float, bool]]:
    """(indicator, number, stored) of every figure."""
    reading = read(report(text))
    names = names_of(reading)
    found = [fact for fact in reading.facts if fact.relation == "reports" and fact.value]
    return [(names[fact.object], fact.value.number, fact.confidence >= Settings().min_confidence) for fact in found]


def test_what_a_trade_gains_is_its_index_s_where_shares_are_spoken_of():
    assert named("本周半导体板块上涨3.2%，电子板块下跌1.1%。") == [
        ("半导体指数", 3.2, True),
        ("电子指数", -1.1, True),
    ]
    assert not named("本周半导体上涨3.2%。")  # its shares or its prices
    for text in ("半导体板块上涨3.2%。", "截至11月25日，半导体板块上涨3.2%。"):  # since when
        assert [stored for *_, stored in named(text)] == [False]


def test_a_second_row_is_of_the_owners_of_the_first():
    figures = named("2024年半导体、光伏、银行行业收入增速分别为29%、8%、17%，净利润增速分别为50%、52%和24%。")
    assert [(name, number) for name, number, _ in figures[3:]] == [
        ("半导体净利润", 50),
        ("光伏净利润", 52),
        ("银行净利润", 24),
    ]


def test_a_price_of_one_piece_is_no_increment():
    assert named("2024年硅料价格为74美元。") == [("硅料价格", 74, True)]
    assert not named("2024年硅料价格上涨20美元。")
    assert not named("2024年硅料价格为74美元/捆。")


def test_a_verb_before_market_is_what_is_sold():
    assert named("2024年正畸市场规模为73亿元。")[0][:2] == ("正畸市场规模", 73e8)


def test_a_percentage_behind_a_word_of_share_is_one():
    assert [figure[:3] for figure in stated("2024年智能手机出货量占比逐步提升，从2023年的31%提升至2024年的34%。")] == [
        (31, "%", "share"),
        (34, "%", "share"),
    ]


def test_what_a_figure_was_is_not_what_it_rose_by():
    assert -3e8 not in {number for number, *_ in stated("2023年宁德时代净利润10亿元，较2022年的-3亿元增长13亿元。")}


def test_the_move_of_an_unreported_time_is_doubtful():
    assert [stored for *_, stored in named("申万行业指数涨跌幅：半导体涨幅12.7%。")] == [False]


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        (  # what it was before, and what it rose by
            "2024年锂电池销售额为120亿元，较2023年的100亿元增长20%。",
            [(1.2e10, "元", "", "2024"), (1e10, "元", "", "2023"), (20, "%", "change", "2024")],
        ),
        (
            "2024年锂电池销售额将比2023年的100亿元增长20%，达到120亿元。",
            [(1e10, "元", "", "2023"), (20, "%", "change", "2024"), (1.2e10, "元", "", "2024")],
        ),
        (  # nobody says of which months, and a loss is none of the words before it
            "7月锂电池销量为12万台，较去年同期的10万台增长20%。",
            [(1.2e5, "台", "", "2025-07"), (20, "%", "yoy", "2025-07")],
        ),
        (
            "2020年Q1~Q3锂电池产量为2、3、4万吨。",
            [(2e4, "吨", "", "2020Q1"), (3e4, "吨", "", "2020Q2"), (4e4, "吨", "", "2020Q3")],
        ),
        ("未来锂电池市场规模将保持9%的年复合增长率。", [(9, "%", "cagr", "None")]),
        ("2024年锂电池产量同减4.5%。", [(-4.5, "%", "yoy", "2024")]),
        ("2024年锂电池开工率有望恢复至71%。", [(71, "%", "", "2024")]),
        ("2024年H1LED产量激增至31万吨，环比上季上升5%。", [(3.1e5, "吨", "", "2024H1"), (5, "%", "qoq", "2024H1")]),
        (  # a base that goes on is no period of what follows
            "2024Q3锂电池毛利率为17%，比今年上一季度增加1pct，净利率为6%。",
            [(17, "%", "", "2024Q3"), (1, "pct", "change", "2024Q3"), (6, "%", "", "2024Q3")],
        ),
    ],
)
def test_more_ways_to_go_on(text, figures):
    assert stated(text) == figures
