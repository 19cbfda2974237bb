from __future__ import annotations

import re

import pytest

from extraction.claims.relations.listed import sure
from extraction.sentence import AnnotatedSentence, EntityMention
from extraction.text.sentences import split
from kg.ids import entity_id
from kg.model import Kind

REGIONS = ("新疆", "甘肃", "天水")


def sentence(text: str, *firms: str, subject: str = "") -> AnnotatedSentence:
    """Annotate firms and regions wherever they stand."""
    (one,) = split(text, 0, len(text))
    kinds = {**dict.fromkeys(firms, Kind.COMPANY), **dict.fromkeys(REGIONS, Kind.REGION)}
    refs = [
        EntityMention(entity_id(kind, name), kind, name, match.start(), match.end())
        for name, kind in kinds.items()
        for match in re.finditer(name, one.text)
    ]
    understood = EntityMention(f"org:{subject}", Kind.COMPANY, subject) if subject else None
    return AnnotatedSentence(one, tuple(sorted(refs, key=lambda ref: ref.start)), (), (), subject=understood)


def stated(annotated: AnnotatedSentence, relation: str) -> set[tuple[str, str]]:
    return {(claim.subject.name, claim.object.name) for claim in sure(annotated) if claim.relation == relation}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("天山矿业主营业务为铜矿开采、铅锌冶炼和矿山机械。", {"铜矿开采", "铅锌冶炼", "矿山机械"}),
        ("天山矿业业务涵盖工程勘察、设备租赁等三大板块。", {"工程勘察", "设备租赁"}),
    ],
)
def test_a_list_names_what_a_company_runs(text, names):
    assert {name for _, name in stated(sentence(text, "天山矿业"), "operates")} == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("天山矿业主要产品包括阴极铜、硫酸镍和金锭等。", {"阴极铜", "硫酸镍", "金锭"}),
        ("天山矿业产品有阴极铜以及硫酸镍。", {"阴极铜", "硫酸镍"}),
    ],
)
def test_a_list_names_what_a_company_makes(text, names):
    assert {name for _, name in stated(sentence(text, "天山矿业"), "produces")} == names


def test_a_list_is_of_the_company_named_before_it():
    text = "天山矿业的子公司青松建材主营业务为水泥、商砼。"
    assert stated(sentence(text, "天山矿业", "青松建材"), "operates") == {("青松建材", "水泥"), ("青松建材", "商砼")}


def test_a_list_without_a_name_is_the_understood_subject_s():
    annotated = sentence("主营业务为水泥、商砼。", subject="青松建材")
    assert stated(annotated, "operates") == {("青松建材", "水泥"), ("青松建材", "商砼")}


def test_a_list_of_nobody_says_nothing():
    assert list(sure(sentence("主营业务为水泥、商砼。"))) == []


@pytest.mark.parametrize(
    "text",
    [
        "天山矿业业务为先。",
        "天山矿业产品有优势。",
        "天山矿业业务有序展业，成绩良好。",
        "天山矿业拥有丰富的经验。",
        "天山矿业股价上涨，成交放大。",
    ],
)
def test_mere_words_are_no_names(text):
    assert list(sure(sentence(text, "天山矿业"))) == []


def test_only_a_list_whose_opening_names_it_makes_facts():
    named = "天山矿业主要产品包括阴极铜、硫酸镍。"
    assert {claim.object.name for claim in sure(sentence(named, "天山矿业"))} == {"阴极铜", "硫酸镍"}
    assert list(sure(sentence("天山矿业大力发展港口物流、冷链仓储业务。", "天山矿业"))) == []
    assert list(sure(sentence("天山矿业业务覆盖范围扩大到新疆。", "天山矿业"))) == []


def test_what_stands_in_brackets_is_no_item_of_a_list_and_no_owner():
    text = "甲公司（乙公司子公司）设备齐全，产品覆盖丝杠（磨床、车床等六大工序）和减速器。"
    assert stated(sentence(text, "甲公司", "乙公司"), "produces") == {("甲公司", "丝杠"), ("甲公司", "减速器")}


def test_a_list_of_partners_is_not_what_a_company_makes():
    text = "甲公司投资多家企业，合作品牌包括丝杠之家、减速器之家。"
    assert stated(sentence(text, "甲公司"), "produces") == set()


def test_an_adjective_cut_out_of_a_pair_is_doubtful():
    claims = list(sure(sentence("甲公司业务涵盖有源与无源器件。", "甲公司")))
    assert [claim.object.name for claim in claims if claim.confidence >= 0.5] == ["无源器件"]


def test_one_of_several_is_no_name():
    assert not stated(sentence("天山矿业该业务为核心业务之一，毛利率最高。", "天山矿业"), "operates")
