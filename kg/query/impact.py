"""Signed causal paths that leave a factor, or lead to an effect, and who stands at their end."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kg.errors import UnknownName
from kg.model import Kind
from kg.query.answers import Exposure, ImpactAnswer, Node, Path
from kg.query.resolve import candidates, near_names
from kg.query.session import QuerySession, Step, spoken, subgraph

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kg.graph.snapshot import Direction
    from kg.model import Entity, Fact
    from kg.query.answers import Link
    from kg.query.session import Step
    from kg.store.port import View


_BURDENS = ("成本", "费用", "费用率", "库存", "亏损", "不良率", "不良贷款率", "负债率", "折旧")
# What moves against the price of its product: nothing that is said of the product or its price answers for it.
_AGAINST = (*_BURDENS, "供给", "供应", "产能", "产量", "存栏", "存栏量")
_GAINS = (
    *("需求", "销量", "收入", "毛利率", "净利率", "利润", "盈利", "盈利能力", "毛利", "价格", "景气度", "市占率"),
    *("估值", "渗透率", "订单", "出货量", "装机量", "净息差", "销售额", "市场规模", "业绩", "价值量", "加工费", "roe"),
    *("消费量", "出口量", "出口", "投资", "指数", "现金流", "交付量", "票房", "批价"),
)


def indicator_polarity(indicator: str) -> int:
    """Return +1 where a rise is good for the owner, −1 where it is a burden, 0 where neither is sure.

    Of supply, capacity and output more may be either.

    >>> [indicator_polarity(name) for name in ("indicator:电池毛利率", "indicator:电池成本", "indicator:铜供给")]
    [1, -1, 0]
    """
    if indicator.endswith(_BURDENS):
        return -1
    return 1 if indicator.endswith(_GAINS) else 0


_EACH = 8
_ROLES = (
    ("maker", ("produces", "operates", "belongs_to"), "in"),
    ("upstream", ("upstream_of", "part_of"), "in"),
    ("downstream", ("upstream_of", "part_of"), "out"),
    ("user", ("uses",), "in"),
)


def exposures(session: QuerySession, start: Sequence[int]) -> tuple[Exposure, ...]:
    """Return the neighbours on the chain of the products that rows of the snapshot are, or are about.

    Who makes a product is also looked for in its trade (碳酸锂 → 锂).
    Up to eight a role, strongest first, each with the link that says so.
    """
    kinds = session.graph.kinds
    anchored = (session.graph.about_target(row) for row in start if kinds[row] != Kind.PRODUCT)
    products = {row for row in (*start, *anchored) if row is not None and kinds[row] == Kind.PRODUCT}
    trades = {row for product in products if (row := session.graph.about_target(product)) is not None}
    found: list[Exposure] = []
    for role, relations, direction in _ROLES:
        reached: dict[int, list[Step]] = defaultdict(list)
        rows = products | trades if role == "maker" else products
        for step in session.expand(sorted(rows), relations, "in" if direction == "in" else "out", limit=_EACH):
            reached[step.source if direction == "in" else step.target].append(step)
        ranked = sorted(reached, key=lambda row: (-sum(step.weight for step in reached[row]), row))
        for row in [row for row in ranked if row not in products and (role != "maker" or kinds[row] == Kind.COMPANY)][
            :_EACH
        ]:
            weight = sum(step.weight for step in reached[row])
            found.append(
                Exposure(role, Node(session.entity(row), 0, round(weight, 4)), tuple(session.links(reached[row])))
            )
    return tuple(found)


_BEAM = 60  # walks kept after each hop
_BREADTH = 12  # strongest causal edges followed from one node
_HOPS = 4
_NARROWER = 20
_MOVES_WITH = "价格"  # a product without links of its own speaks through its price: 猪周期拐点 is a turn of 生猪价格
_PATHS = 40
_AFFECTED = 40
_REVERSED = 0.7  # a fact said of a fall is weaker evidence about a rise
_ABOUT = 0.8  # what is said of 电池成本 concerns 电池, at one remove
_MAKER = 0.5  # and those who make it, at two
_MAKERS_EACH = 5
_MAKERS = ("produces", "operates", "belongs_to")
_SUBJECTS = frozenset({Kind.INDUSTRY, Kind.COMPANY, Kind.PRODUCT, Kind.THEME, Kind.BUSINESS})
_LISTED = frozenset({Kind.INDUSTRY, Kind.COMPANY})


@dataclass(frozen=True, slots=True)
class _Walk:
    """Steps from the start, the direction the last node moves in, and the strength of the weakest step."""

    steps: tuple[Step, ...]
    nodes: tuple[int, ...]
    direction: int
    weight: float


def impact(view: View | QuerySession, factor: str, direction: int = 1, *, hops: int = 3) -> ImpactAnswer:
    """Return what a move of a factor (`direction` +1 up, −1 down) does, as far as sources say so.

    Raises:
        UnknownName: when the name is unknown in the view.
    """
    return _answer(view, factor, direction, hops, forward=True)


def causes(view: View | QuerySession, effect: str, direction: int = 1, *, hops: int = 3) -> ImpactAnswer:
    """Return what moves an effect in `direction`, as far as sources say so.

    Raises:
        UnknownName: when the name is unknown in the view.
    """
    return _answer(view, effect, direction, hops, forward=False)


def _answer(view: View | QuerySession, name: str, direction: int, hops: int, *, forward: bool) -> ImpactAnswer:
    session = view if isinstance(view, QuerySession) else QuerySession(view)
    topic, named, start = _start(session, name, forward=forward)
    walks = _walk(session, start, direction, min(max(hops, 1), _HOPS), named=named, forward=forward)
    steps = {step for walk in walks for step in walk.steps}
    made = session.links(steps)
    links = {(link.source, link.target, link.relation, link.sign): link for link in made}
    paths = tuple(_distinct(_path(session, walk, links, forward=forward) for walk in walks))[:_PATHS]
    affected, extra = _affected(session, walks, forward=forward)
    nodes = _nodes(session, start, walks, forward=forward)
    nodes += _beside(session, nodes, extra, [*_products(session, extra), *affected], side=1 if forward else -1)
    drawn = [*made, *session.links(extra)]
    tied = {end for link in drawn for end in (link.source, link.target)}
    graph = subgraph([node for node in nodes if node.entity.id in tied], drawn)
    counter = tuple(_counter(session, made))
    own = session.index(topic.id)
    near = exposures(session, [*start, *([] if own is None else [own])]) if forward else ()
    return ImpactAnswer(topic, direction, forward, paths, tuple(affected[:_AFFECTED]), counter, graph, near)


def _counter(session: QuerySession, links: Iterable[Link]) -> Iterator[Link]:
    """Yield what sources say against the strongest link of each two ends: the other sign, or a denial."""
    strongest: dict[tuple[str, str], Link] = {}
    for link in sorted(links, key=lambda link: (-link.weight, link.source, link.target, link.sign)):
        strongest.setdefault((link.source, link.target), link)
    for link in strongest.values():
        against: dict[tuple[int, str], dict[str, Fact]] = defaultdict(dict)
        for fact in (other for said in link.facts for other in session.opposing(said)):
            against[fact.sign, fact.polarity][fact.id] = fact
        for _, facts in sorted(against.items()):
            weight = sum(fact.witnesses * fact.confidence for fact in facts.values())
            yield session.link(sorted(facts.values(), key=spoken), weight)


def _start(session: QuerySession, name: str, *, forward: bool) -> tuple[Entity, list[int], list[int]]:
    """Return the topic, the rows that the name means, and those where the walk begins.

    Every reading of the name counts, and its narrower kinds (电池级碳酸锂价格 for 碳酸锂价格). A measure without links
    of its own, unless it moves against the price, speaks through its product and that product's price; a trade or
    product speaks through its price, demand and other gains too.
    """
    found = candidates(session, name)
    if not found:
        raise UnknownName(name, near_names(session, name))
    rows = [
        index for entity in (*found, *_narrower(session, found[0])) if (index := session.index(entity.id)) is not None
    ]
    near = [
        about
        for index in rows
        if (about := session.graph.about_target(index)) is not None
        and session.graph.kinds[about] == Kind.PRODUCT
        and not found[0].name.endswith(_AGAINST)
    ]
    around = [
        other
        for index in (*rows, *near)
        for other in session.graph.about_of(index)
        if session.graph.kinds[other] == Kind.INDICATOR
    ]
    prices = [other for other in around if near and session.graph.entity_ids[other].endswith(_MOVES_WITH)]
    gains = [other for other in around if indicator_polarity(session.graph.entity_ids[other]) > 0]
    direction: Direction = "out" if forward else "in"
    own = [*rows, *near]
    for group in ([*own, *gains],) if found[0].kind in _SUBJECTS else (own, prices):
        # As many as the walk follows: the strongest may be too unsure to be used.
        steps = session.expand(sorted(set(group)), ("affects",), direction, limit=_BREADTH)
        moving = sorted({step.source if forward else step.target for step in steps})
        if moving:
            return found[0], rows, moving
    return found[0], rows, sorted(set(rows))


def _narrower(session: QuerySession, entity: Entity) -> list[Entity]:
    """Return the entities of the same kind whose name ends in this one's."""
    alike = session.view.names(entity.name)
    ids = sorted({other for name, other in alike if name.endswith(entity.name) and name != entity.name})
    known = (session.view.entity(other) for other in ids[:_NARROWER])
    return [other for other in known if other and other.kind == entity.kind]


def _walk(
    session: QuerySession, start: Sequence[int], direction: int, hops: int, *, named: Sequence[int], forward: bool
) -> list[_Walk]:
    """Beam search over `affects`, strongest first; a walk never meets a node twice, nor comes back to the topic."""
    beam = [_Walk((), (index,), direction, 1.0) for index in start]
    found: list[_Walk] = []
    for _ in range(hops):
        edges: dict[int, list[Step]] = defaultdict(list)
        for step in session.expand(
            sorted({walk.nodes[-1] for walk in beam}), ("affects",), "out" if forward else "in", limit=_BREADTH
        ):
            edges[step.source if forward else step.target].append(step)
        grown = [
            _longer(walk, step, forward=forward)
            for walk in beam
            for step in edges[walk.nodes[-1]]
            if (step.target if forward else step.source) not in (*start, *named, *walk.nodes)
        ]
        beam = sorted(grown, key=lambda walk: (-walk.weight, walk.nodes))[:_BEAM]
        found += beam
    return sorted(found, key=lambda walk: (-walk.weight, len(walk.nodes), walk.nodes))


def _longer(walk: _Walk, step: Step, *, forward: bool) -> _Walk:
    other = step.target if forward else step.source
    said = (step.cause or 1) if forward else step.effect  # what just happens, 限产, is said of its happening
    agreement = 1.0 if said in (0, walk.direction) else _REVERSED
    strength = min(1.0, step.weight) * agreement
    return _Walk(
        (*walk.steps, step), (*walk.nodes, other), walk.direction * step.sign, min(walk.weight, strength) * 0.95
    )


def _path(session: QuerySession, walk: _Walk, links: dict[tuple[str, str, str, int], Link], *, forward: bool) -> Path:
    ids = session.graph.entity_ids
    chosen = [links[ids[step.source], ids[step.target], step.relation, step.sign] for step in walk.steps]
    nodes = [ids[index] for index in walk.nodes]
    sign = 1
    for step in walk.steps:
        sign *= step.sign
    if not forward:
        chosen.reverse()
        nodes.reverse()
    return Path(tuple(nodes), tuple(chosen), sign, round(walk.weight, 4))


def _distinct(paths: Iterable[Path]) -> Iterator[Path]:
    """Keep one path for each way through the same entities: facts of one link walk it together."""
    seen: set[tuple[object, ...]] = set()
    for path in paths:
        key = (path.nodes, *(link.sign for link in path.links))
        if key not in seen:
            seen.add(key)
            yield path


def _affected(session: QuerySession, walks: Sequence[_Walk], *, forward: bool) -> tuple[list[Node], list[Step]]:
    """Rank the industries and companies at the ends: themselves, through an indicator about them, or as makers."""
    pull: dict[int, float] = defaultdict(float)
    for walk in walks:
        end, force = walk.nodes[-1], walk.direction * walk.weight
        about = session.graph.about_target(end)
        for index, share in ((end, 1.0), (about, _ABOUT * indicator_polarity(session.graph.entity_ids[end]))):
            if index is not None and index not in walk.nodes[:-1] and session.graph.kinds[index] in _SUBJECTS:
                pull[index] += force * share
    extra: list[Step] = []
    if forward:
        made = [index for index in pull if session.graph.kinds[index] not in _LISTED]
        direct = set(pull)
        for step in session.expand(sorted(made), _MAKERS, "in", limit=_MAKERS_EACH):
            if session.graph.kinds[step.source] == Kind.COMPANY:
                extra.append(step)
                if step.source not in direct:
                    pull[step.source] += pull[step.target] * _MAKER
    kinds = session.graph.kinds
    ranked = sorted(
        (i for i in pull if kinds[i] in _LISTED and pull[i]), key=lambda i: (kinds[i] == Kind.COMPANY, -abs(pull[i]), i)
    )
    session.meet(ranked)
    rows = [Node(session.entity(index), 0, round(abs(pull[index]), 4), _sign(pull[index])) for index in ranked]
    return rows, extra


def _products(session: QuerySession, makes: Sequence[Step]) -> list[Node]:
    """Return what the makers make: without it their links would hang in the air."""
    weights: dict[int, float] = {}
    for step in makes:
        weights[step.target] = max(weights.get(step.target, 0.0), round(step.weight, 4))
    return [Node(session.entity(index), 0, weight) for index, weight in sorted(weights.items())]


def _beside(
    session: QuerySession, nodes: Sequence[Node], makes: Sequence[Step], ends: Sequence[Node], *, side: int
) -> list[Node]:
    """Place products and their makers one step behind the indicator that concerns them."""
    depth = {node.entity.id: abs(node.layer) for node in nodes}
    ids = session.graph.entity_ids
    last = max(depth.values(), default=0) + 1
    spots: dict[str, int] = {}
    for step in sorted(makes, key=lambda step: step.target):
        product, maker = ids[step.target], ids[step.source]
        about = [depth[node.entity.id] + 1 for node in nodes if node.entity.about == product]
        spots[product] = depth.get(product, min(about, default=last))
        spots[maker] = min(spots.get(maker, last), spots[product])
    fresh = {node.entity.id: node for node in ends if node.entity.id not in depth}
    return [replace(node, layer=side * spots.get(name, last)) for name, node in fresh.items()]


def _nodes(session: QuerySession, start: Sequence[int], walks: Sequence[_Walk], *, forward: bool) -> list[Node]:
    layer: dict[int, int] = dict.fromkeys(start, 0)
    score: dict[int, float] = dict.fromkeys(start, 2.0)
    direction: dict[int, float] = defaultdict(float)
    for walk in walks:
        for depth, index in enumerate(walk.nodes):
            layer[index] = min(layer.get(index, depth), depth)
            score[index] = max(score.get(index, 0.0), walk.weight)
        direction[walk.nodes[-1]] += walk.direction * walk.weight
    side = 1 if forward else -1
    session.meet(layer)
    return [Node(session.entity(i), side * layer[i], score[i], _sign(direction[i])) for i in sorted(layer)]


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
