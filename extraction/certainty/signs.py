"""Check the directions of causes that a model reads against the words of the sentence, and keep one claim of its ends.

A direction that no word states is none. A measure without one as the cause, and an effect without one, leave the sign
0: nothing follows from it either way. What happens (减产, 降息) and what is there (数据中心 lifts 电力需求) needs none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import structs

from extraction.certainty.direction import denied_after, effect_sign, move_of
from extraction.certainty.effect_words import BURDEN, PHRASES, SWAYED_BEFORE
from extraction.text.clauses import clause_end, clause_start
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from extraction.sentence import AnnotatedSentence, Claim, EntityMention

    Read = tuple[Claim, AnnotatedSentence]

_SIGN = {"up": 1, "down": -1, "none": 0}
_DIRECTION = {sign: name for name, sign in _SIGN.items()}
_PARTIES = frozenset({Kind.COMPANY, Kind.PRODUCT, Kind.INDUSTRY, Kind.BUSINESS})
_UNCONFIRMED = 0.8  # of a direction that no word of the clause confirms
_DENIED = 0.3  # of an effect that its clause plays down: 「油价下跌对出海影响有限」
_BEFORE = 10
_COMMA = re.compile("，")
_HAPPENS = frozenset({Kind.EVENT, Kind.POLICY})
_PRICED = frozenset({Kind.PRODUCT, Kind.INDUSTRY})


def one_sign(claims: Iterable[Read]) -> list[Read]:
    """Return the claims with checked directions; of two that contradict in one sentence, the surer."""
    checked = [(_checked(claim, annotated.text), annotated) for claim, annotated in claims]
    best: dict[tuple[object, ...], Claim] = {}
    for claim, annotated in checked:
        key = _place(claim, annotated)
        known = best.get(key)
        if known is None or _rank(claim) > _rank(known):
            best[key] = claim
    return [(claim, annotated) for claim, annotated in checked if _agree(claim, best[_place(claim, annotated)])]


def _place(claim: Claim, annotated: AnnotatedSentence) -> tuple[object, ...]:
    ends = sorted((claim.subject.entity, claim.object.entity))
    return (annotated.sentence.start, annotated.sentence.end, claim.relation, *ends)


def _rank(claim: Claim) -> tuple[bool, bool, float]:
    return claim.signed, claim.sign != 0, claim.confidence


def _agree(claim: Claim, best: Claim) -> bool:
    return claim is best or (claim.polarity in {best.polarity, None} and claim.sign == best.sign)


def _checked(claim: Claim, text: str) -> Claim:
    if claim.relation != "affects":
        return claim
    claim = claim if claim.signed else _signed(claim, text)
    start, last = sorted((claim.subject.start, claim.object.start))
    if _is_thanked(claim, text) or (
        start >= 0 and (PHRASES["no_effect"].search(text, start, clause_end(text, last)) or _turned_from(claim, text))
    ):
        return structs.replace(claim, confidence=min(claim.confidence, _DENIED))
    return claim


def _is_thanked(claim: Claim, text: str) -> bool:
    """Whether a fall is put down to what its clause owes a gain to: 「收入下降，但受益于煤价回落，利润增长」."""
    cause, falls = claim.subject, dict(claim.qualifiers).get("effect_direction") == "down"
    if not falls or cause.start < 0 or BURDEN.search(claim.object.name):
        return False
    return bool(PHRASES["thanks"].search(text, clause_start(text, cause.start), cause.start))


def _turned_from(claim: Claim, text: str) -> bool:
    """Whether a clause between a cause and its effect turns away: 「…，但新工艺推动增长」, 「尽管受影响，仍增长」.

    So does an effect that opens its clause and has a cause of its own there: 「…，光伏反内卷后产能出清」.
    """
    between = text[claim.subject.end : claim.object.start]
    conceded = "，" in between and PHRASES["concession"].search(text, clause_start(text, claim.subject.start))
    granted = conceded and conceded.start() <= claim.subject.start
    caused = between.endswith("，") and PHRASES["own_cause"].match(text, claim.object.end)
    turned = any(PHRASES["but"].match(between, mark.end()) for mark in _COMMA.finditer(between))
    return bool(granted or caused or turned)


def _signed(claim: Claim, text: str) -> Claim:
    stated = dict(claim.qualifiers)
    cause = _direction(claim.subject, stated.get("cause_direction", "none"), text)
    effect = _direction(_behind(claim.object, claim.subject, text), stated.get("effect_direction", "none"), text)
    said = _said_of_party(claim, text) if claim.object.kind in _PARTIES else None
    effect = _DIRECTION[said] if said else effect
    there = 0 if claim.subject.kind is Kind.INDICATOR else 1
    sign = (_SIGN[cause] or there) * (_SIGN[effect] or _happening(claim.object, text))
    moves = {**stated, "cause_direction": cause, "effect_direction": effect}
    confidence = claim.confidence * (_UNCONFIRMED if said == 0 else 1.0)
    return structs.replace(claim, sign=sign, qualifiers=tuple(sorted(moves.items())), confidence=round(confidence, 3))


def _behind(effect: EntityMention, cause: EntityMention, text: str) -> EntityMention:
    """Return an effect named before its cause where it is named again: 「煤价下行，但若供给收缩，煤价可能反弹」."""
    again = text.find(text[effect.start : effect.end], cause.end) if 0 <= effect.start < cause.start else -1
    return structs.replace(effect, start=again, end=again + effect.end - effect.start) if again > 0 else effect


def _said_of_party(claim: Claim, text: str) -> int | None:
    """Return what the clauses from a cause to the party's say of it, None where one sentence does not hold both."""
    first, last = claim.subject, claim.object
    if first.start < 0 or last.start < 0 or last.start < first.end:
        return None
    return effect_sign(text[first.end : clause_end(text, last.end)])


def _happening(end: EntityMention, text: str) -> int:
    """Return 1 for what a cause makes happen, 0 for a measure and for what is only swayed: 「影响出海进程」."""
    swayed = end.start >= 0 and SWAYED_BEFORE.search(text, max(0, end.start - _BEFORE), end.start)
    return 0 if swayed or end.kind not in _HAPPENS else 1


def _direction(end: EntityMention, read: str, text: str) -> str:
    """Return the direction of an end as the words beside it state it, else as its reader read it."""
    if end.start < 0:
        return read
    if end.kind in _HAPPENS:
        return "down" if denied_after(text, end.start, end.end) else "none"
    swayed = SWAYED_BEFORE.search(text, max(0, end.start - _BEFORE), end.start)
    own = end.kind in _PRICED and PHRASES["own_price"].match(text, end.end)  # 「随碳酸锂下跌」
    move = move_of(text, end.start, end.end, name=end.name) if own or end.kind == Kind.INDICATOR else None
    worse = "down" if BURDEN.search(end.name) else "up"  # 「影响需求」 cuts it, 「影响成本」 does not
    if move is None and swayed and (read == worse or swayed["either_way"]):
        return "none"
    return read if move is None or move.level else _DIRECTION[move.sign]
