from __future__ import annotations

from datetime import date

import pytest

from kg.errors import UnknownName
from kg.model import Polarity
from kg.query.browse.diff import DiffAnswer, diff
from kg.query.session import QuerySession
from tests.kg.query.world import LONGI, MODULE, PRICE, claim, filled, paper, seen, solar


def changed(answer: DiffAnswer) -> set[tuple[str, str, str, int]]:
    return {(each.change, each.subject.name, each.object.name, each.link.sign) for each in answer.changes}


def test_links_that_appear_turn_or_are_contradicted():
    session = QuerySession(filled(solar()).view())
    answer = diff(session, date(2024, 5, 1))
    assert changed(answer) == {
        ("appeared", "补贴退坡", "组件毛利率", -1),
        ("appeared", "示例证券丙", "隆基绿能", 0),
        ("appeared", "隆基绿能", "毛利率", 0),
        ("turned", "硅料价格", "电池片成本", -1),
        ("contradicted", "硅料价格", "电池片成本", 1),
    }
    assert answer.omitted == 0
    turned = next(each for each in answer.changes if each.change == "turned")
    assert turned.link.citations[0].quote == "硅料价格下跌，电池片成本反而上升。"
    assert diff(session, date(2025, 1, 15)).changes == ()


def test_a_link_vanishes_when_it_is_denied_or_replaced():
    denied = claim(LONGI, "produces", MODULE, polarity=Polarity.NEGATIVE)
    session = QuerySession(seen(*solar(), paper(9, "2025-06-01", ("隆基绿能不再生产组件。", denied))))
    (gone,) = diff(session, date(2025, 5, 1)).changes
    assert (gone.change, gone.subject.id, gone.object.id) == ("vanished", LONGI, MODULE)
    assert gone.link.citations[0].quote == "隆基绿能生产组件。"


def test_the_change_is_seen_from_the_day_of_the_session():
    session = QuerySession(filled(solar()).view(as_of=date(2024, 12, 31)))
    assert not any(each.subject.name == "补贴退坡" for each in diff(session, date(2024, 5, 1)).changes)


def test_a_name_limits_the_changes():
    session = QuerySession(filled(solar()).view())
    answer = diff(session, date(2024, 5, 1), name="硅料价格")
    assert answer.entity is not None
    assert answer.entity.id == PRICE
    assert {each.change for each in answer.changes} == {"turned", "contradicted"}
    assert len(diff(session, date(2024, 5, 1), limit=1).changes) == 1
    with pytest.raises(UnknownName):
        diff(session, date(2024, 5, 1), name="无此名")
