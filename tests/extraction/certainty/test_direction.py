"""Which way a factor moves, and what a clause says of its parties; every example of lexicon/effects.yaml is read."""

from __future__ import annotations

import re

import pytest

from extraction.certainty.direction import denied_after, effect_sign, move_of
from extraction.text.lexicon import table

EXAMPLES = [
    (section, name, entry["pattern"], entry["example"])
    for section, entries in table("effects").items()
    if section not in {"phrases", "expected"}
    for name, entry in entries.items()
]


@pytest.mark.parametrize(("section", "name", "pattern", "example"), EXAMPLES)
def test_every_entry_matches_its_example(section: str, name: str, pattern: str, example: str):
    assert re.search(pattern, example), (section, name)


@pytest.mark.parametrize(
    ("text", "factor", "sign"),
    [
        ("铜价上涨推高成本", "铜价", 1),
        ("降息推高铜价", "铜价", 1),
        ("储备投放抑制猪价过快上涨", "猪价", -1),  # held back is no rise
        ("关税阻碍出口或推高成本", "出口", -1),  # what follows is said of another object
        ("补贴提振需求或降低成本", "需求", 1),
        ("需求增长不及预期", "需求", -1),
        ("供给释放超预期", "供给", 1),
        ("供给偏紧", "供给", -1),
        ("供应过剩", "供应", 1),
        ("铜精矿供需偏紧", "供需", 1),
        ("硅料价格仍将在底部徘徊", "硅料价格", 0),
        ("铜价波动", "铜价", 0),
        ("价格跌幅收窄", "价格", 0),
        ("煤价跌势放缓", "煤价", 0),
        ("渗透率提升缓慢", "渗透率", 0),
        ("产能利用率回升较为缓慢", "产能利用率", 0),
        ("库存尚未去化", "库存", 0),
        ("价格未随成本上涨", "价格", 0),
        ("弱需求压制价格", "需求", -1),
        ("美元走弱铜价上涨", "铜价", 1),
        ("需求乏力", "需求", -1),
        ("需求增长放缓", "需求", 0),
        ("消费能力下滑可能导致乘用车需求不及预期", "消费能力", -1),
        ("铜价难以上涨", "铜价", 0),
        ("行业供给自律改善", "供给", 0),  # more or less of it is not said
        ("库存去化", "库存", -1),
        ("金价高位回调", "金价", -1),
        ("钴价因供给放量而大幅下跌", "钴价", -1),
        ("美元信用风险水平有望改善", "美元信用风险水平", -1),
        ("将增加营销成本且降低效果", "营销成本", 1),
        ("央行避免长端利率上行", "长端利率", 0),
        ("稀土价格涨跌互现", "稀土价格", 0),
        ("煤价反弹夭折", "煤价", -1),
    ],
)
def test_the_words_beside_a_factor_state_its_direction(text: str, factor: str, sign: int):
    start = text.index(factor)
    move = move_of(text, start, start + len(factor), name=factor)
    assert move is not None
    assert move.sign == sign


def test_without_a_word_there_is_no_direction():
    assert move_of("铜价与铝价", 0, 2) is None
    assert move_of("铜价，需求上升", 0, 2) is None


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("推高双汇发展的原料成本", -1),
        ("降低组件成本", 1),
        ("拖累疫苗企业收入", -1),
        ("成本优势企业盈利空间扩大", 1),  # 盈利空间 is no 利空
        ("盈利好转", 1),
        ("农林生物质发电成本端改善", 1),
        ("缓解成本压力", 1),
        ("公司毛利率承压", -1),
        ("改善压缩利润的竞争环境", 0),
        ("与此无关", 0),
    ],
)
def test_a_burden_turns_the_sign_of_an_effect(text: str, sign: int):
    assert effect_sign(text) == sign


@pytest.mark.parametrize(
    ("text", "event", "ends"),
    [
        ("若行业自律减产得不到执行", "减产", True),
        ("取消关税", "关税", True),
        ("降息不及预期", "降息", True),
        ("限产推高价格", "限产", False),
        ("136号文取消强制配储", "136号文", False),
        ("补贴取消后", "补贴", True),
        ("资金支持延缓行业去产能", "去产能", True),
    ],
)
def test_an_event_that_does_not_come_is_its_opposite(text: str, event: str, ends: bool):
    start = text.index(event)
    assert denied_after(text, start, start + len(event)) is ends
