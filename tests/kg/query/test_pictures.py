"""Pictures of answers: what is shown where; that the explorer draws the same is tested in tests/viz/explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kg.query.pictures import chain_picture, factor_picture, places_of, relate_picture
from kg.query.session import QuerySession
from kg.query.walks.chain import chain
from kg.query.walks.impact import causes, impact
from kg.query.walks.relate import relate
from tests.kg.query.world import CUT, LONGI, MODULE, PRICE, PV, SILICON, SUNGROW, TONGWEI, claim, paper, seen, solar

if TYPE_CHECKING:
    from kg.query.pictures import Picture

INVERTER = "product:逆变器"


def _columns(picture: Picture) -> dict[tuple[int, str], list[list[str]]]:
    return {
        (column.step, column.title): [[item.entity.id for item in section.items] for section in column.sections]
        for column in picture.columns
    }


def _steps(picture: Picture) -> dict[str, int]:
    return {
        identity: step for (step, _), found in _columns(picture).items() for section in found for identity in section
    }


def test_a_stage_without_a_stated_position_stands_in_a_column_of_its_own():
    said = (
        ("逆变器属于光伏行业。", claim(INVERTER, "belongs_to", PV)),
        ("阳光电源生产逆变器。", claim(SUNGROW, "produces", INVERTER)),
    )
    picture = chain_picture(chain(seen(*solar(), paper(9, "2025-02-01", *said)), PV))
    columns = _columns(picture)
    last = max(step for step, _ in columns)
    assert columns[last, "unplaced"] == [[INVERTER, SUNGROW]]
    assert _steps(picture)[INVERTER] == last


def test_companies_are_inset_under_their_stage():
    picture = chain_picture(chain(seen(*solar()), SILICON))
    (section,) = [each for column in picture.columns for each in column.sections if each.id == f"stage:{SILICON}"]
    assert [(item.entity.id, item.topic, item.inset) for item in section.items] == [
        (SILICON, True, False),
        (TONGWEI, False, True),
    ]


def test_what_moves_a_factor_is_left_of_it_and_who_it_moves_is_right():
    session = QuerySession(seen(*solar()))
    picture = factor_picture(causes(session, PRICE), impact(session, PRICE))
    step = _steps(picture)
    assert step[CUT] < step[PRICE] == 0 < step[LONGI]
    assert all(path.links for path in picture.paths)
    assert {path.nodes[0] for path in picture.paths} == {CUT, PRICE}


@pytest.mark.parametrize("direction", [1, -1])
def test_a_factor_has_its_own_move_and_only_what_is_inferred_to_move_has_a_basis(direction):
    session = QuerySession(seen(*solar()))
    picture = factor_picture(causes(session, PRICE, direction), impact(session, PRICE, direction))
    items = [item for column in picture.columns for section in column.sections for item in section.items]
    (topic,) = [item for item in items if item.topic]
    assert (topic.entity.id, topic.move, topic.basis) == (PRICE, direction, "")
    assert [item.basis for item in items if not item.move] == [""] * sum(not item.move for item in items)
    (thing,) = [item for item in items if item.entity.id == SILICON]
    assert (thing.move, thing.basis) == (direction, "inferred")


def test_every_path_runs_from_left_to_right():
    picture = relate_picture(relate(seen(*solar()), TONGWEI, LONGI))
    step = _steps(picture)
    assert len(picture.paths) > 1
    for path in picture.paths:
        assert (step[path.nodes[0]], step[path.nodes[-1]]) == (0, max(step.values()))
    assert picture.topics == (TONGWEI, LONGI)


def test_links_lead_only_to_what_is_shown():
    picture = chain_picture(chain(seen(*solar()), MODULE))
    shown = _steps(picture).keys()
    assert {end for link in picture.links for end in (link.source, link.target)} <= shown


def test_suppliers_are_left_customers_right_owners_and_rivals_in_the_middle():
    assert places_of("supplies") == ((-1, "suppliers"), (1, "customers"))
    assert places_of("acquires") == ((0, "owners"), (1, "holdings"))
    assert places_of("located_in")[1] == (0, "regions")
    assert places_of("competes_with")[0] == (0, "rivals")
    assert places_of("unheard_of")[0] == (0, "others")
