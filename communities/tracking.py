"""Themes keep their id from week to week, and what happened to them in between: the overlap of members decides."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx

from kg.ids import community_id
from kg.model import LifecycleEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kg.model import Community

_LEAST_OVERLAP = 0.3  # Jaccard; below that a theme is a new one
_WHOLE = 1_000_000  # overlaps as whole numbers: the matching is exact and the same on every machine
_PART = 0.2  # a smaller share of a theme is no part of its split, merger or origin
_MOST = 0.5
_CHANGED = 0.2  # a theme that changes by less, or by fewer than three members, has neither grown nor shrunk
_FEW = 3


@dataclass(frozen=True, slots=True)
class Turned:
    """One turn of a theme: the other themes in it, and who joined and left."""

    turn: LifecycleEvent
    theme: str
    others: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def stable_ids(
    level: int,
    groups: Sequence[tuple[str, ...]],
    previous: Sequence[Community],
    *,
    anchors: Mapping[str, frozenset[str]] | None = None,
) -> list[str]:
    """Return a distinct id for each group of entity ids: last week's where the groups match best, else a new hash.

    Maximum-weight matching (Galil 1986, networkx) over Jaccard overlaps: of a theme that split, the part that holds
    most of it keeps the id; of themes that merged, the one that gave most lends its id.

    Args:
        level: of all the groups; part of a new id.
        groups: disjoint members of each theme.
        previous: last week's themes of this level.
        anchors: for a theme's id the members it is named after; a group that holds none of them is another theme, or a
            theme would drift, step by step, into one that its first reader never asked about.
    """
    kept = _matched(groups, previous, anchors or {})
    taken = {community.id for community in previous}
    names = []
    for index, members in enumerate(groups):
        name = kept.get(index) or community_id(level, members)
        # The founders of a theme may come apart from what has grown around them and kept its id.
        while index not in kept and name in taken:
            name = community_id(level, (*members, name))
        taken.add(name)
        names.append(name)
    return names


def _matched(
    groups: Sequence[tuple[str, ...]], previous: Sequence[Community], anchors: Mapping[str, frozenset[str]]
) -> Mapping[int, str]:
    graph: nx.Graph[tuple[str, int]] = nx.Graph()
    for (index, other), count in _shared(groups, [community.members for community in previous]).items():
        overlap = count / (len(groups[index]) + len(previous[other].members) - count)
        named_after = anchors.get(previous[other].id)
        if overlap >= _LEAST_OVERLAP and (not named_after or not named_after.isdisjoint(groups[index])):
            graph.add_edge(("new", index), ("old", other), weight=round(overlap * _WHOLE))
    # Apart, because the matching costs the cube of the nodes, and most themes overlap with one other.
    parts = (graph.subgraph(nodes) for nodes in nx.connected_components(graph))
    pairs = (sorted(pair) for part in parts for pair in nx.max_weight_matching(part))
    return {new: previous[old].id for (_, new), (_, old) in pairs}


def _shared(groups: Sequence[tuple[str, ...]], before: Sequence[tuple[str, ...]]) -> dict[tuple[int, int], int]:
    """Count the members that each group has in common with each of the week before, in order."""
    owner = {member: index for index, members in enumerate(before) for member in members}
    return {
        (index, other): count
        for index, members in enumerate(groups)
        for other, count in sorted(Counter(owner[member] for member in members if member in owner).items())
    }


def turns(groups: Mapping[str, tuple[str, ...]], previous: Mapping[str, tuple[str, ...]]) -> Iterator[Turned]:
    """Yield what happened to the themes of one level since the week before (after Palla, Barabási and Vicsek 2007).

    A theme is split when two or more themes of today each hold a fifth of it and are mostly made of it; merged when it
    holds most of two or more of last week's themes, each a fifth of it. Every new id is born, every lost one dies:
    their `others` say where the members came from and went to.

    Args:
        groups: today's members by theme id.
        previous: last week's.
    """
    today, before = list(groups), list(previous)
    shared = _shared([groups[name] for name in today], [previous[name] for name in before])
    sources: dict[str, dict[str, int]] = defaultdict(dict)
    heirs: dict[str, dict[str, int]] = defaultdict(dict)
    for (index, other), count in shared.items():
        sources[today[index]][before[other]] = heirs[before[other]][today[index]] = count
    for theme in before:
        yield from _ends(theme, len(previous[theme]), heirs[theme], groups)
    for theme in today:
        yield from _begins(theme, groups[theme], sources[theme], previous)


def _ends(theme: str, size: int, heirs: Mapping[str, int], groups: Mapping[str, tuple[str, ...]]) -> Iterator[Turned]:
    large = {heir: count for heir, count in heirs.items() if count >= _PART * size}
    parts = [heir for heir, count in large.items() if count >= _MOST * len(groups[heir])]
    if len(parts) > 1:
        yield Turned(LifecycleEvent.SPLIT, theme, tuple(part for part in parts if part != theme))
    if theme not in groups:
        yield Turned(LifecycleEvent.DIED, theme, tuple(large))


def _begins(
    theme: str, members: tuple[str, ...], sources: Mapping[str, int], previous: Mapping[str, tuple[str, ...]]
) -> Iterator[Turned]:
    large = {source: count for source, count in sources.items() if count >= _PART * len(members)}
    merged = [source for source, count in large.items() if count >= _MOST * len(previous[source])]
    before = set(previous.get(theme, ()))
    joined, left = tuple(sorted(set(members) - before)), tuple(sorted(before - set(members)))
    if theme not in previous:
        yield Turned(LifecycleEvent.BORN, theme, tuple(large), members)
    if len(merged) > 1:
        yield Turned(LifecycleEvent.MERGED, theme, tuple(source for source in merged if source != theme), joined, left)
    net = len(joined) - len(left)
    if before and abs(net) >= max(_FEW, _CHANGED * len(before)):
        yield Turned(LifecycleEvent.GROWN if net > 0 else LifecycleEvent.SHRUNK, theme, (), joined, left)
