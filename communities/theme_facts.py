"""Collect each community's members and the facts that its summary may use.

Facts are ranked as arrays and only the selected ones are read from the store, so that the cost depends on the number of
summaries, not on the size of the base. An indicator belongs to the community of its subject.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from communities.projection import roots, tables
from kg.model import Kind
from kg.query.session import ANSWERED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from numpy.typing import NDArray

    from kg.graph.snapshot import Snapshot
    from kg.model import Fact
    from kg.relations import Vocabulary
    from kg.store.port import View

    Rows = NDArray[np.int64]

CHAIN, CAUSAL, STRUCTURE, MEASURED, NONE = range(5)
_CAPS = np.array([16, 24, 16, 12, 0])  # maximum candidate facts of each family
_OPPOSED = 4
_FRESH = 8
_BATCH = 20_000
_MEASURED_WEIGHT = 0.2  # a figure characterises a theme less than a relation does
_CLASSIFIED_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class Content:
    """Members and facts of one community, strongest first (`figures` newest first), with counts and dates.

    `opposed` holds pairs of contradictory facts, `fresh` the strongest facts first reported since the previous run;
    `newest` is the ordinal day of the newest fact, `before` the same as of the previous run.
    """

    members: tuple[str, ...]
    facts: tuple[Fact, ...]
    figures: tuple[Fact, ...]
    opposed: tuple[tuple[Fact, Fact], ...]
    fresh: tuple[Fact, ...]
    count: int
    fresh_count: int
    newest: int
    before: int


class _Inside(NamedTuple):
    """The edges within communities: snapshot row, community and relation family."""

    rows: Rows
    home: Rows
    family: Rows


def gather(view: View, snapshot: Snapshot, words: Vocabulary, *, home: Rows, since: date | None) -> list[Content]:
    """Return the content of every community.

    Args:
        view: source of the selected facts.
        snapshot: snapshot of the same view.
        words: the vocabulary, for the families of relations.
        home: community of each node, −1 for none, shape (nodes,); an indicator has that of its subject.
        since: day of the previous run; None without one.
    """
    count = int(home.max(initial=-1)) + 1
    inside = _inside(snapshot, words, home)
    edges = snapshot.edges()
    weight, published = edges.weight[inside.rows].astype(np.float64), edges.published[inside.rows].astype(np.int64)
    last = since.toordinal() if since else 0
    chosen = inside.rows[_best(inside, weight, published)]
    opposed = _opposed(snapshot, inside)
    late = np.flatnonzero(published > last)
    fresh = late[np.lexsort((-weight[late], inside.family[late] == MEASURED, inside.home[late]))]
    fresh = fresh[_rank(inside.home[fresh]) < _FRESH]
    newest, before = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    np.maximum.at(newest, inside.home, published)
    early = published <= last
    np.maximum.at(before, inside.home[early], published[early])
    facts = _read(view, snapshot, np.concatenate([chosen, opposed.ravel(), inside.rows[fresh]]))
    at = np.full(len(edges), -1, dtype=np.int64)
    at[inside.rows] = inside.home
    lists = (_grouped(rows, at[rows], count) for rows in (chosen, opposed[:, 0], opposed[:, 1], inside.rows[fresh]))
    totals = (np.bincount(inside.home, minlength=count), np.bincount(inside.home[late], minlength=count))
    rows = zip(_members(snapshot, inside, home, count=count), *lists, *totals, newest, before, strict=True)
    return [
        Content(
            members=members,
            facts=tuple(fact for fact in _facts_at(facts, best) if fact.relation != "reports"),
            figures=tuple(fact for fact in _facts_at(facts, best) if fact.relation == "reports"),
            opposed=tuple((facts[a], facts[b]) for a, b in zip(one, other, strict=True) if a in facts and b in facts),
            fresh=_facts_at(facts, late_ones),
            count=int(total),
            fresh_count=int(new),
            newest=int(day),
            before=int(earlier),
        )
        for members, best, one, other, late_ones, total, new, day, earlier in rows
    ]


def _inside(snapshot: Snapshot, words: Vocabulary, home: Rows) -> _Inside:
    edges, root = snapshot.edges(), roots(snapshot)
    family = np.array([_family(words, name) for name in snapshot.relation_names])[edges.relation]
    source, target = home[root[edges.source]], home[root[edges.target]]
    # A figure belongs to its indicator's subject, or to its reporter when the indicator has none (净利润).
    own = root[edges.target] == edges.target
    number = np.where(own, source, target)
    place = np.where(family == MEASURED, number, np.where(source == target, source, -1))
    rows = np.flatnonzero((place >= 0) & (family != NONE) & (edges.source != edges.target))
    return _Inside(rows, place[rows], family[rows])


def _family(words: Vocabulary, relation: str) -> int:
    if relation == "reports":
        return MEASURED
    known = {"chain": CHAIN, "causal": CAUSAL, "structure": STRUCTURE}
    return known.get(words[relation].family, NONE) if tables().shares.get(relation) else NONE


def _best(inside: _Inside, weight: NDArray[np.float64], published: Rows) -> Rows:
    """Return the strongest edges of each community and family; figures are ranked by date."""
    newest = np.where(inside.family == MEASURED, published, 0)
    order = np.lexsort((-weight, -newest, inside.family, inside.home))
    group = inside.home[order] * len(_CAPS) + inside.family[order]
    return order[_rank(group) < _CAPS[inside.family[order]]]


def _rank(groups: Rows) -> Rows:
    """Return the rank of each row within its run of equal values."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    return np.arange(len(groups)) - np.repeat(starts, np.diff(np.append(starts, len(groups))))


def _opposed(snapshot: Snapshot, inside: _Inside) -> Rows:
    """Return pairs of causal edges with the same ends and opposite signs, the strongest of each sign."""
    edges = snapshot.edges().take(inside.rows)
    signed = np.flatnonzero((inside.family == CAUSAL) & (edges.sign != 0))
    ends = edges.source[signed].astype(np.int64) * len(snapshot.entity_ids) + edges.target[signed]
    order = signed[np.lexsort((-edges.weight[signed], -edges.sign[signed], ends))]
    keys = edges.source[order].astype(np.int64) * len(snapshot.entity_ids) + edges.target[order]
    firsts = np.flatnonzero(np.diff(keys * 4 + edges.sign[order] + 1, prepend=-1))
    pairs = firsts[:-1][np.diff(keys[firsts]) == 0]
    found = np.stack([order[pairs], order[firsts[np.searchsorted(firsts, pairs) + 1]]], axis=1)
    weaker = np.minimum(edges.weight[found[:, 0]], edges.weight[found[:, 1]])
    ranked = found[np.lexsort((-weaker, inside.home[found[:, 0]]))]
    kept: Rows = inside.rows[ranked[_rank(inside.home[ranked[:, 0]]) < _OPPOSED]]
    return kept.reshape(-1, 2)


def _members(snapshot: Snapshot, inside: _Inside, home: Rows, *, count: int) -> Iterator[tuple[str, ...]]:
    """Yield the members of each community, strongest first: its nodes and the indicators in causal facts."""
    edges, root = snapshot.edges().take(inside.rows), roots(snapshot)
    contribution = edges.weight * np.where(inside.family == MEASURED, _MEASURED_WEIGHT, 1.0)
    strength = np.zeros(len(home))
    for ends in (edges.source, edges.target):
        np.add.at(strength, root[ends], contribution)
    # An industry gains strength from the products classified under it, even without a source.
    classified = np.flatnonzero((snapshot.about >= 0) & (home >= 0) & (home == home[snapshot.about]))
    np.add.at(strength, snapshot.about[classified], _CLASSIFIED_WEIGHT)
    causal = inside.family == CAUSAL
    in_causal_facts = np.unique(np.concatenate([edges.source[causal], edges.target[causal]]).astype(np.int64))
    indicator = np.fromiter((kind is Kind.INDICATOR for kind in snapshot.kinds), np.bool_, len(home))
    nodes = np.union1d(np.flatnonzero((home >= 0) & ~(indicator & (root != np.arange(len(home))))), in_causal_facts)
    of = home[root[nodes]]
    strength[in_causal_facts[root[in_causal_facts] != in_causal_facts]] = 0  # rank an indicator below its subject
    order = np.lexsort((nodes, -strength[nodes], of))
    ids = list(snapshot.entity_ids)
    for rows in _grouped(nodes[order], of[order], count):
        yield tuple(ids[row] for row in rows)


def _grouped(rows: Rows, home: Rows, count: int) -> list[list[int]]:
    """Group rows by community, keeping their order."""
    order = np.argsort(home, kind="stable")
    borders = np.searchsorted(home[order], np.arange(count + 1)).tolist()
    flat = rows[order].tolist()
    return [flat[borders[number] : borders[number + 1]] for number in range(count)]


def _read(view: View, snapshot: Snapshot, rows: Rows) -> dict[int, Fact]:
    wanted = np.unique(rows)
    found: dict[int, Fact] = {}
    for begin in range(0, len(wanted), _BATCH):
        batch = wanted[begin : begin + _BATCH]
        ids = snapshot.facts_of(snapshot.edges().take(batch))
        place = dict(zip(ids, batch.tolist(), strict=True))
        # A query by id can return additional facts, split off by name-merging decisions.
        found |= {
            place[fact.id]: fact for fact in view.facts(ids=ids) if fact.id in place and fact.confidence >= ANSWERED
        }
    return found


def _facts_at(facts: dict[int, Fact], rows: Sequence[int]) -> tuple[Fact, ...]:
    return tuple(facts[row] for row in rows if row in facts)
