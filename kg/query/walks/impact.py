"""Signed causal paths that leave a factor, or lead to an effect, and who stands at their end."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

from kg.errors import UnknownName
from kg.ids import normal_name
from kg.model import Kind
from kg.query.answers import Exposure, ImpactAnswer, Node, Path
from kg.query.resolve import factor, moved_alike, narrower, near_names, same_factor, spoken_names
from kg.query.session import QuerySession, Step, spoken, subgraph
from kg.query.walks.exposure import Sense, indicator_polarity, measure_of, parties_of, turns
from kg.query.wording import said_of
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kg.graph.snapshot import Direction
    from kg.model import Entity, Fact
    from kg.query.answers import Link, Party
    from kg.query.session import Step
    from kg.store.port import View


# What moves against the price of its product: nothing that is said of the product or its price answers for it.
_AGAINST = (
    *("成本", "费用", "费用率", "库存", "亏损", "不良率", "不良贷款率", "负债率", "折旧"),
    *("供给", "供应", "产能", "产量", "存栏", "存栏量"),
)


_EACH = 8
_EFFECT = vocabulary().of_role("effect")
_FLOW = vocabulary().of_role("flow")
_ROLES = (
    ("maker", vocabulary().of_role("makes", "member"), "in"),
    ("upstream", _FLOW, "in"),
    ("downstream", _FLOW, "out"),
    ("user", vocabulary().of_role("use"), "in"),
)


def exposures(session: QuerySession, start: Sequence[int]) -> tuple[Exposure, ...]:
    """Return the neighbours on the chain of the products that rows of the snapshot are, or are about.

    Who makes a product is also looked for in its trade (碳酸锂 → 锂).
    Up to eight a role, strongest first, each with the link that says so.
    """
    kinds = session.graph.kinds
    anchored = (session.graph.about_target(row) for row in start if kinds[row] != Kind.PRODUCT)
    products = {row for row in (*start, *anchored) if row is not None and kinds[row] == Kind.PRODUCT}
    products = set(session.topics.rows(sorted(products)))
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
# Each trade and firm has its own of these: what moves one of them and what another moves do not join.
_GENERAL = re.compile(
    "(?:下游|上游|中游|终端|市场|行业|产业|企业|公司|产品|国内|海外|全球|国际|整体|总体|平均|宏观|主要|相关|核心|其他|传统|消费|总|新|归母)*(?:"
    "需求|供给|供应|供需|库存|产量|产能|产能利用率|开工率|价格|成本|原材料成本|原材料价格|原料价格|费用|销量|销售|订单|出货量|出口|进口|出口量"
    "|出口额|出口金额|进口量|(?:利息|非利息|手续费|投资)?收入|利息支出|投资收益|营收|营业收入|利润|净利润|毛利|毛利率|净利率|利润率|盈利|盈利能力|盈利水平|业绩|现金流|估值|pe|股价|份额"
    "|市场份额|市占率|渗透率|集中度|景气度|竞争|竞争力|竞争格局|经济|政策|环境|情绪|信心|预期|风险|风险偏好|投资|资本开支|规模|增长|复苏"
    "|效率|活力|出海|国产替代|国产化|以旧换新|扩产|减产|停产|限产|检修|复产|涨价|降价|提价|去库存|补库|技术进步|创新|转型|商业化|放量"
    "|商业化放量|降本增效|产能扩张|产能释放|产能过剩|价格战|需求复苏|需求疲软|淡季|旺季|消费淡季|消费旺季|消费升级|集采|监管|改革)",
    re.IGNORECASE,
)
_JOINT = frozenset({Kind.INDICATOR, Kind.EVENT, Kind.POLICY})  # a thing that gains is not the same thing at work
_LED_ON = 0.7  # certainty of each step of a path of several
# Measures that can be turned round together: what is in money, and what is counted.
_MONEY = re.compile("价格?|均价|报价|运价|成本|费用|利率|收益率?|汇率|[毛净]利|利润|盈利|收入|营收|指数")
_AMOUNT = re.compile("需求|供给|供应|销量|产量|产能|库存|出货量?|存栏量?|进口量?|出口量?|订单|装机量?|开工率")
_MOVES_WITH = "价格"  # a product without links of its own speaks through its price: 猪周期拐点 is a turn of 生猪价格
_DEMAND = "需求"
_GROWTH = (_DEMAND, "需求量", "销量", "出货量", "装机量", "订单")
_PATHS = 40
_SCOPE = 2  # characters of a scope: 半导体 of 半导体出口管制
_AFFECTED = 20  # parties of one sign
_REVERSED = 0.7  # a fact said of a fall is weaker evidence about a rise
_SUBJECTS = frozenset({Kind.INDUSTRY, Kind.COMPANY, Kind.PRODUCT, Kind.THEME, Kind.BUSINESS})
_LISTED = frozenset({Kind.INDUSTRY, Kind.COMPANY})


@dataclass(frozen=True, slots=True)
class _Walk:
    """Steps from the start, the direction the last node moves in, and the strength of the weakest step."""

    steps: tuple[Step, ...]
    nodes: tuple[int, ...]
    direction: int
    weight: float

    @property
    def weak(self) -> bool:
        """Whether its one step is weak: no walk leads on from there."""
        return self.steps[-1].weak


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
    meant = factor(session, name)
    if not meant.entities:
        raise UnknownName(name, near_names(session, name))
    direction *= meant.sign
    topic = meant.entities[0]
    named, start = _start(session, meant.entities, forward=forward)
    # what is known of a wider event only within a scope leads no further
    begin = [] if meant.scope else start
    demanded = topic.kind in _SUBJECTS and name.strip().endswith(_DEMAND)
    alike = _factor(session, named, meant.scope, direction, demanded=demanded)
    if not meant.scope:
        moved = {each: direction * sign * meant.sign for each, sign in moved_alike(session, name.strip()).items()}
        alike = {each: Sense(move) for each, move in moved.items()} | alike
    own_names = {*named, *(row for entity in alike if (row := session.index(entity.id)) is not None)}
    walks = _walk(session, begin, direction, min(max(hops, 1), _HOPS), named=own_names, forward=forward)
    made = session.links({step for walk in walks for step in walk.steps})
    links = {(link.source, link.target, link.relation, link.sign): link for link in made}
    walked = [(walk, _path(session, walk, links, forward=forward)) for walk in walks]
    sound = [(walk, path) for walk, path in walked if _holds(session, path, direction if forward else walk.direction)]
    paths = tuple(_distinct(path for _, path in sound))[:_PATHS]
    used = {id(link): link for path in paths for link in path.links}
    parties = _of_both_signs(parties_of(session, alike)) if forward else []
    nodes = _nodes(session, start, [walk for walk, _ in sound], forward=forward)
    drawn = [*used.values(), *_party_links(session, parties)]
    nodes += _beside(session, nodes, parties, drawn, {entity.id: sense.move for entity, sense in alike.items()})
    tied = {end for link in drawn for end in (link.source, link.target)}
    graph = subgraph([node for node in nodes if node.entity.id in tied], drawn)
    own = session.index(topic.id)
    near = exposures(session, [*start, *([] if own is None else [own])]) if forward else ()
    listed = (party for party in parties if party.entity.kind in _LISTED)
    affected = [Node(party.entity, 0, 1.0, party.sign, weak=party.weak) for party in listed]
    counter = tuple(_counter(session, used.values()))
    return ImpactAnswer(topic, direction, forward, paths, tuple(affected), counter, graph, near, tuple(parties))


def _of_both_signs(parties: Sequence[Party]) -> list[Party]:
    """Return the first parties of each sign, in their order, and whom sentences name: many makers hide no buyer."""
    first = {id(party) for sign in (1, -1) for party in [each for each in parties if each.sign == sign][:_AFFECTED]}
    return [party for party in parties if id(party) in first or party.basis != "inferred"]


def _holds(session: QuerySession, path: Path, move: int) -> bool:
    """Whether each link of a path is stated of the move it is walked in, or may be turned round.

    Only what is surely asserted without a condition of two ends that both move can be turned round: that a cut lifts
    a price does not mean that no cut lowers it. Of several steps only the first, of two measures of one kind, as all
    after it is said of its effect; and each of them is surer than a step alone.
    """
    several = len(path.links) > 1
    if several and (any(_is_general(node) for node in path.nodes[1:]) or _comes_back(session, path.nodes)):
        return False
    sources = ({item.document for fact in link.facts for item in fact.evidence} for link in path.links)
    together = bool(set.intersection(*sources))
    for at, link in enumerate(path.links):
        if several and (session.certainty(link.facts) < _LED_ON or not (together or _names_both_ends(session, link))):
            return False
        if said_of(link, move) is None:
            alike = not several or (at == 0 and _measured(link.source) == _measured(link.target))
            if link.weak or not alike or not any(_turns(fact) for fact in link.facts):
                return False
        move *= link.sign
    return True


def _comes_back(session: QuerySession, nodes: Sequence[str]) -> bool:
    """Whether two nodes are one thing, or a kind of it: 铝价格 → 电解铝需求 → 电解铝价格; 氧化铝价格 is of another."""
    return any(_is_kind(session, one, other) for one, other in permutations(nodes, 2))


def _is_kind(session: QuerySession, node: str, other: str) -> bool:
    """Whether a name ends in another, as a word (not 利率 in 毛利率), and what it is of is no input of the other's."""
    name, ending = session.name(node), session.name(other)
    if not name.endswith(ending) or len(measure_of(name)) > len(ending):
        return False
    whole, part = (known.about if (known := session.known(each)) else "" for each in (other, node))
    row = session.index(part)
    if not whole or row is None:
        return True
    flows = session.expand(session.topics.rows([row]), _FLOW, "out", limit=_BREADTH)
    return not any(session.name(session.id_of(step.target)).endswith(session.name(whole)) for step in flows)


def _names_both_ends(session: QuerySession, link: Link) -> bool:
    """Whether a sentence of a link names both ends: what stands in another line may be of another scope.

    Steps of one document have one scope.
    """
    ends = [_names_of(session, end) for end in (link.source, link.target)]
    quotes = (normal_name(item.quote) for fact in link.facts for item in fact.evidence)
    return any(all(any(name in quote for name in names) for names in ends) for quote in quotes)


def _names_of(session: QuerySession, entity_id: str) -> list[str]:
    """Return what a sentence may call an entity; of a measure its owner is enough."""
    entity = session.known(entity_id)
    if entity is None:
        return []
    owner = [session.name(entity.about)] if entity.about else []
    names = (entity.name, *(alias.name for alias in entity.aliases), *spoken_names(entity.name), *owner)
    return [normal_name(name) for name in names]


def _is_general(entity_id: str) -> bool:
    return bool(_GENERAL.fullmatch(entity_id.partition(":")[2]))


def _measured(entity_id: str) -> tuple[bool, bool]:
    return bool(_MONEY.search(entity_id)), bool(_AMOUNT.search(entity_id))


def _turns(fact: Fact) -> bool:
    moves = {fact.qualifier("cause_direction"), fact.qualifier("effect_direction")}
    return turns(fact) and moves <= {"up", "down"}


def _factor(
    session: QuerySession, named: Sequence[int], scope: str, move: int, *, demanded: bool
) -> dict[Entity, Sense]:
    """Return the entities that a factor's name means, each with the scope in which it does, "" for any.

    A thing stands for its price, 碳酸锂价格 and 锂价格 are one, 半导体出口管制 for what is said of
    出口管制 where 半导体 is spoken of. What is said of a thing that grows, AI服务器, is said of the demand for it. A
    name that asks for this demand (`demanded`) does not mean the price.
    """
    here = Sense(move, scope, _DEMAND if demanded else None)
    anywhere, said = Sense(move), Sense(move, measure="")
    found = {session.entity(index): here for index in named}
    for entity in list(found):
        names = [] if demanded else [*sorted(same_factor(entity.name)), *_named_alike(session, entity)]
        if entity.kind in {Kind.PRODUCT, Kind.INDUSTRY}:
            found |= {member: here for each in session.topics.ids(entity.id) if (member := session.known(each))}
        found |= {each: anywhere for name in names for each in session.view.named(name) if each.kind == Kind.INDICATOR}
        found |= {each: said for each in _grown(session, entity) if each not in found}
        if entity.kind in {Kind.EVENT, Kind.POLICY}:
            for at in range(_SCOPE, len(entity.name) - _SCOPE):
                wider = [
                    each for each in session.view.named(entity.name[at:]) if each.kind in {Kind.EVENT, Kind.POLICY}
                ]
                found |= {each: Sense(move, entity.name[:at]) for each in wider if each not in found}
    for meant, sense in list(found.items()):
        if meant.kind in _JOINT and not sense.scope:
            found |= {each: sense for each in narrower(session, meant) if each not in found}
    return found


def _grown(session: QuerySession, entity: Entity) -> Iterator[Entity]:
    """Yield the thing that a demand is for, or the demand for a thing."""
    owner = session.known(entity.about) if entity.about else None
    if entity.kind == Kind.INDICATOR and owner and entity.name.removeprefix(owner.name) in _GROWTH:
        yield from (member for each in session.topics.ids(owner.id) if (member := session.known(each)))
    elif entity.kind in {Kind.PRODUCT, Kind.INDUSTRY}:
        names = (session.name(each) + measure for each in session.topics.ids(entity.id) for measure in _GROWTH)
        yield from (each for name in names for each in session.view.named(name) if each.kind == Kind.INDICATOR)


def _named_alike(session: QuerySession, entity: Entity) -> Iterator[str]:
    """Yield what a measure is called of each name of its topic, or the prices of a topic: 生猪养殖价格 is 生猪价格."""
    is_measure = entity.kind == Kind.INDICATOR
    owner = entity.about if is_measure else entity.id
    measure = entity.name.removeprefix(session.name(owner)) if is_measure else _MOVES_WITH
    if owner and measure != entity.name and entity.kind in {Kind.INDICATOR, Kind.PRODUCT, Kind.INDUSTRY}:
        yield from (session.name(member) + measure for member in session.topics.ids(owner))


def _party_links(session: QuerySession, parties: Sequence[Party]) -> list[Link]:
    grouped: dict[tuple[str, str, str, int], dict[str, Fact]] = defaultdict(dict)
    for fact in (fact for party in parties for fact in party.facts):
        grouped[fact.subject, fact.object, fact.relation, fact.sign][fact.id] = fact
    session.read_facts({(subject, relation, target) for subject, target, relation, _ in grouped})
    return [
        session.link(list(facts.values()), sum(fact.witnesses * fact.confidence for fact in facts.values()))
        for _, facts in sorted(grouped.items())
    ]


def _beside(
    session: QuerySession,
    nodes: Sequence[Node],
    parties: Sequence[Party],
    links: Sequence[Link],
    moves: Mapping[str, int],
) -> list[Node]:
    """Return the parties and what ties them to the factor as nodes, one step behind what they are linked from.

    Other names of the factor, in `moves`, stand beside it and move as it does.
    """
    layer = dict.fromkeys(moves, 0) | {node.entity.id: node.layer for node in nodes}
    signs = {party.entity.id: party.sign for party in parties} | dict(moves)
    known = {node.entity.id for node in nodes}
    ends = [end for link in links for end in (link.source, link.target) if end not in known]
    session.meet_all(ends)
    fresh = []
    for end in dict.fromkeys(ends):
        before = [layer[link.source] for link in links if link.target == end and link.source in layer]
        entity = session.known(end)
        if entity:
            step = 0 if end in moves else max(before, default=1) + 1
            fresh.append(Node(entity, step, 0.5, signs.get(end, 0)))
    return fresh


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


def _start(session: QuerySession, found: Sequence[Entity], *, forward: bool) -> tuple[list[int], list[int]]:
    """Return the rows that a name means, and those where the walk begins.

    Every reading of the name counts, the other names of its topic, and its narrower kinds (电池级碳酸锂价格 for
    碳酸锂价格). A measure without links of its own, unless it moves against the price, speaks through its product and
    that product's price; a trade or product speaks through its price, demand and other gains too.
    """
    meant = (*found, *narrower(session, found[0]))
    rows = session.topics.rows(index for entity in meant if (index := session.index(entity.id)) is not None)
    near = session.topics.rows(
        about
        for index in rows
        if (about := session.graph.about_target(index)) is not None
        and session.graph.kinds[about] == Kind.PRODUCT
        and not found[0].name.endswith(_AGAINST)
    )
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
        steps = session.expand(sorted(set(group)), _EFFECT, direction, limit=_BREADTH)
        moving = sorted({step.source if forward else step.target for step in steps})
        if moving:
            return rows, moving
    return rows, sorted(set(rows))


def _walk(
    session: QuerySession, start: Sequence[int], direction: int, hops: int, *, named: Collection[int], forward: bool
) -> list[_Walk]:
    """Beam search over `affects`, strongest first; a walk never meets a node twice, nor comes back to the topic.

    Weak effects of one step come last.
    """
    beam = [_Walk((), (index,), direction, 1.0) for index in start]
    found: list[_Walk] = []
    for _ in range(hops):
        edges: dict[int, list[Step]] = defaultdict(list)
        for step in session.expand(
            sorted({walk.nodes[-1] for walk in beam}),
            _EFFECT,
            "out" if forward else "in",
            limit=_BREADTH,
            weak=not found,
        ):
            edges[step.source if forward else step.target].append(step)
        grown = [
            _longer(walk, step, forward=forward)
            for walk in beam
            for step in edges[walk.nodes[-1]]
            if step.sign and (step.target if forward else step.source) not in (*start, *named, *walk.nodes)
        ]
        found += sorted(grown, key=_rank)[:_BEAM]
        beam = sorted((walk for walk in grown if not walk.weak and _joins(session, walk)), key=_rank)[:_BEAM]
    return sorted(found, key=_rank)


def _joins(session: QuerySession, walk: _Walk) -> bool:
    """Whether a walk may go on from its last node: what happens or is measured, and whose."""
    last = walk.nodes[-1]
    return session.graph.kinds[last] in _JOINT and not _is_general(session.graph.entity_ids[last])


def _rank(walk: _Walk) -> tuple[bool, float, int, tuple[int, ...]]:
    return walk.weak, -walk.weight, len(walk.nodes), walk.nodes


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
