"""Format measured values in English: 258.188亿元 is 25.8188bn CNY, 同比 +12% is yoy +12%."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from viz.wording import word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kg.model import Value

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
    }
)


def value_in_english(value: Value) -> str:
    """Format a value with English scale and units; unknown units are kept as written.

    >>> from kg.model import Value
    >>> value_in_english(Value(25818800000.0, "元", "亿"))
    '25.8188bn CNY'
    >>> value_in_english(Value(12.5, "元/股"))
    '12.5 CNY/share'
    >>> value_in_english(Value(-3.0, "pct", change="qoq"))
    'qoq -3pp'
    """
    high = value.number if value.high is None else value.high
    scales = ((factor, name) for factor, name in _SCALES if max(abs(value.number), abs(high)) >= factor)
    factor, scale = (1.0, "") if value.unit in _RATIOS else next(scales, (1.0, ""))
    number = _digits(value.number / factor)
    if value.high is not None:
        number = f"{number}–{_digits(value.high / factor)}"
    sign = "+" if value.number > 0 and value.change not in _LEVELS else ""
    of, *per = value.unit.split("/")
    unit = "/".join((_UNITS.get(of, of), *(_UNITS.get(each, each).removesuffix("s") for each in per)))
    gap = "" if value.unit in _RATIOS or unit == "x" or not unit else " "
    change = word(value.change, "en") if value.change else ""
    return f"{change} {sign}{number}{scale}{gap}{unit}".strip()


def _digits(number: float) -> str:
    text = f"{number:,.6g}"
    return text if "e" not in text else f"{number:,.12f}".rstrip("0").rstrip(".")
