"""What every store keeps to when it is written to."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from kg.errors import StoreLocked
from kg.model import (
    Alias,
    Block,
    BlockKind,
    Community,
    Entity,
    Kind,
    LifecycleEvent,
    Mention,
    MentionStatus,
    Problem,
    Removed,
    Run,
    Summary,
    SummaryLine,
    ThemeEvent,
    Value,
)
from kg.period import Period, Precision, quarter
from tests.contracts.readings import BYD, CATL, LITHIUM, MARGIN, READ, day, fact, reading, reported

if TYPE_CHECKING:
    from kg.model import Reading
    from kg.store.port import Store


def written(store: Store, *readings: Reading) -> Store:
    with store.writer() as writer:
        for item in readings:
            writer.write(item)
    return store


def test_everything_of_a_reading_comes_back_as_it_was(store: Store):
    claim = reported(22.5, valid=quarter(2024, 1), qualifiers=(("product", "电池"), ("rank", "1")))
    whole = reading(1, 3, claim, fact(CATL, "supplies", BYD), path="报告/一.pdf")
    document = replace(
        whole.document,
        publisher="示例证券甲",
        authors=("张三", "李四"),
        codes=("300750.SZ",),
        tags=("锂电",),
        pages=(0, 10),
        blocks=(Block(0, 5, BlockKind.HEADING, 1), Block(6, 9, BlockKind.TABLE, html="<table>")),
        removed=(Removed(5, 6, "页码"),),
    )
    doubtful = Mention(5, 8, "碳酸锂", Kind.PRODUCT, MentionStatus.UNKNOWN, "", 0.4)
    entity = Entity(
        CATL,
        Kind.COMPANY,
        "宁德时代",
        (Alias("CATL", Period(date(2018, 6, 11), None, Precision.RANGE), "交易所"), Alias("宁王")),
        ("300750.SZ", "03750.HK"),
    )
    written(
        store,
        replace(
            whole,
            document=document,
            mentions=(*whole.mentions, doubtful),
            entities=(entity,),
            problems=(Problem("dating", "no day", 1, 2),),
        ),
    )
    view = store.view()
    assert view.document("doc:1") == document
    assert view.chunks("doc:1") == list(whole.chunks)
    assert view.chunk(whole.chunks[1].id) == whole.chunks[1]
    assert view.mentions("doc:1") == [*whole.mentions, doubtful]
    assert view.entity(CATL) == entity
    assert list(view.facts()) == sorted(whole.facts, key=lambda item: item.id)
    head = next(view.documents())
    assert (head.id, head.title, head.path, head.authors) == ("doc:1", "报告1", "报告/一.pdf", ("张三", "李四"))
    assert head.pages == (0, 10)
    assert [head.page_of(offset) for offset in (0, 9, 10)] == [document.page_of(offset) for offset in (0, 9, 10)]
    assert store.documents_at("报告/一.pdf") == {"doc:1": "报告/一.pdf"}
    assert list(store.signatures()) == [("doc:1", b"\x01")]


def test_what_is_not_there_is_none_and_empty(store: Store):
    view = store.view()
    assert (view.entity(CATL), view.document("doc:1"), view.chunk("chunk:1"), view.run()) == (None, None, None, None)
    assert (view.chunks("doc:1"), view.mentions("doc:1"), view.named("x"), view.search("锂", 5)) == ([], [], [], [])
    assert not [*view.facts(), *view.entities(), *view.documents(), *view.names(), *store.signatures()]
    assert not any(store.stats().values())
    assert not store.has_document("doc:1")
    assert store.documents_at("") == {}
    assert view.chunks_mentioning(CATL, 5) == []


def test_writing_twice_adds_nothing(store: Store):
    first = reading(1, 0, reported(20))
    with store.writer() as writer:
        assert writer.write(first)
        stats, revision = store.stats(), store.revision()
        assert not writer.write(first)
        assert not writer.write(reading(1, 0, reported(99)))
    assert (store.stats(), store.revision()) == (stats, revision)


def test_a_reading_that_contradicts_itself_leaves_nothing(store: Store):
    good = reading(1, 0, reported(20), fact(CATL, "uses", LITHIUM))
    foreign = replace(good.facts[1].evidence[0], document="doc:2")
    misdated = replace(good.facts[1].evidence[0], published_on=day(9))
    stray = replace(good.chunks[1], document="doc:2")
    bad = [
        replace(good, facts=(good.facts[0], replace(good.facts[1], evidence=(foreign,)))),
        replace(good, facts=(good.facts[0], replace(good.facts[1], evidence=(misdated,)))),
        replace(good, facts=(good.facts[0], replace(good.facts[1], evidence=()))),
        replace(good, chunks=(good.chunks[0], stray)),
        replace(good, facts=(good.facts[0], replace(good.facts[1], object="nonsense:碳酸锂"))),
    ]
    for item in bad:
        with store.writer() as writer, pytest.raises(ValueError, match=r"doc:1|nonsense"):
            writer.write(item)
    assert not any(store.stats().values())
    with store.writer() as writer:
        assert writer.write(good)


def test_the_same_claim_in_two_documents_is_one_fact_with_two_witnesses(store: Store):
    written(store, reading(1, 0, reported(20)), reading(2, 1, reported(20), speaker="示例证券乙"))
    (only,) = store.view().facts()
    assert [item.document for item in only.evidence] == ["doc:1", "doc:2"]
    assert (only.witnesses, only.speakers) == (2, ("示例证券乙", "示例证券甲"))
    assert store.stats()["facts"] == 1


def test_the_same_claim_twice_in_one_document_is_one_fact(store: Store):
    once = reading(1, 0, reported(20), reported(20), reported(20))
    written(store, replace(once, facts=(*once.facts, once.facts[0])))
    (only,) = store.view().facts()
    assert [item.start for item in only.evidence] == [0, 1, 2]
    assert only.witnesses == 1


def test_the_earliest_witness_decides_how_a_claim_is_worded(store: Store):
    later = reading(1, 5, fact(CATL, "reports", MARGIN, value=Value(2e8, "元", scale="万")))
    earlier = reading(2, 1, fact(CATL, "reports", MARGIN, value=Value(2e8, "元", scale="亿")))
    written(store, later, earlier)
    (only,) = store.view().facts()
    assert only.value is not None
    assert only.value.scale == "亿"
    assert len(only.evidence) == 2
    with store.writer() as writer:
        writer.remove("doc:2")
    (only,) = store.view().facts()
    assert only.value is not None
    assert only.value.scale == "万"


def test_copies_are_one_witness_named_by_the_first_visible(store: Store):
    written(
        store,
        reading(1, 0, reported(20)),
        reading(2, 1, reported(20), copies=(1,)),
        reading(3, 2, reported(20), copies=(2,)),
        reading(4, 3, reported(20)),
    )
    (only,) = store.view().facts()
    assert [item.witness for item in only.evidence] == ["doc:1", "doc:1", "doc:1", ""]
    assert only.witnesses == 2
    with store.writer() as writer:
        writer.remove("doc:1")
    (only,) = store.view().facts(subject=CATL)
    assert [item.witness for item in only.evidence] == ["doc:2", "doc:2", ""]
    with store.writer() as writer:
        writer.remove("doc:2")
    (only,) = store.view().facts()
    assert [item.witness for item in only.evidence] == ["", ""]


def test_a_later_bridge_does_not_join_two_families_before_its_day(store: Store):
    written(
        store,
        reading(1, 0, reported(20)),
        reading(2, 1, reported(20)),
        reading(3, 9, reported(20), copies=(1, 2)),
    )
    (before,) = store.view(as_of=day(8)).facts()
    (after,) = store.view(as_of=day(9)).facts()
    assert (before.witnesses, after.witnesses) == (2, 1)


def test_removal_takes_what_only_that_document_said(store: Store):
    shared, own = reported(20), fact(BYD, "uses", LITHIUM)
    written(store, reading(1, 0, shared), reading(2, 1, shared, own))
    with store.writer() as writer:
        assert writer.remove("doc:2")
        assert not writer.remove("doc:2")
        assert not writer.remove("doc:9")
    view = store.view()
    (only,) = view.facts()
    assert [item.document for item in only.evidence] == ["doc:1"]
    assert [entity.id for entity in view.entities()] == [MARGIN, CATL]
    assert (view.document("doc:2"), view.chunks("doc:2"), view.mentions("doc:2")) == (None, [], [])
    assert view.named("碳酸锂") == view.named("002594.SZ") == []
    assert {chunk.document for chunk, _ in view.search("碳酸锂", 9)} == {"doc:1"}
    assert {chunk.document for chunk in view.chunks_mentioning(CATL, 9)} == {"doc:1"}
    with store.writer() as writer:
        writer.remove("doc:1")
    assert not any(store.stats().values())


def test_what_a_removed_document_had_superseded_comes_back(store: Store):
    written(store, reading(1, 0, reported(20)), reading(2, 5, reported(22)))
    assert [item.superseded_by != "" for item in store.view().facts() if item.value == Value(20, "%")] == [True]
    with store.writer() as writer:
        writer.remove("doc:2")
    assert [item.superseded_by for item in store.view().facts()] == [""]


def test_documents_are_found_by_the_file_they_were_read_from(store: Store):
    written(store, reading(1, 0, path="a.pdf"), reading(2, 4, path="a.pdf"), reading(3, 2, path="a.pdf"))
    assert [*store.documents_at("a.pdf")] == ["doc:1", "doc:3", "doc:2"]
    assert store.documents_at("b.pdf") == {}
    lines = ("n.jsonl:10", "n.jsonl:9", "n.jsonl:x", "n.jsonl2:1", "n.jsonl:", "m/n.jsonl:1")
    written(store, *(reading(number, 0, path=path) for number, path in enumerate(lines, start=11)))
    assert store.documents_at("n.jsonl") == {"doc:11": "n.jsonl:10", "doc:12": "n.jsonl:9"}
    assert [*store.documents_at("n.jsonl:9")] == ["doc:12"]
    assert store.documents_at("%") == store.documents_at("n.jsonl_") == {}


def test_runs_are_seen_from_their_day_on_and_the_last_published_counts(store: Store):
    summary = Summary("s1", "锂电", (SummaryLine("宁德时代供应比亚迪", ("fact:1",)),), quarter(2024, 1))
    changed = (SummaryLine("本周新增", ("fact:1",)),)
    community = Community("c1", 0, "", (CATL,), summary, changed)
    born = ThemeEvent(
        LifecycleEvent.BORN, "c1", 0, "锂电", 1, others=("c0",), joined=(CATL,), left=(BYD,), facts=("fact:1",)
    )
    first = Run("r1", day(7), {"resolution": "1.0"}, {"modularity": 0.5}, (community,), (born,))
    second, again = Run("r2", day(14)), Run("r3", day(14))
    with store.writer() as writer:
        for run in (again, second, first):
            writer.publish(run)
    assert store.view(as_of=day(6)).run() is None
    assert store.view(as_of=day(7)).run() == first
    assert store.view(as_of=day(14)).run() == second
    with store.writer() as writer:
        writer.publish(replace(again, quality={"modularity": 1.0}))
    assert store.view().run() == replace(again, quality={"modularity": 1.0})
    assert store.stats()["runs"] == 3


def test_runs_come_by_day_and_one_that_is_withdrawn_uncovers_the_one_before(store: Store):
    first, second, again = Run("r1", day(7)), Run("r2", day(14)), Run("r3", day(14))
    with store.writer() as writer:
        for run in (second, first, again):
            writer.publish(run)
    assert list(store.view().runs()) == [first, again]
    assert list(store.view(as_of=day(13)).runs()) == [first]
    assert list(store.view(as_of=day(1)).runs()) == []
    with store.writer() as writer:
        before = store.revision()
        assert writer.withdraw("r3")
        assert not writer.withdraw("r3")
    assert store.revision() == before + 1
    assert list(store.view().runs()) == [first, second]
    assert store.view().run() == second


def test_a_run_is_seen_from_the_instant_of_its_publishing_on(store: Store):
    """Of one day too: the one published last by then. The clocks count together, and no instant hides nothing."""
    hour = timedelta(hours=1)
    always = Run("r0", day(0))
    early, again = Run("r1", day(7), recorded_at=READ), Run("r2", day(7), recorded_at=READ + 2 * hour)
    late = Run("r3", day(14), recorded_at=READ + hour)
    with store.writer() as writer:
        for run in (always, early, late, again):
            writer.publish(run)
    for known_at, runs in (
        (READ - timedelta(microseconds=1), [always]),
        (READ, [always, early]),
        (READ + hour, [always, early, late]),
        (READ + 2 * hour, [always, again, late]),
        (None, [always, again, late]),
    ):
        for last in (0, 7, 13, 14, None):
            seen = [run for run in runs if last is None or run.as_of <= day(last)]
            as_of = None if last is None else day(last)
            with store.reader(as_of=as_of, known_at=known_at) as held:
                for view in (held, store.view(as_of=as_of, known_at=known_at)):
                    assert (list(view.runs()), view.run()) == (seen, seen[-1])
    with store.writer() as writer:
        writer.withdraw("r2")
    assert list(store.view(known_at=READ).runs()) == [always, early]
    assert list(store.view(known_at=READ + 2 * hour).runs()) == [always, early, late]


def test_a_run_published_again_is_seen_from_then_on_only(store: Store):
    before, first = Run("r0", day(0), recorded_at=READ), Run("r1", day(7), {"seed": "1"}, recorded_at=READ)
    second = replace(first, quality={"modularity": 1.0}, recorded_at=READ + timedelta(days=7))
    with store.writer() as writer:
        for run in (before, first, second):
            writer.publish(run)
    assert store.view(known_at=READ + timedelta(days=6)).run() == before
    assert store.view(known_at=READ + timedelta(days=7)).run() == second


def test_the_instant_of_a_run_is_kept_in_utc(store: Store):
    """One stated in another zone is the same instant; one without a zone is taken to be in UTC."""
    beijing = READ.astimezone(timezone(timedelta(hours=8)))
    with store.writer() as writer:
        writer.publish(Run("r1", day(1), recorded_at=beijing))
        writer.publish(Run("r2", day(2), recorded_at=READ.replace(tzinfo=None)))
    instants = [run.recorded_at for run in store.view(known_at=READ).runs()]
    assert list(map(str, instants)) == [str(READ)] * 2


def test_one_writer_at_a_time(store: Store):
    with store.writer(), pytest.raises(StoreLocked), store.writer():
        pass
    with store.writer() as writer:
        assert writer.write(reading(1, 0))


def test_readers_see_a_document_as_soon_as_it_is_written(store: Store):
    view = store.view()
    with store.writer() as writer:
        writer.write(reading(1, 0, reported(20)))
        assert [head.id for head in view.documents()] == ["doc:1"]
        revision = store.revision()
        writer.write(reading(2, 0, reported(21)))
        assert store.revision() > revision
        assert len(view.search("毛利率", 9)) == 2


def test_a_stream_of_facts_is_not_disturbed_by_a_writer_or_by_other_questions(store: Store):
    written(store, *(reading(number, number, reported(number)) for number in range(5)))
    stream = store.view().facts()
    first = next(stream)
    with store.writer() as writer:
        writer.remove("doc:4")
        assert list(store.view().facts(ids=[first.id]))
        assert len([first, *stream]) == 5
    assert len(list(store.view().facts())) == 4


def test_an_instant_without_a_zone_is_utc(store: Store):
    naive = READ.replace(tzinfo=None)
    written(store, reading(1, 0, reported(20), read=naive))
    (only,) = store.view(known_at=naive).facts()
    assert only.evidence[0].recorded_at == READ
    assert not list(store.view(known_at=READ - timedelta(microseconds=1)).facts())
