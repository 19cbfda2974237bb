"""Choose and run a layout. Positions are computed here, so that pages need no physics simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from viz.layout.boxes import Box, NodeSize, Placement, face
from viz.layout.force_layout import place_free
from viz.layout.layered import VIEW_HEIGHT, VIEW_WIDTH, place_layered

if TYPE_CHECKING:
    from viz.scene import Scene


_DENSE: Final = 80
"""Above this number of nodes, each shows its name only, in one line."""


def place(scene: Scene) -> tuple[dict[str, NodeSize], Placement]:
    """Return each node's size and the placement of the scene; deterministic."""
    if not scene.nodes:
        return {}, Placement({}, {}, {})
    dense = len(scene.nodes) > _DENSE
    if not scene.layered:
        faces = {node.id: face(node, dense=dense) for node in scene.nodes}
        return faces, place_free(scene, faces)
    candidates = []
    for narrow in (True, False):
        faces = {node.id: face(node, narrow=narrow) for node in scene.nodes}
        candidates.append((faces, place_layered(scene, faces)))
    return max(candidates, key=lambda found: _fit_scale(found[1]))


def _fit_scale(placement: Placement) -> float:
    """Return the zoom at which the whole layout fits the view."""
    boxes: list[Box] = [*placement.boxes.values(), *placement.cards.values()]
    width = max(box.x + box.width / 2 for box in boxes) - min(box.x - box.width / 2 for box in boxes)
    height = max(box.y + box.height / 2 for box in boxes) - min(box.y - box.height / 2 for box in boxes)
    return min(VIEW_WIDTH / width, VIEW_HEIGHT / height)
