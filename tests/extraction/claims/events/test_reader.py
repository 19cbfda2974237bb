"""Events of companies and holders: who does what to whom, for how much."""

from __future__ import annotations

import pytest

from extraction.claims.events.frames import frame_kinds, read_frames
from extraction.claims.events.role_names import role_names
from kg.model import Modality, Polarity
from kg.relations import vocabulary
from tests.goldens import reports

# Sentence → (subject, relation, object, number, unit); None where no fact may come of it.
EVENTS = [
    (
        "宁德时代拟以20亿元收购天华新能10%股权。",
        ("sec:300750.SZ", "acquires", "sec:300390.SZ", 10.0, "%"),
    ),
    (
        "比亚迪向国轩高科转让其持有的10%股权。",
        ("sec:002594.SZ", "transfers_to", "sec:002074.SZ", 10.0, "%"),
    ),
    ("隆基绿能起诉晶科能源侵犯专利权。", ("sec:601012.SH", "disputes_with", "sec:688223.SH", None, None)),
    ("通威股份拟回购股份，金额不超过40亿元。", ("sec:600438.SH", "undergoes", "event:股份回购", 4e9, "元")),
    ("比亚迪增持国轩高科2%股份。", ("sec:002594.SZ", "raises_stake_in", "sec:002074.SZ", 2.0, "%")),
    ("国轩高科遭比亚迪减持2%股份。", ("sec:002594.SZ", "cuts_stake_in", "sec:002074.SZ", 2.0, "%")),
    ("宁德时代将所持天华新能500万股质押给招商银行。", ("sec:300750.SZ", "pledges_to", "sec:600036.SH", 5e6, "股")),
    ("中国石化中标大型项目，金额30亿元。", ("sec:600028.SH", "undergoes", "event:中标", 3e9, "元")),
    (
        "资金流向：中信证券增持工商银行（+6.88亿元）、中信银行（+5.59亿元），减持中国银行（-7.88亿元）。",
        ("sec:600030.SH", "cuts_stake_in", "sec:601988.SH", 7.88e8, "元"),
    ),
    ("中国中铁为中国铁建提供担保5亿元。", ("sec:601390.SH", "supports", "sec:601186.SH", 5e8, "元")),
    (
        "中信证券增持工商银行、中信银行，分别增持5.2亿元、3.3亿元。",
        ("sec:600030.SH", "raises_stake_in", "sec:601998.SH", 3.3e8, "元"),
    ),
    (  # the share is of another clause
        "国轩高科毛利率升至14%，公告称国轩高科回购股份。",
        ("sec:002074.SZ", "undergoes", "event:股份回购", None, None),
    ),
]
EVENTFUL = {kind.relation for kind in frame_kinds().values()} | {"undergoes"}
SILENT = [
    "2025Q2公募基金增持前两大股票为宝钢股份（减仓1.3亿元）、南钢股份（减仓0.8亿元）。",
    "央行开展逆回购操作。",
    "宁德时代获中信证券增持评级。",
    "股票质押率下降。",
    "固定资产投资同比增长。",
    "投资者关注宁德时代。",
    "中国能建风电项目公示，8个标段已中标。",  # it puts the work out to tender
    "三一重能毛利率提升，受益于前期高价中标较多。",
    "根据《许继电气关于控股股东项目中标的公告》，换流阀单价3.75亿元。",
    "隆基绿能暂停股份回购三个季度。",
    "隆基绿能注销4亿股回购股份。",
    "获比亚迪、国轩高科等投资。",
    "通威股份控股股东增持1277万股。",
    "中国石化作为中标候选人参与报价。",
    "中国石化、中国石油等厂商中标数量领先。",
    "通威股份将回购专用账户中的股份注销。",
    "宁德时代承诺购买天华新能未售出的锂盐产品。",
    "龙湖集团是新进前十的港股公司。",
]


def _claimed(text: str) -> list[tuple[object, ...]]:
    return [
        (fact.subject, fact.relation, fact.object, fact.value and fact.value.number, fact.value and fact.value.unit)
        for fact in reports.facts_of(text)
    ]


@pytest.mark.parametrize(("text", "expected"), EVENTS)
def test_an_event_becomes_one_fact_with_its_amount(text, expected):
    assert expected in _claimed(text)


@pytest.mark.parametrize("text", SILENT)
def test_a_word_that_only_looks_like_an_event_tells_nothing(text):
    assert not {relation for _, relation, *_ in _claimed(text)} & EVENTFUL


def test_a_planned_purchase_is_planned_and_keeps_its_sum():
    (fact,) = [fact for fact in reports.facts_of(EVENTS[0][0]) if fact.relation == "acquires"]
    assert fact.modality == Modality.PLANNED
    assert fact.qualifier("amount") == "20亿元"


@pytest.mark.parametrize(
    ("text", "modality", "polarity"),
    [
        ("隆基绿能实控人提议回购2亿元。", Modality.PLANNED, Polarity.POSITIVE),
        ("因业绩不达标，隆基绿能回购注销579万股限制性股票。", Modality.ASSERTED, Polarity.POSITIVE),
        ("隆基绿能终止回购股份。", Modality.ASSERTED, Polarity.NEGATIVE),
    ],
)
def test_an_event_is_denied_and_planned_by_the_words_at_its_trigger(text, modality, polarity):
    stated = {(fact.modality, fact.polarity) for fact in reports.facts_of(text) if fact.relation == "undergoes"}
    assert stated == {(modality, polarity)}


def test_an_event_takes_no_period_of_another_clause():
    facts = reports.facts_of("国轩高科与比亚迪达成合作，首批产线预计2026年下半年启用，国轩高科可认购比亚迪1.6亿股。")
    assert {fact.valid for fact in facts if fact.relation == "invests_in"} == {None}


@pytest.mark.parametrize("kind", frame_kinds().values(), ids=frame_kinds())
def test_each_kind_speaks_of_a_relation_of_the_vocabulary(kind):
    assert not kind.relation or kind.relation in vocabulary().relations
    assert kind.to in ("target", "counterparty")


def test_the_parts_of_a_frame():
    document = reports.report("宁德时代从比亚迪收购天华新能30%股权，作价12亿元。")
    (frame,) = [f for sentence in reports.extractor().annotate(document).sentences for f in read_frames(sentence)]
    assert [ref.name for ref in frame.agents] == ["宁德时代"]
    assert [ref.name for ref in frame.parties] == ["比亚迪"]
    assert [ref.name for ref in frame.targets] == ["天华新能"]
    assert (frame.money and frame.money.number, frame.share and frame.share.number) == (1.2e9, 30.0)


def test_a_name_that_only_its_role_tells_is_read():
    text = "永安林业公告，控股股东东冠投资质押500万股；公司拟收购斯科尔51%股权。"
    sentence, *more = reports.extractor().annotate(reports.report(text)).sentences
    frames = [frame for each in (sentence, *more) for frame in read_frames(each)]
    assert [ref.name for ref in frames[0].agents] == ["东冠投资"]
    assert [ref.name for ref in frames[1].targets] == ["斯科尔"]


@pytest.mark.parametrize("text", ["公司控股股东增持的计划已公告。", "公司收购了部分51%股权。", "大股东将质押股份。"])
def test_words_in_a_role_are_no_names(text):
    assert role_names(text, []) == []
