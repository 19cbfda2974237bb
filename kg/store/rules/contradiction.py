"""Find facts that cannot both hold; both stay stored (DESIGN §1.1). Computed at read time, like superseding.

Superseded facts contradict nothing, so a view shows the contradictions of its own day.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.model import Polarity
from kg.store.rules.superseding import SPEAKER_BOUND, one_at_a_time, place_of, same_matter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kg.model import Fact, Value
    from kg.relations import Vocabulary
    from kg.store.port import View

_ROUNDING = 0.005  # relative; 3620 亿 and 3620.13 亿 are one number, rounded differently


def contradicting(view: View, fact: Fact, vocabulary: Vocabulary) -> list[Fact]:
    """Return the live facts of a view that contradict a live fact, in id order."""
    if fact.relation not in vocabulary.relations:
        return []
    one_end = rivals_share_one_end(fact.relation, vocabulary)
    others = view.facts(subject=fact.subject, relation=fact.relation, object=None if one_end else fact.object)
    return opposing(fact, others, vocabulary)


def rivals_share_one_end(relation: str, vocabulary: Vocabulary) -> bool:
    """Return whether facts of a relation that share only their subject can contradict: a company with two parents."""
    return one_at_a_time(relation, vocabulary) and vocabulary[relation].one_per == "subject"


def opposing(fact: Fact, others: Iterable[Fact], vocabulary: Vocabulary) -> list[Fact]:
    """Return those facts of the same subject and relation that are live and contradict a live fact."""
    if fact.superseded_by:
        return []
    return [other for other in others if not other.superseded_by and contradict(fact, other, vocabulary)]


def contradict(one: Fact, other: Fact, vocabulary: Vocabulary) -> bool:
    """Return whether two facts of one subject and relation cannot both hold; symmetric."""
    if one.id == other.id:
        return False
    if one.object == other.object and one.polarity is not other.polarity:
        denial, claim = (one, other) if one.polarity is Polarity.NEGATIVE else (other, one)
        return one.sign == other.sign and same_matter(claim, denial)  # not to rise is not to fall
    if Polarity.NEGATIVE in {one.polarity, other.polarity}:
        return False
    if one.object == other.object and one.sign == -other.sign != 0:
        if not _same_move(one, other):
            return False
        return one.valid is None or other.valid is None or one.valid.overlaps(other.valid)
    return one_at_a_time(one.relation, vocabulary) and _compete(one, other, vocabulary)


def _same_move(one: Fact, other: Fact) -> bool:
    """Return whether two facts state different effects of one move of their cause, each in a sentence of its own.

    That a rise hurts does not contradict that a fall hurts too.
    """
    places = [{(item.document, item.start, item.end) for item in fact.evidence} for fact in (one, other)]
    moves = [fact.qualifier("cause_direction") or "none" for fact in (one, other)]
    return moves[0] == moves[1] and places[0] != places[1]


def _compete(one: Fact, other: Fact, vocabulary: Vocabulary) -> bool:
    """Return whether two facts compete for one place: two parents on one day, two numbers for one quarter."""
    if place_of(one, vocabulary) != place_of(other, vocabulary):
        return False
    if one.relation in SPEAKER_BOUND:
        # A number without a period refers to its own day; a speaker who gives a new number has revised the old one.
        if one.valid is None or not set(one.speakers).isdisjoint(other.speakers):
            return False
        return _differ(one.value, other.value)
    first, second = dict(one.qualifiers), dict(other.qualifiers)
    qualified_differently = any(first[name] != second[name] for name in first.keys() & second.keys())
    return one.object != other.object or qualified_differently or _differ(one.value, other.value)


def _differ(one: Value | None, other: Value | None) -> bool:
    """Return whether two values or ranges do not overlap, allowing for rounding."""
    if one is None or other is None:
        return False
    low, high = (
        max(one.number, other.number),
        min(*(each.number if each.high is None else each.high for each in (one, other))),
    )
    return low - high > _ROUNDING * max(abs(low), abs(high))
