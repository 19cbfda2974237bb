import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.certainty.modality import CUES, NEGATIONS, is_risk_heading, read_modality, speaker_of
from kg.model import Modality, Polarity

ASSERTED, PLANNED, FORECAST = Modality.ASSERTED, Modality.PLANNED, Modality.FORECAST
CONDITIONAL, RUMOURED = Modality.CONDITIONAL, Modality.RUMOURED


def read(marked: str):
    """Read a sentence in which 【…】 marks the claim."""
    start = marked.index("【")
    end = marked.index("】") - 1
    return read_modality(marked.replace("【", "").replace("】", ""), start, end)


MODALITIES = [
    ("公司【收购乙公司】", ASSERTED),
    ("2024年公司实现【收入10亿元】", ASSERTED),
    ("公司是全球龙头，【主营光伏组件】", ASSERTED),
    # forecasts
    ("预计【需求增长5%】", FORECAST),
    ("预计2025年【收入100亿元】", FORECAST),
    ("我们认为【需求将增长】", FORECAST),
    ("我们预计公司2025-2027年【净利润为1/2/3亿元】", FORECAST),
    ("公司有望【受益于涨价】", FORECAST),
    ("价格或将【回升】", FORECAST),
    ("公司或【受益于涨价】", FORECAST),
    ("需求将【快速增长】", FORECAST),
    ("公司可能【受益于涨价】", FORECAST),
    ("对应2025E【市盈率25倍】", FORECAST),
    ("展望明年，【需求回暖】", FORECAST),
    ("我们预计：【需求回暖】", FORECAST),
    ("预计需求回暖，【价格上涨】", FORECAST),
    ("预计需求回暖，价格上涨，【盈利修复】", FORECAST),
    ("预计2025年收入100亿元，2026年【收入120亿元】", FORECAST),
    ("预计2025年收入100亿元，2026年实现【收入120亿元】", FORECAST),
    ("价格料将【回升】", FORECAST),
    ("分析师认为【价格见底】", FORECAST),
    ("期待【需求回暖】", FORECAST),
    ("铁水产量或【回落】", FORECAST),
    ("煤炭或焦炭【价格上涨】", ASSERTED),
    ("值得期待的【新品】", ASSERTED),
    ("电价存在【长期上涨空间】", FORECAST),
    ("引发市场对【支出放缓】的担忧", ASSERTED),
    ("引发市场对【支出放缓的担忧】", FORECAST),
    ("市场担忧【需求下滑】", FORECAST),
    ("市场担忧缓解，【金价下跌】", ASSERTED),
    # the forecast ends where the past begins
    ("预计需求回暖，公司已【完成扩产】", ASSERTED),
    ("预计2025年收入100亿元，2024年实现【收入80亿元】", ASSERTED),
    ("我们认为公司是龙头，2024年实现【收入80亿元】", ASSERTED),
    ("预计需求回暖。公司【主营光伏组件】", ASSERTED),
    ("预计需求回暖；公司【主营光伏组件】", ASSERTED),
    ("业绩超预期，【收入增长5%】", ASSERTED),
    ("业绩不及预期，【收入下滑5%】", ASSERTED),
    ("业绩符合预期，【收入增长5%】", ASSERTED),
    # plans
    ("公司拟【收购乙公司】", PLANNED),
    ("公司计划【投资10亿元】", PLANNED),
    ("公司有意【收购乙公司】", PLANNED),
    ("公司正筹划【收购乙公司】", PLANNED),
    ("公司打算【收购乙公司】", PLANNED),
    ("公司将【收购乙公司】", PLANNED),
    ("项目将于2026年【投产】", PLANNED),
    ("公司规划建设【10GW产能】", PLANNED),
    ("公司即将【发布新品】", PLANNED),
    ("公司拟收购乙公司，并【投资10亿元】", PLANNED),
    ("公司拟收购乙公司，乙公司【主营光伏组件】", ASSERTED),
    ("公司发布股权激励计划，【收入增长5%】", ASSERTED),
    ("公司模拟【光学系统】", ASSERTED),
    ("公司将产品【应用于汽车】", ASSERTED),
    # conditions, on both sides
    ("若【原料价格上涨】，则公司盈利承压", CONDITIONAL),
    ("若原料价格上涨，则【公司盈利承压】", CONDITIONAL),
    ("若原料价格上涨，公司盈利承压，【股价下跌】", CONDITIONAL),
    ("如果【需求回暖】，价格将上涨", CONDITIONAL),
    ("万一需求回落，【价格将下跌】", CONDITIONAL),
    ("只要需求回暖，【价格就会上涨】", CONDITIONAL),
    ("倘若需求回暖，公司已扩产，【盈利修复】", CONDITIONAL),
    ("除非需求回暖，【价格难以上涨】", CONDITIONAL),
    ("若获批，公司拟【收购乙公司】", CONDITIONAL),
    ("我们认为，若需求回暖，【盈利修复】", CONDITIONAL),
    ("如果需求回暖，【价格将上涨】", CONDITIONAL),
    ("一旦【关税落地】，出口将承压", CONDITIONAL),
    ("一旦关税落地，【出口将承压】", CONDITIONAL),
    ("假如【关税落地】，出口将承压", CONDITIONAL),
    ("在需求回暖的情况下，【价格将上涨】", CONDITIONAL),
    ("在【需求回暖】的情况下，价格将上涨", CONDITIONAL),
    ("公司将提价，如果【原料上涨】", CONDITIONAL),
    ("【公司将提价】，如果原料上涨", CONDITIONAL),
    ("【公司业绩稳健】，若需求回暖，盈利将修复", ASSERTED),
    ("预计若需求回暖，【价格上涨5%】", CONDITIONAL),
    ("公司拟在获批后收购，若【交易完成】，持股升至51%", CONDITIONAL),
    ("若干企业【扩产】", ASSERTED),
    ("例如公司【扩产】", ASSERTED),
    ("若需求回暖，盈利将修复。公司【主营光伏组件】", ASSERTED),
    # rumours
    ("市场传言【甲公司收购乙公司】", RUMOURED),
    ("据传【甲公司收购乙公司】", RUMOURED),
    ("网传【甲公司裁员】", RUMOURED),
    ("据报道，【甲公司收购乙公司】", RUMOURED),
    ("据路透社报道，【甲公司将收购乙公司】", RUMOURED),
    ("消息称【甲公司拟收购乙公司】", RUMOURED),
    ("有消息称如果获批，【甲公司将收购乙公司】", RUMOURED),
    ("公司否认【收购乙公司】的传言", RUMOURED),
    ("知情人士透露，【甲公司收购乙公司】", RUMOURED),
]


@pytest.mark.parametrize(("marked", "modality"), MODALITIES)
def test_modality(marked, modality):
    assert read(marked).modality is modality


NEGATIVE = [
    "公司并未【收购乙公司】", "公司没有【收购乙公司】", "公司未【收购乙公司】", "公司尚未【收购乙公司】",
    "公司不【生产该产品】", "公司不再【供应电池】", "公司终止【收购乙公司】", "公司取消【收购乙公司】",
    "公司无【收购计划】", "公司暂无【收购计划】", "公司未能【完成收购】", "公司无法【完成收购】",
    "【收购乙公司】终止", "【收购】事项已终止", "【项目】被取消", "并非由甲公司【供应】", "公司否认【收购乙公司】",
    "公司澄清【与乙公司合作】的传言", "【与乙公司合作】的消息不属实", "公司辟谣：【未与乙公司合作】",
    "公司从未【与乙公司合作】", "公司放弃【收购乙公司】", "公司停止【供应电池】", "若公司未【获批】，则业绩承压",
    "公司拟终止【收购乙公司】",
]  # fmt: skip


@pytest.mark.parametrize("marked", NEGATIVE)
def test_negative(marked):
    assert read(marked).polarity is Polarity.NEGATIVE


REACH = [
    # a negation holds in its clause and before its claim, not beyond
    ("公司并未收购乙公司，但【收购丙公司】", Polarity.POSITIVE),
    ("公司尚未盈利，【收入增长5%】", Polarity.POSITIVE),
    ("公司终止与乙公司的合作，【收购丙公司】", Polarity.POSITIVE),
    ("公司无重大诉讼，【经营正常】", Polarity.POSITIVE),
    ("公司不再生产旧品，转而【生产新品】", Polarity.POSITIVE),
    ("公司否认传闻，称并未【收购乙公司】", Polarity.NEGATIVE),
    ("截至目前公司尚未与乙公司【签署协议】", Polarity.NEGATIVE),
    ("双方合作已终止，公司不再【供货】", Polarity.NEGATIVE),
]


@pytest.mark.parametrize(("marked", "polarity"), REACH)
def test_the_reach_of_a_negation(marked, polarity):
    assert read(marked).polarity is polarity


POSITIVE = [
    "公司不断【扩产】", "公司不仅【供应电池】", "不少企业【扩产】", "不锈钢企业【扩产】", "未来公司【扩产】",
    "无人机企业【扩产】", "无锡公司【扩产】", "非银板块【上涨】", "业绩不及预期，【收入增长】",
    "增速不低于5%，【收入增长】", "占比不超过5%的公司【扩产】", "无疑公司【扩产】", "无论如何公司【扩产】",
    "公司不得不【扩产】", "公司无不【扩产】", "未盈利的企业【收购乙公司】", "公司【收购乙公司】",
    "公司不是出售，而是【收购乙公司】", "公司未出售丙公司，但【收购乙公司】", "不同公司【扩产】",
    "公司不足五年【上市】", "不良率【下降】", "无线业务【增长】", "公司未必【扩产】", "公司不排除【扩产】",
    "不确定性【上升】", "公司不止【扩产】", "终端【回暖】",
]  # fmt: skip


@pytest.mark.parametrize("marked", POSITIVE)
def test_positive(marked):
    assert read(marked).polarity is Polarity.POSITIVE


@pytest.mark.parametrize(
    ("marked", "hedge"),
    [
        ("公司可能【扩产】", True), ("公司有望【扩产】", True), ("不排除【扩产】", True),
        ("公司或将【扩产】", True), ("公司拟【扩产】", False), ("公司【扩产】", False), ("预计【增长5%】", False),
    ],
)  # fmt: skip
def test_hedges(marked, hedge):
    assert read(marked).hedge is hedge


def test_the_cue_that_decided_is_reported():
    assert read("公司拟【收购乙公司】").cue == "拟"
    assert read("公司并未【收购乙公司】").cue == "并未"
    assert read("公司【收购乙公司】").cue == ""


@pytest.mark.parametrize("cue", CUES, ids=lambda cue: cue.name)
def test_every_cue_reads_its_example(cue):
    found = read_modality(cue.example, len(cue.example) - 1, len(cue.example))
    assert found.modality is cue.modality


@pytest.mark.parametrize(("name", "example"), [(name, example) for name, _, example in NEGATIONS])
def test_every_negation_reads_its_example(name, example):
    assert read_modality(example, len(example) - 2, len(example)).polarity is Polarity.NEGATIVE, name


@pytest.mark.parametrize(
    ("heading", "risk"),
    [
        ("风险提示", True), ("五、风险提示：", True), ("主要风险", True), ("风险因素", True), ("七、风险", True),
        ("投资风险", True), ("风险偏好回升", False), ("抗风险能力", False), ("低风险", False), ("行业概况", False),
        ("风险管理业务", False),
    ],
)  # fmt: skip
def test_risk_headings(heading, risk):
    assert is_risk_heading(heading) is risk


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("需求回暖", "甲证券"),
        ("我们认为需求回暖", "甲证券"),
        ("根据中汽协数据，销量增长5%", "中汽协"),
        ("据国家统计局数据，产量增长5%", "国家统计局"),
        ("据SMM统计，产量增长5%", "SMM"),
        ("IDC预计出货量增长5%", "IDC"),
        ("公司公告，收到订单10亿元", "公司"),
        ("公司表示，订单饱满", "公司"),
        ("公司预计收入增长5%", "公司"),
        ("美联储表示，将维持利率", "美联储"),
        ("需求预计增长5%", "甲证券"),
        ("数据显示，需求增长5%", "甲证券"),
        ("据乘联会最新数据，销量增长5%", "乘联会"),
        ("管理层表示，订单饱满", "管理层"),
    ],
)
def test_speaker(text, speaker):
    assert speaker_of(text, "甲证券") == speaker


PIECES = [
    "若", "则", "，", "。", "预计", "拟", "不", "未", "否认", "传言", "公司", "将", "收购", "的", "据", "表示",
    "2024年", "实现", "已", "的情况下", "计划", "没有", "如果", "一旦", "20", "E",
]  # fmt: skip
SENTENCES = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(PIECES), max_size=60).map("".join))


@given(SENTENCES, st.data())
def test_any_span_of_any_text_has_a_reading(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    found = read_modality(text, start, end)
    assert found == read_modality(text, start, end)
    assert isinstance(found.hedge, bool)
    assert speaker_of(text, "甲证券")


CONDITIONS = st.sampled_from(["若", "如果", "一旦", "假如", "倘若"])
CLAUSES = st.sampled_from(
    ["需求回暖", "公司已扩产", "2024年实现增长", "价格将上涨", "公司拟收购乙公司", "预计增长5%", "并未扩产"]
)


@given(CONDITIONS, st.lists(CLAUSES, min_size=2, max_size=5), st.data())
def test_a_conditional_is_never_asserted(condition, clauses, data):
    text = condition + "，".join(clauses)
    chosen = data.draw(st.integers(0, len(clauses) - 1))
    start = len(condition) + sum(len(clause) + 1 for clause in clauses[:chosen])
    assert read_modality(text, start, start + len(clauses[chosen])).modality is CONDITIONAL


@pytest.mark.parametrize("piece", ["若", "不", "据", "，", "公司", "预计，", "的", "拟", "如果", "2024年", "无"])
def test_time_is_linear_in_the_length(piece):
    def seconds(count: int) -> float:
        text = piece * count
        begun = time.process_time()
        read_modality(text, len(text) // 2, len(text) // 2 + 1)
        speaker_of(text, "甲证券")
        return time.process_time() - begun

    seconds(10)
    assert min(seconds(4000) for _ in range(3)) < 25 * max(min(seconds(400) for _ in range(3)), 2e-3)
