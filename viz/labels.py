"""Keeps the wordings on links apart: each is moved up or down a little until it meets no shape and no other wording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from viz.boxes import Box, ems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FONT_PIXELS: Final = 12
_LINE = 15
_TRIES = (0, _LINE, -_LINE, 2 * _LINE, -2 * _LINE)
_TOUCH = -2.0


def lifted(segments: Sequence[Mapping[str, Any]], boxes: Mapping[str, Box]) -> dict[str, int]:
    """Return, for each segment id whose wording must move, by how many pixels (down is positive).

    Args:
        segments: vis-network edges with `id`, `source`, `target` and, where they bear one, `label`.
        boxes: place and size of whatever segments end on.
    """
    solid = [box for box in boxes.values() if box.width]
    placed: list[Box] = []
    moved: dict[str, int] = {}
    for segment in segments:
        if not segment.get("label"):
            continue
        x, y = _middle(boxes[segment["source"]], boxes[segment["target"]])
        width = ems(segment["label"]) * FONT_PIXELS
        spots = [Box(x, y + lift, width, _LINE) for lift in _TRIES]
        cost = [sum(spot.meets(other, _TOUCH) for other in (*placed, *solid)) for spot in spots]
        best = cost.index(min(cost))
        placed.append(spots[best])
        if _TRIES[best]:
            moved[segment["id"]] = _TRIES[best]
    return moved


def _middle(one: Box, other: Box) -> tuple[float, float]:
    """Return where vis-network puts a wording: half way from the source's centre to the target's border."""
    x, y = _border(other, one)
    return (one.x + x) / 2, (one.y + y) / 2


def _border(box: Box, towards: Box) -> tuple[float, float]:
    dx, dy = towards.x - box.x, towards.y - box.y
    reach = max(abs(dx) / max(box.width / 2, 1e-6), abs(dy) / max(box.height / 2, 1e-6), 1.0)
    return box.x + dx / reach, box.y + dy / reach
