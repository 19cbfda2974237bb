"""Read numbers with units, scales, ranges and directions from a sentence of a Chinese report.

A bare number is not a quantity: years, codes (600519), models (4680电池, H20) and ratios (3:2) yield nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from extraction.quantities.change import ChangeKind, Place, follows, read_change
from extraction.quantities.numerals import WORD, Raw, read_word
from extraction.quantities.units import CURRENCIES, MONEY, MONEY_SCALES, NUMBER, SCALE, SCALES, UNIT, fold_unit
from extraction.text.lexicon import phrases, table
from kg.model import Problem
from kg.text.regex_prefilter import Prefiltered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_SIGN = r"[+\-−] ?"
_ELEMENT = rf"(?P<n>{NUMBER})(?P<more>余|多(?!晶|个))?(?P<scale>{SCALE})?(?P<more2>余|多(?!晶))?(?P<unit>{UNIT})?"
_SECOND = _ELEMENT.replace("(?P<n>", "(?P<n2>").replace("<more", "<b").replace("<scale", "<s2").replace("<unit", "<u2")
_FIRST = re.compile(_ELEMENT)
_RANGE = re.compile(rf"{_ELEMENT} ?(?:[-~—–]|至|到) ?(?P<sign2>{_SIGN})?{_SECOND}")
_ITEM = rf"(?:{_SIGN})?{NUMBER}(?:{SCALE})?"
_SHARED = re.compile(rf"{NUMBER}(?:{SCALE})?(?: ?(?:[/、]|和|及|与|以及) ?{_ITEM}){{1,24}}(?P<unit>{UNIT})?")
_JOINT = re.compile(" ?(?:(?P<to>[-~—–至到])|(?P<with>[/、和及与以]))")
_PARTS = re.compile(rf"(?P<sign>{_SIGN})?(?P<n>{NUMBER})(?P<scale>{SCALE})?")
_CURRENCY_ENDS = {name[-1] for name in CURRENCIES} | {" "}
_CURRENCY = re.compile("(?P<c>" + "|".join(map(re.escape, sorted(CURRENCIES, key=len, reverse=True))) + ") ?$")
_LONGEST_CURRENCY = max(map(len, CURRENCIES)) + 1
_MONEY_SCALE = re.compile(
    rf" ?(?P<scale>{'|'.join(word for word in MONEY_SCALES if word.isalpha())})(?![A-Za-z0-9])", re.IGNORECASE
)
_NEGATIVE = ("-", "−", "负")
# （70.4）亿元: accounts write a negative amount in brackets, with its unit behind them
_IN_BRACKETS = re.compile(rf"(?P<n>{NUMBER})[)）] ?(?P<scale>{SCALE})?(?P<unit>{UNIT})?")
_BETWEEN = re.compile(rf"{_ELEMENT}(?:[和与至到]|[-~—–]) ?{_SECOND}(?:之间|区间)")

_SCAN = Prefiltered(rf"(?P<digits>(?<![\d.]){NUMBER})|{WORD}")

_PHRASES = phrases("quantities/reader")
_APPROX_BEFORE = _PHRASES["approx_before"]
_APPROX_AFTER = re.compile("(?:左右|上下|以上|以下|以内|有余|级)")
_LETTER_BEFORE = _PHRASES["letter_before"]
_HEADING = re.compile(r"\d{1,2}")
_CLOCK = 25  # 15点 is an hour, 3500点 an index
_SPANS = {"个月", "天", "小时"}
_SPAN_BEFORE = {"前", "近", "来", "去"}  # 前4个月 and 未来12个月 are dates
_NEEDS_UNIT = {"千", "百"}  # reports never write 3千 alone


def scan(text: str) -> Iterator[Raw]:
    """Yield the quantities of a sentence in order, without overlaps."""
    position = 0
    while match := _SCAN.search(text, position):
        items = _read_digits(text, match.start()) if match["digits"] else _read_word(text, match)
        yield from items
        position = max(items[-1].end if items else 0, match.end())


def _read_digits(text: str, start: int) -> list[Raw]:
    if _is_part_of_name(text, start):
        return []
    if text[start - 1 : start] in {"（", "("} and (item := _in_brackets(text, start)):
        return [item]
    single = _FIRST.match(text, start)
    assert single is not None
    joint = _JOINT.match(text, single.end())  # fast path: most numbers are neither range nor list
    if joint and (between := _BETWEEN.match(text, start)) and (item := _ranged(text, between)):
        return [item]
    if joint and joint["to"] and (ranged := _RANGE.match(text, start)) and (item := _ranged(text, ranged)):
        return [item]
    listed = joint and joint["with"] and not single["unit"]
    if listed and (shared := _SHARED.match(text, start)) and (items := _shared(text, shared)):
        return items
    item = _single(text, single)
    return [item] if item else []


def _in_brackets(text: str, start: int) -> Raw | None:
    """Read a negative amount in brackets; （1） at the start of a clause is a number of a list, （98.2） is none."""
    match = _IN_BRACKETS.match(text, start)
    if match is None or not (match["scale"] or match["unit"]):
        return None
    if "." not in match["n"] and text[start - 2 : start - 1] in {"", *"，。；：、 "}:
        return None
    scale = (match["scale"] or "").strip()
    number = -_value(match["n"]) * _factor(scale)
    return Raw(start - 1, match.end(), number, fold_unit(match["unit"] or ""), _name(scale), None, False, "-")  # noqa: FBT003


def _is_part_of_name(text: str, start: int) -> bool:
    """Whether the digits are part of a name: in ZG006, IL-17 and 第3家, but not in PE25倍 and CAGR13%."""
    before = text[start - 1] if start else ""
    if before == "第":
        return True
    if before in {"-", "−"} and start > 1 and text[start - 2].isascii() and text[start - 2].isalpha():
        return not _LETTER_BEFORE.search(text[max(0, start - 6) : start - 1])
    if before.isascii() and (before.isalpha() or before == "_"):
        if _currency(text, start)[0]:
            return False
        return not _LETTER_BEFORE.search(text[max(0, start - 6) : start])
    return False


def _ranged(text: str, match: re.Match[str]) -> Raw | None:
    unit, unit2, scale, scale2 = match["unit"] or "", match["u2"] or "", match["scale"] or "", match["s2"] or ""
    if not (unit2 or scale2) or (unit and fold_unit(unit) != fold_unit(unit2)):
        return None
    start, sign, money = _lead(text, match.start())
    low, high = _value(match["n"]), _value(match["n2"])
    same_scale = not scale and not unit and low < high  # 3-5万元 is 3万 to 5万, but 8000-1万元 is 8000 to 1万
    low *= _factor(scale) if scale else _factor(scale2) if same_scale else 1.0
    high *= _factor(scale2)
    negative, second = sign.startswith(_NEGATIVE), match.groupdict().get("sign2")
    low, high = (-low if negative else low), (-high if (second or " ")[0] in _NEGATIVE else high)
    if second is None and negative and high > 0 and unit != unit2:
        high = -high  # -5-3% never occurs; -3-5% is a fall of 3 to 5
    if not unit and not scale and _is_year(match["n"]):
        return None
    approx = _is_approx(text, start, match.end())
    folded = _in_currency(fold_unit(unit2), money)
    if folded is None:
        return None
    return Raw(start, match.end(), min(low, high), folded, _name(scale2), max(low, high), approx, sign)


def _is_year(digits: str) -> bool:
    return len(digits) == len("2025") and digits[:2] in {"19", "20"}


def _single(text: str, match: re.Match[str]) -> Raw | None:
    scale, end = (match["scale"] or "").strip(), match.end()
    start, sign, money = _lead(text, match.start())
    if money and not scale and not match["unit"] and (short := _MONEY_SCALE.match(text, end)):
        scale, end = short["scale"], short.end()  # US$130.4b
    unit = _in_currency(fold_unit(match["unit"] or ""), money)
    if money and unit not in MONEY:
        start, sign = match.start() - len(_sign_before(text, match.start())), _sign_before(text, match.start())
    if unit is None or (not unit and (not scale or _name(scale) in _NEEDS_UNIT)):
        return None
    number = _value(match["n"])
    if unit == "点" and number < _CLOCK and not scale:
        return None
    if unit in _SPANS and text[match.start() - 1 : match.start()] in _SPAN_BEFORE:
        return None
    number *= _factor(scale) * (-1 if sign.startswith(_NEGATIVE) else 1)
    approx = bool(match["more"] or match["more2"]) or _is_approx(text, start, end)
    return Raw(start, end, number, unit, _name(scale), None, approx, sign)


def _lead(text: str, start: int) -> tuple[int, str, str]:
    """Return where a number starts with its sign and currency (-US$1.2bn), the sign, and the currency."""
    sign = _sign_before(text, start)
    first = start - len(sign)
    money, at = _currency(text, first)
    if money and not sign:
        sign = _sign_before(text, at)
        at -= len(sign)
    return (at, sign, money) if money else (first, sign, "")


def _in_currency(unit: str, money: str) -> str | None:
    """Return the unit of a number behind the word of a currency: 港币12亿元 is in 港元; None if they contradict."""
    if not money or unit == money:
        return unit or money
    if unit in {"", "元"}:
        return money
    return None if unit in MONEY else unit


def _shared(text: str, match: re.Match[str]) -> list[Raw]:
    """Read 9.45/10.3/11.2亿元, where all items take the scale and unit of the last one."""
    end = match.start("unit") if match["unit"] else match.end()
    parts = list(_PARTS.finditer(text, match.start(), end))
    unit, scale = fold_unit(match["unit"] or ""), (parts[-1]["scale"] or "").strip()
    if not (unit or scale) or not _is_list(text, match):
        return []
    items = []
    for part in parts:
        sign = (part["sign"] or "").strip()
        first = part.start() - len(_sign_before(text, part.start())) if part is parts[0] else part.start()
        sign = text[first : part.start("n")].strip() if part is parts[0] else sign
        own = (part["scale"] or "").strip() or scale
        number = _value(part["n"]) * _factor(own) * (-1 if sign.startswith(_NEGATIVE) else 1)
        end = match.end() if part is parts[-1] else part.end()
        approx = _is_approx(text, match.start(), match.end())
        items.append(Raw(first, end, number, unit, _name(own), None, approx, text[first : part.start("n")]))
    return items


def _is_list(text: str, match: re.Match[str]) -> bool:
    """Whether this is a list, by slash, 分别, decimals or three items; 1、2亿元 may start a numbered heading."""
    if match.start() == 0 and _HEADING.match(text) and "、" in match[0][:3]:
        return False
    several = "/" in match[0] or "." in match[0] or match[0].count("、") > 1
    return several or "分别" in text[max(0, match.start() - 24) : match.start()]


def _sign_before(text: str, start: int) -> str:
    """Return the sign before a number with its space; a dash after a letter, digit or unit is not a sign."""
    blank = 1 if start > 1 and text[start - 1] == " " else 0
    at = start - 1 - blank
    if at < 0 or text[at] not in "+-−负":
        return ""
    if text[at] == "负":  # 为负70.4亿元, but not 正负5%
        return text[at:start] if not text.startswith("正", at - 1) else ""
    before = text[at - 1] if at else ""
    if text[at] != "+" and before and before.isascii() and (before.isalnum() or before in "%)"):
        return "" if not _LETTER_BEFORE.search(text[max(0, at - 5) : at]) else text[at:start]
    return text[at:start]


def _currency(text: str, start: int) -> tuple[str, int]:
    """Return the currency written before an offset, and where its word starts."""
    if text[start - 1 : start] not in _CURRENCY_ENDS:
        return "", start
    begin = max(0, start - _LONGEST_CURRENCY)
    found = _CURRENCY.search(text[begin:start])
    if found is None or (
        found["c"].isalpha()
        and found["c"].isascii()
        and text[max(0, begin + found.start() - 1) : begin + found.start()].isalpha()
        and text[begin + found.start() - 1].isascii()
    ):
        return "", start
    return CURRENCIES[found["c"]], begin + found.start()


def _read_word(text: str, match: re.Match[str]) -> list[Raw]:
    item = read_word(match)
    return [replace(item, approx=item.approx or _is_approx(text, *match.span()))] if item else []


def _value(digits: str) -> float:
    return float(digits.replace(",", ""))


def _factor(scale: str) -> float:
    key = scale.strip().lower()
    return (SCALES.get(key) or MONEY_SCALES[key]).factor if key else 1.0


def _name(scale: str) -> str:
    key = scale.strip().lower()
    return (SCALES.get(key) or MONEY_SCALES[key]).name if key else ""


def _is_approx(text: str, start: int, end: int) -> bool:
    return bool(_APPROX_BEFORE.search(text[max(0, start - 4) : start]) or _APPROX_AFTER.match(text, end))


Name = TypeVar("Name")


class Quantity(Struct, frozen=True):
    """A number as stated: `sentence[start:end] == text`.

    Args:
        start: offset of the number, including its sign.
        end: offset after the unit.
        text: the stated characters.
        number: in base units, signed by direction: 9.45亿元 is 9.45e8, 34% is 34.0, 下滑12.3% is -12.3.
        unit: 元, %, pct (percentage points), bp, 吨, 元/吨, …; "" if only a scale is stated.
        scale: 亿, 万, … as stated or taken from the end of the list.
        high: upper end of a range, whose lower end is `number`.
        approx: whether 约, 近, 超, 左右 or 余 qualifies it.
        change: "" for a level, else yoy, qoq, mom, wow, ytd, cagr, share, or "change" if the base is not stated.
    """

    start: int
    end: int
    text: str
    number: float
    unit: str
    scale: str = ""
    high: float | None = None
    approx: bool = False
    change: str = ""


@dataclass(frozen=True, slots=True)
class QuantityList:
    """Quantities of one unit in a row: 9.45/10.3/11.2亿元."""

    start: int
    end: int
    items: tuple[Quantity, ...]

    @property
    def unit(self) -> str:
        """The unit that all items share."""
        return self.items[0].unit


_NO_CHANGE = ChangeKind()
_SEPARATOR = re.compile(" ?(?:/|、|和|及|与|以及) ?")


def find_quantities(text: str) -> list[Quantity]:
    """Return the quantities of one normalised sentence in order, without overlaps."""
    found: list[Quantity] = []
    previous = _NO_CHANGE
    for raw in scan(text):
        floor = found[-1].end if found else 0
        change = read_change(text, Place(raw.start + len(raw.sign), raw.end, raw.unit, raw.sign, floor))
        if found:
            change = _with_inherited_kind(text, found[-1], raw, change, previous)
        found.append(_to_quantity(text, raw, change))
        previous = change
    return found


def find_lists(text: str, quantities: Sequence[Quantity] | None = None) -> list[QuantityList]:
    """Return the runs of two or more quantities of one unit with only separators between them.

    Args:
        text: one normalised sentence.
        quantities: the quantities of the sentence, if known; else they are read from the text.
    """
    lists: list[list[Quantity]] = []
    for item in find_quantities(text) if quantities is None else quantities:
        last = lists[-1][-1] if lists else None
        if last and last.unit == item.unit and _SEPARATOR.fullmatch(text, last.end, item.start):
            lists[-1].append(item)
        else:
            lists.append([item])
    return [QuantityList(run[0].start, run[-1].end, tuple(run)) for run in lists if len(run) > 1]


def align(listed: QuantityList, names: Sequence[Name]) -> list[tuple[Name, Quantity]] | Problem:
    """Pair a list with the years or names before it, if there are equally many."""
    if len(listed.items) != len(names):
        message = f"{len(names)}个名目对{len(listed.items)}个数"
        return Problem("alignment", message, listed.start, listed.end)
    return list(zip(names, listed.items, strict=True))


_BOUNDS = [
    (row["bound"], re.compile(f"(?:{row['before']})(?:了|约)?$"), re.compile(row["behind"]))
    for row in table("units")["bounds"]
]


_AND_MORE = re.compile("[余多](?=[万亿千百元])")  # 1700多亿元
_MIRRORED = {"≥": "≤", "≤": "≥", ">": "<", "<": ">"}  # 亏损不低于70亿元 is at most -70亿元


def bound_of(text: str, quantity: Quantity) -> str:
    """Return what a number bounds: ≥ for 不低于500亿元, < for 近三成, "" for a stated or rounded figure."""
    if _AND_MORE.search(quantity.text):
        return "<" if quantity.number < 0 else ">"
    before = text[max(0, quantity.start - 5) : quantity.start]
    found = (
        _MIRRORED[sign] if quantity.number < 0 else sign
        for sign, ahead, behind in _BOUNDS
        if ahead.search(before) or behind.match(text, quantity.end)
    )
    return next(found, "")


_BASIS = re.compile("(?P<扣非>扣非|扣除非经常性?)|(?P<归母>归母|归属于)")


def basis_of(text_before: str) -> str:
    """Return the last basis of profit in the text: 扣非, 归母 or ""; 扣非归母净利润 is 扣非."""
    found = [match.lastgroup or "" for match in _BASIS.finditer(text_before)]
    if found[-2:] == ["扣非", "归母"] and re.search("扣非后?(?:的)?归母|扣除非经常性?损益[^，。]{0,6}归", text_before):
        return "扣非"
    return found[-1] if found else ""


def _with_inherited_kind(text: str, last: Quantity, raw: Raw, change: ChangeKind, previous: ChangeKind) -> ChangeKind:
    """Give later items of a list, and the second level of 从A提升至B, the kind of the first."""
    if change.kind == "change" and previous.base and not re.search("[，。；]", text[last.end : raw.start]):
        return replace(change, kind=previous.base)
    if last.unit != raw.unit:
        return change
    if _SEPARATOR.fullmatch(text, last.end, raw.start):
        return replace(
            change, kind=previous.kind, sign=change.sign if raw.sign else previous.sign, start=previous.start
        )
    if previous.start and previous.kind and follows(text, last.end, raw.start):
        return replace(change, kind=previous.kind)
    return change


def _to_quantity(text: str, raw: Raw, change: ChangeKind) -> Quantity:
    low, high, unit = raw.number, raw.high, raw.unit
    if unit == "倍" and change.kind not in {"", "share"} and change.sign > 0:  # 增长2倍 is +200%
        low, high, unit = 100 * low, None if high is None else 100 * high, "%"
    if change.sign < 0 and not raw.sign:
        low, high = (-low, None) if high is None else (-high, -low)
    stated = text[raw.start : raw.end]
    top = None if high is None else _clean(high)
    return Quantity(raw.start, raw.end, stated, _clean(low), unit, raw.scale, top, raw.approx, change.kind)


def _clean(number: float) -> float:
    """Round off floating-point errors: 2.3 * 1e8 is 229999999.99999997."""
    return float(f"{number:.12g}")
