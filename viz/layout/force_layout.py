"""Lay out a graph without columns: Kamada–Kawai per component, then remove overlaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import igraph
import numpy as np

from viz.layout.boxes import Box, NodeSize, Placement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from viz.scene import Scene

    Array = npt.NDArray[np.float64]

_LINK_LENGTH: Final = 190.0
_SQUASH = 0.72  # vertical scale: screens and names are wider than tall
_GAP_X, _GAP_Y = 26.0, 20.0
_PACK_GAP = 90.0
_TOLERANCE = 0.5
_ROUNDS = 60
_CROWDED_NODES = 100
_LABEL_SIZE = (80.0, 24.0)
_SPACIOUS_NODES = 40
_FILL, _FILL_CROWDED, _EVENNESS = 2.4, 1.6, 0.75
_SMALLEST_STAR, _ONE_RING, _ARC, _RING_STRETCH = 4, 32, 88.0, 1.4
_WIDEST_TO_TALLEST = 1.6


def place_free(scene: Scene, faces: Mapping[str, NodeSize]) -> Placement:
    """Lay out a scene without columns; deterministic.

    Args:
        scene: the scene.
        faces: node id → size.
    """
    number = {node.id: index for index, node in enumerate(scene.nodes)}
    ends = ((number[edge.source], number[edge.target]) for edge in scene.edges if edge.source != edge.target)
    pairs = sorted({(min(pair), max(pair)) for pair in ends})
    graph = igraph.Graph(n=len(number), edges=pairs)
    sizes = np.array([(faces[node.id].width, faces[node.id].height) for node in scene.nodes], dtype=float)
    parts = sorted(graph.connected_components(), key=lambda part: (-len(part), part))
    places = np.zeros((len(number), 2))
    for part, spots in zip(parts, _pack([_component(graph, part, sizes) for part in parts], sizes, parts), strict=True):
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
    hub = _hub(piece)
    if hub is not None:
        return push_apart(_rings(len(part), hub, own), own)
    # A fixed start and no randomness make the layout reproducible.
    start = piece.layout_circle()
    spots = np.array(piece.layout_kamada_kawai(seed=start, maxiter=max(500, 60 * len(part))).coords)
    ends = np.array(piece.get_edgelist())
    return push_apart(_scaled(spots, ends, own), own, ends if len(part) <= _SPACIOUS_NODES else None)


def _scaled(spots: Array, ends: npt.NDArray[np.int64], sizes: Array) -> Array:
    """Scale a layout: small graphs with room for edge labels, large ones spread evenly and compactly."""
    if len(spots) <= _SPACIOUS_NODES:
        lengths = np.hypot(*(spots[ends[:, 0]] - spots[ends[:, 1]]).T)
        return np.asarray(spots * (_LINK_LENGTH / max(float(lengths.mean()), 1e-9)) * (1, _SQUASH))
    ranks = spots.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") / len(spots)
    reach = spots.max(axis=0) - spots.min(axis=0)
    even = _EVENNESS * ranks + (1 - _EVENNESS) * (spots - spots.min(axis=0)) / np.maximum(reach, 1e-9)
    room = float(np.prod(sizes + np.array((_GAP_X, _GAP_Y)), axis=1).sum()) * (
        _FILL if len(spots) <= _CROWDED_NODES else _FILL_CROWDED
    )
    scaled: Array = even * np.sqrt(room) * (_WIDEST_TO_TALLEST**0.5, _WIDEST_TO_TALLEST**-0.5)
    return scaled


def _hub(piece: igraph.Graph) -> int | None:
    """Return the node adjacent to all others, if any."""
    if piece.vcount() < _SMALLEST_STAR:
        return None
    degree: list[int] = piece.simplify().degree()
    hub = max(range(len(degree)), key=lambda node: (degree[node], -node))
    return hub if degree[hub] == len(degree) - 1 else None


def _rings(count: int, hub: int, sizes: Array) -> Array:
    """Place all nodes but the hub on ellipses around it, alternate rings offset so that links pass between nodes."""
    spots = np.zeros((count, 2))
    left = [node for node in range(count) if node != hub]
    widest = float(sizes[:, 0].max())
    radius = max(_LINK_LENGTH * 1.2, len(left) * _ARC / (2 * np.pi)) if len(left) <= _ONE_RING else _LINK_LENGTH * 1.6
    ring = 0
    while left:
        room = max(int(2 * np.pi * radius / _ARC), 4)
        here, left = left[:room], left[room:]
        turn = (np.arange(len(here)) + 0.5 * (ring % 2)) * 2 * np.pi / len(here) - np.pi / 2
        spots[here] = np.stack((np.cos(turn) * radius * _RING_STRETCH, np.sin(turn) * radius), axis=1)
        radius += widest * 0.8
        ring += 1
    return spots


def push_apart(spots: Array, sizes: Array, linked: npt.NDArray[np.int64] | None = None) -> Array:
    """Move boxes until none are closer than the gap: iteratively in all directions, then remaining overlaps downwards.

    Args:
        spots: centres, n × 2.
        sizes: widths and heights, n × 2.
        linked: pairs, m × 2, that need room for a label between them.
    """
    spots = spots + np.arange(len(spots))[:, None] * 1e-3  # break ties between coinciding nodes
    need = (sizes[:, None, :] + sizes[None, :, :]) / 2 + (_GAP_X, _GAP_Y)
    if linked is not None:
        for one, other in ((0, 1), (1, 0)):
            need[linked[:, one], linked[:, other]] += _LABEL_SIZE
    for _ in range(_ROUNDS):
        shift = _shift(spots, need)
        if shift is None:
            return spots
        spots = spots + shift
    order = np.argsort(spots[:, 1], kind="stable")
    for at, node in enumerate(order):
        above = order[:at]
        above = above[np.abs(spots[above, 0] - spots[node, 0]) < need[above, node, 0]]
        if len(above):
            spots[node, 1] = max(spots[node, 1], float((spots[above, 1] + need[above, node, 1]).max()))
    return spots


def _shift(spots: Array, need: Array) -> Array | None:
    offset = spots[:, None, :] - spots[None, :, :]
    overlap = need - np.abs(offset)
    close = np.asarray((overlap > _TOLERANCE).all(axis=2) & ~np.eye(len(spots), dtype=bool))
    if not close.any():
        return None
    sideways = close & (overlap[:, :, 0] < overlap[:, :, 1])
    along = np.stack((sideways, close & ~sideways), axis=2)
    push = np.where(along, np.sign(offset) * overlap / 2, 0.0)
    shift: Array = push.sum(axis=1) / np.maximum(along.sum(axis=1), 1) * 1.05
    return shift


def _pack(places: Sequence[Array], sizes: Array, parts: Sequence[Sequence[int]]) -> list[Array]:
    """Pack components into rows, largest first."""
    corners = [_corners(spots, sizes[list(part)]) for spots, part in zip(places, parts, strict=True)]
    area = sum(float(np.prod(high - low + _PACK_GAP)) for low, high in corners)
    room = max(float(np.sqrt(area * _WIDEST_TO_TALLEST)), *(float((high - low)[0]) for low, high in corners))
    out, x, y, tallest = [], 0.0, 0.0, 0.0
    for spots, (low, high) in zip(places, corners, strict=True):
        width, height = high - low
        if x and x + width > room:
            x, y, tallest = 0.0, y + tallest + _PACK_GAP, 0.0
        out.append(spots - low + (x, y))
        x, tallest = x + width + _PACK_GAP, max(tallest, float(height))
    return out


def _corners(spots: Array, sizes: Array) -> tuple[Array, Array]:
    return (spots - sizes / 2).min(axis=0), (spots + sizes / 2).max(axis=0)
