"""Match themes with last week's by overlap, report lifecycle events such as splits, and measure how stable they are."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from communities.evidence import TOPIC_KINDS
from kg.ids import community_id
from kg.model import LifecycleEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kg.model import Community

_MIN_OVERLAP = 0.3  # minimum Jaccard overlap of the same theme
_WEIGHT_SCALE = 1_000_000  # scales overlaps to integers, so that the matching is exact and reproducible
_MIN_SHARE = 0.2  # minimum share of a theme that counts in its split, merger or origin
_MAJORITY = 0.5
_MIN_CHANGE = 0.2  # minimum relative change, with at least three members, to count as grown or shrunk
_MIN_CHANGED_MEMBERS = 3


@dataclass(frozen=True, slots=True)
class Turned:
    """One lifecycle event of a theme: the other themes involved, members that joined and left."""

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
    """Return a distinct id for each group of entity ids: that of the best-matching theme last week, else a new hash.

    Maximum-weight matching (Galil 1986, networkx) over Jaccard overlaps: after a split the largest part keeps the id;
    after a merger the theme that contributed most does.

    Args:
        level: level of all groups; part of a new id.
        groups: disjoint members of each theme.
        previous: last week's themes of this level.
        anchors: theme id → members in its title; a group without any of them is a different theme, which prevents
            gradual drift to another topic.
    """
    kept = _matched(groups, previous, anchors or {})
    taken = {community.id for community in previous}
    names = []
    for index, members in enumerate(groups):
        name = kept.get(index) or community_id(level, members)
        # A theme's first members can separate from the group that kept its id; they then hash to a taken id.
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
        if overlap >= _MIN_OVERLAP and (not named_after or not named_after.isdisjoint(groups[index])):
            graph.add_edge(("new", index), ("old", other), weight=round(overlap * _WEIGHT_SCALE))
    # Per component: matching is cubic in the number of nodes, and most themes overlap with only one other.
    parts = (graph.subgraph(nodes) for nodes in nx.connected_components(graph))
    pairs = (sorted(pair) for part in parts for pair in nx.max_weight_matching(part))
    return {new: previous[old].id for (_, new), (_, old) in pairs}


def _shared(groups: Sequence[tuple[str, ...]], before: Sequence[tuple[str, ...]]) -> dict[tuple[int, int], int]:
    """Count the members that each group shares with each group of the previous week, in order."""
    owners: dict[str, list[int]] = defaultdict(list)
    for index, members in enumerate(before):
        for member in members:
            owners[member].append(index)
    return {
        (index, other): count
        for index, members in enumerate(groups)
        for other, count in sorted(Counter(owner for member in members for owner in owners.get(member, ())).items())
    }


def turns(groups: Mapping[str, tuple[str, ...]], previous: Mapping[str, tuple[str, ...]]) -> Iterator[Turned]:
    """Yield the lifecycle events of one level since the previous week (after Palla, Barabási and Vicsek 2007).

    A theme has split when two or more current themes each contain a fifth of it and consist mostly of it; a theme is
    merged when it contains most of two or more of last week's themes, each making up a fifth of it. Every new id is
    born, every missing one has died; `others` lists the themes their members came from or went to.

    Args:
        groups: current members by theme id.
        previous: last week's members by theme id.
    """
    today, before = list(groups), list(previous)
    shared = _shared([groups[name] for name in today], [previous[name] for name in before])
    sources: dict[str, dict[str, int]] = defaultdict(dict)
    heirs: dict[str, dict[str, int]] = defaultdict(dict)
    for (index, other), count in shared.items():
        sources[today[index]][before[other]] = heirs[before[other]][today[index]] = count
    for theme in before:
        yield from _endings(theme, len(previous[theme]), heirs[theme], groups)
    for theme in today:
        yield from _births(theme, groups[theme], sources[theme], previous)


def _endings(
    theme: str, size: int, heirs: Mapping[str, int], groups: Mapping[str, tuple[str, ...]]
) -> Iterator[Turned]:
    large = {heir: count for heir, count in heirs.items() if count >= _MIN_SHARE * size}
    parts = [heir for heir, count in large.items() if count >= _MAJORITY * len(groups[heir])]
    if len(parts) > 1:
        yield Turned(LifecycleEvent.SPLIT, theme, tuple(part for part in parts if part != theme))
    if theme not in groups:
        yield Turned(LifecycleEvent.DIED, theme, tuple(large))


def _births(
    theme: str, members: tuple[str, ...], sources: Mapping[str, int], previous: Mapping[str, tuple[str, ...]]
) -> Iterator[Turned]:
    large = {source: count for source, count in sources.items() if count >= _MIN_SHARE * len(members)}
    merged = [source for source, count in large.items() if count >= _MAJORITY * len(previous[source])]
    before = set(previous.get(theme, ()))
    joined, left = tuple(sorted(set(members) - before)), tuple(sorted(before - set(members)))
    if theme not in previous:
        yield Turned(LifecycleEvent.BORN, theme, tuple(large), members)
    if len(merged) > 1:
        yield Turned(LifecycleEvent.MERGED, theme, tuple(source for source in merged if source != theme), joined, left)
    net = len(joined) - len(left)
    if before and abs(net) >= max(_MIN_CHANGED_MEMBERS, _MIN_CHANGE * len(before)):
        yield Turned(LifecycleEvent.GROWN if net > 0 else LifecycleEvent.SHRUNK, theme, (), joined, left)


# ── how stable ────────────────────────────────────────────────────────────────────────────────────────────────────────


def stability(before: Iterable[Community], now: Iterable[Community]) -> float:
    """Return the share of last week's memberships that still hold in a theme of the same id; 1 without any."""
    today = {community.id: set(community.members) for community in now}
    held = total = 0
    for community in before:
        total += len(community.members)
        held += len(today.get(community.id, set()).intersection(community.members))
    return held / total if total else 1.0


def variation(before: Iterable[Community], now: Iterable[Community]) -> float:
    """Return the variation of information (Meilă 2003) over the common topics, in bits; 0 if identical."""
    old, new = _homes(before), _homes(now)
    both = sorted(old.keys() & new.keys())
    if not both:
        return 0.0
    (_, first), (_, second) = (np.unique([side[member] for member in both], return_inverse=True) for side in (old, new))
    joint = _entropy(np.unique(first * np.int64(len(both)) + second, return_counts=True)[1])
    return max(0.0, 2 * joint - _entropy(np.bincount(first)) - _entropy(np.bincount(second)))


def _homes(communities: Iterable[Community]) -> Mapping[str, str]:
    homes: dict[str, str] = defaultdict(str)
    for community in communities:
        homes.update((member, community.id) for member in community.members if member.startswith(TOPIC_KINDS))
    return homes


def _entropy(counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    share = counts / counts.sum()
    return float(-(share * np.log2(share)).sum())
