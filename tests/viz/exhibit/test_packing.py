"""What is packed shows every day as the store's own view of that day does: nothing early, nothing closed too soon."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

from kg.model import Alias, Entity, Kind, Modality, Polarity, Value
from kg.period import year
from tests.kg.query.world import LONGI, MARGIN_2023, MODULE, TONGWEI, claim, filled, paper, solar
from viz.exhibit.packing import FactHistories, Packing, day_number, short_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kg.model import Fact, Reading

OLD, NEW = "sec:603501.SH", "韦尔股份"


def _named(name: str, *aliases: str) -> Entity:
    return Entity(OLD, Kind.COMPANY, name, tuple(map(Alias, aliases)), codes=("603501.SH",))


def _figure(number: float, **more: object) -> Fact:
    return replace(MARGIN_2023, value=Value(number, "%"), **more)


def _changing() -> tuple[Reading, ...]:
    """A house that revises a figure and goes back, houses that disagree, a parent, a denial, copies, a new name."""
    parent = claim(TONGWEI, "subsidiary_of", "org:甲集团")
    other = claim(TONGWEI, "subsidiary_of", "org:乙集团")
    supplies = claim(TONGWEI, "supplies", LONGI)
    end = replace(supplies, polarity=Polarity.NEGATIVE)
    return (
        *solar(),
        paper(20, "2024-03-01", ("毛利率18。", _figure(18)), ("属甲集团。", parent), speaker="示例证券乙"),
        paper(21, "2024-03-05", ("毛利率19。", _figure(19)), speaker="示例证券乙"),
        paper(22, "2024-03-09", ("毛利率18。", _figure(18)), ("供应隆基。", supplies), speaker="示例证券乙"),
        paper(23, "2024-04-01", ("毛利率25。", _figure(25)), ("属乙集团。", other), speaker="示例证券丙"),
        paper(24, "2024-04-02", ("不再供应隆基。", end), ("预计25。", _figure(25, modality=Modality.FORECAST))),
        paper(25, "2024-04-03", ("供应隆基。", supplies), copies=("doc:22",)),
        paper(26, "2024-05-01", ("生产组件。", claim(OLD, "produces", MODULE)), extra=(_named(NEW),)),
        paper(27, "2024-06-01", ("豪威生产组件。", claim(OLD, "produces", MODULE)), extra=(_named("豪威集团", NEW),)),
    )


@pytest.fixture(scope="module")
def store():
    return filled(_changing())


@pytest.fixture(scope="module")
def packing(store):
    return Packing(store, store.view())


def _at(history: Iterable[tuple[int, str]], day: date) -> str | None:
    held = [what for since, what in history if since <= day_number(day)]
    return held[-1] if held else None


def test_every_day_shows_what_its_view_shows(store, packing):
    """The browser takes the evidence until the day and the last entry of each history; the store has its own rules."""
    facts = list(store.view().facts())
    part = packing.part(facts)
    documents, copies = part["documents"]["id"], part["copies"]
    for day in (packing.days[0] + timedelta(days=step) for step in range(160)):
        view = store.view(as_of=day)
        expected = {
            short_id(fact.id): (short_id(fact.superseded_by), len(fact.evidence), fact.witnesses)
            for fact in view.facts()
        }
        packed = {}
        for row, evidence in zip(part["facts"], part["evidence"], strict=True):
            visible = [documents[item[0]] for item in evidence if part["documents"]["day"][item[0]] <= day_number(day)]
            supersessions = row[10] if len(row) > 10 else None
            sources = {_at(copies.get(document, ()), day) or document for document in visible}
            if visible:
                packed[row[0]] = (_at(supersessions or (), day) or "", len(visible), len(sources))
        assert packed == expected, day


def test_a_figure_that_was_revised_and_restated_is_closed_only_between(store, packing):
    histories = FactHistories(list(store.view().facts()), packing.words)
    (supersessions,) = (
        supersessions
        for identity, supersessions in histories.supersessions.items()
        for fact in store.view().facts(ids=[identity])
        if fact.value == Value(18, "%")
    )
    assert [(day, bool(by)) for day, by in supersessions[:2]] == [
        (day_number(date(2024, 3, 5)), True),
        (day_number(date(2024, 3, 9)), False),
    ]


def test_a_contradiction_is_packed_for_both_sides(store, packing):
    facts = {short_id(fact.id): fact for fact in store.view().facts()}
    rivals = {
        short_id(one): others for one, others in FactHistories(list(facts.values()), packing.words).rivals.items()
    }
    numbers = {
        (facts[one].value.number, facts[other].value.number)
        for one, others in rivals.items()
        for other in others
        if facts[one].value
    }
    assert {(18.0, 25.0), (25.0, 18.0)} <= numbers


def test_a_listed_company_has_its_name_of_the_day(store, packing):
    part = packing.part(list(store.view().facts(subject=OLD)))
    assert part["entities"]["renamed"][OLD] == [
        (day_number(date(2024, 5, 1)), NEW),
        (day_number(date(2024, 6, 1)), "豪威集团"),
    ]


def test_records_around_an_entity_know_what_closes_them(packing):
    """A second parent closes the first, though it is not an end of it."""
    facts = packing.around(["org:甲集团"])
    histories = FactHistories(packing.with_rivals(facts), packing.words)
    assert [[day for day, _ in histories.supersessions[fact.id]] for fact in facts] == [[day_number(date(2024, 4, 1))]]


def test_a_part_holds_its_own_tables(packing):
    part = packing.part(packing.around([LONGI]))
    rows = range(len(part["entities"]["id"]))
    assert all(row[1] in rows and row[3] in rows for row in part["facts"])
    assert len(part["facts"]) == len(part["evidence"])
    assert all(column for column in (part["documents"]["title"], part["speakers"]))


def test_a_period_keeps_its_wording_and_its_days(packing):
    part = packing.part(packing.around([LONGI]))
    periods = [row[8] for row in part["facts"] if len(row) > 8 and row[8]]
    start, end = year(2023).start, year(2023).end
    assert ["2023", day_number(start), day_number(end)] in periods
