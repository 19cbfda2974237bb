"""Hierarchical Leiden (Traag, Waltman and van Eck 2019) with igraph's C implementation and a fixed seed.

All communities of a level are partitioned in one call: edges between them are dropped, and node weights strength ×
sqrt(resolution / 2m), with m of the node's own community, make the constant Potts model equal to the modularity of each
community alone (Reichardt and Bornholdt 2006). A hierarchy therefore costs one pass over the graph per level.
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
_DOUBLINGS = 3  # a community that is too large is retried at up to eight times the resolution
_PART = 3  # minimum nodes of a piece that counts as a real division


@dataclass(frozen=True, slots=True)
class DetectionOptions:
    """Options of the detection; `resolutions` define the levels, coarsest first.

    A community larger than `largest` is divided further; one smaller than `smallest` is merged into the neighbour with
    the largest total edge weight.
    """

    resolutions: tuple[float, ...] = (0.6, 1.2)
    largest: int = 150
    smallest: int = 5
    seed: int = 20260101


@dataclass(frozen=True, slots=True)
class DetectedCommunity:
    """A community: indices into the projection's nodes; `parent` indexes the level above, −1 at the top."""

    level: int
    parent: int
    members: tuple[int, ...]


def detect(
    projection: Projection, options: DetectionOptions | None = None, starts: Sequence[Labels] = ()
) -> list[list[DetectedCommunity]]:
    """Return the connected communities of each level, ordered by size and first member.

    Each level refines the one above: communities never cross the borders of their parents.

    Args:
        projection: the graph.
        options: resolutions, size limits and seed.
        starts: initial label of each node per level (last week's), −1 for none. Leiden moves nodes only where that
            improves the objective, so ties keep last week's partition.
    """
    options = options or DetectionOptions()
    levels: list[list[DetectedCommunity]] = []
    home = np.zeros(len(projection.nodes), dtype=np.int64)
    for level, resolution in enumerate(options.resolutions):
        start = starts[level] if level < len(starts) else None
        cut = _leiden(projection, home, np.full(1 + int(home.max(initial=0)), resolution), options.seed, start)
        cut = _divide_large(projection, cut, resolution, options=options)
        cut = _merge_small(projection, home, cut, options.smallest)
        levels.append(_communities_of(level, cut, home if level else None))
        home = membership(projection, levels[-1])
    return levels


def _divide_large(projection: Projection, home: Labels, resolution: float, *, options: DetectionOptions) -> Labels:
    """Divide each community that is too large at the first finer resolution that splits it.

    A cut that only peels off single nodes (as in a star) is discarded; such a community stays whole.
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


def _merge_small(projection: Projection, home: Labels, cut: Labels, smallest: int) -> Labels:
    """Merge communities that are too small into the sibling with the largest total edge weight."""
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
    """Return the subgraph of a projection induced by `nodes` (sorted)."""
    place = np.full(len(projection.nodes), -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    keep = (place[projection.pairs] >= 0).all(axis=1)
    return type(projection)(projection.nodes[nodes], place[projection.pairs[keep]], projection.weights[keep])


def _leiden(
    projection: Projection, home: Labels, gamma: NDArray[np.float64], seed: int, start: Labels | None = None
) -> Labels:
    """Partition every community of `home` at its own resolution; labels start at 0, every part is connected."""
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
        igraph.set_random_number_generator(random)  # igraph has one generator per process
    return _connected(pairs, np.array(clusters.membership, dtype=np.int64))


def _combined(home: Labels, start: Labels) -> Labels:
    """Return the common refinement of `home` and `start`; a node without a start label is a singleton."""
    unlabelled = start < 0
    label = np.where(unlabelled, np.arange(len(start)), start + len(start))
    return _dense(home * np.int64(1 + int(label.max(initial=0))) + label)


def _connected(pairs: Labels, cluster: Labels) -> Labels:
    """Split clusters into connected parts: zero weights or a start labelling can break Leiden's guarantee."""
    return _components(pairs[cluster[pairs[:, 0]] == cluster[pairs[:, 1]]], len(cluster))


def _components(pairs: Labels, size: int) -> Labels:
    """Label the connected components of an edge list.

    Hooking and pointer jumping (Shiloach and Vishkin 1982): a few array passes, far cheaper than building a second
    igraph graph.
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


def _communities_of(level: int, labels: Labels, parents: Labels | None) -> list[DetectedCommunity]:
    order = np.argsort(labels, kind="stable")
    borders = [0, *(np.flatnonzero(np.diff(labels[order])) + 1).tolist(), len(order)]
    nodes = order.tolist()
    groups = [tuple(nodes[first:last]) for first, last in pairwise(borders) if last > first]
    found = [DetectedCommunity(level, -1 if parents is None else int(parents[group[0]]), group) for group in groups]
    return sorted(found, key=lambda item: (-len(item.members), item.members[0]))


def membership(projection: Projection, found: Sequence[DetectedCommunity]) -> Labels:
    """Return each node's community index in a flat partition."""
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
