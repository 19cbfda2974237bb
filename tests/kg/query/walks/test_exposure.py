from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from kg.model import Modality
from kg.query.resolve import factor
from kg.query.session import QuerySession
from kg.query.walks.impact import impact
from tests.kg.query.world import (
    CUT,
    LONGI,
    MARGIN,
    MODULE,
    PRICE,
    SILICON,
    SUNGROW,
    TONGWEI,
    WAFER,
    claim,
    moves,
    paper,
    seen,
)

if TYPE_CHECKING:
    from kg.model import Fact, Reading
    from kg.query.answers import Party


def parties(*facts: Fact, direction: int = 1, name: str = "硅料价格") -> dict[str, Party]:
    said = paper(1, "2024-01-01", *((f"第{n}句。", fact) for n, fact in enumerate(facts)))
    return {party.entity.id: party for party in impact(seen(said), name, direction).parties}


@pytest.mark.parametrize("direction", [1, -1])
def test_makers_gain_with_the_price_and_buyers_pay(direction: int):
    found = parties(claim(TONGWEI, "produces", SILICON), claim(SILICON, "upstream_of", WAFER), direction=direction)
    assert {party: found[party].sign for party in found} == {TONGWEI: direction, WAFER: -direction}
    assert {(each.basis, each.reason) for each in found.values()} == {
        ("inferred", "生产硅料"),
        ("inferred", "采购硅料"),
    }


def test_a_maker_loses_with_a_supply_that_is_not_its_own():
    supply = claim(TONGWEI, "produces", SILICON), moves("indicator:硅料供给", PRICE, 1, -1)
    assert parties(*supply, name="硅料供给")[TONGWEI].sign == -1


def test_who_makes_and_buys_is_left_out():
    """A maker of 硅片 that makes 硅料 too feeds itself: whether it gains is not known from its roles."""
    both = claim(LONGI, "produces", SILICON), claim(LONGI, "produces", WAFER), claim(SILICON, "upstream_of", WAFER)
    assert LONGI not in parties(*both)


def test_what_a_sentence_states_beats_the_role():
    """通威股份 makes 硅料, but here a fall is good for it: the sentence leads."""
    found = parties(claim(TONGWEI, "produces", SILICON), moves(PRICE, TONGWEI, -1, 1), direction=-1)
    assert (found[TONGWEI].sign, found[TONGWEI].basis) == (1, "stated")


def test_what_is_stated_of_the_opposite_move_is_turned_round_and_marked():
    found = parties(moves(PRICE, TONGWEI, 1, 1), direction=-1)
    assert (found[TONGWEI].sign, found[TONGWEI].basis) == (-1, "mirrored")
    found = parties(
        moves(PRICE, TONGWEI, 1, 1), moves(PRICE, TONGWEI, -1, -1, modality=Modality.FORECAST), direction=-1
    )
    assert found[TONGWEI].basis == "stated"


def test_a_burden_turns_the_sign():
    cost, margin = parties(moves(PRICE, "indicator:电池片成本", 1, 1)), parties(moves(PRICE, MARGIN, 1, -1))
    assert (cost["product:电池片"].sign, margin[MODULE].sign) == (-1, -1)


def unsure(fact: Fact, confidence: float = 0.5) -> Reading:
    """Return a document that states a fact which was read with little confidence."""
    said = paper(9, "2024-01-02", ("不确定的一句。", fact))
    facts = tuple(replace(each, evidence=(replace(each.evidence[0], confidence=confidence),)) for each in said.facts)
    return replace(said, facts=facts)


def test_whom_only_weak_facts_name_stands_last_and_is_marked():
    sure = paper(1, "2024-01-01", ("硅料涨价利好通威股份。", moves(PRICE, TONGWEI, 1, 1)))
    view = seen(sure, unsure(moves(PRICE, SUNGROW, 1, -1)))
    assert [(party.entity.id, party.sign, party.weak) for party in impact(view, "硅料价格").parties] == [
        (TONGWEI, 1, False),
        (SUNGROW, -1, True),
    ]
    assert [party.entity.id for party in impact(QuerySession(view, weak=False), "硅料价格").parties] == [TONGWEI]


@pytest.mark.parametrize(("sign", "shown"), [(1, [("stated", False)]), (-1, [])])
def test_a_role_makes_a_weak_statement_sure_or_neither_is_shown(sign: int, shown: list[tuple[str, bool]]):
    maker = paper(1, "2024-01-01", ("通威股份生产硅料。", claim(TONGWEI, "produces", SILICON)))
    view = seen(maker, unsure(moves(PRICE, TONGWEI, 1, sign)))
    firms = [party for party in impact(view, "硅料价格").parties if party.entity.id == TONGWEI]
    assert [(party.basis, party.weak) for party in firms] == shown


def test_a_trade_gains_by_its_own_price_with_its_makers():
    view = seen(paper(1, "2024-01-01", ("通威股份生产硅料。", claim(TONGWEI, "produces", SILICON))))
    parties = {party.entity.id: party for party in impact(view, "硅料").parties}
    assert SILICON not in parties  # the thing itself is asked for
    rise = paper(2, "2024-01-02", ("硅料涨价推高组件成本。", moves(PRICE, "indicator:组件成本", 1, 1)))
    priced = seen(paper(1, "2024-01-01", ("通威股份生产硅料。", claim(TONGWEI, "produces", SILICON))), rise)
    own = {party.entity.id: party for party in impact(priced, "硅料价格", -1).parties}[SILICON]
    assert (own.basis, own.sign, own.reason) == ("inferred", -1, "自身量价")
    assert own.citations


def test_a_happening_says_nothing_of_its_absence():
    assert not parties(moves(CUT, TONGWEI, 0, 1), name="限产", direction=-1)
    assert parties(moves(CUT, TONGWEI, 0, 1), name="限产")[TONGWEI].sign == 1


def test_a_move_has_several_names():
    """人民币升值 is 人民币 rising and the opposite of 人民币贬值; 利率 falls with 降息."""
    rising = moves("indicator:人民币", TONGWEI, 1, -1), moves("event:人民币升值", SUNGROW, 0, -1)
    assert {party: each.sign for party, each in parties(*rising, name="人民币升值").items()} == {
        TONGWEI: -1,
        SUNGROW: -1,
    }
    falling = parties(
        moves("indicator:利率", TONGWEI, 1, -1), moves("policy:降息", SUNGROW, 0, 1), name="利率", direction=-1
    )
    assert {party: each.sign for party, each in falling.items()} == {TONGWEI: 1, SUNGROW: 1}


def test_a_measure_without_an_owner_is_of_the_trade_it_names():
    trade = [claim(f"org:甲{n}公司", "operates", "industry:火电") for n in range(3)]
    found = parties(moves(PRICE, "indicator:火电企业盈利空间", 1, -1), *trade)
    assert found["industry:火电"].sign == -1


def test_a_margin_is_no_kind_of_interest():
    assert TONGWEI not in parties(
        moves("indicator:利率", SUNGROW, 1, 1), moves("indicator:组件毛利率", TONGWEI, 1, 1), name="利率"
    )


def test_the_latest_view_leads_and_the_other_is_kept():
    view = seen(
        paper(1, "2023-01-01", ("硅料跌价利好隆基绿能。", moves(PRICE, LONGI, -1, 1))),
        paper(2, "2024-06-01", ("硅料跌价拖累隆基绿能。", moves(PRICE, LONGI, -1, -1))),
    )
    (now,) = impact(view, "硅料价格", -1).parties
    assert (now.sign, now.contested, now.against[0].quote) == (-1, True, "硅料跌价利好隆基绿能。")
    (then,) = impact(QuerySession(view).earlier(now.against[0].published_on), "硅料价格", -1).parties
    assert (then.sign, then.contested) == (1, False)  # as of a day, what came later is not known


def test_one_stated_effect_is_followed_to_its_makers_and_no_further():
    facts = moves(CUT, PRICE, 0, 1), claim(TONGWEI, "produces", SILICON)
    found = parties(*facts, name="限产")
    assert (found[TONGWEI].sign, found[TONGWEI].reason) == (1, "生产硅料（经硅料价格）")
    demand = moves(PRICE, MARGIN, 1, -1), moves(MARGIN, "indicator:硅料需求", -1, -1)
    found = parties(*demand, claim(TONGWEI, "produces", SILICON))
    assert found[TONGWEI].sign == 1  # price → margin → demand → maker is no way back to the maker


def test_an_input_price_that_is_passed_on_says_nothing_of_who_sells():
    """A cell that costs more because its silicon does earns its maker no more."""
    found = parties(moves(PRICE, "indicator:电池片价格", 1, 1), claim(SUNGROW, "produces", "product:电池片"))
    assert SUNGROW not in found


def test_what_nobody_is_sure_of_is_no_party():
    assert not parties(moves(PRICE, TONGWEI, 1, 1, modality=Modality.RUMOURED))
    assert not parties(claim(PRICE, "affects", TONGWEI))


@pytest.mark.parametrize(
    ("said", "meant", "sign"),
    [("硅料价", "硅料价格", 1), ("硅料价格下跌", "硅料价格", -1), ("硅料涨价", "硅料价格", 1)],
)
def test_a_factor_is_found_as_people_say_it(said: str, meant: str, sign: int):
    session = QuerySession(seen(paper(1, "2024-01-01", ("限产推高硅料价格。", moves(CUT, PRICE, 0, 1)))))
    found = factor(session, said)
    assert ([entity.name for entity in found.entities], found.sign) == ([meant], sign)


def test_kinds_of_a_factor_speak_for_it():
    """云南限产 is 限产 and 沪硅料价格 is 硅料价格; 取消限产 and 高纯硅料价格 are something else."""
    said = [("event:云南限产", 1), ("event:取消限产", -1)]
    facts = [moves(event, f"org:{event}公司", 0, sign) for event, sign in said]
    facts += [moves("indicator:沪硅料价格", TONGWEI, 1, 1), moves("indicator:高纯硅料价格", LONGI, 1, 1)]
    facts += [moves(CUT, SUNGROW, 0, 1), moves(PRICE, SUNGROW, 1, 1)]
    view = seen(paper(1, "2024-01-01", *((f"第{n}句。", fact) for n, fact in enumerate(facts))))
    assert {party.entity.id for party in impact(view, "限产").parties} == {SUNGROW, "org:event:云南限产公司"}
    assert {party.entity.id for party in impact(view, "硅料价格").parties} == {SUNGROW, TONGWEI}


def test_a_scope_narrows_an_event_that_is_wider():
    """What is stated of 限产 where 云南 is named answers for 云南限产, the rest does not."""
    facts = moves(CUT, LONGI, 0, -1), moves(CUT, TONGWEI, 0, 1)
    view = seen(paper(1, "2024-01-01", ("云南限产拖累隆基绿能。", facts[0]), ("四川限产利好通威股份。", facts[1])))
    answer = impact(view, "云南限产")
    assert [(party.entity.id, party.sign) for party in answer.parties] == [(LONGI, -1)]


def test_all_names_of_a_topic_have_its_makers():
    """Who 布局 硅料行业 gains with the price of 硅料 as who makes 硅料 does; a list of holdings names no maker."""
    found = parties(claim(TONGWEI, "produces", SILICON), claim("org:甲公司", "operates", "industry:硅料行业"))
    assert {party: each.sign for party, each in found.items()} == {TONGWEI: 1, "org:甲公司": 1}
    said = paper(1, "2024-01-01", ("基金重仓硅料行业的甲公司。", claim("org:甲公司", "operates", "industry:硅料行业")))
    price = paper(2, "2024-01-02", ("硅料价格上涨推高成本。", moves(PRICE, "indicator:硅片成本", 1, 1)))
    assert "org:甲公司" not in {party.entity.id for party in impact(seen(said, price), "硅料价格").parties}


def test_many_makers_hide_no_buyer():
    makers = [claim(f"org:甲{n}公司", "produces", SILICON) for n in range(30)]
    found = parties(*makers, claim(SILICON, "upstream_of", WAFER))
    assert WAFER in found
    assert len(found) == 21
