"""Layout of a graph that has no columns: Kamada–Kawai per component, then shapes pushed apart until none overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import igraph
import numpy as np

from viz.boxes import Box, Face, Placement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from viz.scene import Scene

    Array = npt.NDArray[np.float64]

_LINK_LENGTH: Final = 190.0
_SQUASH = 0.72  # screens are wider than tall, and so are names
_GAP_X, _GAP_Y = 26.0, 20.0
_SHELF = 90.0
_TOUCH = 0.5
_ROUNDS = 200
_GROWTH = 1.15
_WIDEST_TO_TALLEST = 1.6


def place_free(scene: Scene, faces: Mapping[str, Face]) -> Placement:
    """Lay out a scene without columns; the same scene always gets the same places.

    Args:
        scene: the picture.
        faces: node id → size.
    """
    number = {node.id: index for index, node in enumerate(scene.nodes)}
    ends = ((number[edge.source], number[edge.target]) for edge in scene.edges if edge.source != edge.target)
    ties = sorted({(min(pair), max(pair)) for pair in ends})
    graph = igraph.Graph(n=len(number), edges=ties)
    sizes = np.array([(faces[node.id].width, faces[node.id].height) for node in scene.nodes], dtype=float)
    parts = sorted(graph.connected_components(), key=lambda part: (-len(part), part))
    places = np.zeros((len(number), 2))
    for part, spots in zip(
        parts, _shelves([_component(graph, part, sizes) for part in parts], sizes, parts), strict=True
    ):
        places[part] = spots
    boxes = {
        node.id: Box(round(x), round(y), faces[node.id].width, faces[node.id].height)
        for node, (x, y) in zip(scene.nodes, places, strict=True)
    }
    return Placement(boxes, {}, {})


def _component(graph: igraph.Graph, part: Sequence[int], sizes: Array) -> Array:
    own = sizes[list(part)]
    if len(part) == 1:
        return np.zeros((1, 2))
    piece = graph.induced_subgraph(part)
    # A given start and no random step: the same graph is the same picture.
    start = piece.layout_circle()
    spots = np.array(piece.layout_kamada_kawai(seed=start, maxiter=max(500, 60 * len(part))).coords)
    ends = np.array(piece.get_edgelist())
    lengths = np.hypot(*(spots[ends[:, 0]] - spots[ends[:, 1]]).T)
    spots *= _LINK_LENGTH / max(float(lengths.mean()), 1e-9)
    spots[:, 1] *= _SQUASH
    return push_apart(spots, own)


def push_apart(spots: Array, sizes: Array) -> Array:
    """Move boxes as little as is simple until no two come closer than the gap.

    Args:
        spots: centres, n × 2.
        sizes: widths and heights, n × 2.
    """
    spots = spots + np.arange(len(spots))[:, None] * 1e-3  # two on one spot must know which way to go
    need = (sizes[:, None, :] + sizes[None, :, :]) / 2 + (_GAP_X, _GAP_Y)
    while True:
        for _ in range(_ROUNDS):
            shift = _shift(spots, need)
            if shift is None:
                return spots
            spots = spots + shift
        spots = spots * _GROWTH


def _shift(spots: Array, need: Array) -> Array | None:
    apart = spots[:, None, :] - spots[None, :, :]
    lack = need - np.abs(apart)
    close = np.asarray((lack > _TOUCH).all(axis=2) & ~np.eye(len(spots), dtype=bool))
    if not close.any():
        return None
    sideways = close & (lack[:, :, 0] < lack[:, :, 1])
    along = np.stack((sideways, close & ~sideways), axis=2)
    push = np.where(along, np.sign(apart) * lack / 2, 0.0)
    shift: Array = push.sum(axis=1) / np.maximum(along.sum(axis=1), 1) * 1.05
    return shift


def _shelves(places: Sequence[Array], sizes: Array, parts: Sequence[Sequence[int]]) -> list[Array]:
    """Set components side by side on shelves, largest first."""
    corners = [_corners(spots, sizes[list(part)]) for spots, part in zip(places, parts, strict=True)]
    area = sum(float(np.prod(high - low + _SHELF)) for low, high in corners)
    room = max(float(np.sqrt(area * _WIDEST_TO_TALLEST)), *(float((high - low)[0]) for low, high in corners))
    out, x, y, tallest = [], 0.0, 0.0, 0.0
    for spots, (low, high) in zip(places, corners, strict=True):
        width, height = high - low
        if x and x + width > room:
            x, y, tallest = 0.0, y + tallest + _SHELF, 0.0
        out.append(spots - low + (x, y))
        x, tallest = x + width + _SHELF, max(tallest, float(height))
    return out


def _corners(spots: Array, sizes: Array) -> tuple[Array, Array]:
    return (spots - sizes / 2).min(axis=0), (spots + sizes / 2).max(axis=0)
