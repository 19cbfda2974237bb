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
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from kg.graph.edges import Edges
    from kg.query.answers import Link
    from kg.store.port import View

_BREADTH = 24  # strongest links of a relation followed on the way
_AT_ENDS = 2000  # and from the two that are asked about: a plain link of a hub is not overlooked
_LONGEST = 4
_PATHS = 8
_POPS = 4000
_ALL = 1_000_000
_AHEAD = 64  # walks of the queue whose next steps are read at once
_HOP_COST = 0.6  # each further hop makes a path this much less credible


class _Ways(NamedTuple):
    """The strongest edges from one node to its neighbours, the most credible first; `rows` are those of `edges`."""

    others: list[int]
    weights: list[float]
    rows: list[int]
    edges: Edges


class _Walk(NamedTuple):
    """A way from the start; `cost` is its credibility, negative, so that a heap gives the most credible first.

    It ends with way `place` of `ways`, after the walk `before`. No two walks of a search meet the same nodes, so a heap
    compares nothing after them.
    """

    cost: float
    nodes: tuple[int, ...]
    before: _Walk | None = None
    ways: _Ways | None = None
    place: int = 0

    def longer(self, ways: _Ways, place: int = 0) -> _Walk | None:
        """Return the most credible longer walk by one of the ways from `place` on that meets no node twice."""
        for at in range(place, len(ways.others)):
            if ways.others[at] not in self.nodes:
                cost = self.cost * min(1.0, ways.weights[at]) * _HOP_COST
                return _Walk(cost, (*self.nodes, ways.others[at]), self, ways, at)
        return None

    def next(self) -> _Walk | None:
        """Return the walk that is as long and next in credibility."""
        return self.before.longer(self.ways, self.place + 1) if self.before and self.ways else None

    def steps(self, session: QuerySession) -> tuple[Step, ...]:
        """Return the edges walked."""
        if self.before is None or self.ways is None:
            return ()
        (step,) = session.steps(self.ways.edges.take(np.array([self.ways.rows[self.place]])))
        return (*self.before.steps(session), step)


class _Found(NamedTuple):
    """A walk that reached the goal."""

    credit: float
    nodes: tuple[int, ...]
    steps: tuple[Step, ...]


def relate(view: View | QuerySession, first: str, second: str) -> RelateAnswer:
    """Return up to eight paths of at most four hops, the most credible first.

    Best-first search; credibility is the product of edge weights (cut at 1) and a cost for each hop.

    Raises:
        UnknownName: when one of the names is unknown in the view.
    """
    session = view if isinstance(view, QuerySession) else QuerySession(view)
    start, goal = resolve(session, first), resolve(session, second)
    walks = _search(session, session.index(start.id), session.index(goal.id))
    made = session.links({step for walk in walks for step in walk.steps})
    links = {(link.source, link.target, link.relation, link.sign): link for link in made}
    paths = tuple(_path(session, walk, links) for walk in walks)
    return RelateAnswer(start, goal, paths, subgraph(_nodes(session, walks), made))


def _path(session: QuerySession, walk: _Found, links: Mapping[tuple[str, str, str, int], Link]) -> Path:
    ids = session.graph.entity_ids
    chosen = tuple(links[ids[step.source], ids[step.target], step.relation, step.sign] for step in walk.steps)
    sign = prod(link.sign or 1 for link in chosen)
    return Path(tuple(ids[index] for index in walk.nodes), chosen, sign, round(walk.credit, 4))


def _search(session: QuerySession, start: int | None, goal: int | None) -> list[_Found]:
    """Search best first; of the walks that differ in their last way, only the most credible waits in the queue."""
    if start is None or goal is None or start == goal:
        return []
    relations = session.words.of_family("structure", "chain", "causal")
    begin = _both_ways(session, [start], relations, _AT_ENDS)
    around = np.concatenate([begin[0].target, begin[1].source])
    distance = _distances(session, goal, relations, around=around)
    home = _home(_onward(session, {goal: 0}, relations, distance, limit=_AT_ENDS)[goal], goal)
    known = {(start, 0): _onward(session, {start: 0}, relations, distance, limit=_AT_ENDS)[start]}
    queue = [_Walk(-1.0, (start,))]
    found: list[_Found] = []
    for _ in range(_POPS):
        if not queue or len(found) >= _PATHS:
            break
        walk = heapq.heappop(queue)
        last, hops = walk.nodes[-1], len(walk.nodes) - 1
        longer = [walk.next()]
        if last == goal:
            found.append(_Found(-walk.cost, walk.nodes, walk.steps(session)))
        else:
            if hops < _LONGEST - 1:  # what the last hop may lead to is only the goal, and that is in `home`
                if (last, hops) not in known:
                    coming = [*_waiting(queue, walk, goal=goal, known=known), walk]
                    known |= _ahead(session, coming, relations=relations, distance=distance)
                longer.append(walk.longer(known[last, hops]))
            if last in home:
                longer.append(walk.longer(home[last]))
        for each in longer:
            if each is not None:
                heapq.heappush(queue, each)
    return found


def _home(ways: _Ways, goal: int) -> dict[int, _Ways]:
    """Return the strongest edges of the goal as ways to it, by where they begin."""
    cells = zip(ways.others, ways.weights, ways.rows, strict=True)
    return {other: _Ways([goal], [weight], [row], ways.edges) for other, weight, row in cells}


def _waiting(
    queue: Sequence[_Walk], walk: _Walk, *, goal: int, known: Mapping[tuple[int, int], object]
) -> Iterator[_Walk]:
    """Yield walks that come soon and need edges: those that lead the heap, and those next to the one at hand.

    To ask for many nodes costs little more than to ask for one.
    """
    beside = walk.next()
    coming = list(queue[:_AHEAD])
    for _ in range(_AHEAD):
        if beside is None:
            break
        coming.append(beside)
        beside = beside.next()
    for each in coming:
        last, hops = each.nodes[-1], len(each.nodes) - 1
        if last != goal and hops < _LONGEST - 1 and (last, hops) not in known:
            yield each


def _ahead(
    session: QuerySession, walks: Sequence[_Walk], *, relations: Sequence[str], distance: NDArray[np.int8]
) -> dict[tuple[int, int], _Ways]:
    """Return the ways on from the last nodes of walks, by node and hops."""
    asked = {walk.nodes[-1]: len(walk.nodes) - 1 for walk in walks}
    ways = _onward(session, asked, relations, distance, limit=_BREADTH)
    return {(node, asked[node]): ways[node] for node in asked}


def _distances(
    session: QuerySession, goal: int, relations: Sequence[str], *, around: NDArray[np.integer]
) -> NDArray[np.int8]:
    """Return each node's hops to the goal, `_LONGEST` for all that are further: the search never walks there.

    Three hops are distinguished only for the nodes `around` the start: no walk meets another one so early.
    """
    distance = np.full(len(session.graph.entity_ids), _LONGEST, dtype=np.int8)
    distance[goal] = 0
    for hops, limit in ((1, _AT_ENDS), (2, _BREADTH * 4)):
        reached = _reached(session, np.flatnonzero(distance == hops - 1), relations, limit)
        distance[reached & (distance == _LONGEST)] = hops
    far = np.unique(around[distance[around] == _LONGEST])
    distance[_beside(session, far, relations, distance == _LONGEST - 2)] = _LONGEST - 1
    return distance


def _reached(
    session: QuerySession, nodes: NDArray[np.integer], relations: Sequence[str], limit: int
) -> NDArray[np.bool_]:
    """Return the mask of nodes that the strongest edges of some nodes touch."""
    reached = np.zeros(len(session.graph.entity_ids), dtype=np.bool_)
    for edges in _both_ways(session, nodes, relations, limit):
        reached[edges.source] = reached[edges.target] = True
    return reached


def _beside(
    session: QuerySession, nodes: NDArray[np.integer], relations: Sequence[str], frontier: NDArray[np.bool_]
) -> NDArray[np.integer]:
    """Return those of some nodes that the strongest edges of a large frontier touch.

    Most of the frontier is far from them, and most edges are among the strongest of their other end: one neighbour each
    is tried first.
    """
    outward, inward = _both_ways(session, nodes, relations, _ALL)
    one = np.concatenate([outward.source, inward.target])
    other = np.concatenate([outward.target, inward.source])
    one, other = one[frontier[other]], other[frontier[other]]
    found = np.zeros(len(frontier), dtype=np.bool_)
    for one_each in (True, False):
        tried = other[np.unique(one, return_index=True)[1]] if one_each else other
        found |= _reached(session, np.unique(tried), relations, _BREADTH * 4)
        one, other = one[~found[one]], other[~found[one]]
    touched: NDArray[np.integer] = nodes[found[nodes]]
    return touched


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
) -> dict[int, _Ways]:
    """Return each node's strongest edge to each neighbour from where the goal is in reach.

    Args:
        session: whose graph is walked.
        hops: nodes, and how many steps have led to each.
        relations: those walked.
        distance: of all nodes to the goal; what leads from beside the goal to it is left out.
        limit: edges of a node and relation, either way, that are looked at.
    """
    nodes = np.array(sorted(hops), dtype=np.int64)
    spent = np.array([hops[node] for node in nodes.tolist()])
    outward, inward = _both_ways(session, nodes, relations, limit)
    edges = outward.joined(inward)
    one = np.concatenate([outward.source, inward.target])
    other = np.concatenate([outward.target, inward.source])
    wanted = (spent[np.searchsorted(nodes, one)] + distance[other] < _LONGEST) & ~(
        (distance[other] == 0) & (distance[one] == 1)
    )
    edges, one, other = edges.take(wanted), one[wanted], other[wanted]
    order = np.lexsort((edges.fact, -edges.weight, other, one))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = (one[order][1:] != one[order][:-1]) | (other[order][1:] != other[order][:-1])
    best = order[first]
    best = best[np.lexsort((other[best], -np.minimum(edges.weight[best], 1.0), one[best]))]
    ends = np.searchsorted(one[best], nodes, side="right").tolist()
    others, weights, rows = (column.tolist() for column in (other[best], edges.weight[best], best))
    return {
        node: _Ways(others[begin:end], weights[begin:end], rows[begin:end], edges)
        for node, begin, end in zip(nodes.tolist(), [0, *ends[:-1]], ends, strict=True)
    }


def _nodes(session: QuerySession, walks: Sequence[_Found]) -> list[Node]:
    layer: dict[int, int] = {}
    score: dict[int, float] = {}
    for walk in walks:
        for depth, index in enumerate(walk.nodes):
            layer.setdefault(index, depth)
            score[index] = max(score.get(index, 0.0), walk.credit)
    session.meet(layer)
    return [Node(session.entity(index), layer[index], round(score[index], 4)) for index in sorted(layer)]
