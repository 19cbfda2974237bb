from __future__ import annotations

import re

import pytest

from extraction.annotated import Annotated, Ref
from extraction.patterns.profile_names import acting
from extraction.patterns.profiles import beside, read
from extraction.sentences import split
from kg.ids import entity_id
from kg.model import Kind

KNOWN = {
    **dict.fromkeys(("天山矿业", "青松建材", "北岭重工"), Kind.COMPANY),
    **dict.fromkeys(("新疆", "甘肃", "天水"), Kind.REGION),
}


def sentence(text: str) -> Annotated:
    (one,) = split(text, 0, len(text))
    refs = [
        Ref(entity_id(kind, name), kind, name, match.start(), match.end())
        for name, kind in KNOWN.items()
        for match in re.finditer(name, one.text)
    ]
    return Annotated(one, tuple(sorted(refs, key=lambda ref: ref.start)), (), ())


def told(text: str, relation: str) -> set[tuple[str, str]]:
    annotated = sentence(text)
    return {
        (annotated.text[claim.subject.start : claim.subject.end], annotated.text[claim.object.start : claim.object.end])
        for claim in read(annotated)
        if claim.relation == relation
    }


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("天山矿业大力发展港口物流、冷链仓储业务。", {"港口物流", "冷链仓储"}),
        ("天山矿业主要从事煤炭贸易、港口物流。", {"煤炭贸易", "港口物流"}),
        ("天山矿业主要从事铜精矿采选、冶炼和销售。", {"铜精矿采选、冶炼和销售"}),
        ("天山矿业主要从事破碎机、球磨机的研发、生产和销售。", {"破碎机、球磨机的研发、生产和销售"}),
        ("天山矿业以矿山机械为主业。", {"矿山机械"}),
        ("天山矿业主营业务为水泥制造、矿山设计。", {"水泥制造", "矿山设计"}),
        ("天山矿业发展有色金属贸易业务。", {"有色金属贸易"}),
        ("天山矿业形成水泥、商砼双主业。", {"水泥", "商砼"}),
        ("天山矿业集水泥、商砼、港口物流于一体。", {"水泥", "商砼", "港口物流"}),
    ],
)
def test_businesses_are_cut_as_they_are_told(text, names):
    assert told(text, "operates") == {("天山矿业", name) for name in names}


def test_goods_end_before_the_word_for_them():
    assert told("天山矿业成功研发阴极铜、硫酸镍等产品。", "produces") >= {
        ("天山矿业", "阴极铜"),
        ("天山矿业", "硫酸镍"),
    }


def test_a_trade_is_told_by_the_word_for_it():
    assert told("天山矿业深耕有色金属、建材等传统行业。", "belongs_to") == {
        ("天山矿业", "有色金属"),
        ("天山矿业", "建材"),
    }
    assert told("天山矿业所处行业为“有色金属”。", "belongs_to") == {("天山矿业", "有色金属")}
    assert told("天山矿业的客户分布于电力、建材等行业。", "belongs_to") == set()


def test_a_place_is_read_once():
    found = [
        claim for claim in read(sentence("天山矿业拥有阴极铜、硫酸镍等新材料产品。")) if claim.relation == "produces"
    ]
    assert sorted(claim.object.name for claim in found) == ["硫酸镍", "阴极铜"]
    assert list(beside(found, found[:1])) == found[1:]


def test_a_long_list_of_goods_has_no_use_of_each():
    assert told("天山矿业阴极铜、硫酸镍、电解锌主要用于电缆、电池等行业。", "upstream_of") == set()


def test_places_are_no_goods():
    assert told("天山矿业拥有新疆、阴极铜等重点项目。", "produces") == {("天山矿业", "阴极铜")}


def test_a_use_is_told_of_the_goods_before_it():
    found = told("天山矿业阴极铜、硫酸镍主要用于电缆、电池等行业。", "upstream_of")
    assert found == {(one, other) for one in ("阴极铜", "硫酸镍") for other in ("电缆", "电池")}
    assert told("余款用于归还银行借款。", "upstream_of") == set()


def test_goods_that_are_described_first_are_what_is_used():
    found = told("阴极铜是基础材料，广泛应用于电缆、电池等领域。", "upstream_of")
    assert found == {("阴极铜", "电缆"), ("阴极铜", "电池")}


def test_a_province_and_its_city_are_one_place():
    assert told("天山矿业位于新疆、甘肃天水。", "located_in") == {("天山矿业", "新疆"), ("天山矿业", "甘肃天水")}


def test_firms_of_a_list_need_not_be_known():
    found = told("天山矿业与北岭重工、禾澄环保签署战略合作协议。", "partners_with")
    assert found == {("天山矿业", "北岭重工"), ("天山矿业", "禾澄环保")}
    assert told("天山矿业与多家客户建立合作。", "partners_with") == set()


def test_a_child_is_told_of_its_parent():
    assert told("天山矿业全资子公司青松建材主营水泥。", "subsidiary_of") == {("青松建材", "天山矿业")}


def test_a_company_of_no_list_is_known_by_what_it_does():
    assert [ref.name for ref in acting(sentence("报告期内，禾澄环保主要从事活性炭生产。"))] == ["禾澄环保"]
    assert list(acting(sentence("报告期内，积极开展节能改造。"))) == []


def test_a_sentence_of_nobody_says_nothing_of_a_company():
    assert told("主营业务为水泥、商砼。", "operates") == set()
