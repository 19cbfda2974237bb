"""Themes keep their id from week to week: the overlap of members decides, by optimal one-to-one assignment."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import networkx as nx

from kg.ids import community_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg.model import Community

_LEAST_OVERLAP = 0.3  # Jaccard; below that a theme is a new one


def stable_ids(level: int, groups: Sequence[tuple[str, ...]], previous: Sequence[Community]) -> list[str]:
    """Return an id for each group of entity ids: last week's where the groups match best, else a new hash.

    Maximum-weight matching (Galil 1986, networkx) over Jaccard overlaps.
    """
    owner = {member: index for index, community in enumerate(previous) for member in community.members}
    graph: nx.Graph[tuple[str, int]] = nx.Graph()
    for index, members in enumerate(groups):
        shared = Counter(owner[member] for member in members if member in owner)
        for other, count in sorted(shared.items()):
            jaccard = count / (len(members) + len(previous[other].members) - count)
            if jaccard >= _LEAST_OVERLAP:
                graph.add_edge(("new", index), ("old", other), weight=round(jaccard * 1_000_000))
    matched = {}
    for first, second in nx.max_weight_matching(graph):
        new, old = (first, second) if first[0] == "new" else (second, first)
        matched[new[1]] = previous[old[1]].id
    return [matched.get(index) or community_id(level, members) for index, members in enumerate(groups)]
