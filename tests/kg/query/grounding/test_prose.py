from __future__ import annotations

import pytest

from kg.model import Modality, Polarity
from kg.query.grounding.checking import KnownNames, faults
from kg.query.grounding.context import ContextItem
from kg.query.grounding.prose import NoModel
from kg.service.base import KnowledgeBase
from tests.kg.query.world import TONGWEI, claim, filled, paper, solar
from tests.kg.service.examples import ScriptedModel

NAMES = KnownNames(filled(solar()).view())


def item(text: str, modality: str = "asserted", polarity: str = "positive") -> ContextItem:
    return ContextItem("A1", "answer", text, (), (), modality, polarity, 1.0, 0)


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        ("通威股份生产硅料。", "通威股份 生产 硅料"),
        ("隆基绿能2023年毛利率为18.30%。", "隆基绿能毛利率 18.3%［2023］"),
        ("营收为1,391.04亿元。", "营业收入1391.04亿元"),
        ("硅料价格下跌，带来电池片成本下降。", "硅料价格下降 → 电池片成本下降"),
        ("限产推高硅料价格。", "限产推高硅料价格"),
        ("硅料价格受限产推动而上涨。", "限产 → 硅料价格上升"),
    ],
)
def test_what_the_source_says_is_kept(sentence: str, source: str):
    assert faults(sentence, [item(source)], NAMES) == []


@pytest.mark.parametrize(
    ("sentence", "source", "fault"),
    [
        ("隆基绿能2023年毛利率为19.3%。", "隆基绿能毛利率 18.3%［2023］", "number 19.3"),
        ("隆基绿能2024年毛利率为18.3%。", "隆基绿能毛利率 18.3%［2023］", "number 2024"),
        ("通威股份与隆基绿能生产硅料。", "通威股份 生产 硅料", "name 隆基绿能"),
        ("硅料价格下跌，电池片成本上升。", "硅料价格下降 → 电池片成本下降", "direction of 电池片"),
        ("硅料价格上涨。", "硅料价格下降 → 电池片成本下降", "direction of 硅料"),
        ("限产压低硅料价格。", "限产推高硅料价格", "direction of 硅料"),
        ("通威股份不再生产硅料。", "通威股份 生产 硅料", "denied"),
    ],
)
def test_what_the_source_does_not_say_is_refused(sentence: str, source: str, fault: str):
    assert any(each.startswith(fault) for each in faults(sentence, [item(source)], NAMES))


def test_certainty_and_denial_follow_the_source():
    for modality, hedged in (
        (Modality.PLANNED, "通威股份计划生产硅料。"),
        (Modality.FORECAST, "预计通威股份生产硅料。"),
        (Modality.RUMOURED, "据传通威股份生产硅料。"),
        (Modality.CONDITIONAL, "如果复产，通威股份生产硅料。"),
    ):
        source = [item("通威股份 生产 硅料", modality.value)]
        assert faults(hedged, source, NAMES) == []
        assert faults("通威股份生产硅料。", source, NAMES) == [f"stated as certain, the source says {modality.value}"]
    denied = [item("通威股份 生产 硅料（否认）", polarity="negative")]
    assert faults("通威股份否认生产硅料。", denied, NAMES) == []
    assert faults("通威股份生产硅料。", denied, NAMES) == ["affirmed, the source denies it"]
    assert faults("通威股份生产硅料。", [], NAMES) == ["no citation"]


def answered(reply: str) -> tuple[KnowledgeBase, ScriptedModel]:
    model = ScriptedModel(reply)
    return KnowledgeBase(filled(solar()), model=model), model


def test_unsupported_sentences_are_dropped_visibly():
    kb, model = answered(
        "通威股份生产硅料。[A1] 隆基绿能也生产硅料[A1]。通威股份产能为38万吨。[A1]没有出处的话。\n"
        "- 通威股份是硅料生产商［A1］［Z9］。[A99]"
    )
    found = kb.prose("谁生产硅料？")
    assert found.text == "通威股份生产硅料。[A1]"
    assert [(each.kept, each.faults) for each in found.sentences] == [
        (True, ()),
        (False, ("name 隆基绿能",)),
        (False, ("number 38",)),
        (False, ("no citation",)),
        (False, ("no item A99",)),
    ]
    (request,) = model.asked
    assert request.messages[1][1] == found.context.text


def test_nothing_is_asked_where_nothing_is_known_and_nothing_kept_is_said():
    kb, model = answered("通威股份生产硅料。[A1]")
    assert kb.prose("zzz").text == "未找到相关信息"
    assert model.asked == []
    assert answered("不知道。")[0].prose("谁生产硅料？").text == "未找到相关信息"
    with pytest.raises(NoModel):
        KnowledgeBase(kb.store).prose("谁生产硅料？")


def test_a_denial_of_the_base_is_not_turned_around():
    denied = claim(TONGWEI, "produces", "product:硅料", polarity=Polarity.NEGATIVE)
    store = filled([paper(1, "2024-01-01", ("通威股份否认生产硅料。", denied))])
    for reply, kept in (("通威股份生产硅料。[A1]", False), ("通威股份否认生产硅料。[A1]", True)):
        (sentence,) = KnowledgeBase(store, model=ScriptedModel(reply)).prose("通威股份生产硅料吗？").sentences
        assert sentence.kept is kept, sentence
