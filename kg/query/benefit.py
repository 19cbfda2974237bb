"""Whether more of an indicator is good for whom it is about: a rising margin is, a rising cost is not."""

from __future__ import annotations

_BURDENS = ("成本", "费用", "费用率", "库存", "亏损", "不良率", "不良贷款率", "负债率", "折旧")
_GAINS = (
    *("需求", "销量", "收入", "毛利率", "净利率", "利润", "盈利", "盈利能力", "毛利", "价格", "景气度", "市占率"),
    *("估值", "渗透率", "订单", "出货量", "装机量", "净息差", "销售额", "市场规模", "业绩", "价值量", "加工费", "roe"),
    *("消费量", "出口量", "出口", "投资", "指数", "现金流", "交付量", "票房", "批价"),
)


def good_for_owner(indicator: str) -> int:
    """Return +1 where a rise is good for the owner, −1 where it is a burden, 0 where neither is sure.

    Of supply, capacity and output more may be either.

    >>> [good_for_owner(name) for name in ("indicator:电池毛利率", "indicator:电池成本", "indicator:铜供给")]
    [1, -1, 0]
    """
    if indicator.endswith(_BURDENS):
        return -1
    return 1 if indicator.endswith(_GAINS) else 0
