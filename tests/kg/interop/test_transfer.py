"""Dump, import and copy: what goes out comes in again, whichever store holds it."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import pytest
from hypothesis import given

from kg.errors import DocumentError
from kg.interop.copying import CopyDiffers, copy, verify
from kg.interop.dumping import StoreChanged, dump
from kg.interop.restoring import restore
from kg.judgement import Judgement, Verdict
from kg.model import (
    Alias,
    Block,
    BlockKind,
    Entity,
    Kind,
    Mention,
    MentionStatus,
    Problem,
    Removed,
    Run,
    Value,
)
from kg.period import Period, quarter
from kg.store.open import open_store
from tests.contracts.readings import BYD, CATL, LITHIUM, MARGIN, READ, day, denied, fact, reading, reported
from tests.contracts.reference import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from kg.interop.imports.rows import RefusedRow
    from kg.interop.restoring import Restored
    from kg.model import Reading
    from kg.store.port import Store

LATER = READ + timedelta(days=99)
_CLAIMS = (
    reported(20),
    reported(22.5, valid=quarter(2024, 1), qualifiers=(("product", "电池"),)),
    fact(CATL, "reports", MARGIN, value=Value(2e8, "元", scale="亿", high=3e8)),
    denied(fact(CATL, "uses", LITHIUM)),
    fact(LITHIUM, "affects", MARGIN, sign=-1, valid=Period(day(0), None)),
)
_ENTITIES = (
    Entity(CATL, Kind.COMPANY, "宁德时代", (Alias("宁王", Period(day(3), None), "甲"),), ("300750.SZ",)),
    Entity(CATL, Kind.COMPANY, "CATL"),
    Entity("indicator:碳酸锂价格", Kind.INDICATOR, "碳酸锂价格", about=LITHIUM),
)


@st.composite
def _readings(draw: st.DrawFn, number: int) -> Reading:
    text = draw(st.text(st.characters(codec="utf-8"), min_size=8, max_size=40))
    plain = reading(
        number,
        draw(st.integers(0, 5)),
        *draw(st.lists(st.sampled_from(_CLAIMS), max_size=4)),
        text=text,
        speaker=draw(st.sampled_from(("", "甲"))),
        entities=tuple(draw(st.lists(st.sampled_from(_ENTITIES), max_size=3))),
        copies=tuple(draw(st.lists(st.integers(0, 3), max_size=2))),
        path=draw(st.sampled_from(("", "甲/乙.pdf"))),
    )
    document = replace(
        plain.document,
        authors=("张三",),
        codes=("300750.SZ",),
        pages=(0, 4),
        blocks=(Block(0, 3, BlockKind.HEADING, 1, "<b>"),),
        removed=(Removed(3, 4, "页码"),),
    )
    doubtful = Mention(0, 2, text[:2], Kind.PRODUCT, MentionStatus.UNKNOWN, "", 0.4)
    problems = (Problem("dating", "no day", 1, 2),)
    return replace(plain, document=document, mentions=(*plain.mentions, doubtful), problems=problems)


_HISTORIES = st.integers(0, 4).flatmap(lambda count: st.tuples(*(_readings(number) for number in range(count))))


def filled(store: Store, history: tuple[Reading, ...]) -> Store:
    with store.writer() as writer:
        for item in history:
            writer.write(item)
        writer.publish(Run("r1", day(5), {"a": "b"}, {"q": 0.5}))
    return store


def brought(store: Store, lines: list[str], stated: list[RefusedRow] | None = None) -> Restored:
    refuse = (lambda _: pytest.fail("refused")) if stated is None else stated.append
    return restore(store, iter(enumerate(lines, start=1)), name="d.jsonl", recorded_at=LATER, refuse=refuse)


@given(history=_HISTORIES)
def test_a_dump_of_a_dump_brought_in_is_the_dump(
    tmp_path_factory: pytest.TempPathFactory, history: tuple[Reading, ...]
):
    memory = filled(MemoryStore(), history)
    lines = list(dump(memory))
    with closing(open_store(tmp_path_factory.mktemp("kb") / "kb.liantu", create=True)) as store:
        brought(store, lines)
        assert list(dump(store)) == lines
        again = MemoryStore()
        brought(again, list(dump(store)))
        assert list(dump(again)) == lines
        assert list(again.view().facts())[:1] == list(store.view().facts())[:1]


@given(history=_HISTORIES)
def test_a_copy_is_the_same_to_the_instant(tmp_path_factory: pytest.TempPathFactory, history: tuple[Reading, ...]):
    source = filled(MemoryStore(), history)
    with closing(open_store(tmp_path_factory.mktemp("kb") / "kb.liantu", create=True)) as target:
        assert copy(source, target).written == len(history)
        stamp = verify(source, target)
        assert copy(source, target).written == 0
        assert verify(target, source) == stamp
        assert list(target.view().facts()) == list(source.view().facts())


def test_equal_content_gives_equal_bytes_whatever_the_order_and_the_clock(tmp_path: Path):
    history = tuple(reading(number, number % 2, *_CLAIMS[number:]) for number in range(4))
    one = filled(MemoryStore(), history)
    with closing(open_store(tmp_path / "kb.liantu", create=True)) as other:
        filled(other, tuple(replace(item, recorded_at=LATER) for item in reversed(history)))
        assert "".join(dump(one)) == "".join(dump(other))


def test_the_instant_of_a_run_is_kept_by_a_copy_and_set_anew_by_an_import_once(tmp_path: Path):
    source = MemoryStore()
    early, nobody = Run("r1", day(5), {"a": "b"}, {"q": 0.1}, recorded_at=READ), Run("r2", day(12))
    with source.writer() as writer:
        writer.publish(early)
        writer.publish(nobody)
    with closing(open_store(tmp_path / "kb.liantu", create=True)) as target:
        copy(source, target)
        assert verify(source, target)
        assert list(target.view().runs()) == [early, nobody]
        assert list(dump(target)) == list(dump(source))
        with target.writer() as writer:
            writer.publish(replace(nobody, recorded_at=READ))
        assert list(dump(target)) == list(dump(source))
        with pytest.raises(CopyDiffers, match="weekly runs"):
            verify(source, target)
        copy(source, target)
        assert verify(source, target)
    there, lines = MemoryStore(), list(dump(source))
    assert brought(there, lines).runs == 2
    stamped = [replace(run, recorded_at=LATER) for run in (early, nobody)]
    assert list(there.view().runs()) == stamped
    revision = there.revision()
    done = restore(
        there, iter(enumerate(lines, start=1)), name="d", recorded_at=LATER + timedelta(days=1), refuse=pytest.fail
    )
    assert (done.runs, there.revision()) == (0, revision)
    assert list(there.view().runs()) == stamped


def test_an_interrupted_copy_goes_on_where_it_stopped(tmp_path: Path):
    source = filled(MemoryStore(), tuple(reading(number, number, reported(number)) for number in range(5)))

    def killed(done: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with closing(open_store(tmp_path / "kb.liantu", create=True)) as target:
        with pytest.raises(KeyboardInterrupt):
            copy(source, target, progress=killed)
        with pytest.raises(CopyDiffers, match="documents"):
            verify(source, target)
        done = copy(source, target)
        assert (done.written, done.known) == (2, 3)
        assert verify(source, target)


def test_a_copy_that_differs_is_found_out():
    one = filled(MemoryStore(), (reading(1, 0, reported(20)),))
    other = filled(MemoryStore(), (reading(1, 0, reported(20), speaker="别人"),))
    with pytest.raises(CopyDiffers, match="doc:1"):
        verify(one, other)
    copy(one, other)
    with pytest.raises(CopyDiffers, match="doc:1"):
        verify(one, other)


def test_judgements_travel_with_their_own_clock():
    store = filled(MemoryStore(), (reading(1, 0, fact(CATL, "uses", LITHIUM), fact(BYD, "uses", LITHIUM)),))
    merge = Judgement("", Verdict.MERGE, BYD, day(1), READ, object=CATL, by="甲", why="一家")
    with store.writer() as writer:
        writer.judge(merge)
    lines = list(dump(store))
    other = MemoryStore()
    assert brought(other, lines).judgements == 1
    assert list(dump(other)) == lines
    assert other.view().judgements() == store.view().judgements()
    copied = MemoryStore()
    copy(store, copied)
    assert verify(store, copied)
    assert [item.subject for item in copied.view().facts()] == [CATL]


def test_a_damaged_line_costs_only_itself():
    store = filled(MemoryStore(), (reading(1, 0, reported(20), reported(21)), reading(2, 1, reported(22))))
    lines = list(dump(store))
    damaged = {
        "cut": next(row for row, line in enumerate(lines) if '"type":"fact"' in line),
        "outside": max(row for row, line in enumerate(lines) if '"type":"fact"' in line),
    }
    lines[damaged["cut"]] = lines[damaged["cut"]][:30]
    moved = json.loads(lines[damaged["outside"]])
    moved["evidence"][0][1] = 10**6
    lines[damaged["outside"]] = json.dumps(moved)
    stated: list[RefusedRow] = []
    other = MemoryStore()
    done = brought(other, lines, stated)
    assert [item.where for item in stated] == [f"d.jsonl:{row + 1}" for row in damaged.values()]
    assert "outside the text" in stated[1].why
    assert (done.documents, done.refused, len(list(other.view().facts()))) == (2, 2, 1)


@pytest.mark.parametrize(
    ("kind", "old", "new", "said"),
    [
        ("fact", ",1.0,", ",NaN,", "NaN is not a valid JSON number"),
        ("fact", ",1.0,", ",1.5,", "confidence 1.5 is not above 0"),
        ("document", '"blocks":[]', '"blocks":[[1e999,2,"heading",1,""]]', "OverflowError"),
        ("chunk", '"id":"chunk:', '"id":"chunk:0', "does not match the position"),
        ("run", '["r1"', "[{}", "Expected `str`"),
    ],
)
def test_a_hostile_value_costs_only_its_line(kind: str, old: str, new: str, said: str):
    store = filled(MemoryStore(), (reading(1, 0, reported(20)), reading(2, 1, reported(22))))
    lines = list(dump(store))
    row = next(row for row, line in enumerate(lines) if f'"type":"{kind}"' in line)
    assert old in lines[row]
    lines[row] = lines[row].replace(old, new, 1)
    stated: list[RefusedRow] = []
    other = MemoryStore()
    brought(other, lines, stated)
    assert said in stated[0].why
    assert other.has_document("doc:2")


def test_half_a_dump_is_not_taken_for_whole():
    store = filled(MemoryStore(), (reading(1, 0, reported(20)), reading(2, 1, reported(22), reported(21))))
    lines = list(dump(store))
    second = [row for row, line in enumerate(lines) if '"type":"document"' in line][1]
    for left in range(1, len(lines)):
        other = MemoryStore()
        with pytest.raises(DocumentError, match="no end line"):
            brought(other, lines[:left])
        assert not other.has_document("doc:2") or left > second + 4
        brought(other, lines)  # what came stays, and the rest comes
        assert list(dump(other)) == lines


def test_lines_lost_within_a_dump_are_reported():
    lines = list(dump(filled(MemoryStore(), (reading(1, 0, reported(20)), reading(2, 1, reported(22))))))
    rows = [row for row, line in enumerate(lines) if '"type":"document"' in line]
    stated: list[RefusedRow] = []
    brought(MemoryStore(), lines[: rows[0]] + lines[rows[1] :], stated)
    assert f"expected {len(lines) - 1}" in stated[0].why


def test_a_dump_of_the_first_format_needs_no_last_line():
    lines = list(dump(filled(MemoryStore(), (reading(1, 0, reported(20)),))))
    other = MemoryStore()
    brought(other, [lines[0].replace('"format":2', '"format":1'), *lines[1:-1]])
    assert list(dump(other)) == lines


def test_a_base_that_changes_while_it_is_dumped_is_reported():
    store = filled(MemoryStore(), (reading(1, 0, reported(20)),))
    lines = dump(store)
    next(lines)
    filled(store, (reading(2, 1, reported(22)),))
    with pytest.raises(StoreChanged, match="changed during the dump"):
        list(lines)


@pytest.mark.parametrize("first", ["", "{}", "[]", '{"type":"base","format":99}', "文", "[" * 99_999])
def test_what_is_no_dump_says_so(first: str):
    with pytest.raises(DocumentError, match=r"dump"):
        brought(MemoryStore(), [first])


def test_a_claim_under_another_claims_id_is_refused():
    lines = list(dump(filled(MemoryStore(), (reading(1, 0, reported(20)),))))
    row = next(row for row, line in enumerate(lines) if '"type":"fact"' in line)
    lines[row] = lines[row].replace('"reports"', '"uses"')
    stated: list[RefusedRow] = []
    brought(MemoryStore(), lines, stated)
    assert "does not match the claim" in stated[0].why
