"""Frames decide who sells to whom: what other readers say against them of the same sentence is dropped.

A pattern, a table or the edge model may take 「主要客户包括B」 for B making the goods, or turn seller and buyer round.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from extraction.claims.relations.frames import FRAME
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extraction.sentence import AnnotatedSentence, Claim

    ClaimRow = tuple[Claim, AnnotatedSentence]
    Pair = tuple[str, str]

_MAKES = frozenset({"produces", "operates"})
_WEAKER = frozenset({"partners_with", "trades_with"})  # what a supply is often taken for
_MOST = 0.95
_BEHIND = 24  # characters behind a frame in which its goods are named


class _Read(Struct):
    """What the frames read in one sentence: claims by ends, and the part of the sentence that states them."""

    pairs: dict[Pair, Claim]
    claims: list[Claim]


def settled(rows: Sequence[ClaimRow]) -> list[ClaimRow]:
    """Return the claims of a document without those that contradict or repeat a frame.

    Where another reader agrees with a frame, the frame's claim becomes surer.
    """
    frames = _by_sentence(rows)
    sold = {pair for read in frames.values() for pair in read.pairs if read.pairs[pair].relation == "supplies"}
    agreed: dict[int, float] = {}
    kept: list[ClaimRow] = []
    for claim, sentence in rows:
        read = frames.get(sentence.sentence.start)
        pair = claim.subject.entity, claim.object.entity
        if claim.pattern.startswith(FRAME):
            kept.append((claim, sentence))
        elif claim.relation == "supplies" and pair[::-1] in sold and pair not in sold:
            continue
        elif read is None or not _is_settled(claim, read, agreed):
            kept.append((claim, sentence))
    return [
        (structs.replace(claim, confidence=agreed[id(claim)]), sentence) if id(claim) in agreed else (claim, sentence)
        for claim, sentence in kept
    ]


def _by_sentence(rows: Sequence[ClaimRow]) -> dict[int, _Read]:
    found: dict[int, _Read] = defaultdict(lambda: _Read({}, []))
    for claim, sentence in rows:
        if claim.pattern.startswith(FRAME):
            read = found[sentence.sentence.start]
            read.pairs[claim.subject.entity, claim.object.entity] = claim
            read.claims.append(claim)
    return found


def _is_settled(claim: Claim, read: _Read, agreed: dict[int, float]) -> bool:
    """Whether the frames of the sentence settle a claim of another reader."""
    pair = claim.subject.entity, claim.object.entity
    if claim.relation in _MAKES:
        return any(_sells_it(frame, claim) for frame in read.claims if frame.object.entity == claim.subject.entity)
    frame = read.pairs.get(pair) or read.pairs.get(pair[::-1])
    if frame is None:
        return False
    same = frame.relation == claim.relation
    if same and (vocabulary()[claim.relation].symmetric or pair in read.pairs):
        agreed[id(frame)] = round(min(_MOST, 1 - (1 - frame.confidence) * (1 - claim.confidence)), 3)
    return same or (frame.relation == "supplies" and claim.relation in _WEAKER)


def _sells_it(frame: Claim, claim: Claim) -> bool:
    """Whether a frame sells the buyer what another reader takes for the buyer's own."""
    if frame.relation != "supplies":
        return False
    inside = frame.start <= claim.object.start < frame.end + _BEHIND or claim.object.start < 0
    return inside or claim.object.name in dict(frame.qualifiers).get("product", "").split("、")

