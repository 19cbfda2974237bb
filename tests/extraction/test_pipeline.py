from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from extraction.pipeline import Extractor
from kg.model import ChunkKind, Kind, MentionStatus
from kg.relations import vocabulary
from kg.securities.master import Master
from tests.goldens.reports import READ, extractor, facts_of, read, report, stated

SUPPLY = "宁德时代向特斯拉供应磷酸铁锂电池。"
REPORT = (
    "# 宁德时代",
    "公司2024年营业收入3620亿元，同比-9.7%。公司主营动力电池。",
    "- 天赐材料：公司向宁德时代供应电解液，2024年毛利率18.9%。",
    "硅料价格下跌推动光伏组件价格下降，进而带动光伏装机增长。",
    "维持宁德时代“买入”评级，目标价300元。",
    "## 风险提示",
    "碳酸锂涨价推高动力电池成本。",
)


def test_the_same_bytes_give_the_same_reading():
    document = report(*REPORT)
    assert read(document) == read(document)


def test_another_extractor_gives_the_same_reading():
    document = report(*REPORT)
    assert Extractor.default(ner=False, edge_model="off").extract(document, recorded_at=READ) == read(document)


def test_earlier_documents_leave_no_trace():
    document = report(*REPORT)
    before = read(document)
    read(report("# 比亚迪", "公司主营新能源汽车。", codes=("002594.SZ",)))
    assert read(document) == before


def test_a_reading_goes_between_processes():
    reading = read(report(*REPORT))
    assert pickle.loads(pickle.dumps(reading)) == reading  # noqa: S301 -- our own bytes


def test_all_that_a_report_yields():
    relations = {fact.relation for fact in read(report(*REPORT)).facts}
    assert relations == {"reports", "produces", "supplies", "rates", "affects"}


def test_a_reading_holds_together():
    reading = read(report(*REPORT, codes=("300750.SZ",)))
    known = {entity.id: entity.kind for entity in reading.entities}
    text = reading.document.text
    for fact in reading.facts:
        assert vocabulary()[fact.relation].allows(known[fact.subject], known[fact.object])
        assert fact.evidence
        assert all(text[item.start : item.end] == item.quote for item in fact.evidence)
    for mention in reading.mentions:
        assert text[mention.start : mention.end] == mention.text
        assert mention.status is MentionStatus.LINKED
        assert mention.entity in known
    for chunk in reading.chunks:
        assert text[chunk.start : chunk.end] == chunk.text
    assert len({fact.id for fact in reading.facts}) == len(reading.facts)
    assert {entity.about for entity in reading.entities} - {""} <= known.keys()
    assert reading.recorded_at == READ


def test_the_reading_signs_its_document():
    document = report(*REPORT)
    reading = read(document)
    assert reading.document.signature
    assert replace(reading.document, signature=b"") == document


def test_a_disclaimer_does_not_count_in_the_signature():
    plain, with_notice = report(SUPPLY), report(SUPPLY, "~ " + "本报告仅供参考。" * 20)
    assert read(plain).document.signature == read(with_notice).document.signature


def test_a_document_without_text_yields_nothing():
    reading = read(report())
    assert (reading.facts, reading.mentions, reading.entities, reading.problems) == ((), (), (), ())


# ── where facts may come from ────────────────────────────────────────────────────────────────────────────────────────


def test_of_a_table_row_only_the_relations_of_companies_are_read():
    reading = read(report("| " + SUPPLY, "前文铺垫。"))
    assert {fact.relation for fact in reading.facts} == {"supplies"}
    assert [chunk.kind for chunk in reading.chunks if chunk.kind is ChunkKind.TABLE]


def test_removed_spans_never_yield_facts():
    reading = read(report("~ " + SUPPLY, "前文铺垫。"))
    assert (reading.facts, reading.mentions) == ((), ())


def test_of_a_heading_only_the_relations_of_companies_are_read():
    assert {fact.relation for fact in facts_of("# " + SUPPLY, "前文铺垫。")} == {"supplies"}


@pytest.mark.parametrize("line", [SUPPLY, "- " + SUPPLY])
def test_paragraphs_and_items_are_read(line):
    assert stated(line, relation="supplies") == {("宁德时代", "特斯拉")}


def test_an_item_without_an_end_mark_is_read():
    assert stated("- 宁德时代向特斯拉供应磷酸铁锂电池", relation="supplies") == {("宁德时代", "特斯拉")}


def test_every_sentence_of_a_block_is_read():
    assert stated("铺垫。" + SUPPLY + "恩捷股份向比亚迪供货。", relation="supplies") == {
        ("宁德时代", "特斯拉"),
        ("恩捷股份", "比亚迪"),
    }


# ── entities ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_issuer_has_its_name_of_the_day_and_its_codes():
    reading = read(report("比亚迪（1211.HK）主营新能源汽车。"))
    (issuer,) = [entity for entity in reading.entities if entity.kind is Kind.COMPANY]
    assert (issuer.id, issuer.name) == ("sec:002594.SZ", "比亚迪")
    assert {"002594.SZ", "01211.HK"} <= set(issuer.codes)


def test_another_spelling_is_an_alias():
    reading = read(report("贵州茅台酒股份有限公司主营白酒。"))
    (issuer,) = [entity for entity in reading.entities if entity.kind is Kind.COMPANY]
    assert issuer.name == "贵州茅台"
    assert [reading.document.text.find(alias.name) for alias in issuer.aliases] == [0]


def test_the_publisher_is_an_institution_when_it_rates():
    reading = read(report("维持宁德时代“买入”评级。"))
    assert "institution:示例证券甲" in {entity.id for entity in reading.entities}


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_stake_beyond_all_is_a_problem_not_a_fact():
    reading = read(report("中国平安持有平安银行149.56%的股权。"))
    assert [fact for fact in reading.facts if fact.relation == "holds_stake_in"] == []
    assert [problem.kind for problem in reading.problems] == ["stake"]


# ── the master and the model ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_unlisted_are_found_by_their_form():
    document = report("广东邦普循环科技有限公司向宁德时代供应三元前驱体。")
    for reading in (read(document), Extractor.default(ner=True, edge_model="off").extract(document, recorded_at=READ)):
        kinds = {entity.id: entity.kind for entity in reading.entities}
        assert kinds["org:广东邦普循环科技有限公司"] is Kind.COMPANY
        assert ("org:广东邦普循环科技有限公司", "sec:300750.SZ") in {
            (fact.subject, fact.object) for fact in reading.facts if fact.relation == "supplies"
        }


def test_the_extractor_may_be_given_a_master():
    assert Extractor(Master.load(None), ner=False).extract(report(SUPPLY), recorded_at=READ) == extractor().extract(
        report(SUPPLY), recorded_at=READ
    )
