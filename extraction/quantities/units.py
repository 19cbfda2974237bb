"""Scales, currencies, units (lexicon/units.yaml), number words; a unit has one spelling (千瓦时 → kWh, 美金 → 美元)."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from extraction.text.lexicon import table
from kg.text.regex_prefilter import first_letters

_TABLE = table("units")


def _spellings(folded: dict[str, str]) -> dict[str, str]:
    """Map each other spelling of a unit to the unit."""
    return {word: unit for unit, words in folded.items() for word in words.split()}


def _family(name: str) -> dict[str, str]:
    """Map every spelling of a family of units to its unit."""
    units = [*_TABLE[name].get("same", "").split(), *_TABLE[name]["folded"]]
    return {unit: unit for unit in units} | _spellings(_TABLE[name]["folded"])


MONEY, RATIOS, GOODS = (_family(name) for name in ("money", "ratios", "goods"))
CHINESE_COUNTED = _TABLE["chinese_counted"].split()


def _alternatives(units: dict[str, str]) -> str:
    ordered = sorted(units, key=len, reverse=True)
    return "|".join(_guarded(unit) for unit in ordered)


def _guarded(unit: str) -> str:
    latin = unit[-1].isascii() and unit[-1].isalpha()
    guard = "(?![A-Za-z0-9])" if latin else f"(?!{_TABLE['not_before'][unit]})" if unit in _TABLE["not_before"] else ""
    return re.escape(unit) + guard


NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"


class Scale(Struct, frozen=True):
    """A scale of a number: its factor, and the name that is stored (bn is 十亿)."""

    factor: float
    name: str


def _scales(section: str) -> dict[str, Scale]:
    return {
        word.lower(): Scale(row["factor"], row.get("name", word))
        for row in _TABLE[section]
        for word in row["words"].split()
    }


SCALES, MONEY_SCALES = _scales("scales"), _scales("money_scales")


def _scale_pattern() -> str:
    """Return the alternation of scales, longest first, Latin ones with a blank before and no letter after them."""
    han: list[str] = []
    latin: list[str] = []
    for row in _TABLE["scales"]:
        guard = f"(?={row['before']})" if "before" in row else f"(?!{row['not_before']})" if "not_before" in row else ""
        for word in row["words"].split():
            (latin if word.isascii() else han).append(word + guard)
    longest = sorted(latin, key=len, reverse=True)
    return f"(?:{'|'.join(han)}|(?i: ?(?:{'|'.join(longest)})(?![A-Za-z])))"


SCALE = _scale_pattern()
CURRENCIES: dict[str, str] = {word: row["unit"] for row in _TABLE["currencies"] for word in row["words"].split()}
_LATIN_MONEY = [word for word in CURRENCIES if word.isalpha() and word.isascii()]
_PER_WORDS = "|".join(sorted((_guarded(word) for word in _TABLE["per"].split()), key=len, reverse=True))
_UNIT = (
    f"(?:{_alternatives(RATIOS)}|(?:{_alternatives(MONEY)})(?:/ ?(?:{_PER_WORDS}))?"
    f"|(?:{_alternatives(GOODS)})(?:/ ?(?:{_PER_WORDS}))?"
    f"| ?(?:{'|'.join(_LATIN_MONEY)}|percent|GWh|GW|MW|TWh|kWh|tons?)(?![A-Za-z]))"
)
UNIT = f"(?={first_letters(_UNIT)}){_UNIT}"  # the lookahead rejects most text quickly
_FOLDED: dict[str, str] = {
    **{word: CURRENCIES[word] for word in _LATIN_MONEY},
    **GOODS,
    **MONEY,
    **RATIOS,
    "tons": "吨",
    "ton": "吨",
}
_FOLDED_PER: dict[str, str] = _spellings(_TABLE["per_folded"])


@lru_cache(maxsize=1024)
def fold_unit(text: str) -> str:
    """Return the normalised spelling of a unit; "" stays ""."""
    unit, slash, per = text.strip().partition("/")
    per = per.strip()
    return _FOLDED.get(unit, unit) + slash + _FOLDED_PER.get(per, per)


ONLY_OF = {unit: re.compile(things) for unit, things in _TABLE["only_of"].items()}

_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_POWERS = {"十": 10, "百": 100, "千": 1000}


def chinese_number(text: str) -> float:
    """Read a number in characters: 十二, 三百五十, 两千, 一百二十万, 十五点七.

    >>> chinese_number("一千七百四十一"), chinese_number("十五点七"), chinese_number("三亿五千万")
    (1741.0, 15.7, 350000000.0)
    """
    whole, point, decimals = text.partition("点")
    if point:
        return chinese_number(whole) + float("0." + "".join(str(_DIGITS[char]) for char in decimals))
    total = section = digit = 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _POWERS:
            section, digit = section + (digit or 1) * _POWERS[char], 0
        else:
            factor, section, digit = int(SCALES[char].factor), section + digit, 0
            total = total + section * factor if total >= factor else (total + section or 1) * factor  # 三亿五千万
            section = 0
    return float(total + section + digit)
