"""Whose factor moves: names of a list, names that no list holds, and what belongs to them."""

from __future__ import annotations

import pytest

from extraction.mentions import shipped_lexicon
from extraction.patterns.move_owners import names_in, owners_of
from extraction.patterns.moves import find_moves


@pytest.mark.parametrize(
    ("text", "owners"),
    [
        ("玉米价格上涨", ["玉米"]),
        ("玉米、小麦价格上涨", ["玉米", "小麦"]),
        # a name that no list holds, alone or in a row with known ones
        ("泡泡茶价格上涨", ["泡泡茶"]),
        ("泡泡茶和玉米价格上涨", ["泡泡茶", "玉米"]),
        ("玉米和泡泡茶价格上涨", ["玉米", "泡泡茶"]),
        # a region, a season or an adverb is no part of it
        ("印度泡泡茶价格上涨", ["泡泡茶"]),
        ("四季度泡泡茶价格上涨", ["泡泡茶"]),
        # its form is
        ("甲醇原料价格上涨", ["甲醇原料"]),
        # and protection of the environment owns nothing
        ("环保压力加大，需求低迷", []),
    ],
)
def test_who_owns_a_move(text, owners):
    move = find_moves(text)[-1]
    assert [text[name.start : name.end] for name in owners_of(text, move, names_in(text, shipped_lexicon()))] == owners
