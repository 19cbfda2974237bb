"""How two entities hang together: the most credible paths between them."""

from __future__ import annotations

import heapq
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kg.query.answers import Node, Path, RelateAnswer
from kg.query.resolve import resolve
from kg.query.session import QuerySession, Step, subgraph

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from kg.graph.edges import Edges
    from kg.query.answers import Link
    from kg.store.port import View

_BREADTH = 24  # strongest links of a relation followed on the way
_AT_ENDS = 2000  # and from the two that are asked about: a plain link of a hub is not overlooked
_LONGEST = 4
_PATHS = 8
_POPS = 4000
_AHEAD = 64  # walks of the queue whose next steps are read at once
_HOP_COST = 0.6  # each further hop makes a path this much less credible


class _Walk(NamedTuple):
    """A way from the start; `cost` is its credibility, negative, so that a heap gives the most credible first."""

    cost: float
    nodes: tuple[int, ...]
    steps: tuple[Step, ...]

    @property
    def credit(self) -> float:
        return -self.cost


def relate(view: View | QuerySession, first: str, second: str) -> RelateAnswer:
    """Return up to eight paths of at most four hops, the most credible first.

    Best-first search; credibility is the product of edge weights (cut at 1) and a cost for each hop.

    Raises:
        UnknownName: when nothing in the view bears one of the names.
    """
    session = view if isinstance(view, QuerySession) else QuerySession(view)
    start, goal = resolve(session, first), resolve(session, second)
    walks = _search(session, session.index(start.id), session.index(goal.id))
    made = session.links({step for walk in walks for step in walk.steps})
    links = {(link.source, link.target, link.relation, link.sign): link for link in made}
    paths = tuple(_path(session, walk, links) for walk in walks)
    return RelateAnswer(start, goal, paths, subgraph(_nodes(session, walks), made))


def _path(session: QuerySession, walk: _Walk, links: Mapping[tuple[str, str, str, int], Link]) -> Path:
    ids = session.graph.entity_ids
    chosen = tuple(links[ids[step.source], ids[step.target], step.relation, step.sign] for step in walk.steps)
    sign = prod(link.sign or 1 for link in chosen)
    return Path(tuple(ids[index] for index in walk.nodes), chosen, sign, round(walk.credit, 4))


def _search(session: QuerySession, start: int | None, goal: int | None) -> list[_Walk]:
    if start is None or goal is None or start == goal:
        return []
    relations = session.words.of_family("structure", "chain", "causal")
    distance = _distances(session, goal, relations)
    home = _onward(session, {goal: 0}, relations, distance, limit=_AT_ENDS)[goal]
    known = {(start, 0): _onward(session, {start: 0}, relations, distance, limit=_AT_ENDS)[start]}
    queue = [_Walk(-1.0, (start,), ())]
    found: list[_Walk] = []
    for _ in range(_POPS):
        if not queue or len(found) >= _PATHS:
            break
        walk = heapq.heappop(queue)
        if walk.nodes[-1] == goal:
            found.append(walk)
            continue
        last, hops = walk.nodes[-1], len(walk.steps)
        if (last, hops) not in known:
            # What leads a heap is mostly what comes next: asking for many nodes costs little more than for one.
            ahead = [each for each in queue[:_AHEAD] if (each.nodes[-1], len(each.steps)) not in known]
            asked = {each.nodes[-1]: len(each.steps) for each in (*ahead, walk)}
            steps = _onward(session, asked, relations, distance, limit=_BREADTH)
            known |= {(node, asked[node]): steps[node] for node in asked}
        steps_on = known[last, hops] | ({goal: home[last]} if last in home else {})
        for other, step in steps_on.items():
            if other not in walk.nodes:
                cost = walk.cost * min(1.0, step.weight) * _HOP_COST
                heapq.heappush(queue, _Walk(cost, (*walk.nodes, other), (*walk.steps, step)))
    return found


def _distances(session: QuerySession, goal: int, relations: Sequence[str]) -> NDArray[np.int8]:
    """Return each node's hops to the goal, `_LONGEST` for all that are further: the search never walks there."""
    distance = np.full(len(session.graph.entity_ids), _LONGEST, dtype=np.int8)
    distance[goal] = 0
    frontier = np.array([goal])
    for hops in range(1, _LONGEST):
        reached = np.zeros(len(distance), dtype=np.bool_)
        for edges in _both_ways(session, frontier, relations, _AT_ENDS if hops == 1 else _BREADTH * 4):
            reached[edges.source] = reached[edges.target] = True
        frontier = np.flatnonzero(reached & (distance == _LONGEST))
        distance[frontier] = hops
    return distance


def _both_ways(
    session: QuerySession, nodes: Sequence[int] | NDArray[np.integer], relations: Sequence[str], limit: int
) -> tuple[Edges, Edges]:
    expand = session.graph.expand
    return (
        expand(nodes, relations, "out", limit_per_node=limit),
        expand(nodes, relations, "in", limit_per_node=limit),
    )


def _onward(
    session: QuerySession, hops: Mapping[int, int], relations: Sequence[str], distance: NDArray[np.int8], *, limit: int
) -> dict[int, dict[int, Step]]:
    """Return each node's strongest step to each neighbour from where the goal is in reach.

    Args:
        session: whose graph is walked.
        hops: nodes, and how many steps have led to each.
        relations: those walked.
        distance: of all nodes to the goal.
        limit: edges of a node and relation, either way, that are looked at.
    """
    nodes = np.array(sorted(hops), dtype=np.int64)
    spent = np.array([hops[node] for node in nodes.tolist()])
    outward, inward = _both_ways(session, nodes, relations, limit)
    found: list[tuple[int, int, Step]] = []
    for edges, one, other in ((outward, outward.source, outward.target), (inward, inward.target, inward.source)):
        rows = np.flatnonzero(spent[np.searchsorted(nodes, one)] + distance[other] < _LONGEST)
        found += zip(one[rows].tolist(), other[rows].tolist(), session.steps(edges.take(rows)), strict=True)
    best: dict[int, dict[int, Step]] = {node: {} for node in hops}
    for node, neighbour, step in sorted(found, key=lambda each: (-each[2].weight, each[2].fact)):
        best[node].setdefault(neighbour, step)
    return best


def _nodes(session: QuerySession, walks: Sequence[_Walk]) -> list[Node]:
    layer: dict[int, int] = {}
    score: dict[int, float] = {}
    for walk in walks:
        for depth, index in enumerate(walk.nodes):
            layer.setdefault(index, depth)
            score[index] = max(score.get(index, 0.0), walk.credit)
    session.meet(layer)
    return [Node(session.entity(index), layer[index], round(score[index], 4)) for index in sorted(layer)]
