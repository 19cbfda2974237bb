"""Stages that a line lists under its chain, read by rules alone."""

from __future__ import annotations

from functools import cache

from extraction.pipeline import Extractor
from tests.goldens.reports import READ, report


@cache
def extractor() -> Extractor:
    return Extractor.default(ner=False, edge_model="off")


def stages(*lines: str, title: str = "光模块行业观察") -> set[tuple[str, str, str]]:
    reading = extractor().extract(report(*lines, title=title), recorded_at=READ)
    names = {entity.id: entity.name for entity in reading.entities}
    flows = [fact for fact in reading.facts if fact.relation in {"upstream_of", "belongs_to"}]
    return {(names[fact.subject], fact.relation, names[fact.object]) for fact in flows}


def test_a_line_lists_the_stages_of_the_title():
    assert {
        ("光芯片", "upstream_of", "光模块"),
        ("硅透镜", "upstream_of", "光模块"),
    } <= stages("上游：光芯片（激光器）、PCB、硅透镜等。")
    assert ("光模块", "upstream_of", "数据中心") in stages("产业链上，下游应用于数据中心、云计算等领域。")


def test_a_heading_on_something_else_comes_first():
    found = stages("# 半导体设备产业链", "- 上游：真空泵、射频电源。")
    assert ("真空泵", "upstream_of", "半导体设备") in found
    assert not {each for each in found if "光模块" in each}


def test_a_sentence_on_another_chain_is_left_alone():
    assert not {each for each in stages("锂电池产业链方面，上游为锂矿、钴矿。") if "光模块" in each}
    assert not {each for each in stages("下游：需求增长、价格下降。") if "光模块" in each}


def test_what_a_firm_does_is_no_list_of_stages():
    for line in ("中际旭创主营光器件，下游为数据中心和云计算。", "上游：光芯片、PCB是服务器的核心部件。"):
        assert not {each for each in stages(line) if each[1] == "upstream_of" and "光模块" in each}


def test_labels_of_two_sides_open_lists_of_items():
    found = stages(
        "# 固态电池产业链",
        "## 产业链结构",
        "- 上游：原材料",
        "- 固态电解质：占比高。",
        "- 下游：应用",
        "- 无人机：续航增加。",
    )
    assert {("固态电解质", "upstream_of", "固态电池"), ("固态电池", "upstream_of", "无人机")} == found
    assert not stages("# 上游原料", "- 铜带：价格上涨。")


def test_what_brackets_say_of_an_item_is_no_item():
    found = stages("上游：光芯片（中际旭创自产，占成本三成）、PCB（六层以上）。", "下游：云计算、数据中心和3C电池。")
    assert {one for one, _, other in found if other == "光模块"} == {"光芯片", "PCB"}
    assert {other for one, _, other in found if one == "光模块"} == {"云计算", "数据中心"}


def test_a_list_of_a_side_ends_with_its_items():
    lines = ("# 固态电池产业链", "## 上游", "- 固态电解质：占比高。", "## 下游", "- 无人机：续航增加。")
    found = stages(*lines, "投资建议：关注龙头。", "风险提示：需求不及预期。", "结论：景气向上。")
    assert ("固态电池", "upstream_of", "无人机") in found
    assert not {end for *_, end in found} & {"投资建议", "风险提示", "结论"}


def test_a_heading_that_names_sides_names_no_chain():
    lines = ("## 产业链：上游材料、中游电池片与下游应用", "- 上游：原料", "- 光芯片：占比高。", "- 下游：应用")
    assert ("光芯片", "upstream_of", "光模块") in stages(*lines, "- 云计算：需求高。")


def test_a_labelled_segment_belongs_to_the_chain_above_it():
    assert ("海缆", "belongs_to", "风电") in stages("海缆环节：交付提速。", title="风电行业观察")
    assert ("电芯", "belongs_to", "储能") in stages("## 电芯环节", "格局稳定。", title="储能行业观察")
    assert ("整机", "belongs_to", "风电") in stages("1. 整机环节", "格局稳定。", title="风电板块业绩总结")
    assert not stages("关键环节：格局稳定。", "需求旺盛的海缆环节：交付提速。", title="风电行业观察")
