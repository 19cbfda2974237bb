from __future__ import annotations

import pytest

from extraction.certainty.direction import cause_direction, effect_direction


@pytest.mark.parametrize(
    ("text", "effect", "direction"),
    [
        ("印尼铜矿事件扰动，镍价反弹。", "镍价", "up"),
        ("炼厂减产，钛白粉价格或将进一步下跌。", "钛白粉价格", "down"),
        ("新能源可能拉低电能市场价格。", "电能市场价格", "down"),
        ("扩产刺激了国内设备需求。", "设备需求", "up"),
        ("供应释放压制煤价上涨。", "煤价", ""),  # the verb and the noun disagree
        ("未获批将影响公司业绩增长。", "业绩", ""),
        ("政商场景需求偏弱，销量增长放缓。", "销量", ""),
        ("进口煤增速回落，煤价下行空间有限。", "煤价", ""),
        ("地缘局势支撑，油价先跌后涨。", "油价", ""),
    ],
)
def test_the_words_around_an_effect_say_which_way_it_moves(text: str, effect: str, direction: str):
    start = text.index(effect)
    assert effect_direction(text, start, start + len(effect)) == direction


@pytest.mark.parametrize(
    ("text", "cause", "direction"),
    [
        ("下游需求回升带动钴价上涨。", "下游需求", "up"),
        ("锂价下跌，组件成本降低。", "锂价", "down"),
        ("规模效应提升净利率。", "规模效应", ""),  # it raises something else
        ("供给瓶颈在于电力。", "供给", ""),
    ],
)
def test_the_words_after_a_cause_say_which_way_it_moves(text: str, cause: str, direction: str):
    assert cause_direction(text, text.index(cause) + len(cause)) == direction
