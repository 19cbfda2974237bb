"""Project an as-of view to the weighted, undirected graph on which communities are detected.

An indicator is replaced by its subject (碳酸锂价格 by 碳酸锂). The weight of a pair is the sum over its edges of
snapshot weight × share (projection.yaml) × bucket factor, divided by the geometric mean of the end degrees to the power
`_HUB_POWER`, so that a company with a hundred products or an industry with a hundred companies does not merge unrelated
nodes. Only nodes with at least one live fact are linked to their industry.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import yaml

from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from kg.graph.snapshot import Snapshot

_HUB_POWER = 0.5
_BUCKET = 20  # edges of one node and relation with full weight; beyond that each weighs sqrt(20 / count)
_EXCLUDED_KINDS = frozenset({Kind.REGION, Kind.PERSON})


@dataclass(frozen=True, slots=True)
class Projection:
    """Undirected weighted pairs over `nodes` (snapshot rows); `pairs` is (m, 2) indices into `nodes`."""

    nodes: NDArray[np.int64]
    pairs: NDArray[np.int64]
    weights: NDArray[np.float64]


class Tables(NamedTuple):
    """The tables of projection.yaml: relation → share, the share of an `about` link, and names too generic to use."""

    shares: Mapping[str, float]
    about: float
    generic: frozenset[str]


class _Edges(NamedTuple):
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    relation: NDArray[np.int64]
    weight: NDArray[np.float64]


@cache
def tables() -> Tables:
    """Return the tables shipped with Liantu."""
    read = yaml.safe_load(resources.files(__package__).joinpath("projection.yaml").read_text(encoding="utf-8"))
    generic = frozenset(name for names in read["generic"].values() for name in names)
    return Tables(read["shares"], read["about"], generic)


def project(snapshot: Snapshot) -> Projection:
    """Return the projection of a snapshot without isolated nodes."""
    size = len(snapshot.entity_ids)
    edges = _edges(snapshot)
    low, high = np.minimum(edges.source, edges.target), np.maximum(edges.source, edges.target)
    excluded = _excluded(snapshot)
    keep = (low != high) & (edges.weight > 0) & ~excluded[low] & ~excluded[high]
    weight = edges.weight * _bucket_factor(edges, keep, size)
    keys, inverse = np.unique(low[keep] * np.int64(size) + high[keep], return_inverse=True)
    summed = np.bincount(inverse, weights=weight[keep], minlength=len(keys))
    first, second = np.divmod(keys, max(size, 1))
    degree = np.bincount(np.concatenate([first, second]), minlength=size).astype(np.float64)
    damped = summed / np.sqrt(degree[first] * degree[second]) ** _HUB_POWER
    nodes = np.unique(np.concatenate([first, second]))
    pairs = np.stack([np.searchsorted(nodes, first), np.searchsorted(nodes, second)], axis=1)
    return Projection(nodes, pairs, damped)


def roots(snapshot: Snapshot) -> NDArray[np.int64]:
    """Return for each node its representative: the subject of an indicator, otherwise the node itself."""
    own = np.arange(len(snapshot.entity_ids), dtype=np.int64)
    has_subject = _of_kind(snapshot, Kind.INDICATOR) & (snapshot.about >= 0)
    return np.where(has_subject, snapshot.about.astype(np.int64), own)


def _excluded(snapshot: Snapshot) -> NDArray[np.bool_]:
    generic = tables().generic
    flags = (
        kind in _EXCLUDED_KINDS or (not identity.startswith("sec:") and identity.split(":", 1)[-1] in generic)
        for identity, kind in zip(snapshot.entity_ids, snapshot.kinds, strict=True)
    )
    return np.fromiter(flags, dtype=np.bool_, count=len(snapshot.entity_ids))


def _edges(snapshot: Snapshot) -> _Edges:
    shares = tables().shares
    share = np.array([shares.get(name, 0.0) for name in snapshot.relation_names])
    edges, root = snapshot.edges(), roots(snapshot)
    about = snapshot.about
    touched = np.zeros(len(snapshot.entity_ids), dtype=np.bool_)
    touched[root[edges.source]] = touched[root[edges.target]] = True
    # Skip links from an industry to its parent: the classification tree would connect everything.
    rows = np.flatnonzero((about >= 0) & touched & (root == np.arange(len(root))) & ~_of_kind(snapshot, Kind.INDUSTRY))
    tie = len(share)  # a separate relation number
    return _Edges(
        np.concatenate([root[edges.source], rows]),
        np.concatenate([root[edges.target], about[rows].astype(np.int64)]),
        np.concatenate([edges.relation.astype(np.int64), np.full(len(rows), tie)]),
        np.concatenate([edges.weight * share[edges.relation], np.full(len(rows), tables().about)]),
    )


def _bucket_factor(edges: _Edges, keep: NDArray[np.bool_], size: int) -> NDArray[np.float64]:
    """Return a damping factor for each edge from the larger of its two (node, relation) buckets."""
    largest = np.ones(len(edges.source), dtype=np.int64)
    for ends in (edges.source, edges.target):
        keys = edges.relation * np.int64(size) + ends
        _, inverse, counts = np.unique(keys[keep], return_inverse=True, return_counts=True)
        largest[keep] = np.maximum(largest[keep], counts[inverse])
    return np.sqrt(np.minimum(1.0, _BUCKET / largest))


def _of_kind(snapshot: Snapshot, wanted: Kind) -> NDArray[np.bool_]:
    return np.fromiter((kind is wanted for kind in snapshot.kinds), dtype=np.bool_, count=len(snapshot.kinds))
