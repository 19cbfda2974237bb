"""Ways round: a link that would run behind a shape which is not its end goes round it, in straight stretches.

A line that vanishes behind a card is read as ending there, and its arrow as coming from there. The shortest way between
boxes bends at their corners only (Lozano-Pérez & Wesley 1979), so igraph finds it in the graph of corners that see one
another; the corners are those of the boxes in the way, and a way that meets a further box takes that one's in as well.
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

_NEAR: Final = 4.0
"""A line that comes closer to a foreign shape than this is taken round it."""

_CLEARANCES: Final = (10.0, 6.0, 3.0)
"""How far round a shape a way bends: as far as the crowd allows."""

_MOST_PASSED: Final = 24
"""A way past more shapes than this is a maze that nobody follows; the next smaller clearance is straighter."""

_MOST_LINKS: Final = 1000
"""More lines than this are a cloud in which none is followed; they stay as they are."""

_BESIDE: Final = 4.0
"""Links between the same two shapes bend that much further out each, or they would hide one another."""

_LEAST: Final = 1e-9


def ways_round(scene: Scene, placement: Placement, curves: Mapping[int, Curve]) -> dict[int, tuple[Spot, ...]]:
    """Return new bends, from source to target, for each link that would run behind a foreign shape.

    A shape is foreign to a link unless it is one of its ends, or the card that an end stands on.

    Args:
        scene: the picture.
        placement: where its shapes are, and the bends that its links have.
        curves: link index → how it is drawn; links without one are not drawn as lines.
    """
    if len(curves) > _MOST_LINKS:
        return {}
    names = np.array([*placement.boxes, *map(_card, placement.cards)])
    boxes = [*placement.boxes.values(), *placement.cards.values()]
    lows = np.array([(box.x - box.width / 2, box.y - box.height / 2) for box in boxes])
    highs = np.array([(box.x + box.width / 2, box.y + box.height / 2) for box in boxes])
    card_of = {node.id: _card(node.stage or node.id) for node in scene.nodes}
    beside: Counter[frozenset[str]] = Counter()
    bent: dict[Spot, set[str]] = {}
    ways = {}
    for index, curve in curves.items():
        edge = scene.edges[index]
        ends = (edge.source, edge.target)
        foreign = ~np.isin(names, [*ends, *(card_of[end] for end in ends)])
        stops = [
            placement.boxes[edge.source],
            *(Box(x, y, 0, 0) for x, y in placement.bends.get(index, ())),
            placement.boxes[edge.target],
        ]
        if edge.source == edge.target or not _runs_behind(stops, curve, lows[foreign], highs[foreign]):
            continue
        # Two links that share a bend and no end could be read as each going on in the other's place.
        closed = {spot for spot, others in bent.items() if others.isdisjoint(ends)}
        room = _BESIDE * beside[frozenset(ends)]
        way = _way(stops, lows[foreign], highs[foreign], further=room, closed=closed)
        if way is not None:
            ways[index] = way
            beside[frozenset(ends)] += 1
            for spot in way:
                bent.setdefault(spot, set()).update(ends)
    return ways


def _card(stage: str) -> str:
    return f"card of {stage}"


def _runs_behind(stops: Sequence[Box], curve: Curve, lows: Array, highs: Array) -> bool:
    line = np.array([spot for one, other in pairwise(stops) for spot in drawn(one, other, curve)])
    return bool(_meet(line[:-1], line[1:], lows - _NEAR, highs + _NEAR).any())


def _way(
    stops: Sequence[Box], lows: Array, highs: Array, *, further: float, closed: Container[Spot]
) -> tuple[Spot, ...] | None:
    ends = np.array([(stop.x, stop.y) for stop in (stops[0], stops[-1])])
    tries = [*((clearance + further, closed) for clearance in _CLEARANCES), (_CLEARANCES[-1], ())]
    for room, without in tries:  # at last rather a shared bend than a line behind a shape
        way = _shortest(ends, lows - room, highs + room, without)
        if way is not None:
            return tuple(map(_spot, way[1:-1]))
    return None


def _shortest(ends: Array, lows: Array, highs: Array, closed: Container[Spot]) -> Array | None:
    """Return the shortest way between two spots that enters no box: the spots at which it bends, with both ends."""
    way, known = ends, np.zeros(len(lows), dtype=bool)
    while True:
        # A way runs along the boxes whose corners it bends at, so these are taken a little smaller.
        met = _meet(way[:-1], way[1:], lows + 1, highs - 1).any(axis=0)
        if not met.any():
            return way
        known |= met
        if known.sum() > _MOST_PASSED:
            return None
        low, high = lows[known], highs[known]
        corners = np.concatenate([np.stack((x[:, 0], y[:, 1]), axis=1) for x in (low, high) for y in (low, high)])
        spots = np.array([*ends, *(corner for corner in corners if _spot(corner) not in closed)])
        one, other = np.triu_indices(len(spots), 1)
        free = ~_meet(spots[one], spots[other], low + 1, high - 1).any(axis=1)
        one, other = one[free], other[free]
        graph = igraph.Graph(n=len(spots), edges=np.stack((one, other), axis=1).tolist())
        if 1 not in graph.subcomponent(0):
            return None
        lengths = np.hypot(*(spots[one] - spots[other]).T).tolist()
        way = spots[graph.get_shortest_paths(0, 1, weights=lengths)[0]]


def _spot(spot: Array) -> Spot:
    return round(float(spot[0]), 1), round(float(spot[1]), 1)


def _meet(one: Array, other: Array, lows: Array, highs: Array) -> Mask:
    """Return which of n stretches pass through which of m boxes, n × m (the slab method of Kay & Kajiya 1986)."""
    along = (other - one)[:, None, :]
    along = np.where(np.abs(along) < _LEAST, _LEAST, along)
    at_lows, at_highs = (lows - one[:, None, :]) / along, (highs - one[:, None, :]) / along
    enters = np.minimum(at_lows, at_highs).max(axis=2)
    leaves = np.maximum(at_lows, at_highs).min(axis=2)
    met: Mask = (enters < leaves) & (leaves > 0) & (enters < 1)
    return met
