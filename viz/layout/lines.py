"""Convert links to vis-network edges, one per segment between bends, and place their labels."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from math import hypot
from typing import TYPE_CHECKING, Any, Final

from kg.model import Polarity
from viz.layout.boxes import Box
from viz.layout.curves import Curve
from viz.layout.labels import EdgeLabel, Wording, line_text, placed
from viz.layout.routes import ways_round
from viz.palette import CONTESTED, stroke_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from viz.layout.boxes import Placement
    from viz.scene import Scene, SceneEdge

_MAX_LABELLED_LINKS = 70  # above this, labels would hide the lines; only the signs are shown
_LABEL_CHARACTERS = 36  # fits an English relation
_BOW, _MAX_BOW = 0.28, 1.6
_MIN_LABEL_LENGTH = 70
_CROWDED_LINKS, _PALE = 150, 0.6  # above this many links, lines are thinner and paler so that names stand out
_HORIZONTAL: Final = Curve(bezier=True)
_STRAIGHT: Final = Curve()


@dataclass(frozen=True, slots=True)
class Lines:
    """All links of a graph: bends by id, vis-network edges (with `from` and `to`), and labels."""

    bends: Mapping[str, tuple[float, float]]
    edges: Sequence[dict[str, Any]]
    labels: Sequence[EdgeLabel]


def lines_of(scene: Scene, placement: Placement, ids: Mapping[str, str]) -> Lines:
    """Return the links of a laid-out scene.

    Args:
        scene: the scene.
        placement: positions of its nodes and bends.
        ids: node id → vis-network id.
    """
    outer = [(index, edge) for index, edge in enumerate(scene.edges) if not edge.inside]
    curves = _curves(scene, placement, outer)
    detours = ways_round(scene, placement, curves)
    curves |= dict.fromkeys(detours, _STRAIGHT)
    spots_of = {**placement.bends, **detours}
    bends = {f"w{index}.{at}": spot for index, spots in spots_of.items() for at, spot in enumerate(spots)}
    ends = {ids[key]: box for key, box in placement.boxes.items()}
    ends |= {key: Box(x, y, 0, 0) for key, (x, y) in bends.items()}
    edges: list[dict[str, Any]] = []
    label_requests: list[Wording] = []
    for index, edge in outer:
        stops = [
            ids[edge.source],
            *(f"w{index}.{at}" for at in range(len(spots_of.get(index, ())))),
            ids[edge.target],
        ]
        style = {"link": index, "smooth": _smooth(curves[index]), **_stroke(edge, crowded=len(outer) > _CROWDED_LINKS)}
        segments = list(pairwise(stops))
        for at, (one, other) in enumerate(segments):
            segment = {"from": one, "to": other, "id": f"e{index}.{at}", **style}
            edges.append(segment if other == stops[-1] else segment | {"arrows": {"to": {"enabled": False}}})
        text = _label_text(edge, labelled=len(outer) <= _MAX_LABELLED_LINKS)
        if text:
            one, other = _label_segment(segments, ends)
            label_requests.append(Wording(index, text, one, other, curves[index]))
    return Lines(bends, edges, placed(label_requests, ends, placement.cards.values()))


def _curves(scene: Scene, placement: Placement, outer: Iterable[tuple[int, SceneEdge]]) -> dict[int, Curve]:
    """Return each link's curve; parallel links get increasing curvature so that they do not overlap."""
    layer = {node.id: node.layer for node in scene.nodes}
    parallel: dict[frozenset[str], int] = defaultdict(int)
    curves = {}
    for index, edge in outer:
        pair = frozenset((edge.source, edge.target))
        copies, parallel[pair] = parallel[pair], parallel[pair] + 1
        across = scene.layered and layer[edge.source] != layer[edge.target]
        bow = _detour(edge, placement) if scene.layered and not across else 0.0
        if across and (copies == 0 or placement.bends.get(index)):
            curves[index] = _HORIZONTAL
        elif copies == 0:
            curves[index] = Curve(bow=bow)
        else:
            side = 1 if copies % 2 == 0 else -1
            curves[index] = Curve(bow=round(side * (bow or _BOW) * (1 + copies // 2), 2))
    return curves


def _detour(edge: SceneEdge, placement: Placement) -> float:
    """Return the curvature for a link within a column to clear nodes between its ends; 0 if there are none."""
    one, other = placement.boxes[edge.source], placement.boxes[edge.target]
    top, foot = min(one.y, other.y), max(one.y, other.y)
    between = [
        box.x + box.width / 2 - one.x
        for box in placement.boxes.values()
        if top < box.y < foot and abs(box.x - one.x) < (box.width + one.width) / 2
    ]
    if not between:
        return 0.0
    # A quadratic curve extends half-way to its control point.
    return round(min(2 * (max(between) + 20) / max(foot - top, 1), _MAX_BOW), 2)


def _smooth(curve: Curve) -> dict[str, Any]:
    """Return vis-network's curve options; a straight line is an arc of curvature 0, to support the contested halo."""
    if curve.bezier:
        return {"enabled": True, "type": "cubicBezier", "forceDirection": "horizontal", "roundness": 0.5}
    return {"enabled": True, "type": "curvedCW" if curve.bow >= 0 else "curvedCCW", "roundness": abs(curve.bow)}


def _stroke(edge: SceneEdge, *, crowded: bool) -> dict[str, Any]:
    stroke = stroke_of(edge.sign, edge.modality, edge.polarity)
    color = {"color": stroke.color, "highlight": stroke.color, "hover": stroke.color, "inherit": False}
    style: dict[str, Any] = {
        "color": {**color, "opacity": _PALE} if crowded else color,
        "dashes": list(stroke.dash) or False,
        "arrowStrikethrough": False,
        "width": round(edge.width * _PALE, 2) if crowded else edge.width,
    }
    if edge.contested:
        style["background"] = {"enabled": True, "color": CONTESTED, "size": round(edge.width + 7)}
    return style


def _label_text(edge: SceneEdge, *, labelled: bool) -> str:
    sign = {1: "＋", -1: "－"}.get(edge.sign, "")
    negated = "✕" if edge.polarity is Polarity.NEGATIVE else ""
    contested = "≠" if edge.contested else ""
    text = "".join(char if char.isprintable() else " " for char in line_text(edge)) if labelled else ""
    if len(text) > _LABEL_CHARACTERS:
        text = f"{text[: _LABEL_CHARACTERS - 1]}…"  # without an ellipsis, a truncated period would read as another one
    return " ".join(part for part in (negated, text, sign, contested) if part)


def _label_segment(segments: Sequence[tuple[str, str]], ends: Mapping[str, Box]) -> tuple[str, str]:
    """Return the segment nearest to the link's middle that has room for a label, else the longest."""
    lengths = [_length(ends[one], ends[other]) for one, other in segments]
    long = [at for at, length in enumerate(lengths) if length >= _MIN_LABEL_LENGTH]
    middle = (len(segments) - 1) / 2
    best = min(long, key=lambda at: abs(at - middle), default=lengths.index(max(lengths)))
    return segments[best]


def _length(one: Box, other: Box) -> float:
    return hypot(other.x - one.x, other.y - one.y) - (one.width + other.width) / 2
