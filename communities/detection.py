"""Hierarchical Leiden (Traag, Waltman and van Eck 2019) by igraph's C implementation, with a fixed seed."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import igraph
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from communities.projection import Projection

_ITERATIONS = 10


@dataclass(frozen=True, slots=True)
class DetectionOptions:
    """`resolutions` give the levels, coarsest first; a community larger than `largest` is cut once more."""

    resolutions: tuple[float, ...] = (0.6, 2.0)
    largest: int = 150
    seed: int = 20260101


@dataclass(frozen=True, slots=True)
class Found:
    """A community as positions into the projection's nodes; `parent` indexes the level above, −1 at the top."""

    level: int
    parent: int
    members: tuple[int, ...]


def detect(projection: Projection, options: DetectionOptions | None = None) -> list[list[Found]]:
    """Return the communities of each level, every one connected, ordered by size and first member.

    A lower level refines the one above: its communities never cross the borders of their parents.
    """
    options = options or DetectionOptions()
    graph = igraph.Graph(n=len(projection.nodes), edges=projection.pairs.tolist())
    graph.es["weight"] = projection.weights.tolist()
    levels: list[list[Found]] = []
    parents = [tuple(range(graph.vcount()))] if graph.vcount() else []
    for level, resolution in enumerate(options.resolutions):
        found = [
            Found(level, index if level else -1, part)
            for index, members in enumerate(parents)
            for part in _cut(graph, members, resolution, options)
        ]
        found.sort(key=lambda item: (-len(item.members), item.members))
        levels.append(found)
        parents = [item.members for item in found]
    return levels


def _cut(graph: igraph.Graph, members: Sequence[int], resolution: float, options: DetectionOptions) -> list[tuple[int, ...]]:
    """Cut one community by Leiden, and again at twice the resolution where a part is too large."""
    parts = _leiden(graph, members, resolution, options.seed)
    out: list[tuple[int, ...]] = []
    for part in parts:
        if len(part) > options.largest and len(parts) > 1:
            out += _cut(graph, part, resolution * 2, options)
        else:
            out.append(part)
    return out


def _leiden(graph: igraph.Graph, members: Sequence[int], resolution: float, seed: int) -> list[tuple[int, ...]]:
    part = graph.induced_subgraph(members)
    if part.ecount() == 0:
        return [(member,) for member in members]
    igraph.set_random_number_generator(random.Random(seed))  # noqa: S311 -- a seed for repeatable clusters, not a secret
    clusters = part.community_leiden(
        objective_function="modularity", weights="weight", resolution=resolution, n_iterations=_ITERATIONS
    )
    grouped: dict[int, list[int]] = defaultdict(list)
    for position, cluster in enumerate(clusters.membership):
        grouped[cluster].append(members[position])
    return [piece for group in grouped.values() for piece in _connected(graph, group)]


def _connected(graph: igraph.Graph, group: list[int]) -> list[tuple[int, ...]]:
    """Leiden promises connected communities; a weight of zero could still break one, so it is made sure."""
    components = graph.induced_subgraph(group).connected_components()
    return [tuple(sorted(group[position] for position in component)) for component in components]


def modularity(projection: Projection, communities: Sequence[Found]) -> float:
    """Return the weighted modularity (Newman 2004) of a flat partition; 0 for an empty graph."""
    if not len(projection.pairs):
        return 0.0
    membership = np.zeros(len(projection.nodes), dtype=np.int64)
    for index, community in enumerate(communities):
        membership[list(community.members)] = index
    graph = igraph.Graph(n=len(projection.nodes), edges=projection.pairs.tolist())
    return float(graph.modularity(membership.tolist(), weights=projection.weights.tolist()))
