"""Scales, units (lexicon/units.yaml) and number words; a unit has one spelling (千瓦时 → kWh, 个百分点 → pct)."""

from __future__ import annotations

import re
from functools import lru_cache

from extraction.text.lexicon import table
from kg.text.regex_prefilter import first_letters

SCALES = {
    "万亿": 1e12, "千亿": 1e11, "百亿": 1e10, "十亿": 1e9, "亿": 1e8, "千万": 1e7, "百万": 1e6, "十万": 1e5, "万": 1e4,
    "千": 1e3, "百": 1e2,
    "trillion": 1e12, "tn": 1e12, "billion": 1e9, "bn": 1e9, "million": 1e6, "mn": 1e6, "k": 1e3,
}  # fmt: skip

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
SCALE = (
    "(?:万亿|千亿|百亿|十亿|亿|千万|百万|十万|万|千(?![瓦克米卡])|百(?![分])"
    "|(?i: ?(?:trillion|billion|million|bn|mn|tn|k)(?![A-Za-z])))"
)
_PER_WORDS = "|".join(sorted((_guarded(word) for word in _TABLE["per"].split()), key=len, reverse=True))
_UNIT = (
    f"(?:{_alternatives(RATIOS)}|(?:{_alternatives(MONEY)})(?:/ ?(?:{_PER_WORDS}))?"
    f"|(?:{_alternatives(GOODS)})(?:/ ?(?:{_PER_WORDS}))?| ?(?:percent|GWh|GW|MW|TWh|kWh|tons?)(?![A-Za-z]))"
)
UNIT = f"(?={first_letters(_UNIT)}){_UNIT}"  # the lookahead rejects most text quickly
_FOLDED = {**GOODS, **MONEY, **RATIOS, "tons": "吨", "ton": "吨"}
_FOLDED_PER = _spellings(_TABLE["per_folded"])


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
