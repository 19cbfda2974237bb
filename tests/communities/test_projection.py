from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from communities.projection import project, tables
from kg.graph.snapshot import Snapshot
from kg.relations import vocabulary
from tests.kg.query.world import (
    LONGI,
    MARGIN,
    MODULE,
    PRICE,
    SILICON,
    SUNGROW,
    TONGWEI,
    claim,
    moves,
    named,
    paper,
    seen,
)

if TYPE_CHECKING:
    from kg.model import Fact

DAY = "2024-01-10"


def pairs_of(*facts: Fact, extra: tuple[str, ...] = ()) -> dict[tuple[str, str], float]:
    said = [(f"第{number}句。", fact) for number, fact in enumerate(facts)]
    snapshot = Snapshot.compile(seen(paper(1, DAY, *said, extra=tuple(map(named, extra)))), vocabulary())
    projection = project(snapshot)
    ids = [snapshot.entity_ids[node] for node in projection.nodes]
    assert len(set(ids)) == len(ids)
    assert set(np.unique(projection.pairs)) == set(range(len(ids)))
    return {
        (ids[one], ids[other]): weight
        for (one, other), weight in zip(projection.pairs.tolist(), projection.weights.tolist(), strict=True)
    }


def test_every_relation_has_a_share():
    assert set(tables().shares) == set(vocabulary().relations)


def test_nothing_projects_to_nothing():
    assert pairs_of() == {}
    assert pairs_of(extra=(LONGI,)) == {}


def test_a_pair_weighs_what_its_edges_weigh_together():
    both = (claim(TONGWEI, "supplies", LONGI), claim(LONGI, "partners_with", TONGWEI))
    words = vocabulary()
    expected = sum(words[name].weight * tables().shares[name] for name in ("supplies", "partners_with"))
    assert pairs_of(*both) == {tuple(sorted((LONGI, TONGWEI))): pytest.approx(expected)}


def test_a_place_a_person_and_a_number_tie_nobody():
    assert pairs_of(
        claim(LONGI, "located_in", "region:陕西"),
        claim(TONGWEI, "located_in", "region:陕西"),
        claim(LONGI, "reports", "indicator:毛利率"),
        claim("institution:某所", "rates", LONGI),
        claim("person:某人", "holds_stake_in", LONGI),
        claim("region:陕西", "affects", LONGI, sign=1),
        claim(LONGI, "affects", LONGI, sign=1),
    ) == {}  # fmt: skip


def test_an_indicator_stands_for_what_it_is_about():
    """硅料价格 moves 组件毛利率: 硅料 and 组件 are tied; what is merely mentioned is tied to nothing."""
    assert set(pairs_of(moves(PRICE, MARGIN, 1, -1))) == {(SILICON, MODULE)}
    assert pairs_of(extra=(PRICE, SILICON, MARGIN, MODULE)) == {}
    assert pairs_of(moves(PRICE, "indicator:硅料库存", 1, -1)) != {}  # the other one is about nothing


def test_a_number_glues_no_strangers_but_wakes_its_subject():
    """Two firms with one indicator stay apart; a product that only has a number is tied to its trade."""
    assert pairs_of(claim(LONGI, "reports", "indicator:毛利率"), claim(TONGWEI, "reports", "indicator:毛利率")) == {}
    trade = replace(named(SILICON), about="industry:硅料硅片")
    spoken = [("句。", claim("industry:硅料硅片", "reports", PRICE))]
    snapshot = Snapshot.compile(seen(paper(1, DAY, *spoken, extra=(trade,))), vocabulary())
    projection = project(snapshot)
    assert [snapshot.entity_ids[node] for node in projection.nodes] == ["industry:硅料硅片", SILICON]


@pytest.mark.parametrize("generic", ["product:产品", "industry:制造业", "indicator:净利润", "company:x"])
def test_a_node_that_says_nothing_takes_no_part(generic: str):
    said = [claim(end, "affects", generic, sign=1) for end in (SILICON, MODULE)] if generic != "company:x" else []
    assert pairs_of(*said) == {}


def test_a_listed_company_of_a_generic_name_takes_part():
    assert "机器人" not in tables().generic
    assert pairs_of(claim("sec:000000.SZ", "supplies", LONGI))


def test_a_large_bucket_counts_less_each():
    """Forty products of one company: each link counts sqrt(20 / 40), and the company's degree weighs on all."""
    many = pairs_of(*(claim(LONGI, "produces", f"product:件{number}") for number in range(40)))
    one = pairs_of(claim(LONGI, "produces", "product:件0"))
    alone = one["product:件0", LONGI]
    assert many["product:件0", LONGI] == pytest.approx(alone * (20 / 40) ** 0.5 / 40**0.25)


def test_a_hub_is_damped():
    lonely = pairs_of(claim(LONGI, "produces", MODULE))[MODULE, LONGI]
    hub = pairs_of(*(claim(company, "produces", MODULE) for company in (LONGI, TONGWEI, SUNGROW, "org:甲")))
    assert len(hub) == 4
    assert hub[MODULE, LONGI] == pytest.approx(lonely / 4**0.25)
