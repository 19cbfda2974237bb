"""Where everything stands: the one door to both layouts. Places are given, so a page never runs physics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from viz.layout.boxes import Box, NodeSize, Placement, face
from viz.layout.force_layout import place_free
from viz.layout.layered import VIEW_HEIGHT, VIEW_WIDTH, place_layered

if TYPE_CHECKING:
    from viz.scene import Scene


_DENSE: Final = 80
"""More shapes than this and each shows its name only, in one line."""


def place(scene: Scene) -> tuple[dict[str, NodeSize], Placement]:
    """Return each node's size and the whole picture's placement; same scene, same numbers."""
    if not scene.nodes:
        return {}, Placement({}, {}, {})
    dense = len(scene.nodes) > _DENSE
    if not scene.layered:
        faces = {node.id: face(node, dense=dense) for node in scene.nodes}
        return faces, place_free(scene, faces)
    tries = []
    for narrow in (True, False):
        faces = {node.id: face(node, narrow=narrow) for node in scene.nodes}
        tries.append((faces, place_layered(scene, faces)))
    return max(tries, key=lambda found: _scale(found[1]))


def _scale(placement: Placement) -> float:
    """How large the picture can be shown whole: the wide or the tall style of companies, whichever fits better."""
    boxes: list[Box] = [*placement.boxes.values(), *placement.cards.values()]
    width = max(box.x + box.width / 2 for box in boxes) - min(box.x - box.width / 2 for box in boxes)
    height = max(box.y + box.height / 2 for box in boxes) - min(box.y - box.height / 2 for box in boxes)
    return min(VIEW_WIDTH / width, VIEW_HEIGHT / height)
