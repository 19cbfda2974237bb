"""Random histories: nothing later changes an earlier view, a removal leaves nothing, both stores answer alike."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import replace
from datetime import timedelta
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import pytest
from hypothesis import given

from kg.errors import JudgementRefused
from kg.graph.snapshot import Snapshot
from kg.ids import judgement_id
from kg.judgement import Judgement, Verdict
from kg.model import Alias, Community, Entity, Kind, Polarity, Run
from kg.period import Period, month, quarter, since
from kg.relations import vocabulary
from kg.store.open import open_store
from tests.contracts.readings import BYD, CATL, LITHIUM, MARGIN, READ, day, denied, fact, planned, reading, reported
from tests.contracts.reference import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import date, datetime
    from pathlib import Path

    from kg.model import Reading
    from kg.store.port import Store, View

_WORDS = ("碳酸锂", "价格", "下跌", "宁德时代", "比亚迪", "毛利率", "回升", "，", "。", " 5G ", "产能")
_CLAIMS = (
    reported(20),
    reported(22),
    reported(22, valid=quarter(2024, 1)),
    planned(reported(25)),
    denied(reported(20)),
    fact(CATL, "uses", LITHIUM),
    denied(fact(CATL, "uses", LITHIUM)),
    fact(BYD, "subsidiary_of", CATL),
    fact(BYD, "subsidiary_of", "org:母公司"),
    fact(BYD, "competes_with", CATL),
    fact(LITHIUM, "affects", MARGIN, sign=-1, qualifiers=(("cause_direction", "down"), ("effect_direction", "up"))),
    fact("indicator:碳酸锂价格", "affects", MARGIN, sign=-1),
)
_ENTITIES = (
    Entity(CATL, Kind.COMPANY, "宁德时代", (Alias("宁王"),), ("300750.SZ",)),
    Entity(CATL, Kind.COMPANY, "CATL", codes=("03750.HK",)),
    Entity(BYD, Kind.COMPANY, "比亚迪"),
    Entity(LITHIUM, Kind.PRODUCT, "锂盐", (Alias("碳酸锂"),)),
    Entity("indicator:碳酸锂价格", Kind.INDICATOR, "碳酸锂价格", about=LITHIUM),
)


@st.composite
def _readings(draw: st.DrawFn, number: int) -> Reading:
    chosen = draw(st.lists(st.sampled_from(_CLAIMS), max_size=4))
    return reading(
        number,
        draw(st.integers(0, 6)),
        *chosen,
        text="".join(draw(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=8))),
        speaker=draw(st.sampled_from(("", "甲", "乙"))),
        entities=tuple(draw(st.lists(st.sampled_from(_ENTITIES), max_size=3))),
        copies=tuple(draw(st.lists(st.integers(0, max(number - 1, 0)), max_size=2))) if number else (),
        read=READ + timedelta(days=draw(st.integers(0, 3))),
    )


# A merge that joins what the claims speak of, splits of names they are called by, wide and narrow.
_JUDGEMENTS = (
    (Verdict.MERGE, BYD, CATL, {}),
    (Verdict.MERGE, "org:母公司", BYD, {}),
    (Verdict.MERGE, "indicator:碳酸锂价格", MARGIN, {}),
    (Verdict.SPLIT, CATL, "org:宁王", {"name": "宁王"}),
    (Verdict.SPLIT, CATL, "org:甲", {"name": "宁德时代"}),
    (Verdict.SPLIT, CATL, "org:乙", {"name": "宁德时代", "period": Period(day(2), day(5))}),
    (Verdict.SPLIT, CATL, BYD, {"name": "CATL", "documents": ("doc:0", "doc:2")}),
    (Verdict.SPLIT, LITHIUM, "product:碳酸锂粉", {"name": "碳酸锂"}),
)


@st.composite
def _judgement(draw: st.DrawFn) -> tuple[Judgement, int | None]:
    """Draw a judgement, and the day on which it is revoked, if ever."""
    verdict, subject, object_, scope = draw(st.sampled_from(_JUDGEMENTS))
    on, instant = draw(st.integers(0, 6)), READ + timedelta(days=draw(st.integers(0, 3)), hours=draw(st.integers(0, 9)))
    said = Judgement("", verdict, subject, day(on), instant, object_, by="张三", why="据公告", **scope)
    return said, draw(st.one_of(st.none(), st.integers(on, 7)))


Judged = list[tuple[Judgement, int | None]]
_JUDGED = st.lists(_judgement(), max_size=4)
_HISTORIES = st.integers(1, 6).flatmap(lambda count: st.tuples(*(_readings(number) for number in range(count))))


@st.composite
def _week(draw: st.DrawFn) -> Run:
    """Draw a weekly run without an id."""
    on, instant = draw(st.integers(0, 6)), draw(st.one_of(st.none(), st.integers(0, 4)))
    members = tuple(draw(st.lists(st.sampled_from((CATL, BYD, LITHIUM, MARGIN)), min_size=1, max_size=3, unique=True)))
    recorded_at = None if instant is None else READ + timedelta(days=instant)
    return Run("", day(on), communities=(Community("c", 0, "", members),), recorded_at=recorded_at)


_WEEKS = st.lists(_week(), max_size=4).map(
    lambda weeks: [replace(run, id=f"r{number}") for number, run in enumerate(weeks)]
)


def answers(view: View) -> dict[str, object]:
    """Return all that a view can say."""
    snapshot = Snapshot.compile(view, vocabulary())
    edges = snapshot.edges()
    return {
        "facts": list(view.facts()),
        "by subject": [list(view.facts(subject=end)) for end in (CATL, BYD, LITHIUM)],
        "by object": [list(view.facts(object=end)) for end in (CATL, MARGIN, LITHIUM)],
        "by id": [list(view.facts(ids=[item.id])) for item in view.facts()],
        "during": list(view.during(month(2024, 1)).facts()),
        "entities": list(view.entities()),
        "each": [view.entity(end) for end in (CATL, BYD, LITHIUM, MARGIN)],
        "names": list(view.names()),
        "named": [view.named(name) for name in ("宁王", "锂盐", "碳酸锂", "300750.SZ", "CATL")],
        "documents": list(view.documents()),
        "texts": [(view.document(head.id), view.chunks(head.id), view.mentions(head.id)) for head in view.documents()],
        "search": [view.search(query, 3) for query in ("碳酸锂价格", "毛利率 5g", "，")],
        "mentioning": view.chunks_mentioning(CATL, 3),
        "runs": (view.run(), list(view.runs())),
        "graph": (snapshot.as_of, snapshot.entity_ids, snapshot.facts_of(edges), edges.weight.tolist()),
    }


def write(store: Store, *readings: Reading) -> None:
    with store.writer() as writer:
        for item in readings:
            writer.write(item)


def publish(store: Store, runs: Iterable[Run]) -> None:
    with store.writer() as writer:
        for run in runs:
            writer.publish(run)


def judge(store: Store, judgements: Iterable[tuple[Judgement, int | None]]) -> list[Judgement]:
    """Keep judgements and their revocations as far as they make sense where they come; return what was kept."""
    kept = []
    with store.writer() as writer:
        for said, revoked in judgements:
            with suppress(JudgementRefused):
                found = writer.judge(said)
                kept += [found] if found else []
                if found and revoked is not None:
                    later = found.recorded_at + timedelta(days=1)
                    kept.append(writer.judge(revocation(found, day(revoked), later)))
    return kept


def kept_as(judgement: Judgement) -> Judgement:
    """Return a judgement as a base keeps it."""
    return replace(judgement, id=judgement_id(judgement))


def revocation(judgement: Judgement, on: date, instant: datetime) -> Judgement:
    return Judgement("", Verdict.REVOKE, judgement.id, on, instant, by="李四", why="看错了")


def put(store: Store, judgements: Iterable[Judgement]) -> None:
    """Keep what another base has judged, whether this one knows the entities or not."""
    with store.writer() as writer:
        for said in judgements:
            writer.judge(said)


@pytest.fixture(scope="module", params=["memory", "sqlite"])
def fresh(request: pytest.FixtureRequest) -> Iterator[Callable[[], Store]]:
    """Give a maker of empty stores; a base is made once and emptied by removal, which is itself what is tested."""
    with TemporaryDirectory() as folder:

        def make() -> Store:
            if request.param == "memory":
                return MemoryStore()
            return open_store(f"{folder}/{next(numbers)}.liantu", create=True)

        numbers = iter(range(10**9))
        yield make


@given(history=_HISTORIES, judgements=_JUDGED, as_of=st.integers(-1, 6))
def test_nothing_published_later_changes_a_view(
    fresh: Callable[[], Store], history: tuple[Reading, ...], judgements: Judged, as_of: int
):
    until = [item for item in history if item.document.published_on <= day(as_of)]
    with closing(fresh()) as store, closing(fresh()) as ignorant:
        write(store, *history)
        kept = judge(store, judgements)
        write(ignorant, *until)
        put(ignorant, [item for item in kept if item.published_on <= day(as_of)])
        for one in (store, ignorant):
            with one.writer() as writer:
                writer.publish(Run("r0", day(0)))
        with store.writer() as writer:
            writer.publish(Run("r9", day(9)))
        assert answers(store.view(as_of=day(as_of))) == answers(ignorant.view(as_of=day(as_of)))


@given(history=_HISTORIES, judgements=_JUDGED, weeks=_WEEKS, days=st.integers(0, 3))
def test_nothing_read_later_changes_a_view(
    fresh: Callable[[], Store], history: tuple[Reading, ...], judgements: Judged, weeks: list[Run], days: int
):
    known_at = READ + timedelta(days=days)
    with closing(fresh()) as store, closing(fresh()) as ignorant:
        write(store, *history)
        kept = judge(store, judgements)
        write(ignorant, *(item for item in history if item.recorded_at and item.recorded_at <= known_at))
        put(ignorant, [item for item in kept if item.recorded_at <= known_at])
        publish(store, weeks)
        publish(ignorant, (run for run in weeks if run.recorded_at is None or run.recorded_at <= known_at))
        assert answers(store.view(known_at=known_at)) == answers(ignorant.view(known_at=known_at))


@given(history=_HISTORIES, judgements=_JUDGED, choice=st.randoms(use_true_random=False))
def test_insertion_and_removal_leave_nothing_behind(
    fresh: Callable[[], Store], history: tuple[Reading, ...], judgements: Judged, choice: object
):
    pick = choice.choice  # type: ignore[attr-defined]
    with closing(fresh()) as store:
        extra = pick(history)
        write(store, *history)
        judge(store, judgements)
        with store.writer() as writer:
            writer.remove(extra.document.id)
        before, counted = answers(store.view()), store.stats()
        write(store, extra)
        with store.writer() as writer:
            writer.remove(extra.document.id)
        assert answers(store.view()) == before
        assert store.stats() == counted


@given(history=_HISTORIES, judgements=_JUDGED, more=_JUDGED)
def test_revoking_restores_exactly_what_was(
    fresh: Callable[[], Store], history: tuple[Reading, ...], judgements: Judged, more: Judged
):
    with closing(fresh()) as store:
        write(store, *history)
        judge(store, judgements)
        before = answers(store.view())
        said = judge(store, [(item, None) for item, _ in more])
        put(
            store, [kept_as(revocation(item, item.published_on, item.recorded_at + timedelta(days=9))) for item in said]
        )
        assert answers(store.view()) == before


@given(history=_HISTORIES, judgements=_JUDGED, order=st.randoms(use_true_random=False), as_of=st.integers(0, 6))
def test_the_order_of_writing_does_not_matter_and_stores_agree(
    tmp_path_factory: pytest.TempPathFactory,
    history: tuple[Reading, ...],
    judgements: Judged,
    order: object,
    as_of: int,
):
    shuffled = list(history)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    path: Path = tmp_path_factory.mktemp("order") / "kb.liantu"
    reference = MemoryStore()
    write(reference, *history)
    kept = judge(reference, judgements)
    order.shuffle(kept)  # type: ignore[attr-defined]
    with closing(open_store(path, create=True)) as store:
        put(store, kept[: len(kept) // 2])
        write(store, *shuffled)
        put(store, kept[len(kept) // 2 :])
        for wanted in (None, day(as_of)):
            found, expected = answers(store.view(as_of=wanted)), answers(reference.view(as_of=wanted))
            for name, answer in expected.items():
                assert found[name] == answer, name
            assert store.view(as_of=wanted).judgements() == reference.view(as_of=wanted).judgements()
        assert store.stats() == reference.stats()


def test_the_histories_hold_what_makes_them_hard():
    """The properties above are empty words unless claims meet, close and deny one another."""
    store = MemoryStore()
    write(store, *(reading(number, number, claim, entities=_ENTITIES) for number, claim in enumerate(_CLAIMS)))
    facts = list(store.view().facts())
    assert sum(item.superseded_by != "" for item in facts) >= 4
    assert any(item.polarity is Polarity.NEGATIVE for item in facts)
    assert list(store.view().during(since(day(99))).facts())
    before = answers(store.view())
    for number, (verdict, subject, object_, scope) in enumerate(_JUDGEMENTS):
        one = MemoryStore()
        write(one, *(reading(number, number, claim, entities=_ENTITIES) for number, claim in enumerate(_CLAIMS)))
        judge(one, [(Judgement("", verdict, subject, day(0), READ, object_, by="甲", why="乙", **scope), None)])
        assert answers(one.view())["names"] != before["names"], number
