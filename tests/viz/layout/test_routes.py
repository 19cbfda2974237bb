from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kg.query.answers import ProfileAnswer, Subgraph
from tests.viz import samples
from viz.layout.boxes import Box, Placement
from viz.layout.curves import Curve, drawn
from viz.layout.layered import place
from viz.layout.lines import lines_of
from viz.layout.routes import _meet, ways_round
from viz.scene import scene_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from viz.layout.curves import Spot
    from viz.scene import Scene


def _scene(pairs: str, **spots: tuple[float, float]) -> tuple[Scene, Placement]:
    """甲>乙 丙>丁: links by their ends; each name has its place, and all shapes have one size."""
    nodes = {name: samples.product(name) for name in spots}
    links = tuple(samples.link(*(nodes[end] for end in pair.split(">")), "uses", "使用") for pair in pairs.split())
    scene = scene_of(ProfileAnswer(nodes["甲"].entity, links, Subgraph(tuple(nodes.values()), links)))
    boxes = {node.id: Box(*spots[node.label], 100, 40) for node in scene.nodes}
    return scene, Placement(boxes, {}, {})


def _ways(scene: Scene, placement: Placement) -> dict[int, tuple[Spot, ...]]:
    return ways_round(scene, placement, dict.fromkeys(range(len(scene.edges)), Curve()))


def _meets(way: Sequence[Spot], boxes: Iterable[Box]) -> bool:
    spots = np.array(way, dtype=float)
    sides = np.array([(box.x, box.y, box.width / 2, box.height / 2) for box in boxes])
    centres, halves = sides[:, :2], sides[:, 2:]
    return bool(_meet(spots[:-1], spots[1:], centres - halves, centres + halves).any())


def test_a_line_that_meets_nothing_stays_as_it_is():
    assert _ways(*_scene("甲>乙", 甲=(0, 0), 乙=(400, 0), 丙=(200, 100), 丁=(200, -100))) == {}


def test_a_line_goes_round_the_shape_between_its_ends_on_the_shorter_side():
    ways = _ways(*_scene("甲>乙", 甲=(0, 0), 乙=(400, 0), 丙=(200, 5)))
    assert ways == {0: ((140.0, -25.0), (260.0, -25.0))}


def test_a_way_that_meets_a_further_shape_goes_round_that_too():
    scene, placement = _scene("甲>乙", 甲=(0, 0), 乙=(600, 0), 丙=(200, 10), 丁=(200, -40))
    (way,) = _ways(scene, placement).values()
    assert not _meets([(0, 0), *way, (600, 0)], [placement.boxes[node.id] for node in scene.nodes[2:]])


def test_two_links_without_a_common_end_share_no_bend():
    """Each could be read as going on in the other's place."""
    ways = _ways(*_scene("甲>乙 丙>丁", 甲=(0, 0), 乙=(400, 0), 丙=(0, 60), 丁=(400, -60), 戊=(200, 5)))
    assert len(ways) == 2
    assert set(ways[0]).isdisjoint(ways[1])


def test_two_links_between_the_same_shapes_run_beside_one_another():
    ways = _ways(*_scene("甲>乙 乙>甲", 甲=(0, 0), 乙=(400, 0), 丙=(200, 5)))
    assert set(ways[0]).isdisjoint(ways[1])


def test_a_line_that_no_way_leads_round_stays():
    assert _ways(*_scene("甲>乙", 甲=(0, 0), 乙=(400, 0), 丙=(10, 0))) == {}


@pytest.mark.parametrize("count", [20, 60, 90])
def test_no_line_of_a_random_graph_passes_behind_a_shape(count):
    graph = samples.random_graph(count, extra=count // 2, seed=count)
    scene = scene_of(ProfileAnswer(graph.nodes[0].entity, graph.links, graph))
    _, placement = place(scene)
    ids = {node.id: f"n{index}" for index, node in enumerate(scene.nodes)}
    lines = lines_of(scene, placement, ids)
    ends = {ids[key]: box for key, box in placement.boxes.items()}
    ends |= {key: Box(x, y, 0, 0) for key, (x, y) in lines.bends.items()}
    assert lines.bends, "some line had to go round"
    for edge in lines.edges:
        link = scene.edges[edge["link"]]
        others = [box for key, box in placement.boxes.items() if key not in {link.source, link.target}]
        smooth = edge["smooth"]
        curve = Curve(bow=smooth["roundness"] * (1 if smooth["type"] == "curvedCW" else -1))
        for pair in pairwise(drawn(ends[edge["from"]], ends[edge["to"]], curve)):
            assert not _meets(pair, others), (link.source, link.target)
