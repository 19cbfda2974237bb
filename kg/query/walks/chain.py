"""An industry chain: what goes into a topic, what it goes into, and the companies on each link."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from kg.messages.words import word
from kg.model import Kind
from kg.query.answers import ChainAnswer, Layer, Node, Stage
from kg.query.resolve import candidates, resolve
from kg.query.session import QuerySession, Step
from kg.query.walks.topics import head_of
from kg.relations import vocabulary
from kg.text.homonyms import is_undecided

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kg.graph.snapshot import Direction
    from kg.model import Entity
    from kg.store.port import View

_FLOW = vocabulary().of_role("flow")
_WITHIN = vocabulary().of_role("member")
_MAKERS = vocabulary().of_role("makes", "member")
_STAGE_KINDS = frozenset({Kind.PRODUCT, Kind.INDUSTRY})
_TOPIC_KINDS = _STAGE_KINDS | {Kind.THEME}
_OWN_KINDS = _STAGE_KINDS | {Kind.BUSINESS, Kind.THEME}  # of what a source joins with the topic itself
_BREADTH = 14  # strongest links followed from one node
_OWN_BREADTH = 40  # of the topic itself, whose links to businesses and policies are no stages
_COMPANIES = 8  # companies shown on one stage
_OF_TOPIC = 30  # companies shown on the topic itself
_MOST_MAKERS = 60  # strongest makers looked at, of one entity
_DEEPEST = 4
_MOST_KINDS = 12  # of a stage, more are those of a trade
_CITED = 20  # documents of a fact that are looked at
_GENERAL = 6  # what goes into more things, or is made of more, is no link of one chain
_MEMBERSHIP = 0.8  # weight of 「甲产业链包括乙」 beside 「甲产业链的上游为乙」, which says more
_INPUTS = re.compile(r"(?:设备|材料|辅材|化学品|耗材|零部件)$")  # trades and things that others make things with
_OF_INPUTS = re.compile(r"(?:设备|材料|化学品|耗材|零部件|器械|装备)(?:及?零部件)?$")  # topics whose kinds are named so
_GRADE = re.compile(r"[0-9]")  # NCM523, 1/3焦煤
_SEVERAL = re.compile(r"[&＆+/、]|公司$")  # a name of several things, or of those who make them
_SHORTEST = 2  # characters of a topic that others are named after
_UNPLACED = 2  # after the sides -1, 0 and 1
_SIDES = (-1, 0, 1, _UNPLACED)


def chain(view: View | QuerySession, topic: str, *, depth: int = 2) -> ChainAnswer:
    """Return the chain around a product, an industry or what a company makes, `depth` (1 … 4) stages each way.

    Entities of one topic (`kg.query.walks.topics`) are one stage. Stages that belong to the topic without a stated flow
    to or from them form a last layer of their own, unless they are a kind of a stage that has its place, or equipment
    or materials by the trade that makes them.

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
    head = session.topics.head
    ends = (head(end) for step in flow if step.relation in _FLOW for end in (step.source, step.target))
    placed = {*start, *ends, *_placed_by_name(session, layers, start)}
    kinds = [(head(step.source), head(step.target)) for step in flow if step.relation in _WITHIN]
    placed |= {kind for kind, whole in kinds if whole in placed - set(start)}
    makers = _companies(session, layers)
    return _answer(session, entity, layers, flow, makers=makers, placed=placed)


def _stages(session: QuerySession, start: list[int], depth: int) -> tuple[dict[int, int], list[Step]]:
    """Walk up and down from the topic; a node keeps the layer nearest to it, the first to reach it wins.

    What sources or the gazetteer count to the topic is its midstream, unless a source places it before or behind the
    topic, or a flow between two of them says who comes first. Only the topic and the last of its surest members lead
    downstream: what else its raw materials go into is another chain.
    """
    head = session.topics.head
    stated = [
        step for step in _expand(session, start, _WITHIN, "in", most=_OWN_BREADTH) if _is_own(session, step.source)
    ]
    strongest = set(_expand(session, start, _WITHIN, "in"))
    within = {head(step.source): step.weight for step in sorted(stated, key=lambda step: step.weight)}
    sides = _sides(session, start, within)
    members = {head(step.source) for step in stated if step in strongest} - {*start, *sides}
    core = {*start, *members}
    inner, _ = _walk(session, core, "in", _DEEPEST, (), ())
    flows_in = any(_is_stage(session, step.source) for step in _expand(session, start, _FLOW, "in"))
    up, above = _walk(session, set(start) if flows_in else core, "in", depth, core, start)
    down, below = _walk(session, core - inner.keys() | set(start), "out", depth, core | set(up), start)
    layers = {**{index: -level for index, level in up.items()}, **down, **dict.fromkeys(core, 0)}
    counted = [*_counted(session, start, set(layers)), *_named_after(session, start, set(layers))]
    between = [
        step for step in _expand(session, sorted({*core, *counted}), _FLOW, "in") if _is_stage(session, step.source)
    ]
    for index in (*(head(step.source) for step in (*between, *stated)), *counted):
        layers.setdefault(index, 0)
    layers |= {row: side for row, side in sides.items() if abs(layers.get(row, 0)) <= 1}
    kinds = _kinds(session, layers, {*members, *counted}, start)
    layers |= {head(step.source): layers[head(step.target)] for step in kinds}
    _settle(layers, [(head(step.source), head(step.target)) for step in between], free=set(layers) - core - set(sides))
    return layers, [*stated, *kinds, *above, *below, *between]


def _kinds(session: QuerySession, layers: Mapping[int, int], members: set[int], start: Sequence[int]) -> list[Step]:
    """Return what a note on the topic counts to a member or an input of it: 主粮 to 宠物食品, 行星减速器 to 减速器.

    What many things are counted to is a trade of its own, and a name with digits is a brand or grade.
    """
    head = session.topics.head
    names = {session.name(session.id_of(row)) for row in session.topics.rows(start)}
    parents = {row for row in members if not layers.get(row)} | {row for row, layer in layers.items() if layer == -1}
    found: list[Step] = []
    for row in sorted(parents):
        steps = _expand(session, [row], _WITHIN, "in", most=_MOST_KINDS + 1)
        fresh = [step for step in steps if head(step.source) not in layers and _is_stage(session, step.source)]
        if len({head(step.source) for step in steps}) <= _MOST_KINDS:
            found += [step for step in fresh if _is_of_note(session, step, names)]
    return found


def _is_of_note(session: QuerySession, step: Step, names: Collection[str]) -> bool:
    """Whether a note whose title names the topic states a step, of no brand or grade."""
    source, target = session.id_of(step.source), session.id_of(step.target)
    facts = session.confident(session.facts_between({(source, step.relation, target)}))
    titles = [cited.title for cited in session.citations(facts, _CITED)]
    return not _GRADE.search(session.name(source)) and any(name in title for title in titles for name in names)


def _sides(session: QuerySession, start: list[int], within: Mapping[int, float]) -> dict[int, int]:
    """Return which stages a source places before (−1) or behind (1) the topic, surer than it counts them to it."""
    head = session.topics.head
    found: dict[int, tuple[float, int]] = {}
    steps = {-1: _expand(session, start, _FLOW, "in"), 1: _expand(session, start, _FLOW, "out")}
    for side, each in steps.items():
        for step in each:
            row = head(step.source if side < 0 else step.target)
            least = max(_MEMBERSHIP * within.get(row, 0.0), found.get(row, (0.0, 0))[0])
            if _is_own(session, row) and step.weight > least:
                found[row] = step.weight, side
    return {row: side for row, (_, side) in found.items()}


def _expand(
    session: QuerySession,
    rows: Iterable[int],
    relations: Sequence[str],
    direction: Direction,
    *,
    most: int = _BREADTH,
) -> list[Step]:
    """Return the strongest steps of topics that lead to another topic."""
    head = session.topics.head
    steps = session.expand(session.topics.rows(rows), relations, direction, limit=most)
    return [step for step in steps if head(step.source) != head(step.target)]


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
    return sorted(map(session.topics.head, start))


def _walk(
    session: QuerySession,
    start: Collection[int],
    direction: Direction,
    depth: int,
    known: Collection[int],
    topic: Collection[int],
) -> tuple[dict[int, int], list[Step]]:
    """Return how many flows away from the start each stage is that is not known yet, and the flows.

    A business or theme is a stage where the topic itself is used for it (稳定币 → 跨境支付), and leads no further.
    Only the strongest links of the topic lead on. What may mean several things (铜箔) ends a chain, a trade that the
    goods go into (铝 → 光伏 → 逆变器), and what goes into, or is made of, many things unless it is a kind of the topic:
    what 固态电池 is made of is no part of 储能.
    """
    head = session.topics.head
    levels: dict[int, int] = {}
    steps: list[Step] = []
    frontier = sorted(start)
    session.meet(frontier)
    own = [session.name(session.id_of(row)) for row in frontier]
    for level in range(1, depth + 1):
        most = _OWN_BREADTH if level == 1 else _BREADTH
        ends = [
            (step, end)
            for step in _expand(session, frontier, _FLOW, direction, most=most)
            for end, near in [(step.source, step.target) if direction == "in" else (step.target, step.source)]
            if _is_stage(session, end) or (head(near) in topic and _is_own(session, end))
        ]
        against = _contradicted(session, [step for step, _ in ends])
        found = [(step, head(end)) for step, end in ends if step not in against]
        steps += [step for step, _ in found]
        fresh = sorted({end for _, end in found} - set(levels) - set(known))
        levels |= dict.fromkeys(fresh, level)
        strongest = set(_expand(session, frontier, _FLOW, direction)) if level == 1 else {step for step, _ in found}
        onward = {end for step, end in found if step in strongest}
        frontier = _leading_on(session, [row for row in fresh if row in onward], direction, own)
    return levels, steps


def _leading_on(session: QuerySession, rows: Sequence[int], direction: Direction, own: Sequence[str]) -> list[int]:
    """Return the stages that a walk goes on from."""
    session.meet(rows)
    back: Direction = "out" if direction == "in" else "in"
    others: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for step in _expand(session, rows, _FLOW, back):
        others[session.topics.head(step.source if back == "out" else step.target)].add((step.source, step.target))
    return [row for row in rows if _leads_on(session, row, direction, own=own, ways=len(others[row]))]


def _leads_on(session: QuerySession, row: int, direction: Direction, *, own: Sequence[str], ways: int) -> bool:
    name, kind = session.name(session.id_of(row)), session.graph.kinds[row]
    if is_undecided(name) or kind not in _STAGE_KINDS or (direction == "out" and kind == Kind.INDUSTRY):
        return False
    return ways <= _GENERAL or any(name.endswith(each) for each in own)


def _contradicted(session: QuerySession, steps: list[Step]) -> list[Step]:
    """Return the flows against which one or two stronger ones lead back: 电池片 → 白银 where 白银 → 银浆 → 电池片."""
    head = session.topics.head
    onward: dict[int, dict[int, float]] = defaultdict(dict)
    frontier = {head(step.target) for step in steps}
    for _ in range(2):
        for step in _expand(session, sorted(frontier), _FLOW, "out"):
            source, target = head(step.source), head(step.target)
            onward[source][target] = max(step.weight, onward[source].get(target, 0.0))
        frontier = {end for start in frontier for end in onward[start]} - set(onward)
    return [
        step
        for step in steps
        if any(
            weight > step.weight and (end == head(step.source) or onward[end].get(head(step.source), 0.0) > step.weight)
            for end, weight in onward[head(step.target)].items()
        )
    ]


def _counted(session: QuerySession, start: list[int], known: set[int]) -> list[int]:
    """Return the products that the gazetteer counts to an industry and that a company or a flow is known of."""
    head = session.topics.head
    trades = _trades(session, start)
    products = sorted({head(i) for trade in trades for i in _about(session, trade, Kind.PRODUCT)} - known)
    busy = {head(step.target) for step in _makes(session, products, (*_MAKERS, *_FLOW))}
    busy |= {head(step.source) for step in _expand(session, products, _FLOW, "out")}
    return sorted(busy & set(products), key=lambda index: (-session.graph.degree(index), index))[:_BREADTH]


def _named_after(session: QuerySession, start: Sequence[int], known: set[int]) -> list[int]:
    """Return the kinds of a topic and what is made for it, by their names: 海上风电 and 风电零部件, made by several."""
    head = session.topics.head
    stems = {name for row in start if len(name := session.name(session.id_of(row))) >= _SHORTEST}
    found = {
        head(row)
        for stem in sorted(stems)
        if not is_undecided(stem)
        for name, each in session.view.names(stem)
        if name != stem and (name.startswith(stem) or name.endswith(stem)) and not _SEVERAL.search(name)
        if (row := session.index(each)) is not None and _is_stage(session, row)
    } - known
    makers: dict[int, set[int]] = defaultdict(set)
    for step in session.expand(session.topics.rows(found), _MAKERS, "in", limit=_COMPANIES):
        if session.graph.kinds[step.source] == Kind.COMPANY:
            makers[head(step.target)].add(step.source)
    made = [row for row in found if len(makers[row]) > 1]
    return sorted(made, key=lambda row: (-session.graph.degree(row), row))[:_BREADTH]


def _trades(session: QuerySession, start: Sequence[int]) -> list[int]:
    rows = session.topics.rows(start)
    return [*rows, *(i for root in rows for i in _about(session, root, Kind.INDUSTRY))]


def _makes(session: QuerySession, rows: Sequence[int], relations: Sequence[str]) -> list[Step]:
    return session.expand(session.topics.rows(rows), relations, "in", limit=1)


def _about(session: QuerySession, row: int, kind: Kind) -> list[int]:
    return [other for other in session.graph.about_of(row) if session.graph.kinds[other] == kind]


def _placed_by_name(session: QuerySession, layers: dict[int, int], start: list[int]) -> set[int]:
    """Place what no flow places: a kind beside its head (刀片电池, 电池), what the topic's suppliers make before it."""
    trades = {trade for row in layers if (trade := session.graph.about_target(row)) is not None}
    session.meet({*layers, *trades})
    names = {row: session.name(session.id_of(row)) for row in layers}
    rows = {name: row for row, name in names.items()}
    own = set(session.topics.rows(start))
    topic = next((names[row] for row in start if row in names), "")
    placed: set[int] = set()
    for row, name in sorted(names.items()):
        parent = rows.get(head_of(name, rows.keys(), topic))
        trade = session.graph.about_target(row)
        makes_inputs = trade is not None and trade not in own and _INPUTS.search(session.name(session.id_of(trade)))
        if layers[row] or row in start:
            continue
        if parent is not None:
            layers[row] = layers[parent]
        elif (makes_inputs or _INPUTS.search(name)) and not _OF_INPUTS.search(topic):
            layers[row] = -1
        else:
            continue
        placed.add(row)
    return placed


def _settle(layers: dict[int, int], flows: list[tuple[int, int]], free: set[int]) -> None:
    """Move what flows into another stage before it; bounded, so a circle of sources cannot run away."""
    for _ in range(_DEEPEST):
        for source, target in flows:
            if source in free and layers[source] >= layers[target] > -_DEEPEST:
                layers[source] = layers[target] - 1


def _is_stage(session: QuerySession, index: int) -> bool:
    return session.graph.kinds[index] in _STAGE_KINDS


def _is_own(session: QuerySession, index: int) -> bool:
    return session.graph.kinds[index] in _OWN_KINDS


def _companies(session: QuerySession, layers: dict[int, int]) -> dict[int, list[Step]]:
    """Return the strongest makers of each stage, weak ones included."""
    makers: dict[int, list[Step]] = defaultdict(list)
    for step in session.expand(session.topics.rows(layers), _MAKERS, "in", limit=_MOST_MAKERS, weak=True):
        if session.graph.kinds[step.source] == Kind.COMPANY and not _is_a_thing(session, step.source):
            makers[session.topics.head(step.target)].append(step)
    return makers


def _is_a_thing(session: QuerySession, row: int) -> bool:
    """Whether an unlisted company has the name of a better known product: a reader took TOPCon for one."""
    prefix, _, name = session.id_of(row).partition(":")
    thing = session.index(f"{Kind.PRODUCT}:{name}") if prefix == "org" else None
    return thing is not None and session.graph.degree(thing) > session.graph.degree(row)


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
        strength[session.topics.head(step.source)] += step.weight
        strength[session.topics.head(step.target)] += step.weight
    nodes: dict[int, Node] = {}
    stages: dict[int, list[Stage]] = defaultdict(list)
    used = list(flow)
    row = session.index(topic.id)
    own = None if row is None else session.topics.head(row)
    kept = [index for index in layers if strength[index] or makers[index]]
    shown = {index: _shown(makers[index], most=_COMPANIES if layers[index] else _OF_TOPIC) for index in kept}
    session.meet({*kept, *(company for ranked in shown.values() for company, _, _ in ranked)})
    if own in layers and own not in kept:
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
    return ChainAnswer(topic, ordered, session.picture(nodes.values(), used, topics=True))


def _side(layer: int) -> int:
    return (layer > 0) - (layer < 0)


def _shown(steps: list[Step], *, most: int) -> list[tuple[int, float, list[Step]]]:
    """Return up to `most` makers, the surest first; weak ones fill what is left of the usual number."""
    ranked = _ranked(steps)
    return [row for at, row in enumerate(ranked[:most]) if at < _COMPANIES or not all(step.weak for step in row[2])]


def _ranked(steps: list[Step]) -> list[tuple[int, float, list[Step]]]:
    grouped: dict[int, list[Step]] = defaultdict(list)
    for step in steps:
        grouped[step.source].append(step)
    rows = [(company, sum(step.weight for step in members), members) for company, members in grouped.items()]
    return sorted(rows, key=lambda row: (all(step.weak for step in row[2]), -row[1], row[0]))
