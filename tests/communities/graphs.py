"""Small projections made of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from communities.projection import Projection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from communities.detection import DetectedCommunity


def projected(pairs: Sequence[tuple[int, int]], weights: Sequence[float] | None = None) -> Projection:
    """Return a projection of these pairs of nodes 0, 1, 2 …"""
    rows = np.array(sorted((min(pair), max(pair)) for pair in pairs), dtype=np.int64).reshape(-1, 2)
    nodes = np.arange(int(rows.max()) + 1 if rows.size else 0, dtype=np.int64)
    return Projection(nodes, rows, np.array([1.0] * len(rows) if weights is None else weights, dtype=np.float64))


def clique(first: int, size: int) -> list[tuple[int, int]]:
    """Return all pairs of `size` nodes from `first` on."""
    return [(one, other) for one in range(first, first + size) for other in range(one + 1, first + size)]


def as_networkx(projection: Projection) -> nx.Graph[int]:
    """Return the same graph for an oracle."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(projection.nodes)))
    graph.add_weighted_edges_from(
        (int(one), int(other), float(weight))
        for (one, other), weight in zip(projection.pairs, projection.weights, strict=True)
    )
    return graph


def members(found: Sequence[DetectedCommunity]) -> list[set[int]]:
    """Return the node sets of communities."""
    return [set(item.members) for item in found]
