"""Spans of trading days, and spans whose end is a day of their last month."""

from __future__ import annotations

from datetime import date

import pytest

from extraction.dating import find_periods


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
