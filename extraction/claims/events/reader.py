"""Turn event frames into claims: who pledges, buys, sells or sues whom, and for how much.

Claims are stricter than frames: the agent must be in the trigger's clause or the previous one. An event with a single
participant (甲公司回购股份) becomes an `undergoes` claim of that company.
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

from extraction.certainty.policy import event_certainty
from extraction.claims.events.frames import frame_kinds, read_frames
from extraction.sentence import CONTEXT, Claim, EntityMention
from extraction.text.clauses import crosses_statement
from extraction.text.lexicon import phrases
from kg.ids import entity_id
from kg.model import Kind, Value
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.claims.events.frames import EventFrame
    from extraction.quantities.reader import Quantity
    from extraction.sentence import AnnotatedSentence

_CONFIDENCE = 0.75
_MONEY_FIRST = frozenset({"buyback", "bid", "contract", "guarantee", "funding"})  # money is preferred to the share
_PHRASES = phrases("events/reader")
_SUSPENDED = re.compile(r"(?:暂停|停止|推迟|延期|暂缓)[^，。；：]{0,6}$")
_CANCELLED = re.compile(r"注销[^，。；]{0,10}$")
_NOT_AN_EVENT = _PHRASES["not_an_event"]  # a following word turns the trigger into a price, count or account
_TENDERED = re.compile("项目|招标|标段|公示|采购")
_RELATED_PARTY = _PHRASES["related_party"]  # the agent is a related party named after the company
_AFTER_COMMA = _PHRASES["after_comma"]
_RESPECTIVELY = re.compile(r"[^。；]{0,12}?分别[^，。；\d]{0,8}")
_GENERIC_NAME = _PHRASES["generic_name"]
_TOTAL = _PHRASES["total"]
_AND = re.compile("、|和|及|以及|，")
_ROUND = re.compile("融资|募集|领投|跟投")
_BRACKET = re.compile(r"（[^（）]{0,40}）")
_OWN_SHARES = frozenset({"buyback", "pledge"})  # the shares are the company's own, regardless of who proposes the event
_ONE_SIDED = frozenset({"pledge", "buyback", "lawsuit", "judgement", "bid"})


def read(annotated: AnnotatedSentence) -> Iterator[Claim]:
    """Yield the claims of one sentence's events."""
    for frame in read_frames(annotated):
        if not _is_event(frame, annotated.text):
            continue
        yield from _claims(frame, annotated)


def _is_event(frame: EventFrame, text: str) -> bool:
    """Whether a trigger states an event: not in a title (《…》), not part of 中标价, not postponed."""
    in_title = text.count("《", 0, frame.start) > text.count("》", 0, frame.start)
    # cancellation of shares bought back earlier
    cancels_shares = frame.kind == "buyback" and _CANCELLED.search(text, 0, frame.start)
    return not (
        in_title or cancels_shares or _NOT_AN_EVENT.match(text, frame.end) or _SUSPENDED.search(text, 0, frame.start)
    )


def _claims(frame: EventFrame, annotated: AnnotatedSentence) -> Iterator[Claim]:
    kind = frame_kinds()[frame.kind]
    agents = tuple(ref for ref in frame.agents if _is_near(frame, ref, annotated.text))
    if frame.kind not in _OWN_SHARES:
        agents = tuple(ref for ref in agents if not _RELATED_PARTY.match(annotated.text, ref.end))
    if frame.kind == "bid":  # drop the party that issues the tender
        agents = tuple(ref for ref in agents if not _TENDERED.search(annotated.text, ref.end, frame.start))
    if frame.agents and not agents:
        return  # the agent is someone else
    others = frame.parties if kind.to == "counterparty" else frame.targets
    others = tuple(ref for ref in others if _is_near(frame, ref, annotated.text))
    others = tuple(ref for ref in others if ref.end <= frame.start or "，" not in annotated.text[frame.end : ref.start])
    ends = [(agent, other) for agent, other in product(agents, others) if agent.entity != other.entity]
    ends = [pair for pair in ends if not any(_GENERIC_NAME.fullmatch(ref.name) for ref in pair)]
    ends = [pair for pair in ends if not _is_one_party(*pair, annotated.text)]
    if kind.relation and ends:
        amounts = _amounts_by_name(annotated, others)
        for agent, other in ends:
            if vocabulary()[kind.relation].allows(agent.kind, other.kind):
                alone = len(agents) == 1 and len(others) == 1
                amount = amounts.get(other) or _amount(annotated, frame, other, alone=alone)
                yield _claim(frame, annotated.text, kind.relation, (agent, other), amount)
    elif frame.kind in _ONE_SIDED and not others:
        event = EntityMention(entity_id(Kind.EVENT, kind.event), Kind.EVENT, kind.event, frame.start, frame.end)
        for agent in agents or frame.targets:
            if agent.kind == Kind.COMPANY:
                amount = _amount(annotated, frame, agent, alone=len(agents) <= 1)
                yield _claim(frame, annotated.text, "undergoes", (agent, event), amount)


def _is_one_party(agent: EntityMention, other: EntityMention, text: str) -> bool:
    """Whether two names form one party: coordinated as in 「获甲、乙等投资」, or in apposition."""
    first, second = sorted((agent, other), key=lambda ref: ref.start)
    return re.fullmatch(r"\s*(?:、|和|及|与)?\s*", text[first.end : second.start]) is not None


def _is_near(frame: EventFrame, ref: EntityMention, text: str) -> bool:
    """Whether a participant is in the trigger's clause or an adjacent one of the same sentence."""
    between = text[ref.end : frame.start] if ref.end <= frame.start else text[frame.end : ref.start]
    bracketed = between.count("（") != between.count("）")  # one of the two is inside brackets
    return not bracketed and not crosses_statement(between, 0, len(between)) and between.count("，") <= 1


def _amount(annotated: AnnotatedSentence, frame: EventFrame, ref: EntityMention, *, alone: bool) -> Quantity | None:
    """Return the amount in brackets after a name, else the frame's amount if only one name can be meant."""
    bracket = _BRACKET.match(annotated.text, ref.end)
    if bracket:
        inside = [each for each in annotated.quantities if ref.end < each.start and each.end <= bracket.end()]
        if inside:
            return inside[0]
    if not alone:
        return None
    order = (
        (frame.money, frame.number, frame.share)
        if frame.kind in _MONEY_FIRST
        else (frame.share, frame.number, frame.money)
    )
    if frame.kind == "funding" and _ROUND.search(annotated.text):
        return None  # total of the round, not this investor's amount
    amount = next((each for each in order if each is not None and _belongs_to_event(frame, each, annotated.text)), None)
    if amount is None and (named := _TOTAL.match(annotated.text, frame.end)):  # 「中标…项目，累计中标金额1.1亿元」
        return next((each for each in annotated.quantities if each.start == named.end()), None)
    return amount


def _belongs_to_event(frame: EventFrame, amount: Quantity, text: str) -> bool:
    """Whether an amount belongs to the event: in its clause, or in a following one that continues it."""
    if amount.end <= frame.start:
        return "，" not in text[amount.end : frame.start]
    between = text[frame.end : amount.start]
    return all(_AFTER_COMMA.match(text, frame.end + at) for at, letter in enumerate(between) if letter == "，")


def _amounts_by_name(annotated: AnnotatedSentence, others: tuple[EntityMention, ...]) -> dict[EntityMention, Quantity]:
    """Map each of several names to its amount: 「增持甲、乙，分别增持3亿元、2亿元」."""
    if len(others) < 2:  # noqa: PLR2004 -- a single name needs no mapping
        return {}
    opening = _RESPECTIVELY.match(annotated.text, others[-1].end)
    if opening is None:
        return {}
    amounts: list[Quantity] = []
    for each in annotated.quantities:
        joined = not amounts or _AND.fullmatch(annotated.text, amounts[-1].end, each.start)
        if each.start >= opening.end() and joined and len(amounts) < len(others):
            amounts.append(each)
    starts_at_opening = bool(amounts) and amounts[0].start == opening.end()
    return dict(zip(others, amounts, strict=True)) if starts_at_opening and len(amounts) == len(others) else {}


def _claim(
    frame: EventFrame, text: str, relation: str, ends: tuple[EntityMention, EntityMention], amount: Quantity | None
) -> Claim:
    subject, object_ = ends
    modality, polarity = event_certainty(text, frame.start, frame.end)
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
        polarity=polarity,
        own_clause=True,
        modality=modality,
    )


def _value(amount: Quantity | None) -> Value | None:
    if amount is None:
        return None
    change = "share" if amount.unit == "%" else ""
    return Value(abs(amount.number), amount.unit, amount.scale, change=change, high=amount.high)


def _qualifiers(frame: EventFrame, relation: str, amount: Quantity | None) -> tuple[tuple[str, str], ...]:
    """Return the stake, seller and amount of an event that the relation's ends and value do not cover."""
    qualifiers = {}
    if relation in ("pledges_to", "transfers_to", "undergoes") and frame.targets:
        qualifiers["stake_in"] = "、".join(ref.name for ref in frame.targets)
    if relation == "acquires" and frame.parties:
        qualifiers["seller"] = "、".join(ref.name for ref in frame.parties)
    if frame.money is not None and amount is not None and amount in (frame.share, frame.number):
        qualifiers["amount"] = frame.money.text
    return tuple(sorted(qualifiers.items()))
