"""Which fact a later one has closed (DESIGN §4): judged at reading time, from visible facts only.

Nothing is ever marked in the store, so a view of an earlier day revives what was closed later, and removing a
document revives what it had closed.
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

# Two brokers who expect different profits are two opinions; only the broker himself can replace his number.
# A parent, a stake or a rating (whose subject is the speaker) is one state of the world, whoever tells it.
SPEAKER_BOUND = frozenset({"reports"})


def supersede(facts: Iterable[Fact], vocabulary: Vocabulary) -> list[Fact]:
    """Return the same facts in the same order, each with `superseded_by` judged among exactly these."""
    known = list(facts)
    closed = superseded(known, vocabulary)
    return [
        fact if fact.superseded_by == closed.get(fact.id, "") else replace(fact, superseded_by=closed.get(fact.id, ""))
        for fact in known
    ]


def superseded(facts: Iterable[Fact], vocabulary: Vocabulary) -> dict[str, str]:
    """Map each closed fact's id to the id of the latest fact that closes it; ties go to the smaller id.

    The facts must hold whole groups: all of a subject and relation, or none.
    """
    rivals: dict[tuple[object, ...], list[Fact]] = defaultdict(list)
    denials: dict[tuple[str, str, str], list[Fact]] = defaultdict(list)
    positive: list[Fact] = []
    for fact in facts:
        if fact.polarity is Polarity.POSITIVE:
            positive.append(fact)
            if one_at_a_time(fact.relation, vocabulary):
                rivals[place_of(fact, vocabulary)].append(fact)
        elif fact.modality is Modality.ASSERTED:  # a rumoured or planned end has not ended anything yet
            denials[fact.subject, fact.relation, fact.object].append(fact)
    closed: dict[str, str] = {}
    for fact in positive:
        against = [other for other in denials.get(_ends(fact), ()) if same_matter(fact, other)]
        if one_at_a_time(fact.relation, vocabulary):
            against += rivals[place_of(fact, vocabulary)]
        by = _closer(fact, against)
        if by:
            closed[fact.id] = by
    return closed


def effective(fact: Fact) -> Period:
    """Return when a fact holds: its stated period, else everything from its first visible publication on."""
    return fact.valid or since(fact.published_on)


def one_at_a_time(relation: str, vocabulary: Vocabulary) -> bool:
    """Whether the vocabulary lets a later fact of this relation take an earlier one's place."""
    entry = vocabulary.relations.get(relation)
    return entry is not None and entry.cardinality == "one"


def _ends(fact: Fact) -> tuple[str, str, str]:
    return fact.subject, fact.relation, fact.object


def place_of(fact: Fact, vocabulary: Vocabulary) -> tuple[object, ...]:
    """What only one fact at a time can fill.

    The `product` qualifier is part of it: 出货量 of 组件 and of 硅片 are two numbers, not an old and a new one.
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
    """Whether a denial speaks of this claim: not of another product, not of a period it does not touch."""
    product = denial.qualifier("product")
    if product and product != fact.qualifier("product"):
        return False
    return fact.valid is None or denial.valid is None or fact.valid.overlaps(denial.valid)


def _closer(fact: Fact, others: Iterable[Fact]) -> str:
    later = list(_later(fact, others))
    if not later:
        return ""
    newest = max(day for day, _ in later)
    return min(identity for day, identity in later if day == newest)


def _later(fact: Fact, others: Iterable[Fact]) -> Iterator[tuple[date, str]]:
    """Yield the day and id of what closes `fact`; where words are bound to speakers, all of its speakers moved on."""
    if fact.relation not in SPEAKER_BOUND:
        last = fact.last_published_on
        yield from ((day, other.id) for other in others if (day := other.last_published_on) > last)
        return
    waiting = _last_by_speaker(fact)
    found: list[tuple[date, str]] = []
    moved: set[str] = set()
    for other in others:
        for speaker, day in _last_by_speaker(other).items():
            # An unnamed speaker is nobody in particular, so two unnamed ones are never the same.
            if speaker and speaker in waiting and day > waiting[speaker]:
                moved.add(speaker)
                found.append((day, other.id))
    if moved == waiting.keys():
        yield from found


def _last_by_speaker(fact: Fact) -> dict[str, date]:
    days: dict[str, date] = {}
    for item in fact.evidence:
        days[item.speaker] = max(item.published_on, days.get(item.speaker, item.published_on))
    return days
