"""Answers made by hand, as a store would give them: a 光伏 chain, an impact, and graphs of any size."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from kg import period
from kg.ids import entity_id
from kg.model import Alias, Community, Entity, Evidence, Fact, Kind, Modality, Polarity, Summary, SummaryLine, Value
from kg.query.answers import (
    AnswerLine,
    AskAnswer,
    ChainAnswer,
    Citation,
    ImpactAnswer,
    Layer,
    Link,
    Node,
    Path,
    ProfileAnswer,
    RelateAnswer,
    Stage,
    Subgraph,
    ThemeAnswer,
)
from kg.query.ask.understand import Understood

if TYPE_CHECKING:
    from collections.abc import Sequence

DAY = date(2024, 6, 30)
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028{{7*7}}"

_READ = datetime(2024, 7, 1, tzinfo=UTC)
_REPORTS = (
    ("光伏行业2024年中期策略：供给侧出清进行时", "示例证券甲", date(2024, 6, 12)),
    ("硅料价格周报：N型料跌破现金成本", "示例证券乙", date(2024, 5, 20)),
    ("通威股份2023年年度报告", "通威股份", date(2024, 4, 30)),
    ("光伏组件出海专题", "示例证券丙", date(2023, 11, 6)),
)
_STAGES = (
    ("上游", -1, "工业硅", ("合盛硅业 603260.SH", "新安股份 600596.SH")),
    ("上游", -1, "多晶硅料", ("通威股份 600438.SH", "大全能源 688303.SH", "协鑫科技 3800.HK", "新特能源 1799.HK")),
    ("上游", -1, "光伏玻璃", ("信义光能 0968.HK", "福莱特 601865.SH")),
    ("上游", -1, "银浆", ("聚和材料 688503.SH", "帝科股份 300842.SZ")),
    ("上游", -1, "EVA/POE胶膜", ("福斯特 603806.SH", "海优新材 688680.SH")),
    ("中游", 0, "硅片", ("隆基绿能 601012.SH", "TCL中环 002129.SZ", "双良节能 600481.SH")),
    ("中游", 0, "电池片", ("通威股份 600438.SH", "爱旭股份 600732.SH", "钧达股份 002865.SZ")),
    (
        "中游",
        0,
        "光伏组件",
        ("晶科能源 688223.SH", "隆基绿能 601012.SH", "天合光能 688599.SH", "晶澳科技 002459.SZ", "阿特斯 688472.SH"),
    ),
    ("下游", 1, "逆变器", ("阳光电源 300274.SZ", "锦浪科技 300763.SZ", "德业股份 605117.SH")),
    ("下游", 1, "光伏支架", ("中信博 688408.SH",)),
    ("下游", 2, "集中式光伏电站", ("三峡能源 600905.SH", "太阳能 000591.SZ")),
    ("下游", 2, "分布式光伏", ("正泰电器 601877.SH", "晶科科技 601778.SH")),
)
_UPSTREAM = (
    "工业硅>多晶硅料 多晶硅料>硅片 硅片>电池片 银浆>电池片 电池片>光伏组件 光伏玻璃>光伏组件 EVA/POE胶膜>光伏组件 "
    "光伏组件>集中式光伏电站 光伏组件>分布式光伏 逆变器>集中式光伏电站 逆变器>分布式光伏 光伏支架>集中式光伏电站"
)


def product(name: str, layer: int = 0, *, score: float = 1.0) -> Node:
    return Node(Entity(entity_id(Kind.PRODUCT, name), Kind.PRODUCT, name), layer, score)


def company(text: str, layer: int = 0, *, score: float = 0.5, direction: int = 0) -> Node:
    name, _, code = text.partition(" ")
    aliases = (Alias(name), Alias(f"{name}（曾用名）"))
    return Node(Entity(f"sec:{code}", Kind.COMPANY, name, aliases, (code,)), layer, score, direction)


def thing(kind: Kind, name: str, layer: int = 0, *, score: float = 0.5, direction: int = 0) -> Node:
    return Node(Entity(entity_id(kind, name), kind, name), layer, score, direction)


def link(  # noqa: PLR0913 - a case names what it varies
    source: Node,
    target: Node,
    relation: str,
    wording: str,
    *,
    sign: int = 0,
    weight: float = 1.0,
    modality: Modality = Modality.ASSERTED,
    polarity: Polarity = Polarity.POSITIVE,
    contested: bool = False,
    quotes: Sequence[str] = (),
) -> Link:
    one, other = source.entity.name, target.entity.name
    sentence = wording.replace("…", other) if "…" in wording else wording + other
    said = tuple(quotes) or (f"{one}{sentence}，产业链上下游关系进一步明确，行业集中度有望提升。",)
    evidence, citations = [], []
    identity = f"fact:{source.entity.id}|{relation}|{target.entity.id}|{sign}"
    for at, quote in enumerate(said):
        title, publisher, day = _REPORTS[(len(one) + len(other) + at) % len(_REPORTS)]
        start = 100 + at
        end = start + len(quote)
        evidence.append(Evidence(f"doc:{at}", start, end, quote, day, _READ, publisher))
        citations.append(
            Citation(identity, f"doc:{at}", title, publisher, "首席分析师", day, 3 + at, start, end, quote)
        )
    fact = Fact(
        identity,
        source.entity.id,
        relation,
        target.entity.id,
        sign=sign,
        polarity=polarity,
        modality=modality,
        valid=period.year(2024),
        evidence=tuple(evidence),
    )
    return Link(
        source.entity.id,
        target.entity.id,
        relation,
        wording,
        sign,
        weight,
        (fact,),
        tuple(citations),
        contested=contested,
    )


def solar_chain() -> ChainAnswer:
    topic = thing(Kind.INDUSTRY, "光伏", 0, score=3)
    stages: dict[str, Stage] = {}
    layers: dict[str, list[Stage]] = {"上游": [], "中游": [Stage(topic, ())], "下游": []}
    companies: dict[str, Node] = {}
    links: list[Link] = []
    for layer, column, name, people in _STAGES:
        on = product(name, column, score=1.5)
        standing = []
        for text in people:
            node = companies.setdefault(text, company(text, column))
            standing.append(node)
            planned = text.startswith("双良") or name == "分布式光伏"
            links.append(
                link(
                    node,
                    on,
                    "produces",
                    "生产",
                    weight=0.6,
                    modality=Modality.PLANNED if planned else Modality.ASSERTED,
                    quotes=(
                        f"{node.entity.name}（{node.entity.codes[0]}）是{name}环节的主要企业之一，产能位居行业前列。",
                    ),
                )
            )
        stages[name] = Stage(on, tuple(standing))
        layers[layer].append(stages[name])
    for pair in _UPSTREAM.split():
        one, other = (stages[name].node for name in pair.split(">"))
        links.append(link(one, other, "upstream_of", "是…的上游", weight=2))
    links.append(link(stages["光伏组件"].node, topic, "part_of", "是…的组成部分", weight=1))
    by_name = {node.entity.name: node for node in companies.values()}
    links += [
        link(by_name["大全能源"], by_name["隆基绿能"], "supplies", "供应", weight=1.2, modality=Modality.FORECAST),
        link(by_name["福莱特"], by_name["晶科能源"], "supplies", "供应", weight=1, contested=True),
        link(by_name["阳光电源"], by_name["三峡能源"], "supplies", "供应", polarity=Polarity.NEGATIVE),
    ]
    nodes = (topic, *(stage.node for stage in stages.values()), *companies.values())
    done = tuple(Layer(name, tuple(found)) for name, found in layers.items())
    return ChainAnswer(topic.entity, done, Subgraph(nodes, tuple(links)))


def lithium_impact() -> ImpactAnswer:
    factor = thing(Kind.INDICATOR, "碳酸锂价格", 0, score=3, direction=-1)
    cost = thing(Kind.INDICATOR, "动力电池成本", 1, score=2, direction=-1)
    mine = thing(Kind.INDUSTRY, "锂矿", 1, score=1.8, direction=-1)
    car = thing(Kind.INDICATOR, "新能源汽车渗透率", 2, score=1.5, direction=1)
    margin = thing(Kind.INDICATOR, "电池厂毛利率", 2, score=1.4, direction=1)
    policy = thing(Kind.POLICY, "以旧换新补贴", 2, score=0.8, direction=1)
    cells = [
        company(text, 3, direction=1) for text in ("宁德时代 300750.SZ", "亿纬锂能 300014.SZ", "国轩高科 002074.SZ")
    ]
    cars = [company(text, 3, direction=1) for text in ("比亚迪 002594.SZ", "理想汽车 2015.HK")]
    mines = [
        company(text, 2, direction=-1) for text in ("赣锋锂业 002460.SZ", "天齐锂业 002466.SZ", "盐湖股份 000792.SZ")
    ]
    links = [
        link(factor, cost, "affects", "影响", sign=1, weight=3),
        link(factor, mine, "affects", "影响", sign=1, weight=3),
        link(cost, car, "affects", "影响", sign=-1, weight=2, modality=Modality.FORECAST),
        link(cost, margin, "affects", "影响", sign=-1, weight=2, contested=True),
        link(cost, margin, "affects", "影响", sign=1, weight=0.6, contested=True),
        link(policy, car, "affects", "影响", sign=1, weight=1, modality=Modality.CONDITIONAL),
        link(factor, margin, "affects", "影响", sign=-1, weight=1, modality=Modality.RUMOURED),
        *(link(margin, node, "affects", "影响", sign=1) for node in cells),
        *(link(car, node, "affects", "影响", sign=1, modality=Modality.FORECAST) for node in cars),
        *(link(mine, node, "affects", "影响", sign=1) for node in mines),
        link(factor, cars[0], "affects", "影响", sign=-1, polarity=Polarity.NEGATIVE, weight=0.7),
    ]
    nodes = (factor, cost, mine, car, margin, policy, *cells, *cars, *mines)
    path = Path((factor.entity.id, cost.entity.id, margin.entity.id), (links[0], links[3]), -1, 2.0)
    affected = (*cells, *cars, *mines)
    return ImpactAnswer(factor.entity, -1, True, (path,), affected, (links[4],), Subgraph(nodes, tuple(links)))  # noqa: FBT003


def related() -> RelateAnswer:
    one, middle, other = company("通威股份 600438.SH"), product("多晶硅料"), company("隆基绿能 601012.SH")
    links = (link(one, middle, "produces", "生产"), link(other, middle, "uses", "采购"))
    path = Path((one.entity.id, middle.entity.id, other.entity.id), links, 0, 1.0)
    return RelateAnswer(one.entity, other.entity, (path,), Subgraph((one, middle, other), links))


def profile(facts: int = 18) -> ProfileAnswer:
    centre = company("宁德时代 300750.SZ", score=3)
    kinds = (Kind.PRODUCT, Kind.COMPANY, Kind.INDICATOR, Kind.INSTITUTION, Kind.REGION, Kind.EVENT, Kind.PERSON)
    names = (
        *("动力电池", "储能系统", "麒麟电池", "特斯拉", "福建宁德", "神行超充", "国轩高科"),
        *("装机量", "匈牙利工厂", "示例证券甲", "曾毓群", "换电业务", "回购"),
    )
    words = (("produces", "生产"), ("supplies", "供应"), ("reports", "披露"), ("rates", "评级"), ("located_in", "位于"))
    near = [
        thing(kinds[at % len(kinds)], names[at] if at < len(names) else f"关联主体{at}", score=1 / (at + 1))
        for at in range(facts)
    ]
    links = tuple(link(centre, node, *words[at % len(words)], weight=1 / (at + 1)) for at, node in enumerate(near))
    return ProfileAnswer(centre.entity, links, Subgraph((centre, *near), links))


def random_graph(count: int, *, extra: int = 0, cut: int = 0, seed: int = 7) -> Subgraph:
    chance = random.Random(seed)  # noqa: S311 - a sample, not a secret
    kinds = tuple(Kind)
    nodes = [
        company(f"示例公司{at} {600000 + at}.SH", score=1 / (at + 1))
        if at % 3
        else thing(kinds[at % len(kinds)], f"示例概念名称{at}", score=1 / (at + 1))
        for at in range(count)
    ]
    pairs = [(chance.randrange(at), at) for at in range(1, count)]
    pairs += [(chance.randrange(count), chance.randrange(count)) for _ in range(extra)]
    links = [
        link(nodes[one], nodes[other], "affects", "影响", sign=chance.choice((-1, 0, 1)), weight=chance.random())
        for one, other in pairs
        if one != other
    ]
    return Subgraph(tuple(nodes), tuple(links), cut)


def theme(graph: Subgraph | None = None) -> ThemeAnswer:
    graph = graph or solar_chain().graph
    lines = tuple(SummaryLine(f"{found.facts[0].evidence[0].quote}", (found.facts[0].id,)) for found in graph.links[:6])
    summary = Summary("summary:1", "光伏：硅料与组件", lines, period.years(2023, 2024))
    members = tuple(node.entity.id for node in graph.nodes)
    return ThemeAnswer(Community("theme:0a1b2c", 0, "", members, summary), graph)


def asked() -> AskAnswer:
    graph = solar_chain().graph
    lines = (
        AnswerLine("光伏产业链由上游硅料与辅材、中游硅片到组件、下游逆变器与电站构成：", ()),
        *(AnswerLine(found.facts[0].evidence[0].quote, found.citations, 1) for found in graph.links[:5]),
    )
    question = "光伏产业链上下游有哪些公司？"
    return AskAnswer(question, "answered", nothing_understood(question), "光伏", lines, graph=graph)


def nothing_understood(question: str) -> Understood:
    """Return a parse of a question with nothing in it."""
    return Understood(
        question, "facts", (), (), None, None, None, 1, (), (), wants_value=False, wants_day=False, wants_list=False
    )


def hostile() -> ProfileAnswer:
    one, other = thing(Kind.COMPANY, HOSTILE, score=2), thing(Kind.PRODUCT, f"产品{HOSTILE}")
    links = (link(one, other, "produces", HOSTILE, quotes=(f"原文{HOSTILE}",)),)
    return ProfileAnswer(one.entity, links, Subgraph((one, other), links))


def measured() -> ProfileAnswer:
    """Return a company with a product and a figure."""
    catl, profit = company("宁德时代 300750.SZ"), thing(Kind.INDICATOR, "归母净利润")
    made = link(catl, product("动力电池"), "produces", "生产")
    said = link(catl, profit, "reports", "的")
    fact = replace(said.facts[0], relation="reports", value=Value(50_745_000_000.0, "元", "亿"))
    links = (made, replace(said, relation="reports", facts=(fact,)))
    return ProfileAnswer(catl.entity, links, Subgraph((catl, profit, product("动力电池")), links))
