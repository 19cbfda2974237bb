"""The shipped model on sentences as plain as they come: what a change of weights must not lose."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest
from click.testing import CliRunner

from extraction.cli import extract
from extraction.models.edges import EdgeModel
from extraction.models.linking import normal_spelling
from extraction.pipeline import Extractor
from kg.errors import KgError
from kg.model import Kind, Modality
from tests.goldens.reports import READ, report


@cache
def extractor() -> Extractor:
    return Extractor.default(ner=False, min_confidence=0.3)


def edges(*lines: str, title: str = "行业周报") -> set[tuple[str, str, str]]:
    reading = extractor().extract(report(*lines, title=title), recorded_at=READ)
    names = {entity.id: entity.name for entity in reading.entities}
    return {
        (names[fact.subject], fact.relation, names[fact.object])
        for fact in reading.facts
        if fact.relation not in ("reports", "rates")
    }


@pytest.mark.parametrize(
    ("text", "edge"),
    [
        ("减速器：绿的谐波、双环传动、中大力德。", ("绿的谐波", "operates", "减速器")),
        ("宁德时代主要产品包括动力电池和储能电池。", ("宁德时代", "produces", "动力电池")),
        ("铜箔主要用于锂电池。", ("锂电铜箔", "upstream_of", "锂电池")),
    ],
)
def test_a_plain_relation_is_read(text: str, edge: tuple[str, str, str]):
    assert edge in edges(text)


def test_a_list_below_a_heading_belongs_to_it():
    found = edges("# 光模块", "建议关注：中际旭创、新易盛、天孚通信。")
    assert {("中际旭创", "operates", "光模块"), ("新易盛", "operates", "光模块")} <= found


def test_a_cause_has_its_sign_and_directions():
    reading = extractor().extract(report("硅料价格下跌推动光伏组件价格下降。"), recorded_at=READ)
    (fact,) = [fact for fact in reading.facts if fact.relation == "affects"]
    assert (fact.sign, fact.qualifier("cause_direction"), fact.qualifier("effect_direction")) == (1, "down", "down")
    assert fact.evidence[0].extractor.startswith("effects/")  # rules and the model agree; the words of the rule count


def test_a_hypothesis_is_conditional():
    reading = extractor().extract(report("若硅料价格下跌，将带动光伏组件需求回升。"), recorded_at=READ)
    found = {fact.modality for fact in reading.facts if fact.relation == "affects"}
    assert found
    assert found <= {Modality.CONDITIONAL, Modality.FORECAST}


def test_every_entity_is_mentioned_or_in_a_fact_or_an_anchor():
    reading = extractor().extract(
        report("# 光模块", "建议关注：中际旭创、新易盛。", "公司业绩受益于AI算力需求增长，它们的影响有限。"),
        recorded_at=READ,
    )
    used = {mention.entity for mention in reading.mentions} | {entity.about for entity in reading.entities}
    used |= {end for fact in reading.facts for end in (fact.subject, fact.object)}
    assert {entity.id for entity in reading.entities} <= used


def test_threads_share_an_extractor():
    documents = [
        report(f"# 第{n}篇", "铜箔主要用于锂电池。", "2024年营业收入10亿元。其中海外收入3亿元。") for n in range(12)
    ]
    alone = [extractor().extract(document, recorded_at=READ) for document in documents]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda each: extractor().extract(each, recorded_at=READ), documents)) == alone


@pytest.mark.parametrize(
    ("name", "kind"),
    [("碳酸锂价格", Kind.INDICATOR), ("人形机器人行业", Kind.INDUSTRY), ("某某科技股份有限公司", Kind.COMPANY)],
)
def test_the_kind_of_a_name_is_in_its_characters(name: str, kind: Kind):
    model = EdgeModel.named("shipped")
    assert model is not None
    assert model.kind_of(name, {})[0] is kind


def test_contexts_settle_the_kind_of_a_name_that_characters_leave_open():
    model = EdgeModel.named("shipped")
    assert model is not None
    assert model.kind_of("警戒雷达", {Kind.PRODUCT: 1.6})[0] is Kind.PRODUCT
    assert model.kind_of("碳酸锂价格", {Kind.PRODUCT: 0.3, Kind.INDICATOR: 0.3})[0] is Kind.INDICATOR


def test_quotes_and_brackets_are_no_part_of_a_name():
    assert normal_spelling("“反内卷” 政策（2025）") == "反内卷政策"


def test_a_model_that_is_not_there_is_said_in_one_line():
    with pytest.raises(KgError, match=r"edge_model: .*edges\.onnx"):
        EdgeModel.named("/nowhere")
    assert EdgeModel.named("off") is None
    result = CliRunner().invoke(extract, ["-", "--workers", "1", "--edge-model", "/nowhere"], input=b"{}")
    assert isinstance(result.exception, (KgError, SystemExit))


@pytest.mark.parametrize("text", ["。" * 3000, "甲、" * 2000, "▸" * 500, "a" * 5000, "（" * 2000, "\u0000碳酸锂" * 200])
def test_no_text_hangs_or_breaks_the_reader(text: str):
    reading = extractor().extract(report(text), recorded_at=READ)
    stored = reading.document.text
    assert all(stored[item.start : item.end] == item.quote for fact in reading.facts for item in fact.evidence)
    assert all(entity.name.strip("。，▸（") for entity in reading.entities)
