from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from kg.errors import UnknownName
from kg.query.session import QuerySession
from kg.query.walks.chain import chain
from tests.kg.query.world import (
    CELL,
    LONGI,
    MODULE,
    PLANT,
    PV,
    SILICON,
    SUNGROW,
    TONGWEI,
    WAFER,
    claim,
    named,
    paper,
    seen,
    solar,
)

if TYPE_CHECKING:
    from kg.query.answers import ChainAnswer


def names(answer: ChainAnswer) -> dict[str, set[str]]:
    return {layer.name: {stage.node.entity.name for stage in layer.stages} for layer in answer.layers}


def flow(*products: str) -> QuerySession:
    """Return the session on one document that says each product goes into the next."""
    pairs = pairwise(products)
    return QuerySession(seen(paper(1, "2024-01-01", *((f"{a}→{b}。", claim(a, "upstream_of", b)) for a, b in pairs))))


def test_a_product_stands_between_what_goes_into_it_and_what_it_goes_into():
    answer = chain(seen(*solar()), "硅片")
    assert answer.topic.id == WAFER
    assert names(answer) == {"上游": {"硅料", "工业硅"}, "中游": {"硅片"}, "下游": {"电池片", "组件"}}
    depth = {stage.node.entity.name: stage.node.layer for layer in answer.layers for stage in layer.stages}
    assert depth == {"工业硅": -2, "硅料": -1, "硅片": 0, "电池片": 1, "组件": 2}


def test_a_trade_that_nothing_is_tied_to_does_not_stand_beside_the_product_of_its_name():
    trade = ("锂电池行业景气度回升。", claim("industry:锂电池", "reports", "indicator:景气度"))
    product = ("隔膜用于锂电池。", claim("product:隔膜", "upstream_of", "product:锂电池"))
    both, alone = (
        chain(seen(paper(1, "2024-01-01", trade, product)), "锂电池"),
        chain(seen(paper(1, "2024-01-01", trade)), "锂电池"),
    )
    assert [stage.node.entity.id for layer in both.layers for stage in layer.stages] == [
        "product:隔膜",
        "product:锂电池",
    ]
    assert names(alone) == {"中游": {"锂电池"}}


@pytest.mark.parametrize(("depth", "stages"), [(-3, 3), (1, 3), (2, 5), (3, 6), (4, 6), (99, 6)])
def test_depth_bounds_the_walk_both_ways(depth: int, stages: int):
    answer = chain(seen(*solar()), "硅片", depth=depth)
    assert sum(len(layer.stages) for layer in answer.layers) == stages


def test_an_industry_is_walked_from_its_members():
    answer = chain(seen(*solar()), "光伏产业链", depth=3)
    assert answer.topic.id == PV
    assert names(answer) == {"上游": {"硅料", "硅片", "电池片"}, "中游": {"光伏", "组件"}, "下游": {"光伏电站"}}


def test_companies_stand_on_what_they_make_the_strongest_first():
    view = seen(
        *solar(),
        paper(8, "2024-02-01", ("天合光能生产组件。", claim("org:天合光能", "produces", MODULE))),
        paper(9, "2024-02-01", ("隆基绿能生产组件。", claim(LONGI, "produces", MODULE)), speaker="示例证券丁"),
    )
    (stage,) = (s for layer in chain(view, "组件").layers for s in layer.stages if s.node.entity.id == MODULE)
    assert [node.entity.name for node in stage.companies] == ["隆基绿能", "天合光能"]
    assert stage.companies[0].score > stage.companies[1].score
    upstream = chain(view, "硅片").layers[0].stages
    assert {node.entity.id for s in upstream for node in s.companies} == {TONGWEI}


def test_a_company_stands_on_the_chain_of_what_it_makes():
    answer = chain(seen(*solar()), "通威股份")
    assert answer.topic.id == TONGWEI
    assert names(answer) == {"上游": {"工业硅"}, "中游": {"硅料"}, "下游": {"硅片", "电池片"}}
    assert names(chain(seen(*solar()), "硅料价格")) == names(answer)


def test_who_makes_nothing_has_no_chain_but_himself():
    answer = chain(seen(*solar()), "阳光电源")
    assert names(answer) == {"中游": {"阳光电源"}}
    assert answer.graph.links == ()
    assert answer.topic.id == SUNGROW


def test_a_circle_of_flows_ends():
    answer = chain(flow("product:甲", "product:乙", "product:丙", "product:甲"), "甲", depth=4)
    assert sorted(name for found in names(answer).values() for name in found) == ["丙", "乙", "甲"]
    itself = chain(flow("product:甲", "product:甲"), "甲")
    assert names(itself) == {"中游": {"甲"}}


def test_the_nearer_way_decides_the_layer():
    session = QuerySession(
        seen(
            paper(
                1,
                "2024-01-01",
                ("一。", claim("product:甲", "upstream_of", "product:乙")),
                ("二。", claim("product:乙", "upstream_of", "product:丙")),
                ("三。", claim("product:甲", "upstream_of", "product:丙")),
            )
        )
    )
    layers = {s.node.entity.name: s.node.layer for layer in chain(session, "甲").layers for s in layer.stages}
    assert layers == {"甲": 0, "乙": 1, "丙": 1}


def test_a_hub_is_cut_to_its_strongest_links():
    said = [(f"甲{n}。", claim(f"product:甲{n:03}", "upstream_of", MODULE)) for n in range(200)]
    strong = paper(2, "2024-01-02", ("甲7。", claim("product:甲007", "upstream_of", MODULE)))
    (upper, _) = chain(seen(paper(1, "2024-01-01", *said), strong), "组件", depth=1).layers
    assert len(upper.stages) < 50
    assert "甲007" in {stage.node.entity.name for stage in upper.stages}


def test_every_link_of_the_picture_joins_two_of_its_nodes_and_cites():
    answer = chain(seen(*solar()), "硅片", depth=4)
    ids = {node.entity.id for node in answer.graph.nodes}
    assert {MODULE, CELL, SILICON, PLANT, LONGI, TONGWEI} <= ids
    assert answer.graph.links
    for link in answer.graph.links:
        assert {link.source, link.target} <= ids
        assert link.citations


def test_layers_are_named_in_the_language_of_the_lens():
    answer = chain(QuerySession(seen(*solar()), lang="en"), "硅片")
    assert [layer.name for layer in answer.layers] == ["Upstream", "Midstream", "Downstream"]


@pytest.mark.parametrize(
    ("text", "near"),
    [("隆基绿", ("隆基绿能",)), ("硅料的价格", ("硅料价格",)), ("火星", ()), ("", ()), ("産" * 5000, ())],
)
def test_an_unknown_name_comes_with_those_that_are_near(text: str, near: tuple[str, ...]):
    with pytest.raises(UnknownName) as fault:
        chain(seen(*solar()), text)
    assert fault.value.near[: len(near)] == near
    assert near or fault.value.near == ()


def test_a_name_is_found_by_code_alias_width_and_without_its_ending():
    view = seen(*solar(), paper(9, "2024-05-01", extra=(named("product:ＡＩ 芯片"),)))
    for text, expected in (("601012.sh", LONGI), ("光伏行业", PV), (" 光 伏 ", PV), ("ai芯片", "product:ＡＩ 芯片")):
        assert chain(view, text).topic.id == expected


def test_stages_without_a_stated_flow_are_not_midstream():
    said = paper(
        1,
        "2024-01-01",
        ("硅片属于光伏。", claim("product:硅片", "belongs_to", "industry:光伏")),
        ("支架属于光伏。", claim("product:支架", "belongs_to", "industry:光伏")),
        ("硅料用于硅片。", claim("product:硅料", "upstream_of", "product:硅片")),
    )
    answer = chain(seen(said), "光伏")
    assert names(answer) == {"上游": {"硅料"}, "中游": {"光伏", "硅片"}, "位置未述": {"支架"}}
    assert [layer.placed for layer in answer.layers] == [True, True, False]
    english = chain(QuerySession(seen(said), lang="en"), "光伏")
    assert english.layers[-1].name == "Position not stated"


def test_a_citation_names_the_address_of_its_document():
    said = paper(1, "2024-01-01", ("硅料用于硅片。", claim("product:硅料", "upstream_of", "product:硅片")))
    addressed = replace(said, document=replace(said.document, url="https://example.com/a.pdf"))
    (link,) = chain(seen(addressed), "硅片").graph.links
    assert [citation.url for citation in link.citations] == ["https://example.com/a.pdf"]


def test_the_names_of_a_topic_are_one_stage_with_the_companies_of_all():
    view = seen(
        paper(1, "2024-01-01", ("饲料用于生猪。", claim("product:饲料", "upstream_of", "product:生猪"))),
        paper(2, "2024-01-02", ("甲公司布局生猪养殖。", claim("org:甲公司", "operates", "industry:生猪养殖"))),
        paper(3, "2024-01-03", ("乙公司生产生猪。", claim("org:乙公司", "produces", "product:生猪"))),
    )
    answer = chain(view, "生猪养殖")
    (stage,) = (each for layer in answer.layers for each in layer.stages if each.node.layer == 0)
    assert stage.node.entity.name == "生猪"
    assert {node.entity.name for node in stage.companies} == {"甲公司", "乙公司"}
    assert ("org:甲公司", "product:生猪") in {(link.source, link.target) for link in answer.graph.links}


def test_a_chain_does_not_lead_through_a_name_that_may_mean_several_things():
    answer = chain(flow("product:铜", "product:铜箔", "product:服务器"), "铜")
    assert names(answer) == {"中游": {"铜"}, "下游": {"铜箔"}}
    assert "服务器" in names(chain(flow("product:铜", "product:铜箔", "product:服务器"), "铜箔"))["下游"]


def test_what_raw_materials_go_into_besides_is_another_chain():
    view = seen(
        *solar(),
        paper(8, "2024-02-01", ("工业硅属于光伏。", claim("product:工业硅", "belongs_to", PV))),
        paper(9, "2024-02-02", ("工业硅用于有机硅。", claim("product:工业硅", "upstream_of", "product:有机硅"))),
    )
    assert "有机硅" not in {name for found in names(chain(view, "光伏")).values() for name in found}


def test_a_product_is_no_company_of_a_stage():
    said = (
        ("一。", claim("org:甲电池", "produces", CELL)),
        ("二。", claim("product:甲电池", "belongs_to", CELL)),
        ("丁。", claim("product:甲电池", "upstream_of", MODULE)),
        ("三。", claim("org:乙公司", "produces", CELL)),
    )
    (stage,) = (
        s
        for layer in chain(seen(paper(1, "2024-01-01", *said)), "电池片").layers
        for s in layer.stages
        if s.node.entity.id == CELL
    )
    assert [node.entity.name for node in stage.companies] == ["乙公司"]


def test_what_is_named_after_the_topic_and_made_by_several_is_on_its_chain():
    makers = [
        claim(f"org:{n}公司", "produces", thing) for n in "甲乙" for thing in ("product:储能零部件", "product:户外储能")
    ]
    said = (
        claim("org:丙公司", "operates", "product:储能"),
        claim("org:丙公司", "produces", "product:储能支架"),
        *makers,
    )
    answer = chain(seen(paper(1, "2024-01-01", *((f"第{n}句。", fact) for n, fact in enumerate(said)))), "储能")
    assert names(answer) == {"上游": {"储能零部件"}, "中游": {"储能", "户外储能"}}


def test_what_goes_into_many_things_leads_no_further():
    """What 碳纤维 is made of is no part of 风电: it goes into much else."""
    uses = [claim("product:碳纤维", "upstream_of", f"product:{n}用品") for n in "甲乙丙丁戊己"]
    facts = (
        claim("product:原丝", "upstream_of", "product:碳纤维"),
        claim("product:碳纤维", "upstream_of", "product:风机"),
    )
    said = [(f"第{n}句。", fact) for n, fact in enumerate((*facts, *uses))]
    assert "原丝" in names(chain(seen(paper(1, "2024-01-01", *said[:-1])), "风机"))["上游"]
    assert names(chain(seen(paper(1, "2024-01-01", *said)), "风机")) == {"上游": {"碳纤维"}, "中游": {"风机"}}


def test_the_topic_itself_lists_more_companies_than_its_stages():
    said = [claim(f"org:甲{n}公司", "produces", thing) for n in range(12) for thing in (SILICON, WAFER)]
    said.append(claim(SILICON, "upstream_of", WAFER))
    answer = chain(seen(paper(1, "2024-01-01", *((f"第{n}句。", fact) for n, fact in enumerate(said)))), "硅片")
    listed = {stage.node.entity.name: len(stage.companies) for layer in answer.layers for stage in layer.stages}
    assert listed == {"硅料": 8, "硅片": 12}


def test_what_a_note_on_the_topic_counts_to_an_input_stands_beside_it():
    facts = (
        claim("product:减速器", "upstream_of", "product:机器人"),
        claim("product:行星减速器", "belongs_to", "product:减速器"),
        claim("product:RV减速器2型", "belongs_to", "product:减速器"),  # a grade
    )
    said = [(f"第{n}句。", fact) for n, fact in enumerate(facts)]
    for title, inputs in (("机器人行业观察", {"减速器", "行星减速器"}), ("晨会纪要", {"减速器"})):
        answer = chain(seen(paper(1, "2024-01-01", *said, title=title)), "机器人")
        assert names(answer) == {"上游": inputs, "中游": {"机器人"}}


def test_what_the_topic_is_used_for_is_a_stage_though_it_is_no_product():
    facts = (
        claim("product:稳定币", "upstream_of", "business:跨境支付"),
        claim("product:稳定币", "upstream_of", "product:钱包"),
        claim("product:钱包", "upstream_of", "business:商户结算"),
    )
    said = [(f"第{n}句。", fact) for n, fact in enumerate(facts)]
    shown = names(chain(seen(paper(1, "2024-01-01", *said)), "稳定币"))
    assert shown == {"中游": {"稳定币"}, "下游": {"跨境支付", "钱包"}}


def test_equipment_is_a_kind_of_equipment_and_no_input_of_it():
    for topic, layer in (("医疗器械", "位置未述"), ("芯片", "上游")):
        facts = (claim("industry:检测设备", "belongs_to", f"industry:{topic}"),)
        answer = chain(seen(paper(1, "2024-01-01", *((f"第{n}句。", fact) for n, fact in enumerate(facts)))), topic)
        assert names(answer)[layer] == {"检测设备"}


def test_a_topic_lists_more_members_than_it_is_walked_from():
    facts = [claim(f"product:甲{n}号线", "belongs_to", "product:线缆") for n in "一二三四五六七八九十甲乙丙丁戊己"]
    answer = chain(seen(paper(1, "2024-01-01", *((f"第{n}句。", fact) for n, fact in enumerate(facts)))), "线缆")
    assert sum(len(layer.stages) for layer in answer.layers) == len(facts) + 1
