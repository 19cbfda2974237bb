"""What a composed summary says, from contents that the test makes."""

from __future__ import annotations

from datetime import date

from communities.roles import roles_of
from communities.summaries import changes, compose, title_of
from communities.theme_facts import Content
from kg.model import Fact, Modality, Value
from kg.period import year
from kg.query.session import QuerySession
from tests.kg.query.world import (
    CELL,
    COST,
    CUT,
    LONGI,
    MARGIN,
    MODULE,
    PRICE,
    SILICON,
    TONGWEI,
    WAFER,
    claim,
    moves,
    paper,
    seen,
)

DAY = date(2024, 6, 1)


def content_of(*facts: Fact) -> tuple[QuerySession, Content]:
    """Return a content of exactly these facts, in their order."""
    view = seen(paper(1, "2024-01-01", *((f"第{n}句。", fact) for n, fact in enumerate(facts))))
    session = QuerySession(view)
    by_claim = {(fact.subject, fact.relation, fact.object, fact.sign, fact.modality): fact for fact in view.facts()}
    said = [by_claim[fact.subject, fact.relation, fact.object, fact.sign, fact.modality] for fact in facts]
    linked = tuple(fact for fact in said if fact.relation != "reports")
    opposed = tuple(
        (one, other)
        for one in said
        for other in said
        if (one.subject, one.object) == (other.subject, other.object) and one.sign > 0 > other.sign
    )
    members = tuple(dict.fromkeys(end for fact in said for end in (fact.subject, fact.object)))
    figures = tuple(fact for fact in said if fact.relation == "reports")
    return session, Content(members, linked, figures, opposed, tuple(said[:2]), len(said), 2, 1, 1)


def lines_of(*facts: Fact, day: date = DAY) -> list[str]:
    session, content = content_of(*facts)
    return [line.text for line in compose(session, content, title="题", day=day).lines]


CHAIN = (
    claim(SILICON, "upstream_of", WAFER),
    claim(WAFER, "upstream_of", CELL),
    claim(CELL, "upstream_of", MODULE),
    claim(TONGWEI, "produces", SILICON),
    claim(LONGI, "produces", MODULE),
)


def test_members_stand_by_the_part_they_play():
    lines = lines_of(*CHAIN, moves(CUT, PRICE, 0, 1), moves(PRICE, COST, -1, -1))
    assert "上游：硅料、通威股份" in lines
    assert "中游：硅片、电池片" in lines
    assert "下游：组件、隆基绿能" in lines
    assert "驱动因素：限产、硅料价格" in lines
    assert "受影响：电池片成本" in lines


def test_a_rumour_or_a_condition_gives_no_place_on_the_chain():
    rumour = claim(SILICON, "upstream_of", WAFER, modality=Modality.RUMOURED)
    assert roles_of([rumour]) == {}
    assert not any(line.startswith(("上游", "产业链", "相关")) for line in lines_of(rumour))


def test_a_supplier_stands_upstream_of_its_customer_and_a_user_below_what_it_uses():
    placed = roles_of([claim(TONGWEI, "supplies", LONGI), claim("org:甲", "uses", SILICON)])
    assert {end: role for end, (role, _) in placed.items()} == {
        TONGWEI: "upstream",
        LONGI: "downstream",
        SILICON: "upstream",
        "org:甲": "downstream",
    }


def test_opposite_signs_are_set_side_by_side_and_cite_both():
    session, content = content_of(moves(PRICE, COST, -1, -1), moves(PRICE, COST, 1, -1))
    (line,) = [line for line in compose(session, content, title="题", day=DAY).lines if line.text.startswith("分歧：")]
    assert "另有：" in line.text
    assert set(line.facts) == {fact.id for fact in content.facts}


def test_a_forecast_is_open_until_its_period_is_over():
    ahead = moves(PRICE, MARGIN, 1, -1, modality=Modality.FORECAST, valid=year(2024))
    assert any(line.startswith("展望：") for line in lines_of(ahead, day=date(2024, 12, 31)))
    assert not any(line.startswith("展望：") for line in lines_of(ahead, day=date(2025, 1, 1)))
    assert not any(line.startswith("因果：") for line in lines_of(ahead))


def test_numbers_are_reported_as_data():
    reported = claim("industry:光伏", "reports", PRICE, value=Value(40.0, "元/千克"), valid=year(2024))
    assert any(line.startswith("数据：") and "40元/千克" in line for line in lines_of(reported))


def test_a_name_stays_until_most_of_what_it_names_has_gone():
    session, _ = content_of(*CHAIN)
    assert title_of(session, [SILICON, WAFER, CELL]) == "硅料·硅片·电池片"
    assert title_of(session, [MODULE, CELL, WAFER], "硅料·硅片·电池片") == "硅料·硅片·电池片"
    assert title_of(session, [MODULE, CELL, TONGWEI], "硅料·硅片·电池片") == "组件·电池片·通威股份"


def test_a_summary_that_says_the_same_has_the_same_id_and_another_has_another():
    session, content = content_of(*CHAIN)
    one = compose(session, content, title="题", day=DAY)
    assert compose(session, content, title="题", day=date(2024, 7, 1)) == one
    assert compose(session, content, title="别的题", day=DAY).id != one.id


def test_changes_tell_what_is_new_but_not_in_the_first_week():
    session, content = content_of(*CHAIN)
    assert changes(session, content, first=True) == ()
    head, *reported = changes(session, content, first=False)
    assert head.text == "新增 2 条事实"
    assert [line.facts for line in reported] == [(fact.id,) for fact in content.fresh]
