"""Classify a number as a level or a change, with kind and direction: 同比下滑12.3% is a yoy change of −12.3."""

from __future__ import annotations

import re

from msgspec import Struct

from extraction.text.lexicon import phrases, table
from kg.text.regex_prefilter import Prefiltered, first_letters

_TABLE = table("changes")
# kind, pattern, example; the last one before the number decides
KINDS = tuple((kind, entry["pattern"], entry["example"]) for kind, entry in _TABLE["kinds"].items())

UP, DOWN, UP_NOUNS, DOWN_NOUNS = (_TABLE[name].split() for name in ("up", "down", "up_nouns", "down_nouns"))

_WORDS = "|".join(sorted((*UP, *DOWN), key=len, reverse=True))
_NOUNS = "|".join((*UP_NOUNS, *DOWN_NOUNS))
_DOWN = frozenset(DOWN)
_ABOUT = "了|约|近|超过|超|逾|幅度|幅|大约|不到|不足|最高|最多|至多|至少|分别|均|各|仅|再|将近|接近|高达|多达"
_FILLER = f"(?:{_ABOUT}|有望|累计|平均|或| )"
_LOOSE = f"(?:{_ABOUT}|达到|达|为|在|[=:： （])"
_NO_VERB = f"(?={first_letters(_WORDS)})(?<!新)(?!(?<=涨)跌)"  # 新增 is a noun, 涨跌幅 has no direction
# A verb may directly precede the number; before a percentage also with 达 or 为, but not with 至, which marks a level.
_VERB = re.compile(f"{_NO_VERB}(?P<word>{_WORDS}){_FILLER}{{0,4}}$")
_VERB_LOOSE = re.compile(f"{_NO_VERB}(?P<word>{_WORDS}){_LOOSE}{{0,4}}$")
_NOUN = re.compile(f"(?P<word>{_NOUNS}){_LOOSE}{{0,4}}$")
_NOUN_ANYWHERE = re.compile(f"(?P<word>{_NOUNS})")
_KIND = Prefiltered("|".join(f"(?P<{name}>{pattern})" for name, pattern, _ in KINDS))
_PHRASES = phrases("quantities/change")
_AFTER = _PHRASES["after"]
_AFTER_KIND = _PHRASES["after_kind"]
_STEPS = {"月": "mom", "周": "wow"}
_AFTER_STEP = re.compile(" ?(月|周)环比")
_LESS_THAN = re.compile("跑输|低于|落后|少于")
_LEVEL = _PHRASES["level"]
_FROM = re.compile("(?:从|由|自)[^，。；]{0,8}$")
_TO = re.compile("[^，。；]{0,8}(?:至|到|→)(?:约|近|了)?$")
# 亏损70.4亿元 is a negative profit; 减亏 and 扭亏 are no losses
_LOSS = re.compile(
    "(?:亏损(?:金额|总额|额|规模)?|(?<![扭减转止盈])亏)(?:(?:同比|环比|进一步|大幅)?(?:扩大|增加|增|收窄|缩小|缩窄|减少|降)[至到])?"
    f"(?:{_ABOUT}|不低于|不少于|不超过|不高于|[了为达至到]|达到|介于|在|人民币|：| ){{0,4}}$"
)
_LOST_AFTER = re.compile("的?(?:净|巨额)?亏损(?![面率收扩缩减企])")
# Rates of a result, whose signed percentage is their level: 净利率-10.4%
_RATE = re.compile("(?:毛利|净利|净利润|利润|资产收益)率$|RO[EA]$")
_MONTHLY = re.compile("[周月季]|Q[1-4]|[1-4]Q|[12]H|H[12]|半年")
_BREAK = re.compile("[，,；;。！？!?|]")
_WINDOW = 30  # characters before a number in which direction words apply

DIFFERENCES = frozenset({"pct", "bp"})


class ChangeKind(Struct, frozen=True):
    """The kind of change of a number ("" for a level) and its sign."""

    kind: str = ""
    sign: int = 1
    base: str = ""  # the kind of change whose base this level is: 环比5月的0.55元下降15%
    start: bool = False  # the first of two levels: 从5%提升至8%


class Place(Struct, frozen=True):
    """A number in its sentence: its sign ("", "+", "-"), its unit, and the end of the preceding number (`floor`)."""

    start: int
    end: int
    unit: str
    sign: str
    floor: int


def read_change(text: str, place: Place) -> ChangeKind:
    """Return kind and direction by the words of the clause before the number, then by those right after it."""
    left = _left(text, place)
    kind = _kind(left, text[: place.start])
    if place.sign:
        suffix = _AFTER_STEP.match(text, place.end) if place.unit == "%" else None
        return _signed(left, place, _STEPS[suffix[1]] if suffix else kind)
    if direction := _direction(left, place.unit):
        return ChangeKind("change" if kind in {"", "share"} else kind, direction)
    if place.unit == "pct":
        return ChangeKind("change" if kind in {"", "share"} else kind, -1 if _LESS_THAN.search(left) else 1)
    return _plain(text, place, left, kind)


def _left(text: str, place: Place) -> str:
    return _BREAK.split(text[max(place.floor, place.start - _WINDOW) : place.start - len(place.sign)])[-1]


def _kind(left: str, before: str) -> str:
    found = ""
    for match in _KIND.finditer(left):
        found = match.lastgroup or ""
        if found == "qoq" and match[0] == "环比":
            found = _step(before)
    return found


def _step(before: str) -> str:
    """Return the kind of 环比 by the last interval before it: week, month or quarter."""
    last = ""
    for match in _MONTHLY.finditer(before[-120:]):
        last = match[0]
    return {"周": "wow", "月": "mom"}.get(last, "qoq")


def _direction(left: str, unit: str) -> int:
    loose = unit in {"%", "倍"} | DIFFERENCES
    found = (_VERB_LOOSE if loose else _VERB).search(left) or _NOUN.search(left)
    if not found:
        return 0
    return -1 if found["word"] in _DOWN or found["word"] in DOWN_NOUNS else 1


def _signed(left: str, place: Place, kind: str) -> ChangeKind:
    """Classify a signed number: +5% is a change, -5% too unless it is a level (利润率为-5%), money only if compared."""
    if kind and kind != "share":
        return ChangeKind(kind)
    if place.sign == "+" or place.unit in DIFFERENCES:
        return ChangeKind("change")
    if (place.sign == "负" and not _NOUN_ANYWHERE.search(left)) or (place.unit == "%" and _RATE.search(left)):
        return ChangeKind(kind)  # 毛利率负3.2%
    if place.unit == "%" and (_NOUN_ANYWHERE.search(left) or not _LEVEL.search(left)):
        return ChangeKind("change")
    return ChangeKind(kind)


def _plain(text: str, place: Place, left: str, kind: str) -> ChangeKind:
    start = bool(_FROM.search(left))
    if place.unit in {"%", "倍"}:
        noun = _NOUN_ANYWHERE.search(left)
        if noun:
            return ChangeKind(
                "change" if kind in {"", "share"} else kind, -1 if noun["word"] in DOWN_NOUNS else 1, start=start
            )
        after = None if start else _AFTER.match(text, place.end)
        if after:
            named = {"同比": "yoy", "环比": "qoq", "": ""}.get(after["kind"] or "", "cagr")
            falling = after["word"] in _DOWN or after["word"] in DOWN_NOUNS
            return ChangeKind(named or (kind if kind not in {"", "share"} else "change"), -1 if falling else 1)
        suffix = _AFTER_KIND.match(text, place.end)
        if suffix:
            return ChangeKind(suffix["kind"].lower())
        return ChangeKind("" if kind == "change" else kind, 1, start=start)
    lost = _LOSS.search(left) or (place.unit not in DIFFERENCES and _LOST_AFTER.match(text, place.end))
    return ChangeKind("", -1 if lost else 1, kind if kind != "share" else "", start=start)


def follows(text: str, begin: int, end: int) -> bool:
    """Whether the words between two levels say that the first became the second (提升至)."""
    return bool(_TO.fullmatch(text[begin:end]))
