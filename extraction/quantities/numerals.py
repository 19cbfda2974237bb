"""Read quantities written in characters: 三家, 近三成, 半数, 三分之一, 百亿元, 翻倍."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import Struct

from extraction.quantities.units import CHINESE_COUNTED, SCALES, chinese_number, fold_unit

if TYPE_CHECKING:
    import re
    from collections.abc import Callable


class Raw(Struct, frozen=True):
    """A number as matched, before the words around it are considered."""

    start: int
    end: int
    number: float
    unit: str
    scale: str = ""
    high: float | None = None
    approx: bool = False
    sign: str = ""


@dataclass(frozen=True, slots=True)
class NumeralForm:
    """A notation for numbers in characters; the main group of its pattern is called `name`."""

    name: str
    pattern: str
    example: str
    read: Callable[[re.Match[str]], Raw | None]


_DOUBLES = {
    "倍": 100, "番": 100, "一番": 100, "两番": 300, "三番": 700, "一倍": 100, "两倍": 200, "三倍": 300, "四倍": 400,
}  # fmt: skip


_ONES = frozenset("一二三四五六七八九")


def _tenths(match: re.Match[str]) -> Raw:
    more = match["tenths_more"] or ""
    number = 10 * chinese_number(match["tenths"]) + (
        5 if more == "半" else chinese_number(more) if more in _ONES else 0
    )
    return Raw(*match.span(), number, "%", approx=more == "多")


def _fraction(match: re.Match[str]) -> Raw:
    return Raw(*match.span(), 100 * chinese_number(match["fraction"]) / chinese_number(match["whole"]), "%")


def _half(match: re.Match[str]) -> Raw:
    return Raw(*match.span(), 50.0, "%", approx=match["half"] == "过半")


def _double(match: re.Match[str]) -> Raw:
    return Raw(*match.span(), float(_DOUBLES[match["double"]]), "%", sign="+")


def _counted(match: re.Match[str]) -> Raw | None:
    """Read 三家 as a count, but not 一家 (an article) or 百家 (a figure of speech)."""
    count, unit = match["counted"], match["counted_unit"]
    scale = next((name for name in ("万亿", "亿", "万") if unit.startswith(name)), "")
    if (count == "一" and unit != "倍" and not scale) or count in {"百", "千", "万"}:
        return None
    factor = SCALES[scale].factor if scale and "点" in count else 1.0  # 三亿五千万元: 万 belongs to the last part
    number = chinese_number(count if factor > 1 else count + scale) * factor
    return Raw(*match.span(), number, fold_unit(unit.removeprefix(scale)), scale, approx=bool(match["counted_more"]))


def _round(match: re.Match[str]) -> Raw | None:
    order, unit = match["round"], match["round_unit"] or ""
    if not unit and not (order.endswith("亿") or match["grade"]):
        return None
    return Raw(*match.span(), SCALES[order].factor, fold_unit(unit), order, approx=True)


def _percent(match: re.Match[str]) -> Raw:
    return Raw(*match.span(), chinese_number(match["percent"]), "%")


_CHINESE = "零一二两三四五六七八九十百千万亿"
_WHOLE = "[一二两三四五六七八九十百千零〇]{1,9}(?:点[零〇一二两三四五六七八九]{1,4})?"
_NO_ORDINAL = f"(?<![第{_CHINESE}几数好双])"
_COUNTED = "|".join(sorted(CHINESE_COUNTED, key=len, reverse=True))
_NOT_TENTHS = "(?![为都立功员本就绩长品交熟分型效果不份套])"

WORDS = (
    NumeralForm("percent", rf"百分之(?P<percent>{_WHOLE})(?![{_CHINESE}点])", "百分之十五点七", _percent),
    NumeralForm(
        "tenths",
        rf"{_NO_ORDINAL}(?P<tenths>[一二两三四五六七八九])成(?P<tenths_more>半|多|[一二三四五六七八九](?![{_CHINESE}家个成]))?{_NOT_TENTHS}",
        "三成",
        _tenths,
    ),
    NumeralForm(
        "fraction",
        rf"{_NO_ORDINAL}(?P<whole>[二三四五六七八九十百千万]+)分之(?P<fraction>[一二两三四五六七八九十]+)(?![{_CHINESE}点])",
        "三分之一",
        _fraction,
    ),
    NumeralForm("half", "(?P<half>半数|过半(?=$|[，。；、）])|(?<!另)一半)", "半数", _half),
    NumeralForm("double", "翻了?(?P<double>倍|番|[一两三]番|[一两三四]倍)", "翻倍", _double),
    NumeralForm(
        "round",
        rf"(?<![第{_CHINESE}几数\d])(?P<round>百亿|千亿|万亿|十亿|百万|千万|十万)"
        "(?P<round_unit>元|美元|港元|千瓦|吨|辆)?(?=(?P<grade>级|规模|市场|市值|量级)?)",
        "百亿元",
        _round,
    ),
    NumeralForm(
        "counted",
        rf"{_NO_ORDINAL}(?P<counted>[一二两三四五六七八九十百千万][{_CHINESE}]{{0,12}}?(?:点[零〇一二两三四五六七八九]{{1,4}})?)(?P<counted_more>余|多)?"
        rf"(?P<counted_unit>{_COUNTED})(?![月股人性具电元])",
        "三家",
        _counted,
    ),
)
WORD = f"(?=[{_CHINESE}半过翻])(?:" + "|".join(word.pattern for word in WORDS) + ")"


def read_word(match: re.Match[str]) -> Raw | None:
    """Read a match of `WORD`."""
    return next(word for word in WORDS if match[word.name] is not None).read(match)
