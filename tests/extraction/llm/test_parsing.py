"""Replies as models write them, and as they should not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.llm.parsing import BadItem, EdgeItem, read_reply

LINE = "7|碳酸锂价格|affects|电池成本|dd|f"
EDGE = EdgeItem(7, "", "碳酸锂价格", "affects", "电池成本", "dd", "f")


@pytest.mark.parametrize(
    "reply",
    [
        LINE,
        f"  {LINE}  ",
        f"```\n{LINE}\n```",
        f"```text\n{LINE}\n```\n以上是抽取结果。",
        f"好的，以下是抽取的关系：\n\n{LINE}",
        f"- {LINE}",
        f"1. {LINE}",
        f"| {LINE.replace('|', ' | ')} |",
        LINE.replace("|", "｜"),
        LINE.replace("|", "\t"),
        f"行号|主体|关系|客体|方向|确定性\n---|---|---|---|---|---\n{LINE}",
        f"<think>也许 9|甲|affects|乙|uu| 也成立</think>{LINE}",
        f"{LINE}\n<think>还要再想想 9|甲|affects|乙",
        LINE.replace("7|", "[7]|"),
        LINE.replace("7|", "第7行|"),
        LINE.replace("7|", "L7|"),
        LINE.replace("affects", "影响"),
        LINE.replace("affects", "Affects"),
        LINE.replace("affects|电池成本", "电池成本|affects"),
        LINE.replace("dd", "down-down"),
        LINE.replace("dd", "D,D"),
        LINE.replace("|dd|f", "|dd|forecast"),
        json.dumps({"edges": [LINE]}),
        json.dumps([LINE]),
        json.dumps({"edges": [LINE.split("|")]}),
        json.dumps([[7, "碳酸锂价格", "affects", "电池成本", "dd", "f"]]),
        json.dumps([{"line": 7, "subject": "碳酸锂价格", "relation": "affects", "object": "电池成本",
                     "directions": "down-down", "certainty": "f"}]),
        json.dumps({"relations": [{"l": 7, "head": "碳酸锂价格", "predicate": "affects", "tail": "电池成本",
                                   "dirs": "dd", "mod": "forecast"}]}),
        f"结果如下：\n```json\n{json.dumps([LINE])}\n```",
        json.dumps({"edges": [LINE, "8|碳"]})[:-8],
    ],
)  # fmt: skip
def test_one_edge_however_it_is_written(reply: str):
    assert [item for item in read_reply(reply) if isinstance(item, EdgeItem)] == [EDGE]


@pytest.mark.parametrize(
    "reply", ["", "无", "none", "没有关系。", "```\n```", "{}", "[]", '{"edges": []}', "<think>想"]
)
def test_nothing_is_nothing(reply: str):
    assert read_reply(reply) == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("7|碳酸锂价格|drives|电池成本", "relation"),
        ("7|碳酸锂价格|reports|电池成本", "relation"),
        ("7|碳酸锂价格|affects", "format"),
        ("7|碳酸锂价格|affects||dd", "format"),
        ("7|碳", "format"),
    ],
)
def test_a_bad_item_is_a_problem_and_the_next_one_is_read(line: str, reason: str):
    bad, good = read_reply(f"{line}\n{LINE}")
    assert isinstance(bad, BadItem)
    assert bad.reason == reason
    assert good == EDGE


def test_attributes_may_be_missing_or_swapped():
    (item,) = read_reply("3|甲公司|holds_stake_in|乙公司|||51%")
    assert item == EdgeItem(3, "", "甲公司", "holds_stake_in", "乙公司", amount="51%")
    (item,) = read_reply("3|甲公司|supplies|乙公司||p-")
    assert item == EdgeItem(3, "", "甲公司", "supplies", "乙公司", certainty="p", negative=True)
    (item,) = read_reply("3|甲|affects|乙|f|ud")
    assert item == EdgeItem(3, "", "甲", "affects", "乙", "ud", "f")


def test_a_quote_may_stand_for_the_line():
    (item,) = read_reply("碳酸锂价格下跌，电池成本下降|碳酸锂价格|affects|电池成本|dd|")
    assert isinstance(item, EdgeItem)
    assert (item.line, item.quote) == (None, "碳酸锂价格下跌，电池成本下降")


def test_a_flood_is_bounded():
    found = read_reply("\n".join([LINE] * 5000))
    assert len(found) == 401
    assert found[-1] == BadItem("too-many", "5000 items")


@given(st.text(alphabet='7|碳affects{}[]",:\\\n<think>/ -｜`', max_size=200))
def test_no_reply_breaks_the_reader(reply: str):
    for item in read_reply(reply):
        assert isinstance(item, (EdgeItem, BadItem))


def test_deep_nesting_is_no_recursion():
    assert read_reply("[" * 100_000) == []
    assert read_reply('{"a":' * 50_000 + '"x"') == []
