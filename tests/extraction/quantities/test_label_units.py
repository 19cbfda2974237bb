from __future__ import annotations

import pytest

from extraction.quantities.label_units import read_unit, unit_of

WHOLE = [
    *[
        (text, "元", 1e8)
        for text in ("亿元", "人民币亿元", "亿元人民币", "人民币，亿元", "亿元（人民币）", "亿元（不含税）")
    ],
    *[
        (text, "元", 1e6)
        for text in ("百万元", "人民币百万元", "RMB mn", "RMB mn.", "RMB million", "CNY mn", "百万元RMB")
    ],
    *[(text, "元", 1e6) for text in ("（人民币）百万元", "人民币 百万元", "¥mn", "百万人民币", "以人民币百万元列示")],
    *[
        (text, "元", 1e6)
        for text in ("百万元，每股数据除外", "人民币百万元，除特别注明外", "除特别说明外，单位为人民币百万元")
    ],
    *[(text, "元", 1e3) for text in ("千元", "人民币千元", "千元人民币", "RMB'000", "RMB’000")],
    *[(text, "美元", 1e6) for text in ("百万美元", "美元百万", "US$ million", "US$m", "USD mn", "百万美金")],
    *[(text, "港元", 1e3) for text in ("千港元", "港币千元", "HK$'000", "HKD 000")],
    ("十亿美元", "美元", 1e9),
    ("USD bn", "美元", 1e9),
    ("¥bn", "元", 1e9),
    ("亿日元", "日元", 1e8),
    ("KRW bn", "韩元", 1e9),
    ("万元/吨", "元/吨", 1e4),
    ("人民币元/吨", "元/吨", 1.0),
    ("美元/桶", "美元/桶", 1.0),
    ("元/股", "元/股", 1.0),
    ("%", "%", 1.0),
    ("倍", "倍", 1.0),
    ("x", "倍", 1.0),
    ("个百分点", "pct", 1.0),
    ("万辆", "辆", 1e4),
    ("GWh", "GWh", 1.0),
    ("亿千瓦时", "kWh", 1e8),
    ("千瓦时", "kWh", 1.0),
    ("万片/月", "片/月", 1e4),
    ("亿元，%", "元", 1e8),
    ("百万", "", 1e6),
    ("'000", "", 1e3),
]
NONE = [
    "A股",
    "2025E",
    "m",
    "亿元，美元",
    "亿元或百万美元",
    "百万元和%",
    "亿纬锂能",
    "万科",
    "合并",
    "同比",
    "",
]
LABELS = [
    ("营业收入（人民币亿元）", "营业收入", "元", 1e8),
    ("营业收入(合并)(亿元)", "营业收入(合并)", "元", 1e8),
    ("营业收入/亿元", "营业收入", "元", 1e8),
    ("归母净利润，亿元", "归母净利润", "元", 1e8),
    ("营业收入 百万元", "营业收入", "元", 1e6),
    ("营业收入:亿元", "营业收入", "元", 1e8),
    ("营业收入 / RMB mn", "营业收入", "元", 1e6),
    ("Revenue (US$ mn)", "Revenue", "美元", 1e6),
    ("表 3：财务摘要（单位：人民币亿元）", "表 3：财务摘要", "元", 1e8),
    ("单位：人民币千元", "", "元", 1e3),
    ("金额单位：万元 币种：人民币", "", "元", 1e4),
    ("单位 百万元", "", "元", 1e6),
    ("（单位：亿元，除每股收益外）", "", "元", 1e8),
    ("价格 元/吨", "价格", "元/吨", 1.0),
    ("单价/元/吨", "单价", "元/吨", 1.0),
    ("产量/万吨", "产量", "吨", 1e4),
    ("EPS/元", "EPS", "元", 1.0),
    ("毛利率%", "毛利率", "%", 1.0),
    ("毛利率（%）", "毛利率", "%", 1.0),
    ("总市值(亿)", "总市值", "", 1e8),
    ("市值（亿元，6月30日）", "市值（6月30日）", "元", 1e8),
]


@pytest.mark.parametrize(("text", "unit", "factor"), WHOLE)
def test_the_words_of_a_unit_are_understood_as_a_whole(text, unit, factor):
    found = read_unit(text)
    assert found is not None
    assert (found.unit, found.factor) == (unit, factor)


@pytest.mark.parametrize("text", NONE)
def test_what_is_not_understood_is_no_unit(text):
    assert read_unit(text) is None


@pytest.mark.parametrize(("label", "rest", "unit", "factor"), LABELS)
def test_a_label_is_split_from_its_unit(label, rest, unit, factor):
    found = unit_of(label)
    assert found.unit is not None
    assert (found.rest, found.unit.unit, found.unit.factor) == (rest, unit, factor)


@pytest.mark.parametrize(
    "label", ["收入（亿元及百万美元）", "单位：亿元/百万美元", "单位：亿元，美元", "产量（万吨、百万元）"]
)
def test_words_of_money_that_are_not_understood_are_unclear(label):
    assert unit_of(label).unit is None
    assert unit_of(label).unclear


@pytest.mark.parametrize("label", ["公司（万科）", "产量/吨", "营业收入", "2024A（预测）", "注" * 200])
def test_other_labels_have_no_unit(label):
    assert unit_of(label).unit is None
    assert not unit_of(label).unclear
