"""Word lists and patterns for the text between an indicator, its owner and its number."""

from __future__ import annotations

import re

from extraction.text.lexicon import table
from kg.model import Kind


def _any_of(words: str, *more: str) -> re.Pattern[str]:
    """Match a run of words, longest first; the possessive quantifier rules out backtracking."""
    ordered = sorted(words.split(), key=len, reverse=True)
    return re.compile("(?:" + "|".join((*more, *map(re.escape, ordered), r"\s")) + ")*+")


_TABLE = table("measuring")
FILLER, CONTINUES = _any_of(_TABLE["filler"]), _any_of(_TABLE["continues"])
AFTER_LEVEL = _any_of(_TABLE["after_level"], r"较[^，。；]{0,8}?(?=同比|环比|增|升|提|上|下|降|减|跌|涨|回|扩|收|$)")
OWNER_FILLER, GENERIC, TRADE, PLACES, NOUNISH, INNER, VERBAL, TAILS, VERBS = (
    frozenset(_TABLE[name].split())
    for name in ("owner_filler", "generic", "trade", "region", "nounish", "inner", "verbal", "tails", "verbs")
)
NO_NAMES, OPENS, NARROWING = (frozenset(_TABLE[name].split()) for name in ("no_names", "opens", "narrowing"))
# Head words that form an indicator with the name before them, with their unit kinds.
MEASURE_HEADS: dict[str, tuple[str, ...]] = {
    word: (group["unit"],) if isinstance(group["unit"], str) else tuple(group["unit"])
    for group in _TABLE["heads"]
    for word in group["words"].split()
}
SUBJECT_KINDS = frozenset({Kind.COMPANY, Kind.BUSINESS, Kind.INDUSTRY, Kind.PRODUCT, Kind.THEME})
MACRO_KINDS = frozenset({Kind.REGION, Kind.INSTITUTION})
MEASURED_KINDS = SUBJECT_KINDS | MACRO_KINDS
# Words for a change of the previous level, not indicators.
CHANGES = frozenset(_TABLE["changes"].split())
SHARES_OF_MARKET = ("市占率", "市场份额", "份额", "占有率", "市场占有率")
RATES = ("%", "pct", "bp")
VAGUE = ("占比", "比重", "持股比例")  # shares of an unstated whole
COMPANY_HEADS = (
    "市占率",
    "产量",
    "销量",
    "收入",
    "毛利率",
    "产能",
    "销售额",
    "出货量",
    "成本",
    "毛利",
    "订单",
    "库存",
    "营业收入",
    "利润",
    "产能利用率",
    "单价",
    "销售量",
    "装机量",
    "交付量",
    "GMV",
    "NBV",
    "新业务价值",
    "储量",
    "EBITDA",
)
# Indicators of companies and industries, not of products.
COMPANY_INDICATORS = frozenset(_TABLE["of_firms"].split())
POINT_IN_TIME_INDICATORS = frozenset(_TABLE["at_a_day"].split())
# Company indicators that no product or business segment has.
COMPANY_ONLY_INDICATORS = frozenset(_TABLE["wholly"].split())
EARNED = ("收入", "利润", "利润总额", "毛利率", "净利率", "费用率", "费用")
PERIOD_INDICATORS = COMPANY_INDICATORS - POINT_IN_TIME_INDICATORS  # meaningless without a period
INDUSTRY_SUFFIX = re.compile(r"[^，。；：]{0,4}?(?:板块|行业|产业|企业|公司|上市|厂商|概念|指数)|[：（]|类")
CONCENTRATION = re.compile(r"CR\d|前[二三四五六七八九十\d]+")
OPENING = re.compile(
    r"(?:[\s0-9.、，：（）()/-]|的|在|于|年|月|季度|期间|内|公司|实现|预计|其|整体|单季|单季度|全年|合计|累计|共|方面|业务|行业|板块|其中|报告期|同期|上半年|下半年|"
    r"当期|本期|分别|约|达|为|将|有望|我们|总|平均|综合|国内|全球|中国|海外|主要|产品|对应|此外|同时|而|且|但)*"
)
STARTS_RANGE = re.compile(
    r"(?:（[^（）]*）)?(?:同比|环比|大幅|小幅|逐步|快速|进一步|不断|稳定|稳步|持续|缓慢|逐年|迅速|明显|显著)*+"
    r"(?:增|升|降|涨|跌|提升|提高|上升|增长|增加|下降|减少|回落|下滑|上调|下调|扩大|收窄|上涨|下跌|回升|攀升|跃升|激增|扩充|缩小|缩窄|缩减)[至到]"
)
NOISE = re.compile(
    # a driver or a source, 「补库带动」, 「某机构统计」, is not part of the scope
    r"^.*(?:[>＞]|(?:带动|推动|拉动|驱动|依赖|维持|保持|弱于|强于|预测|统计|监测)至?)|^(?:如|例如|至|[ivx]+\.)|本期|"
    r"(?<![A-Za-z])[A-Za-z]{2,16}(?=预计|预测|数据)|预计|若|如果|一旦|随着|因此|所以|其中|合计|累计|实现|整体|此外|同时|我们|截至|截止|本周|上周|当前|目前|数据显示|根据|平均|分别|为|达|的|在|新增|总|单季度?|全年|报告期内?|公司|行业|板块|有望|将|约|且|而|但|较|受|因|由于|"
    r"主要|当期|当月|同期|年|月|日|末|底|初|周"
)
SAME_TIME = re.compile(r"同期|上年|去年|前年|上月|上周|上季|年初|上一")
STEP = re.compile(r"[降增升涨跌减][至到低加幅了约少]*$")
HYPOTHETICAL = re.compile(r"对应|假设|测算|若|假如|投产|需$|^第\d")
ASIDE = re.compile("（[^（）]*）?$|（[^（）]*）")
NARROWS = frozenset({Kind.REGION, Kind.PRODUCT, Kind.INDUSTRY, Kind.INSTITUTION})
SCOPE_WORDS = re.compile(
    r"(?:全球|国内|海外|国外|我国|全国|中国|线上|线下|境内|境外|行业|规上|规模以上|独立|样本|社会|重点|主要|商业|自主|新能源|国产|进口|存量|增量|散装|现货|期货|港口|工厂|"
    r"企业|市场|下游|上游|终端|农村|城镇|头部|大型|中小|上市|三元|动力|储能|消费|零售|批发|电池级|工业级|光伏级|食品级|[A-Za-z0-9.%-]++(?:级|型|类)?)+"
)
ON_THE_MARKET = re.compile("板块|指数|子行业|跑赢|跑输|沪深|申万|大盘|领涨|领跌")
INDEX_MOVES = re.compile(
    r"(?P<name>(?:（SW）|\(SW\))?(?:行业|板块|子板块|子行业)?)(?:整体|累计|全周|本周|上周|本月|上月|当周|今日|昨日|年初至今|今年以来|（)*+"
    r"(?:上涨|下跌|收涨|收跌|涨|跌|[+-])(?:幅为?)?\d"
)
INNER_SCOPE = re.compile("社会|厂内|厂家|港口|贸易商|下游|交易所|期货")
CODE = re.compile(r"（[A-Z]{0,4}[.:]?[0-9]{3,6}(?:[.:][A-Z]{1,4})?）")
LONGEST_SCOPE = 10
UNIT_KINDS = {
    "%": "percent",
    "pct": "percent",
    "bp": "percent",
    "倍": "ratio",
    "元": "currency",
    "美元": "currency",
    "港元": "currency",
    "欧元": "currency",
    "日元": "currency",
    "英镑": "currency",
    "韩元": "currency",
    "新台币": "currency",
}
