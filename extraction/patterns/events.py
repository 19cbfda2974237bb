"""Facts from the events of companies and holders: who pledges, buys, sells, sues whom, for how much.

A frame is read generously, a fact is not: who does it must stand in the trigger's clause or the one before. An event
with one end only (甲公司回购股份) is what happened to that company: it `undergoes` it.
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

from extraction.annotated import CONTEXT, Claim, Ref
from extraction.patterns.frames import frame_kinds, read_frames
from kg.ids import entity_id
from kg.model import Kind, Value
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.annotated import Annotated
    from extraction.patterns.frames import Frame
    from extraction.quantities import Quantity

_CONFIDENCE = 0.75
_PAID = frozenset({"buyback", "bid", "contract", "guarantee", "funding"})  # told by the sum before the share
_BRACKET = re.compile(r"（[^（）]{0,40}）")
_ONE_SIDED = frozenset({"pledge", "buyback", "lawsuit", "judgement", "bid"})


def read(annotated: Annotated) -> Iterator[Claim]:
    """Yield the facts of one sentence's events."""
    for frame in read_frames(annotated):
        yield from _claims(frame, annotated)


def _claims(frame: Frame, annotated: Annotated) -> Iterator[Claim]:
    kind = frame_kinds()[frame.kind]
    agents = tuple(ref for ref in frame.agents if _near(frame, ref, annotated.text))
    others = frame.parties if kind.to == "counterparty" else frame.targets
    others = tuple(ref for ref in others if _near(frame, ref, annotated.text))
    ends = [(agent, other) for agent, other in product(agents, others) if agent.entity != other.entity]
    if kind.relation and ends:
        for agent, other in ends:
            if vocabulary()[kind.relation].allows(agent.kind, other.kind):
                alone = len(agents) == 1 and len(others) == 1
                yield _claim(frame, kind.relation, (agent, other), _amount(annotated, frame, other, alone=alone))
    elif frame.kind in _ONE_SIDED and not others:
        event = Ref(entity_id(Kind.EVENT, kind.event), Kind.EVENT, kind.event, frame.start, frame.end)
        for agent in agents or frame.targets:
            if agent.kind == Kind.COMPANY:
                amount = _amount(annotated, frame, agent, alone=len(agents) <= 1)
                yield _claim(frame, "undergoes", (agent, event), amount)


def _near(frame: Frame, ref: Ref, text: str) -> bool:
    """Whether a doer stands in the trigger's clause, or in the one before it with nothing told in between."""
    between = text[ref.end : frame.start] if ref.end <= frame.start else text[frame.end : ref.start]
    bracketed = between.count("（") != between.count("）")  # told aside, of what stands in the bracket
    return not bracketed and not any(wall in between for wall in "。；！？") and between.count("，") <= 1


def _amount(annotated: Annotated, frame: Frame, ref: Ref, *, alone: bool) -> Quantity | None:
    """Return the amount in the bracket behind a name, else the frame's where only one name can be meant."""
    bracket = _BRACKET.match(annotated.text, ref.end)
    if bracket:
        inside = [each for each in annotated.quantities if ref.end < each.start and each.end <= bracket.end()]
        if inside:
            return inside[0]
    if not alone:
        return None
    order = (
        (frame.money, frame.number, frame.share) if frame.kind in _PAID else (frame.share, frame.number, frame.money)
    )
    return next((amount for amount in order if amount is not None), None)


def _claim(frame: Frame, relation: str, ends: tuple[Ref, Ref], amount: Quantity | None) -> Claim:
    subject, object_ = ends
    places = [ref for ref in ends if ref.start != CONTEXT]
    return Claim(
        relation=relation,
        subject=subject,
        object=object_,
        start=min(frame.start, *(ref.start for ref in places)),
        end=max(frame.end, *(ref.end for ref in places)),
        pattern=f"event.{frame.kind}",
        value=_value(amount),
        qualifiers=_qualifiers(frame, relation, amount),
        confidence=_CONFIDENCE * min(subject.score, object_.score),
    )


def _value(amount: Quantity | None) -> Value | None:
    if amount is None:
        return None
    change = "share" if amount.unit == "%" else ""
    return Value(abs(amount.number), amount.unit, amount.scale, change=change, high=amount.high)


def _qualifiers(frame: Frame, relation: str, amount: Quantity | None) -> tuple[tuple[str, str], ...]:
    """Name what changes hands and from whom, where the relation's own ends do not."""
    told = {}
    if relation in ("pledges_to", "transfers_to", "undergoes") and frame.targets:
        told["stake_in"] = "、".join(ref.name for ref in frame.targets)
    if relation == "acquires" and frame.parties:
        told["seller"] = "、".join(ref.name for ref in frame.parties)
    if frame.money is not None and amount is not None and amount in (frame.share, frame.number):
        told["amount"] = frame.money.text
    return tuple(sorted(told.items()))
