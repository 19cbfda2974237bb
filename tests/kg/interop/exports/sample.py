"""A small base with everything an export must carry: signs, periods, values, denials, plans, themes, hostile names."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kg.ids import entity_id
from kg.interop.exports.formats import export
from kg.model import Alias, Community, Entity, Kind, Run, Summary, SummaryLine, Value
from kg.period import quarter, year
from tests.contracts.readings import BYD, CATL, LITHIUM, MARGIN, day, denied, fact, planned, reading
from tests.contracts.reference import MemoryStore

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from kg.model import Fact

PRICE = "indicator:碳酸锂价格"
HOSTILE = (
    '=HYPERLINK("http://x","y")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "<script>alert(1)</script>&\"'",
    "池\x1f锂\x00\x0b",
    '"; MATCH (n) DETACH DELETE n //',
    "甲\n乙,丙\t丁",
)
HOSTILE_IDS = tuple(entity_id(Kind.PRODUCT, name) for name in HOSTILE)
CAUSE = fact(PRICE, "affects", MARGIN, sign=-1, valid=quarter(2024, 1), qualifiers=(("cause_direction", "down"),))
SUPPLY = fact(CATL, "supplies", BYD, qualifiers=(("product", "动力电池"),))
MEASURE = fact(CATL, "reports", MARGIN, value=Value(22.5, "%", high=23.0), valid=year(2023))
PLAN = planned(fact(BYD, "produces", LITHIUM))
DENIAL = denied(fact(CATL, "produces", LITHIUM))
_ENTITIES = (
    Entity(CATL, Kind.COMPANY, "宁德时代", (Alias("宁王", None, "甲"),), ("300750.SZ",)),
    Entity(BYD, Kind.COMPANY, "比亚迪", codes=("002594.SZ",)),
    Entity(PRICE, Kind.INDICATOR, "碳酸锂价格", about=LITHIUM),
    Entity(LITHIUM, Kind.PRODUCT, "碳酸锂"),
    Entity("industry:碳酸锂", Kind.INDUSTRY, "碳酸锂"),
)


def base() -> MemoryStore:
    """Return three documents of days 1, 3 and 9, with one theme."""
    store = MemoryStore()
    hostile = [fact(CATL, "produces", identity) for identity in HOSTILE_IDS]
    named = tuple(Entity(one, Kind.PRODUCT, name) for one, name in zip(HOSTILE_IDS, HOSTILE, strict=True))
    text = "宁德时代供应比亚迪动力电池，碳酸锂价格下跌，毛利率回升至22.5%。"
    with store.writer() as writer:
        writer.write(reading(1, 1, CAUSE, SUPPLY, entities=_ENTITIES, text=text))
        writer.write(reading(2, 3, SUPPLY, MEASURE, PLAN, DENIAL, text=text, speaker="示例证券乙", entities=_ENTITIES))
        writer.write(reading(3, 9, *hostile, fact(LITHIUM, "belongs_to", "industry:碳酸锂"), text=text, entities=named))
        supply = next(each for each in store.view().facts(relation="supplies"))
        lines = (SummaryLine("宁德时代供应比亚迪。", (supply.id,)),)
        summary = Summary("s1", "锂电池", lines)
        theme = Community("theme:1", 0, "", (BYD, CATL, LITHIUM, PRICE), summary)
        part = Community("theme:2", 1, "theme:1", (BYD, CATL), replace(summary, id="s2"))
        recorded = datetime(2026, 1, 2, tzinfo=UTC)
        writer.publish(Run("r1", day(10), communities=(theme, part), recorded_at=recorded))
    return store


def exported(layout: str, target: Path, *, as_of: date | None = None) -> Path:
    """Write the base in a format and return its place."""
    with base().reader(as_of=as_of) as view:
        export(view, layout, target)
    return target


def whole_id(claim: Fact) -> str:
    """Return the id that the base gives a claim."""
    return next(
        each.id
        for each in base().view().facts(subject=claim.subject, relation=claim.relation, object=claim.object)
        if each.polarity is claim.polarity
    )
