"""Similarity of two company names by legal form, short form and brand; used for proposals, never for merging.

Chinese company names are abbreviated by keeping characters in order, from the start of each word: 上港集团 is
上海国际港务（集团）股份有限公司, 重百 is 重庆百货大楼. A group, its listed company and its subsidiaries share a
brand but are different companies, so a shared brand alone is the weakest match.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from kg.securities.phrases import phrases
from kg.securities.records import name_key

_BRACKETS = re.compile(r"[（(](?P<inside>[^（()）]*)[)）]")
_PHRASES = phrases("likeness")
_LEGAL, _PLACE, _TRADE = _PHRASES["legal_form"], _PHRASES["place"], _PHRASES["trade"]
_SHORTEST = 2


class Likeness(NamedTuple):
    """Similarity of two names, 0 … 1, and the reason; docs/identity.md describes the reasons."""

    score: float
    reason: str


NONE = Likeness(0.0, "")


def without_brackets(name: str) -> str:
    """Return the name without what is in brackets: （集团）, （上海）."""
    return _BRACKETS.sub("", name)


def place_end(name: str) -> int:
    """Return the end of the place that a name begins with, 0 if there is none.

    >>> place_end("深圳市大疆创新科技"), place_end("大疆创新")
    (3, 0)
    """
    match = _PLACE.match(name)
    return match.end() if match and len(name) - match.end() >= _SHORTEST else 0


@lru_cache(maxsize=65536)
def without_form(name: str) -> str:
    """Return the name without brackets and legal form, or the whole name if nothing else remains.

    >>> without_form("上海国际港务（集团）股份有限公司"), without_form("海尔集团")
    ('上海国际港务', '海尔')
    """
    key = without_brackets(name_key(name))
    bare = _LEGAL.sub("", key)
    return bare if len(bare) >= _SHORTEST else key


@lru_cache(maxsize=65536)
def brand(name: str) -> str:
    """Return the name without places and trades: the part that identifies a company family.

    >>> brand("深圳市大疆创新科技有限公司"), brand("蒙牛乳业"), brand("中国平安")
    ('大疆创新', '蒙牛', '平安')
    """
    bare = without_form(name)
    for pattern in (_PLACE, _TRADE):
        rest = pattern.sub("", bare)
        if len(rest) >= _SHORTEST:
            bare = rest
    return bare


def likeness(one: str, other: str) -> Likeness:
    """Score whether two names may belong to one company.

    Symmetric. 1.0: same name; 0.8 and above: only legal form or place differ; 0.7: short form; 0.5: same brand.

    >>> likeness("华为技术有限公司", "华为技术")
    Likeness(score=0.9, reason='legal_form')
    >>> likeness("上港集团", "上海国际港务（集团）股份有限公司").reason, likeness("平安银行", "招商银行").score
    ('short_form', 0.0)
    """
    a, b = name_key(one), name_key(other)
    if a == b:
        return Likeness(1.0, "same_name")
    bare_a, bare_b = without_form(one), without_form(other)
    if bare_a == bare_b:
        return Likeness(0.6, "group_and_company") if _is_group(a) != _is_group(b) else Likeness(0.9, "legal_form")
    brand_a, brand_b = brand(one), brand(other)
    if _placeless(bare_a) == _placeless(bare_b):
        return Likeness(0.8, "place")
    if brand_a == brand_b:
        return Likeness(0.5, "same_brand")
    short, long = sorted((bare_a, bare_b), key=len)
    if is_short_form(short, long):
        return Likeness(0.7, "short_form")
    if brand_a in brand_b or brand_b in brand_a:
        return Likeness(0.5, "same_brand")
    return NONE


def is_short_form(short: str, long: str) -> bool:
    """Whether the shorter name is a subsequence of the longer one, from its start or after the place name.

    >>> is_short_form("上港", "上海国际港务"), is_short_form("招行", "中国招标")
    (True, False)
    """
    if not _SHORTEST <= len(short) < len(long):
        return False
    return any(begin[:1] == short[:1] and is_subsequence(short, begin) for begin in (long, _placeless(long)))


def is_subsequence(short: str, long: str) -> bool:
    """Whether all characters of a name occur in a longer one in the same order."""
    rest = iter(long)
    return all(char in rest for char in short)


def _placeless(bare: str) -> str:
    return bare[place_end(bare) :]


def _is_group(key: str) -> bool:
    """Whether the name is that of a group (集团), not of a listed 集团股份."""
    return "集团" in key and "股份" not in key
