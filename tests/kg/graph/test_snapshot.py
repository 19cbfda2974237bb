"""The compiled graph against the facts it was compiled from, and expand against networkx."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from kg.graph.snapshot import Snapshot
from kg.graph.weights import MODALITY_FACTORS
from kg.model import Entity, Kind, Modality
from kg.period import month, quarter, year
from kg.relations import vocabulary
from tests.contracts.readings import BYD, CATL, LITHIUM, MARGIN, day, denied, fact, reading, reported
from tests.contracts.reference import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from kg.model import Fact, Reading
    from kg.store.port import View

WORDS = vocabulary()


def compiled(*readings: Reading, as_of: date | None = None) -> Snapshot:
    store = MemoryStore()
    with store.writer() as writer:
        for item in readings:
            writer.write(item)
    return Snapshot.compile(store.view(as_of=as_of), WORDS)


def names(snapshot: Snapshot, nodes: np.ndarray[Any, Any]) -> list[str]:
    return [snapshot.entity_ids[node] for node in nodes.tolist()]


def node(snapshot: Snapshot, entity_id: str) -> int:
    found = snapshot.index_of(entity_id)
    assert found is not None
    return found


def test_a_fact_is_an_edge_with_all_its_columns():
    cause = (("cause_direction", "down"), ("effect_direction", "up"))
    claim = fact(LITHIUM, "affects", MARGIN, sign=-1, qualifiers=cause, valid=quarter(2024, 1))
    snapshot = compiled(reading(1, 0, claim, entities=()))
    edges = snapshot.expand([node(snapshot, LITHIUM)], ["affects"], "out", limit_per_node=9)
    assert snapshot.entity_ids == (MARGIN, LITHIUM, CATL)
    assert snapshot.kinds == (Kind.INDICATOR, Kind.PRODUCT, Kind.COMPANY)
    assert (names(snapshot, edges.source), names(snapshot, edges.target)) == ([LITHIUM], [MARGIN])
    assert snapshot.relation_names[edges.relation[0]] == "affects"
    assert (edges.sign.tolist(), edges.cause.tolist(), edges.effect.tolist()) == ([-1], [-1], [1])
    assert (edges.start[0], edges.end[0]) == (day(0).toordinal(), day(91).toordinal())
    assert snapshot.facts_of(edges) == [snapshot.fact_ids[0]] == snapshot.fact_ids[:]
    back = snapshot.expand([node(snapshot, MARGIN)], ["affects"], "in", limit_per_node=9)
    assert (names(snapshot, back.source), names(snapshot, back.target)) == ([LITHIUM], [MARGIN])
    assert [snapshot.degree(node(snapshot, end)) for end in (LITHIUM, MARGIN, CATL)] == [1, 1, 0]


def test_without_a_stated_period_a_fact_is_open_from_its_publication():
    edges = compiled(reading(1, 3, fact(CATL, "uses", LITHIUM))).edges()
    assert (edges.start[0], edges.end[0]) == (day(3).toordinal(), np.iinfo(np.int32).max)


def test_superseded_and_denied_facts_carry_no_walk():
    uses = fact(CATL, "uses", LITHIUM)
    said = (reading(1, 0, uses, reported(20)), reading(2, 5, denied(uses), reported(22)))
    assert [compiled(*said[:1]).edges().fact.size, compiled(*said).edges().fact.size] == [2, 1]
    assert len(compiled(*said, as_of=day(4)).edges()) == 2


@pytest.mark.parametrize(
    ("claim", "said_on", "asked_on", "expected"),
    [
        (fact(CATL, "uses", LITHIUM), 0, 0, 0.7),
        (fact(CATL, "uses", LITHIUM), 0, 1095, 0.35),
        (fact(CATL, "uses", LITHIUM, valid=month(2024, 1)), 0, 31 + 1095, 0.35),
        (fact(CATL, "uses", LITHIUM, valid=year(2026)), 0, 800, 0.7),
        (fact(CATL, "uses", LITHIUM, modality=Modality.RUMOURED), 0, 0, 0.7 * 0.3),
        (fact(CATL, "affects", MARGIN, modality=Modality.FORECAST), 0, 365, 0.8 * 0.7 / 2),
    ],
)
def test_weight_is_relation_times_modality_faded_since_it_was_last_true(
    claim: Fact, said_on: int, asked_on: int, expected: float
):
    snapshot = compiled(reading(1, said_on, claim), as_of=day(asked_on))
    assert snapshot.edges().weight[0] == pytest.approx(expected)


def test_weight_counts_witnesses_once_per_family_and_fades_from_the_last():
    uses = fact(CATL, "uses", LITHIUM)
    said = [reading(1, 0, uses), reading(2, 0, uses, copies=(1,)), reading(3, 0, uses)]
    assert compiled(*said).edges().weight[0] == pytest.approx(2 * 0.7)
    assert compiled(*said, reading(4, 1095)).edges().weight[0] == pytest.approx(2 * 0.7)  # it says no fact: no clock
    assert compiled(*said, as_of=day(1095)).edges().weight[0] == pytest.approx(0.7)
    doubtful = reading(5, 0, uses)
    evidence = (replace(doubtful.facts[0].evidence[0], confidence=0.5),)
    alone = replace(doubtful, facts=(replace(doubtful.facts[0], evidence=evidence),))
    assert compiled(alone).edges().weight[0] == pytest.approx(0.35)


def test_every_modality_has_a_factor():
    assert set(MODALITY_FACTORS) == set(Modality)
    assert all(0 < factor <= 1 for factor in MODALITY_FACTORS.values())


def test_an_indicator_is_anchored_to_what_it_is_about():
    price = Entity("indicator:碳酸锂价格", Kind.INDICATOR, "碳酸锂价格", about=LITHIUM)
    output = Entity("indicator:碳酸锂产量", Kind.INDICATOR, "碳酸锂产量", about=LITHIUM)
    snapshot = compiled(reading(1, 0, entities=(price, output)))
    lithium = node(snapshot, LITHIUM)
    assert [snapshot.entity_ids[found] for found in snapshot.about_of(lithium)] == [output.id, price.id]
    assert snapshot.about_target(node(snapshot, price.id)) == lithium
    assert snapshot.about_target(lithium) is None
    assert snapshot.about_of(node(snapshot, price.id)) == []
    assert snapshot.about.tolist().count(-1) == 2


@pytest.mark.parametrize("direction", ["in", "out"])
def test_the_strongest_come_first_and_ties_go_by_fact_id(direction: Any):
    others = [f"product:{number}" for number in range(20)]
    claims = [
        fact(*((end, "upstream_of", LITHIUM) if direction == "in" else (LITHIUM, "upstream_of", end))) for end in others
    ]
    snapshot = compiled(reading(1, 0, *claims), reading(2, 0, claims[7]))
    found = snapshot.expand([node(snapshot, LITHIUM)], ["upstream_of"], direction, limit_per_node=99)
    ids = snapshot.facts_of(found)
    assert found.weight.tolist() == [2.0] + [1.0] * 19
    assert ids[0] == reading(2, 0, claims[7]).facts[0].id
    assert ids[1:] == sorted(ids[1:])
    few = snapshot.expand([node(snapshot, LITHIUM)], ["upstream_of"], direction, limit_per_node=3)
    assert snapshot.facts_of(few) == ids[:3]


def test_nothing_is_found_in_nothing():
    snapshot = compiled()
    assert snapshot.as_of is None
    assert len(snapshot.expand([], ["affects"], "out", limit_per_node=5)) == 0
    assert snapshot.index_of(CATL) is None
    assert snapshot.facts_of(snapshot.edges()) == []
    snapshot = compiled(reading(1, 0, fact(CATL, "uses", LITHIUM)))
    some = [node(snapshot, CATL)]
    assert len(snapshot.expand(some, [], "out", limit_per_node=5)) == 0
    assert len(snapshot.expand(some, ["no such"], "out", limit_per_node=5)) == 0
    assert len(snapshot.expand(some, ["uses"], "out", limit_per_node=0)) == 0
    assert len(snapshot.expand([*some, *some], ["uses"], "out", limit_per_node=5)) == 1


def test_a_view_of_a_period_compiles_to_what_holds_in_it():
    store = MemoryStore()
    with store.writer() as writer:
        writer.write(reading(1, 40, reported(20, valid=year(2023)), fact(CATL, "uses", LITHIUM)))
    assert len(Snapshot.compile(store.view().during(year(2023)), WORDS).edges()) == 1
    assert len(Snapshot.compile(store.view().during(month(2024, 3)), WORDS).edges()) == 1


_ENDS = [f"product:{letter}" for letter in "甲乙丙丁"]
_EDGE = st.tuples(
    st.sampled_from(_ENDS),
    st.sampled_from(["upstream_of", "affects"]),
    st.sampled_from(_ENDS),
    st.sampled_from([-1, 0, 1]),
    st.integers(0, 1),
)


@given(
    edges=st.lists(_EDGE, max_size=40).flatmap(st.permutations),
    frontier=st.sets(st.sampled_from(_ENDS), max_size=4),
    relations=st.sets(st.sampled_from(["upstream_of", "affects", "uses"]), min_size=1),
    direction=st.sampled_from(["out", "in"]),
    limit=st.integers(0, 3),
)
def test_expand_finds_what_networkx_finds(
    edges: list[tuple[str, str, str, int, int]], frontier: set[str], relations: set[str], direction: Any, limit: int
):
    claims = [
        reading(number, back * 400, fact(source, relation, target, sign=sign), entities=())
        for number, (source, relation, target, sign, back) in enumerate(edges)
    ]
    store = MemoryStore()
    with store.writer() as writer:
        for item in claims:
            writer.write(item)
    view = store.view()
    snapshot = Snapshot.compile(view, WORDS)
    graph = nx.MultiDiGraph()
    last = max((item.last_published_on for item in view.facts()), default=day(0))
    for item in view.facts():
        faded = 0.5 ** ((last - item.last_published_on) / timedelta(days=WORDS[item.relation].half_life))
        weight = np.float32(item.witnesses * WORDS[item.relation].weight * faded)
        graph.add_edge(item.subject, item.object, key=item.id, relation=item.relation, weight=weight)
    expected = []
    for end in sorted(frontier & set(graph)):
        found = graph.out_edges if direction == "out" else graph.in_edges
        for relation in WORDS.relations:
            here = [(-data["weight"], key) for *_, key, data in found(end, keys=True, data=True)
                    if data["relation"] == relation and relation in relations]  # fmt: skip
            expected += [key for _, key in sorted(here)[:limit]]
    nodes = [place for end in frontier if (place := snapshot.index_of(end)) is not None]
    result = snapshot.expand(nodes, relations, direction, limit_per_node=limit)
    assert snapshot.facts_of(result) == expected
    known = {item.id: item for item in view.facts()}
    for row, identity in enumerate(snapshot.facts_of(result)):
        ends = (snapshot.entity_ids[result.source[row]], snapshot.entity_ids[result.target[row]])
        assert ends == (known[identity].subject, known[identity].object)


def test_walking_hop_by_hop_reaches_what_networkx_reaches():
    source = random.Random(3)  # noqa: S311 - a made-up graph
    ends = [f"product:{number}" for number in range(120)]
    pairs = {(source.choice(ends), source.choice(ends)) for _ in range(180)}
    claims = [fact(one, "upstream_of", other) for one, other in sorted(pairs)]
    snapshot = compiled(reading(1, 0, *claims, entities=()))
    graph = nx.DiGraph(pairs)
    start = min(graph)
    seen = frontier = {node(snapshot, start)}
    for _ in range(len(ends)):
        reached = snapshot.expand(sorted(frontier), ["upstream_of"], "out", limit_per_node=10**6).target
        frontier = set(reached.tolist()) - seen
        seen = seen | frontier
    assert {snapshot.entity_ids[place] for place in seen} == {start, *nx.descendants(graph, start)}


def test_keys_wider_than_32_bits_find_the_same(monkeypatch: pytest.MonkeyPatch):
    said = reading(1, 0, fact(CATL, "uses", LITHIUM), fact(BYD, "uses", LITHIUM), reported(20))
    narrow = compiled(said)

    class Tiny:
        max = -1
        min = np.iinfo(np.int32).min

    monkeypatch.setattr("kg.graph.layout.np.iinfo", lambda _: Tiny)
    wide = compiled(said)
    monkeypatch.undo()
    assert (narrow.parts.outward.keys.dtype, wide.parts.outward.keys.dtype) == (np.int32, np.int64)
    for direction in ("out", "in"):
        for snapshot in (narrow, wide):
            found = snapshot.expand(range(9), ["uses"], direction, limit_per_node=9)  # type: ignore[arg-type]
            assert len(found) == 2


class Moving:
    """A view whose base grows between two of its calls, as one does under a running ingest."""

    as_of = None

    def __init__(self, before: View, after: View) -> None:
        self._before, self._after = before, after

    def entities(self) -> Iterator[Entity]:
        return self._before.entities()

    def facts(self) -> Iterator[Fact]:
        return self._after.facts()


def test_a_document_written_between_two_reads_waits_for_the_next_snapshot():
    store = MemoryStore()
    with store.writer() as writer:
        writer.write(reading(1, 0, fact(CATL, "uses", LITHIUM)))
        before = MemoryStore()
        with before.writer() as first:
            first.write(reading(1, 0, fact(CATL, "uses", LITHIUM)))
        writer.write(reading(2, 1, fact("org:丁", "uses", "product:铜箔")))
    snapshot = Snapshot.compile(Moving(before.view(), store.view()), WORDS)  # type: ignore[arg-type]
    assert len(snapshot.edges()) == 1
    assert snapshot.index_of("org:丁") is None
