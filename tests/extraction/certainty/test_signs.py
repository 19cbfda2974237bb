"""Directions that a model read, against the words of the sentence."""

from __future__ import annotations

import pytest

from extraction.certainty.signs import one_sign
from extraction.sentence import AnnotatedSentence, Claim, EntityMention
from extraction.text.sentences import split
from kg.model import Kind


def mention(text: str, name: str, kind: Kind = Kind.INDICATOR, about: str = "") -> EntityMention:
    start = text.index(name)
    return EntityMention(f"{kind}:{name}", kind, name, start, start + len(name), about=about)


def read(text: str, cause: EntityMention, effect: EntityMention, moves: tuple[str, str]) -> Claim:
    qualifiers = (("cause_direction", moves[0]), ("effect_direction", moves[1]))
    claim = Claim("affects", cause, effect, 0, len(text), "edges", qualifiers=qualifiers, confidence=0.9)
    ((checked, _),) = one_sign([(claim, AnnotatedSentence(split(text, 0, len(text))[0], (), (), ()))])
    return checked


def test_what_is_only_swayed_has_no_direction():
    text = "海外市场贸易壁垒可能影响出海进程。"
    ends = mention(text, "海外市场贸易壁垒", Kind.EVENT), mention(text, "出海", Kind.EVENT)
    assert read(text, *ends, ("none", "up")).sign == 0
    text = "印尼政策影响着铝价。"
    ends = mention(text, "印尼政策", Kind.EVENT), mention(text, "铝价")
    assert read(text, *ends, ("none", "up")).sign == 0


def test_what_decides_or_changes_another_thing_states_no_direction():
    text = "成本优势决定行业盈利。"
    assert read(text, mention(text, "成本优势"), mention(text, "盈利"), ("up", "down")).sign == 0


@pytest.mark.parametrize(
    ("text", "cause", "effect"),
    [
        ("煤价下跌对检修影响有限。", ("煤价", Kind.INDICATOR), ("检修", Kind.EVENT)),
        ("铜价高位抑制采购，但新工艺推动空调销量增长。", ("铜价", Kind.INDICATOR), ("空调销量", Kind.INDICATOR)),
        ("尽管受贸易摩擦影响，出口额仍维持增长。", ("贸易摩擦", Kind.EVENT), ("出口额", Kind.INDICATOR)),
        ("政策宽松带动玻璃需求回暖，光伏反内卷后产能出清。", ("玻璃需求", Kind.INDICATOR), ("光伏", Kind.INDUSTRY)),
    ],
    ids=["played down", "a turn to another cause", "in spite of it", "a cause in its own clause"],
)
def test_what_is_no_effect_of_a_cause_is_not_shown(text: str, cause: tuple[str, Kind], effect: tuple[str, Kind]):
    for directions in (("up", "up"), ("down", "down")):
        assert read(text, mention(text, *cause), mention(text, *effect), directions).confidence < 0.4


def test_an_effect_that_is_named_again_behind_its_cause_moves_as_there():
    text = "虽然煤价下行，如遇供给收缩，煤价仍可能反弹。"
    assert read(text, mention(text, "供给"), mention(text, "煤价"), ("down", "down")).sign == -1


def test_a_thing_that_falls_takes_its_price_along():
    text = "铁锂价格随碳酸锂下跌。"
    claim = read(text, mention(text, "碳酸锂", Kind.PRODUCT), mention(text, "铁锂价格"), ("none", "down"))
    assert claim.sign == 1
