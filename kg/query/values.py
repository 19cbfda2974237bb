"""Measured values as text: 258.188亿元 or 25.8188bn CNY, 同比 +12% or yoy +12%."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kg.messages.words import word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kg.messages.words import Lang
    from kg.model import Value

_CHINESE_SCALES: Final = (("万亿", 1e12), ("亿", 1e8), ("万", 1e4))
_SCALES: Final = ((1e12, "tn"), (1e9, "bn"), (1e6, "m"))
_RATIOS: Final = frozenset({"%", "pct", "bp"})
_LEVELS: Final = frozenset({"", "share"})

_UNITS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "pct": "pp",
        "倍": "x",
        "点": "points",
        # money
        "元": "CNY",
        "人民币": "CNY",
        "美元": "USD",
        "港元": "HKD",
        "欧元": "EUR",
        "日元": "JPY",
        "英镑": "GBP",
        # measures
        "吨": "t",
        "公斤": "kg",
        "克": "g",
        "斤": "jin",
        "磅": "lb",
        "盎司": "oz",
        "桶": "bbl",
        "升": "l",
        "千升": "kl",
        "米": "m",
        "公里": "km",
        "平方米": "m²",
        "立方米": "m³",
        "重量箱": "weight cases",
        # time
        "小时": "h",
        "日": "day",
        "天": "days",
        "月": "month",
        "年": "year",
        # counted items
        "股": "shares",
        "辆": "vehicles",
        "家": "firms",
        "人": "people",
        "头": "head",
        "次": "times",
        "片": "pieces",
        "件": "pieces",
        "颗": "pieces",
        "块": "pieces",
        "条": "pieces",
        "只": "pieces",
        "台": "units",
        "套": "units",
        "部": "units",
        "款": "models",
        "个": "",
        "座": "sites",
        "艘": "ships",
        "架": "aircraft",
        "户": "households",
        "名": "people",
        "位": "people",
        "例": "cases",
        "项": "items",
        "笔": "deals",
        "张": "sheets",
        "份": "copies",
        "支": "pieces",
        "枚": "pieces",
        "根": "pieces",
        "瓶": "bottles",
        "箱": "cases",
        "双": "pairs",
        "只股票": "stocks",
        "亩": "mu",
        "公顷": "ha",
        "度": "kWh",
        "千瓦时": "kWh",
        "瓦": "W",
        "周": "weeks",
        "季": "quarter",
        "季度": "quarters",
        "分钟": "min",
        "秒": "s",
        "港币": "HKD",
        "韩元": "KRW",
        "卢布": "RUB",
        "美分": "US cents",
        "蒲式耳": "bu",
        "标准箱": "TEU",
        "载重吨": "dwt",
        "担": "dan",
        "分": "points",
        "级": "levels",
        "代": "generations",
        "层": "layers",
        "所": "sites",
        "场": "events",
        "批": "batches",
        "单": "orders",
        "订单": "orders",
        "岁": "years old",
    }
)


def value_text(value: Value | None, lang: Lang = "zh") -> str:
    """Format a value in a language, in Chinese as it is written: 9.45亿元、同比 -12.3%、65–70美元/桶.

    >>> from kg.model import Value
    >>> value_text(Value(25818800000.0, "元", "亿")), value_text(Value(25818800000.0, "元", "亿"), "en")
    ('258.188亿元', '25.8188bn CNY')
    >>> value_text(Value(12.5, "元/股"), "en")
    '12.5 CNY/share'
    >>> value_text(Value(-3.0, "pct", change="qoq"), "en")
    'qoq -3pp'
    """
    if value is None:
        return ""
    factor, scale = _chinese_scale(value) if lang == "zh" else _english_scale(value)
    number = _digits(value.number / factor)
    if value.high is not None:
        number = f"{number}–{_digits(value.high / factor)}"
    sign = "+" if value.number > 0 and value.change not in _LEVELS else ""
    change = word(f"change.{value.change}", lang) if value.change else ""
    return f"{change} {sign}{number}{scale}{_unit(value, lang)}".strip()


def _unit(value: Value, lang: Lang) -> str:
    if lang == "zh":
        return "个百分点" if value.unit == "pct" else value.unit
    of, *per = value.unit.split("/")
    unit = "/".join((_UNITS.get(of, of), *(_UNITS.get(each, each).removesuffix("s") for each in per)))
    gap = "" if value.unit in _RATIOS or unit == "x" or not unit else " "
    return f"{gap}{unit}"


def _chinese_scale(value: Value) -> tuple[float, str]:
    """Return the scale it was written with; of one without, the largest that fits."""
    written = [(factor, name) for name, factor in _CHINESE_SCALES if name == value.scale]
    fitting = [(factor, name) for name, factor in _CHINESE_SCALES if abs(value.number) >= factor]
    bare = [(1.0, "")]
    return (written or (bare if value.unit in _RATIOS else fitting) or bare)[0]


def _english_scale(value: Value) -> tuple[float, str]:
    high = value.number if value.high is None else value.high
    scales = ((factor, name) for factor, name in _SCALES if max(abs(value.number), abs(high)) >= factor)
    return (1.0, "") if value.unit in _RATIOS else next(scales, (1.0, ""))


def _digits(number: float) -> str:
    """Return six significant digits, never as a power of ten."""
    text = f"{number:,.6g}"
    if "e" not in text:
        return text
    return f"{number:,.0f}" if abs(number) >= 1 else f"{number:.12f}".rstrip("0")
