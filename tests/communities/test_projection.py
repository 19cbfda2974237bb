from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from communities.projection import SHARES, project
from kg.graph.snapshot import Snapshot
from kg.relations import vocabulary
from tests.kg.query.world import LONGI, MARGIN, MODULE, PRICE, SILICON, SUNGROW, TONGWEI, claim, named, paper, seen

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
    assert set(SHARES) == set(vocabulary().relations)


def test_nothing_projects_to_nothing():
    assert pairs_of() == {}
    assert pairs_of(extra=(LONGI,)) == {}


def test_a_pair_weighs_what_its_edges_weigh_together():
    both = (claim(TONGWEI, "supplies", LONGI), claim(LONGI, "partners_with", TONGWEI))
    words = vocabulary()
    expected = words["supplies"].weight * SHARES["supplies"] + words["partners_with"].weight * SHARES["partners_with"]
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


def test_an_indicator_is_tied_to_what_it_is_about():
    assert set(pairs_of(extra=(PRICE, SILICON, MARGIN, MODULE))) == {(PRICE, SILICON), (MARGIN, MODULE)}


def test_a_hub_is_damped():
    lonely = pairs_of(claim(LONGI, "produces", MODULE))[MODULE, LONGI]
    hub = pairs_of(*(claim(company, "produces", MODULE) for company in (LONGI, TONGWEI, SUNGROW, "org:甲")))
    assert len(hub) == 4
    assert hub[MODULE, LONGI] == pytest.approx(lonely / 4**0.25)
