"""Compute which facts are superseded by later ones (DESIGN §4), at read time and from visible facts only.

Superseding is never stored, so facts superseded later are live in a view of an earlier day, and removing a document
makes the facts live that it superseded.

`superseding_rows` is the rule, for a few facts and for the columns of a whole base alike. Its callers select the
candidates: rivals are positive facts of one place (`place_of`), denials are asserted and of the same matter
(`same_matter`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from kg.model import Modality, Polarity
from kg.period import since
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from kg.model import Fact
    from kg.period import Period
    from kg.relations import Vocabulary

# Different profit forecasts of two brokers are two opinions; only the same broker can replace its number.
# A parent, a stake or a rating (whose subject is the speaker) is one state of the world, independent of the speaker.
SPEAKER_BOUND = frozenset(vocabulary().of_role("figure"))
_AT_ONCE = 5000  # facts
UNNAMED = 0  # the number of an unknown speaker


def superseded(facts: Iterable[Fact], vocabulary: Vocabulary) -> dict[str, str]:
    """Map each superseded fact's id to the id of the latest fact that supersedes it; ties go to the smaller id.

    With a fact, all that can supersede it must be given: facts of its place (`place_of`), denials between its ends.
    """
    given = sorted(facts, key=attrgetter("id"))
    places: dict[tuple[object, ...], list[int]] = defaultdict(list)
    denials: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for row, fact in enumerate(given):
        if fact.polarity is Polarity.NEGATIVE:
            if fact.modality is Modality.ASSERTED:  # a rumoured or planned end does not supersede anything yet
                denials[fact.subject, fact.relation, fact.object].append(row)
        elif one_at_a_time(fact.relation, vocabulary):
            places[place_of(fact, vocabulary)].append(row)
    rivals = [rows for rows in places.values() if len(rows) > 1]
    denied = _denied(given, denials) if denials else []
    if not rivals and not denied:
        return {}
    place = np.full(len(given), -1, dtype=np.int64)
    for number, rows in enumerate(rivals):
        place[rows] = number
    bound = np.array([fact.relation in SPEAKER_BOUND for fact in given], dtype=np.bool_)
    said = _statements(given, sorted({*chain.from_iterable(rivals), *chain.from_iterable(denied)}))
    by = superseding_rows(said, place, np.array(denied, dtype=np.int64).reshape(-1, 2), bound=bound)
    return {given[row].id: given[by[row]].id for row in np.flatnonzero(by >= 0).tolist()}


def superseded_in_groups(groups: Iterable[Iterable[Fact]], vocabulary: Vocabulary) -> dict[str, str]:
    """Return `superseded` of many complete groups, holding few of them at a time."""
    closed: dict[str, str] = {}
    waiting: list[Fact] = []
    for group in groups:
        waiting.extend(group)
        if len(waiting) >= _AT_ONCE:
            closed |= superseded(waiting, vocabulary)
            waiting = []
    return closed | superseded(waiting, vocabulary)


def _denied(facts: Sequence[Fact], denials: Mapping[tuple[str, str, str], list[int]]) -> list[tuple[int, int]]:
    """Return pairs of rows: a positive fact and a denial of it."""
    return [
        (row, other)
        for row, fact in enumerate(facts)
        if fact.polarity is Polarity.POSITIVE
        for other in denials.get((fact.subject, fact.relation, fact.object), ())
        if same_matter(fact, facts[other])
    ]


def _statements(facts: Sequence[Fact], rows: Iterable[int]) -> Statements:
    speakers = {"": UNNAMED}
    cells = [
        (row, speakers.setdefault(item.speaker, len(speakers)), item.published_on.toordinal())
        for row in rows
        for item in facts[row].evidence
    ]
    return Statements(*np.array(cells, dtype=np.int64).reshape(-1, 3).T)


@dataclass(frozen=True, slots=True)
class Statements:
    """Who stated which fact when, one row per visible piece of evidence.

    Attributes:
        fact: row of the fact; facts that compete are in the order of their ids.
        speaker: number of the speaker, `UNNAMED` for an unknown one.
        day: ordinal of the publication day.
    """

    fact: NDArray[np.int64]
    speaker: NDArray[np.int64]
    day: NDArray[np.int64]


def superseding_rows(
    said: Statements, place: NDArray[np.int64], denied: NDArray[np.int64], *, bound: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return for each fact the row of the fact that supersedes it, or −1.

    A fact is superseded when each of its speakers has stated a rival or a denial since; where speakers do not matter,
    all count as one. The latest of these statements decides which fact supersedes it; ties go to the first row.

    Args:
        said: all visible statements of the facts that compete.
        place: per fact, a number shared by facts of which only one can hold at a time; −1 for none.
        denied: pairs of a fact and a denial of it, shape (pairs, 2).
        bound: per fact, whether only its own speakers can replace it.
    """
    fact, day = said.fact, said.day
    speakers = int(said.speaker.max(initial=UNNAMED)) + 2
    speaker = np.where(bound[fact], said.speaker, speakers - 1)
    order = np.lexsort((fact, -day))  # the latest first
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    # What competes shares a key: a place, or a denied fact with its denials, and a speaker.
    placed = np.flatnonzero(place[fact] >= 0)
    pair, denying = _statements_of(denied[:, 1], fact)
    places = int(place.max(initial=-1)) + 1
    group = np.concatenate([place[fact[placed]], places + denied[pair, 0]])
    candidates = np.concatenate([placed, denying])
    keys, inverse = np.unique(group * speakers + speaker[candidates], return_inverse=True)
    first = np.full(len(keys), len(order), dtype=np.int64)
    np.minimum.at(first, inverse, rank[candidates])
    latest = np.minimum(
        *(_found(keys, first, each * speakers + speaker, missing=len(order)) for each in (place[fact], places + fact))
    )
    # Two unnamed speakers are never treated as the same. Ranks past the last one stand for no competitor.
    revised = (np.append(day[order], 0)[latest] > day) & (speaker != UNNAMED)
    by_rank = np.full(len(place), len(order), dtype=np.int64)
    np.minimum.at(by_rank, fact, latest)
    by_rank[fact[~revised]] = len(order)
    superseding: NDArray[np.int64] = np.append(fact[order], -1)[by_rank]
    return superseding


def _statements_of(wanted: NDArray[np.integer], fact: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pairs of a position in `wanted` and a statement of the fact there."""
    by_fact = np.argsort(fact, kind="stable")
    starts = np.searchsorted(fact, wanted, sorter=by_fact)
    counts = np.searchsorted(fact, wanted, side="right", sorter=by_fact) - starts
    position = np.repeat(np.arange(len(wanted)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return position, by_fact[starts[position] + within]


def _found(
    keys: NDArray[np.int64], values: NDArray[np.int64], wanted: NDArray[np.int64], *, missing: int
) -> NDArray[np.int64]:
    """Look up values by sorted keys."""
    if not len(keys):
        return np.full(len(wanted), missing, dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], missing)


def effective(fact: Fact) -> Period:
    """Return the effective validity: the stated period, else everything from the first visible publication on."""
    return fact.valid or since(fact.published_on)


def one_at_a_time(relation: str, vocabulary: Vocabulary) -> bool:
    """Return whether a later fact of this relation can replace an earlier one, by its cardinality."""
    entry = vocabulary.relations.get(relation)
    return entry is not None and entry.cardinality == "one"


def place_of(fact: Fact, vocabulary: Vocabulary) -> tuple[object, ...]:
    """Return a key of which only one fact at a time can hold.

    It includes the `product` qualifier: 出货量 of 组件 and of 硅片 are two numbers, not an old and a new one. A bound
    (不低于500亿元) and an exact figure do not replace each other either.
    """
    entry, value = vocabulary[fact.relation], fact.value
    product, bound = fact.qualifier("product"), fact.qualifier("bound")
    return (
        fact.subject,
        fact.relation,
        fact.object if entry.one_per == "object" else "",
        (fact.valid.start, fact.valid.end) if fact.valid else None,
        fact.modality,
        (value.change, value.basis, value.unit) if value else None,
        (product, bound) if bound else product,
    )


def same_matter(fact: Fact, denial: Fact) -> bool:
    """Return whether a denial applies to this claim: not if it is about another product or a disjoint period."""
    product = denial.qualifier("product")
    if product and product != fact.qualifier("product"):
        return False
    return fact.valid is None or denial.valid is None or fact.valid.overlaps(denial.valid)
