"""Directions that a model read, against the words of the sentence."""

from __future__ import annotations

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


def test_an_effect_that_is_played_down_is_not_shown():
    text = "油价下跌对出海影响有限。"
    ends = mention(text, "油价"), mention(text, "出海", Kind.EVENT)
    assert read(text, *ends, ("down", "down")).confidence < 0.4


def test_what_decides_or_changes_another_thing_states_no_direction():
    text = "成本优势决定行业盈利。"
    assert read(text, mention(text, "成本优势"), mention(text, "盈利"), ("up", "down")).sign == 0


def test_a_clause_that_turns_to_another_cause_ends_an_effect():
    text = "铜价高位抑制采购，但新工艺推动空调销量增长。"
    assert read(text, mention(text, "铜价"), mention(text, "空调销量"), ("up", "up")).confidence < 0.4


def test_a_thing_that_falls_takes_its_price_along():
    text = "铁锂价格随碳酸锂下跌。"
    claim = read(text, mention(text, "碳酸锂", Kind.PRODUCT), mention(text, "铁锂价格"), ("none", "down"))
    assert claim.sign == 1
