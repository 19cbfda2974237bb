"""Where links run that reach a shape past its neighbours in the same row of a column.

Drawn straight, a link to the third shape of a row would vanish under the first two and look like a chain through them.
"""

from __future__ import annotations

from dataclasses import dataclass

Spot = tuple[float, float]

_FIRST, _STEP = 8, 6
"""How far beneath its row a lane runs, and how far the lanes of one row lie apart; both fit the gap between rows."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A block's place in its column: which of how many in its row, the row's foot, and the edges around it."""

    column: int
    place: int
    of: int
    foot: float
    column_left: float
    column_right: float
    left: float
    right: float


def around(source: Seat, target: Seat) -> tuple[list[Spot], list[Spot]]:
    """Return the bends with which a link leaves its source's row and those with which it enters its target's."""
    if source.column == target.column:
        return [], []
    rightward = source.column < target.column
    return _outward(source, rightward=rightward), _outward(target, rightward=not rightward)[::-1]


def _outward(seat: Seat, *, rightward: bool) -> list[Spot]:
    passed = seat.of - 1 - seat.place if rightward else seat.place
    if not passed:
        return []
    lane = round(seat.foot + _FIRST + _STEP * (passed - 1))
    return (
        [(seat.right, lane), (seat.column_right, lane)] if rightward else [(seat.left, lane), (seat.column_left, lane)]
    )
