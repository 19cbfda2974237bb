"""Place edge labels on their line, near its visible middle, clear of nodes and of each other.

vis-network centres labels between node centres, where a wide node or another label may cover them; a hidden sign would
be misread as no sign. Positions are therefore computed here, on the curves that the library draws.
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
    from viz.scene import SceneEdge

FONT_PIXELS: Final = 12
_LINE = 15
_TOUCH = -1.5  # a label may touch a node
_APART = 1.0  # pixels between two labels, whose places are rounded
_SAME_LINE = 4.0
_SIGNS: Final = frozenset("＋－✕≠")


_SHOWN_BY_ARROW: Final = frozenset({"upstream_of", "part_of", "affects"})


def line_text(edge: SceneEdge) -> str:
    """Return the words on a line: its relation, except where the arrow and the sign already say it."""
    return "" if edge.relation in _SHOWN_BY_ARROW else edge.label


@dataclass(frozen=True, slots=True)
class Wording:
    """The text of a link, with the ends and curve of its middle segment."""

    link: int
    text: str
    source: str
    target: str
    curve: Curve


@dataclass(frozen=True, slots=True)
class EdgeLabel:
    """A link's text with its position."""

    link: int
    text: str
    x: float
    y: float


def placed(wordings: Iterable[Wording], boxes: Mapping[str, Box], cards: Iterable[Box] = ()) -> list[EdgeLabel]:
    """Place every label at the free point nearest to the middle of its line's visible part, if there is one.

    Where none is free, only a label with a sign is placed, on the fewest others.

    Args:
        wordings: labels in order of priority.
        boxes: position and size of line ends; a bend has no size.
        cards: further boxes that labels must not cover.
    """
    obstacles = [*(box for box in boxes.values() if box.width), *cards]
    taken: list[Box] = []
    labels: list[EdgeLabel] = []
    for wording in wordings:
        width = ems(wording.text) * FONT_PIXELS
        spots = _visible(boxes[wording.source], boxes[wording.target], wording.curve)
        if any(label.text == wording.text and _coincides(label, spots) for label in labels):
            continue  # label coinciding lines once
        best = _least_overlapping([Box(x, y, width, _LINE) for x, y in spots], obstacles, taken)
        # A sign must be seen even in a crowd; a relation's name can be read in the panel.
        legible = best is not None and (_SIGNS & set(wording.text) or not any(best.meets(one, _APART) for one in taken))
        if best is not None and legible:
            taken.append(best)
            labels.append(EdgeLabel(wording.link, wording.text, round(best.x), round(best.y)))
    return labels


def _least_overlapping(candidates: Sequence[Box], obstacles: Sequence[Box], taken: Sequence[Box]) -> Box | None:
    """Return the first candidate without overlap, else the one overlapping fewest labels; never one over a node."""
    fewest, best = len(taken) + 1, None
    for one in candidates:
        if any(one.meets(other, _TOUCH) for other in obstacles):
            continue
        met = sum(one.meets(other, _APART) for other in taken)
        if met < fewest:
            fewest, best = met, one
        if not met:
            break
    return best


def _visible(one: Box, other: Box, curve: Curve) -> Sequence[Spot]:
    """Return points on a line from its visible middle outwards."""
    spots = drawn(one, other, curve)
    free = [spot for spot in spots if not holds(one, spot) and not holds(other, spot)] or spots
    middle = (len(free) - 1) / 2
    order = sorted(range(len(free)), key=lambda at: (abs(at - middle), at))
    return [free[at] for at in order]


def _coincides(label: EdgeLabel, spots: Sequence[Spot]) -> bool:
    return any(hypot(label.x - x, label.y - y) < _SAME_LINE for x, y in spots)
