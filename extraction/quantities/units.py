"""Tables of scales, units and number words; each unit is normalised to one spelling (千瓦时 → kWh, 个百分点 → pct)."""

from __future__ import annotations

import re
from functools import lru_cache

from kg.text.regex_prefilter import first_letters

SCALES = {
    "万亿": 1e12, "千亿": 1e11, "百亿": 1e10, "十亿": 1e9, "亿": 1e8, "千万": 1e7, "百万": 1e6, "十万": 1e5, "万": 1e4,
    "千": 1e3, "百": 1e2,
    "trillion": 1e12, "tn": 1e12, "billion": 1e9, "bn": 1e9, "million": 1e6, "mn": 1e6, "k": 1e3,
}  # fmt: skip

MONEY = {
    "元人民币": "元", "人民币": "元", "元": "元", "美元": "美元", "美金": "美元", "港元": "港元", "港币": "港元",
    "欧元": "欧元", "日元": "日元", "英镑": "英镑", "韩元": "韩元", "新台币": "新台币", "台币": "新台币",
    "卢布": "卢布",
    "卢比": "卢比", "新元": "新元", "澳元": "澳元", "加元": "加元", "瑞郎": "瑞郎", "泰铢": "泰铢", "林吉特": "林吉特",
    "越南盾": "越南盾", "雷亚尔": "雷亚尔", "令吉": "林吉特", "美分": "美分", "SDR": "SDR",
}  # fmt: skip

RATIOS = {
    "%": "%", "‰": "‰", "个百分点": "pct", "百分点": "pct", "个pct": "pct", "pcts": "pct", "pct": "pct", "PCT": "pct",
    "Pct": "pct", "ppts": "pct", "ppt": "pct", "pp": "pct", "个基点": "bp", "基点": "bp", "个bp": "bp", "个BP": "bp",
    "bps": "bp", "bp": "bp", "BPs": "bp", "BP": "bp", "倍": "倍", "x": "倍", "X": "倍", "percent": "%",
}  # fmt: skip

GOODS = {
    "吨": "吨", "千克": "kg", "公斤": "kg", "kg": "kg", "克": "克", "mg": "mg", "盎司": "盎司", "磅": "磅", "桶": "桶",
    "金属吨": "吨", "实物吨": "吨", "蒲式耳": "蒲式耳", "克拉": "克拉",
    "GWh": "GWh", "Gwh": "GWh", "GWH": "GWh", "MWh": "MWh", "kWh": "kWh", "KWh": "kWh", "kwh": "kWh", "TWh": "TWh",
    "Wh": "Wh", "GW": "GW", "MW": "MW", "kW": "kW", "KW": "kW", "千瓦时": "kWh", "千瓦": "kW", "兆瓦时": "MWh",
    "兆瓦": "MW", "吉瓦时": "GWh", "吉瓦": "GW", "度电": "kWh", "大卡": "大卡", "吉焦": "GJ", "GJ": "GJ", "MJ": "MJ",
    "平方英寸": "平方英寸", "副": "副", "双": "双",
    "平方米": "平方米", "平米": "平方米", "㎡": "平方米", "平方公里": "平方公里", "立方米": "立方米", "公里": "公里",
    "千米": "公里", "km": "公里", "海里": "海里", "米": "米", "公顷": "公顷", "亩": "亩", "升": "升", "方": "立方米",
    "千升": "千升", "TEU": "TEU", "FEU": "FEU", "标箱": "TEU", "载重吨": "载重吨", "DWT": "载重吨", "CGT": "CGT",
    "TOPS": "TOPS", "EFLOPS": "EFLOPS", "PFLOPS": "PFLOPS", "TFLOPS": "TFLOPS", "TB": "TB", "GB": "GB", "Gbps": "Gbps",
    "辆": "辆", "台": "台", "套": "套", "架": "架", "艘": "艘", "颗": "颗", "片": "片", "块": "块", "枚": "枚",
    "支": "支",
    "只": "只", "张": "张", "部": "部", "箱": "箱", "瓶": "瓶", "盒": "盒", "件": "件", "座": "座", "个": "个",
    "名": "名",
    "人次": "人次", "人": "人", "户": "户", "家": "家", "笔": "笔", "项": "项", "款": "款", "例": "例", "次": "次",
    "条": "条",
    "股": "股", "手": "手", "份": "份", "头": "头", "羽": "羽", "根": "根", "万片": "片", "起": "起", "批": "批",
    "单": "单",
    "点": "点", "架次": "架次", "班": "班", "间": "间", "所": "所", "篇": "篇", "尾": "尾", "株": "株", "粒": "粒",
    "门": "门",
    "个月": "个月", "天": "天", "小时": "小时", "分钟": "分钟", "℃": "℃", "重量箱": "重量箱", "套房": "套",
}  # fmt: skip

# Units after a slash: 元/吨, 万桶/日, GWh/年.
PER = [
    "金属吨", "吨", "千克", "公斤", "kg", "克", "g", "桶", "平方米", "平米", "㎡", "立方米", "方", "kWh", "KWh",
    "Wh", "kW", "W", "wh", "w", "度", "千瓦时", "千瓦", "瓦", "股", "片", "块", "盎司", "磅", "台", "辆", "套",
    "MMBtu", "百万英热", "GJ", "MJ", "大卡", "瓶", "斤", "头", "只", "羽", "FEU", "TEU", "天", "日", "月", "年",
    "GWh", "GW", "MW",
    "人", "颗", "张", "份", "升", "L", "km", "公里", "亩", "户", "支", "小时", "周", "h", "条", "盒", "件", "平",
    "金衡盎司", "米", "部", "枚", "箱", "袋", "包", "双", "根", "粒", "针",
    "间夜", "晚", "次", "蒲式耳", "千卡", "重量箱", "重箱", "标箱", "mL", "dL",
]  # fmt: skip

# Next characters that make a unit part of another word.
NOT_BEFORE = {
    "元": "[旦宵素件器组宇月老初气]", "台": "[湾州风积阶式]", "部": "[委门长分署件级]", "家": "[具电庭用族园纺装居]",
    "条": "[款件例]", "项": "目", "点": "[钟半位名击评]", "次": "[新级高日元月年贷]",
    "人": "[民形工均才士口机气体类员]",
    "名": "[单称义列额]", "天": "[然猫津马风合]", "股": "[份东权票市价息比]", "手": "[机术续套]",
    "只": "[有是能需要会]",
    "个": "[月股人性]", "份": "额", "件": "套", "单": "[位一季品晶瓦日周月吨抗克车]", "起": "[点步到草诉]",
    "批": "[发次复准零]",
    "副": "[总会主董产本业处行]", "双": "[方重十向边周抗靶创碳击1]",
    "班": "子", "间": "[接隔]", "方": "[案面式向法便]", "门": "[店户诊]", "头": "[部]", "支": "[出付持撑]", "片": "区",
    "米": "饭", "座": "[位舱谈]", "所": "[有得在以]", "克": "[隆]", "升": "[至级值]", "架": "[构]", "款": "项",
    "例": "如",
    "块": "[钱]", "套": "[餐利保期]", "根": "[据本]", "小时": "[候工]", "户": "[均用型外储]", "条件": "",
}  # fmt: skip

# Units accepted after a Chinese numeral; with others it is too often not a count (三元电池, 二次创业).
CHINESE_COUNTED = [
    "家", "笔", "座", "条", "款", "倍", "台", "辆", "吨", "人", "名", "艘", "架", "只", "例", "件", "项",
    "个百分点", "个基点", "个", "亿元", "万元", "亿美元", "亿港元", "亿欧元",
]  # fmt: skip


def _alternatives(units: dict[str, str]) -> str:
    ordered = sorted(units, key=len, reverse=True)
    return "|".join(_guarded(unit) for unit in ordered)


def _guarded(unit: str) -> str:
    latin = unit[-1].isascii() and unit[-1].isalpha()
    guard = "(?![A-Za-z0-9])" if latin else f"(?!{NOT_BEFORE[unit]})" if NOT_BEFORE.get(unit) else ""
    return re.escape(unit) + guard


NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
SCALE = (
    "(?:万亿|千亿|百亿|十亿|亿|千万|百万|十万|万|千(?![瓦克米卡])|百(?![分])"
    "|(?i: ?(?:trillion|billion|million|bn|mn|tn|k)(?![A-Za-z])))"
)
_PER_WORDS = "|".join(sorted((_guarded(word) for word in PER), key=len, reverse=True))
_UNIT = (
    f"(?:{_alternatives(RATIOS)}|(?:{_alternatives(MONEY)})(?:/ ?(?:{_PER_WORDS}))?"
    f"|(?:{_alternatives(GOODS)})(?:/ ?(?:{_PER_WORDS}))?| ?(?:percent|GWh|GW|MW|TWh|kWh|tons?)(?![A-Za-z]))"
)
UNIT = f"(?={first_letters(_UNIT)}){_UNIT}"  # the lookahead rejects most text quickly
_FOLDED = {**GOODS, **MONEY, **RATIOS, "tons": "吨", "ton": "吨"}
_FOLDED_PER = {
    "公斤": "kg", "千克": "kg", "平米": "平方米", "㎡": "平方米", "平": "平方米", "千瓦时": "kWh", "度": "kWh",
    "KWh": "kWh",
    "w": "W", "瓦": "W", "wh": "Wh", "天": "日", "h": "小时", "千瓦": "kW", "方": "立方米", "金属吨": "吨",
    "金衡盎司": "盎司", "百万英热": "MMBtu",
    "重箱": "重量箱", "标箱": "TEU", "L": "升", "km": "公里",
}  # fmt: skip


@lru_cache(maxsize=1024)
def fold_unit(text: str) -> str:
    """Return the normalised spelling of a unit; "" stays ""."""
    unit, slash, per = text.strip().partition("/")
    per = per.strip()
    return _FOLDED.get(unit, unit) + slash + _FOLDED_PER.get(per, per)


_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2}
_POWERS = {"十": 10, "百": 100, "千": 1000}


def chinese_number(text: str) -> float:
    """Read a number in characters: 十二, 三百五十, 两千, 一百二十万."""
    total = section = digit = 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _POWERS:
            section, digit = section + (digit or 1) * _POWERS[char], 0
        else:
            total, section, digit = (total + section + digit or 1) * int(SCALES[char]), 0, 0
    return float(total + section + digit)
