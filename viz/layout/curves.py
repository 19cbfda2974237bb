"""Sample the curves that vis-network draws between nodes, for collision tests and label placement."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, cos, hypot, pi, sin
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from viz.layout.boxes import Box

Spot = tuple[float, float]

_STEPS: Final = 24


@dataclass(frozen=True, slots=True)
class Curve:
    """A vis-network curve: a horizontal Bézier if `bezier`, else an arc of curvature `bow` (clockwise positive)."""

    bezier: bool = False
    bow: float = 0.0


def drawn(one: Box, other: Box, curve: Curve) -> list[Spot]:
    """Return points on a line without its ends; it stops at the target's border, where the arrow head is."""
    steps = [step / _STEPS for step in range(1, _STEPS)]
    points = [_point_at(one, other, curve, t) for t in steps]
    edge = next((spot for spot in points if holds(other, spot)), None)
    if edge is None:
        return points
    # Only the last control point moves; its coefficient is the highest power of t.
    power = 3 if curve.bezier else 2
    return [
        (x + (edge[0] - other.x) * t**power, y + (edge[1] - other.y) * t**power)
        for t, (x, y) in zip(steps, points, strict=True)
    ]


def holds(box: Box, spot: Spot) -> bool:
    """Whether a point is inside a box."""
    return abs(spot[0] - box.x) < box.width / 2 and abs(spot[1] - box.y) < box.height / 2


def _point_at(one: Box, other: Box, curve: Curve, t: float) -> Spot:
    if curve.bezier:
        return (
            one.x + (other.x - one.x) * (1.5 * t * (1 - t) + t**3),
            one.y + (other.y - one.y) * (3 * t**2 - 2 * t**3),
        )
    via_x, via_y = _via(one, other, curve.bow)
    return (
        (1 - t) ** 2 * one.x + 2 * t * (1 - t) * via_x + t**2 * other.x,
        (1 - t) ** 2 * one.y + 2 * t * (1 - t) * via_y + t**2 * other.y,
    )


def _via(one: Box, other: Box, bow: float) -> Spot:
    """Return vis-network's control point of a curvedCW or curvedCCW line of this roundness."""
    reach = (abs(bow) * 0.5 + 0.5) * hypot(other.x - one.x, other.y - one.y)
    angle = atan2(one.y - other.y, other.x - one.x) + (bow * 0.5 + 0.5) * pi
    return one.x + reach * sin(angle), one.y + reach * cos(angle)
