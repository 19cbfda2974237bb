from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from kg.errors import UnknownName
from kg.model import Polarity
from kg.period import Period, year
from kg.query.browse.facts import FactFilter, FactOrder, FactsAnswer, TooManyDetails, find_facts
from kg.query.session import QuerySession
from tests.kg.query.world import LONGI, MARGIN_2023, SILICON, TONGWEI, claim, filled, named, paper, solar

PARENT = "org:某集团"


def found(view: Any, *, after: str = "", limit: int = 1000, min_confidence: float = 0, **wanted: Any) -> FactsAnswer:
    session = QuerySession(view, min_confidence=min_confidence)
    order = lambda: FactOrder(session.graph)  # noqa: E731
    return find_facts(session, FactFilter(**wanted), order, after=after, limit=limit)


def sentences(answer: FactsAnswer) -> set[str]:
    return {row.citations[0].quote for row in answer.facts}


def test_every_live_fact_is_listed_once_in_order_of_ids():
    view = filled(solar()).view()
    listed = [row.fact.id for row in found(view).facts]
    assert listed == sorted(fact.id for fact in view.facts())
    paged, after = [], ""
    while after or not paged:
        page = found(view, after=after, limit=3)
        paged += [row.fact.id for row in page.facts]
        after = page.next
        if not after:
            break
    assert paged == listed
    assert found(view, name="隆基绿能", limit=2).next
    assert not found(view, name="隆基绿能", limit=len(found(view, name="隆基绿能").facts)).next


def test_the_filter_by_name_agrees_with_the_filter_of_the_whole_base():
    view = filled(solar()).view()
    for wanted in (
        {"relations": ("produces", "supplies")},
        {"kinds": ("product",)},
        {"during": year(2023)},
        {"during": Period(date(2024, 6, 1), None)},
        {"publisher": "示例证券乙"},
    ):
        whole = {row.fact.id for row in found(view, **wanted).facts if LONGI in {row.fact.subject, row.fact.object}}
        assert whole == {row.fact.id for row in found(view, name="隆基绿能", **wanted).facts}, wanted


def test_conditions():
    view = filled(solar()).view()
    assert sentences(found(view, publisher="示例证券丙")) == {
        "补贴退坡压低组件毛利率。",
        "示例证券丙给予隆基绿能买入评级。",
    }
    assert "隆基绿能2023年毛利率为18.3%。" in sentences(found(view, during=year(2023)))
    row = next(row for row in found(view, relations=("reports",)).facts)
    assert (row.subject.name, row.object.name, row.confidence, row.independent_sources) == ("隆基绿能", "毛利率", 1, 1)
    assert row.fact.value == MARGIN_2023.value
    assert found(view, ids=(row.fact.id, "fact:none")).facts == (row,)
    assert found(view, min_confidence=1.01).facts == ()
    with pytest.raises(UnknownName):
        found(view, name="无此名")


def test_denials_and_superseded_facts_of_a_name():
    group, other = named(PARENT), "org:另一集团"
    denied = claim(TONGWEI, "produces", SILICON, polarity=Polarity.NEGATIVE)
    said = (
        paper(1, "2024-01-01", ("隆基绿能是某集团的子公司。", claim(LONGI, "subsidiary_of", group.id))),
        paper(2, "2024-02-01", ("隆基绿能是另一集团的子公司。", claim(LONGI, "subsidiary_of", other))),
        paper(3, "2024-03-01", ("通威股份不生产硅料。", denied)),
    )
    view = filled(said).view()
    assert {row.fact.object for row in found(view, name=LONGI).facts} == {other}
    assert {row.fact.object for row in found(view, name=LONGI, superseded=True).facts} == {group.id, other}
    assert [row.fact.polarity for row in found(view, name=TONGWEI).facts] == [Polarity.NEGATIVE]
    with pytest.raises(TooManyDetails):
        found(view, superseded=True)
