from __future__ import annotations

import re
from collections import Counter

import pytest

from extraction.annotated import Annotated, Ref
from extraction.patterns.cues import CUES
from extraction.patterns.pairs import claims_between, occurrences, only, relation_of, same_name
from extraction.quantities import find_quantities
from extraction.sentences import split
from kg.model import Kind


def between(text: str, *names: str) -> Annotated:
    """Annotate the named companies wherever they stand."""
    (sentence,) = split(text, 0, len(text))
    refs = [Ref(f"org:{name}", Kind.COMPANY, name, start, end) for name, start, end in occurrences(text, *names)]
    return Annotated(sentence, tuple(refs), (), tuple(find_quantities(text)))


@pytest.mark.parametrize("cue", CUES, ids=lambda cue: cue.name)
def test_the_example_of_a_cue_is_read_by_it(cue):
    names = re.findall(r"[甲乙](?:公司|证券)", cue.example)
    assert cue.name in {claim.pattern for claim in claims_between(between(cue.example, *names))}


def test_cue_names_are_unique():
    assert [name for name, count in Counter(cue.name for cue in CUES).items() if count > 1] == []


@pytest.mark.parametrize(
    ("text", "relation", "subject"),
    [
        ("天山矿业去年再度增持青松建材。", "raises_stake_in", "天山矿业"),
        ("青松建材遭天山矿业连续减持。", "cuts_stake_in", "天山矿业"),
        ("青松建材被天山矿业以现金方式收购。", "acquires", "天山矿业"),
        ("天山矿业去年斥巨资收购青松建材。", "acquires", "天山矿业"),
        ("天山矿业收购青松建材旗下的水泥业务。", "buys_assets_from", "天山矿业"),
        ("天山矿业将手中股权转让给青松建材。", "transfers_to", "天山矿业"),
        ("天山矿业拟向青松建材定向增发新股。", "issues_to", "天山矿业"),
        ("天山矿业是青松建材旗下的全资子公司。", "subsidiary_of", "天山矿业"),
        ("青松建材控股子公司天山矿业今日停产。", "subsidiary_of", "天山矿业"),
        ("天山矿业拖欠青松建材两年货款。", "owes", "天山矿业"),
        ("天山矿业为青松建材提供担保。", "supports", "天山矿业"),
        ("天山矿业成功借壳青松建材上市。", "lists_through", "天山矿业"),
        ("天山矿业出资设立青松建材。", "founds", "天山矿业"),
        ("青松建材的供应商包括天山矿业。", "supplies", "天山矿业"),
    ],
)
def test_who_does_what_to_whom(text, relation, subject):
    claim = relation_of(between(text, "天山矿业", "青松建材"))
    assert claim is not None
    assert (claim.relation, claim.subject.name) == (relation, subject)


@pytest.mark.parametrize(
    ("text", "relation", "form"),
    [
        ("天山矿业与青松建材签署框架协议。", "partners_with", "agreement"),
        ("天山矿业正与青松建材就价格谈判。", "partners_with", "talks"),
        ("天山矿业与青松建材共同出资建厂。", "partners_with", "joint_venture"),
        ("天山矿业与青松建材在多个领域合作。", "partners_with", ""),
        ("天山矿业与青松建材的专利纠纷开庭。", "disputes_with", ""),
        ("天山矿业和青松建材宣布合并。", "merges_with", ""),
    ],
)
def test_what_two_firms_do_together(text, relation, form):
    claim = relation_of(between(text, "天山矿业", "青松建材"))
    assert claim is not None
    assert (claim.relation, dict(claim.qualifiers).get("form", "")) == (relation, form)


def test_nothing_is_said_of_two_names_side_by_side():
    assert relation_of(between("天山矿业上涨，青松建材下跌。", "天山矿业", "青松建材")) is None


def test_the_nearer_of_two_equal_cues_is_surer():
    near, far = (
        relation_of(between(text, "天山矿业", "青松建材"))
        for text in ("天山矿业举牌青松建材", "天山矿业在去年底今年初两度举牌青松建材")
    )
    assert near is not None
    assert far is not None
    assert near.confidence > far.confidence


def test_a_sentence_can_be_seen_as_holding_only_some_names():
    annotated = between("甲公司、乙公司与丙公司", "甲公司", "乙公司", "丙公司")
    assert [ref.name for ref in only(annotated, "org:甲公司", "org:丙公司").refs] == ["甲公司", "丙公司"]


def test_the_longer_name_has_the_place():
    assert occurrences("天山矿业与天山", "天山", "天山矿业") == [("天山矿业", 0, 4), ("天山", 5, 7)]


@pytest.mark.parametrize(
    ("text", "first", "second", "same"),
    [
        ("天山矿业股份有限公司（以下简称“天矿”）公告", "天山矿业股份有限公司", "天矿", True),
        ("天山矿业股份有限公司公告，天山矿业涨停", "天山矿业股份有限公司", "天山矿业", True),
        ("天山矿业旗下天山矿业财务公司成立", "天山矿业", "天山矿业财务公司", False),
        ("天山矿业与青松建材签约", "天山矿业", "青松建材", False),
    ],
)
def test_two_names_of_one_firm(text, first, second, same):
    assert same_name(text, first, second) is same
    assert same_name(text, second, first) is same
