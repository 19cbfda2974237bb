"""Route links around unrelated nodes, in straight segments.

A line that disappears behind a card seems to end there. The shortest path between boxes bends only at their corners
(Lozano-Pérez & Wesley 1979), so igraph finds it in the visibility graph of corners. The graph starts with the
obstructing boxes; boxes hit by the path found are added until it is free.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import igraph
import numpy as np

from viz.layout.boxes import Box
from viz.layout.curves import drawn

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    import numpy.typing as npt

    from viz.layout.boxes import Placement
    from viz.layout.curves import Curve, Spot
    from viz.scene import Scene

    Array = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]

_MIN_DISTANCE: Final = 4.0
"""A line closer than this to an unrelated node is rerouted."""

_CLEARANCES: Final = (10.0, 6.0, 3.0)
"""Distances from a box at which a route may bend, tried in order."""

_MAX_BOXES: Final = 24
"""Maximum boxes on a route; beyond that, the next smaller clearance is tried."""

_MAX_LINKS: Final = 1000
"""Above this number of links, no link is rerouted."""

_PARALLEL_GAP: Final = 4.0
"""Additional clearance of each further link between the same two nodes."""

_EPSILON: Final = 1e-9


def ways_round(scene: Scene, placement: Placement, curves: Mapping[int, Curve]) -> dict[int, tuple[Spot, ...]]:
    """Return new bends, from source to target, for each link that would run behind an unrelated node.

    A node is unrelated unless it is an end of the link or the card of an end.

    Args:
        scene: the scene.
        placement: positions of its nodes and the current bends of its links.
        curves: link index → curve; links without one are not drawn as lines.
    """
    if len(curves) > _MAX_LINKS:
        return {}
    names = np.array([*placement.boxes, *map(_card, placement.cards)])
    boxes = [*placement.boxes.values(), *placement.cards.values()]
    lows = np.array([(box.x - box.width / 2, box.y - box.height / 2) for box in boxes])
    highs = np.array([(box.x + box.width / 2, box.y + box.height / 2) for box in boxes])
    card_of = {node.id: _card(node.stage or node.id) for node in scene.nodes}
    parallel: Counter[frozenset[str]] = Counter()
    bend_users: dict[Spot, set[str]] = {}
    routes = {}
    for index, curve in curves.items():
        edge = scene.edges[index]
        ends = (edge.source, edge.target)
        unrelated = ~np.isin(names, [*ends, *(card_of[end] for end in ends)])
        stops = [
            placement.boxes[edge.source],
            *(Box(x, y, 0, 0) for x, y in placement.bends.get(index, ())),
            placement.boxes[edge.target],
        ]
        if edge.source == edge.target or not _is_hidden(stops, curve, lows[unrelated], highs[unrelated]):
            continue
        # Links that share a bend but no end could be confused with each other.
        blocked = {spot for spot, others in bend_users.items() if others.isdisjoint(ends)}
        room = _PARALLEL_GAP * parallel[frozenset(ends)]
        route = _route(stops, lows[unrelated], highs[unrelated], extra=room, blocked=blocked)
        if route is not None:
            routes[index] = route
            parallel[frozenset(ends)] += 1
            for spot in route:
                bend_users.setdefault(spot, set()).update(ends)
    return routes


def _card(stage: str) -> str:
    return f"card of {stage}"


def _is_hidden(stops: Sequence[Box], curve: Curve, lows: Array, highs: Array) -> bool:
    line = np.array([spot for one, other in pairwise(stops) for spot in drawn(one, other, curve)])
    return bool(_meet(line[:-1], line[1:], lows - _MIN_DISTANCE, highs + _MIN_DISTANCE).any())


def _route(
    stops: Sequence[Box], lows: Array, highs: Array, *, extra: float, blocked: Container[Spot]
) -> tuple[Spot, ...] | None:
    ends = np.array([(stop.x, stop.y) for stop in (stops[0], stops[-1])])
    attempts = [*((clearance + extra, blocked) for clearance in _CLEARANCES), (_CLEARANCES[-1], ())]
    for room, excluded in attempts:  # as a last resort, a shared bend is better than a hidden line
        route = _shortest(ends, lows - room, highs + room, excluded)
        if route is not None:
            return tuple(map(_rounded, route[1:-1]))
    return None


def _shortest(ends: Array, lows: Array, highs: Array, blocked: Container[Spot]) -> Array | None:
    """Return the shortest path between two points that enters no box, as its bends and both ends."""
    route, known = ends, np.zeros(len(lows), dtype=bool)
    while True:
        # Routes touch the boxes at whose corners they bend, so shrink the boxes slightly.
        met = _meet(route[:-1], route[1:], lows + 1, highs - 1).any(axis=0)
        if not met.any():
            return route
        known |= met
        if known.sum() > _MAX_BOXES:
            return None
        low, high = lows[known], highs[known]
        corners = np.concatenate([np.stack((x[:, 0], y[:, 1]), axis=1) for x in (low, high) for y in (low, high)])
        spots = np.array([*ends, *(corner for corner in corners if _rounded(corner) not in blocked)])
        one, other = np.triu_indices(len(spots), 1)
        free = ~_meet(spots[one], spots[other], low + 1, high - 1).any(axis=1)
        one, other = one[free], other[free]
        graph = igraph.Graph(n=len(spots), edges=np.stack((one, other), axis=1).tolist())
        if 1 not in graph.subcomponent(0):
            return None
        lengths = np.hypot(*(spots[one] - spots[other]).T).tolist()
        route = spots[graph.get_shortest_paths(0, 1, weights=lengths)[0]]


def _rounded(spot: Array) -> Spot:
    return round(float(spot[0]), 1), round(float(spot[1]), 1)


def _meet(one: Array, other: Array, lows: Array, highs: Array) -> Mask:
    """Return which of n segments cross which of m boxes, n × m (slab method, Kay & Kajiya 1986)."""
    along = (other - one)[:, None, :]
    along = np.where(np.abs(along) < _EPSILON, _EPSILON, along)
    at_lows, at_highs = (lows - one[:, None, :]) / along, (highs - one[:, None, :]) / along
    enters = np.minimum(at_lows, at_highs).max(axis=2)
    leaves = np.maximum(at_lows, at_highs).min(axis=2)
    met: Mask = (enters < leaves) & (leaves > 0) & (enters < 1)
    return met
