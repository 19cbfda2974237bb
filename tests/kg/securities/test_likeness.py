"""Names that may be one company's, and names that are not."""

from __future__ import annotations

from datetime import date

import pytest

from kg.securities.likeness import brand, is_short_form, likeness, without_form
from kg.securities.master import Master
from kg.securities.similar import NearNames

ALIKE = [
    ("华为技术有限公司", "华为技术", "legal_form"),
    ("海信", "海信集团", "group_and_company"),
    ("上港集团", "上海国际港务（集团）股份有限公司", "short_form"),
    ("重百", "重庆百货大楼股份有限公司", "short_form"),
    ("陕西炼石", "炼石", "place"),
    ("蒙牛", "蒙牛乳业", "same_brand"),
    ("ＴＣＬ科技", "TCL科技", "same_name"),
]


@pytest.mark.parametrize(("one", "other", "reason"), ALIKE)
def test_alike_in_the_way_it_says_both_ways_round(one, other, reason):
    assert likeness(one, other).reason == reason
    assert likeness(one, other) == likeness(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("平安银行", "招商银行"), ("中国中车", "中国中铁"), ("科大国创", "科大讯飞"), ("长城汽车", "长江电力")],
)
def test_a_shared_place_or_trade_is_no_likeness(one, other):
    assert likeness(one, other).score == 0


def test_what_is_left_of_a_name():
    assert without_form("有限公司") == "有限公司"
    assert brand("中国石油") == "石油"
    assert not is_short_form("贵州茅台", "茅台")


@pytest.fixture(scope="module")
def near() -> NearNames:
    return NearNames(Master.load())


def test_an_unlisted_spelling_proposes_its_issuer(near):
    (first, *_) = near.related("德州联合石油科技股份有限公司", date(2025, 6, 1))
    assert (first.issuer.code, first.reason) == ("301158.SZ", "short_form")


def test_a_marked_name_proposes_who_may_hide_behind_it(near):
    assert "002602.SZ" in {each.issuer.code for each in near.related("ST 华通", date(2025, 6, 1))}


def test_no_proposal_by_a_name_that_came_later(near):
    assert "601127.SH" not in {each.issuer.code for each in near.related("赛力斯汽车", date(2018, 1, 1))}


def test_two_names_of_one_issuer_are_one(near):
    assert near.compare("小康股份", "赛力斯", date(2025, 6, 1)).reason == "same_issuer"
    assert near.compare("平安银行", "中国平安", date(2025, 6, 1)).reason != "same_issuer"
