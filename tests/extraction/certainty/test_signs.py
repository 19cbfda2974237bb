"""Directions that a model read, against the words of the sentence and what is known of signs."""

from __future__ import annotations

import pytest

from extraction.certainty.effect_words import EXPECTED
from extraction.certainty.signs import one_sign
from extraction.sentence import AnnotatedSentence, Claim, EntityMention
from extraction.text.lexicon import table
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


@pytest.mark.parametrize("name", [*table("effects")["expected"]])
def test_every_expectation_matches_its_example(name: str):
    row = table("effects")["expected"][name]
    cause, effect = row["example"]
    assert any(first.search(cause) and last.search(effect) for first, last, *_ in EXPECTED)


@pytest.mark.parametrize(
    ("text", "about", "confidence"),
    [
        ("煤炭需求上升，煤炭价格下降。", "product:煤炭", 0.6),
        ("煤炭需求上升，煤炭价格反而下降。", "product:煤炭", 0.9),  # said to be unusual
        ("煤炭需求上升，煤炭价格下降。", "", 0.9),  # not known to be one thing
        ("煤炭需求上升，煤炭价格上涨。", "product:煤炭", 0.9),
    ],
)
def test_a_sign_against_what_is_known_is_weak(text: str, about: str, confidence: float):
    ends = mention(text, "煤炭需求", about=about), mention(text, "煤炭价格", about=about)
    claim = read(text, *ends, ("up", "up" if "上涨" in text else "down"))
    assert claim.confidence == confidence


def test_a_loser_that_rose_is_weak():
    text = "受监管影响，领跌的是甲公司（+60.41%）。"
    ends = mention(text, "监管", Kind.EVENT), mention(text, "甲公司", Kind.COMPANY)
    assert read(text, *ends, ("none", "down")).confidence < 0.65


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
