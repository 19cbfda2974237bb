from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from extraction.annotated import Ref
from extraction.patterns.causal import compound
from kg.model import Kind, Modality, Polarity
from tests.goldens.reports import facts_of, names_of, read, report

if TYPE_CHECKING:
    from kg.model import Fact

Row = tuple[str, str, str, str, int]


def rows(*lines: str, **about: object) -> set[Row]:
    """(cause, effect, cause_direction, effect_direction, sign) of every causal fact."""
    reading = read(report(*lines, **about))  # type: ignore[arg-type]
    names = names_of(reading)
    return {_row(fact, names) for fact in reading.facts if fact.relation == "affects"}


def _row(fact: Fact, names: dict[str, str]) -> Row:
    directions = fact.qualifier("cause_direction"), fact.qualifier("effect_direction")
    return names[fact.subject], names[fact.object], *directions, fact.sign


def one(cause: str, effect: str, moves: str) -> Row:
    """「down up」 is −1: the sign is the product of the directions; a cause that merely happens (none) counts as up."""
    a, b = moves.split()
    return cause, effect, a, b, (-1 if a == "down" else 1) * (-1 if b == "down" else 1)


CLAIMS: list[tuple[str, list[Row]]] = [
    # A 推动 B, with the direction of either side said, and the trigger's own where the effect has none
    ("新能源汽车销量增长拉动碳酸锂需求。", [one("新能源汽车销量", "碳酸锂需求", "up up")]),
    ("新能源汽车销量增长带动动力电池需求提升。", [one("新能源汽车销量", "动力电池需求", "up up")]),
    ("降准利好银行。", [one("降准", "银行", "none up")]),
    ("以旧换新政策刺激家电需求增长。", [one("以旧换新", "家用电器需求", "none up")]),
    ("铜价上涨抬升空调成本。", [one("铜价格", "空调成本", "up up")]),
    ("生猪产能去化支撑猪价上涨。", [one("生猪产能", "生猪价格", "down up")]),
    ("豆粕价格上涨推高生猪养殖成本。", [one("豆粕价格", "生猪养殖成本", "up up")]),
    ("光伏装机增长带动光伏玻璃需求增加。", [one("光伏装机量", "光伏玻璃需求", "up up")]),
    ("以旧换新将催生空调需求。", [one("以旧换新", "空调需求", "none up")]),
    ("硅料价格上涨导致光伏组件价格上涨。", [one("硅料价格", "光伏组件价格", "up up")]),
    ("原油价格下跌使得航空成本下降。", [one("原油价格", "航空成本", "down down")]),
    ("供给侧改革导致电解铝产量下降。", [one("供给侧改革", "电解铝产量", "none down")]),
    ("铁矿石价格上涨引发钢铁成本上升。", [one("铁矿石价格", "钢铁成本", "up up")]),
    ("降息引发黄金价格上涨。", [one("降息", "黄金价格", "none up")]),
    ("美联储加息导致黄金价格下跌。", [one("美联储加息", "黄金价格", "none down")]),
    ("硅料价格下跌，带动光伏组件需求回升。", [one("硅料价格", "光伏组件需求", "down up")]),
    ("碳酸锂均价下跌推动动力电池成本下降。", [one("碳酸锂价格", "动力电池成本", "down down")]),
    ("碳酸锂涨价推升磷酸铁锂价格。", [one("碳酸锂价格", "磷酸铁锂价格", "up up")]),
    ("豆粕降价有利于生猪养殖成本下降。", [one("豆粕价格", "生猪养殖成本", "down down")]),
    ("因为玉米价格下跌，生猪养殖成本下降。", [one("玉米价格", "生猪养殖成本", "down down")]),
    ("美联储加息导致黄金价格下跌。", [one("美联储加息", "黄金价格", "none down")]),
    # the trigger forces its sign
    ("碳酸锂涨价压制储能需求。", [one("碳酸锂价格", "储能需求", "up down")]),
    ("光伏装机下滑拖累光伏玻璃需求。", [one("光伏装机量", "光伏玻璃需求", "down down")]),
    ("铜价上涨挤压空调毛利率。", [one("铜价格", "空调毛利率", "up down")]),
    ("原油价格上涨侵蚀航空利润。", [one("原油价格", "航空利润", "up down")]),
    ("集采压低冠脉支架价格。", [one("集采", "冠脉支架价格", "none down")]),
    ("加征关税压制光伏组件出口。", [one("加征关税", "光伏组件出口量", "none down")]),
    ("加息不利于黄金价格。", [one("加息", "黄金价格", "none down")]),
    # chains
    (
        "硅料价格下跌推动光伏组件价格下降，进而带动光伏装机增长。",
        [one("硅料价格", "光伏组件价格", "down down"), one("光伏组件价格", "光伏装机量", "down up")],
    ),
    # leading phrases
    ("由于碳酸锂价格上涨，动力电池成本上升。", [one("碳酸锂价格", "动力电池成本", "up up")]),
    ("随着新能源汽车销量增长，动力电池需求提升。", [one("新能源汽车销量", "动力电池需求", "up up")]),
    ("受益于硅料价格下跌，光伏组件毛利率回升。", [one("硅料价格", "光伏组件毛利率", "down up")]),
    ("得益于铜价上涨，铜箔价格走高。", [one("铜价格", "铜箔价格", "up up")]),
    ("因为玉米价格下跌，生猪养殖成本下降。", [one("玉米价格", "生猪养殖成本", "down down")]),
    ("在铜价上涨的背景下，铜箔价格上涨。", [one("铜价格", "铜箔价格", "up up")]),
    ("受益于以旧换新政策，家电销量增长。", [one("以旧换新", "家用电器销量", "none up")]),
    # 受 … 影响, effect behind and in front
    ("受碳酸锂价格下跌影响，磷酸铁锂价格下降。", [one("碳酸锂价格", "磷酸铁锂价格", "down down")]),
    ("受原油价格上涨拖累，航空利润下降。", [one("原油价格", "航空利润", "up down")]),
    ("受降息提振，黄金价格上涨。", [one("降息", "黄金价格", "none up")]),
    ("磷酸铁锂价格受碳酸锂价格下跌影响下降。", [one("碳酸锂价格", "磷酸铁锂价格", "down down")]),
    ("铜箔价格受到铜价上涨推动。", [one("铜价格", "铜箔价格", "up up")]),
    ("光伏玻璃需求受光伏装机下滑拖累。", [one("光伏装机量", "光伏玻璃需求", "down down")]),
    ("金价受降息预期提振。", [one("降息预期", "黄金价格", "none up")]),
    # effect first
    ("光伏玻璃价格下跌，主要由于光伏装机下滑。", [one("光伏装机量", "光伏玻璃价格", "down down")]),
    ("动力电池成本下降，主要受益于碳酸锂价格下跌。", [one("碳酸锂价格", "动力电池成本", "down down")]),
    ("生猪养殖成本下降主要系玉米价格回落。", [one("玉米价格", "生猪养殖成本", "down down")]),
    ("黄金价格上涨，主要原因是降息。", [one("降息", "黄金价格", "none up")]),
    # 对 … 形成 …
    ("生猪产能去化对猪价形成支撑。", [one("生猪产能", "生猪价格", "down up")]),
    ("原油价格上涨对航空利润造成压力。", [one("原油价格", "航空利润", "up down")]),
    ("降息对黄金价格形成利好。", [one("降息", "黄金价格", "none up")]),
    ("光伏装机下滑对光伏玻璃需求形成较大拖累。", [one("光伏装机量", "光伏玻璃需求", "down down")]),
    # lists share the direction that stands behind the last
    (
        "铜价、铝价上涨推高空调成本。",
        [one("铜价格", "空调成本", "up up"), one("铝价格", "空调成本", "up up")],
    ),
    (
        "新能源汽车销量增长拉动碳酸锂需求和铜箔需求增加。",
        [one("新能源汽车销量", "碳酸锂需求", "up up"), one("新能源汽车销量", "铜箔需求", "up up")],
    ),
    (
        "铜价和铝价下跌带动空调成本下降。",
        [one("铜价格", "空调成本", "down down"), one("铝价格", "空调成本", "down down")],
    ),
    # scarce supply is less of it, a price move is the price's
    ("锂矿供给紧张推动碳酸锂价格上涨。", [one("锂矿供给", "碳酸锂价格", "down up")]),
    ("铜矿供应紧缺支撑铜价。", [one("铜精矿供给", "铜价格", "down up")]),
    ("碳酸锂涨价推高动力电池成本。", [one("碳酸锂价格", "动力电池成本", "up up")]),
    ("硅料降价带动光伏装机增长。", [one("硅料价格", "光伏装机量", "down up")]),
    ("光伏玻璃涨价挤压光伏组件毛利率。", [one("光伏玻璃价格", "光伏组件毛利率", "up down")]),
    # a verb in front gives the direction, too
    ("硅料减产推高光伏组件价格。", [one("硅料减产", "光伏组件价格", "none up")]),
    ("降息有助于提升黄金价格。", [one("降息", "黄金价格", "none up")]),
    # what of a product moves: its price, its output
    ("集采导致药品大幅降价。", [one("集采", "药品价格", "none down")]),
    ("集采导致冠脉支架大幅降价。", [one("集采", "冠脉支架价格", "none down")]),
    # a policy for a trade is neither the trade nor its rise
    ("房地产政策宽松带动浮法玻璃需求回升。", [one("房地产政策宽松", "浮法玻璃需求", "none up")]),
    # what eases is less of it
    ("随着加征关税缓解，光伏组件出口增加。", [one("加征关税", "光伏组件出口量", "down up")]),
    # verbs with 了
    ("光伏装机下滑减少了光伏玻璃需求。", [one("光伏装机量", "光伏玻璃需求", "down down")]),
    ("铜价上涨增加了空调成本。", [one("铜价格", "空调成本", "up up")]),
    # once misread
    ("碳酸锂价格下跌推动动力电池成本下降。", [one("碳酸锂价格", "动力电池成本", "down down")]),
    ("碳酸锂价格上涨推升磷酸铁锂价格。", [one("碳酸锂价格", "磷酸铁锂价格", "up up")]),
    ("玉米价格回落有利于生猪养殖成本下降。", [one("玉米价格", "生猪养殖成本", "down down")]),
    ("碳酸锂价格上涨压制储能需求。", [one("碳酸锂价格", "储能需求", "up down")]),
    ("商品房销售面积下滑拖累水泥需求。", [one("商品房销售面积", "水泥需求", "down down")]),
    ("碳酸锂价格回升削弱储能需求增长。", [one("碳酸锂价格", "储能需求", "up down")]),
    (
        "猪价上涨带动能繁母猪存栏增加，从而导致生猪价格下跌。",
        [one("生猪价格", "能繁母猪存栏量", "up up"), one("能繁母猪存栏量", "生猪价格", "up down")],
    ),
    ("受制于商品房销售面积下滑，水泥价格走低。", [one("商品房销售面积", "水泥价格", "down down")]),
    ("水泥需求受商品房销售面积下滑拖累。", [one("商品房销售面积", "水泥需求", "down down")]),
    ("黄金价格受降息预期提振。", [one("降息预期", "黄金价格", "none up")]),
    ("光伏组件毛利率回升，主要系硅料均价下跌。", [one("硅料价格", "光伏组件毛利率", "down up")]),
    ("光伏组件毛利率回升，主要系硅料价格下跌。", [one("硅料价格", "光伏组件毛利率", "down up")]),
    ("水泥价格下跌，主要由于商品房销售面积下滑。", [one("商品房销售面积", "水泥价格", "down down")]),
    ("商品房销售面积下滑对水泥需求形成较大拖累。", [one("商品房销售面积", "水泥需求", "down down")]),
    (
        "玉米价格和豆粕价格下跌带动生猪养殖成本下降。",
        [one("玉米价格", "生猪养殖成本", "down down"), one("豆粕价格", "生猪养殖成本", "down down")],
    ),
    ("碳酸锂价格下跌有助于降低动力电池成本。", [one("碳酸锂价格", "动力电池成本", "down down")]),
    ("铜价上涨带动紫金矿业净利润增长。", [one("铜价格", "紫金矿业净利润", "up up")]),
    ("硅料降价推动隆基绿能毛利率回升。", [one("硅料价格", "隆基绿能毛利率", "down up")]),
    ("碳酸锂涨价抑制了动力电池成本下降。", [one("碳酸锂价格", "动力电池成本", "up up")]),
    # one thing moves as another does
    ("硫酸镍价格跟随镍价上涨。", [one("镍价格", "硫酸镍价格", "up up")]),
    ("纯碱随煤炭价格走低。", [one("煤炭价格", "纯碱价格", "down down")]),
    ("磷酸铁锂价格随碳酸锂价格同步变动。", [one("碳酸锂价格", "磷酸铁锂价格", "none up")]),
    (
        "PTA、涤纶长丝价格，跟随原油价格走低。",
        [one("原油价格", "PTA价格", "down down"), one("原油价格", "涤纶长丝价格", "down down")],
    ),
    # who profits: a trade as a whole, firms in a row with a figure each
    ("电解铝行业受益于新能源汽车需求激增。", [one("新能源汽车需求", "电解铝", "up up")]),
    (
        "比亚迪（+3%）、长城汽车（+2%），受益于汽车销量回升。",
        [one("汽车销量", "比亚迪", "up up"), one("汽车销量", "长城汽车", "up up")],
    ),
    ("光伏板块受降息推动走出独立行情。", [one("降息", "光伏", "none up")]),
    # a day between a firm and its indicator; a figure between an indicator and its movement
    ("伊利股份24Q3毛利率提升，主要系豆粕价格下降。", [one("豆粕价格", "伊利股份毛利率", "down up")]),
    ("铜价从9000美元/吨涨至9800美元/吨，主要系加征关税。", [one("加征关税", "铜价格", "none up")]),
    # the demand of a list is that of each
    (
        "动力电池、储能等领域需求增长带动碳酸锂价格上涨。",
        [one("动力电池需求", "碳酸锂价格", "up up"), one("储能需求", "碳酸锂价格", "up up")],
    ),
    ("煤炭价格降幅扩大带动火电成本下降。", [one("煤炭价格", "火电成本", "down down")]),
    ("煤炭价格下跌带动火电成本优化。", [one("煤炭价格", "火电成本", "down down")]),
    ("国内铝库存低于往年同期支撑铝价。", [one("铝库存", "铝价格", "down up")]),
    ("降息导致黄金价格冲高回落。", [one("降息", "黄金价格", "none down")]),
]


@pytest.mark.parametrize(("text", "expected"), CLAIMS, ids=[text for text, _ in CLAIMS])
def test_causal_claims(text, expected):
    assert rows(text) == set(expected)


def test_a_rising_cost_is_never_told_as_the_company_rising():
    found = rows("碳酸锂涨价导致宁德时代成本上升。")
    assert one("碳酸锂价格", "宁德时代", "up up") not in found


def test_a_move_either_way_has_no_direction():
    assert facts_of("关税导致碳酸锂价格超预期波动。", relation="affects") == []


def test_a_cancelled_cause_moves_the_other_way():
    """The tariff is lifted: that exports rise is not denied."""
    (fact,) = facts_of("美国取消加征关税利好光伏组件出口量增长。", relation="affects")
    assert (fact.polarity, fact.sign) == (Polarity.POSITIVE, -1)


@pytest.mark.parametrize("condition", ["如果", "若", "一旦", "倘若", "假如", "万一", "在消息属实的前提下，如果"])
def test_a_conditional_claim_is_never_an_actual_fact(condition):
    lines = [f"{condition}{text}" for text, _ in CLAIMS[::4]]
    told = [fact for line in lines for fact in facts_of(line, relation="affects")]
    assert len(told) >= len(lines) // 2
    assert {fact.modality for fact in told} == {Modality.CONDITIONAL}


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("2025年8月，制造业需求回升支撑钢铁需求。", True),
        ("铜价上涨推动2025年空调成本上升。", True),
        ("2025年8月汽车销量200万辆，铜价上涨推高空调成本。", False),
        ("螺纹钢库存偏高，2025年8月降幅扩大，汽车需求回升支撑钢铁需求。", False),
    ],
)
def test_a_cause_has_the_period_of_its_own_clause_or_of_the_sentence(text, period):
    assert [fact.valid is not None for fact in facts_of(text, relation="affects")] == [period]


NO_CLAIM = [
    "涨幅主要受益于以旧换新政策利好及动力电池概念驱动。",
    "受降准影响持续、碳酸锂价格上涨等因素影响，期货盘面震荡。",
    "硅光方案需外置激光器作为光源，推动光模块需求增长。",
    "科技发展带动光模块需求增长。",
    "政策推动食品饮料，带动食品添加剂需求增长。",
    "碳酸锂价格下跌，锂辉石价格亦下跌。",
    "碳酸锂价格为7万元/吨。",
    "动力电池需求旺盛，碳酸锂库存下降。",
    "建议关注碳酸锂价格反弹的驱动因素。",
    "宁德时代推动钠离子电池量产。",
    "新能源汽车销量增长，是主要驱动力。",
    "碳酸锂价格上涨主要看需求，动力电池成本另有原因。",
    "公司推动内部改革，提高管理效率。",
    "碳酸锂价格同比下跌20%，环比下跌3%。",
    "该因素导致了不确定性。",
    "我们跟踪降准、降息等政策的影响。",
    "银行板块上涨，白酒板块下跌。",
    "铜价格随机波动。",
    "合金制品受钢材需求走弱影响价格承压。",
    "降准推动电价全面市场化。",
    "白酒行业受加征关税冲击较弱。",
    "加征关税对铜价格冲击有限。",
    "生猪价格随着天气转凉上涨。",
    "产业链（铜价上涨、光伏组件）带动市场情绪。",
]


@pytest.mark.parametrize("text", NO_CLAIM)
def test_what_states_no_cause_gives_no_causal_fact(text):
    assert facts_of(text, relation="affects") == []


@pytest.mark.parametrize(
    "text",
    [
        "碳酸锂价格下跌推动毛利率回升。",
        "由于需求旺盛，价格上涨。",
        "碳酸锂价格上涨，导致毛利率下降。",
        "铜价上涨对业绩造成压力。",
    ],
)
def test_a_bare_indicator_without_an_owner_is_no_factor(text):
    assert facts_of(text, relation="affects") == []


def test_the_report_subject_owns_a_bare_indicator():
    assert rows("硅料价格下跌推动毛利率回升。", codes=("601012.SH",)) == {one("硅料价格", "隆基绿能毛利率", "down up")}


def test_a_firms_own_note_speaks_of_the_firm_beside_a_product():
    assert rows("豆粕价格下降拉动毛利率提升。", codes=("600887.SH",)) == {one("豆粕价格", "伊利股份毛利率", "down up")}


@pytest.mark.parametrize("text", ["电价未随煤炭价格下跌。", "铜需求难支撑铜价。", "铜需求短期难以支撑铜价。"])
def test_what_did_not_follow_or_hardly_can_is_denied(text):
    (fact,) = facts_of(text, relation="affects")
    assert fact.polarity is Polarity.NEGATIVE


def test_a_place_before_the_day_narrows_the_name():
    (fact,) = facts_of("美国7月PPI回升，导致黄金价格下跌。", relation="affects")
    assert fact.qualifier("cause_scope") == "美国"


def test_too_little_capacity_is_not_less_of_it():
    assert facts_of("储能需求增长导致磷酸铁锂产能紧缺。", relation="affects") == []


def test_an_event_that_is_brought_about_happens():
    assert rows("加征关税引发经济衰退。") == {one("加征关税", "经济衰退", "none up")}


def test_the_name_in_front_owns_a_bare_indicator():
    assert rows("由于铜价上涨，空调的毛利率下降。") == {one("铜价格", "空调毛利率", "up down")}


def test_an_understood_owner_counts_for_less_than_a_written_one():
    (understood,) = facts_of("硅料价格下跌推动毛利率回升。", relation="affects", codes=("601012.SH",))
    (written,) = facts_of("硅料价格下跌推动光伏组件毛利率回升。", relation="affects")
    assert understood.confidence < written.confidence


@pytest.mark.parametrize(
    "text",
    [
        "公司发布中报（碳酸锂价格下跌，电池板块毛利率情况见附表），产品结构稳定。",
        "碳酸锂价格下跌（新能源汽车销量仍在增长）带动市场情绪。",
    ],
)
def test_what_stands_aside_in_brackets_is_no_factor(text):
    assert facts_of(text, relation="affects") == []


def test_an_aside_between_cause_and_trigger_does_not_part_them():
    assert rows("碳酸锂均价下跌（本周跌至7万元/吨）推动动力电池成本下降。") == {
        one("碳酸锂价格", "动力电池成本", "down down")
    }


def test_two_sentences_are_never_joined():
    assert facts_of("碳酸锂价格下跌。推动动力电池成本下降的还有工艺。", relation="affects") == []
    assert facts_of("碳酸锂价格下跌；带动力不足。", relation="affects") == []


def test_the_sign_is_the_product_of_the_directions():
    for text, _ in CLAIMS:
        for cause, effect, first, second, sign in rows(text):
            expected = (-1 if first == "down" else 1) * (-1 if second == "down" else 1)
            assert sign == expected, (text, cause, effect)


def test_a_stated_direction_on_both_sides_is_surer_than_none():
    (both,) = facts_of("碳酸锂涨价推动磷酸铁锂价格上涨。", relation="affects")
    (one_side,) = facts_of("碳酸锂涨价推升磷酸铁锂价格。", relation="affects")
    assert both.confidence > one_side.confidence


def test_a_compound_is_about_its_owner():
    reading = read(report("铜价上涨带动净利润增长。", codes=("601899.SH",)))
    effect = next(entity for entity in reading.entities if entity.name == "紫金矿业净利润")
    assert effect.about == "sec:601899.SH"
    assert effect.kind is Kind.INDICATOR


def test_compound_keeps_the_place_of_the_bare_word():
    owner = Ref("product:硅料", Kind.PRODUCT, "硅料", 0, 2)
    bare = Ref("event:减产", Kind.EVENT, "减产", 2, 4)
    made = compound(owner, bare)
    assert (made.name, made.start, made.end, made.about) == ("硅料减产", 2, 4, "product:硅料")
    assert made.score < owner.score
