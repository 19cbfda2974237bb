"""Extract relations from tables: suppliers, customers, makers and value-chain stages; the row is the quote.

Four layouts, recognised by the heads and title: customers (客户 | 占营业收入比例), suppliers (供应商 | 占采购总额比例),
makers (环节 | 代表公司, 公司 | 主要产品), stages (上游 | 中游 | 下游 as heads or in the first column).
A cell must consist of known names: 「正极材料、隔膜」 is two products, 「客户一」 is skipped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from msgspec.structs import replace

from extraction.claims.tables.cells import filled_down, without_notes
from extraction.claims.tables.labels import RowClaim, as_sentence, link_texts, whole_name
from extraction.dating.policy import stated_dates
from extraction.sentence import CONTEXT, Claim, EntityMention
from extraction.text.lexicon import phrases
from extraction.text.sentences import normalise
from kg.model import Kind, Modality
from kg.text.table_rows import placed_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from extraction.names.linker import Linker
    from kg.model import Block, Document
    from kg.period import Period
    from kg.text.table_rows import PlacedRow

_BASE_CONFIDENCE = 0.8
_DOUBT = 0.7  # the share of it that does not depend on how surely the names are linked
_MOST_ROWS, _MOST_COLUMNS = 80, 16
_RANKS = {str(number): f"第{word}大" for number, word in enumerate("一二三四五六七八九十", start=1)}
_BETWEEN = re.compile(r"[、，,;；/／\n]|\s+|(?:以及|和|及|与)")
_TAIL = re.compile(r"等(?:公司|企业|厂商|龙头|产品|领域|行业)?$|[（(][^（）()]*[)）]$|有限公司$")
_SHARE = re.compile(r"(\d{1,2}(?:\.\d+)?)\s*%?")
_PHRASES = phrases("tables/relations")
_STAGE = _PHRASES["stage"]
_TOPIC_CONFIDENCE = re.compile(r"产业链|产业图谱|产业链条|上下游")

_HEADS = phrases("tables/heads")
_NAME_HEAD = re.compile(r"(?:公司|单位|企业)?(?:名称|简称)")  # of customers or suppliers, by the title: 前五大客户
_OF_TITLE = re.compile(r"(?P<side>客户|供应商)")


@dataclass(frozen=True, slots=True)
class _Grid:
    """A table with columns by role and linked cells."""

    title: str
    columns: Mapping[str, int]
    rows: Sequence[PlacedRow]
    names: Mapping[tuple[int, int], tuple[EntityMention, ...]]
    topic: EntityMention | None
    period: Period | None

    def named(self, row: int, role: str, *kinds: Kind) -> tuple[EntityMention, ...]:
        """Return the names of these kinds in a row's cell under a role."""
        held = self.names.get((row, self.columns.get(role, CONTEXT)), ())
        return tuple(ref for ref in held if ref.kind in kinds)

    def cell(self, row: int, role: str) -> str:
        """Return the text of a cell, "" if the column is missing."""
        at = self.columns.get(role, CONTEXT)
        cells = self.rows[row].cells
        return cells[at] if 0 <= at < len(cells) else ""


class TableRelations:
    """Reads the relations of a document's tables; the linker finds the names."""

    def __init__(self, linker: Linker) -> None:
        self._linker = linker

    def read(self, document: Document, block: Block, company: EntityMention | None) -> Iterator[RowClaim]:
        """Yield the relations in the rows of one table; `company` is the subject of the report."""
        title, rows = placed_rows(document.text, block.start, block.end)
        if len(rows) < 2 or len(rows) > _MOST_ROWS or not 1 < len(rows[0].cells) <= _MOST_COLUMNS:  # noqa: PLR2004
            return
        columns = _columns(rows[0].cells, title)
        staged = _STAGE.fullmatch(rows[1].cells[0]) is not None
        if not ({"customer", "supplier", "product"} & columns.keys() or _stages(rows[0].cells) or staged):
            return
        grid = self._grid(document, title, rows, columns)
        for number, row in enumerate(grid.rows):
            annotated = as_sentence(document, row)
            claims = [*_supplies(grid, number, company), *_produces(grid, number), *_chain(grid, number, rows[0].cells)]
            for claim in claims:
                dated = grid.period if claim.relation == "supplies" else None
                yield RowClaim(replace(claim, end=row.end - row.start, valid=dated), annotated)

    def _grid(self, document: Document, title: str, rows: Sequence[PlacedRow], columns: Mapping[str, int]) -> _Grid:
        """Link every item of every cell in one pass."""
        body = filled_down(rows[1:])
        places = [(r, c) for r, row in enumerate(body) for c in range(len(row.cells))]
        items = [(place, item) for place in places for item in _items(without_notes(body[place[0]].cells[place[1]]))]
        words = _TOPIC_CONFIDENCE.split(title)[0] if _TOPIC_CONFIDENCE.search(title) else ""
        topic_words = re.sub(r"^(?:图表|表格|表|图)?\s*\d*[:：]?\s*", "", normalise(words))
        lines, refs = link_texts(self._linker, [topic_words, *(item for _, item in items)], document)
        known = [whole_name(line, names) for line, names in zip(lines, refs, strict=True)]
        names: dict[tuple[int, int], tuple[EntityMention, ...]] = {}
        for (place, _), ref in zip(items, known[1:], strict=True):
            if ref is not None:
                names[place] = (*names.get(place, ()), ref)
        topic = known[0] if known[0] and known[0].kind in (Kind.PRODUCT, Kind.INDUSTRY) else None
        stated = stated_dates(normalise(title), document.published_on)
        return _Grid(title, columns, body, names, topic, stated[-1].period if stated else None)


def _columns(heads: Sequence[str], title: str) -> dict[str, int]:
    """Map roles to columns by their heads: the first match per role, at most one role per head."""
    plain = [re.sub(r"[（(][^（）()]*[)）]|\s", "", head) for head in heads]
    found: dict[str, int] = {}
    for place, head in enumerate(plain):
        role = next((role for role, words in _HEADS.items() if role not in found and words.fullmatch(head)), "")
        if role == "product" and any("产品" in other for other in plain[place + 1 :]) and "产品" not in head:
            role = "stage"  # 环节 beside 产品
        if role:
            found[role] = place
    side = _OF_TITLE.search(title)
    if side and not {"customer", "supplier"} & found.keys():  # 前五大客户: 名称 is the customer's name
        named = [
            place for place, head in enumerate(plain) if _NAME_HEAD.fullmatch(head) or found.get("company") == place
        ]
        found.pop("company", None)
        found |= {{"客户": "customer", "供应商": "supplier"}[side["side"]]: place for place in named[:1]}
    return found


def _supplies(grid: _Grid, row: int, company: EntityMention | None) -> Iterator[Claim]:
    """Yield the customers or suppliers of the row's company, else of the report's."""
    own = grid.named(row, "company", Kind.COMPANY) or ((company,) if company and "company" not in grid.columns else ())
    if len(own) != 1:  # of several makers it is not said which one sells to whom
        goods = grid.named(row, "product", Kind.PRODUCT)
        for buyer, good in product(grid.named(row, "customer", Kind.COMPANY), goods):
            yield from _claim("uses", buyer, good, "table.buyers", ())
    for role in ("customer", "supplier"):
        others = grid.named(row, role, Kind.COMPANY)
        if len(own) != 1 or not others:
            continue
        qualifiers = _qualifiers(grid, row, role) if len(others) == 1 else ()
        for other in others:
            ends = (own[0], other) if role == "customer" else (other, own[0])
            yield from _claim("supplies", *ends, f"table.{role}s", qualifiers)


def _qualifiers(grid: _Grid, row: int, role: str) -> tuple[tuple[str, str], ...]:
    """Return product, rank, share and the disclosing party: the supplier discloses a list of customers."""
    found: dict[str, str] = {}
    part = "revenue_share" if role == "customer" else "cost_share"
    if share := _SHARE.fullmatch(grid.cell(row, part) or grid.cell(row, "share")):
        found[part] = f"{float(share[1]):g}"
    if rank := _RANKS.get(grid.cell(row, "rank")):
        found["rank"] = rank
    if goods := grid.named(row, "product", Kind.PRODUCT):
        found["product"] = "、".join(ref.name for ref in goods)
    if found.keys() & {"revenue_share", "cost_share", "rank"}:
        found["disclosed_by"] = "supplier" if role == "customer" else "customer"
    return tuple(sorted(found.items()))


def _produces(grid: _Grid, row: int) -> Iterator[Claim]:
    """Yield the makers of a product, or the products of a company."""
    if "supplier" in grid.columns:
        return  # the goods are the supplier's
    makers = grid.named(row, "company", Kind.COMPANY)
    goods = grid.named(row, "product", Kind.PRODUCT)
    if len(makers) > 1 and len(goods) > 1:
        return  # ambiguous who makes what
    for maker, good in product(makers, goods):
        yield from _claim("produces", maker, good, "table.makers", ())


def _chain(grid: _Grid, row: int, heads: Sequence[str]) -> Iterator[Claim]:
    """Yield what is upstream and downstream of the title's industry, or of the only midstream item."""
    kinds = (Kind.PRODUCT, Kind.INDUSTRY)
    stages: dict[str, tuple[EntityMention, ...]] = {"上游": (), "中游": (), "下游": ()}
    columns = _stages(heads)
    first = _STAGE.fullmatch(grid.rows[row].cells[0])
    for place, stage in columns.items():
        stages[stage] += tuple(ref for ref in grid.names.get((row, place), ()) if ref.kind in kinds)
    if not columns and first:
        held = [at for at in range(1, len(grid.rows[row].cells)) if at != grid.columns.get("company")]
        stages[first["stage"]] += tuple(
            ref for at in held[:1] for ref in grid.names.get((row, at), ()) if ref.kind in kinds
        )
    middle = stages["中游"]
    centre = grid.topic or (middle[0] if len(middle) == 1 else None)
    if centre is None:
        return
    for ref in stages["上游"]:
        yield from _claim("upstream_of", ref, centre, "table.chain", ())
    for ref in stages["下游"]:
        yield from _claim("upstream_of", centre, ref, "table.chain", ())


def _stages(heads: Sequence[str]) -> dict[int, str]:
    """Return the columns whose heads are stages, if at least two differ."""
    found = {place: match["stage"] for place, head in enumerate(heads) if (match := _STAGE.fullmatch(head))}
    return found if len(set(found.values())) > 1 else {}


def _claim(
    relation: str, subject: EntityMention, object_: EntityMention, pattern: str, qualifiers: tuple[tuple[str, str], ...]
) -> Iterator[Claim]:
    if subject.entity != object_.entity:
        yield Claim(
            relation=relation,
            subject=replace(subject, start=CONTEXT, end=CONTEXT),
            object=replace(object_, start=CONTEXT, end=CONTEXT),
            start=0,
            end=0,
            pattern=pattern,
            qualifiers=qualifiers,
            confidence=_BASE_CONFIDENCE * (_DOUBT + (1 - _DOUBT) * min(subject.score, object_.score)),
            modality=Modality.ASSERTED,  # forecasts in other cells do not apply
        )


def _items(cell: str) -> list[str]:
    """Split an enumeration into its items."""
    return [plain for item in _BETWEEN.split(cell) if (plain := _TAIL.sub("", item.strip()))]
