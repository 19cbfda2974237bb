from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from kg.model import Kind, Modality, Polarity, Value
from kg.period import year
from kg.query.answers import ChainAnswer, ImpactAnswer, Layer, Link, Node, ProfileAnswer, RelateAnswer, Stage, Subgraph
from tests.viz import samples
from viz.claims import claim_of
from viz.layout.columns import SceneCaption
from viz.scene import MOST_NODES, scene_of


def _small_chain() -> ChainAnswer:
    full = samples.solar_chain()
    keep = {"硅片", "电池片", "隆基绿能", "通威股份", "爱旭股份"}
    nodes = tuple(node for node in full.graph.nodes if node.entity.name in keep)
    ids = {node.entity.id for node in nodes}
    links = tuple(link for link in full.graph.links if {link.source, link.target} <= ids)
    layers = tuple(
        replace(layer, stages=tuple(stage for stage in layer.stages if stage.node.entity.id in ids))
        for layer in full.layers
        if layer.name == "中游"
    )
    layers = (replace(layers[0], stages=tuple(_within(stage, ids) for stage in layers[0].stages)),)
    return ChainAnswer(full.topic, layers, Subgraph(nodes, links))


def _within(stage: Stage, ids: set[str]) -> Stage:
    return replace(stage, companies=tuple(node for node in stage.companies if node.entity.id in ids))


def test_a_chain_as_plain_data():
    scene = scene_of(_small_chain(), as_of=samples.DAY)
    assert (scene.title, scene.subtitle, scene.as_of) == (
        "光伏 · 产业链",
        "5 个节点 · 4 条关系 · 4 条原文依据",
        samples.DAY,
    )
    assert scene.layered
    assert scene.captions == (SceneCaption("中游", 0, 1),)
    assert [(node.label, node.kind, node.layer, node.stage, node.codes) for node in scene.nodes] == [
        ("硅片", Kind.PRODUCT, 0, "", ()),
        ("电池片", Kind.PRODUCT, 1, "", ()),
        ("通威股份", Kind.COMPANY, 1, "product:电池片", ("600438.SH",)),
        ("隆基绿能", Kind.COMPANY, 0, "product:硅片", ("601012.SH",)),
        ("爱旭股份", Kind.COMPANY, 1, "product:电池片", ("600732.SH",)),
    ]
    assert [(edge.source, edge.target, edge.label, edge.inside) for edge in scene.edges] == [
        ("sec:601012.SH", "product:硅片", "生产", True),
        ("sec:600438.SH", "product:电池片", "生产", True),
        ("sec:600732.SH", "product:电池片", "生产", True),
        ("product:硅片", "product:电池片", "上游", False),
    ]
    evidence = scene.edges[3].evidence[0]
    assert evidence.claim == "硅片是电池片的上游（2024）"
    assert evidence.quote.startswith("硅片是电池片的上游")
    assert (evidence.publisher, evidence.speaker, evidence.page) == ("示例证券乙", "首席分析师", 3)


def test_a_company_on_two_stages_stands_on_both_and_each_link_ends_at_its_copy():
    scene = scene_of(samples.solar_chain())
    copies = [node for node in scene.nodes if node.entity == "sec:600438.SH"]
    assert [(node.id, node.stage) for node in copies] == [
        ("sec:600438.SH", "product:多晶硅料"),
        ("sec:600438.SH@product:电池片", "product:电池片"),
    ]
    ends = {(edge.source, edge.target) for edge in scene.edges if edge.source.startswith("sec:600438.SH")}
    assert ends == {
        ("sec:600438.SH", "product:多晶硅料"),
        ("sec:600438.SH@product:电池片", "product:电池片"),
    }
    assert scene.subtitle.startswith("42 个节点")


def test_the_middle_of_a_chain_unrolls_left_to_right():
    layer = {node.label: node.layer for node in scene_of(samples.solar_chain()).nodes}
    assert (
        layer["工业硅"]
        < layer["多晶硅料"]
        < layer["硅片"]
        < layer["电池片"]
        < layer["光伏组件"]
        < layer["集中式光伏电站"]
    )


def test_heads_in_english():
    scene = scene_of(samples.solar_chain(), lang="en")
    assert [caption.text for caption in scene.captions] == ["Upstream", "Midstream", "Downstream"]
    assert scene.title == "光伏 · industry chain"


def test_an_upstream_ring_still_gets_columns():
    one, other = samples.product("甲"), samples.product("乙")
    links = (samples.link(one, other, "upstream_of", "上游"), samples.link(other, one, "upstream_of", "上游"))
    scene = scene_of(ChainAnswer(one.entity, (), Subgraph((one, other), links)))
    assert {node.layer for node in scene.nodes} == {0}


def test_an_impact_keeps_signs_modalities_and_counter_evidence():
    scene = scene_of(samples.lithium_impact())
    assert scene.title == "碳酸锂价格下降 · 影响路径"
    assert [caption.text for caption in scene.captions] == ["起点", "1 阶影响", "2 阶影响", "3 阶影响"]
    both = [edge for edge in scene.edges if edge.source.endswith("动力电池成本") and edge.target.endswith("毛利率")]
    assert [(edge.sign, edge.contested) for edge in both] == [(-1, True), (1, True)]
    assert {edge.modality for edge in scene.edges} == {
        Modality.ASSERTED,
        Modality.FORECAST,
        Modality.CONDITIONAL,
        Modality.RUMOURED,
    }
    assert [edge.target for edge in scene.edges if edge.polarity is Polarity.NEGATIVE] == ["sec:002594.SZ"]


def test_companies_reached_through_their_product_stand_on_it():
    factor, metal = samples.thing(Kind.POLICY, "降息"), samples.product("黄金", 1)
    miner = samples.company("中金黄金 600489.SH", 4, direction=1)
    links = (
        samples.link(factor, metal, "affects", "影响", sign=1),
        samples.link(miner, metal, "operates", "布局"),
    )
    scene = scene_of(ImpactAnswer(factor.entity, 1, True, (), (), (), Subgraph((factor, metal, miner), links)))  # noqa: FBT003
    assert scene.title == "降息 · 影响路径", "a policy happens, it does not rise"
    assert [(node.label, node.layer, node.stage, node.direction) for node in scene.nodes][2] == (
        "中金黄金",
        1,
        "product:黄金",
        1,
    )
    assert [edge.inside for edge in scene.edges] == [False, True]


def test_causes_run_towards_the_effect():
    cause, effect = samples.product("甲", -1), samples.product("乙", 0)
    graph = Subgraph((effect, cause), (samples.link(cause, effect, "affects", "影响", sign=1),))
    scene = scene_of(ImpactAnswer(effect.entity, 1, False, (), (), (), graph))  # noqa: FBT003
    assert scene.title == "乙 · 成因路径"
    assert {node.label: node.layer for node in scene.nodes} == {"甲": 0, "乙": 1}
    assert [caption.text for caption in scene.captions] == ["1 阶原因", "结果"]


def test_two_related_stand_at_both_ends():
    scene = scene_of(samples.related())
    assert {node.label: node.layer for node in scene.nodes} == {"通威股份": 0, "多晶硅料": 1, "隆基绿能": 2}
    assert [node.label for node in scene.nodes if node.focus] == ["通威股份", "隆基绿能"]


def _profile(count: int, cut: int) -> ProfileAnswer:
    graph = samples.random_graph(count, cut=cut)
    return ProfileAnswer(graph.nodes[-1].entity, graph.links, graph)


@pytest.mark.parametrize(("count", "cut", "notices"), [(300, 0, 0), (301, 0, 1), (340, 17, 1), (5, 3, 1)])
def test_only_the_strongest_are_drawn_and_the_page_says_how_many_are_not(count, cut, notices):
    scene = scene_of(_profile(count, cut))
    assert len(scene.nodes) == min(count, MOST_NODES)
    assert len(scene.notices) == notices
    if notices:
        assert f"另有 {max(count - MOST_NODES, 0) + cut} 个" in scene.notices[0]
    drawn = {node.id for node in scene.nodes}
    assert all(edge.source in drawn and edge.target in drawn for edge in scene.edges)
    assert any(node.focus for node in scene.nodes), "the asked-for entity stays, however weak"


def test_an_empty_answer_is_an_empty_scene_that_knows_its_topic():
    scene = scene_of(ProfileAnswer(samples.product("钙钛矿").entity, (), Subgraph()))
    assert (scene.nodes, scene.edges) == ((), ())
    assert "与「钙钛矿」相关" in scene.notices[0]


def test_links_whose_ends_are_missing_are_not_drawn():
    one, other = samples.product("甲"), samples.product("乙")
    graph = Subgraph((one,), (samples.link(one, other, "uses", "使用"),))
    scene = scene_of(ProfileAnswer(one.entity, graph.links, graph))
    assert scene.edges == ()
    assert scene.notices == ("图中没有关系，只有孤立的节点。",)


def test_a_fact_without_citation_shows_its_own_quotes():
    one, other = samples.product("甲"), samples.product("乙")
    link = replace(samples.link(one, other, "uses", "使用", quotes=("甲使用乙。",)), citations=())
    graph = Subgraph((one, other), (link,))
    (edge,) = scene_of(ProfileAnswer(one.entity, (link,), graph)).edges
    assert [(item.quote, item.title) for item in edge.evidence] == [("甲使用乙。", "")]


def test_evidence_is_newest_first():
    one, other = samples.product("甲"), samples.product("乙")
    link = samples.link(one, other, "uses", "使用", quotes=("一", "二", "三"))
    graph = Subgraph((one, other), (link,))
    (edge,) = scene_of(ProfileAnswer(one.entity, (link,), graph)).edges
    days = [item.published_on for item in edge.evidence]
    assert days == sorted(days, reverse=True)
    assert days[0] > date(2023, 1, 1)


def test_a_claim_says_direction_value_certainty_and_denial():
    cause, effect = samples.product("硅料价格"), samples.product("组件毛利率")
    link: Link = samples.link(cause, effect, "affects", "使", sign=-1, modality=Modality.FORECAST)
    qualifiers = (("cause_direction", "down"), ("effect_direction", "up"))
    fact = replace(link.facts[0], qualifiers=qualifiers, polarity=Polarity.NEGATIVE)
    names = {cause.entity.id: "硅料价格", effect.entity.id: "组件毛利率"}
    assert claim_of(fact, "影响", names) == "硅料价格走弱 → 组件毛利率向好（2024 · 预测 · 否认）"
    english = "硅料价格 weakens → 组件毛利率 improves (2024 · Forecast · Negated)"
    assert claim_of(fact, "moves", names, lang="en") == english


def test_figures_are_rows_not_arrows():
    one, other = samples.company("宁德时代 300750.SZ"), samples.thing(Kind.INDICATOR, "市占率")
    maker = samples.link(one, samples.product("动力电池"), "produces", "生产")
    link = samples.link(one, other, "reports", "的")
    fact = replace(link.facts[0], relation="reports", value=Value(37.9, "%"))
    graph = Subgraph((one, other, samples.product("动力电池")), (replace(link, facts=(fact,)), maker))
    scene = scene_of(ProfileAnswer(one.entity, graph.links, graph))
    assert [edge.relation for edge in scene.edges] == ["produces"]
    assert {node.label for node in scene.nodes} == {"宁德时代", "动力电池"}, "what only a number holds is no node"
    (figures,) = scene.figures
    assert (figures.entity, figures.owner, figures.measure) == ("sec:300750.SZ", "宁德时代", "市占率")
    (row,) = figures.rows
    assert (row.period, row.value, row.certainty) == ("2024", "37.9%", "")
    assert row.evidence[0].claim == "宁德时代 市占率 37.9%（2024）"
    assert scene.subtitle.endswith("1 条数据")


def test_namesakes_stay_apart_and_say_which_is_which():
    product, trade = samples.product("锂电池"), samples.thing(Kind.INDUSTRY, "锂电池")
    one, other = samples.company("华联 600001.SH"), samples.company("华联 000002.SZ")
    coded, bare = samples.company("山东黄金 600547.SH"), samples.thing(Kind.COMPANY, "山东黄金")
    graph = Subgraph((product, trade, one, other, coded, bare), (samples.link(one, product, "produces", "生产"),))
    scene = scene_of(ProfileAnswer(one.entity, graph.links, graph))
    assert {node.label for node in scene.nodes} == {
        "锂电池（产品）",
        "锂电池（行业）",
        "华联（600001.SH）",
        "华联（000002.SZ）",
        "山东黄金",
        "山东黄金（无代码）",
    }


def test_stages_whose_position_is_not_stated_stand_apart_at_the_right():
    full = _small_chain()
    loose = samples.product("支架")
    layers = (*full.layers, Layer("位置未述", (Stage(loose, ()),), placed=False))
    scene = scene_of(replace(full, layers=layers, graph=replace(full.graph, nodes=(*full.graph.nodes, loose))))
    column = {node.label: node.layer for node in scene.nodes}
    assert column["支架"] == max(column.values())
    assert [(caption.text, caption.first) for caption in scene.captions] == [("中游", 0), ("位置未述", 2)]


def test_two_that_nothing_relates_are_named():
    one, other = samples.product("甲").entity, samples.product("乙").entity
    assert scene_of(RelateAnswer(one, other, (), Subgraph())).notices == (
        "截至所选日期，未找到「甲」与「乙」之间有原文依据的路径。",
    )


def test_an_unscored_answer_still_has_sizes():
    nodes = tuple(Node(samples.product(name).entity) for name in "甲乙")
    graph = Subgraph(nodes, (replace(samples.link(*nodes, "uses", "使用"), weight=0.0),))
    scene = scene_of(ProfileAnswer(nodes[0].entity, graph.links, graph))
    assert all(node.size >= 13 for node in scene.nodes)
    assert scene.edges[0].width > 0


def test_what_narrows_a_factor_or_a_figure_stands_behind_its_name():
    cause, effect = samples.thing(Kind.POLICY, "集采"), samples.product("组件毛利率")
    link = samples.link(cause, effect, "affects", "使")
    names = {cause.entity.id: "集采", effect.entity.id: "组件毛利率"}
    scopes = (("cause_direction", "down"), ("effect_direction", "up"), ("effect_scope", "海外"))
    assert claim_of(replace(link.facts[0], qualifiers=scopes), "使", names).startswith(
        "集采缓和 → 组件毛利率（海外）向好"
    )
    narrowed = replace(link.facts[0], relation="reports", value=Value(37.9, "%"), qualifiers=(("scope", "全球"),))
    assert claim_of(narrowed, "的", names) == "集采 组件毛利率（全球） 37.9%（2024）"


def test_all_values_of_a_measure_are_rows_the_newest_period_first():
    one, other = samples.thing(Kind.COMPANY, "甲公司"), samples.thing(Kind.INDICATOR, "净利润")
    link = samples.link(one, other, "reports", "的")
    known = replace(link.facts[0], id="a", relation="reports", value=Value(5.0, "亿元"), valid=year(2024))
    again = replace(known, id="d")
    hoped = replace(known, id="b", value=Value(7.0, "亿元"), valid=year(2026), modality=Modality.FORECAST)
    denied = replace(known, id="c", value=Value(9.0, "亿元"), valid=year(2024), polarity=Polarity.NEGATIVE)
    both = replace(link, relation="reports", facts=(hoped, denied, known, again))
    (figures,) = scene_of(ProfileAnswer(one.entity, (both,), Subgraph((one, other), (both,)))).figures
    assert [(row.period, row.value, row.certainty) for row in figures.rows] == [
        ("2026", "7亿元", "预测"),
        ("2024", "9亿元", "否认"),
        ("2024", "5亿元", ""),
    ]


def test_a_rating_is_a_row_of_the_company_with_its_house():
    house, one = samples.thing(Kind.INSTITUTION, "示例证券甲"), samples.company("宁德时代 300750.SZ")
    link = samples.link(house, one, "rates", "评级")
    fact = replace(link.facts[0], relation="rates", qualifiers=(("rating", "买入"),), value=Value(290.0, "元"))
    rated = replace(link, relation="rates", facts=(fact,))
    (figures,) = scene_of(ProfileAnswer(one.entity, (rated,), Subgraph((house, one), (rated,)))).figures
    assert (figures.owner, figures.measure) == ("宁德时代", "评级")
    assert [(row.value, row.source) for row in figures.rows] == [("买入 290元", "示例证券甲")]
