from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kg.query.answers import ProfileAnswer
from tests.viz import samples
from viz.layout.folding import LEGIBLE, MIN_SCALE, pictures
from viz.layout.layered import fit_scale
from viz.scene import scene_of

if TYPE_CHECKING:
    from viz.scene import Scene

LAPTOP, DESK = (930, 540), (1170, 810)
SMALLEST_TEXT = 12


def _crowd(count: int) -> Scene:
    graph = samples.random_graph(count, extra=count // 2)
    return scene_of(ProfileAnswer(graph.nodes[0].entity, graph.links, graph))


SCENES = {
    "chain": lambda: scene_of(samples.solar_chain()),
    "impact": lambda: scene_of(samples.lithium_impact()),
    "relate": lambda: scene_of(samples.related()),
    "profile": lambda: scene_of(samples.profile(70)),
    "crowd": lambda: _crowd(120),
}


@pytest.mark.parametrize("view", [LAPTOP, DESK])
@pytest.mark.parametrize("name", SCENES)
def test_a_first_view_fits_with_legible_text(name, view):
    first = pictures(SCENES[name](), "zh", (view,))[0]
    assert fit_scale(first.placement, *view) * SMALLEST_TEXT >= LEGIBLE
    assert set(first.placement.boxes) == {node.id for node in first.scene.nodes}


@pytest.mark.parametrize("name", SCENES)
def test_what_is_folded_is_counted_and_the_last_picture_holds_all(name):
    scene = SCENES[name]()
    *_, whole = views = pictures(scene, "zh", (LAPTOP,))
    assert whole.scene is scene
    first = views[0].scene
    shown = {node.id for node in first.nodes if not node.hides}
    folded = [key for node in first.nodes for key in node.hides]
    assert len(folded) == len(set(folded))
    assert shown.isdisjoint(folded)
    if scene.layered:
        # companies of a folded stage are counted with their stage
        assert shown | set(folded) >= {node.id for node in scene.nodes if not node.stage or node.stage in shown}
    for node in first.nodes:
        if node.hides:
            assert node.label == f"还有 {len(node.hides)} 个"
    assert all(edge.source in shown and edge.target in shown for edge in first.edges)


def test_the_topic_and_the_strongest_company_of_a_stage_stay():
    scene = scene_of(samples.solar_chain())
    first = pictures(scene, "zh", ((700, 420),))[0].scene
    assert len(first.nodes) < len(scene.nodes)
    shown = {node.id for node in first.nodes}
    for stage in {node.stage for node in first.nodes if node.stage}:
        members = [node for node in scene.nodes if node.stage == stage]
        assert min(members, key=lambda node: node.rank).id in shown


def test_a_small_scene_is_not_folded():
    scene = scene_of(samples.related())
    assert [picture.scene for picture in pictures(scene, "zh", (LAPTOP, DESK))] == [scene]
    assert pytest.approx(LEGIBLE) == MIN_SCALE * SMALLEST_TEXT


def test_the_same_scene_folds_the_same_way():
    one, other = (pictures(_crowd(90), "en", (LAPTOP,))[0] for _ in range(2))
    assert one.scene == other.scene
    assert one.placement == other.placement
