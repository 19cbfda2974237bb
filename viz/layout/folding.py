"""Choose what the first view of a scene shows, so that all text in it is legible without zooming; the rest is folded.

A first view holds the strongest nodes that are connected to the topic. A stage shows its strongest companies. What is
folded is counted where it belongs: in its stage, or under its caption.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from kg.model import Kind
from viz.layout.layered import fit_scale, place
from viz.scene import SceneNode
from viz.wording import Lang, word

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from viz.layout.boxes import NodeSize, Placement
    from viz.scene import Scene

LEGIBLE: Final = 11
"""Smallest text on the screen in pixels, at 1280 × 720."""

MIN_SCALE: Final = LEGIBLE / 12
"""Smallest zoom of a first view; the smallest text is drawn at 12 pixels."""

_FEWEST: Final = 2
"""Companies that a stage shows at least; stages come before companies."""

_MORE: Final = (3, 4, 5, 6, 8)

_MOST_TRIES: Final = 40
"""Nodes that do not fit before the view counts as full."""

_TURN: Final = 3
"""Nodes that each caption gets in turn, so that no side of a chain is crowded out."""

_FOLD_SIZE: Final = 13


@dataclass(frozen=True, slots=True)
class FoldedScene:
    """A scene, or its folded form, laid out."""

    scene: Scene
    faces: Mapping[str, NodeSize]
    placement: Placement


def pictures(scene: Scene, lang: Lang, views: Sequence[tuple[int, int]]) -> tuple[FoldedScene, ...]:
    """Return a first view for each size of window that does not hold the whole scene, then the whole scene.

    Args:
        scene: the scene.
        lang: language of the labels of what is folded.
        views: widths and heights in pixels of the screen, smallest first.
    """
    found: list[FoldedScene] = []
    for view in views:
        whole = _laid_out(scene, *view)
        if not scene.nodes or _scale(whole, *view) >= MIN_SCALE:
            break
        first = _first_view(scene, lang, view)
        found += [first] if first else []
    return (*found, whole)


def _first_view(scene: Scene, lang: Lang, view: tuple[int, int]) -> FoldedScene | None:
    """Return a legible view, filled in order with what still fits, then with as many companies as fit."""
    best, shown, tries = None, set[str](), _MOST_TRIES
    near = _neighbours(scene)
    order = _order(scene, near)
    for key in (*order, *order):  # what lacked a neighbour or did not fit beside the others may do so later
        linked = not near[key] or not near[key].isdisjoint(shown) or not _component(near, key) & shown
        if key in shown or not linked or not tries:
            continue
        picture = _laid_out(_folded(scene, {*shown, key}, _FEWEST, lang), *view)
        if _scale(picture, *view) >= MIN_SCALE:
            shown, best = {*shown, key}, picture
        else:
            tries -= 1
    for companies in _MORE if best else ():
        picture = _laid_out(_folded(scene, shown, companies, lang), *view)
        if _scale(picture, *view) < MIN_SCALE:
            break
        best = picture
    return best


def _neighbours(scene: Scene) -> dict[str, set[str]]:
    host = {node.id: node.stage or node.id for node in scene.nodes}
    near: dict[str, set[str]] = {key: set() for key in host.values()}
    for edge in scene.edges:
        one, other = host[edge.source], host[edge.target]
        if not edge.inside and one != other:
            near[one].add(other)
            near[other].add(one)
    return near


def _component(near: Mapping[str, set[str]], start: str) -> set[str]:
    found, frontier = {start}, [start]
    while frontier:
        new = near[frontier.pop()] - found
        found |= new
        frontier += new
    return found


def _laid_out(scene: Scene, width: int, height: int) -> FoldedScene:
    return FoldedScene(scene, *place(scene, width, height))


def _scale(picture: FoldedScene, width: int, height: int) -> float:
    return fit_scale(picture.placement, width, height)


def _order(scene: Scene, near: Mapping[str, set[str]]) -> list[str]:
    """Return all nodes that stand for themselves, a few of each caption in turn.

    Within a caption they come strongest first, each after one that it is linked to if possible.
    """
    blocks = {node.id: node for node in scene.nodes if not node.stage}
    order: list[str] = []
    seen: set[str] = set()
    for start in sorted(blocks, key=lambda key: (blocks[key].rank, key)):
        heap = [(blocks[start].rank, start)]
        while heap:
            _, key = heapq.heappop(heap)
            if key not in seen:
                seen.add(key)
                order.append(key)
                for other in near[key] - seen:
                    heapq.heappush(heap, (blocks[other].rank, other))
    turn: dict[str, int] = {}
    taken: Counter[tuple[int, int]] = Counter()
    for key in order:
        span = _span(scene, blocks[key])
        turn[key] = taken[span] // _TURN
        taken[span] += 1
    return sorted(order, key=turn.__getitem__)


def _folded(scene: Scene, shown: Collection[str], companies: int, lang: Lang) -> Scene:
    """Return the scene with these blocks only, at most so many companies on each, and counts of what is folded."""
    nodes = [*_kept_blocks(scene, shown, lang), *_kept_companies(scene, shown, companies, lang)]
    ids = {node.id for node in nodes}
    edges = tuple(edge for edge in scene.edges if edge.source in ids and edge.target in ids)
    return replace(scene, nodes=tuple(nodes), edges=edges)


def _kept_blocks(scene: Scene, shown: Collection[str], lang: Lang) -> Iterator[SceneNode]:
    """Yield the shown blocks and, per caption, a node for what is folded, in the caption's last column shown."""
    blocks = [node for node in scene.nodes if not node.stage]
    kept = [node for node in blocks if node.id in shown]
    yield from kept
    folded: dict[tuple[int, int], list[SceneNode]] = defaultdict(list)
    for node in blocks:
        if scene.layered and node.id not in shown:
            folded[_span(scene, node)].append(node)
    for (first, last), hidden in sorted(folded.items()):
        beside = [node.layer for node in kept if first <= node.layer <= last]
        yield _fold(hidden, "", max(beside, default=last), lang)


def _span(scene: Scene, node: SceneNode) -> tuple[int, int]:
    spans = ((caption.first, caption.last) for caption in scene.captions)
    return next((span for span in spans if span[0] <= node.layer <= span[1]), (node.layer, node.layer))


def _kept_companies(scene: Scene, shown: Collection[str], companies: int, lang: Lang) -> Iterator[SceneNode]:
    staged: dict[str, list[SceneNode]] = defaultdict(list)
    for node in scene.nodes:
        if node.stage in shown:
            staged[node.stage].append(node)
    for stage, members in staged.items():
        ranked = sorted(members, key=lambda node: node.rank)
        # a fold that stands for one company takes the room of that company
        count = companies if len(ranked) > companies + 1 else len(ranked)
        yield from ranked[:count]
        if ranked[count:]:
            yield _fold(ranked[count:], stage, ranked[0].layer, lang)


def _fold(hidden: Sequence[SceneNode], stage: str, layer: int, lang: Lang) -> SceneNode:
    return SceneNode(
        id=f"\0fold {stage or layer}",
        label=word("folded", lang, n=len(hidden)),
        kind=Kind.COMPANY,
        layer=layer,
        size=_FOLD_SIZE,
        codes=(),
        direction=0,
        tip="、".join(node.label for node in hidden[:12]),
        entity="",
        stage=stage,
        rank=1 + max(node.rank for node in hidden),
        hides=tuple(node.id for node in hidden),
    )
