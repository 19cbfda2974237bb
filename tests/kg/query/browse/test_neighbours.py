from __future__ import annotations

from datetime import date

import pytest

from kg.errors import UnknownName, UnknownRelation
from kg.model import Modality, Polarity
from kg.query.browse.neighbours import NeighbourFilter, neighbours
from kg.query.session import QuerySession
from tests.kg.query.world import LONGI, PRICE, SILICON, SUNGROW, TONGWEI, claim, filled, paper, seen, solar


@pytest.fixture
def session() -> QuerySession:
    return QuerySession(filled(solar()).view(), min_confidence=0)


def test_a_neighbour_has_its_edges_with_days_and_sources(session: QuerySession):
    found = neighbours(session, "硅料价格")
    assert (found.entity.id, found.entity.kind, found.omitted, found.below) == (PRICE, "indicator", 0, 0)
    assert [node.name for node in found.nodes] == ["电池片成本", "限产"]
    together = next(edge for edge in found.edges if edge.sign == 1 and edge.source == PRICE)
    assert (together.direction, together.independent_sources, together.contested) == ("out", 2, True)
    assert (together.first_day, together.last_day) == (date(2024, 3, 1), date(2024, 6, 1))
    assert together.qualifiers == {"cause_direction": ("down",), "effect_direction": ("down",)}
    assert found.entity.degree == 3


def test_relation_direction_and_modality_filter(session: QuerySession):
    def names(**wanted: object) -> list[str]:
        return [node.name for node in neighbours(session, "隆基绿能", NeighbourFilter(**wanted)).nodes]  # type: ignore[arg-type]

    assert names(relations=("produces",)) == ["硅片", "组件"]
    assert names(relations=("supplies", "produces"), direction="in") == ["通威股份"]
    assert names(relations=("partners_with",), direction="in") == names(relations=("partners_with",), direction="out")
    assert names(modalities=("forecast",)) == []
    with pytest.raises(UnknownRelation, match="loves"):
        names(relations=("loves",))
    with pytest.raises(UnknownName):
        neighbours(session, "无此名")


def test_the_strongest_are_shown_and_the_others_counted(session: QuerySession):
    every = neighbours(session, "隆基绿能")
    first = neighbours(session, "隆基绿能", NeighbourFilter(limit=2))
    assert first.nodes == every.nodes[:2]
    assert first.omitted == len(every.nodes) - 2
    assert {edge.source for edge in first.edges} | {edge.target for edge in first.edges} == {
        LONGI,
        *(node.id for node in first.nodes),
    }


def test_what_is_filtered_out_makes_room_for_the_next():
    forecast = ("阳光电源或向隆基绿能供货。", claim(SUNGROW, "supplies", LONGI, modality=Modality.FORECAST))
    view = seen(*solar(), paper(9, "2025-02-01", forecast))
    found = neighbours(QuerySession(view), "隆基绿能", NeighbourFilter(modalities=("forecast",), limit=1))
    assert [node.id for node in found.nodes] == [SUNGROW]
    assert [edge.modality for edge in found.edges] == ["forecast"]


def test_a_denial_between_neighbours_is_an_edge_of_its_own():
    denied = ("通威股份否认生产硅料。", claim(TONGWEI, "produces", SILICON, polarity=Polarity.NEGATIVE))
    rumoured = claim(TONGWEI, "produces", SILICON, modality=Modality.RUMOURED)
    view = seen(paper(1, "2024-01-01", denied), paper(2, "2024-02-01", ("传通威股份生产硅料。", rumoured)))
    found = neighbours(QuerySession(view), "通威股份")
    assert {(edge.polarity, edge.modality) for edge in found.edges} >= {("negative", "asserted")}


def test_doubtful_facts_are_counted():
    session = QuerySession(filled(solar()).view(), min_confidence=1.01)
    found = neighbours(session, "隆基绿能")
    assert (found.nodes, found.edges) == ((), ())
    assert found.below > 0
