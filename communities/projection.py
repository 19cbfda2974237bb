"""The graph that communities are found in: an as-of view brought down to weighted, undirected pairs.

Weight of a pair = sum over its edges of (snapshot weight × relation's share below), divided by the geometric mean of
the ends' degrees to the power `_HUB_POWER`, so that a hub does not glue strangers. Measured facts hang on their subject
and are left out; an indicator is tied to what it is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kg.model import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kg.graph.snapshot import Snapshot

# What one edge says about belonging to one theme: causal and chain links make themes, a shared place does not.
SHARES = {
    "upstream_of": 1.0,
    "part_of": 1.0,
    "supplies": 1.0,
    "produces": 0.9,
    "uses": 0.7,
    "affects": 0.9,
    "subsidiary_of": 0.8,
    "substitutes_for": 0.7,
    "belongs_to": 0.6,
    "operates": 0.6,
    "competes_with": 0.6,
    "acquires": 0.6,
    "holds_stake_in": 0.5,
    "partners_with": 0.5,
    "invests_in": 0.5,
    "located_in": 0.0,
    "reports": 0.0,
    "rates": 0.0,
}
_ABOUT_SHARE = 0.8
_HUB_POWER = 0.5
_LEFT_OUT = frozenset({Kind.REGION, Kind.PERSON})


@dataclass(frozen=True, slots=True)
class Projection:
    """Undirected weighted pairs over `nodes` (snapshot rows); `pairs` is (m, 2) positions into `nodes`."""

    nodes: NDArray[np.int64]
    pairs: NDArray[np.int64]
    weights: NDArray[np.float64]


def project(snapshot: Snapshot) -> Projection:
    """Return the projection of a snapshot; nodes without a pair are left out."""
    size = len(snapshot.entity_ids)
    source, target, weight = _edges(snapshot)
    low, high = np.minimum(source, target), np.maximum(source, target)
    barred = np.array([kind in _LEFT_OUT for kind in snapshot.kinds], dtype=np.bool_)
    keep = (low != high) & (weight > 0) & ~barred[low] & ~barred[high]
    keys, inverse = np.unique(low[keep] * np.int64(size) + high[keep], return_inverse=True)
    summed = np.bincount(inverse, weights=weight[keep], minlength=len(keys))
    first, second = np.divmod(keys, max(size, 1))
    degree = np.bincount(np.concatenate([first, second]), minlength=size).astype(np.float64)
    damped = summed / np.sqrt(degree[first] * degree[second]) ** _HUB_POWER
    nodes = np.unique(np.concatenate([first, second]))
    pairs = np.stack([np.searchsorted(nodes, first), np.searchsorted(nodes, second)], axis=1)
    return Projection(nodes, pairs, damped)


def _edges(snapshot: Snapshot) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    shares = np.array([SHARES.get(name, 0.0) for name in snapshot.relation_names])
    edges = snapshot.edges()
    about = snapshot.about
    tied = np.array([kind is not Kind.INDUSTRY for kind in snapshot.kinds], dtype=np.bool_)
    rows = np.flatnonzero((about >= 0) & tied)  # a trade's parent is the classification's word, and would glue it all
    source = np.concatenate([edges.source.astype(np.int64), rows])
    target = np.concatenate([edges.target.astype(np.int64), about[rows].astype(np.int64)])
    weight = np.concatenate([edges.weight * shares[edges.relation], np.full(len(rows), _ABOUT_SHARE)])
    return source, target, weight
