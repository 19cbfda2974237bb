"""How good a partition is: modularity, coverage, sizes, and how steady it is from week to week."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from communities.detection import membership, modularity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from communities.detection import Found
    from communities.projection import Projection
    from kg.model import Community


def measure(projection: Projection, found: Sequence[Found]) -> dict[str, float]:
    """Return the figures of a flat partition; `communities` counts single nodes too."""
    sizes = [len(community.members) for community in found]
    return {
        "nodes": float(len(projection.nodes)),
        "pairs": float(len(projection.pairs)),
        "communities": float(len(found)),
        "modularity": round(modularity(projection, found), 4),
        "coverage": round(coverage(projection, found), 4),
        "largest": float(max(sizes, default=0)),
        "median": float(statistics.median(sizes)) if sizes else 0.0,
    }


def coverage(projection: Projection, found: Sequence[Found]) -> float:
    """Return the share of the weight that lies inside communities (Fortunato 2010), 0 … 1."""
    if not len(projection.pairs):
        return 0.0
    home = membership(projection, found)
    inside = home[projection.pairs[:, 0]] == home[projection.pairs[:, 1]]
    return float(projection.weights[inside].sum() / projection.weights.sum())


def stability(before: Iterable[Community], now: Iterable[Community]) -> float:
    """Return the share of last week's members that are in a community of the same id; 1 when there was no last week."""
    homes = {member: community.id for community in before for member in community.members}
    if not homes:
        return 1.0
    stayed = sum(homes.get(member) == community.id for community in now for member in community.members)
    return stayed / len(homes)
