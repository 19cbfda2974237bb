"""Classify a number as a level or a change, with kind and direction: 同比下滑12.3% is a yoy change of −12.3."""

from __future__ import annotations

import re

from msgspec import Struct

from extraction.text.lexicon import phrases
from kg.text.regex_prefilter import Prefiltered, first_letters

# kind, pattern, example; the last one before the number decides
KINDS = (
    ("cagr", "CAGR|[Cc]agr|复合年?均?增长率?|复合(?:年增|增速)|年均?复合|年均增长率?|年[均化]增速", "CAGR=4.5%"),
    ("wow", "周环比|周度环比|较上周|比上周|环比上周|周同比|[Ww][Oo][Ww]|周(?=涨|跌|升|降|$)", "周环比-1.2%"),
    ("mom", "月环比|月度环比|较上月|比上月|环比上月|[Mm][Oo][Mm]|(?<!\\d)月(?=涨|跌|升|降|$)", "较上月增长3%"),
    ("ytd", "年初至今|年初以来|今年以来|较年初|比年初|较(?:去|上)年(?:年?底|年?末)|[Yy][Tt][Dd]", "年初至今上涨18%"),
    ("qoq", "季环比|较上季度?|比上季度?|[Qq][Oo][Qq]|环比|环(?=增|降|减|升|跌|$)", "环比+8.7%"),
    (
        "yoy",
        ("同比|[Yy][Oo][Yy]|按年|年增|[较比](?:去|上)年(?:同[期季月])?|较20\\d\\d年同期|同(?=增|降|减|$)"
         "|(?<!\\d)年(?=涨|跌|$)"),
        "同比+13.3%",
    ),
    ("share", "占比|市占率|份额|比重|占(?!位|用|有率?|地|款|线|优|领|压|据着)", "占比28%"),
    ("change", "较|相比|对比", "较2024年提升10个百分点"),
)  # fmt: skip

UP = [
    "增长", "上升", "提升", "提高", "上涨", "涨", "扩大", "回升", "增加", "上行", "走高", "攀升", "跃升", "激增",
    "大增", "高增", "微增", "多增", "净增", "增", "升", "上调", "提价", "涨价", "反弹", "走阔", "加快", "改善",
    "飙升", "暴增", "猛增", "增厚", "上浮", "抬升", "拉升", "增产", "大涨", "微涨", "收涨", "领涨", "累涨", "回暖",
    "修复", "提速",
]  # fmt: skip
DOWN = [
    "下滑", "下降", "减少", "下跌", "跌", "回落", "收窄", "降低", "降", "减", "下调", "降价", "缩减", "萎缩",
    "走低", "下行", "下挫", "锐减", "大跌", "大降", "微降", "微跌", "少增", "缩窄", "收缩", "缩水", "减产", "收跌",
    "领跌", "暴跌", "骤降", "滑落", "走弱", "放缓", "下探", "下浮", "走跌", "折价", "压缩", "削减", "腰斩",
]  # fmt: skip
UP_NOUNS = ["增速", "增幅", "涨幅", "增长率", "涨跌幅", "升幅", "增量", "变动", "变化", "溢价率?"]
DOWN_NOUNS = ["降幅", "跌幅", "减幅"]

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
_AFTER_KIND = re.compile(
    r" ?[（(]?(?P<kind>[Yy][Oo][Yy]|[Qq][Oo][Qq]|[Mm][Oo][Mm]|[Ww][Oo][Ww]|CAGR)(?![A-Za-z]| ?[+\-−\d])"
)
_STEPS = {"月": "mom", "周": "wow"}
_AFTER_STEP = re.compile(" ?(月|周)环比")
_LESS_THAN = re.compile("跑输|低于|落后|少于")
_LEVEL = _PHRASES["level"]
_FROM = re.compile("(?:从|由|自)[^，。；]{0,8}$")
_TO = re.compile("[^，。；]{0,8}(?:至|到|→)(?:约|近|了)?$")
_LOSS = re.compile("(?:利润|净利)[^，。；]{0,4}(?<!净)亏损(?:额|了|约|近|为|达)?$")
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
    return ChangeKind("", -1 if _LOSS.search(left) else 1, kind if kind != "share" else "", start=start)


def follows(text: str, begin: int, end: int) -> bool:
    """Whether the words between two levels say that the first became the second (提升至)."""
    return bool(_TO.fullmatch(text[begin:end]))
