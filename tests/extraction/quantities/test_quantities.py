import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.quantities.change import KINDS, Place, read_change
from extraction.quantities.numerals import WORDS
from extraction.quantities.reader import align, basis_of, bound_of, find_lists, find_quantities
from extraction.text.sentences import normalise
from kg.model import Problem
from kg.period import year

ONE = [
    # money and scales
    ("收入9.45亿元", "9.45亿元", 9.45e8, "元", ""),
    ("收入9.45亿", "9.45亿", 9.45e8, "", ""),
    ("收入1,234.5万元", "1,234.5万元", 1.2345e7, "元", ""),
    ("市值1.2万亿元", "1.2万亿元", 1.2e12, "元", ""),
    ("交易额156亿美元", "156亿美元", 1.56e10, "美元", ""),
    ("交易额5亿美金", "5亿美金", 5e8, "美元", ""),
    ("募资89亿港元", "89亿港元", 8.9e9, "港元", ""),
    ("募资89亿港币", "89亿港币", 8.9e9, "港元", ""),
    ("投资3亿人民币", "3亿人民币", 3e8, "元", ""),
    ("投资3亿元人民币", "3亿元人民币", 3e8, "元", ""),
    ("每股1.23元", "1.23元", 1.23, "元", ""),
    ("归母净利润为-1.2亿元", "-1.2亿元", -1.2e8, "元", ""),
    ("归母净利润亏损1.2亿元", "1.2亿元", -1.2e8, "元", ""),
    ("价格3500元/吨", "3500元/吨", 3500.0, "元/吨", ""),
    ("价格7.5万元/吨", "7.5万元/吨", 75000.0, "元/吨", ""),
    ("油价65美元/桶", "65美元/桶", 65.0, "美元/桶", ""),
    ("单价0.55元/ Wh", "0.55元/ Wh", 0.55, "元/Wh", ""),
    ("单价0.4元/千瓦时", "0.4元/千瓦时", 0.4, "元/kWh", ""),
    ("revenue US$5bn", "US$5bn", 5e9, "美元", ""),
    ("revenue of $3.2 billion", "$3.2 billion", 3.2e9, "美元", ""),
    # goods
    ("产量25万吨", "25万吨", 250000.0, "吨", ""),
    ("产能3万吨/年", "3万吨/年", 30000.0, "吨/年", ""),
    ("装机10GW", "10GW", 10.0, "GW", ""),
    ("装机259.4GWh", "259.4GWh", 259.4, "GWh", ""),
    ("用电9363亿千瓦时", "9363亿千瓦时", 9.363e11, "kWh", ""),
    ("装机300万千瓦", "300万千瓦", 3e6, "kW", ""),
    ("销量39.1万辆", "39.1万辆", 391000.0, "辆", ""),
    ("共28家", "28家", 28.0, "家", ""),
    ("完成127笔", "127笔", 127.0, "笔", ""),
    ("市盈率25倍", "25倍", 25.0, "倍", ""),
    ("PE25x", "25x", 25.0, "倍", ""),
    ("指数3500点", "3500点", 3500.0, "点", ""),
    ("周期3个月", "3个月", 3.0, "个月", ""),
    ("面积122㎡", "122㎡", 122.0, "平方米", ""),
    ("产量1341万桶/天", "1341万桶/天", 1.341e7, "桶/日", ""),
    # characters
    ("新增三家门店", "三家", 3.0, "家", ""),
    ("交易十二笔", "十二笔", 12.0, "笔", ""),
    ("约占两成", "两成", 20.0, "%", "share"),
    ("三成半", "三成半", 35.0, "%", ""),
    ("超过半数", "半数", 50.0, "%", ""),
    ("约三分之一", "三分之一", 100 / 3, "%", ""),
    ("规模两倍", "两倍", 2.0, "倍", ""),
    ("百亿元规模", "百亿元", 1e10, "元", ""),
    ("千亿市场", "千亿", 1e11, "", ""),
    ("万亿级市场", "万亿", 1e12, "", ""),
    ("增长一倍", "一倍", 100.0, "%", "change"),
    # ratios and changes
    ("毛利率34%", "34%", 34.0, "%", ""),
    ("毛利率为-3%", "-3%", -3.0, "%", ""),
    ("不良率3‰", "3‰", 3.0, "‰", ""),
    ("同比增长34%", "34%", 34.0, "%", "yoy"),
    ("同比增长约34%", "34%", 34.0, "%", "yoy"),
    ("同比增长超过34%", "34%", 34.0, "%", "yoy"),
    ("同比大幅增长34%", "34%", 34.0, "%", "yoy"),
    ("同比增34%", "34%", 34.0, "%", "yoy"),
    ("同增34%", "34%", 34.0, "%", "yoy"),
    ("同比+13.3%", "+13.3%", 13.3, "%", "yoy"),
    ("同比+ 13.3%", "+ 13.3%", 13.3, "%", "yoy"),
    ("同比-3.15%", "-3.15%", -3.15, "%", "yoy"),
    ("同比- 3.15%", "- 3.15%", -3.15, "%", "yoy"),
    ("同比下滑12.3%", "12.3%", -12.3, "%", "yoy"),
    ("同比下降12.3%", "12.3%", -12.3, "%", "yoy"),
    ("同比减少12.3%", "12.3%", -12.3, "%", "yoy"),
    ("同降12.3%", "12.3%", -12.3, "%", "yoy"),
    ("同比增速为12%", "12%", 12.0, "%", "yoy"),
    ("同比降幅达12%", "12%", -12.0, "%", "yoy"),
    ("YoY+5%", "+5%", 5.0, "%", "yoy"),
    ("yoy-5%", "-5%", -5.0, "%", "yoy"),
    ("+5%yoy", "+5%", 5.0, "%", "change"),
    ("34%YoY", "34%", 34.0, "%", "yoy"),
    ("较去年同期增长5%", "5%", 5.0, "%", "yoy"),
    ("环比+8.7%", "+8.7%", 8.7, "%", "qoq"),
    ("三季度环比下降5%", "5%", -5.0, "%", "qoq"),
    ("7月环比下降5%", "5%", -5.0, "%", "mom"),
    ("本周价格环比下降5%", "5%", -5.0, "%", "wow"),
    ("周环比-0.46%", "-0.46%", -0.46, "%", "wow"),
    ("较上周上涨5%", "5%", 5.0, "%", "wow"),
    ("较上月增加5%", "5%", 5.0, "%", "mom"),
    ("产量（+7%月环比）", "+7%", 7.0, "%", "mom"),
    ("年初至今上涨18%", "18%", 18.0, "%", "ytd"),
    ("较年初上涨18%", "18%", 18.0, "%", "ytd"),
    ("上涨5%", "5%", 5.0, "%", "change"),
    ("跌近3%", "3%", -3.0, "%", "change"),
    ("跌幅3%", "3%", -3.0, "%", "change"),
    ("板块涨跌幅为6.5%", "6.5%", 6.5, "%", "change"),
    ("（+0.78%）", "+0.78%", 0.78, "%", "change"),
    ("（-0.78%）", "-0.78%", -0.78, "%", "change"),
    ("34%的增长", "34%", 34.0, "%", "change"),
    ("12%的同比降幅", "12%", -12.0, "%", "yoy"),
    ("较2024年提升10个百分点", "10个百分点", 10.0, "pct", "change"),
    ("同比下降2.5pct", "2.5pct", -2.5, "pct", "yoy"),
    ("同比-5pcts", "-5pcts", -5.0, "pct", "yoy"),
    ("下行20BP", "20BP", -20.0, "bp", "change"),
    ("利差25BP", "25BP", 25.0, "bp", ""),
    ("降息25个基点", "25个基点", 25.0, "bp", ""),
    ("占比28%", "28%", 28.0, "%", "share"),
    ("占总口头报告数12%", "12%", 12.0, "%", "share"),
    ("占比提升至28%", "28%", 28.0, "%", "share"),
    ("占比提升3个百分点", "3个百分点", 3.0, "pct", "change"),
    ("市占率10.2%", "10.2%", 10.2, "%", "share"),
    ("CAGR=4.5%", "4.5%", 4.5, "%", "cagr"),
    ("CAGR13%", "13%", 13.0, "%", "cagr"),
    ("复合增速约12%", "12%", 12.0, "%", "cagr"),
    ("年均复合增长率为-3%", "-3%", -3.0, "%", "cagr"),
    ("年均增长5%", "5%", 5.0, "%", "cagr"),
    ("净利润减少1.2亿元", "1.2亿元", -1.2e8, "元", "change"),
    ("环比减少5.7万桶/天", "5.7万桶/天", -57000.0, "桶/日", "qoq"),
    ("同比翻倍", "翻倍", 100.0, "%", "yoy"),
    ("产能翻倍", "翻倍", 100.0, "%", "change"),
    ("产能翻两番", "翻两番", 300.0, "%", "change"),
    ("增速回落至5%", "5%", 5.0, "%", "change"),
    ("销量增长至156万辆", "156万辆", 1.56e6, "辆", ""),
    ("新增10GW", "10GW", 10.0, "GW", ""),
    ("亏损收窄12%", "12%", -12.0, "%", "change"),
    ("同比增长1.5倍", "1.5倍", 150.0, "%", "yoy"),
]

# A currency before or behind the number, and numerals in characters.
ONE += [
    ("营收RMB660.3bn", "RMB660.3bn", 660.3e9, "元", ""),
    ("营收RMB 660.3 billion", "RMB 660.3 billion", 660.3e9, "元", ""),
    ("营收CNY660.3b", "CNY660.3b", 660.3e9, "元", ""),
    ("营收人民币6603亿元", "人民币6603亿元", 6603e8, "元", ""),
    ("营收￥6603亿", "￥6603亿", 6603e8, "元", ""),
    ("营收6603亿元人民币", "6603亿元人民币", 6603e8, "元", ""),
    ("营收US$130.4bn", "US$130.4bn", 130.4e9, "美元", ""),
    ("营收1304亿元美元", "1304亿元美元", 1304e8, "美元", ""),
    ("营收130.4 billion USD", "130.4 billion USD", 130.4e9, "美元", ""),
    ("营收HK$12.3m", "HK$12.3m", 12.3e6, "港元", ""),
    ("营收港币123亿元", "港币123亿元", 123e8, "港元", ""),
    ("营收2.89兆元新台币", "2.89兆元新台币", 2.89e12, "新台币", ""),
    ("营收新台币2.89兆元", "新台币2.89兆元", 2.89e12, "新台币", ""),
    ("营收NT$2.89tn", "NT$2.89tn", 2.89e12, "新台币", ""),
    ("营收€3.1bn", "€3.1bn", 3.1e9, "欧元", ""),
    ("营收JPY 4.5tn", "JPY 4.5tn", 4.5e12, "日元", ""),
    ("发电100兆瓦时", "100兆瓦时", 100.0, "MWh", ""),
    ("营收五百六十四亿七千万元", "五百六十四亿七千万元", 56_470_000_000.0, "元", ""),
    ("规模一点二万亿元", "一点二万亿元", 1.2e12, "元", ""),
    ("市值一万亿元", "一万亿元", 1e12, "元", ""),
    ("投资十二亿三千万美元", "十二亿三千万美元", 1.23e9, "美元", ""),
    ("营收一千七百四十一亿元", "一千七百四十一亿元", 1741e8, "元", ""),
    ("营收十五点七亿元", "十五点七亿元", 15.7e8, "元", ""),
    ("毛利率提高百分之三点五", "百分之三点五", 3.5, "%", "change"),
    ("利润增长近三倍", "三倍", 300.0, "%", "change"),
    ("营收下降近三成", "三成", -30.0, "%", "change"),
]
# Negative amounts, in every spelling.
ONE += [
    ("净利润为负70.4亿元", "负70.4亿元", -70.4e8, "元", ""),
    ("毛利率为负3.2%", "负3.2%", -3.2, "%", ""),
    ("净利润（70.4）亿元", "（70.4）亿元", -70.4e8, "元", ""),
    ("净利润-US$1.2bn", "-US$1.2bn", -1.2e9, "美元", ""),
    ("净利润US$-1.2bn", "US$-1.2bn", -1.2e9, "美元", ""),
    ("净利润亏损70.4亿元", "70.4亿元", -70.4e8, "元", ""),
    ("净亏损约70.4亿元", "70.4亿元", -70.4e8, "元", ""),
    ("净亏70.4亿元", "70.4亿元", -70.4e8, "元", ""),
    ("亏损额达到70.4亿元", "70.4亿元", -70.4e8, "元", ""),
    ("营收同比负增长33.9%", "33.9%", -33.9, "%", "yoy"),
    ("营收增速为负33.9%", "负33.9%", -33.9, "%", "change"),
    ("同比减亏70.4亿元", "70.4亿元", 70.4e8, "元", ""),
]
ONE += [(normalise(f"净利润{dash}70.4亿元"), "-70.4亿元", -70.4e8, "元", "") for dash in "-－−﹣‐‑–—―"]


@pytest.mark.parametrize(("text", "stated", "number", "unit", "change"), ONE)
def test_one_quantity(text, stated, number, unit, change):
    (found,) = find_quantities(text)
    assert (found.text, found.unit, found.change) == (stated, unit, change)
    assert found.number == pytest.approx(number)
    assert found.high is None


NONE = [
    "2024年", "2025年9月21日", "2025-2027年", "代码600519", "（300024）", "600519.SH", "ZG006", "4680电池", "H20芯片",
    "IL-17单抗", "5G基站", "3D打印", "2.5D封装", "1.行业回顾", "3.2公司业绩", "1、2025年", "III期", "10年期国债",
    "136号文",
    "比例3:2", "第3家", "第三家", "一家公司", "一个行业", "三元材料", "二次电池", "一成不变", "同比由盈转亏",
    "2025元旦",
    "百家争鸣", "千方百计", "800G光模块", "R22", "24小时制15点", "7nm工艺", "GB200服务器", "近6个月", "未来12个月",
    "", "N3E",
    "PD-1", "2.0版本", "两会", "十四五", "一二级市场", "万科", "百度", "千禾味业", "三个月", "数十家", "几百亿",
    "20CrMn",
]  # fmt: skip


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_quantity(text):
    expected = {"24小时制15点": ["24小时"], "几百亿": []}.get(text, [])
    assert [item.text for item in find_quantities(text)] == expected


RANGES = [
    ("油价65-70美元/桶", 65.0, 70.0, "美元/桶"),
    ("增长10%-15%", 10.0, 15.0, "%"),
    ("占比30-40%", 30.0, 40.0, "%"),
    ("占比20-25%", 20.0, 25.0, "%"),
    ("增长10%至15%", 10.0, 15.0, "%"),
    ("价格3.5万-4万元", 35000.0, 40000.0, "元"),
    ("价格3.5-4万元", 35000.0, 40000.0, "元"),
    ("价格8000-1万元", 8000.0, 10000.0, "元"),
    ("销量10万~12万辆", 100000.0, 120000.0, "辆"),
    ("下滑10%-15%", -15.0, -10.0, "%"),
    ("同比-5%~-3%", -5.0, -3.0, "%"),
    ("同比-5%至5%", -5.0, 5.0, "%"),
    ("规模240 - 280亿美元", 2.4e10, 2.8e10, "美元"),
    ("提升2-4pct", 2.0, 4.0, "pct"),
]


@pytest.mark.parametrize(("text", "low", "high", "unit"), RANGES)
def test_ranges(text, low, high, unit):
    (found,) = find_quantities(text)
    assert (found.number, found.high, found.unit) == (low, high, unit)


SEVERAL = [
    ("增长34%至156亿元", [(34.0, "change"), (1.56e10, "")]),
    ("同比增长34%至156亿元", [(34.0, "yoy"), (1.56e10, "")]),
    (
        "营收224亿元（+5.27%），净利润57亿元（-7.59%）",
        [(2.24e10, ""), (5.27, "change"), (5.7e9, ""), (-7.59, "change")],
    ),
    ("同比增长34%，环比下降5%", [(34.0, "yoy"), (-5.0, "qoq")]),
    ("同比分别增长34%、28%和20%", [(34.0, "yoy"), (28.0, "yoy"), (20.0, "yoy")]),
    ("同比分别下降34%/28%/20%", [(-34.0, "yoy"), (-28.0, "yoy"), (-20.0, "yoy")]),
    ("同比分别+34%/-28%/+20%", [(34.0, "yoy"), (-28.0, "yoy"), (20.0, "yoy")]),
    ("分别为9.45/10.3/11.2亿元", [(9.45e8, ""), (1.03e9, ""), (1.12e9, "")]),
    ("分别为259.4、325.7GWh", [(259.4, ""), (325.7, "")]),
    ("分别为5和4个百分点", [(5.0, "change"), (4.0, "change")]),
    ("占比从15%提升至25%", [(15.0, "share"), (25.0, "share")]),
    ("毛利率从35%降至25%", [(35.0, ""), (25.0, "")]),
    ("环比5月的0.55元/Wh下降15%", [(0.55, ""), (-15.0, "mom")]),
    ("同比下滑30%至40亿元", [(-30.0, "yoy"), (4e9, "")]),
    ("94.5%（YoY-3.4pct）", [(94.5, ""), (-3.4, "yoy")]),
]


@pytest.mark.parametrize(("text", "expected"), SEVERAL)
def test_several_quantities(text, expected):
    assert [(item.number, item.change) for item in find_quantities(text)] == expected


@pytest.mark.parametrize(
    "text",
    ["约34%", "近三成", "超20亿元", "100余家", "100多亿元", "5%左右", "10亿元以上", "逾5万吨", "不足20%", "千亿级"],
)
def test_approximate(text):
    (found,) = find_quantities(text)
    assert found.approx


def test_exact_numbers_are_not_approximate():
    assert not find_quantities("收入34亿元")[0].approx


def test_a_list_pairs_with_as_many_years():
    (listed,) = find_lists("2025-2027年归母净利润分别为9.45/10.3/11.2亿元")
    assert (listed.unit, len(listed.items)) == ("元", 3)
    paired = align(listed, [year(2025), year(2026), year(2027)])
    assert isinstance(paired, list)
    assert [(str(period), item.number) for period, item in paired] == [
        ("2025", 9.45e8),
        ("2026", 1.03e9),
        ("2027", 1.12e9),
    ]


def test_a_list_of_another_length_is_a_problem():
    (listed,) = find_lists("分别为9.45/10.3亿元")
    problem = align(listed, ["甲", "乙", "丙"])
    assert isinstance(problem, Problem)
    assert (problem.kind, problem.start, problem.end) == ("alignment", listed.start, listed.end)


def test_units_part_lists():
    assert [listed.unit for listed in find_lists("分别增长5%、6%，产量3万吨、4万吨")] == ["%", "吨"]
    assert find_lists("增长5%、产量4万吨") == []


@pytest.mark.parametrize(
    ("before", "basis"),
    [("归母净利润", "归母"), ("归属于上市公司股东的净利润", "归母"), ("扣非净利润", "扣非"), ("扣非归母净利润", "扣非"),
     ("净利润", ""), ("归母净利润1亿元，扣非", "扣非"), ("扣非净利润1亿元，归母净利润", "归母")],
)  # fmt: skip
def test_basis_of_profit(before, basis):
    assert basis_of(before) == basis


@pytest.mark.parametrize(("kind", "example"), [(kind, example) for kind, _, example in KINDS])
def test_every_kind_of_change_reads_its_example(kind, example):
    assert find_quantities(example)[-1].change == kind


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.name)
def test_every_word_reads_its_example(word):
    assert [item.text for item in find_quantities(word.example)] == [word.example]


def test_a_change_is_read_from_its_own_clause():
    text = "同比下降5%，毛利率34%"
    assert read_change(text, Place(len(text) - 3, len(text), "%", "", 7)).kind == ""


PIECES = [
    "9.45", "亿元", "%", "-", "+", "至", "同比", "下降", "增长", "/", "、", "和", "分别", "万", "1", "pct", "从",
    "三成", "百亿", "，", "（", "）", "约", " ", "元/吨", "翻倍", "PE", "家", "余", ".",
]  # fmt: skip
SENTENCES = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(PIECES), max_size=60).map("".join))


@given(SENTENCES)
def test_any_text_gives_well_formed_quantities(text):
    found = find_quantities(text)
    assert all(item.text == text[item.start : item.end] and item.text for item in found)
    assert all(left.end <= right.start for left, right in pairwise(found))
    assert all(item.high is None or item.number <= item.high for item in found)
    assert all(item.unit or item.scale for item in found)
    assert found == find_quantities(text)
    assert all(len(listed.items) > 1 for listed in find_lists(text))


@pytest.mark.parametrize(
    "piece", ["1-", "1/", "1、", "1,000", "百", "一", "9.", "增长", "5%", "从5%至", "+", "1 和 ", "十万"]
)
def test_time_is_linear_in_the_length(piece):
    def seconds(count: int) -> float:
        text = piece * count
        begun = time.process_time()
        find_quantities(text)
        return time.process_time() - begun

    seconds(10)
    assert min(seconds(4000) for _ in range(3)) < 25 * max(min(seconds(400) for _ in range(3)), 2e-3)


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("利润不低于500亿元", "≥"), ("至少500亿元", "≥"), ("500亿元以上", "≥"), ("亏损不低于70亿元", "≤"),
        ("不超过20亿元", "≤"), ("20亿元以内", "≤"), ("市值突破1.3万亿元", ">"), ("超过了30%", ">"), ("逾30%", ">"),
        ("增长近三成", "<"), ("下降近三成", ">"), ("不足5%", "<"), ("接近500亿元", "<"), ("约500亿元", ""),
        ("达到500亿元", ""), ("500亿元左右", ""),
    ],
)  # fmt: skip
def test_a_bound_is_no_exact_figure(text, bound):
    (found,) = find_quantities(text)
    assert bound_of(text, found) == bound


@pytest.mark.parametrize("text", ["介于3亿元和5亿元之间", "介于3-5亿元之间", "在3亿元至5亿元之间", "亏损3亿元至5亿元"])
def test_two_bounds_are_a_range(text):
    (found,) = find_quantities(text)
    assert sorted(map(abs, (found.number, found.high or 0))) == [3e8, 5e8]


@pytest.mark.parametrize("text", ["人民币100万美元", "正负5%", "（1）亿元"])
def test_contradictions_and_numbers_of_lists_are_no_amounts(text):
    assert all(found.number > 0 for found in find_quantities(text))
