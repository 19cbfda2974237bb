"""Compute which facts are superseded by later ones (DESIGN §4), at read time and from visible facts only.

Superseding is never stored, so facts superseded later are live in a view of an earlier day, and removing a document
makes the facts live that it superseded.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from kg.model import Modality, Polarity
from kg.period import since

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from kg.model import Fact
    from kg.period import Period
    from kg.relations import Vocabulary

# Different profit forecasts of two brokers are two opinions; only the same broker can replace its number.
# A parent, a stake or a rating (whose subject is the speaker) is one state of the world, independent of the speaker.
SPEAKER_BOUND = frozenset({"reports"})


def supersede(facts: Iterable[Fact], vocabulary: Vocabulary) -> list[Fact]:
    """Return the same facts in the same order with `superseded_by` computed among them."""
    given = list(facts)
    closed = superseded(given, vocabulary)
    return [
        fact if fact.superseded_by == closed.get(fact.id, "") else replace(fact, superseded_by=closed.get(fact.id, ""))
        for fact in given
    ]


def superseded(facts: Iterable[Fact], vocabulary: Vocabulary) -> dict[str, str]:
    """Map each superseded fact's id to the id of the latest fact that supersedes it; ties go to the smaller id.

    The facts must be complete groups: all facts of a subject and relation, or none.
    """
    rivals: dict[tuple[object, ...], list[Fact]] = defaultdict(list)
    denials: dict[tuple[str, str, str], list[Fact]] = defaultdict(list)
    positive: list[Fact] = []
    for fact in facts:
        if fact.polarity is Polarity.POSITIVE:
            positive.append(fact)
            if one_at_a_time(fact.relation, vocabulary):
                rivals[place_of(fact, vocabulary)].append(fact)
        elif fact.modality is Modality.ASSERTED:  # a rumoured or planned end does not supersede anything yet
            denials[fact.subject, fact.relation, fact.object].append(fact)
    closed: dict[str, str] = {}
    for fact in positive:
        against = [other for other in denials.get(_ends(fact), ()) if same_matter(fact, other)]
        if one_at_a_time(fact.relation, vocabulary):
            against += rivals[place_of(fact, vocabulary)]
        by = _latest_superseding(fact, against)
        if by:
            closed[fact.id] = by
    return closed


def effective(fact: Fact) -> Period:
    """Return the effective validity: the stated period, else everything from the first visible publication on."""
    return fact.valid or since(fact.published_on)


def one_at_a_time(relation: str, vocabulary: Vocabulary) -> bool:
    """Return whether a later fact of this relation can replace an earlier one, by its cardinality."""
    entry = vocabulary.relations.get(relation)
    return entry is not None and entry.cardinality == "one"


def _ends(fact: Fact) -> tuple[str, str, str]:
    return fact.subject, fact.relation, fact.object


def place_of(fact: Fact, vocabulary: Vocabulary) -> tuple[object, ...]:
    """Return a key of which only one fact at a time can hold.

    It includes the `product` qualifier: 出货量 of 组件 and of 硅片 are two numbers, not an old and a new one.
    """
    entry, value = vocabulary[fact.relation], fact.value
    return (
        fact.subject,
        fact.relation,
        fact.object if entry.one_per == "object" else "",
        (fact.valid.start, fact.valid.end) if fact.valid else None,
        fact.modality,
        (value.change, value.basis, value.unit) if value else None,
        fact.qualifier("product"),
    )


def same_matter(fact: Fact, denial: Fact) -> bool:
    """Return whether a denial applies to this claim: not if it is about another product or a disjoint period."""
    product = denial.qualifier("product")
    if product and product != fact.qualifier("product"):
        return False
    return fact.valid is None or denial.valid is None or fact.valid.overlaps(denial.valid)


def _latest_superseding(fact: Fact, others: Iterable[Fact]) -> str:
    later = list(_superseding(fact, others))
    if not later:
        return ""
    newest = max(day for day, _ in later)
    return min(identity for day, identity in later if day == newest)


def _superseding(fact: Fact, others: Iterable[Fact]) -> Iterator[tuple[date, str]]:
    """Yield the day and id of facts that supersede `fact`; if speaker-bound, all its speakers must revise it."""
    if fact.relation not in SPEAKER_BOUND:
        last = fact.last_published_on
        yield from ((day, other.id) for other in others if (day := other.last_published_on) > last)
        return
    last_days = _last_by_speaker(fact)
    found: list[tuple[date, str]] = []
    revised: set[str] = set()
    for other in others:
        for speaker, day in _last_by_speaker(other).items():
            # Unnamed speakers are unknown, so two of them are never treated as the same.
            if speaker and speaker in last_days and day > last_days[speaker]:
                revised.add(speaker)
                found.append((day, other.id))
    if revised == last_days.keys():
        yield from found


def _last_by_speaker(fact: Fact) -> dict[str, date]:
    days: dict[str, date] = {}
    for item in fact.evidence:
        days[item.speaker] = max(item.published_on, days.get(item.speaker, item.published_on))
    return days
