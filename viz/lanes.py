"""Where links run that reach a shape past its neighbours in the same row of a column.

Drawn straight, a link to the third shape of a row would vanish under the first two and look like a chain through them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viz.curves import Spot

_FIRST, _STEP = 9, 6
"""How far from its row a lane runs, and how far the lanes of one row lie apart; both fit the gap between rows."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A block's place in its column: which of how many in its row, the row's head and foot, and the edges around it."""

    column: int
    place: int
    of: int
    head: float
    foot: float
    column_left: float
    column_right: float
    left: float
    right: float


def around(source: Seat, target: Seat) -> tuple[list[Spot], list[Spot]]:
    """Return the bends with which a link leaves its source's row and those with which it enters its target's.

    It leaves beneath and enters above: on one lane, the link that ends at a shape and the one that passes it would be
    read as one.
    """
    if source.column == target.column:
        return [], []
    rightward = source.column < target.column
    leaves = _lane(source, rightward=rightward, y=source.foot, away=1)
    return leaves, _lane(target, rightward=not rightward, y=target.head, away=-1)[::-1]


def _lane(seat: Seat, *, rightward: bool, y: float, away: int) -> list[Spot]:
    passed = seat.of - 1 - seat.place if rightward else seat.place
    if not passed:
        return []
    lane = round(y + away * (_FIRST + _STEP * (passed - 1)))
    return (
        [(seat.right, lane), (seat.column_right, lane)] if rightward else [(seat.left, lane), (seat.column_left, lane)]
    )
