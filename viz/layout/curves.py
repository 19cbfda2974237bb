"""The very lines that vis-network draws between two shapes, as spots: what they meet, and where wordings stand."""

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
    """How vis-network draws a line: `bezier` leaves and enters level, else it bows by `bow` (clockwise is positive)."""

    bezier: bool = False
    bow: float = 0.0


def drawn(one: Box, other: Box, curve: Curve) -> list[Spot]:
    """Return spots on a line, both ends left out; it stops at its target's edge, for that is where its arrow begins."""
    steps = [step / _STEPS for step in range(1, _STEPS)]
    centred = [_spot(one, other, curve, t) for t in steps]
    edge = next((spot for spot in centred if holds(other, spot)), None)
    if edge is None:
        return centred
    # Only the last control point moves, and its share in a curve is the highest power of t.
    power = 3 if curve.bezier else 2
    return [
        (x + (edge[0] - other.x) * t**power, y + (edge[1] - other.y) * t**power)
        for t, (x, y) in zip(steps, centred, strict=True)
    ]


def holds(box: Box, spot: Spot) -> bool:
    """Whether a spot lies within a shape."""
    return abs(spot[0] - box.x) < box.width / 2 and abs(spot[1] - box.y) < box.height / 2


def _spot(one: Box, other: Box, curve: Curve, t: float) -> Spot:
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
    """Return the control point that vis-network gives a curvedCW or curvedCCW line of this roundness."""
    reach = (abs(bow) * 0.5 + 0.5) * hypot(other.x - one.x, other.y - one.y)
    angle = atan2(one.y - other.y, other.x - one.x) + (bow * 0.5 + 0.5) * pi
    return one.x + reach * sin(angle), one.y + reach * cos(angle)
