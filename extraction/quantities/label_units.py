"""Read the unit of a table, column, row or label: 单位：人民币百万元, RMB mn, （亿元）, 营业收入/亿元, US$'000.

A unit counts only if every word of it is understood; words of money that are not understood make it unclear, so that
no figure is read with a guessed scale. The words are rows of lexicon/units.yaml.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from extraction.quantities.units import CURRENCIES, MONEY, MONEY_SCALES, SCALE, SCALES, UNIT, fold_unit
from extraction.text.lexicon import table
from kg.model import Value
from kg.text.regex_prefilter import Prefiltered

_FILLERS = sorted(
    (word for row in table("units")["unit_labels"] for word in row["words"].split()), key=len, reverse=True
)
_LATIN = "(?![A-Za-z])"


def _words(words: list[str]) -> str:
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(re.escape(word) + (_LATIN if word[-1].isascii() and word[-1].isalpha() else "") for word in ordered)


_TOKEN = re.compile(
    rf"[\s,，、:：()（）/／.·;；\-_]+|(?P<filler>{_words(_FILLERS)})|(?P<scale>{SCALE})|(?P<unit>{UNIT})"
    rf"|(?P<currency>{_words(list(CURRENCIES))})|(?P<money_scale>(?i:{_words(list(MONEY_SCALES))}))"
)
_HINT = Prefiltered(  # words of money or scale that a unit has and no other text in brackets
    r"人民币|[百千万亿]元|[美港欧日]元|百万|十亿|港币|美金|新台币|HK\$|US\$|(?<![A-Za-z])(?:RMB|CNY|USD|HKD|EUR|JPY|mn|bn|[Mm]illion|[Bb]illion)(?![A-Za-z])"
    r"|['’]000|单位"
)
_BRACKETS = re.compile(r"[（(]([^（）()]{1,40}(?:[（(][^（）()]{1,12}[)）][^（）()]{0,20})?)[)）]")
_STATED = re.compile(r"(?:金额|货币|计量|数量|价格)?单位(?:均?[:：为是]|\s)\s*(?P<unit>[^。；|]{1,40}(?:；\s*[%％])?)")
_TAIL = re.compile(r"\s*[/／，,：:_\s|-]\s*(?P<unit>[^/／，,：:_|（）()]{1,14}(?:/[^/／，,：:_|（）()\s]{1,6})?)$")
_PIECES = re.compile(r"\s+|[，,](?=\s*(?:资料|数据)?来源)|[）)]")
_PER = frozenset(table("units")["per"].split())
_UNCLEAR = re.compile(r"[（(][^（）()]*[)）]$")
_AROUND_SLASH = re.compile(r"\s*[/／]\s*")
_OR_PERCENT = re.compile(r"(?<=\S)\s*[;；、,，]\s*[%％]$")  # 亿元；%: rates are in % anyway
_COMMAS = re.compile("[，,]")
_APART = re.compile(r"[,，、;；/／]")
_DATE = re.compile(
    r"\s*(?:截至)?(?:(?:19|20)\d\d[年./-]?)?(?:\d{1,2}[月./-]\d{1,2}日?)?(?:[AEF]|年?末|收盘价?|[QH][1-4])?\s*"
)
_LONGEST_LABEL = 120


class AmountUnit(Struct, frozen=True):
    """A unit of bare numbers: 百万元 is 元 with factor 1e6; `unit` is "" where only a scale is stated."""

    unit: str
    factor: float = 1.0
    scale: str = ""

    def value(self, number: float) -> Value:
        """Return the value of a number with this unit."""
        return Value(number=float(f"{number * self.factor:.12g}"), unit=self.unit, scale=self.scale)


class LabelUnit(Struct, frozen=True):
    """The unit of a label, the label without it, and what looks like a unit and is not understood."""

    rest: str
    unit: AmountUnit | None = None
    unclear: str = ""


@lru_cache(maxsize=1024)
def read_unit(text: str) -> AmountUnit | None:
    """Return the unit that a text is as a whole, or None.

    >>> read_unit("人民币百万元"), read_unit("HK$'000"), read_unit("万元/吨").unit
    (AmountUnit(unit='元', factor=1000000.0, scale='百万'), AmountUnit(unit='港元', factor=1000.0, scale='千'), '元/吨')
    >>> read_unit("百万元，美元"), read_unit("A股"), read_unit("m")
    (None, None, None)
    """
    text = _OR_PERCENT.sub("", _AROUND_SLASH.sub("/", text))
    found: dict[str, list[str]] = {"scale": [], "money": [], "unit": []}
    at = segment = 0
    short, paid = False, set()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or token.end() == at:
            return None
        at = token.end()
        segment += bool(_APART.search(token[0])) if token.lastgroup is None else 0
        if token.lastgroup in {"scale", "money_scale"}:
            short = short or (token.lastgroup == "money_scale" and token[0].strip().isalpha())
            found["scale"].append(token[0].strip().lower())
        elif token.lastgroup in {"unit", "currency"}:
            unit = CURRENCIES.get(token[0]) or fold_unit(token[0])
            found["money" if unit in MONEY else "unit"].append(unit)
            paid |= {(segment, unit)} if unit in MONEY else set()
    if len(paid) > 1 and len({place for place, _ in paid}) > 1 and len({unit for _, unit in paid}) > 1:
        return None  # 百万元，美元 are two units
    return _combined(found["scale"], found["money"], found["unit"], short=short)


def _combined(scales: list[str], monies: list[str], units: list[str], *, short: bool) -> AmountUnit | None:
    """Return the unit of one scale, one currency and one other unit at most; `short` scales (m, b) need a currency."""
    money = _one([unit for unit in monies if unit != "元"] or monies[:1])
    if len(scales) > 1 or len(units) > 1 or money is None or (short and not money) or not (scales or units or money):
        return None
    unit = units[0] if units else money
    if units and money:  # 人民币元/吨 is a price; 百万元和% are two units
        paid, slash, per = unit.partition("/")
        if not slash or paid not in {"元", money}:
            return None
        unit = f"{money}/{per}"
    scale = (SCALES.get(scales[0]) or MONEY_SCALES[scales[0]]) if scales else None
    return AmountUnit(unit, scale.factor, scale.name) if scale else AmountUnit(unit)


def _one(found: list[str]) -> str | None:
    """Return the only one of the items, "" if there is none, None if they differ."""
    return None if len(set(found)) > 1 else found[0] if found else ""


@lru_cache(maxsize=4096)
def unit_of(label: str) -> LabelUnit:
    """Find the unit of a label: after 单位, in brackets, or behind a slash, a comma or a blank at its end.

    >>> unit_of("营业收入（人民币亿元）").rest, unit_of("归母净利润/亿元").unit
    ('营业收入', AmountUnit(unit='元', factor=100000000.0, scale='亿'))
    >>> unit_of("财务摘要（亿元及百万美元）").unclear
    '亿元及百万美元'
    """
    if len(label) > _LONGEST_LABEL:
        return LabelUnit(label)
    if whole := read_unit(label.strip()):
        return LabelUnit("", whole)
    unclear = ""
    for bracket in _BRACKETS.finditer(label):
        inner = bracket[1].strip()
        dated = "，".join(part for part in _COMMAS.split(inner) if _DATE.fullmatch(part))  # 总市值（亿元，6月30日）
        if unit := read_unit("，".join(part for part in _COMMAS.split(inner) if not _DATE.fullmatch(part))):
            kept = f"（{dated}）" if dated else ""
            return LabelUnit((label[: bracket.start()] + kept + label[bracket.end() :]).strip(), unit, unclear)
        unclear = unclear or (inner if _HINT.search(inner) else "")
    if stated := _STATED.search(label):
        return _after_word(label, stated)
    if label.endswith(("%", "％")):
        return LabelUnit(label[:-1].rstrip(" /／"), AmountUnit("%"), unclear)
    if (
        not unclear
        and (tail := _TAIL.search(label))
        and (unit := read_unit(tail["unit"]))
        and _may_follow(label, tail, unit)
    ):
        return LabelUnit(label[: tail.start()], unit)
    return LabelUnit(_UNCLEAR.sub("", label) if unclear else label, None, unclear)


def _after_word(label: str, stated: re.Match[str]) -> LabelUnit:
    """Read what follows 单位：, as a whole or up to a blank behind which no other unit is written."""
    text = stated["unit"]
    for end in (len(text), *(piece.start() for piece in reversed(list(_PIECES.finditer(text))))):
        if (unit := read_unit(text[:end])) and not _HINT.search(text[end:]):
            at = stated.start("unit") + end
            return LabelUnit((label[: stated.start()] + label[at:]).strip("（()） "), unit)
    return LabelUnit(label[: stated.start()].strip("（( "), None, text)


def _may_follow(label: str, tail: re.Match[str], unit: AmountUnit) -> bool:
    """Return whether a unit at a label's end is its unit: in 价格 元/吨, 吨 is not."""
    slash = label[tail.start() : tail.start("unit")].strip() in {"/", "／"}
    return not (slash and unit.unit in _PER and not unit.scale) and not (
        slash and read_unit(label[: tail.start()][-2:].strip())
    )
