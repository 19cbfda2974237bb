"""Two live facts that cannot both hold are kept and point at each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kg.model import Fact, Modality, Value
from kg.period import quarter
from kg.relations import vocabulary
from kg.store.rules.contradiction import contradicting
from tests.contracts.readings import BYD, CATL, LITHIUM, MARGIN, day, denied, fact, planned, reading, reported
from tests.contracts.reference import MemoryStore

WORDS = vocabulary()
Q1 = quarter(2024, 1)
USES = fact(CATL, "uses", LITHIUM)
MOVES = fact("indicator:碳酸锂价格", "affects", MARGIN, sign=-1)
PARENT = fact(BYD, "subsidiary_of", CATL)


def rated(rating: str, **more: object) -> Fact:
    return fact("institution:甲", "rates", CATL, qualifiers=(("rating", rating),), **more)


def stated(number: float, **more: object) -> Fact:
    return reported(number, valid=Q1, **more)


def pairs(one: Fact, other: Fact, *, days: tuple[int, int] = (0, 0), speakers: tuple[str, str] = ("甲", "乙")) -> int:
    """Write two facts and count those that point at the other; it is always both or none."""
    store = MemoryStore()
    with store.writer() as writer:
        for number, (said, on, speaker) in enumerate(zip((one, other), days, speakers, strict=True)):
            writer.write(reading(number, on, said, speaker=speaker))
    view = store.view()
    found = {item.id: [against.id for against in contradicting(view, item, WORDS)] for item in view.facts()}
    for item, others in found.items():
        assert all(item in found[against] for against in others)
        assert item not in others
    return sum(map(bool, found.values()))


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        (USES, denied(USES), 2),
        (planned(denied(USES)), USES, 2),
        (USES, denied(fact(BYD, "uses", LITHIUM)), 0),
        (replace(USES, valid=quarter(2023, 1)), denied(replace(USES, valid=Q1)), 0),
        (MOVES, replace(MOVES, sign=1), 2),
        (MOVES, replace(MOVES, sign=0), 0),
        (MOVES, denied(replace(MOVES, sign=1)), 0),
        (replace(MOVES, valid=Q1), replace(MOVES, sign=1, valid=quarter(2023, 1)), 0),
        (replace(MOVES, valid=Q1), replace(MOVES, sign=1), 2),
        (stated(20), stated(22), 2),
        (stated(20), stated(20.05), 0),
        (stated(20), replace(stated(20), value=Value(19, "%", high=21)), 0),
        (stated(20), replace(stated(20), value=Value(21, "%", high=23)), 2),
        (stated(20), reported(22, valid=quarter(2024, 2)), 0),
        (stated(20), planned(stated(22)), 0),
        (stated(20, modality=Modality.FORECAST), stated(22, modality=Modality.FORECAST), 2),
        (stated(20), replace(stated(22), qualifiers=(("product", "电池"),)), 0),
        (stated(20), replace(stated(22), qualifiers=(("bound", "≥"),)), 0),
        (reported(20), reported(22), 0),
        (stated(-20), stated(20), 2),
        (PARENT, fact(BYD, "subsidiary_of", "org:母公司"), 2),
        (rated("买入"), rated("卖出"), 2),
        (rated("买入"), fact("institution:甲", "rates", CATL, qualifiers=(("target", "1"),)), 0),
        (USES, fact(CATL, "uses", "product:石墨"), 0),
    ],
)
def test_what_cannot_both_hold(one: Fact, other: Fact, count: int):
    assert pairs(one, other) == pairs(other, one) == count


def test_nobody_contradicts_himself():
    assert pairs(stated(20), stated(22), speakers=("甲", "甲")) == 0


def test_what_is_closed_contradicts_nothing():
    assert pairs(USES, denied(USES), days=(0, 5)) == 0
    assert pairs(denied(USES), USES, days=(0, 5)) == 2
    assert pairs(PARENT, fact(BYD, "subsidiary_of", "org:母公司"), days=(0, 5)) == 0
    assert pairs(rated("买入"), rated("卖出"), days=(0, 5)) == 0


def test_a_view_sees_the_disagreements_of_its_day():
    store = MemoryStore()
    with store.writer() as writer:
        writer.write(reading(1, 0, stated(20), speaker="甲"))
        writer.write(reading(2, 3, stated(22), speaker="乙"))
    for view, count in ((store.view(as_of=day(2)), 0), (store.view(), 1)):
        (first,) = [item for item in view.facts() if item.value == Value(20, "%")]
        assert len(contradicting(view, first, WORDS)) == count
