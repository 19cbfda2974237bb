from __future__ import annotations

import pytest

from kg.model import Value
from kg.query.wording import value_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Value(25_818_800_000.0, "元", "亿"), "25.8188bn CNY"),
        (Value(248.2, "元"), "248.2 CNY"),
        (Value(0.42, "pct", change="yoy"), "yoy +0.42pp"),
        (Value(-12.3, "%", change="yoy"), "yoy -12.3%"),
        (Value(42.0, "%", change="share"), "share 42%"),
        (Value(65.0, "美元/桶", high=70.0), "65–70 USD/bbl"),
        (Value(95_000.0, "元/吨", "万"), "95,000 CNY/t"),
        (Value(900_000.0, "辆", "万", high=1_200_000.0), "0.9–1.2m vehicles"),
        (Value(38.93, "倍"), "38.93x"),
        (Value(3.0, "座"), "3 sites"),
        (Value(1.5e13, "元", "万亿"), "15tn CNY"),
        (Value(0.0000001, "元"), "0.0000001 CNY"),
    ],
)
def test_a_value_in_english(value, text):
    assert value_text(value, "en") == text
