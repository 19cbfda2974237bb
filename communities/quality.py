"""Measure a partition (modularity, coverage, conductance, sizes) and its stability from week to week."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from communities.detection import membership, modularity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from communities.detection import DetectedCommunity
    from communities.projection import Projection
    from kg.model import Community


def measure(projection: Projection, found: Sequence[DetectedCommunity]) -> dict[str, float]:
    """Return the metrics of a flat partition; `communities` includes singletons."""
    sizes = np.array([len(community.members) for community in found] or [0])
    low, median, high = np.percentile(sizes, [25, 50, 75])
    return {
        "nodes": float(len(projection.nodes)),
        "pairs": float(len(projection.pairs)),
        "communities": float(len(found)),
        "modularity": round(modularity(projection, found), 4),
        "coverage": round(coverage(projection, found), 4),
        "conductance": round(conductance(projection, found), 4),
        "largest": float(sizes.max()),
        "median": float(median),
        "lower_quartile": float(low),
        "upper_quartile": float(high),
    }


def coverage(projection: Projection, found: Sequence[DetectedCommunity]) -> float:
    """Return the share of edge weight inside communities (Fortunato 2010), 0 … 1."""
    if not len(projection.pairs):
        return 0.0
    home = membership(projection, found)
    inside = home[projection.pairs[:, 0]] == home[projection.pairs[:, 1]]
    return float(projection.weights[inside].sum() / projection.weights.sum())


def conductance(projection: Projection, found: Sequence[DetectedCommunity]) -> float:
    """Return the mean conductance (Kannan, Vempala and Vetta 2004) over communities, weighted by node count.

    Conductance: the weight leaving a community divided by the smaller of its volume and the rest's; 0 is best.
    """
    if not len(projection.pairs):
        return 0.0
    home = membership(projection, found)
    ends, weights = home[projection.pairs], projection.weights
    volume = np.bincount(ends.ravel(), weights=np.repeat(weights, 2), minlength=len(found))
    leaving = ends[:, 0] != ends[:, 1]
    leaving_weight = np.bincount(ends[leaving].ravel(), weights=np.repeat(weights[leaving], 2), minlength=len(found))
    cut = leaving_weight.astype(np.float64)  # bincount returns integers for empty input
    smaller = np.minimum(volume, volume.sum() - volume)
    each = np.divide(cut, smaller, out=np.zeros_like(cut), where=smaller > 0)
    return float(np.average(each, weights=np.bincount(home, minlength=len(found))))


def stability(before: Iterable[Community], now: Iterable[Community]) -> float:
    """Return the share of last week's members still in a community of the same id; 1 without a previous week."""
    homes = _homes(before)
    if not homes:
        return 1.0
    stayed = sum(homes.get(member) == community.id for community in now for member in community.members)
    return stayed / len(homes)


def variation(before: Iterable[Community], now: Iterable[Community]) -> float:
    """Return the variation of information (Meilă 2003) over the common members, in bits; 0 if identical."""
    old, new = _homes(before), _homes(now)
    both = sorted(old.keys() & new.keys())
    if not both:
        return 0.0
    (_, first), (_, second) = (np.unique([side[member] for member in both], return_inverse=True) for side in (old, new))
    joint = _entropy(np.unique(first * np.int64(len(both)) + second, return_counts=True)[1])
    return max(0.0, 2 * joint - _entropy(np.bincount(first)) - _entropy(np.bincount(second)))


def _homes(communities: Iterable[Community]) -> Mapping[str, str]:
    return {member: community.id for community in communities for member in community.members}


def _entropy(counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    share = counts / counts.sum()
    return float(-(share * np.log2(share)).sum())
