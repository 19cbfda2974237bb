"""Themes keep their id from week to week: the overlap of members decides, by optimal one-to-one assignment."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import networkx as nx

from kg.ids import community_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kg.model import Community

_LEAST_OVERLAP = 0.3  # Jaccard; below that a theme is a new one
_WHOLE = 1_000_000  # overlaps as whole numbers: the matching is exact and the same on every machine


def stable_ids(level: int, groups: Sequence[tuple[str, ...]], previous: Sequence[Community]) -> list[str]:
    """Return a distinct id for each group of entity ids: last week's where the groups match best, else a new hash.

    Maximum-weight matching (Galil 1986, networkx) over Jaccard overlaps: of a theme that split, the part that holds
    most of it keeps the id; of themes that merged, the one that gave most lends its id.

    Args:
        level: of all the groups; part of a new id.
        groups: disjoint members of each theme.
        previous: last week's themes of this level.
    """
    kept = _matched(groups, previous)
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


def _matched(groups: Sequence[tuple[str, ...]], previous: Sequence[Community]) -> Mapping[int, str]:
    owner = {member: index for index, community in enumerate(previous) for member in community.members}
    graph: nx.Graph[tuple[str, int]] = nx.Graph()
    for index, members in enumerate(groups):
        shared = Counter(owner[member] for member in members if member in owner)
        for other, count in sorted(shared.items()):
            overlap = count / (len(members) + len(previous[other].members) - count)
            if overlap >= _LEAST_OVERLAP:
                graph.add_edge(("new", index), ("old", other), weight=round(overlap * _WHOLE))
    pairs = (sorted(pair) for pair in nx.max_weight_matching(graph))
    return {new: previous[old].id for (_, new), (_, old) in pairs}
