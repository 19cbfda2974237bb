"""Spans of trading days, spans whose end is a day of their last month, and months stated ahead."""

from __future__ import annotations

from datetime import date

import pytest

from kg.dating.reader import find_periods


@pytest.mark.parametrize(
    ("text", "expression", "period"),
    [
        ("过去5个交易日", "过去5个交易日", "2025-08-14…2025-08-20"),
        ("近10个交易日", "近10个交易日", "2025-08-07…2025-08-20"),
        ("2025年4月至7月5日", "2025年4月至7月5日", "2025-04-01…2025-07-05"),
        ("2025年4月至7月", "2025年4月至7月", "2025-04-01…2025-07-31"),
    ],
)
def test_spans(text, expression, period):
    (found,) = find_periods(text, date(2025, 8, 20))
    assert (found.text, str(found.period)) == (expression, period)


@pytest.mark.parametrize(
    ("text", "expression", "period"),
    [
        ("10月产量预计回升", "10月", "2025-10"),
        ("11月产量预计回升", "11月", "2024-11"),  # too far ahead to be meant
        ("6月产量预计回升", "6月", "2025-06"),
        ("5月期货均价", "5月", "2025-05"),
    ],
)
def test_a_month_expected_further_behind(text, expression, period):
    (found,) = find_periods(text, date(2025, 8, 20))
    assert (found.text, str(found.period)) == (expression, period)
