"""Who gains and who pays, as sentences and tables state it, read by rules alone."""

from __future__ import annotations

from functools import cache

import pytest

from extraction.pipeline import Extractor
from tests.goldens.reports import READ, report


@cache
def extractor() -> Extractor:
    return Extractor.default(ner=False, edge_model="off")


def effects(*lines: str, title: str = "行业周报") -> set[str]:
    """Return what is read, as 「碳酸锂价格 up → 天齐锂业 up」."""
    reading = extractor().extract(report(*lines, title=title), recorded_at=READ)
    names = {entity.id: entity.name for entity in reading.entities}
    facts = [fact for fact in reading.facts if fact.relation == "affects"]
    assert all(fact.sign in {1, -1} for fact in facts)
    return {
        f"{names[fact.subject]} {fact.qualifier('cause_direction')} → "
        f"{names[fact.object]} {fact.qualifier('effect_direction')}"
        for fact in facts
    }


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("碳酸锂涨价利好天齐锂业和赣锋锂业。", {"碳酸锂价格 up → 天齐锂业 up", "碳酸锂价格 up → 赣锋锂业 up"}),
        ("猪价上行推高双汇发展的原料成本。", {"生猪价格 up → 双汇发展 down"}),
        ("铜价上涨拖累海亮股份毛利率。", {"铜价格 up → 海亮股份 down"}),
        ("格林美受损于锂价下跌。", {"锂价格 down → 格林美 down"}),
        ("双汇发展、牧原股份受益于猪价上行。", {"生猪价格 up → 双汇发展 up", "生猪价格 up → 牧原股份 up"}),
        ("美联储降息推动金价上涨。", {"美联储降息 none → 黄金价格 up"}),
        ("硅料减产支撑硅料价格。", {"硅料供给 down → 硅料价格 up"}),
    ],
)
def test_a_sentence_states_who_gains_and_who_pays(text: str, stated: set[str]):
    assert stated <= effects(text)


@pytest.mark.parametrize(
    "text",
    [
        "铜价上涨对海亮股份影响有限。",
        "铜价波动影响海亮股份业绩。",  # no direction is stated
        "公司提示风险：需求不及预期、铜价上涨超预期、扩产不及预期。",  # a list of risks
        "铜价上涨受海外矿山停产影响，海亮股份发布公告。",  # why it rose, not what it does
        "在关税扰动背景下，海亮股份收入增长。",
    ],
)
def test_what_states_no_effect_gives_none(text: str):
    assert not {each for each in effects(text) if "海亮股份" in each}


def test_firms_listed_behind_a_gain_gain():
    found = effects("铜价上涨后铜矿盈利扩大，相关公司紫金矿业、洛阳钼业。")
    assert {"铜价格 up → 紫金矿业 up", "铜价格 up → 洛阳钼业 up"} <= found
    assert not {each for each in effects("铜价上涨压缩空调利润，相关公司格力电器。") if "格力电器" in each}


def test_a_list_shares_its_measure():
    found = effects("棉花、涤纶价格上涨压缩鲁泰A利润。")
    assert {each for each in found if "鲁泰A" in each} == {"棉花价格 up → 鲁泰A down", "涤纶价格 up → 鲁泰A down"}


def test_a_list_in_the_next_sentence_names_who_gains():
    found = effects("铜价上涨利好铜矿。", "相关公司：江西铜业、洛阳钼业。")
    assert {"铜价格 up → 江西铜业 up", "铜价格 up → 洛阳钼业 up"} <= found
    assert not {each for each in effects("铜价上涨拖累空调。", "相关公司：格力电器。") if "格力电器" in each}


def test_a_label_is_the_party_of_its_sentence():
    assert "电力价格 down → 核电 down" in effects("核电：电价下行导致业绩下滑。")
    assert not {each for each in effects("氢氟酸：萤石价格上涨支撑成本。") if "氢氟酸" in each}


def test_a_result_of_everybody_is_said_of_the_trade_of_the_title():
    line = "成本风险：铜价上涨将压缩利润空间。"
    assert "铜价格 up → 空调 down" in effects(line, title="空调行业周报")
    assert not {each for each in effects("油价上涨推高航司成本。", title="空调行业周报") if "空调" in each}


@pytest.mark.parametrize(
    "text",
    [
        "生鲜乳价格企稳，大麦价格仍待观察，利好啤酒。",  # a price that settles moves neither way
        "碳关税推高组件出口成本。",  # a cost of exports, no exports
        "贸易壁垒升级（关税可能影响储能出口）、技术路线变革冲击锂电池。",  # another item of the list
    ],
)
def test_what_another_word_is_about_is_no_effect(text: str):
    found = effects(text)
    assert not {
        each for each in found if each.endswith(("啤酒 up", "出口量 up")) or ("关税" in each and "锂电池" in each)
    }


def test_what_a_party_lacks_is_no_party():
    found = effects("锂价上涨推高电池成本，亿纬锂能等没有锂矿的电池企业受损。")
    assert "锂价格 up → 亿纬锂能 down" in found
    assert not {each for each in found if "锂矿" in each}


def test_another_cause_takes_over():
    found = effects("铜价上涨推高空调成本，猪价上行利好牧原股份。")
    assert "生猪价格 up → 牧原股份 up" in found
    assert not {each for each in found if each.startswith("铜价格") and "牧原" in each}


def test_what_is_passed_on_ends_the_effect():
    found = effects("福斯特：EVA粒子涨价推高胶膜成本，公司通过提价向下游转嫁，毛利率提升。")
    assert not {each for each in found if each.endswith("福斯特 up")}


def test_a_table_of_verdicts_is_read_under_its_head():
    rows = ("公司 | 代码 | 存储涨价的影响", "兆易创新 | 603986.SH | 正面", "传音控股 | 688036.SH | 负面")
    table = "| " + "\n".join(rows)
    assert {"存储价格 up → 兆易创新 up", "存储价格 up → 传音控股 down"} <= effects(table)


def test_a_verdict_is_read_under_the_factor_of_the_sentence_before():
    found = effects("硅料价格上涨。晶科能源、天合光能短期承压。")
    assert {"硅料价格 up → 晶科能源 down", "硅料价格 up → 天合光能 down"} <= found


def test_a_model_that_contradicts_the_words_gives_way():
    """Of one sentence and its two ends one claim is left, and what no word states has no sign."""
    model = Extractor.default(ner=False, min_confidence=0.2)
    for text in ("美元走强压制铜价。", "铜矿供给收缩推动铜价上涨。", "猪价下跌拖累双汇发展。"):
        facts = [fact for fact in model.extract(report(text), recorded_at=READ).facts if fact.relation == "affects"]
        by_ends = {(fact.subject, fact.object): fact.sign for fact in facts}
        assert len(by_ends) == len(facts), text
    (fact,) = [
        fact
        for fact in model.extract(report("汇率波动影响出口。"), recorded_at=READ).facts
        if fact.relation == "affects"
    ][:1] or [None]
    assert fact is None or fact.sign == 0
