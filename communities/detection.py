"""Hierarchical Leiden (Traag, Waltman and van Eck 2019) by igraph's C implementation, with a fixed seed.

All communities of a level are cut in one call: links between them are left out, and node weights strength ×
sqrt(resolution / 2m), with m of the node's own community, make the constant Potts model equal to the modularity of each
community alone (Reichardt and Bornholdt 2006). So a hierarchy costs one pass over the graph a level.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import igraph
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from communities.projection import Projection

    Labels = NDArray[np.int64]

_ITERATIONS = 4
_DOUBLINGS = 3  # a community too large to read is tried at up to eight times the resolution
_PART = 3  # a smaller piece is no part of a theme that stands by itself


@dataclass(frozen=True, slots=True)
class DetectionOptions:
    """`resolutions` give the levels, coarsest first.

    A community larger than `largest` is cut once more; one smaller than `smallest` joins the one it is tied to most.
    """

    resolutions: tuple[float, ...] = (0.6, 1.2)
    largest: int = 150
    smallest: int = 5
    seed: int = 20260101


@dataclass(frozen=True, slots=True)
class DetectedCommunity:
    """A community as positions into the projection's nodes; `parent` indexes the level above, −1 at the top."""

    level: int
    parent: int
    members: tuple[int, ...]


def detect(
    projection: Projection, options: DetectionOptions | None = None, starts: Sequence[Labels] = ()
) -> list[list[DetectedCommunity]]:
    """Return the communities of each level, every one connected, ordered by size and first member.

    A lower level refines the one above: its communities never cross the borders of their parents.

    Args:
        projection: the graph.
        options: levels, largest size and seed.
        starts: for each level a label per node to begin with (last week's), −1 for a node without one. Leiden moves
            away from it wherever that is better, so that what is equally good stays as it was.
    """
    options = options or DetectionOptions()
    levels: list[list[DetectedCommunity]] = []
    home = np.zeros(len(projection.nodes), dtype=np.int64)
    for level, resolution in enumerate(options.resolutions):
        start = starts[level] if level < len(starts) else None
        cut = _leiden(projection, home, np.full(1 + int(home.max(initial=0)), resolution), options.seed, start)
        cut = _cut_large(projection, cut, resolution, options=options)
        cut = _join_small(projection, home, cut, options.smallest)
        levels.append(_found(level, cut, home if level else None))
        home = membership(projection, levels[-1])
    return levels


def _cut_large(projection: Projection, home: Labels, resolution: float, *, options: DetectionOptions) -> Labels:
    """Cut each community that is too large at the first finer resolution that divides it.

    A cut that only peels single nodes off, as it does with a star, says nothing: such a community stays whole.
    """
    count = int(home.max(initial=-1)) + 1
    gamma, tries = np.full(count, resolution), np.full(count, _DOUBLINGS)
    while (large := (np.bincount(home, minlength=len(tries)) > options.largest) & (tries > 0)).any():
        gamma[large] *= 2
        tries[large] -= 1
        inside = np.flatnonzero(large[home])
        parts = np.full(len(home), -1, dtype=np.int64)
        parts[inside] = _leiden(_within(projection, inside), _dense(home[inside]), gamma[large], options.seed)
        owner, sizes = home[inside][np.unique(parts[inside], return_index=True)[1]], np.bincount(parts[inside])
        divided = np.bincount(owner[sizes >= _PART], minlength=len(large)) > 1
        moved = np.flatnonzero(large[home] & divided[home])
        pieces = _dense(parts[moved])
        heads = home[moved][np.unique(pieces, return_index=True)[1]]
        home[moved] = len(tries) + pieces
        gamma = np.concatenate([gamma, gamma[heads]])
        tries = np.concatenate([tries, np.full(len(heads), _DOUBLINGS)])
    return _dense(home)


def _join_small(projection: Projection, home: Labels, cut: Labels, smallest: int) -> Labels:
    """Join communities that are too small to the one, within the same parent, that they are tied to most."""
    pairs, weights = projection.pairs, projection.weights
    while True:
        ends = cut[pairs]
        small = np.bincount(cut) < smallest
        rows = np.flatnonzero(
            (ends[:, 0] != ends[:, 1]) & (home[pairs[:, 0]] == home[pairs[:, 1]]) & small[ends].any(axis=1)
        )
        if not len(rows):
            return cut
        one, other = np.concatenate([ends[rows], ends[rows][:, ::-1]]).T
        tied, place = np.unique(one * np.int64(len(small)) + other, return_inverse=True)
        weight = np.bincount(place, weights=np.tile(weights[rows], 2))
        one, other = np.divmod(tied, len(small))
        order = np.lexsort((other, -weight, one))
        order = order[small[one[order]]]
        first = order[np.unique(one[order], return_index=True)[1]]
        joined = _components(np.stack([one[first], other[first]], axis=1), len(small))
        cut = joined[cut]


def _within(projection: Projection, nodes: Labels) -> Projection:
    """Return the part of a projection that lies among some nodes, given in order."""
    place = np.full(len(projection.nodes), -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    keep = (place[projection.pairs] >= 0).all(axis=1)
    return type(projection)(projection.nodes[nodes], place[projection.pairs[keep]], projection.weights[keep])


def _leiden(
    projection: Projection, home: Labels, gamma: NDArray[np.float64], seed: int, start: Labels | None = None
) -> Labels:
    """Cut every community of `home` at its own resolution; labels are numbered from 0, every part is connected."""
    size = len(home)
    pairs, weights = projection.pairs, projection.weights
    if len(gamma) > 1:
        inside = home[pairs[:, 0]] == home[pairs[:, 1]]
        pairs, weights = pairs[inside], weights[inside]
    strength = np.bincount(pairs.ravel(), weights=np.repeat(weights, 2), minlength=size)
    total = np.bincount(home, weights=strength, minlength=len(gamma))
    scale = np.sqrt(gamma / np.where(total > 0, total, 1.0))
    labels = None if start is None else _combined(home, start)
    igraph.set_random_number_generator(random.Random(seed))  # noqa: S311 -- a seed for repeatable clusters, not a secret
    try:
        clusters = igraph.Graph(n=size, edges=pairs).community_leiden(
            objective_function="CPM",
            weights=weights.tolist(),
            node_weights=(strength * scale[home]).tolist(),
            initial_membership=None if labels is None else labels.tolist(),
            n_iterations=_ITERATIONS,
        )
    finally:
        igraph.set_random_number_generator(random)  # igraph keeps one generator for the whole process
    return _connected(pairs, np.array(clusters.membership, dtype=np.int64))


def _combined(home: Labels, start: Labels) -> Labels:
    """Return labels that tell apart what `home` or `start` tells apart; a node without a start is by itself."""
    lonely = start < 0
    label = np.where(lonely, np.arange(len(start)), start + len(start))
    return _dense(home * np.int64(1 + int(label.max(initial=0))) + label)


def _connected(pairs: Labels, cluster: Labels) -> Labels:
    """Leiden promises connected communities; a weight of zero or a start could still break one, so it is made sure."""
    return _components(pairs[cluster[pairs[:, 0]] == cluster[pairs[:, 1]]], len(cluster))


def _components(pairs: Labels, size: int) -> Labels:
    """Number the connected components: every node takes the least number it can reach.

    Hooking and pointer jumping (Shiloach and Vishkin 1982): a few passes over the arrays, where a second graph would
    cost as much as the first.
    """
    first, second = np.ascontiguousarray(pairs.T)
    label = np.arange(size, dtype=np.int64)
    while (differ := label[first] != label[second]).any():
        first, second = first[differ], second[differ]
        one, other = label[first], label[second]
        np.minimum.at(label, np.maximum(one, other), np.minimum(one, other))
        while not np.array_equal(jumped := label[label], label):
            label = jumped
    return _dense(label)


def _dense(labels: Labels) -> Labels:
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _found(level: int, labels: Labels, parents: Labels | None) -> list[DetectedCommunity]:
    order = np.argsort(labels, kind="stable")
    borders = [0, *(np.flatnonzero(np.diff(labels[order])) + 1).tolist(), len(order)]
    nodes = order.tolist()
    groups = [tuple(nodes[first:last]) for first, last in pairwise(borders) if last > first]
    found = [DetectedCommunity(level, -1 if parents is None else int(parents[group[0]]), group) for group in groups]
    return sorted(found, key=lambda item: (-len(item.members), item.members[0]))


def membership(projection: Projection, found: Sequence[DetectedCommunity]) -> Labels:
    """Return the number of each node's community in a flat partition."""
    home = np.zeros(len(projection.nodes), dtype=np.int64)
    sizes = [len(community.members) for community in found]
    members = np.fromiter((node for community in found for node in community.members), np.int64, sum(sizes))
    home[members] = np.repeat(np.arange(len(found)), sizes)
    return home


def modularity(projection: Projection, found: Sequence[DetectedCommunity]) -> float:
    """Return the weighted modularity (Newman 2004) of a flat partition; 0 for an empty graph."""
    if not len(projection.pairs):
        return 0.0
    graph = igraph.Graph(n=len(projection.nodes), edges=projection.pairs)
    return float(graph.modularity(membership(projection, found).tolist(), weights=projection.weights.tolist()))
