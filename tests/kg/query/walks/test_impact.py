from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import pytest
from hypothesis import given

from kg.errors import UnknownName
from kg.model import Modality, Polarity
from kg.query.session import QuerySession
from kg.query.walks.impact import causes, impact
from tests.kg.query.world import (
    COST,
    CUT,
    LONGI,
    MARGIN,
    PRICE,
    SILICON,
    SUBSIDY,
    claim,
    moves,
    paper,
    seen,
    solar,
)

if TYPE_CHECKING:
    from kg.model import Fact
    from kg.query.answers import ImpactAnswer


def lens_of(*facts: Fact) -> QuerySession:
    return QuerySession(seen(paper(1, "2024-01-01", *((f"第{n}句。", fact) for n, fact in enumerate(facts)))))


def signs(answer: ImpactAnswer) -> dict[tuple[str, ...], int]:
    return {path.nodes: path.sign for path in answer.paths}


def test_the_sign_of_a_path_is_the_product_of_its_links():
    session = lens_of(
        moves(CUT, PRICE, 0, 1), moves(PRICE, COST, 1, 1), moves(COST, MARGIN, 1, -1), moves(MARGIN, LONGI, -1, -1)
    )
    found = signs(impact(session, "限产", hops=4))
    assert found == {
        (CUT, PRICE): 1,
        (CUT, PRICE, COST): 1,
        (CUT, PRICE, COST, MARGIN): -1,
        (CUT, PRICE, COST, MARGIN, LONGI): -1,
    }
    back = signs(causes(session, "隆基绿能", -1))
    assert back == {(MARGIN, LONGI): 1, (COST, MARGIN, LONGI): -1, (PRICE, COST, MARGIN, LONGI): -1}


def test_causes_are_read_backwards_and_stand_before_the_effect():
    rise = paper(9, "2024-03-02", ("成本上升压低毛利率。", moves(COST, MARGIN, 1, -1)))
    answer = causes(seen(*solar(), rise), "组件毛利率", -1)
    assert not answer.forward
    assert signs(answer)[SUBSIDY, MARGIN] == -1
    assert all(path.nodes[-1] == MARGIN for path in answer.paths)
    for path in answer.paths:
        assert [(link.source, link.target) for link in path.links] == list(pairwise(path.nodes))
    layers = {node.entity.id: node.layer for node in answer.graph.nodes}
    assert layers[MARGIN] == 0
    assert layers[SUBSIDY] == layers[COST] == -1
    assert layers[PRICE] == -2


def test_what_is_said_of_the_opposite_move_counts_less():
    same, opposite = lens_of(moves(PRICE, COST, 1, 1)), lens_of(moves(PRICE, COST, -1, -1))
    assert impact(same, "硅料价格").paths[0].weight > impact(opposite, "硅料价格").paths[0].weight
    assert impact(same, "硅料价格").paths[0].weight == impact(opposite, "硅料价格", -1).paths[0].weight


def test_only_plain_assertions_of_two_moves_are_turned_round():
    """That a cut lifts a price says nothing of no cut, and a condition nothing of its opposite."""
    assert impact(lens_of(moves(PRICE, COST, -1, -1)), "硅料价格").paths
    assert not impact(lens_of(moves(CUT, PRICE, 0, 1)), "限产", -1).paths
    assert not impact(lens_of(moves(PRICE, COST, -1, -1, modality=Modality.CONDITIONAL)), "硅料价格").paths
    assert not causes(lens_of(moves(CUT, PRICE, 0, 1)), "硅料价格", -1).paths


def test_no_path_leads_through_what_each_trade_has_its_own_of():
    demand = "indicator:下游需求"
    session = lens_of(
        moves(CUT, demand, 0, 1), moves(demand, PRICE, 1, 1), moves(CUT, SILICON, 0, 1), moves(SILICON, COST, 0, 1)
    )
    assert set(signs(impact(session, "限产"))) == {(CUT, demand), (CUT, SILICON)}
    assert (CUT, demand, PRICE) not in signs(causes(session, "硅料价格"))


def test_only_the_first_step_of_several_is_turned_round():
    first = lens_of(moves(PRICE, COST, -1, -1), moves(COST, MARGIN, 1, -1))
    assert (PRICE, COST, MARGIN) in signs(impact(first, "硅料价格"))
    later = lens_of(moves(PRICE, COST, 1, 1), moves(COST, MARGIN, -1, 1))
    assert set(signs(impact(later, "硅料价格"))) == {(PRICE, COST)}
    other = lens_of(moves("indicator:硅料需求", COST, -1, -1), moves(COST, MARGIN, 1, -1))
    assert set(signs(impact(other, "硅料需求"))) == {("indicator:硅料需求", COST)}


def test_each_step_of_several_is_surer_than_one_alone():
    said = paper(1, "2024-01-01", ("甲。", moves(PRICE, COST, 1, 1)), ("乙。", moves(COST, MARGIN, 1, -1)))
    doubtful = tuple(replace(fact, evidence=(replace(fact.evidence[0], confidence=0.68),)) for fact in said.facts)
    assert set(signs(impact(seen(replace(said, facts=doubtful)), "硅料价格"))) == {(PRICE, COST)}


def test_a_path_does_not_come_back_to_its_own_thing():
    kind = "indicator:颗粒硅料价格"
    assert set(signs(impact(lens_of(moves(PRICE, COST, 1, 1), moves(COST, kind, 1, -1)), "硅料价格"))) == {
        (PRICE, COST)
    }


def test_another_document_names_both_ends_of_its_step():
    first = paper(1, "2024-01-01", ("硅料价格上涨推高电池片成本。", moves(PRICE, COST, 1, 1)))
    for sentence, found in (("电池片成本上升压低组件毛利率。", True), ("（二）新疆地区：成本驱动。", False)):
        second = paper(2, "2024-01-02", (sentence, moves(COST, MARGIN, 1, -1)))
        assert ((PRICE, COST, MARGIN) in signs(impact(seen(first, second), "硅料价格"))) is found


def test_the_weight_of_a_path_is_that_of_its_weakest_link():
    strong, weak = moves(PRICE, COST, 1, 1), moves(COST, MARGIN, 1, -1)
    session = QuerySession(
        seen(paper(1, "2024-01-01", ("甲。", strong), ("乙。", weak)), paper(2, "2024-01-01", ("甲。", strong)))
    )
    short, long = sorted(impact(session, "硅料价格").paths, key=lambda path: len(path.nodes))
    assert long.weight < short.weight
    assert long.weight == pytest.approx(0.8 * 0.95**2, rel=0.06)


def test_counter_evidence_is_the_other_sign_or_a_denial():
    said = paper(1, "2024-01-01", ("价跌成本降。", moves(PRICE, COST, -1, -1)), speaker="甲")
    again = paper(2, "2024-01-02", ("价跌成本降。", moves(PRICE, COST, -1, -1)), speaker="丁")
    other = paper(3, "2024-01-01", ("价跌成本升。", moves(PRICE, COST, -1, 1)), speaker="乙")
    squeezed = paper(5, "2024-01-01", ("价涨成本降。", moves(PRICE, COST, 1, -1)), speaker="乙")
    denial = paper(
        4, "2024-01-01", ("价跌成本不降。", moves(PRICE, COST, -1, -1, polarity=Polarity.NEGATIVE)), speaker="丙"
    )
    assert impact(seen(said), "硅料价格", -1).counter == ()
    (against,) = impact(seen(said, again, other), "硅料价格", -1).counter
    assert (against.sign, [citation.quote for citation in against.citations]) == (-1, ["价跌成本升。"])
    assert impact(seen(said, again, squeezed), "硅料价格", -1).counter == ()  # of the other move: no contradiction
    (denied,) = impact(seen(said, again, denial), "硅料价格", -1).counter
    assert [citation.quote for citation in denied.citations] == ["价跌成本不降。"]
    assert all(link.contested for path in impact(seen(said, other), "硅料价格", -1).paths for link in path.links)
    assert not any(link.contested for path in impact(seen(said), "硅料价格").paths for link in path.links)


def test_to_deny_a_rise_is_not_to_say_that_it_falls():
    rises, not_rises = moves(PRICE, COST, 1, 1), moves(PRICE, COST, 1, 1, polarity=Polarity.NEGATIVE)
    falls = moves(PRICE, COST, 1, -1)
    session = lens_of(falls, not_rises)
    assert [session.opposing(fact) for fact in session.view.facts()] == [[], []]
    session = lens_of(rises, falls, not_rises)
    (first,) = (fact for fact in session.view.facts() if fact.sign > 0 and fact.polarity is Polarity.POSITIVE)
    assert len(session.opposing(first)) == 2


def test_a_product_speaks_through_its_price():
    assert signs(impact(seen(*solar()), "硅料"))[PRICE, COST] in (1, -1)


def test_what_moves_against_the_price_does_not_speak_through_it():
    stock = "indicator:硅料社会库存"
    session = lens_of(moves(CUT, stock, 0, -1), moves(PRICE, COST, 1, 1), moves(SILICON, LONGI, 1, 1))
    assert signs(causes(session, "硅料社会库存", -1)) == {(CUT, stock): -1}
    assert not signs(impact(session, "硅料社会库存"))


def test_a_product_without_a_price_speaks_through_what_rises_with_it():
    session = lens_of(moves(CUT, MARGIN, 0, 1), moves(MARGIN, LONGI, 1, 1), moves(COST, LONGI, 1, -1))
    assert signs(impact(session, "组件")) == {(MARGIN, LONGI): 1}
    assert signs(causes(session, "组件")) == {(CUT, MARGIN): 1}
    assert not signs(impact(session, "电池片"))  # its cost is a burden


def test_a_circle_of_causes_ends_and_meets_no_node_twice():
    session = lens_of(
        moves(PRICE, COST, 1, 1), moves(COST, MARGIN, 1, 1), moves(MARGIN, PRICE, 1, 1), moves(PRICE, PRICE, 1, 1)
    )
    paths = impact(session, "硅料价格", hops=4).paths
    assert {path.nodes for path in paths} == {(PRICE, COST), (PRICE, COST, MARGIN)}


def test_another_name_of_the_factor_is_no_effect_and_moves_as_it_does():
    carbonate, lithium, demand = "indicator:碳酸锂价格", "indicator:锂价格", "indicator:新能源汽车需求"
    session = lens_of(moves(carbonate, demand, -1, 1), moves(demand, lithium, 1, 1), moves(lithium, LONGI, -1, 1))
    answer = impact(session, "碳酸锂价格", -1)
    assert {path.nodes for path in answer.paths} == {(carbonate, demand)}
    (beside,) = (node for node in answer.graph.nodes if node.entity.id == lithium)
    assert (beside.layer, beside.direction) == (0, -1)


def test_a_price_is_not_given_as_the_cause_of_its_own_product():
    """The topic is read as the price and as the product it is a price of; a link between the two says nothing."""
    session = lens_of(moves(CUT, PRICE, 0, 1), moves(PRICE, SILICON, 1, 1), moves(SUBSIDY, SILICON, 0, 1))
    assert set(signs(causes(session, "硅料价格"))) == {(CUT, PRICE), (SUBSIDY, SILICON)}


def test_a_dense_world_is_bounded():
    ends = [f"indicator:量{n:02}" for n in range(40)]
    session = lens_of(*(moves(a, b, 1, 1) for a in ends for b in ends if a != b))
    answer = impact(session, "量00", hops=99)
    assert 0 < len(answer.paths) <= 40
    assert max(len(path.nodes) for path in answer.paths) <= 5


def test_without_causes_there_is_nothing_to_tell():
    answer = impact(seen(*solar()), "光伏电站")
    assert (answer.paths, answer.affected, answer.counter, answer.graph.links) == ((), (), (), ())


def test_an_unknown_factor_is_named_with_what_is_near():
    with pytest.raises(UnknownName) as fault:
        impact(seen(*solar()), "硅料的价格")
    assert "硅料价格" in fault.value.near


_EDGE = st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([1, -1]), st.sampled_from([1, -1]))


@given(edges=st.lists(_EDGE, min_size=1, max_size=12), direction=st.sampled_from([1, -1]), forward=st.booleans())
def test_every_path_is_said_link_by_link(edges: list[tuple[int, int, int, int]], direction: int, *, forward: bool):
    """All simple signed walks of up to three hops whose later steps are as stated; no graph is too big for the beam."""
    facts = {(a, b, up * to): moves(f"indicator:量{a}", f"indicator:量{b}", up, to) for a, b, up, to in edges}
    session = lens_of(*facts.values())
    start = edges[0][0] if forward else edges[0][1]
    answer = (impact if forward else causes)(session, f"量{start}", direction)
    expected: set[tuple[tuple[int, ...], int]] = set()
    frontier: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((start,), ())]
    for _ in range(3):
        frontier = [
            ((*nodes, there), (*steps, step))
            for nodes, steps in frontier
            for a, b, step in facts
            for here, there in [(a, b) if forward else (b, a)]
            if here == nodes[-1] and there not in nodes
        ]
        for nodes, steps in frontier:
            sign = prod(steps)
            path, signed = (nodes, steps) if forward else (nodes[::-1], steps[::-1])
            move = direction if forward else direction * sign
            stated = []
            for a, b, step in zip(path, path[1:], signed, strict=False):
                stated.append(facts[a, b, step].qualifier("cause_direction") == ("up" if move > 0 else "down"))
                move *= step
            if all(stated[1:]):  # the first alone may be turned round
                expected.add((path, sign))
    found = {(tuple(int(node[-1]) for node in path.nodes), path.sign) for path in answer.paths}
    if len(expected) <= 20:
        assert found == expected


def test_a_weak_effect_is_shown_last_as_stated_and_leads_no_further():
    income = "indicator:电站收益率"
    said = paper(1, "2024-01-01", ("甲。", moves(PRICE, COST, 1, 1)), ("丙。", moves(income, MARGIN, -1, -1)))
    unsure = paper(2, "2024-01-02", ("乙。", moves(PRICE, income, 1, -1)))
    facts = (replace(fact, evidence=(replace(fact.evidence[0], confidence=0.5),)) for fact in unsure.facts)
    view = seen(said, replace(unsure, facts=tuple(facts)))
    found = impact(view, "硅料价格", 1).paths
    assert [(path.nodes[-1], path.links[-1].weak) for path in found] == [(COST, False), (income, True)]
    assert income not in {path.nodes[-1] for path in impact(view, "硅料价格", -1).paths}


def test_what_is_said_of_a_thing_that_grows_is_said_of_the_demand_for_it():
    grows = moves("product:组件", "product:光伏玻璃", 1, 1)
    buys = claim("product:组件", "upstream_of", "product:电站")
    demand = claim("product:组件", "reports", "indicator:组件需求")
    view = seen(paper(1, "2024-01-01", ("甲。", grows), ("乙。", buys), ("丙。", demand)))
    assert {party.entity.name: party.sign for party in impact(view, "组件需求", 1).parties} == {"光伏玻璃": 1}
    view = seen(paper(1, "2024-01-01", ("甲。", moves("indicator:组件需求", "product:光伏玻璃", 1, 1)), ("乙。", buys)))
    assert {party.entity.name: party.sign for party in impact(view, "组件", 1).parties}["光伏玻璃"] == 1


def test_the_demand_for_a_thing_without_a_measure_of_it_is_not_its_price():
    facts = claim("org:甲公司", "produces", "product:设备"), claim("product:设备", "upstream_of", "product:电池")
    view = seen(paper(1, "2024-01-01", *((f"第{n}句。", fact) for n, fact in enumerate(facts))))
    assert {party.entity.name: party.sign for party in impact(view, "设备需求", 1).parties} == {"甲公司": 1}
    assert {party.entity.name: party.sign for party in impact(view, "设备", 1).parties} == {"甲公司": 1, "电池": -1}
