from __future__ import annotations

import re
from collections import Counter

import pytest

from extraction.claims.relations.pattern import Pattern, relation_patterns
from extraction.claims.relations.pattern import read as read_patterns
from extraction.pipeline import Extractor
from extraction.quantities.reader import find_quantities
from extraction.sentence import CONTEXT, LETTER, AnnotatedSentence, EntityMention
from extraction.text.sentences import split
from kg.ids import entity_id
from kg.model import Kind
from kg.relations import vocabulary
from tests.goldens.reports import facts_of, names_of, read, report, stated

PATTERNS = relation_patterns()
OWN = "002812.SZ"  # 恩捷股份: who 「公司」 is in an example


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_the_example_of_a_pattern_yields_its_relation(pattern):
    codes = (OWN,) if pattern.example.startswith("公司") else ()
    assert facts_of(pattern.example + "。", relation=pattern.relation, codes=codes)


def test_an_unlisted_name_without_a_legal_form_needs_the_ner_model():
    assert facts_of("时代吉利是宁德时代的控股子公司", relation="subsidiary_of") == []


def test_pattern_names_are_unique():
    assert [name for name, count in Counter(pattern.name for pattern in PATTERNS).items() if count > 1] == []


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_a_pattern_is_of_the_vocabulary(pattern):
    words = vocabulary()
    relation = words[pattern.relation]
    slots = dict(re.findall(r"\{(\w+):([A-Z|]+)\}", pattern.template))
    kinds = {
        "C": Kind.COMPANY, "O": Kind.INSTITUTION, "H": Kind.PERSON, "P": Kind.PRODUCT, "B": Kind.BUSINESS,
        "D": Kind.INDUSTRY, "T": Kind.THEME, "R": Kind.REGION,
    }  # fmt: skip
    assert {"s", "o"} <= slots.keys()
    pairs = [(kinds[s], kinds[o]) for s in slots["s"].split("|") for o in slots["o"].split("|")]
    assert any(relation.allows(s, o) for s, o in pairs), pairs
    assert 0 < pattern.confidence <= 1


# ── the pattern language on sentences made by hand ───────────────────────────────────────────────────────────────────


def hand(text: str, *names: tuple[str, Kind], subject: EntityMention | None = None) -> AnnotatedSentence:
    """Annotate the given names wherever they stand."""
    (sentence,) = split(text, 0, len(text))
    refs = [
        EntityMention(entity_id(kind, name), kind, name, match.start(), match.end())
        for name, kind in names
        for match in re.finditer(re.escape(name), sentence.text)
    ]
    return AnnotatedSentence(
        sentence, tuple(sorted(refs, key=lambda ref: ref.start)), (), tuple(find_quantities(text)), subject=subject
    )


C, P = Kind.COMPANY, Kind.PRODUCT
MAKES = Pattern("makes", "produces", "{s:C}生产~{o:P}", "甲公司生产铜箔")


def claims(pattern: Pattern, annotated: AnnotatedSentence) -> list[tuple[str, str]]:
    return [(claim.subject.name, claim.object.name) for claim in read_patterns((pattern,), annotated)]


def test_a_slot_takes_a_whole_enumeration():
    text = "甲公司、乙公司和丙公司生产铜箔、铝箔"
    names = [("甲公司", C), ("乙公司", C), ("丙公司", C), ("铜箔", P), ("铝箔", P)]
    expected = [(who, what) for who in ("甲公司", "乙公司", "丙公司") for what in ("铜箔", "铝箔")]
    assert claims(MAKES, hand(text, *names)) == expected


def test_the_short_gap_takes_eight_characters_without_names_or_marks():
    names = [("甲公司", C), ("铜箔", P), ("铝箔", P)]
    assert claims(MAKES, hand("甲公司生产一二三四五六七八铜箔", *names)) == [("甲公司", "铜箔")]
    assert claims(MAKES, hand("甲公司生产一二三四五六七八九铜箔", *names)) == []
    assert claims(MAKES, hand("甲公司生产，铜箔", *names)) == []


def test_the_long_gap_takes_twenty():
    long = Pattern("long", "produces", "{s:C}…{o:P}", "甲公司大量生产铜箔")
    assert claims(long, hand("甲公司" + "字" * 20 + "铜箔", ("甲公司", C), ("铜箔", P))) == [("甲公司", "铜箔")]
    assert claims(long, hand("甲公司" + "字" * 21 + "铜箔", ("甲公司", C), ("铜箔", P))) == []


def test_an_aside_behind_a_slot_is_passed_over():
    annotated = hand("甲公司（全球最大的厂商）生产铜箔", ("甲公司", C), ("铜箔", P))
    assert claims(MAKES, annotated) == [("甲公司", "铜箔")]


def test_an_understood_subject_is_read_in_front_of_the_sentence():
    subject = EntityMention("org:甲公司", C, "甲公司")
    found = list(read_patterns((MAKES,), hand("生产铜箔", ("铜箔", P), subject=subject)))
    assert [(claim.subject.name, claim.subject.start, claim.object.name) for claim in found] == [
        ("甲公司", CONTEXT, "铜箔")
    ]


def test_a_sentence_that_opens_with_a_company_has_its_own_subject():
    subject = EntityMention("org:甲公司", C, "甲公司")
    annotated = hand("乙公司生产铜箔", ("乙公司", C), ("铜箔", P), subject=subject)
    assert claims(MAKES, annotated) == [("乙公司", "铜箔")]


def test_a_whole_pattern_wants_its_subject_written():
    whole = Pattern("whole", "produces", "{s:C}生产~{o:P}", "甲公司生产铜箔", whole=True)
    subject = EntityMention("org:甲公司", C, "甲公司")
    assert claims(whole, hand("生产铜箔", ("铜箔", P), subject=subject)) == []
    assert claims(whole, hand("甲公司生产铜箔", ("甲公司", C), ("铜箔", P))) == [("甲公司", "铜箔")]


def test_nothing_stands_in_relation_to_itself():
    both = Pattern("both", "partners_with", "{s:C}与{o:C}合作", "甲公司与乙公司合作", pairs=True)
    assert claims(both, hand("甲公司与甲公司合作", ("甲公司", C))) == []


def test_the_doubt_about_a_name_lowers_the_claim():
    sure = hand("甲公司生产铜箔", ("甲公司", C), ("铜箔", P))
    doubted = AnnotatedSentence(
        sure.sentence, (EntityMention("org:甲公司", C, "甲公司", 0, 3, score=0.5), sure.refs[1]), (), (), subject=None
    )
    (first,) = read_patterns((MAKES,), sure)
    (second,) = read_patterns((MAKES,), doubted)
    assert second.confidence == pytest.approx(first.confidence * 0.5)


def test_a_claim_knows_where_it_stands():
    annotated = hand("据悉，甲公司生产铜箔。", ("甲公司", C), ("铜箔", P))
    (claim,) = read_patterns((MAKES,), annotated)
    assert annotated.text[claim.start : claim.end] == "甲公司生产铜箔"


def test_every_kind_has_its_own_letter():
    assert len(set(LETTER.values())) == len(Kind)


# ── what the relations say, through the whole pipeline ───────────────────────────────────────────────────────────────


def test_a_list_of_customers_is_a_fact_each():
    assert stated("天赐材料的主要客户包括宁德时代、比亚迪和LG新能源。", relation="supplies") == {
        ("天赐材料", "宁德时代"),
        ("天赐材料", "比亚迪"),
        ("天赐材料", "LG新能源"),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("宁德时代向特斯拉供应磷酸铁锂电池。", {("宁德时代", "特斯拉")}),
        ("比亚迪向赣锋锂业采购碳酸锂。", {("赣锋锂业", "比亚迪")}),
        ("赛力斯的动力电池由宁德时代供应。", {("宁德时代", "赛力斯")}),
        ("恩捷股份是宁德时代的核心供应商。", {("恩捷股份", "宁德时代")}),
        ("宁德时代、比亚迪向特斯拉供货。", {("宁德时代", "特斯拉"), ("比亚迪", "特斯拉")}),
        ("宁德时代、比亚迪均向特斯拉供货。", {("宁德时代", "特斯拉"), ("比亚迪", "特斯拉")}),
    ],
)
def test_who_delivers_and_who_is_delivered_to(text, expected):
    assert stated(text, relation="supplies") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("工业硅是多晶硅的核心原材料。", {("工业硅", "硅料")}),
        ("光伏是工业硅的主要下游。", {("工业硅", "光伏")}),
        ("铜箔的主要原材料为电解铜。", {("电解铜", "铜箔")}),
        ("电解铝以氧化铝为原料。", {("氧化铝", "电解铝")}),
        ("六氟磷酸锂主要用于制备电解液。", {("六氟磷酸锂", "电解液")}),
        ("碳酸锂的下游主要为锂电池。", {("碳酸锂", "锂电池")}),
        ("碳酸锂的上游为锂辉石，下游为磷酸铁锂。", {("锂辉石", "碳酸锂"), ("碳酸锂", "磷酸铁锂")}),
        (
            "碳酸锂的下游为正极材料，终端为动力电池。",
            {("碳酸锂", "正极材料"), ("碳酸锂", "动力电池")},
        ),
    ],
)
def test_what_goes_into_what(text, expected):
    assert stated(text, relation="upstream_of") == expected


def test_a_stake_has_its_share():
    (fact,) = facts_of("中国平安持有平安银行49.56%的股权。", relation="holds_stake_in")
    assert fact.value is not None
    assert (fact.value.number, fact.value.unit, fact.value.change) == (49.56, "%", "share")


def test_supply_keeps_product_and_share_of_revenue():
    (delivered,) = facts_of("宁德时代向特斯拉供应磷酸铁锂电池。", relation="supplies")
    assert delivered.qualifier("product") == "磷酸铁锂电池"
    (shared,) = facts_of("公司第一大客户宁德时代贡献约35%收入。", relation="supplies", codes=(OWN,))
    assert (shared.qualifier("rank"), shared.qualifier("revenue_share")) == ("第一大", "35")
    assert shared.qualifier("disclosed_by") == "supplier"


SUPPLY = [
    ("恩捷股份隔膜第一大客户宁德时代贡献约35%收入。", "隔膜 第一大 35  supplier"),
    ("恩捷股份来自第一大客户宁德时代的隔膜收入占比35%。", "隔膜 第一大 35  supplier"),
    ("宁德时代是恩捷股份第一大客户，贡献约35%收入。", " 第一大 35  supplier"),
    ("恩捷股份最大客户为宁德时代，贡献约35%的隔膜收入。", "隔膜 最大 35  supplier"),
    ("宁德时代第一大供应商恩捷股份占采购总额的12%。", " 第一大  12 customer"),
    ("宁德时代最大隔膜供应商为恩捷股份，占采购成本的12%。", "隔膜 最大  12 customer"),
    ("宁德时代向恩捷股份采购隔膜的采购额占总采购额的12%。", "隔膜   12 customer"),
]


@pytest.mark.parametrize(("line", "expected"), SUPPLY)
def test_supply_keeps_its_product_rank_shares_and_who_disclosed_them(line: str, expected: str):
    reading = read(report(line))
    (fact,) = [fact for fact in reading.facts if fact.relation == "supplies"]
    names = names_of(reading)
    assert (names[fact.subject], names[fact.object]) == ("恩捷股份", "宁德时代")
    asked = ("product", "rank", "revenue_share", "cost_share", "disclosed_by")
    assert " ".join(fact.qualifier(name) or "" for name in asked) == expected


def test_the_buyer_s_product_is_not_the_seller_s_input():
    """比亚迪 buys 碳酸锂 from 赣锋锂业; 赣锋锂业 does not consume it."""
    assert ("赣锋锂业", "碳酸锂") not in stated("比亚迪向赣锋锂业采购碳酸锂。", relation="uses")


def test_a_customer_does_not_make_what_its_supplier_delivers():
    assert stated("恩捷股份是宁德时代的核心隔膜供应商。", relation="produces") <= {("恩捷股份", "隔膜")}


def test_the_period_of_a_claim_is_the_one_it_states():
    (fact,) = facts_of("2024年紫金矿业收购藏格矿业24.98%股权。", relation="acquires")
    assert str(fact.valid) == "2024"


@pytest.mark.parametrize("relation", ["belongs_to", "produces", "upstream_of"])
def test_what_is_so_at_all_times_has_no_period(relation):
    examples = {
        "belongs_to": "2024年，宁德时代属于电力设备行业。",
        "produces": "2024年，恩捷股份主营锂电池隔膜。",
        "upstream_of": "2024年，工业硅是多晶硅的核心原材料。",
    }
    assert [fact.valid for fact in facts_of(examples[relation], relation=relation)] == [None]


@pytest.mark.parametrize(
    "text",
    [
        "宁德时代和比亚迪股价上涨。",
        "今日市场成交额突破万亿元。",
        "我们看好恩捷股份的长期价值。",
        "宁德时代股东大会将于下周召开，比亚迪亦然。",
        "特斯拉发布财报后，宁德时代股价走高。",
        "碳酸锂和氢氧化锂报价平稳。",
    ],
)
def test_what_states_no_relation_gives_none(text):
    structural = {pattern.relation for pattern in PATTERNS}
    assert [fact for fact in facts_of(text) if fact.relation in structural] == []


@pytest.fixture(scope="session")
def with_ner() -> Extractor:
    """The one extractor with the NER model."""
    return Extractor.default(ner=True, edge_model="off")


def test_the_ner_model_finds_the_unlisted(with_ner):
    from tests.goldens.reports import READ  # noqa: PLC0415 -- only here

    document = report("广东邦普循环科技有限公司是宁德时代的控股子公司。")
    reading = with_ner.extract(document, recorded_at=READ)
    names = names_of(reading)
    assert ("广东邦普循环科技有限公司", "宁德时代") in {
        (names[fact.subject], names[fact.object]) for fact in reading.facts if fact.relation == "subsidiary_of"
    }


@pytest.mark.parametrize(
    "text", ["福斯特布局电子材料。", "再升科技布局光伏上游材料。", "中一科技布局锂金属复合负极材料。"]
)
def test_a_name_that_goes_on_is_not_what_a_company_does(text):
    stated = {fact.object for fact in facts_of(text) if fact.relation in ("operates", "produces")}
    assert not stated & {"industry:电子", "product:光伏", "industry:光伏", "product:金属", "product:锂"}


@pytest.mark.parametrize(
    "text",
    [
        "比亚迪发布人形机器人“灵犀”控制平台。",
        "比亚迪推出人形机器人表演视频。",
        "比亚迪推出人形机器人促销活动。",
        "轮毂电机替代减速器外壳。",
        "镁合金可用于减速器外壳和底座。",
        "比亚迪生产人形机器人芯片。",
    ],
)
def test_a_name_that_makes_a_part_of_another_is_not_what_is_made(text):
    stated = {fact.object for fact in facts_of(text) if fact.relation in ("produces", "substitutes_for", "upstream_of")}
    assert not stated & {"product:人形机器人", "product:减速器"}


@pytest.mark.parametrize("text", ["比亚迪推出人形机器人产品。", "比亚迪发布人形机器人，续航两小时。"])
def test_a_word_that_leaves_a_product_what_it_is_does_not_hide_it(text):
    assert "product:人形机器人" in {fact.object for fact in facts_of(text, relation="produces")}


def test_a_place_in_a_firm_s_name_is_no_place_of_investment():
    assert not facts_of("宁德时代增资合肥某某生物。", relation="invests_in")
    assert stated("宁德时代投资50亿元于合肥。", relation="invests_in") == {("宁德时代", "合肥")}


def test_what_a_firm_has_in_a_place():
    (fact,) = facts_of("比亚迪在匈牙利建设生产基地。", relation="located_in")
    assert fact.qualifier("site") == "生产基地"
