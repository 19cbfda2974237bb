"""Where everything stands: the one door to both layouts. Places are given, so a page never runs physics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viz.boxes import Face, Placement, face
from viz.free import place_free
from viz.layered import place_layered

if TYPE_CHECKING:
    from viz.scene import Scene


def place(scene: Scene) -> tuple[dict[str, Face], Placement]:
    """Return each node's size and the whole picture's placement; same scene, same numbers."""
    faces = {node.id: face(node) for node in scene.nodes}
    if not scene.nodes:
        return faces, Placement({}, {}, {})
    return faces, (place_layered if scene.layered else place_free)(scene, faces)
