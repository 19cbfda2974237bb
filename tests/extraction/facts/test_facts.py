from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from extraction.facts.assemble import entities_of, merge
from extraction.names.gazetteer import Term
from extraction.sentence import EntityMention
from kg.ids import fact_id
from kg.model import Entity, Evidence, Fact, Kind, Modality, Polarity
from tests.goldens.reports import PUBLISHED, PUBLISHER, READ, extractor, facts_of, read, report

SUPPLY = "宁德时代向特斯拉供应磷酸铁锂电池。"


def evidence(document: str = "doc:1", start: int = 0, **more: object) -> Evidence:
    return Evidence(document, start, start + 4, "宁德时代", PUBLISHED, READ, **more)  # type: ignore[arg-type]


# ── identity ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_id_says_what_is_claimed_not_who_says_it():
    (first,) = facts_of(SUPPLY, relation="supplies")
    (second,) = facts_of("最新调研显示，" + SUPPLY, relation="supplies", publisher="示例证券乙", day=date(2024, 1, 5))
    assert first.id == second.id
    assert first.evidence != second.evidence


def test_the_id_does_not_depend_on_when_it_was_read():
    document = report(SUPPLY)
    late = extractor().extract(document, recorded_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert [fact.id for fact in late.facts] == [fact.id for fact in read(document).facts]


@pytest.mark.parametrize(
    "other",
    [
        "宁德时代向特斯拉供应三元电池。",
        "特斯拉向宁德时代供应磷酸铁锂电池。",
        "宁德时代拟向特斯拉供应磷酸铁锂电池。",
        "宁德时代并未向特斯拉供应磷酸铁锂电池。",
        "2024年宁德时代向特斯拉供应磷酸铁锂电池。",
    ],
)
def test_another_claim_has_another_id(other):
    (first,) = facts_of(SUPPLY, relation="supplies")
    assert first.id not in {fact.id for fact in facts_of(other, relation="supplies")}


def test_every_fact_bears_the_id_of_what_it_claims():
    for fact in facts_of(SUPPLY, "宁德时代2024年毛利率为24%。"):
        assert fact.id == fact_id(fact)


# ── merging within a document ────────────────────────────────────────────────────────────────────────────────────────


def test_the_same_claim_twice_is_one_fact_with_two_pieces_of_evidence():
    (fact,) = facts_of(SUPPLY, "此外，" + SUPPLY, relation="supplies")
    assert [item.quote for item in fact.evidence] == [SUPPLY, "此外，" + SUPPLY]
    assert fact.witnesses == 1


def test_two_patterns_on_one_sentence_are_one_piece_of_evidence():
    """「核心供应商」 meets two patterns; one place is one piece of evidence."""
    for fact in facts_of("恩捷股份是宁德时代的核心隔膜供应商。", "减速器是人形机器人的核心部件。"):
        places = [(item.document, item.start, item.end) for item in fact.evidence]
        assert len(places) == len(set(places))


def test_of_one_place_the_surest_reading_is_kept():
    base = Fact("fact:1", "org:甲", "produces", "product:铜箔")
    merged = merge(
        [
            replace(base, evidence=(evidence(confidence=0.5, extractor="patterns/1:a"),)),
            replace(base, evidence=(evidence(confidence=0.8, extractor="patterns/1:b"),)),
            replace(base, evidence=(evidence(confidence=0.6, extractor="patterns/1:c"),)),
        ]
    )
    assert [(item.confidence, item.extractor) for fact in merged for item in fact.evidence] == [(0.8, "patterns/1:b")]


def test_merging_twice_changes_nothing():
    facts = facts_of(SUPPLY, SUPPLY, "恩捷股份主营锂电池隔膜。")
    assert merge(merge(facts)) == merge(facts)
    assert merge([*facts, *facts]) == merge(facts)


def test_other_claims_stay_apart_in_the_order_they_were_read():
    a = Fact("fact:1", "org:甲", "produces", "product:铜箔", evidence=(evidence(),))
    b = Fact("fact:2", "org:乙", "produces", "product:铜箔", evidence=(evidence(start=9),))
    assert [fact.id for fact in merge([b, a, b])] == ["fact:2", "fact:1"]


# ── evidence ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_evidence_says_who_when_and_how():
    (fact,) = facts_of(SUPPLY, relation="supplies")
    (item,) = fact.evidence
    assert (item.speaker, item.published_on, item.recorded_at) == (PUBLISHER, PUBLISHED, READ)
    assert item.extractor == "patterns/2:firms.supplies.to"
    assert 0 < item.confidence <= 1


def test_the_source_named_in_the_sentence_speaks():
    (fact,) = facts_of("据中汽协数据，2024年新能源汽车销量达到1286万辆。", relation="reports")
    assert fact.speakers == ("中汽协",)


def test_the_quote_is_the_sentence_in_the_source_s_spelling():
    text = "宁德时代 2024 年营业收入 3,620 亿元。"
    (fact,) = facts_of("铺垫。" + text + "后话。", relation="reports")
    assert fact.evidence[0].quote == text


def test_a_long_sentence_is_quoted_by_its_clauses():
    filler = "，".join(f"第{number}项说明与此无关" for number in range(60))
    text = f"{filler}，宁德时代向特斯拉供应磷酸铁锂电池，{filler}。"
    document = report(text)
    (fact,) = [one for one in read(document).facts if one.relation == "supplies"]
    (item,) = fact.evidence
    assert item.quote == "宁德时代向特斯拉供应磷酸铁锂电池"
    assert document.text[item.start : item.end] == item.quote


def test_a_hedge_lowers_the_confidence():
    (plain,) = facts_of("紫金矿业将收购藏格矿业。", relation="acquires")
    (hedged,) = facts_of("紫金矿业可能收购藏格矿业。", relation="acquires")
    assert hedged.confidence < plain.confidence


# ── order of ends ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ("宁德时代与特斯拉达成战略合作。", "特斯拉与宁德时代达成战略合作。", "partners_with"),
        ("中创新航与宁德时代展开激烈竞争。", "宁德时代与中创新航展开激烈竞争。", "competes_with"),
    ],
)
def test_symmetric_relations_are_one_fact_either_way(one, other, relation):
    (first,) = facts_of(one, relation=relation)
    (second,) = facts_of(other, relation=relation)
    assert first.id == second.id
    assert first.subject < first.object


def test_other_relations_keep_their_order():
    (first,) = facts_of("宁德时代向特斯拉供货。", relation="supplies")
    (second,) = facts_of("特斯拉向宁德时代供货。", relation="supplies")
    assert (first.subject, first.object) == (second.object, second.subject)


# ── certainty ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "relation", "modality"),
    [
        ("紫金矿业收购藏格矿业。", "acquires", Modality.ASSERTED),
        ("紫金矿业已完成收购藏格矿业。", "acquires", Modality.ASSERTED),
        ("紫金矿业拟收购藏格矿业。", "acquires", Modality.PLANNED),
        ("宁德时代计划收购藏格矿业。", "acquires", Modality.PLANNED),
        ("紫金矿业计划收购藏格矿业。", "acquires", Modality.PLANNED),
        ("国轩高科2027年三季度量产固态电池。", "produces", Modality.PLANNED),
        ("2027年三季度，国轩高科量产固态电池。", "produces", Modality.PLANNED),
        ("国轩高科2023年量产固态电池。", "produces", Modality.ASSERTED),
        ("比亚迪2027年扩产，国轩高科量产固态电池。", "produces", Modality.ASSERTED),
        ("据传紫金矿业收购藏格矿业。", "acquires", Modality.RUMOURED),
        ("市场传言紫金矿业将收购藏格矿业。", "acquires", Modality.RUMOURED),
    ],
)
def test_modality(text, relation, modality):
    assert {fact.modality for fact in facts_of(text, relation=relation)} == {modality}


@pytest.mark.parametrize("cue", ["若", "如果", "一旦", "倘若", "假如"])
def test_what_is_conditional_is_never_asserted(cue):
    for claim in ("宁德时代向特斯拉供应磷酸铁锂电池", "紫金矿业收购藏格矿业"):
        found = facts_of(f"{cue}{claim}，行业格局将改变。")
        assert found, claim
        assert {fact.modality for fact in found} == {Modality.CONDITIONAL}, claim


@pytest.mark.parametrize(
    ("text", "relation", "polarity"),
    [
        ("紫金矿业收购藏格矿业。", "acquires", Polarity.POSITIVE),
        ("紫金矿业收购藏格矿业的计划已终止。", "acquires", Polarity.NEGATIVE),
        ("紫金矿业收购藏格矿业未能完成。", "acquires", Polarity.NEGATIVE),
        ("紫金矿业收购藏格矿业的消息不属实。", "acquires", Polarity.NEGATIVE),
        ("宁德时代与特斯拉达成战略合作一事不属实。", "partners_with", Polarity.NEGATIVE),
        ("紫金矿业并未收购藏格矿业。", "acquires", Polarity.NEGATIVE),
        ("紫金矿业没有收购藏格矿业。", "acquires", Polarity.NEGATIVE),
        ("紫金矿业终止收购藏格矿业。", "acquires", Polarity.NEGATIVE),
        ("宁德时代未向特斯拉供应磷酸铁锂电池。", "supplies", Polarity.NEGATIVE),
        ("宁德时代否认与特斯拉达成战略合作。", "partners_with", Polarity.NEGATIVE),
    ],
)
def test_polarity(text, relation, polarity):
    assert {fact.polarity for fact in facts_of(text, relation=relation)} == {polarity}


@pytest.mark.parametrize(
    "text",
    [
        "紫金矿业并未收购藏格矿业。",
        "紫金矿业没有收购藏格矿业。",
        "宁德时代未向特斯拉供应磷酸铁锂电池。",
        "天赐材料不生产隔膜。",
        "赛力斯的动力电池不再由宁德时代供应。",
        "公司不存在收购藏格矿业的计划。",
    ],
)
def test_what_is_denied_is_never_asserted(text):
    assert [fact for fact in facts_of(text) if fact.polarity is Polarity.POSITIVE] == []


def test_a_denied_rumour_is_denied():
    (fact,) = facts_of("紫金矿业收购藏格矿业的传闻不实。", relation="acquires")
    assert fact.polarity is Polarity.NEGATIVE


@pytest.mark.parametrize("text", ["紫金矿业不得不收购藏格矿业。", "宁德时代不仅向特斯拉供应磷酸铁锂电池，也扩产。"])
def test_what_only_sounds_like_a_denial_is_none(text):
    assert [fact for fact in facts_of(text) if fact.polarity is Polarity.NEGATIVE] == []


def test_a_measured_fact_is_never_denied():
    (fact,) = facts_of("宁德时代2024年毛利率为24%，未达预期。", relation="reports")
    assert fact.polarity is Polarity.POSITIVE


def test_only_causal_facts_have_a_sign():
    for fact in facts_of(SUPPLY, "宁德时代2024年毛利率为24%。"):
        assert (fact.sign != 0) == (fact.relation == "affects")


# ── entities ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_entities_are_each_reported_once_and_sorted():
    refs = [
        EntityMention("product:铜箔", Kind.PRODUCT, "铜箔", 0, 2),
        EntityMention("org:甲", Kind.COMPANY, "甲", 3, 4),
        EntityMention("product:铜箔", Kind.PRODUCT, "铜箔", 9, 11),
    ]
    assert [entity.id for entity in entities_of(refs, {}, {})] == ["org:甲", "product:铜箔"]


def test_what_a_name_is_about_exists_as_well():
    refs = [
        EntityMention("indicator:铜箔价格", Kind.INDICATOR, "铜箔价格", 0, 4, "product:铜箔", 1.0, "铜箔", 2),
        EntityMention("product:铜箔", Kind.PRODUCT, "铜箔", 9, 11),
    ]
    found = {entity.id: entity for entity in entities_of(refs, {}, {})}
    assert found["indicator:铜箔价格"].about == "product:铜箔"
    listed = {"product:铜箔": Term("铜箔", Kind.PRODUCT, about="industry:锂电池", owner="锂电池")}
    assert {each.id: each.about for each in entities_of(refs[:1], {}, listed)} == {
        "indicator:铜箔价格": "product:铜箔",
        "product:铜箔": "industry:锂电池",
        "industry:锂电池": "",
    }


def test_what_nobody_names_by_itself_is_no_entity():
    refs = [
        EntityMention("indicator:原料补库需求", Kind.INDICATOR, "原料补库需求", 0, 6, "org:原料补库", 1, "原料补库", 4)
    ]
    assert [(entity.id, entity.about) for entity in entities_of(refs, {}, {})] == [("indicator:原料补库需求", "")]


def test_a_known_issuer_keeps_its_name_and_codes():
    issuer = Entity("sec:300750.SZ", Kind.COMPANY, "宁德时代", codes=("300750.SZ",))
    refs = [EntityMention("sec:300750.SZ", Kind.COMPANY, "CATL", 0, 4)]
    assert entities_of(refs, {"sec:300750.SZ": issuer}, {}) == [issuer]


def test_entities_do_not_depend_on_the_order_of_the_names():
    refs = [
        EntityMention("product:铜箔", Kind.PRODUCT, "铜箔", 0, 2),
        EntityMention("product:铜箔", Kind.PRODUCT, "铜箔", 5, 7, "industry:锂电池", 1.0, "锂电池"),
        EntityMention("indicator:风电装机", Kind.INDICATOR, "风电装机", 9, 13, "product:风电", 1.0, "风电", 11),
        EntityMention("indicator:风电装机", Kind.INDICATOR, "风电装机", 15, 19, "industry:风电", 1.0, "风电", 17),
        EntityMention("org:甲", Kind.COMPANY, "甲", 3, 4),
    ]
    assert entities_of(refs, {}, {}) == entities_of(refs[::-1], {}, {})


def test_what_a_year_reaches_long_before_its_end_is_expected():
    (early,) = [f for f in read(report("2026年AIPC渗透率达35%。")).facts if f.relation == "reports"]
    assert early.modality == Modality.FORECAST


def figures(*lines: str, **about: object) -> list[tuple[str, str, str, Modality]]:
    facts = [fact for fact in facts_of(*lines, relation="reports", **about) if fact.evidence[0].confidence >= 0.5]
    return [(fact.subject, fact.object, str(fact.valid), fact.modality) for fact in facts]


def test_a_firm_s_quarter_reported_days_after_its_end_is_a_preview_s():
    line = "宁德时代2025Q2营业收入100亿元。"
    assert [each[3] for each in figures(line, day=date(2025, 7, 8))] == [Modality.FORECAST]
    assert [each[3] for each in figures(line, day=date(2025, 7, 30))] == [Modality.ASSERTED]


def test_an_estimated_period_makes_the_sentence_behind_it_expected_as_well():
    stated = figures("宁德时代：2025年H1E收入100亿元，同比增长3%。净利润10亿元。", day=date(2025, 8, 14))
    assert {each[3] for each in stated} == {Modality.FORECAST}


def test_years_reported_before_do_not_date_a_figure_behind_them():
    (_, second) = figures("2015-2024年水泥产能增长12%。螺纹钢产能10亿吨。", day=date(2025, 6, 1))
    assert second[2] == "None"


def test_a_heading_is_about_what_stands_before_its_colon_or_whose_figure_it_names():
    assert figures("# 工业金属", "## 氧化铝：期货升水支撑交仓，现货小幅上涨", "库存388万吨。")[0][0] == "product:氧化铝"
    assert figures("# 油气数据跟踪", "## （二）原油供给", "2025年5月产量1846万吨。")[0][0] == "product:原油"


def test_a_firm_that_nobody_knows_is_not_the_trade_above_it():
    lines = ("# 基础化工", "### 宁德时代", "2024年营业收入10亿元。", "### 某某新材", "2024年营业收入4亿元。")
    assert [each[0] for each in figures(*lines)] == ["sec:300750.SZ"]


def test_what_only_a_firm_has_is_the_labelled_firm_s():
    stated = figures("宁德时代：储能装机38GW，2024年净利润100亿元，股息率6%。")
    assert [each[:2] for each in stated[-2:]] == [
        ("sec:300750.SZ", "indicator:净利润"),
        ("sec:300750.SZ", "indicator:股息率"),
    ]


def test_a_word_of_doubt_inside_a_name_doubts_nothing():
    (fact,) = facts_of("若羽臣2024年营业收入10亿元。", relation="reports")
    assert (fact.subject, fact.modality) == ("sec:003010.SZ", Modality.ASSERTED)
