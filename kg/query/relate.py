"""How two entities hang together: the most credible paths between them."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from kg.query.answers import Node, Path, RelateAnswer
from kg.query.lens import Lens, Step, subgraph
from kg.query.resolve import resolve

if TYPE_CHECKING:
    from kg.store.port import View

_BREADTH = 24
_LONGEST = 4
_PATHS = 8
_POPS = 4000
_HOP_COST = 0.6  # each further hop makes a path this much less credible


def relate(view: View | Lens, first: str, second: str) -> RelateAnswer:
    """Return up to eight paths of at most four hops, the most credible first.

    Best-first search; credibility is the product of edge weights (cut at 1) and a cost for each hop.

    Raises:
        UnknownName: when nothing in the view bears one of the names.
    """
    lens = view if isinstance(view, Lens) else Lens(view)
    start, goal = resolve(lens, first), resolve(lens, second)
    walks = _search(lens, lens.index(start.id), lens.index(goal.id))
    ids = lens.snapshot.entity_ids
    links = {
        (link.source, link.target, link.relation, link.sign): link
        for link in lens.links({s for _, _, steps in walks for s in steps})
    }
    paths = []
    for weight, nodes, steps in walks:
        chosen = [links[ids[step.source], ids[step.target], step.relation, step.sign] for step in steps]
        sign = 1
        for link in chosen:
            sign *= link.sign or 1
        paths.append(Path(tuple(ids[index] for index in nodes), tuple(chosen), sign, round(weight, 4)))
    return RelateAnswer(start, goal, tuple(paths), subgraph(lens, _nodes(lens, walks), list(links.values())))


def _search(lens: Lens, start: int | None, goal: int | None) -> list[tuple[float, tuple[int, ...], tuple[Step, ...]]]:
    if start is None or goal is None or start == goal:
        return []
    relations = lens.words.of_family("structure", "chain", "causal")
    reached = _distances(lens, goal, relations)
    queue: list[tuple[float, tuple[int, ...], tuple[Step, ...]]] = [(-1.0, (start,), ())]
    found: list[tuple[float, tuple[int, ...], tuple[Step, ...]]] = []
    for _ in range(_POPS):
        if not queue or len(found) >= _PATHS:
            break
        cost, nodes, steps = heapq.heappop(queue)
        if nodes[-1] == goal:
            found.append((-cost, nodes, steps))
            continue
        for step in _around(lens, nodes[-1], relations):
            other = step.target if step.source == nodes[-1] else step.source
            if other not in nodes and len(steps) + reached.get(other, _LONGEST) < _LONGEST:
                heapq.heappush(queue, (cost * min(1.0, step.weight) * _HOP_COST, (*nodes, other), (*steps, step)))
    return found


def _distances(lens: Lens, goal: int, relations: tuple[str, ...]) -> dict[int, int]:
    """Return hops to the goal, so that the search never walks where the goal is out of reach."""
    reached, frontier = {goal: 0}, [goal]
    for distance in range(1, _LONGEST):
        steps = [
            step for direction in ("out", "in") for step in lens.expand(frontier, relations, direction, _BREADTH * 4)
        ]
        fresh = sorted({end for step in steps for end in (step.source, step.target)} - set(reached))
        reached |= dict.fromkeys(fresh, distance)
        frontier = fresh
    return reached


def _around(lens: Lens, index: int, relations: tuple[str, ...]) -> list[Step]:
    steps = lens.expand([index], relations, "out", _BREADTH) + lens.expand([index], relations, "in", _BREADTH)
    best: dict[int, Step] = {}
    for step in sorted(steps, key=lambda step: (-step.weight, step.fact)):
        best.setdefault(step.target if step.source == index else step.source, step)
    return list(best.values())


def _nodes(lens: Lens, walks: list[tuple[float, tuple[int, ...], tuple[Step, ...]]]) -> list[Node]:
    layer: dict[int, int] = {}
    score: dict[int, float] = {}
    for weight, nodes, _ in walks:
        for depth, index in enumerate(nodes):
            layer.setdefault(index, depth)
            score[index] = max(score.get(index, 0.0), weight)
    return [Node(lens.entity(index), layer[index], round(score[index], 4)) for index in sorted(layer)]
