"""How two entities hang together: the most credible paths between them."""

from __future__ import annotations

import heapq
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kg.query.answers import Node, Path, RelateAnswer
from kg.query.lens import Lens, Step, subgraph
from kg.query.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kg.graph.edges import Edges
    from kg.query.answers import Link
    from kg.store.port import View

_BREADTH = 24  # strongest links of a relation followed on the way
_AT_ENDS = 2000  # and from the two that are asked about: a plain link of a hub is not overlooked
_LONGEST = 4
_PATHS = 8
_POPS = 4000
_HOP_COST = 0.6  # each further hop makes a path this much less credible


class _Walk(NamedTuple):
    """A way from the start; `cost` is its credibility, negative, so that a heap gives the most credible first."""

    cost: float
    nodes: tuple[int, ...]
    steps: tuple[Step, ...]

    @property
    def credit(self) -> float:
        return -self.cost


def relate(view: View | Lens, first: str, second: str) -> RelateAnswer:
    """Return up to eight paths of at most four hops, the most credible first.

    Best-first search; credibility is the product of edge weights (cut at 1) and a cost for each hop.

    Raises:
        UnknownName: when nothing in the view bears one of the names.
    """
    lens = view if isinstance(view, Lens) else Lens(view)
    start, goal = resolve(lens, first), resolve(lens, second)
    walks = _search(lens, lens.index(start.id), lens.index(goal.id))
    made = lens.links({step for walk in walks for step in walk.steps})
    links = {(link.source, link.target, link.relation, link.sign): link for link in made}
    paths = tuple(_path(lens, walk, links) for walk in walks)
    return RelateAnswer(start, goal, paths, subgraph(_nodes(lens, walks), made))


def _path(lens: Lens, walk: _Walk, links: Mapping[tuple[str, str, str, int], Link]) -> Path:
    ids = lens.graph.entity_ids
    chosen = tuple(links[ids[step.source], ids[step.target], step.relation, step.sign] for step in walk.steps)
    sign = prod(link.sign or 1 for link in chosen)
    return Path(tuple(ids[index] for index in walk.nodes), chosen, sign, round(walk.credit, 4))


def _search(lens: Lens, start: int | None, goal: int | None) -> list[_Walk]:
    if start is None or goal is None or start == goal:
        return []
    relations = lens.words.of_family("structure", "chain", "causal")
    reached = _distances(lens, goal, relations)
    home = _around(lens, goal, relations, _AT_ENDS)
    queue = [_Walk(-1.0, (start,), ())]
    found: list[_Walk] = []
    for _ in range(_POPS):
        if not queue or len(found) >= _PATHS:
            break
        walk = heapq.heappop(queue)
        if walk.nodes[-1] == goal:
            found.append(walk)
            continue
        last = walk.nodes[-1]
        steps = _around(lens, last, relations, _BREADTH if walk.steps else _AT_ENDS)
        if last in home:
            steps[goal] = home[last]
        for other, step in steps.items():
            if other not in walk.nodes and len(walk.steps) + reached.get(other, _LONGEST) < _LONGEST:
                cost = walk.cost * min(1.0, step.weight) * _HOP_COST
                heapq.heappush(queue, _Walk(cost, (*walk.nodes, other), (*walk.steps, step)))
    return found


def _distances(lens: Lens, goal: int, relations: Sequence[str]) -> dict[int, int]:
    """Return hops to the goal, so that the search never walks where the goal is out of reach."""
    reached, frontier = {goal: 0}, [goal]
    for distance in range(1, _LONGEST):
        found = _both_ways(lens, frontier, relations, _AT_ENDS if distance == 1 else _BREADTH * 4)
        ends = [end for edges in found for end in (edges.source, edges.target)]
        frontier = [node for node in np.unique(np.concatenate(ends)).tolist() if node not in reached]
        reached |= dict.fromkeys(frontier, distance)
    return reached


def _both_ways(lens: Lens, nodes: Sequence[int], relations: Sequence[str], limit: int) -> tuple[Edges, Edges]:
    expand = lens.graph.expand
    return (
        expand(nodes, relations, "out", limit_per_node=limit),
        expand(nodes, relations, "in", limit_per_node=limit),
    )


def _around(lens: Lens, index: int, relations: Sequence[str], limit: int) -> dict[int, Step]:
    """Return the strongest step to each neighbour."""
    steps = lens.expand([index], relations, "out", limit=limit) + lens.expand([index], relations, "in", limit=limit)
    best: dict[int, Step] = {}
    for step in sorted(steps, key=lambda step: (-step.weight, step.fact)):
        best.setdefault(step.target if step.source == index else step.source, step)
    return best


def _nodes(lens: Lens, walks: Sequence[_Walk]) -> list[Node]:
    layer: dict[int, int] = {}
    score: dict[int, float] = {}
    for walk in walks:
        for depth, index in enumerate(walk.nodes):
            layer.setdefault(index, depth)
            score[index] = max(score.get(index, 0.0), walk.credit)
    lens.meet(layer)
    return [Node(lens.entity(index), layer[index], round(score[index], 4)) for index in sorted(layer)]
