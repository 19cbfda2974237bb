"""An industry chain: what goes into a topic, what it goes into, and the companies on each link."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kg.messages.words import word
from kg.model import Kind
from kg.query.answers import ChainAnswer, Layer, Node, Stage
from kg.query.resolve import candidates, resolve
from kg.query.session import QuerySession, Step

if TYPE_CHECKING:
    from collections.abc import Collection

    from kg.graph.snapshot import Direction
    from kg.model import Entity
    from kg.store.port import View

_FLOW = ("upstream_of", "part_of")
_WITHIN = ("belongs_to",)
_MAKERS = ("produces", "operates", "belongs_to")
_STAGE_KINDS = frozenset({Kind.PRODUCT, Kind.INDUSTRY})
_TOPIC_KINDS = _STAGE_KINDS | {Kind.THEME}
_BREADTH = 14  # strongest links followed from one node
_COMPANIES = 8  # companies shown on one stage
_DEEPEST = 4
_UNPLACED = 2  # after the sides -1, 0 and 1
_SIDES = (-1, 0, 1, _UNPLACED)


def chain(view: View | QuerySession, topic: str, *, depth: int = 2) -> ChainAnswer:
    """Return the chain around a product, an industry or what a company makes, `depth` (1 … 4) stages each way.

    Stages that belong to the topic without a stated flow to or from them form a last layer of their own.

    Raises:
        UnknownName: when the name is unknown in the view.
    """
    session = view if isinstance(view, QuerySession) else QuerySession(view)
    entity = resolve(session, topic, kinds=(Kind.INDUSTRY, Kind.PRODUCT, Kind.THEME))
    roots = {entity.id: entity} | {
        other.id: other for other in candidates(session, topic) if other.kind in _STAGE_KINDS
    }
    start = _start(session, roots)
    layers, flow = _stages(session, start, min(max(depth, 1), _DEEPEST))
    placed = {*start, *(end for step in flow if step.relation in _FLOW for end in (step.source, step.target))}
    makers = _companies(session, layers)
    return _answer(session, entity, layers, flow, makers=makers, placed=placed)


def _stages(session: QuerySession, start: list[int], depth: int) -> tuple[dict[int, int], list[Step]]:
    """Walk up and down from the topic; a node keeps the layer nearest to it, the first to reach it wins.

    What sources or the gazetteer count to the topic is its midstream, until a flow between two of them says who comes
    first.
    """
    stated = [step for step in session.expand(start, _WITHIN, "in", limit=_BREADTH) if _is_stage(session, step.source)]
    members = {end for step in stated for end in (step.source, step.target)}
    core = {*start, *members}
    flows_in = any(_is_stage(session, step.source) for step in session.expand(start, _FLOW, "in", limit=_BREADTH))
    up, above = _walk(session, set(start) if flows_in else core, "in", depth, core)
    down, below = _walk(session, core, "out", depth, core | set(up))
    layers = {**{index: -level for index, level in up.items()}, **down, **dict.fromkeys(core, 0)}
    counted = _counted(session, start, set(layers))
    between = [
        step
        for step in session.expand(sorted({*core, *counted}), _FLOW, "in", limit=_BREADTH)
        if _is_stage(session, step.source)
    ]
    for index in (*(step.source for step in between), *counted):
        layers.setdefault(index, 0)
    _settle(layers, between, free=set(layers) - core)
    return layers, [*stated, *above, *below, *between]


def _start(session: QuerySession, roots: dict[str, Entity]) -> list[int]:
    """Return where the chain begins: a company stands on it with what it makes, a price with what it is a price of."""
    start: set[int] = set()
    for root in (index for name in roots if (index := session.index(name)) is not None):
        if session.graph.kinds[root] in _TOPIC_KINDS:
            start.add(root)
            continue
        made = {step.target for step in session.expand([root], _MAKERS, "out", limit=_COMPANIES)}
        about = session.graph.about_target(root)
        start |= {index for index in (*made, about) if index is not None and _is_stage(session, index)} or {root}
    return sorted(start)


def _walk(
    session: QuerySession, start: Collection[int], direction: Direction, depth: int, known: Collection[int]
) -> tuple[dict[int, int], list[Step]]:
    """Return how many flows away from the start each stage is that is not known yet, and the flows."""
    levels: dict[int, int] = {}
    steps: list[Step] = []
    frontier = sorted(start)
    for level in range(1, depth + 1):
        ends = [
            (step, step.source if direction == "in" else step.target)
            for step in session.expand(frontier, _FLOW, direction, limit=_BREADTH)
        ]
        against = _contradicted(session, [step for step, end in ends if _is_stage(session, end)])
        found = [(step, end) for step, end in ends if _is_stage(session, end) and step not in against]
        steps += [step for step, _ in found]
        frontier = sorted({end for _, end in found} - set(levels) - set(known))
        levels |= dict.fromkeys(frontier, level)
    return levels, steps


def _contradicted(session: QuerySession, steps: list[Step]) -> list[Step]:
    """Return the flows against which one or two stronger ones lead back: 电池片 → 白银 where 白银 → 银浆 → 电池片."""
    onward: dict[int, dict[int, float]] = defaultdict(dict)
    frontier = {step.target for step in steps}
    for _ in range(2):
        for step in session.expand(sorted(frontier), _FLOW, "out", limit=_BREADTH):
            onward[step.source][step.target] = max(step.weight, onward[step.source].get(step.target, 0.0))
        frontier = {end for start in frontier for end in onward[start]} - set(onward)
    return [
        step
        for step in steps
        if any(
            weight > step.weight and (end == step.source or onward[end].get(step.source, 0.0) > step.weight)
            for end, weight in onward[step.target].items()
        )
    ]


def _counted(session: QuerySession, start: list[int], known: set[int]) -> list[int]:
    """Return the products that the gazetteer counts to an industry and that a company or a flow is known of."""
    trades = [*start, *(i for root in start for i in _about(session, root, Kind.INDUSTRY))]
    products = [i for trade in trades for i in _about(session, trade, Kind.PRODUCT) if i not in known]
    busy = {step.target for step in session.expand(products, (*_MAKERS, *_FLOW), "in", limit=1)}
    busy |= {step.source for step in session.expand(products, _FLOW, "out", limit=1)}
    return sorted(busy, key=lambda index: (-session.graph.degree(index), index))[:_BREADTH]


def _about(session: QuerySession, row: int, kind: Kind) -> list[int]:
    return [other for other in session.graph.about_of(row) if session.graph.kinds[other] == kind]


def _settle(layers: dict[int, int], flows: list[Step], free: set[int]) -> None:
    """Move what flows into another stage before it; bounded, so a circle of sources cannot run away."""
    for _ in range(_DEEPEST):
        for step in flows:
            if step.source in free and layers[step.source] >= layers[step.target] > -_DEEPEST:
                layers[step.source] = layers[step.target] - 1


def _is_stage(session: QuerySession, index: int) -> bool:
    return session.graph.kinds[index] in _STAGE_KINDS


def _companies(session: QuerySession, layers: dict[int, int]) -> dict[int, list[Step]]:
    """Return the strongest makers of each stage, weak ones included."""
    makers: dict[int, list[Step]] = defaultdict(list)
    for step in session.expand(sorted(layers), _MAKERS, "in", limit=_COMPANIES * 3, weak=True):
        if session.graph.kinds[step.source] == Kind.COMPANY:
            makers[step.target].append(step)
    return makers


def _answer(
    session: QuerySession,
    topic: Entity,
    layers: dict[int, int],
    flow: list[Step],
    *,
    makers: dict[int, list[Step]],
    placed: set[int],
) -> ChainAnswer:
    strength: dict[int, float] = defaultdict(float)
    for step in flow:
        strength[step.source] += step.weight
        strength[step.target] += step.weight
    nodes: dict[int, Node] = {}
    stages: dict[int, list[Stage]] = defaultdict(list)
    used = list(flow)
    own = session.index(topic.id)
    kept = [index for index in layers if strength[index] or makers[index]]
    shown = {index: _ranked(makers[index])[:_COMPANIES] for index in kept}
    session.meet({*kept, *(company for ranked in shown.values() for company, _, _ in ranked)})
    # A second reading of the topic's name (the trade 锂电池 beside the product) that nothing is tied to says nothing.
    if own in layers and own not in kept and all(session.entity(index).name != topic.name for index in kept):
        kept.append(own)
    for index in sorted(kept, key=lambda index: (-strength[index], index)):
        stage = Node(session.entity(index), layers[index], round(1 + strength[index] + len(makers[index]) / 10, 4))
        nodes[index] = stage
        companies = []
        for company, weight, steps in shown.get(index, ()):
            weak = all(step.weak for step in steps)
            member = Node(session.entity(company), layers[index], round(weight, 4), weak=weak)
            companies.append(member)
            nodes.setdefault(company, member)
            used += steps
        side = _side(layers[index]) if index in placed else _UNPLACED
        stages[side].append(Stage(stage, tuple(companies)))
    ordered = tuple(
        Layer(word(f"layer.{side}", session.lang), tuple(stages[side]), side != _UNPLACED)
        for side in _SIDES
        if stages[side]
    )
    return ChainAnswer(topic, ordered, session.picture(nodes.values(), used))


def _side(layer: int) -> int:
    return (layer > 0) - (layer < 0)


def _ranked(steps: list[Step]) -> list[tuple[int, float, list[Step]]]:
    grouped: dict[int, list[Step]] = defaultdict(list)
    for step in steps:
        grouped[step.source].append(step)
    rows = [(company, sum(step.weight for step in members), members) for company, members in grouped.items()]
    return sorted(rows, key=lambda row: (all(step.weak for step in row[2]), -row[1], row[0]))
