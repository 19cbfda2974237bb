"""Where the wordings on links stand: on their line, at its visible middle, and clear of shapes and of one another.

The browser's library puts a wording half way from centre to centre, beneath a wide shape or upon another wording; a
sign that cannot be seen reads as no sign, so the places are found here, on the very curves that the library draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING, Final

from viz.layout.boxes import Box, ems
from viz.layout.curves import drawn, holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from viz.layout.curves import Curve, Spot

FONT_PIXELS: Final = 12
_LINE = 15
_TOUCH = -1.5
_SAME_LINE = 4.0


@dataclass(frozen=True, slots=True)
class Wording:
    """What is written on a link, and between which shapes its middle part runs."""

    link: int
    text: str
    source: str
    target: str
    curve: Curve


@dataclass(frozen=True, slots=True)
class EdgeLabel:
    """A wording with its place."""

    link: int
    text: str
    x: float
    y: float


def placed(wordings: Iterable[Wording], boxes: Mapping[str, Box], cards: Iterable[Box] = ()) -> list[EdgeLabel]:
    """Return every wording at the free spot nearest to the middle of its line's visible part, if there is one.

    Args:
        wordings: in the order in which they may choose.
        boxes: place and size of whatever lines end on; a bend has no size.
        cards: what else nothing should be written on.
    """
    solid = [*(box for box in boxes.values() if box.width), *cards]
    taken: list[Box] = []
    labels: list[EdgeLabel] = []
    for wording in wordings:
        width = ems(wording.text) * FONT_PIXELS
        spots = _visible(boxes[wording.source], boxes[wording.target], wording.curve)
        if any(label.text == wording.text and _upon(label, spots) for label in labels):
            continue  # lines that run as one have their common wording once
        best = _freest([Box(x, y, width, _LINE) for x, y in spots], solid, taken)
        if best is not None:
            taken.append(best)
            labels.append(EdgeLabel(wording.link, wording.text, round(best.x), round(best.y)))
    return labels


def _freest(tries: Sequence[Box], solid: Sequence[Box], taken: Sequence[Box]) -> Box | None:
    """Return the first spot that meets nothing, else the one that meets fewest wordings; never one upon a shape."""
    fewest, best = len(taken) + 1, None
    for one in tries:
        if any(one.meets(other, _TOUCH) for other in solid):
            continue
        met = sum(one.meets(other, _TOUCH) for other in taken)
        if met < fewest:
            fewest, best = met, one
        if not met:
            break
    return best


def _visible(one: Box, other: Box, curve: Curve) -> Sequence[Spot]:
    """Return spots on a line, its visible middle first, then outwards to both ends."""
    spots = drawn(one, other, curve)
    free = [spot for spot in spots if not holds(one, spot) and not holds(other, spot)] or spots
    middle = (len(free) - 1) / 2
    order = sorted(range(len(free)), key=lambda at: (abs(at - middle), at))
    return [free[at] for at in order]


def _upon(label: EdgeLabel, spots: Sequence[Spot]) -> bool:
    return any(hypot(label.x - x, label.y - y) < _SAME_LINE for x, y in spots)
