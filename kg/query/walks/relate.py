"""How two entities hang together: the most credible paths between them."""

from __future__ import annotations

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
_WALKS = 4000  # most credible walks of all, among which those to the goal are found
_ALL = 1_000_000
_AT_ONCE = 256  # walks made longer at once
_HOP_COST = 0.6  # each further hop makes a path this much less credible


class _Ways(NamedTuple):
    """The strongest edge from each of some nodes (`one`, sorted) to each of its neighbours (`other`), a row each."""

    one: NDArray[np.integer]
    other: NDArray[np.integer]
    edges: Edges


class _Walks(NamedTuple):
    """Walks from the start, a row each.

    Attributes:
        credit: how credible each is.
        hops: its edges.
        nodes: those it meets, then −1, shape (walks, _LONGEST + 1).
        steps: rows of the edges walked, shape (walks, _LONGEST).
        open: whether longer ones have still to be looked for.
    """

    credit: NDArray[np.float64]
    hops: NDArray[np.int64]
    nodes: NDArray[np.int64]
    steps: NDArray[np.int64]
    open: NDArray[np.bool_]

    @staticmethod
    def at(start: int) -> _Walks:
        """Return the walk of no hops."""
        nodes = np.full((1, _LONGEST + 1), -1, dtype=np.int64)
        nodes[0, 0] = start
        steps = np.zeros((1, _LONGEST), dtype=np.int64)
        return _Walks(np.ones(1), np.zeros(1, dtype=np.int64), nodes, steps, np.ones(1, dtype=np.bool_))

    @property
    def last(self) -> NDArray[np.int64]:
        """Where each ends."""
        return self.nodes[np.arange(len(self.hops)), self.hops]

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> _Walks:
        """Return the walks of these rows."""
        return _Walks._make(column[rows] for column in self)

    def joined(self, other: _Walks) -> _Walks:
        """Return these walks followed by the others."""
        return _Walks._make(map(np.concatenate, zip(self, other, strict=True)))

    def longer(self, ways: _Ways, distance: NDArray[np.int8], *, first_row: int) -> _Walks:
        """Return the walks that are one hop longer, meet no node twice and can still reach the goal.

        Args:
            ways: on from the last nodes.
            distance: of all nodes to the goal.
            first_row: number of the first edge of the ways.
        """
        last = self.last
        begin, end = np.searchsorted(ways.one, last), np.searchsorted(ways.one, last, side="right")
        counts = end - begin
        walk = np.repeat(np.arange(len(last)), counts)
        way = np.repeat(end - counts.cumsum(), counts) + np.arange(len(walk))
        other = ways.other[way]
        kept = (self.hops[walk] + distance[other] < _LONGEST) & (self.nodes[walk] != other[:, None]).all(axis=1)
        walk, way, other = walk[kept], way[kept], other[kept]
        hops, nodes, steps, row = self.hops[walk], self.nodes[walk], self.steps[walk], np.arange(len(walk))
        nodes[row, hops + 1], steps[row, hops] = other, first_row + way
        weight = np.minimum(1.0, ways.edges.weight[way].astype(np.float64))
        return _Walks(self.credit[walk] * weight * _HOP_COST, hops + 1, nodes, steps, distance[other] > 0)


class _Found(NamedTuple):
    """A walk that reached the goal."""

    credit: float
    nodes: tuple[int, ...]
    steps: tuple[Step, ...]


def relate(view: View | QuerySession, first: str, second: str) -> RelateAnswer:
    """Return up to eight paths of at most four hops, the most credible first.

    Credibility is the product of edge weights (cut at 1) and a cost for each hop.

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
    """Return the walks to the goal among the most credible of all, the most credible first, equals by their nodes.

    What becomes of a walk is less credible than it is, so only those that may lead to one of these are made longer.
    """
    if start is None or goal is None or start == goal:
        return []
    relations = session.words.of_family("structure", "chain", "causal")
    begin = _both_ways(session, [start], relations, _AT_ENDS)
    around = np.concatenate([begin[0].target, begin[1].source])
    distance = _distances(session, goal, relations, around=around)
    home = _home(_onward(session, [goal], [0], relations, distance, limit=_AT_ENDS))
    walks, edges, least = _Walks.at(start), home.edges, 0.0
    while len(picked := np.flatnonzero(walks.open & (walks.credit * _HOP_COST >= least))):
        picked = picked[np.argsort(-walks.credit[picked], kind="stable")[:_AT_ONCE]]
        walks.open[picked] = False
        at_hand = walks.take(picked)
        ways = _ahead(session, at_hand, relations, distance)
        longer = at_hand.longer(home, distance, first_row=0)
        longer = longer.joined(at_hand.longer(ways, distance, first_row=len(edges)))
        edges = edges.joined(ways.edges)
        walks = walks.joined(longer).take(np.concatenate([walks.credit, longer.credit]) >= least)
        least = max(_highest(walks.credit, _WALKS), _highest(walks.credit[walks.last == goal], _PATHS))
    order = np.lexsort((*walks.nodes.T[::-1], -walks.credit))[:_WALKS]
    found = walks.take(order[walks.last[order] == goal][:_PATHS])
    return [_found(session, found, row, edges) for row in range(len(found.hops))]


def _highest(credit: NDArray[np.float64], count: int) -> float:
    """Return the lowest of the `count` highest credits, 0 if there are fewer."""
    return float(np.partition(credit, -count)[-count]) if len(credit) >= count else 0.0


def _found(session: QuerySession, walks: _Walks, row: int, edges: Edges) -> _Found:
    hops = int(walks.hops[row])
    steps = session.steps(edges.take(walks.steps[row, :hops]))
    return _Found(float(walks.credit[row]), tuple(walks.nodes[row, : hops + 1].tolist()), tuple(steps))


def _home(ways: _Ways) -> _Ways:
    """Return the strongest edges of the goal as ways to it."""
    order = np.argsort(ways.other)
    return _Ways(ways.other[order], ways.one[order], ways.edges.take(order))


def _ahead(session: QuerySession, walks: _Walks, relations: Sequence[str], distance: NDArray[np.int8]) -> _Ways:
    """Return the ways on from the last nodes of walks; what the last hop may lead to is only the goal."""
    going = walks.take(walks.hops < _LONGEST - 1)
    nodes, place = np.unique(going.last, return_inverse=True)
    hops = np.full(len(nodes), _LONGEST)
    np.minimum.at(hops, place, going.hops)
    limit = _AT_ENDS if 0 in hops else _BREADTH
    return _onward(session, nodes, hops, relations, distance, limit=limit)


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
    session: QuerySession,
    nodes: Sequence[int] | NDArray[np.integer],
    hops: Sequence[int] | NDArray[np.integer],
    relations: Sequence[str],
    distance: NDArray[np.int8],
    *,
    limit: int,
) -> _Ways:
    """Return the strongest edge of each node to each neighbour from where the goal is in reach.

    Args:
        session: whose graph is walked.
        nodes: sorted.
        hops: the fewest steps that have led to each.
        relations: those walked.
        distance: of all nodes to the goal; what leads from beside the goal to it is left out.
        limit: edges of a node and relation, either way, that are looked at.
    """
    outward, inward = _both_ways(session, nodes, relations, limit)
    edges = outward.joined(inward)
    one = np.concatenate([outward.source, inward.target])
    other = np.concatenate([outward.target, inward.source])
    wanted = (np.asarray(hops)[np.searchsorted(nodes, one)] + distance[other] < _LONGEST) & ~(
        (distance[other] == 0) & (distance[one] == 1)
    )
    edges, one, other = edges.take(wanted), one[wanted], other[wanted]
    order = np.lexsort((edges.fact, -edges.weight, other, one))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = (one[order][1:] != one[order][:-1]) | (other[order][1:] != other[order][:-1])
    best = order[first]
    return _Ways(one[best], other[best], edges.take(best))


def _nodes(session: QuerySession, walks: Sequence[_Found]) -> list[Node]:
    layer: dict[int, int] = {}
    score: dict[int, float] = {}
    for walk in walks:
        for depth, index in enumerate(walk.nodes):
            layer.setdefault(index, depth)
            score[index] = max(score.get(index, 0.0), walk.credit)
    session.meet(layer)
    return [Node(session.entity(index), layer[index], round(score[index], 4)) for index in sorted(layer)]
