"""Numbers with their units, scales, ranges and directions, from one sentence of a Chinese report.

A bare number is no quantity: years, codes (600519), models (4680电池, H20) and ratios (3:2) yield nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from extraction.quantities_change import Change, Place, follows, read_change
from extraction.quantities_reading import scan
from kg.model import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extraction.quantities_words import Raw

Name = TypeVar("Name")


class Quantity(Struct, frozen=True):
    """A number as stated: `sentence[start:end] == text`.

    Args:
        start: offset of the number, its sign included.
        end: offset behind the unit.
        text: the stated characters.
        number: in base units with the direction folded in: 9.45亿元 is 9.45e8, 34% is 34.0, 下滑12.3% is -12.3.
        unit: 元, %, pct (percentage points), bp, 吨, 元/吨, …; "" when only a scale was said.
        scale: 亿, 万, … as stated or taken from the end of the list.
        high: upper end of a range, whose lower end is `number`.
        approx: 约, 近, 超, 左右, 余 stand beside it.
        change: "" for a level, else yoy, qoq, mom, wow, ytd, cagr, share, or change when the base is not said.
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
    """Quantities of one unit told in a row: 9.45/10.3/11.2亿元."""

    start: int
    end: int
    items: tuple[Quantity, ...]

    @property
    def unit(self) -> str:
        """The unit that all items share."""
        return self.items[0].unit


_NO_CHANGE = Change()
_SEPARATOR = re.compile(" ?(?:/|、|和|及|与|以及) ?")


def find_quantities(text: str) -> list[Quantity]:
    """Return the quantities of one normalised sentence in order, without overlaps."""
    found: list[Quantity] = []
    previous = _NO_CHANGE
    for raw in scan(text):
        floor = found[-1].end if found else 0
        change = read_change(text, Place(raw.start + len(raw.sign), raw.end, raw.unit, raw.sign, floor))
        if found:
            change = _carried(text, found[-1], raw, change, previous)
        found.append(_finished(text, raw, change))
        previous = change
    return found


def find_lists(text: str, quantities: Sequence[Quantity] | None = None) -> list[QuantityList]:
    """Return the runs of two or more quantities of one unit with only separators between them.

    Args:
        text: one normalised sentence.
        quantities: those of the sentence where they are known; else they are found.
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
    """Pair a list with the years or names told before it, only when there are as many of the one as of the other."""
    if len(listed.items) != len(names):
        message = f"{len(names)}个名目对{len(listed.items)}个数"
        return Problem("alignment", message, listed.start, listed.end)
    return list(zip(names, listed.items, strict=True))


_BASIS = re.compile("(?P<扣非>扣非|扣除非经常性?)|(?P<归母>归母|归属于)")


def basis_of(text_before: str) -> str:
    """Return the basis of profit told last: 扣非, 归母 or ""; 扣非归母净利润 is 扣非."""
    found = [match.lastgroup or "" for match in _BASIS.finditer(text_before)]
    if found[-2:] == ["扣非", "归母"] and re.search("扣非后?(?:的)?归母|扣除非经常性?损益[^，。]{0,6}归", text_before):
        return "扣非"
    return found[-1] if found else ""


def _carried(text: str, last: Quantity, raw: Raw, change: Change, previous: Change) -> Change:
    """Later items of a list, and the second of 从A提升至B, take the kind of the first."""
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


def _finished(text: str, raw: Raw, change: Change) -> Quantity:
    low, high = raw.number, raw.high
    if change.sign < 0 and not raw.sign:
        low, high = (-low, None) if high is None else (-high, -low)
    stated = text[raw.start : raw.end]
    top = None if high is None else _clean(high)
    return Quantity(raw.start, raw.end, stated, _clean(low), raw.unit, raw.scale, top, raw.approx, change.kind)


def _clean(number: float) -> float:
    """Drop the dust of binary fractions: 2.3 * 1e8 is 229999999.99999997."""
    return float(f"{number:.12g}")
