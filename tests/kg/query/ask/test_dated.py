from __future__ import annotations

from datetime import date

import pytest

from kg import period as periods
from kg.query.ask.dated import AskedPeriod

APRIL, FIRST_QUARTER, YEAR = periods.month(2025, 4), periods.quarter(2025, 1), periods.year(2025)
LATE_MAY = date(2025, 5, 28)


@pytest.mark.parametrize(
    ("asked", "text", "around", "fits"),
    [
        (APRIL, "4 月销量 22142 台，同比 + 17.6%；", [], True),  # a month without a year is that of the note
        (APRIL, "其中国内 12547 台；", ["4 月销量 22142 台"], True),
        (APRIL, "单月出口额 56.5 亿元，1-3 月累计 281.6 亿元", ["4 月变压器出口创新高"], True),  # dated by its label
        (FIRST_QUARTER, "2025 年 1 月 2 日 - 3 月 31 日，指数上涨 9.4%", [], True),
        (APRIL, "1-4 月累计销量 83514 台；", [], False),
        (APRIL, "上月销量 22142 台", [], True),
        (APRIL, "本月销量预计 2 万台", [], False),
        (FIRST_QUARTER, "25Q1 净利润 10.26 亿元", [], True),
        (FIRST_QUARTER, "25Q2 净利润 17.82 亿元", [], False),
        (FIRST_QUARTER, "绿色贷款余额 40.61 万亿元", ["降幅较上年末收窄", "2025 年 Q1 末，贷款余额 53 万亿元"], True),
        (YEAR, "2025 年上半年净利润 30 亿元", [], False),
        (YEAR, "截至 2025 年 12 月 31 日，现金 5 亿元", [], True),
        (YEAR, "2024 年净利润 30 亿元", ["2025 年展望"], False),
        (APRIL, "年初至今上涨 10.8%，本期价格 195 元", ["涨幅前十产品（2025 年 4 月）"], True),
        (APRIL, "销量 22142 台", [], True),  # no date at all: its figures came out in May
        (periods.month(2025, 1), "销量 22142 台", [], False),
    ],
)
def test_a_value_is_of_the_period_asked_about(asked: periods.Period, text: str, around: list[str], fits: bool):
    assert AskedPeriod(asked, value=True).fits(text, around, LATE_MAY) is fits


def test_words_may_be_about_a_part_or_the_whole_of_the_period():
    words = AskedPeriod(YEAR, value=False)
    assert words.fits("2025 年上半年需求回暖", [], LATE_MAY)
    assert not words.fits("2024 年需求回暖", [], LATE_MAY)


def test_a_text_that_names_the_day_states_its_value():
    day = AskedPeriod(periods.day(date(2025, 6, 9)), value=True)
    assert day.states("截至 2025 年 6 月 9 日，指数年内上涨 5.9%", date(2025, 6, 24))
    assert not day.states("指数年内上涨 5.9%", date(2025, 6, 24))


WEEK = periods.week(date(2025, 5, 19))


@pytest.mark.parametrize(
    ("text", "before", "above", "published_on", "fits"),
    [
        ("均价 370 元", [], [], date(2025, 5, 26), True),
        ("均价 370 元", [], [], date(2025, 6, 12), False),  # three weeks later it is another price
        ("本周均价 370 元", [], [], date(2025, 5, 26), True),  # a Monday's note reports on the week before
        ("本周均价 370 元", [], [], date(2025, 6, 9), False),
        ("均价 370 元", ["去年同期 360 元"], ["水泥周报（2025.05.19-2025.05.23）"], date(2025, 5, 28), True),
    ],
)
def test_a_week_is_reported_soon(text: str, before: list[str], above: list[str], published_on: date, fits: bool):
    assert AskedPeriod(WEEK, value=True).fits(text, before, published_on, above=above) is fits
