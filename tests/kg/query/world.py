"""A small world of 光伏, made by hand: every fact is read from one sentence of one dated document."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from kg.ids import chunk_id, fact_id
from kg.model import Chunk, Document, Entity, Evidence, Fact, Kind, Reading, Value
from kg.period import year
from tests.contracts.reference import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kg.store.port import Store, View

READ = datetime(2026, 1, 1, tzinfo=UTC)
_KINDS = {"sec": Kind.COMPANY, "org": Kind.COMPANY}
LONGI, TONGWEI, SUNGROW = "sec:601012.SH", "sec:600438.SH", "sec:300274.SZ"
_COMPANIES = {LONGI: "隆基绿能", TONGWEI: "通威股份", SUNGROW: "阳光电源"}
_ABOUT = {
    "indicator:硅料价格": "product:硅料",
    "indicator:硅料社会库存": "product:硅料",
    "indicator:组件毛利率": "product:组件",
    "indicator:电池片成本": "product:电池片",
    "indicator:组件需求": "product:组件",
}


def named(entity_id: str) -> Entity:
    """Return an entity of this world by its id."""
    prefix, _, rest = entity_id.partition(":")
    if entity_id in _COMPANIES:
        return Entity(entity_id, Kind.COMPANY, _COMPANIES[entity_id], codes=(rest,))
    kind = _KINDS.get(prefix) or Kind(prefix)
    return Entity(entity_id, kind, rest, about=_ABOUT.get(entity_id, ""))


def claim(subject: str, relation: str, object_: str, **stated: object) -> Fact:
    """Return a fact that nobody has said yet."""
    return Fact("", subject, relation, object_, **stated)  # type: ignore[arg-type]


_DIRECTIONS = {1: "up", -1: "down", 0: "none"}


def moves(cause: str, effect: str, up: int, to: int, **stated: object) -> Fact:
    """Return `cause` moving `up` (+1, −1 or 0 for an event) makes `effect` move `to`."""
    pairs = (("cause_direction", _DIRECTIONS[up]), ("effect_direction", _DIRECTIONS[to]))
    return claim(cause, "affects", effect, sign=(up or 1) * to, qualifiers=pairs, **stated)


@dataclass
class Paper:
    """One document: sentences, each with the facts that are read from it."""

    number: int
    published: date
    speaker: str = "示例证券甲"
    said: list[tuple[str, Fact]] = field(default_factory=list)
    extra: tuple[Entity, ...] = ()
    copies: tuple[str, ...] = ()
    title: str = ""

    def reading(self) -> Reading:
        """Return what its reader hands to the store."""
        identity, text, facts = f"doc:{self.number}", "", []
        for sentence, fact in self.said:
            begin = len(text)
            text += sentence
            evidence = Evidence(identity, begin, len(text), sentence, self.published, READ, speaker=self.speaker)
            facts.append(replace(fact, id=fact_id(fact), evidence=(evidence,)))
        text = text or "没有可读的内容。"
        ends = {end: None for fact in facts for end in (fact.subject, fact.object)}
        about = {_ABOUT[end]: None for end in ends if end in _ABOUT}
        known = {entity.id for entity in self.extra}
        return Reading(
            document=Document(
                identity,
                self.title or f"报告{self.number}",
                self.published,
                text,
                publisher=self.speaker,
                path=f"{identity}.md",
            ),
            chunks=(Chunk(chunk_id(identity, 0, len(text)), identity, 0, len(text), text),),
            entities=(*(named(end) for end in {**ends, **about} if end not in known), *self.extra),
            facts=tuple(facts),
            copies=self.copies,
            recorded_at=READ,
        )


def paper(number: int, published: str, *said: tuple[str, Fact], **more: object) -> Reading:
    """Return the reading of a document made of these sentences."""
    return Paper(number, date.fromisoformat(published), said=list(said), **more).reading()  # type: ignore[arg-type]


def filled(readings: Iterable[Reading], store: Store | None = None) -> Store:
    """Return a store that holds these readings."""
    kept = MemoryStore() if store is None else store
    with kept.writer() as writer:
        for reading in readings:
            writer.write(reading)
    return kept


def seen(*readings: Reading) -> View:
    """Return a view of a store that holds these readings."""
    return filled(readings).view()


SILICON, WAFER, CELL, MODULE = "product:硅料", "product:硅片", "product:电池片", "product:组件"
PV, PRICE, MARGIN, COST = "industry:光伏", "indicator:硅料价格", "indicator:组件毛利率", "indicator:电池片成本"
CUT, SUBSIDY, PLANT = "event:限产", "policy:补贴退坡", "product:光伏电站"

MARGIN_2023 = claim(LONGI, "reports", "indicator:毛利率", value=Value(18.3, "%"), valid=year(2023))
BUY = claim("institution:示例证券丙", "rates", LONGI, qualifiers=(("rating", "买入"),))


def solar() -> tuple[Reading, ...]:
    """Return the documents of the world, oldest first."""
    return (
        paper(
            1,
            "2024-01-10",
            ("工业硅用于生产硅料。", claim("product:工业硅", "upstream_of", SILICON)),
            ("硅料是硅片的上游。", claim(SILICON, "upstream_of", WAFER)),
            ("硅片制成电池片。", claim(WAFER, "upstream_of", CELL)),
            ("电池片封装成组件。", claim(CELL, "upstream_of", MODULE)),
            ("组件用于光伏电站。", claim(MODULE, "upstream_of", PLANT)),
            ("组件属于光伏行业。", claim(MODULE, "belongs_to", PV)),
        ),
        paper(
            2,
            "2024-02-01",
            ("通威股份生产硅料。", claim(TONGWEI, "produces", SILICON)),
            ("隆基绿能生产硅片。", claim(LONGI, "produces", WAFER)),
            ("隆基绿能生产组件。", claim(LONGI, "produces", MODULE)),
            ("通威股份向隆基绿能供应硅料。", claim(TONGWEI, "supplies", LONGI, qualifiers=(("product", "硅料"),))),
            ("阳光电源与隆基绿能合作。", claim(SUNGROW, "partners_with", LONGI)),
        ),
        paper(
            3,
            "2024-03-01",
            ("限产推高硅料价格。", moves(CUT, PRICE, 0, 1)),
            ("硅料价格下跌，电池片成本下降。", moves(PRICE, COST, -1, -1)),
            ("电池片成本下降，组件毛利率回升。", moves(COST, MARGIN, -1, 1)),
            ("组件毛利率回升利好隆基绿能。", moves(MARGIN, LONGI, 1, 1)),
        ),
        paper(
            4,
            "2024-06-01",
            ("硅料价格下跌，电池片成本下降。", moves(PRICE, COST, -1, -1)),
            ("硅料价格下跌，电池片成本反而上升。", moves(PRICE, COST, -1, 1)),
            ("隆基绿能2023年毛利率为18.3%。", MARGIN_2023),
            speaker="示例证券乙",
        ),
        paper(
            5,
            "2025-01-15",
            ("补贴退坡压低组件毛利率。", moves(SUBSIDY, MARGIN, 0, -1)),
            ("示例证券丙给予隆基绿能买入评级。", BUY),
            speaker="示例证券丙",
        ),
    )  # fmt: skip
