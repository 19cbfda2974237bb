"""Find the factors of a sentence that move, each with its direction: 碳酸锂价格下跌, 硅料涨价, 美联储降息."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from extraction.certainty.direction import denied_after, move_of
from extraction.certainty.effect_words import OWNED, OWNED_MEASURES, PHRASES, STEPS
from extraction.names.gazetteer import indicator_of
from extraction.text.lexicon import table
from kg.kinds import kind_of
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.sentence import EntityMention

_HAPPENS = frozenset({Kind.EVENT, Kind.POLICY})
_PRICED = frozenset({Kind.PRODUCT, Kind.INDUSTRY})
_DIRECTION = {1: "up", -1: "down", 0: "none"}
_PRICE = "价格"
_BESIDE = 2  # characters between a thing and what happens to it: 多晶硅企业减产


class MovingFactor(Struct, frozen=True):
    """A factor at text[start:end], its direction words included; `move` is 0 for what happens, without a direction."""

    ref: EntityMention
    start: int
    end: int
    move: int

    @property
    def direction(self) -> str:
        """The direction as a fact states it: up, down or none."""
        return _DIRECTION[self.move]


def factors_in(text: str, refs: Sequence[EntityMention]) -> list[MovingFactor]:
    """Return the factors that move in a text, in order."""
    found: list[MovingFactor] = []
    before: EntityMention | None = None
    for ref in (ref for ref in refs if ref.start >= 0):
        found += (each for each in _factor(text, ref, before) if not found or each.start >= found[-1].end)
        before = ref
    return [each for factor in found for each in (*_listed_before(text, factor, refs), factor)]


def _listed_before(text: str, factor: MovingFactor, refs: Sequence[EntityMention]) -> list[MovingFactor]:
    """Return the factors that share a measure with the last of a list: 「原油、煤炭价格下行」."""
    owner = factor.ref.owner
    if factor.ref.kind != Kind.INDICATOR or not owner or not factor.ref.name.startswith(owner):
        return []
    found: list[MovingFactor] = []
    start = factor.start
    for ref in sorted((ref for ref in refs if 0 <= ref.start < start), key=lambda ref: -ref.end):
        if ref.kind not in _PRICED or not PHRASES["listed"].fullmatch(text, ref.end, start):
            break
        price = indicator_of(ref, factor.ref.name.removeprefix(owner), start=ref.start, end=ref.end)
        found.append(MovingFactor(price, ref.start, factor.end, factor.move))
        start = ref.start
    return found[::-1]


def is_measure(ref: EntityMention) -> bool:
    """Whether an indicator is of something: 电池成本, CPI; a bare 毛利率 is nobody's."""
    return ref.kind == Kind.INDICATOR and (bool(ref.about) or ref.name in _macro())


def _factor(text: str, ref: EntityMention, before: EntityMention | None) -> Iterator[MovingFactor]:
    if ref.kind == Kind.INDICATOR:
        move = move_of(text, ref.start, ref.end, name=ref.name) if is_measure(ref) and not _is_result(ref) else None
        if move and move.sign:
            yield MovingFactor(ref, ref.start, move.end, move.sign)
    elif ref.kind in _HAPPENS:
        yield from _happening(text, ref, before)
    elif ref.kind in _PRICED:
        own = PHRASES["own_price"].match(text, ref.end)
        move = move_of(text, ref.start, ref.end) if own else None
        if move and move.sign:
            price = indicator_of(ref, _PRICE, start=ref.start, end=ref.end)
            yield MovingFactor(price, ref.start, move.end, move.sign)


def _is_result(ref: EntityMention) -> bool:
    """Whether an indicator is how a firm does, which is an effect and no cause: 毛利率; 疫苗需求 is both."""
    return bool(PHRASES["result"].search(ref.name)) and (
        (bool(ref.about) and kind_of(ref.about) == Kind.COMPANY) or not PHRASES["result_of_all"].search(ref.name)
    )


def _happening(text: str, ref: EntityMention, before: EntityMention | None) -> Iterator[MovingFactor]:
    """Yield an event or policy that is a cause; one that is called off is its opposite."""
    owned = OWNED.fullmatch(ref.name)
    if owned:
        if before and before.kind in _PRICED and 0 <= ref.start - before.end <= _BESIDE:
            head, move = OWNED_MEASURES[owned.lastgroup or ""]
            yield MovingFactor(indicator_of(before, head, start=before.start, end=ref.end), before.start, ref.end, move)
        return
    is_cause = (
        PHRASES["happens"].search(ref.name)
        or PHRASES["happens_before"].search(text, max(0, ref.start - 8), ref.start)
        or STEPS.match(text, ref.end)
    )
    if is_cause:
        yield MovingFactor(ref, ref.start, ref.end, -1 if denied_after(text, ref.start, ref.end) else 0)


@cache
def _macro() -> frozenset[str]:
    return frozenset(entry["name"] for entry in table("macro_indicators")["entries"])


def is_part(ref: EntityMention, factors: Sequence[MovingFactor]) -> bool:
    """Whether a name is a part of a factor: 碳酸锂 of 碳酸锂价格."""
    return any(
        ref.entity in {each.ref.entity, each.ref.about}
        or (each.ref.start >= 0 and ref.start < each.end and each.start < ref.end)
        for each in factors
    )
