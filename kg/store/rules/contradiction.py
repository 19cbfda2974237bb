"""Facts that cannot both hold: kept, and pointing at each other (DESIGN §1.1). Told at reading time, as superseding is.

What is closed contradicts nothing any more, so a view sees the disagreements of its own day.
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

_ROUNDING = 0.005  # 3620 亿 and 3620.13 亿 are one number, told with more or less care


def contradicting(view: View, fact: Fact, vocabulary: Vocabulary) -> list[Fact]:
    """Return the live facts of a view that cannot hold together with a live fact, by id."""
    if fact.relation not in vocabulary.relations:
        return []
    one_end = rivals_share_one_end(fact.relation, vocabulary)
    others = view.facts(subject=fact.subject, relation=fact.relation, object=None if one_end else fact.object)
    return opposing(fact, others, vocabulary)


def rivals_share_one_end(relation: str, vocabulary: Vocabulary) -> bool:
    """Whether facts of a relation that only share their subject can contradict each other: two parents of one."""
    return one_at_a_time(relation, vocabulary) and vocabulary[relation].one_per == "subject"


def opposing(fact: Fact, others: Iterable[Fact], vocabulary: Vocabulary) -> list[Fact]:
    """Return the live ones among facts of the same subject and relation that cannot hold together with a live fact."""
    if fact.superseded_by:
        return []
    return [other for other in others if not other.superseded_by and contradict(fact, other, vocabulary)]


def contradict(one: Fact, other: Fact, vocabulary: Vocabulary) -> bool:
    """Whether two facts of one subject and relation cannot both hold; the order does not matter."""
    if one.id == other.id:
        return False
    if one.object == other.object and one.polarity is not other.polarity:
        denial, said = (one, other) if one.polarity is Polarity.NEGATIVE else (other, one)
        return one.sign == other.sign and same_matter(said, denial)  # not to rise is not to fall
    if Polarity.NEGATIVE in {one.polarity, other.polarity}:
        return False
    if one.object == other.object and one.sign == -other.sign != 0:
        return one.valid is None or other.valid is None or one.valid.overlaps(other.valid)
    return one_at_a_time(one.relation, vocabulary) and _in_one_place(one, other, vocabulary)


def _in_one_place(one: Fact, other: Fact, vocabulary: Vocabulary) -> bool:
    """Whether two facts fill what only one can fill: two parents told on one day, two numbers for one quarter."""
    if place_of(one, vocabulary) != place_of(other, vocabulary):
        return False
    if one.relation in SPEAKER_BOUND:
        # Numbers of no stated period are of their own days; and nobody contradicts himself, he has moved on.
        if one.valid is None or not set(one.speakers).isdisjoint(other.speakers):
            return False
        return _differ(one.value, other.value)
    said, told = dict(one.qualifiers), dict(other.qualifiers)
    otherwise = any(said[name] != told[name] for name in said.keys() & told.keys())
    return one.object != other.object or otherwise or _differ(one.value, other.value)


def _differ(one: Value | None, other: Value | None) -> bool:
    """Whether two values share no number, ranges and rounding allowed."""
    if one is None or other is None:
        return False
    low, high = (
        max(one.number, other.number),
        min(*(each.number if each.high is None else each.high for each in (one, other))),
    )
    return low - high > _ROUNDING * max(abs(low), abs(high))
