"""Read figures and dates of a sentence in either language, in one unit per family, for comparing two sentences.

Figures that a reader of documents would pass over (model numbers, ranks) are read too: a sentence may repeat them only
as its source writes them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from kg.dating.reader import find_periods, yearly
from kg.period import Precision
from kg.query.grounding.words import claim_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from kg.period import Period

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905 -- read best as words
_NUMBERS = "two three four five six seven eight nine ten eleven".split()  # noqa: SIM905 -- read best as words
_FIRST_MONTHS = re.compile(rf"(?:in )?the first ({'|'.join(_NUMBERS)}) months of ((?:19|20)\d\d)")
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_YEAR = r"((?:19|20)\d\d)"
_ENGLISH_DATES = (
    (re.compile(rf"\b{_MONTH} ?[-–] ?{_MONTH}(?: {_YEAR})?\b"), (2, 0, 1)),
    (re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)? {_MONTH}(?:,? {_YEAR})?\b"), (2, 1, 0)),
    (re.compile(rf"\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? {_YEAR}\b)?"), (2, 0, 1)),
    (re.compile(rf"\b(?:in|of|since|until|by) {_MONTH}(?: {_YEAR})?\b"), (1, 0, 0)),
)
_PREPOSED = re.compile(rf"\b(?:in|for|of|by|from|to|on|at) (?={_YEAR}(?:年|[hq][1-4])|\d{{1,2}}-?\d{{0,2}}月)")
_PERIOD_LETTER = re.compile(
    r"(?<=[\d年])(?:[hq][1-4]|e)(?![a-z\d])|(?<![\da-z])[1-4][hq](?=\d\d)|\b[hq][1-4]\b|\bfy(?=\d)"
)
_LONE_YEAR = re.compile(
    r"(?<![\d.A-Za-z/-])((?:19|20)\d\d)(?!\.\d)(?![\d年%A-Za-z/亿万千元吨家倍个-]|\s*[-–~至]\s*\d|[前首第一二三四上下])"
)
_WIDE = str.maketrans("０１２３４５６７８９％．＋－–—−～［］（）：；！？", "0123456789%.+----~[]():;!?")
_CHINESE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_BLANKS = re.compile(
    rf"(?<=[{_CHINESE}“”()\[\]:;]) +| +(?=[{_CHINESE}“”)\]:;%])"
    rf"|(?<=[-+~/]) +(?=\d)|(?<=\d) +(?=[-+~/%])| +(?=/)|(?<=/) +|(?<=[{_CHINESE}]) +(?=[-+]\d)"
)
_EDGE = re.compile(r"((?:季度|[qh][1-4]|\d年|月))[末底]")  # 25Q2末 is dated like 25Q2
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_YEARLY = re.compile(r"\d{4}|\d\d年|\d\d[QH]|[QH]\d\d|年")
_LASTING = re.compile(r"(?:连续|持续)$")
_RELATIVE = re.compile(r"同期|上周|上月|上年|去年|上季|previous|last|earlier|年初")
_ABOUT = re.compile(
    r"(?:近|约|逾|(?<!不)超过?|接近|\b(?:about|nearly|around|over|(?<!no )(?<!not )more than|almost)) ?$"
)
_EXACT = 2  # digits that a rounded number has at least
_FIFTH = 0.2
_COARSE = 0.05  # how far a number of one digit may be from what it is rounded from
_TENTHS = re.compile(r"[一二三四五六七八九两](?=成(?:[^\u3400-\u9fff]|[以左多的，。]|$))")
_DOUBLED = re.compile(r"翻了?一?[倍番](?=多)|(?<=more than )doubled")  # 翻倍 alone is an exact number
_MORE = re.compile(r"(?:(?<![不未])(?:超过?|逾|高于)|\b(?:over|(?<!no )(?<!not )more than|(?<!not )above)) ?$")
_LESS = re.compile(
    r"(?:将?近|不到|不足|接近|[不未]超过?|不高于|\b(?:nearly|almost|under|less than|(?:no|not) more than)) ?$"
)
_AND_MORE = re.compile(r"[多余]|以上")
_NAME_BEFORE = re.compile(r"[A-Za-z_]$|[A-Za-z]-$|第$")
_BRACKET = re.compile(r"[(（,，]([^()（）]{1,8})[)）]|(?<=单位)[: ]?([^，,;。:]{1,8}?)(?=[/，,;。]|$)")
_LISTED = re.compile(r" ?(?:[-~/、至到和及与]|to|and|or) ?[-+]?")
_FROM = re.compile(r"[由从]$")
_BECOMES = re.compile(r"[^,，。;\d]{0,6}[至到为]")
_JOINED = re.compile(r"(?:至|到|~|-|to)")


@dataclass(frozen=True, slots=True)
class FigureSpan:
    """A number at `[start, end)`: its absolute `value` in the unit of its family, and how exactly it is written.

    `direction` is +1 or −1 where a sign or a word of rise or fall belongs to it, else 0; `signed` if it is a sign.
    """

    start: int
    end: int
    value: float
    precision: float
    unit: str
    direction: int = 0
    signed: bool = False
    factor: float = 1.0
    bound: int = 0
    """+1 for 超六成, 六成多, −1 for 近六成."""

    def same(self, other: FigureSpan, around: str = "") -> bool:
        """Whether a source with `other` supports this number: equal, or rounded from it to the digits written here.

        A bare number, as in a table, takes its unit from `around`, the text that it is in.
        """
        if self.unit == "倍" and other.unit == "%":  # 增长2.3倍 of +230%
            return abs(self.value * 100 - other.value) <= 50.01 * self.precision
        points = self.unit == "pct" and self.factor < 1 and other.unit == "%"  # 120个基点 of 1.2%
        if self.unit and other.unit and not points and self.unit not in (other.unit, other.unit.partition("/")[0]):
            return False
        if not other.unit and other.factor == 1 and self.factor != 1 and self.value != other.value:
            factors = {claim_words().units[unit][1] * scale for unit, scale in _headed(around)}
            return self.factor in factors and abs(self.value / self.factor - other.value) < self.precision / self.factor
        if self.bound and self.factor and 0 < self.bound * (other.value - self.value) < self._step():
            return True
        if (
            not other.unit and other.factor == 1 and self.unit and self.value != other.value
        ):  # 27500元 of 单位万元，2.75
            family = self.unit.partition("/")[0]
            worth = {scale for unit, scale in _headed(around) if claim_words().units[unit][0] == family and scale > 1}
            if any(abs(self.value - other.value * scale) <= 0.5001 * self.precision for scale in worth):
                return True
        digits = len(f"{self.value / self.precision:.0f}") if self.precision else 0
        allowed = 0.5001 * self.precision if digits > 1 else min(0.5001 * self.precision, _COARSE * other.value)
        return abs(self.value - other.value) <= max(allowed, 1e-9 * max(self.value, 1.0))

    def _step(self) -> float:
        """Return what the last digit that is no nought is worth: 10 points of 60 %; below a number at most a fifth."""
        worth = self.precision
        while worth and self.value and self.value / worth % 10 == 0:
            worth *= 10
        return worth if self.bound > 0 else min(worth, max(self.precision, _FIFTH * self.value))

    def agrees(self, other: FigureSpan) -> bool:
        """Whether it moves as in the source: a fall is neither left out where a sign says it, nor invented."""
        if self.direction and other.direction:
            return self.direction == other.direction
        if other.signed and other.direction < 0:
            return False
        return self.direction >= 0 or other.direction != 0 or self.unit not in ("%", "pct", "倍")


def _headed(around: str) -> set[tuple[str, float]]:
    """Return the units in brackets of a text, as (unit, scale): (亿元)."""
    words = claim_words()
    found = set()
    for bracket, column in _BRACKET.findall(around):
        inner = bracket or column
        for scale, factor in (("", 1.0), *words.scales.items()):
            unit = inner.removeprefix(scale)
            if inner.startswith(scale) and unit in words.units:
                found.add((unit, factor))
    return found


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A date expression at `[start, end)`.

    `years` are those of a span of years, a `bare` one names no year, a `base` is what is compared with.
    """

    start: int
    end: int
    period: Period
    years: tuple[Period, ...]
    bare: bool = False
    base: bool = False


def folded(text: str) -> str:
    """Return a text in lower case, without spaces beside Chinese, with plain digits, and English dates as Chinese ones.

    >>> folded("A 股在 On 12 September, 2025 涨 1,234.5 元")
    'a股在on 2025年9月12日涨1234.5元'
    """
    text = _THOUSANDS.sub("", text.translate(_WIDE).lower().replace("**", "").replace("csi 300", "沪深300"))
    text = _FIRST_MONTHS.sub(lambda match: f"{match[2]}年1-{_NUMBERS.index(match[1]) + 2}月", text)
    for pattern, order in _ENGLISH_DATES:
        text = pattern.sub(lambda match, order=order: _chinese_date(match.groups(), order), text)  # type: ignore[misc]
    text = _BLANKS.sub("", " ".join(text.split()))
    text = _TENTHS.sub(lambda match: str("一二三四五六七八九".find(match[0]) + 1 or 2), text)
    text = _DOUBLED.sub("增长100%", text)
    text = _EDGE.sub(r"\1", _PREPOSED.sub("", _LONE_YEAR.sub(r"\1年", text)))
    return _PERIOD_LETTER.sub(lambda match: match[0].upper(), text)


def _chinese_date(groups: Sequence[str | None], order: tuple[int, int, int]) -> str:
    """Write the parts of an English date in Chinese; `order` has the places of year, month, and day or last month."""
    year, first, second = (groups[place] for place in order)
    months = _MONTHS.index(first or "") + 1
    begin = f" {year}年" if year else " "
    if first == second and order[1] == order[2]:
        return f"{begin}{months}月"
    if second in _MONTHS:
        return f"{begin}{months}-{_MONTHS.index(second) + 1}月"
    return f"{begin}{months}月{second}日"


@lru_cache(maxsize=4096)
def dates_of(text: str, day: date) -> tuple[DateSpan, ...]:
    """Return the dates of a folded sentence; those that only name the base of a comparison are left out."""
    return tuple(
        DateSpan(
            each.start,
            each.end,
            each.period,
            tuple(yearly(each)),
            not _YEARLY.search(each.text),
            each.role == "comparison",
        )
        for each in find_periods(text, day)
        if not _RELATIVE.search(each.text) and not _LASTING.search(text[: each.start])
    )


def dates_agree(claimed: DateSpan, source: DateSpan, *, figure: bool) -> bool:
    """Whether a date of a source allows one of a sentence: the same, one of its years, or for a day its month or year.

    The date of a figure is as fine as that of its source: a year does not get the number of a quarter.
    """
    one, other = claimed.period, source.period
    if (one.start, one.end) == (other.start, other.end) or one in source.years:
        return True
    until = other.precision is Precision.RANGE and one.precision is not Precision.RANGE and not figure  # by 2027
    if one.end == other.end and (one.precision is Precision.DAY or until):  # at the end of 2024Q4
        return True
    if (claimed.bare or source.bare) and _season(one) == _season(other) is not None:
        return True
    fine = other.precision in (Precision.DAY, Precision.WEEK)
    return one.precision is not Precision.RANGE and one.covers(other) and (fine or not figure)


def _season(period: Period) -> tuple[int, int, int, int] | None:
    """Return months and days of a period, to compare it with one of another year."""
    if period.start is None or period.end is None:
        return None
    return period.start.month, period.start.day, period.end.month, period.end.day


@lru_cache(maxsize=4096)
def figures_of(text: str, day: date) -> tuple[FigureSpan, ...]:
    """Return the numbers of a folded sentence that are no dates, in order."""
    blanked = list(text)
    for stated in dates_of(text, day):
        blanked[stated.start : stated.end] = "□" * (stated.end - stated.start)
    plain = "".join(blanked)
    found: list[FigureSpan] = []
    for match in claim_words().number.finditer(plain):
        found.append(_figure(plain, match, found[-1] if found else None))
    for place in range(len(found) - 2, -1, -1):  # 41.1、49.1 and 52.3个基点 share unit and scale
        one, after = found[place], found[place + 1]
        if not one.unit and one.factor == 1 and _LISTED.fullmatch(plain[one.end : after.start]):
            worth = after.factor
            found[place] = replace(
                one, value=one.value * worth, precision=one.precision * worth, unit=after.unit, factor=worth
            )
    for place in range(1, len(found)):  # $65-70
        one, after = found[place - 1], found[place]
        if (
            one.unit
            and not after.unit
            and after.factor == 1
            and _JOINED.fullmatch(plain[one.end : after.start].strip())
        ):
            found[place] = replace(
                after,
                value=after.value * one.factor,
                precision=after.precision * one.factor,
                unit=one.unit,
                factor=one.factor,
            )
    return tuple(found)


def with_changes(text: str, figures: Sequence[FigureSpan]) -> tuple[FigureSpan, ...]:
    """Return figures with the points between two percentages of which one becomes the other: 从4.97%提升至6.52%."""
    found = list(figures)
    for one, other in pairwise(figures):
        moved = _BECOMES.fullmatch(text[one.end : other.start]) and _FROM.search(text[: one.start])
        if moved and one.unit == other.unit == "%":
            change = round(other.value - one.value, 6)
            way = 1 if change > 0 else -1
            found.append(replace(other, value=abs(change), unit="pct", direction=way, signed=False))
    return tuple(found)


def _figure(text: str, match: re.Match[str], last: FigureSpan | None) -> FigureSpan:
    words = claim_words()
    start, end, digits = match.start("n"), match.end(), match["n"]
    if _NAME_BEFORE.search(text[max(start - 2, 0) : start]) and not match["before"]:
        return FigureSpan(start, match.end("n"), float(digits), 0.0, "")
    family, worth = words.units.get((match["unit"] or match["before"] or "").strip(), ("", 1.0))
    factor = words.scales.get((match["scale"] or "").strip(), 1.0) * worth
    per = words.per.get((match["per"] or "").strip(), "")
    unit = f"{family}/{per}" if per else family
    sign = text[start - 1 : start] if match["before"] is None else text[match.start() - 1 : match.start()]
    signed = sign in ("+", "-") and not (sign == "-" and re.search(r"[\da-z%]-$", text[:start]))
    precision = 10.0 ** -len(digits.partition(".")[2]) * factor
    if _ABOUT.search(text[:start]) and len(digits) > _EXACT and digits.isdecimal():  # 近1900 of 1894.38
        zeros = len(digits) - max(len(digits.rstrip("0")), _EXACT)
        precision *= 10.0**zeros
    direction = {"+": 1, "-": -1}[sign] if signed else _direction(text, match.start(), end, last)
    more = _MORE.search(text[:start]) or _AND_MORE.match(text, end) or match[0].endswith(("多", "余"))
    bound = 1 if more else -1 if _LESS.search(text[:start]) else 0
    return FigureSpan(start, end, float(digits) * factor, precision, unit, direction, signed, factor, bound)


def _direction(text: str, start: int, end: int, last: FigureSpan | None) -> int:
    """Return which way a number moves by the words right before it, or in English right after it."""
    floor = last.end if last else 0
    between = text[floor:start].strip()
    if last and (_JOINED.fullmatch(between) or (not last.signed and between in ("、", "/", "和", "及", "与"))):
        return last.direction
    before = text[max(floor, start - 24) : start]
    before = re.split(r"[,，;；。]", before)[-1]
    words = claim_words()
    for pattern, direction in ((words.rises_before, 1), (words.falls_before, -1)):
        if pattern.search(before):
            return direction
    after = text[end : end + 14]
    for pattern, direction in ((words.rises_after, 1), (words.falls_after, -1)):
        if pattern.match(after):
            return direction
    return 0
