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

    from numpy.typing import NDArray

    from communities.projection import Projection

_ITERATIONS = 10
_DOUBLINGS = 3  # a community too large to read is tried at up to eight times the resolution
_PART = 3  # a smaller piece is no part of a theme that stands by itself


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
    graph = _graph(projection)
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


def _cut(
    graph: igraph.Graph, members: Sequence[int], resolution: float, options: DetectionOptions
) -> list[tuple[int, ...]]:
    """Cut one community by Leiden, and each part that is too large again at a finer resolution."""
    out: list[tuple[int, ...]] = []
    for part in _leiden(graph, members, resolution, options.seed):
        out += _recut(graph, part, resolution, options) if len(part) > options.largest else [part]
    return out


def _recut(
    graph: igraph.Graph, members: tuple[int, ...], resolution: float, options: DetectionOptions
) -> list[tuple[int, ...]]:
    """Return the parts of a community at the first finer resolution that divides it.

    A cut that only peels single nodes off, as it does with a star, says nothing: such a community stays whole.
    """
    for doubled in range(1, _DOUBLINGS + 1):
        finer = resolution * 2**doubled
        parts = _leiden(graph, members, finer, options.seed)
        if sum(len(part) >= _PART for part in parts) > 1:
            return [
                piece
                for part in parts
                for piece in (_recut(graph, part, finer, options) if len(part) > options.largest else [part])
            ]
    return [members]


def _leiden(graph: igraph.Graph, members: Sequence[int], resolution: float, seed: int) -> list[tuple[int, ...]]:
    part = graph.induced_subgraph(members)
    if part.ecount() == 0:
        return [(member,) for member in members]
    igraph.set_random_number_generator(random.Random(seed))  # noqa: S311 -- a seed for repeatable clusters, not a secret
    try:
        clusters = part.community_leiden(
            objective_function="modularity", weights="weight", resolution=resolution, n_iterations=_ITERATIONS
        )
    finally:
        igraph.set_random_number_generator(random)  # igraph keeps one generator for the whole process
    grouped: dict[int, list[int]] = defaultdict(list)
    for position, cluster in enumerate(clusters.membership):
        grouped[cluster].append(members[position])
    return [piece for group in grouped.values() for piece in _connected(graph, group)]


def _connected(graph: igraph.Graph, group: list[int]) -> list[tuple[int, ...]]:
    """Leiden promises connected communities; a weight of zero could still break one, so it is made sure."""
    components = graph.induced_subgraph(group).connected_components()
    return [tuple(sorted(group[position] for position in component)) for component in components]


def membership(projection: Projection, found: Sequence[Found]) -> NDArray[np.int64]:
    """Return the number of each node's community in a flat partition."""
    home = np.zeros(len(projection.nodes), dtype=np.int64)
    for number, community in enumerate(found):
        home[list(community.members)] = number
    return home


def modularity(projection: Projection, found: Sequence[Found]) -> float:
    """Return the weighted modularity (Newman 2004) of a flat partition; 0 for an empty graph."""
    if not len(projection.pairs):
        return 0.0
    home = membership(projection, found).tolist()
    return float(_graph(projection).modularity(home, weights=projection.weights.tolist()))


def _graph(projection: Projection) -> igraph.Graph:
    graph = igraph.Graph(n=len(projection.nodes), edges=projection.pairs.tolist())
    graph.es["weight"] = projection.weights.tolist()
    return graph
