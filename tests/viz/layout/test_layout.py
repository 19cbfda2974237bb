from __future__ import annotations

import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from kg.query.answers import ChainAnswer, Layer, ProfileAnswer, Stage, Subgraph
from tests.viz import samples
from viz.layout.boxes import Box, ems, wrap
from viz.layout.curves import Curve
from viz.layout.force_layout import push_apart
from viz.layout.labels import Wording, placed
from viz.layout.layered import _Block, _close_empty_bands, _isotonic, place
from viz.scene import scene_of


def _free(count: int, extra: int = 0) -> ProfileAnswer:
    graph = samples.random_graph(count, extra=extra)
    return ProfileAnswer(graph.nodes[0].entity, graph.links, graph)


ROOT = Path(__file__).parents[2]
ANSWERS = {
    "chain": samples.solar_chain,
    "impact": samples.lithium_impact,
    "relate": samples.related,
    "profile": samples.profile,
    "wide profile": lambda: samples.profile(70),
    "one": lambda: _free(1),
    "three": lambda: _free(3),
    "sixty": lambda: _free(60, 30),
    "three hundred": lambda: _free(300, 120),
    "theme": samples.theme,
    "asked": samples.asked,
    "hostile": samples.hostile,
}


@pytest.mark.parametrize("name", ANSWERS)
def test_no_two_shapes_overlap_and_all_are_placed(name):
    scene = scene_of(ANSWERS[name]())
    faces, placement = place(scene)
    assert set(placement.boxes) == {node.id for node in scene.nodes} == set(faces)
    for (one, box), (other, against) in combinations(placement.boxes.items(), 2):
        assert not box.meets(against, -1), (one, other)


@pytest.mark.parametrize("name", ["chain", "asked"])
def test_cards_hold_their_companies_and_do_not_meet(name):
    scene = scene_of(ANSWERS[name]())
    _, placement = place(scene)
    for card, against in combinations(placement.cards.values(), 2):
        assert not card.meets(against)
    for node in scene.nodes:
        if node.stage:
            card, box = placement.cards[node.stage], placement.boxes[node.id]
            assert abs(card.x - box.x) + box.width / 2 <= card.width / 2
            assert abs(card.y - box.y) + box.height / 2 <= card.height / 2


def test_parts_without_a_link_between_them_stay_together():
    """Averaging heights over sweeps once moved one part nine thousand pixels away from the other."""
    blocks = {name: _Block(name, 0, 100.0, 40.0) for name in "abcd"}
    centre = {"a": 0.0, "b": 50.0, "c": 9000.0, "d": 9050.0}
    _close_empty_bands([[["a"], ["b"]], [["c"], ["d"]]], blocks, centre, 20.0)
    assert centre == {"a": 0.0, "b": 50.0, "c": 110.0, "d": 160.0}


@pytest.mark.parametrize("name", ["chain", "impact", "relate", "asked"])
def test_columns_run_from_left_to_right(name):
    scene = scene_of(ANSWERS[name]())
    _, placement = place(scene)
    spans: dict[int, tuple[float, float]] = {}
    for node in scene.nodes:
        box = placement.boxes[node.id]
        low, high = spans.get(node.layer, (box.x, box.x))
        spans[node.layer] = (min(low, box.x - box.width / 2), max(high, box.x + box.width / 2))
    order = [spans[layer] for layer in sorted(spans)]
    assert all(before[1] < after[0] for before, after in pairwise(order))


def test_heads_stand_above_everything_and_apart():
    _, placement = place(scene_of(samples.solar_chain()))
    assert [head.text for head in placement.heads] == ["上游", "中游", "下游"]
    assert all(head.y < card.y - card.height / 2 for head in placement.heads for card in placement.cards.values())
    left, middle, right = placement.heads
    assert left.x + left.width / 2 < middle.x - middle.width / 2
    assert middle.x + middle.width / 2 < right.x - right.width / 2


def test_a_passing_link_bends_round_the_shapes_between():
    scene = scene_of(samples.solar_chain())
    _, placement = place(scene)
    wanted = ("product:光伏玻璃", "product:光伏组件")
    index = next(at for at, edge in enumerate(scene.edges) if (edge.source, edge.target) == wanted)
    assert placement.bends[index]
    for x, y in placement.bends[index]:
        assert not any(Box(x, y, 0, 0).meets(card) for card in placement.cards.values())


def _midstream(count: int) -> ChainAnswer:
    """One good of the upstream that goes into each of many stages, so many that they stand in rows."""
    raw = samples.product("正极材料", 0)
    stages = [samples.product(f"电池{at}", 1) for at in range(count)]
    makers = [[samples.company(f"厂家{at}{n}", 1) for n in range(3)] for at in range(count)]
    links = [samples.link(raw, stage, "part_of", "是…的组成部分") for stage in stages]
    links += [
        samples.link(maker, stage, "produces", "生产")
        for stage, own in zip(stages, makers, strict=True)
        for maker in own
    ]
    middle = Layer("中游", tuple(Stage(stage, tuple(own)) for stage, own in zip(stages, makers, strict=True)))
    layers = (Layer("上游", (Stage(raw, ()),)), middle, Layer("下游", ()))
    nodes = (raw, *stages, *(maker for own in makers for maker in own))
    return ChainAnswer(raw.entity, layers, Subgraph(nodes, tuple(links)))


def test_a_link_enters_a_card_level_with_its_stage_and_crosses_no_company():
    scene = scene_of(_midstream(9))
    _, placement = place(scene)
    entered = {scene.edges[index].target: bends[-1] for index, bends in placement.bends.items() if bends}
    assert entered, "so many stages stand in rows, and some links go round"
    for target, (x, y) in entered.items():
        assert y == placement.boxes[target].y
        assert x < placement.cards[target].x - placement.cards[target].width / 2


def test_same_scene_same_places_in_another_process():
    code = (
        "from tests.viz.layout.test_layout import ANSWERS\n"
        "from viz.layout.layered import place\n"
        "from viz.scene import scene_of\n"
        "import hashlib\n"
        "places = [repr(place(scene_of(answer()))) for answer in ANSWERS.values()]\n"
        "print(hashlib.sha256(''.join(places).encode()).hexdigest())\n"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_isotonic_against_brute_force():
    rng = np.random.default_rng(5)
    for _ in range(40):
        values = list(rng.normal(size=rng.integers(1, 7)))
        fitted = _isotonic(values)
        assert all(one <= other + 1e-12 for one, other in pairwise(fitted))
        best = sum((a - b) ** 2 for a, b in zip(values, fitted, strict=True))
        for _ in range(50):
            guess = np.sort(rng.normal(size=len(values)))
            assert best <= float(((guess - values) ** 2).sum()) + 1e-9


def test_boxes_on_one_spot_come_apart():
    spots = push_apart(np.zeros((12, 2)), np.full((12, 2), 50.0))
    boxes = [Box(x, y, 50, 50) for x, y in spots]
    assert not any(one.meets(other) for one, other in combinations(boxes, 2))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("光伏玻璃", ("光伏玻璃",)),
        ("EVA/POE胶膜", ("EVA/POE胶膜",)),
        ("", ("",)),
        ("一" * 40, ("一" * 9, "一" * 8 + "…")),
        ("A\nB\u2028C\x00D", ("A B C D",)),
        ("International Business Machines", ("International", "Business…")),
    ],
)
def test_names_break_into_two_lines_at_most(text, lines):
    assert wrap(text) == lines
    assert all(ems(line) <= 10 for line in wrap(text))


def test_wordings_stand_on_their_line_clear_of_shapes_and_of_one_another():
    boxes = {"a": Box(0, 0, 100, 40), "b": Box(300, 0, 100, 40), "c": Box(150, 0, 30, 40)}
    one, two = placed(
        [Wording(0, "影响 ＋", "a", "b", Curve()), Wording(1, "影响 －", "a", "b", Curve(bow=0.5))],
        boxes,
    )
    assert one.y == 0
    shapes = [Box(label.x, label.y, 48, 15) for label in (one, two)]
    assert not shapes[0].meets(shapes[1], -2)
    assert not any(shape.meets(box, -2) for shape in shapes for box in boxes.values())


def test_lines_that_run_as_one_have_their_common_wording_once():
    boxes = {"a": Box(0, 0, 0, 0), "b": Box(300, 0, 100, 40)}
    same, other = Wording(0, "组成部分", "a", "b", Curve()), Wording(2, "使用", "a", "b", Curve())
    assert [label.link for label in placed([same, Wording(1, "组成部分", "a", "b", Curve()), other], boxes)] == [0, 2]


def test_a_wording_without_room_is_left_out_rather_than_laid_upon_a_name():
    boxes = {"a": Box(0, 0, 100, 40), "b": Box(110, 0, 100, 40)}
    assert placed([Wording(0, "影响影响影响", "a", "b", Curve())], boxes) == []
