"""The weekly job over small stores: what it publishes, what it carries over, and what it must not know."""

from __future__ import annotations

import os
import re
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import pytest
from hypothesis import given

from communities.weekly import NothingToWithdraw, plan_week, run_week, withdraw
from kg.errors import EmptyBase, StoreLocked
from kg.judgement import Judgement, Verdict
from kg.query.session import QuerySession
from kg.query.themes.changes import changes
from kg.query.themes.listing import theme, themes
from kg.store.open import open_store
from tests.contracts.reference import MemoryStore
from tests.kg.query.world import (
    LONGI,
    PRICE,
    READ,
    claim,
    filled,
    paper,
    solar,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kg.model import Reading, Run
    from kg.store.port import Store

LITHIUM = ["product:锂矿", "product:碳酸锂", "product:正极", "product:锂电池", "product:储能柜"]


def chain_of(number: int, published: str, products: list[str]) -> Reading:
    """Return a document about one chain."""
    return paper(
        number,
        published,
        *((f"{one}用于{other}。", claim(one, "upstream_of", other)) for one, other in pairwise(products)),
    )


def many_chains(published: str = "2024-01-01") -> list[Reading]:
    return [chain_of(100 + k, published, [f"product:链{k}环{n}" for n in range(5)]) for k in range(12)]


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store = MemoryStore() if request.param == "memory" else open_store(tmp_path / "kb", create=True)
    yield opened
    opened.close()


def test_a_run_is_published_whole_with_summaries_and_figures(store: Store):
    filled([*solar(), chain_of(9, "2025-02-01", LITHIUM)], store)
    stages: list[str] = []
    week = run_week(store, None, progress=lambda stage, _done, _total: stages.append(stage))
    assert list(dict.fromkeys(stages)) == ["detect", "summarise", "publish"]
    assert week.run == store.view().run()
    assert week.run.as_of == date(2025, 2, 1)
    assert (week.written, week.carried) == (len(week.run.communities), 0)
    homes = [c for c in week.run.communities if c.level == 0 and set(LITHIUM) <= set(c.members)]
    assert len(homes) == 1
    assert not set(homes[0].members) & {LONGI, PRICE}
    ids = {community.id for community in week.run.communities}
    assert len(ids) == len(week.run.communities)
    for community in week.run.communities:
        assert len(community.members) >= 3
        assert (community.parent in ids) if community.level else community.parent == ""
        assert community.summary is not None
    assert 0 < week.run.quality["modularity"] <= 1
    assert week.run.quality["stability"] == 1.0


def test_a_run_again_changes_nothing_and_writes_nothing(store: Store):
    filled([*solar(), *many_chains()], store)
    run_week(store, date(2024, 6, 30))
    first = run_week(store, date(2025, 6, 30)).run
    assert first.communities
    again = run_week(store, date(2025, 6, 30))
    assert again.run == first == store.view().run()
    assert (again.written, again.carried) == (0, len(first.communities))
    assert store.stats()["runs"] == 2


def test_a_run_bears_its_instant_and_again_keeps_it_until_it_says_something_else(store: Store):
    filled(solar(), store)
    day, later = date(2025, 6, 30), READ + timedelta(days=7)
    first = run_week(store, day, recorded_at=READ).run
    assert first.recorded_at == READ
    assert run_week(store, day, recorded_at=later).run == first == store.view(known_at=READ).run()
    assert themes(store.view(known_at=READ))
    assert themes(store.view(known_at=READ - timedelta(seconds=1))) == ()  # before any document was known
    filled([chain_of(9, "2025-02-01", LITHIUM)], store)
    second = run_week(store, day, recorded_at=later).run
    assert (second.id, second.recorded_at) == (first.id, later)
    assert store.view(known_at=READ).run() is None
    assert store.view(known_at=later).run() == second


def test_stability_is_measured_against_the_week_before_whatever_was_run_of_the_day(store: Store):
    filled([chain_of(1, "2024-01-01", [f"product:{n}" for n in range(6)])], store)
    run_week(store, date(2024, 1, 7))
    filled([chain_of(2, "2024-02-01", LITHIUM)], store)
    with store.writer() as writer:
        writer.remove("doc:1")
    lost = run_week(store, date(2024, 2, 7)).run
    assert lost.quality["stability"] == 0.0
    assert run_week(store, date(2024, 2, 7)).run == lost


def test_one_document_more_rewrites_few_summaries(store: Store):
    filled(many_chains(), store)
    before = run_week(store, date(2024, 1, 7))
    filled([paper(1, "2024-01-10", ("隆基绿能生产链0环2。", claim(LONGI, "produces", "product:链0环2")))], store)
    after = run_week(store, date(2024, 1, 14))
    assert 1 <= after.written <= 2
    assert after.carried >= before.written - 2
    top = {community.id for community in before.run.communities if community.level == 0}
    assert top == {community.id for community in after.run.communities if community.level == 0}
    assert after.run.quality["stability"] == 1.0


def test_runs_are_seen_in_the_order_of_their_days_not_of_their_making(store: Store):
    filled(solar(), store)
    late, early = run_week(store, date(2025, 2, 1)).run, run_week(store, date(2024, 4, 1)).run
    assert store.view().run() == late
    assert store.view(as_of=date(2024, 12, 31)).run() == early
    assert store.view(as_of=date(2024, 3, 31)).run() is None


def test_a_base_without_documents_is_said_to_be_empty(store: Store):
    with pytest.raises(EmptyBase):
        run_week(store, None)
    filled(solar(), store)
    with pytest.raises(EmptyBase):
        run_week(store, date(2023, 1, 1))
    assert store.stats()["runs"] == 0


def test_documents_without_facts_make_a_run_without_themes(store: Store):
    filled([paper(1, "2024-01-01")], store)
    run = run_week(store, None).run
    assert run.communities == ()
    assert run.quality["modularity"] == 0.0


def test_a_busy_base_is_reported_before_any_work(store: Store):
    filled(solar(), store)
    stages: list[str] = []
    with store.writer(), pytest.raises(StoreLocked):
        run_week(store, None, progress=lambda stage, _done, _total: stages.append(stage))
    assert stages == []


# ── what it must not know ──────────────────────────────────────────────────────────────────────────────────────────

_DAYS = ["2024-01-01", "2024-03-01", "2024-05-01", "2024-07-01"]
_NAMES = [f"product:{name}" for name in "甲乙丙丁戊己庚辛"]
_LINK = st.tuples(st.sampled_from(_NAMES), st.sampled_from(_NAMES)).filter(lambda pair: pair[0] != pair[1])
_PAPERS = st.lists(st.tuples(st.sampled_from(_DAYS), st.lists(_LINK, min_size=1, max_size=5)), min_size=1, max_size=5)


@given(papers=_PAPERS, early=st.sampled_from(_DAYS), late=st.booleans())
def test_a_run_knows_nothing_of_what_came_after_its_day(
    papers: list[tuple[str, list[tuple[str, str]]]], early: str, *, late: bool
):
    readings = [
        paper(number, day, *((f"{a}→{b}。", claim(a, "upstream_of", b)) for a, b in links))
        for number, (day, links) in enumerate(papers)
    ]
    day = date.fromisoformat(early)
    until = [reading for reading in readings if reading.document.published_on <= day]
    full, ignorant = filled(readings), filled(until)
    if late:
        run_week(full, date(2025, 1, 1))
    if not until:
        with pytest.raises(EmptyBase):
            run_week(full, day)
        return
    expected = run_week(ignorant, day)
    week = run_week(full, day)
    assert week.run == expected.run == run_week(full, day).run
    assert full.view(as_of=day).run() == expected.run


# ── summaries ──────────────────────────────────────────────────────────────────────────────────────────────────────


def run_of(*readings: Reading) -> tuple[Store, Run]:
    store = filled(readings)
    return store, run_week(store, None).run


def test_each_line_rests_on_facts_that_join_two_members_or_tell_a_number():
    store, run = run_of(*solar())
    assert run.communities
    for community in run.communities:
        assert community.summary is not None
        assert community.summary.lines
        for line in community.summary.lines:
            assert line.facts
            facts = list(store.view().facts(ids=line.facts))
            assert len(facts) == len(line.facts)
            inside = set(community.members)
            assert all({fact.subject, fact.object} <= inside or fact.relation == "reports" for fact in facts)


def test_each_name_in_a_line_is_held_by_a_fact_of_the_line():
    store, run = run_of(*solar())
    names = {entity.name: entity.id for entity in store.view().entities()}
    checked = 0
    for community in run.communities:
        for line in community.summary.lines if community.summary else ():
            label, _, rest = line.text.partition("：")
            if label in {"上游", "中游", "下游", "公司"}:
                ends = {end for fact in store.view().facts(ids=line.facts) for end in (fact.subject, fact.object)}
                said = {re.split("[（—]", name)[0] for name in rest.split("、")}
                assert {names[name] for name in said} <= ends
                checked += 1
    assert checked >= 2


# ── taken back, planned, locked ────────────────────────────────────────────────────────────────────────────────────


def test_a_week_taken_back_uncovers_the_one_before_and_comes_again_the_same(store: Store):
    filled([*solar(), *many_chains()], store)
    first, second = run_week(store, date(2024, 6, 30)).run, run_week(store, date(2025, 6, 30)).run
    assert withdraw(store, None) == (second, first)
    assert store.view().run() == first
    assert run_week(store, date(2025, 6, 30)).run == second
    assert withdraw(store, date(2024, 12, 31)) == (first, None)
    withdraw(store, None)
    with pytest.raises(NothingToWithdraw):
        withdraw(store, None)


def test_a_run_that_comes_out_the_same_is_not_written_again(store: Store):
    filled(many_chains(), store)
    run_week(store, date(2024, 6, 30))
    revision = store.revision()
    run_week(store, date(2024, 6, 30))
    assert store.revision() == revision


def test_a_plan_of_composed_summaries_counts_what_is_new(store: Store):
    filled(many_chains(), store)
    plan = plan_week(store, None)
    assert plan.written == plan.summaries > 0
    assert plan.prompt_tokens > 0
    run_week(store, None)
    assert plan_week(store, None).written == 0


def test_who_comes_second_learns_who_holds_the_lock(tmp_path: Path):
    base = open_store(tmp_path / "kb", create=True)
    with base.writer(), pytest.raises(StoreLocked, match=rf"process {os.getpid()} \("):
        run_week(base, None)
    base.close()


def lines_of(store: Store) -> set[str]:
    """Return all that themes and their changes say, in whatever answer."""
    session = QuerySession(store.view())
    reported = [
        line for community in themes(session.view) for line in (community.summary.lines if community.summary else ())
    ]
    for community in themes(session.view):
        reported += [*theme(session, community.id).community.changes[1:], *community.changes[1:]]
    reported += [line for item in changes(session, date(2024, 1, 15)).themes for line in item.news]
    return {line.text for line in reported}


def test_a_theme_says_nothing_that_only_a_removed_document_said(store: Store):
    """What a week wrote down of it has no source any more: until the next week it is left out."""
    mine = ["product:石墨", *LITHIUM]
    filled([chain_of(1, "2024-01-01", LITHIUM)], store)
    run_week(store, date(2024, 1, 10))
    filled([chain_of(2, "2024-02-01", mine)], store)
    run_week(store, None)
    before = lines_of(store)
    assert any("石墨" in line for line in before)
    assert any("锂矿" in line for line in before)
    with store.writer() as writer:
        writer.remove("doc:2")
    assert not [line for line in lines_of(store) if "石墨" in line]
    with store.writer() as writer:
        writer.remove("doc:1")
    assert lines_of(store) == set()


def test_a_theme_still_says_what_is_said_of_an_entity_under_another_id(store: Store):
    filled([chain_of(1, "2024-01-01", LITHIUM), chain_of(2, "2024-01-01", ["product:锂矿石", *LITHIUM[1:]])], store)
    run_week(store, None)
    before = lines_of(store)
    with store.writer() as writer:
        merge = Judgement("", Verdict.MERGE, LITHIUM[0], date(2024, 1, 2), READ, "product:锂矿石", by="甲", why="一物")
        assert writer.judge(merge)
    assert lines_of(store) == before != set()
