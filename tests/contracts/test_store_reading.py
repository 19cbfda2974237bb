"""What a store gives back of a document is what another store needs to hold it too."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from kg.interop.dumping import dump
from kg.model import Alias, Entity, Kind, Mention, MentionStatus, Problem, Value
from kg.period import quarter
from tests.contracts.readings import BYD, CATL, LITHIUM, MARGIN, READ, day, fact, reading, reported
from tests.contracts.reference import MemoryStore

if TYPE_CHECKING:
    from kg.model import Reading
    from kg.store.port import Store


def whole() -> Reading:
    claims = (reported(20, valid=quarter(2024, 1)), fact(BYD, "uses", LITHIUM, sign=0), reported(20), reported(20))
    plain = reading(1, 2, *claims, speaker="甲", copies=(7,), read=READ + timedelta(days=1), path="甲.pdf")
    entities = (
        Entity(LITHIUM, Kind.PRODUCT, "碳酸锂", (Alias("锂盐", quarter(2024, 1), "表"),)),
        Entity(CATL, Kind.COMPANY, "宁德时代", codes=("300750.SZ",)),
        Entity(CATL, Kind.COMPANY, "CATL", about=""),
    )
    doubtful = Mention(5, 8, "碳酸锂", Kind.PRODUCT, MentionStatus.UNKNOWN)
    problems = (Problem("dating", "no day", 1, 2),)
    return replace(plain, entities=entities, mentions=(*plain.mentions, doubtful), problems=problems)


def test_a_document_comes_back_as_another_store_needs_it(store: Store):
    with store.writer() as writer:
        writer.write(whole())
        writer.write(reading(2, 0, reported(20), fact(CATL, "reports", MARGIN, value=Value(2e8, "元", scale="亿"))))
    given = store.reading("doc:1")
    assert given is not None
    reference, other = MemoryStore(), MemoryStore()
    for target, item in ((reference, whole()), (other, given)):
        with target.writer() as writer:
            writer.write(item)
    assert other.reading("doc:1") == reference.reading("doc:1") == given
    one, two = other.view(), reference.view()
    assert list(one.facts()) == list(two.facts())
    assert list(one.entities()) == list(two.entities())
    assert one.mentions("doc:1") == two.mentions("doc:1")
    assert (given.copies, given.problems, given.recorded_at) == ((), whole().problems, whole().recorded_at)
    assert given.document == whole().document


def test_only_its_own_evidence_comes_back(store: Store):
    with store.writer() as writer:
        writer.write(reading(1, 0, reported(20)))
        writer.write(reading(2, 1, reported(20), copies=(1,)))
    given = store.reading("doc:2")
    assert given is not None
    assert [(item.document, item.witness) for item in given.facts[0].evidence] == [("doc:2", "")]
    assert given.facts[0].published_on == day(1)


def test_what_is_not_there_is_none(store: Store):
    assert store.reading("doc:1") is None


def test_copies_are_reported_from_both_sides_and_only_while_they_are_there(store: Store):
    """So that neither the order of writing nor what was removed can be seen in what is left."""
    readings = (reading(1, 0), reading(2, 1, copies=(1,)), reading(3, 2, copies=(1, 2, 7)))
    with store.writer() as writer:
        for item in readings:
            writer.write(item)
        stated = [getattr(store.reading(f"doc:{number}"), "copies", None) for number in (1, 2, 3)]
        assert stated == [("doc:2", "doc:3"), ("doc:1", "doc:3"), ("doc:1", "doc:2")]
        lines = list(dump(store))
        writer.remove("doc:2")
        assert [getattr(store.reading(f"doc:{number}"), "copies", None) for number in (1, 3)] == [
            ("doc:3",),
            ("doc:1",),
        ]
        writer.remove("doc:1")
        assert getattr(store.reading("doc:3"), "copies", None) == ()
        writer.write(reading(2, 1, copies=(3,)))
        writer.write(reading(1, 0, copies=(2, 3)))
    assert list(dump(store)) == lines
