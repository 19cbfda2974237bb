"""Which time the lines of a note go on about."""

from __future__ import annotations

from datetime import date

import pytest

from extraction.dating.policy import as_of, carry_period, named_week, shift_to_reported_week
from kg.dating.reader import find_periods
from kg.period import quarter, week
from tests.goldens.reports import read, report


@pytest.mark.parametrize(
    ("text", "published_on", "week"),
    [
        ("本周铜价上涨", date(2025, 8, 18), "2025-W33"),  # Monday
        ("本周铜价上涨", date(2025, 8, 20), "2025-W33"),  # Wednesday
        ("本周铜价上涨", date(2025, 8, 21), "2025-W34"),  # Thursday
        ("本周铜价上涨", date(2025, 8, 24), "2025-W34"),  # Sunday
        ("上周铜价上涨", date(2025, 8, 18), "2025-W33"),
    ],
)
def test_this_week_of_an_early_note_is_the_week_before(text, published_on, week):
    (dated,) = shift_to_reported_week(find_periods(text, published_on), published_on)
    assert str(dated.period) == week


@pytest.mark.parametrize(
    ("opening", "published_on", "week"),
    [
        ("本报告期为9月8日-9月12日。", date(2025, 9, 19), "2025-W37"),  # a Friday note of the week before
        ("本报告期为9月15日-9月19日。", date(2025, 9, 19), "2025-W38"),
        ("本报告期为6月2日-6月6日。", date(2025, 9, 19), "2025-W38"),  # too long ago to be what it is about
        ("本报告期为1月-8月。", date(2025, 9, 19), "2025-W38"),
        # no days named: the last day with figures
        ("截至9月12日，锂价上涨；截至8月29日，库存下降。", date(2025, 9, 19), "2025-W37"),
        ("截至9月18日，锂价上涨。", date(2025, 9, 19), "2025-W38"),
        ("截至8月31日，库存下降。", date(2025, 9, 19), "2025-W38"),
    ],
)
def test_the_days_a_note_names_say_which_week_it_tells_of(opening, published_on, week):
    named = named_week(find_periods(opening, published_on), published_on)
    (dated,) = shift_to_reported_week(find_periods("本周铜价上涨", published_on), published_on, lambda: named)
    assert str(dated.period) == week


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("截至2025年6月10日，指数年初至今上涨3%", "2025-01-01…2025-06-10"),
        ("截至2025年6月10日，指数近一年上涨3%", "2024-06-11…2025-06-10"),
        ("指数年初至今上涨3%", "2025-01-01…2025-06-13"),
        ("截至2025年6月10日、截至2025年6月11日，指数年初至今上涨3%", "2025-01-01…2025-06-13"),
    ],
)
def test_what_lasts_until_today_ends_on_the_day_of_the_figures(text, expected):
    today = date(2025, 6, 13)
    assert str(as_of(find_periods(text, today), today)[-1].period) == expected


@pytest.mark.parametrize(
    ("text", "stated", "expected"),
    [
        ("指数年初至今上涨3%", week(date(2025, 6, 9)), "2025-01-01…2025-06-15"),  # of the week that the note reports on
        ("6月2日-6月6日指数上涨1%，年初至今上涨3%", week(date(2025, 6, 9)), "2025-01-01…2025-06-06"),
        ("截至2025年6月10日，指数年初至今上涨3%", week(date(2025, 6, 9)), "2025-01-01…2025-06-10"),
        ("指数年初至今上涨3%", week(date(2025, 5, 12)), "2025-01-01…2025-06-16"),  # too long ago
    ],
)
def test_what_lasts_until_today_ends_with_the_reported_week(text, stated, expected):
    today = date(2025, 6, 16)
    assert str(as_of(find_periods(text, today), today, lambda: stated)[-1].period) == expected


def test_a_sum_reported_last_is_not_what_the_next_item_goes_on_about():
    text = "6月出口87吨，上半年合计出口4651吨；"
    assert str(carry_period(text, find_periods(text, date(2025, 7, 28)), None)) == "2025-06"
    text = "2024年营收3亿元，2025年一季度营收1亿元；"
    assert str(carry_period(text, find_periods(text, date(2025, 7, 28)), None)) == "2025Q1"


def test_a_day_in_brackets_dates_its_own_item_only():
    text = "2025年7月18日，纯碱价格为1300元；尿素（2025年7月10日）价格为1820元；"
    assert str(carry_period(text, find_periods(text, date(2025, 7, 28)), None)) == "2025-07-18"


def test_a_heading_means_the_reported_week_too():
    lines = ("# 一、本周市场表现", "截至7月25日收盘，本周电力板块下跌0.4%。", "各子行业中，光伏发电上涨1.06%。")
    facts = read(report(*lines, day=date(2025, 7, 28))).facts
    assert {str(fact.valid) for fact in facts if fact.relation == "reports"} == {"2025-W30"}


def test_a_span_of_years_is_not_inherited_by_a_share_nor_a_quarter_by_a_valuation():
    facts = read(report("海外挖掘机市场规模近三年为250亿元，挖掘机国产市占率85%。")).facts
    assert [fact.valid for fact in facts if fact.value and fact.value.change == "share"] == [None]
    facts = read(report("工商银行：2025Q1营业收入同比-3.22%，PB 0.72倍，市值25226亿元。")).facts
    assert {str(fact.valid) for fact in facts if fact.value and fact.value.unit != "%"} == {"None"}


def test_a_cited_title_does_not_name_the_reported_week():
    lines = ("相关报告《医药周报（2025.07.07-2025.07.11）》。", "截至7月18日，本周医药指数上涨4.3%。")
    facts = read(report(*lines, day=date(2025, 7, 21))).facts
    assert {str(fact.valid) for fact in facts if fact.relation == "reports"} == {"2025-W29"}


def test_a_date_behind_a_number_is_not_its_own():
    facts = read(report("硫酸钴价格从5.09万元/吨升至5.39万元/吨，8月5日环比上涨2.08%。")).facts
    assert {fact.value.number for fact in facts if fact.value} == {53900.0, 2.08}
    now = read(report("光伏PE从2019年初的24倍提升到现在的39倍。")).facts
    assert [fact.valid for fact in now if fact.value and fact.value.number == 39] == [None]


@pytest.mark.parametrize("began", ["2006年成立", "2019年上市", "成立于2006年"])
def test_the_year_of_founding_or_listing_dates_nothing_else(began):
    found = read(report("# 镀膜", f"汇成真空：{began}，客户包括苹果、三星等。"))
    supplies = [fact for fact in found.facts if fact.relation == "supplies"]
    assert {fact.valid for fact in supplies} == {None}


def test_an_outlook_without_a_figure_dates_only_itself():
    for text in ("收入增长11%，客户兴趣提升，Q3预计温和增长", "订单环比增长16%，预计Q3持平"):
        assert str(carry_period(text, find_periods(text, date(2025, 9, 16)), quarter(2025, 2))) == "2025Q2"
    text = "预计Q3收入12亿元"
    assert str(carry_period(text, find_periods(text, date(2025, 9, 16)), quarter(2025, 2))) == "2025Q3"
