from __future__ import annotations

import pytest

from kg.model import Fact, Modality
from kg.settings import Settings
from tests.goldens.reports import facts_of, names_of, read, report

Row = tuple[str, str, float, str, str, str]


def rows(*lines: str, **about: object) -> set[Row]:
    """(subject, indicator, number, unit, change, period) of every measured fact."""
    reading = read(report(*lines, **about))  # type: ignore[arg-type]
    names = names_of(reading)
    return {_row(fact, names) for fact in reading.facts if fact.relation == "reports"}


def _row(fact: Fact, names: dict[str, str]) -> Row:
    value = fact.value
    assert value is not None
    period = str(fact.valid) if fact.valid else ""
    return names[fact.subject], names[fact.object], value.number, value.unit, value.change, period


CLAIMS: list[tuple[str, list[Row]]] = [
    # level, change, level + change
    ("宁德时代2024年营业收入3620亿元。", [("宁德时代", "营业收入", 3620e8, "元", "", "2024")]),
    ("宁德时代2024年实现营收3620亿元。", [("宁德时代", "营业收入", 3620e8, "元", "", "2024")]),
    # the bracket right behind a figure dates it
    ("宁德时代营业收入3620亿元（2024年）。", [("宁德时代", "营业收入", 3620e8, "元", "", "2024")]),
    ("2024年宁德时代营业收入为3620亿元。", [("宁德时代", "营业收入", 3620e8, "元", "", "2024")]),
    ("比亚迪2024年毛利率为19.4%。", [("比亚迪", "毛利率", 19.4, "%", "", "2024")]),
    ("比亚迪2024年毛利率同比提升2个百分点。", [("比亚迪", "毛利率", 2.0, "pct", "yoy", "2024")]),
    ("贵州茅台2024年归母净利润同比增长15.4%。", [("贵州茅台", "归母净利润", 15.4, "%", "yoy", "2024")]),
    ("五粮液2024年净利润同比下滑2.3%。", [("五粮液", "净利润", -2.3, "%", "yoy", "2024")]),
    ("宁德时代2025年上半年净利润305亿元。", [("宁德时代", "净利润", 305e8, "元", "", "2025H1")]),
    ("宁德时代25Q2营收942亿元。", [("宁德时代", "营业收入", 942e8, "元", "", "2025Q2")]),
    ("宁德时代2024年研发费用186亿元。", [("宁德时代", "研发费用", 186e8, "元", "", "2024")]),
    ("招商银行2024年净息差1.98%。", [("招商银行", "净息差", 1.98, "%", "", "2024")]),
    (
        "宁德时代2024年营业收入3620亿元，同比-9.7%；归母净利润507亿元，同比+15%。",
        [
            ("宁德时代", "营业收入", 3620e8, "元", "", "2024"),
            ("宁德时代", "营业收入", -9.7, "%", "yoy", "2024"),
            # the next sentence of the paragraph goes on about the same firm and year
            ("宁德时代", "归母净利润", 507e8, "元", "", "2024"),
            ("宁德时代", "归母净利润", 15.0, "%", "yoy", "2024"),
        ],
    ),
    # compound indicators are their product's
    ("2024年光伏组件价格跌至0.7元/W。", [("光伏组件", "光伏组件价格", 0.7, "元/W", "", "2024")]),
    ("7月动力电池产量为133GWh。", [("动力电池", "动力电池产量", 133.0, "GWh", "", "2025-07")]),
    ("铜价报80000元/吨。", [("铜", "铜价格", 80000.0, "元/吨", "", "")]),
    ("2024年新能源汽车销量达到1286万辆。", [("新能源汽车", "新能源汽车销量", 12860000.0, "辆", "", "2024")]),
    ("2025年6月电解铝产量360万吨。", [("电解铝", "电解铝产量", 3600000.0, "吨", "", "2025-06")]),
    ("碳酸锂均价为7.5万元/吨。", [("碳酸锂", "碳酸锂价格", 75000.0, "元/吨", "", "")]),
    # a note of Wednesday reports on the week before
    ("本周碳酸锂均价环比下跌2.5%。", [("碳酸锂", "碳酸锂价格", -2.5, "%", "wow", "2025-W33")]),
    (
        "贵州茅台2024年营业收入1741亿元，同比+15.7%。",
        [("贵州茅台", "营业收入", 1741e8, "元", "", "2024"), ("贵州茅台", "营业收入", 15.7, "%", "yoy", "2024")],
    ),
    (
        "贵州茅台2024年营业收入1741亿元（+15.7%）。",
        [("贵州茅台", "营业收入", 1741e8, "元", "", "2024"), ("贵州茅台", "营业收入", 15.7, "%", "change", "2024")],
    ),
    ("天赐材料电解液产能达到85万吨。", [("天赐材料", "电解液产能", 850000.0, "吨", "", "")]),
    # a company's own figure of a product
    ("- 中国神华：2024年煤炭产量3.27亿吨。", [("中国神华", "煤炭产量", 3.27e8, "吨", "", "2024")]),
    # the first of two levels was true before
    # ranges
    ("碳酸锂均价在7-8万元/吨。", [("碳酸锂", "碳酸锂价格", 70000.0, "元/吨", "", "")]),
    # once misread
    (
        "宁德时代2024年营业收入3620亿元，归母净利润507亿元。",
        [("宁德时代", "营业收入", 3620e8, "元", "", "2024"), ("宁德时代", "归母净利润", 507e8, "元", "", "2024")],
    ),
    (
        "贵州茅台2024年营业收入1741亿元，同比增长15.7%。",
        [
            ("贵州茅台", "营业收入", 1741e8, "元", "", "2024"),
            ("贵州茅台", "营业收入", 15.7, "%", "yoy", "2024"),
        ],
    ),
    (
        "隆基绿能2024年归母净利润-86亿元，同比下降180%。",
        [
            ("隆基绿能", "归母净利润", -86e8, "元", "", "2024"),
            ("隆基绿能", "归母净利润", -180.0, "%", "yoy", "2024"),
        ],
    ),
    (
        "比亚迪2024年毛利率19.4%，同比提升2.1个百分点。",
        [("比亚迪", "毛利率", 19.4, "%", "", "2024"), ("比亚迪", "毛利率", 2.1, "pct", "yoy", "2024")],
    ),
    ("碳酸锂价格为7.5万元/吨。", [("碳酸锂", "碳酸锂价格", 75000.0, "元/吨", "", "")]),
    (
        "2024年新能源汽车销量达到1286万辆，同比增长35.5%。",
        [
            ("新能源汽车", "新能源汽车销量", 12860000.0, "辆", "", "2024"),
            ("新能源汽车", "新能源汽车销量", 35.5, "%", "yoy", "2024"),
        ],
    ),
    ("本周碳酸锂价格环比下跌2.5%。", [("碳酸锂", "碳酸锂价格", -2.5, "%", "wow", "2025-W33")]),
    ("比亚迪2024年毛利率从17%提升至19%。", [("比亚迪", "毛利率", 19.0, "%", "", "2024")]),
    ("碳酸锂价格在7-8万元/吨。", [("碳酸锂", "碳酸锂价格", 70000.0, "元/吨", "", "")]),
    (
        "贵州茅台2024年营业收入1741亿元，同比增速15.7%。",
        [("贵州茅台", "营业收入", 1741e8, "元", "", "2024"), ("贵州茅台", "营业收入", 15.7, "%", "yoy", "2024")],
    ),
]


@pytest.mark.parametrize(("text", "expected"), CLAIMS, ids=[text for text, _ in CLAIMS])
def test_measured_claims(text, expected):
    assert rows(text) == set(expected)


def test_a_range_keeps_both_ends():
    (fact,) = facts_of("碳酸锂均价在7-8万元/吨。", relation="reports")
    assert fact.value is not None
    assert (fact.value.number, fact.value.high) == (70000.0, 80000.0)


def test_the_scale_is_kept_beside_the_base_unit():
    (fact,) = facts_of("宁德时代2024年营业收入3620亿元。", relation="reports")
    assert fact.value is not None
    assert (fact.value.number, fact.value.scale) == (3620e8, "亿")


@pytest.mark.parametrize(
    ("text", "basis"),
    [
        ("宁德时代2024年归母净利润507亿元。", "归母"),
        ("宁德时代2024年扣非归母净利润450亿元。", "扣非"),
        ("宁德时代2024年净利润540亿元。", ""),
    ],
)
def test_the_basis_of_a_profit(text, basis):
    (fact,) = facts_of(text, relation="reports")
    assert fact.value is not None
    assert fact.value.basis == basis


# ── lists ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "预计宁德时代2025-2027年归母净利润分别为650/780/900亿元。",
        "预计宁德时代2025-2027年归母净利润分别为650亿元、780亿元、900亿元。",
        "预计宁德时代2025/2026/2027年归母净利润分别为650/780/900亿元。",
    ],
)
def test_a_list_over_years_is_one_fact_a_year(text):
    assert rows(text) == {
        ("宁德时代", "归母净利润", 650e8, "元", "", "2025"),
        ("宁德时代", "归母净利润", 780e8, "元", "", "2026"),
        ("宁德时代", "归母净利润", 900e8, "元", "", "2027"),
    }


def test_forecasts_over_years_are_forecasts():
    found = facts_of("预计宁德时代2025-2027年归母净利润分别为650/780/900亿元。", relation="reports")
    assert {fact.modality for fact in found} == {Modality.FORECAST}


def test_a_list_that_does_not_fit_its_years_is_left_alone():
    assert rows("预计宁德时代2025-2027年归母净利润分别为650/780亿元。") == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "宁德时代和比亚迪2024年净利润分别为507亿元和403亿元。",
            {("宁德时代", "净利润", 507e8, "元", "", "2024"), ("比亚迪", "净利润", 403e8, "元", "", "2024")},
        ),
        (
            "硅料、硅片价格分别为40和1.1元/W。",
            {("硅料", "硅料价格", 40.0, "元/W", "", ""), ("硅片", "硅片价格", 1.1, "元/W", "", "")},
        ),
        (
            "2024年比亚迪营业收入、归母净利润增速分别为29.0%、34.0%。",
            {
                ("比亚迪", "营业收入", 29.0, "%", "change", "2024"),
                ("比亚迪", "归母净利润", 34.0, "%", "change", "2024"),
            },
        ),
        (
            "预计2025-2027年动力电池出货量分别为1200/1400/1600GWh，同比增长20%/17%/14%。",
            {
                ("动力电池", "动力电池出货量", float(level), "GWh", "", str(year))
                for level, year in ((1200, 2025), (1400, 2026), (1600, 2027))
            }
            | {
                ("动力电池", "动力电池出货量", float(change), "%", "yoy", str(year))
                for change, year in ((20, 2025), (17, 2026), (14, 2027))
            },
        ),
    ],
)
def test_a_list_over_names_or_indicators_is_paired_with_them(text, expected):
    assert rows(text) == expected


@pytest.mark.parametrize(
    "text", ["宁德时代、比亚迪净利润分别为507/403/12亿元。", "预计比亚迪和多家同行净利润分别为507/403/12亿元。"]
)
def test_a_list_that_does_not_fit_its_names_is_left_alone(text):
    assert rows(text) == set()


# ── whose it is ──────────────────────────────────────────────────────────────────────────────────────────────────────

REVENUE = ("宁德时代", "营业收入", 3620e8, "元", "", "2024")


def test_the_subject_of_a_lead_in():
    assert rows("- 宁德时代：2024年营业收入3620亿元。") == {REVENUE}


def test_the_subject_of_a_heading():
    assert rows("# 宁德时代", "2024年营业收入3620亿元。") == {REVENUE}


def test_the_subject_of_the_report():
    assert rows("2024年营业收入3620亿元。", codes=("300750.SZ",)) == {REVENUE}


def test_the_subject_of_the_title():
    assert rows("2024年营业收入3620亿元。", title="宁德时代2024年年报点评") == {REVENUE}


def test_a_company_named_again_under_its_own_title_is_as_sure_as_without():
    lines = ("宁德时代2024年归母净利润507亿元。",)
    confidence = [
        fact.confidence
        for title in ("宁德时代2024年年报点评", "电池周报")
        for fact in read(report(*lines, title=title)).facts
    ]
    assert confidence[0] == confidence[1] > Settings().answer_confidence


def test_the_next_period_of_a_figure_may_be_realised():
    assert rows("比亚迪2024年营业收入7771亿元，25Q1实现1704亿元。") == {
        ("比亚迪", "营业收入", 7771e8, "元", "", "2024"),
        ("比亚迪", "营业收入", 1704e8, "元", "", "2025Q1"),
    }


def test_the_company_word_is_the_subject_of_the_report():
    assert rows("公司2024年营业收入3620亿元。", codes=("300750.SZ",)) == {REVENUE}


def test_without_a_subject_there_is_no_fact():
    assert rows("2024年营业收入3620亿元。") == set()


def test_a_written_subject_goes_before_the_report_s():
    assert rows("比亚迪2024年营业收入7771亿元。", codes=("300750.SZ",)) == {
        ("比亚迪", "营业收入", 7771e8, "元", "", "2024")
    }


def test_an_understood_subject_counts_for_less():
    (understood,) = facts_of("2024年营业收入3620亿元。", relation="reports", codes=("300750.SZ",))
    (written,) = facts_of("宁德时代2024年营业收入3620亿元。", relation="reports")
    assert understood.confidence < written.confidence


def test_a_company_s_own_capacity_is_not_the_product_s():
    """天赐材料's capacity is no figure of the whole trade."""
    assert ("电解液", "电解液产能", 850000.0, "吨", "", "") not in rows("天赐材料电解液产能达到85万吨。")


def test_a_stake_is_not_reported_of_the_company_it_is_held_in():
    assert facts_of("长江电力对湖北能源的持股比例为28%。", relation="reports") == []


# ── macro indicators ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_macro_indicator_belongs_to_the_region_named_before_it():
    assert rows("美国7月CPI同比上涨2.7%。") == {("美国", "CPI", 2.7, "%", "yoy", "2025-07")}


def test_a_macro_indicator_belongs_to_the_region_of_its_heading():
    assert rows("# 美国经济", "7月CPI同比上涨2.7%。") == {("美国", "CPI", 2.7, "%", "yoy", "2025-07")}


def test_a_macro_indicator_never_belongs_to_the_company_of_the_report():
    assert rows("7月CPI同比上涨2.7%。", codes=("300750.SZ",)) == set()


def test_a_macro_indicator_without_a_region_is_nobodys():
    assert rows("7月CPI同比上涨2.7%。") == set()


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "宁德时代2024年毛利率为25亿元。",
        "宁德时代2024年营业收入达到300万吨。",
        "宁德时代2024年研发费用为3座。",
        "碳酸锂价格为5万吨。",
    ],
)
def test_a_unit_that_the_indicator_is_never_measured_in_is_refused(text):
    assert rows(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "宁德时代营业收入结构优化，海外工厂投资73亿元。",
        "宁德时代关注毛利率，公司拥有员工13万人。",
        "宁德时代2024年营业收入。",
        "宁德时代净利润和比亚迪的扩产计划共涉及300亿元。",
    ],
)
def test_a_number_that_belongs_to_something_else_is_left_alone(text):
    assert rows(text) == set()


# ── certainty and time ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("宁德时代2024年营业收入3620亿元。", Modality.ASSERTED),
        ("预计宁德时代2026年营业收入5000亿元。", Modality.FORECAST),
        ("宁德时代2026年营业收入有望达到5000亿元。", Modality.FORECAST),
        ("若碳酸锂均价为6万元/吨，外购矿石企业将亏损。", Modality.CONDITIONAL),
        ("据传宁德时代2025年净利润为700亿元。", Modality.RUMOURED),
    ],
)
def test_the_certainty_of_a_measured_fact(text, modality):
    found = facts_of(text, relation="reports")
    assert [fact.modality for fact in found] == [modality]


def test_the_period_of_an_earlier_sentence_of_the_paragraph_is_understood():
    found = rows("宁德时代2024年营业收入3620亿元。宁德时代归母净利润507亿元。")
    assert ("宁德时代", "归母净利润", 507e8, "元", "", "2024") in found


def test_a_comparison_does_not_date_the_claim():
    found = rows("宁德时代2024年毛利率为24.4%，较2023年提升1.5个百分点。")
    assert ("宁德时代", "毛利率", 24.4, "%", "", "2024") in found
    assert not any(period == "2023" for *_, period in found)


@pytest.mark.parametrize(
    "text",
    [
        "6月出口均价为3085元/吨。",  # 出口 names nobody
        "其他地区销量增长42%。",
        "FY26经调利润6.4亿美元。",
        "板块PB估值为0.6倍。",
        "剔除贵州茅台后，2025年上半年营收1457亿元。",  # of the others
        "食品饮料行业CR5（前五企业市占率）为28%。",  # the first five together
    ],
)
def test_a_figure_that_nobody_can_be_said_to_have_is_not_stored(text):
    found = [fact for fact in facts_of(text) if fact.relation == "reports"]
    assert not [fact for fact in found if fact.confidence >= Settings().min_confidence]


def test_what_stands_before_a_name_narrows_its_figure():
    narrowed = {
        "2025年5月中国大陆智能手机出货量3亿部。": "中国大陆",
        "2024年中国智能手机出货量3亿部。": "中国",
        "2025年5月LME锌库存38025吨。": "LME",
        "2025年5月钢材社会库存963万吨。": "社会",
        "自主研发网络游戏海外销售收入95亿美元。": "海外",
    }
    for text, scope in narrowed.items():
        facts = [fact for fact in facts_of(text) if fact.relation == "reports"]
        assert [dict(fact.qualifiers).get("scope") for fact in facts] == [scope], text


def test_what_is_added_to_a_stock_is_not_the_stock():
    assert rows("2025年上半年火电新增装机容量2578万千瓦。") == {
        ("火电", "火电新增装机容量", 25780000.0, "kW", "", "2025H1")
    }


def test_a_change_behind_a_share_is_neither_s():
    assert not [row for row in rows("碳酸锂2025年出口额28.8亿元，占欧洲市场42%，同比下降8%。") if row[4] == "yoy"]


@pytest.mark.parametrize(
    "text",
    [
        "2025年5月国内独立焦化厂（全样本）焦炭库存63.8万吨。",  # the phrase goes on before the bracket
        "宁德时代动力电池收入200亿元，毛利率35%。",  # the product's or the firm's
        "关注宁德时代（2024年研发投入542亿元，储能系统毛利率36.7%）。",  # the firm's own
        "动力煤企业毛利率25%，炼焦煤企业毛利率32%；净利率9.6%。",  # the whole trade's, or the last one's
    ],
)
def test_a_doubtful_owner_is_less_sure_than_what_is_stored(text):
    facts = [fact for fact in facts_of(text) if fact.relation == "reports"]
    assert facts[-1].confidence < Settings().min_confidence
