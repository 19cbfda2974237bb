"""How good a partition is: modularity, coverage, sizes, and how steady it is from week to week."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import numpy as np

from communities.detection import modularity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from communities.detection import Found
    from communities.projection import Projection
    from kg.model import Run


def measure(projection: Projection, communities: Sequence[Found], previous: Run | None, kept: dict[str, set[str]]) -> dict[str, float]:
    """Return the figures of one level; `kept` maps each community id to its members."""
    sizes = [len(community.members) for community in communities]
    return {
        "nodes": float(len(projection.nodes)),
        "pairs": float(len(projection.pairs)),
        "communities": float(len(communities)),
        "modularity": round(modularity(projection, communities), 4),
        "coverage": round(_coverage(projection, communities), 4),
        "largest": float(max(sizes, default=0)),
        "median": float(statistics.median(sizes)) if sizes else 0.0,
        "stability": round(_stability(previous, kept), 4),
    }


def _coverage(projection: Projection, communities: Sequence[Found]) -> float:
    """Share of the weight that lies inside communities."""
    if not len(projection.pairs):
        return 0.0
    membership = np.zeros(len(projection.nodes), dtype=np.int64)
    for index, community in enumerate(communities):
        membership[list(community.members)] = index
    inside = membership[projection.pairs[:, 0]] == membership[projection.pairs[:, 1]]
    return float(projection.weights[inside].sum() / projection.weights.sum())


def _stability(previous: Run | None, kept: dict[str, set[str]]) -> float:
    """Share of last week's nodes that are in a community of the same id; 1 when there was no last week."""
    before = {member: community.id for community in (previous.communities if previous else ()) if community.level == 0 for member in community.members}
    if not before:
        return 1.0
    stayed = sum(1 for community, members in kept.items() for member in members if before.get(member) == community)
    return stayed / len(before)
