"""Whose figure it is when no known name says so: the noun phrase in front of the indicator, read word by word.

「2021年，中国LED封装市场规模约800亿元」: leftwards from 市场规模, 封装 and LED are words of a name, 中国 is a region,
and there the clause begins. A verb or a function word ends the phrase. What is found is a typed name without a code.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import rjieba
from msgspec import Struct
from msgspec.structs import replace

from extraction.claims.measures.words import (
    GENERIC,
    INNER,
    NARROWING,
    NO_NAMES,
    NOUNISH,
    OPENS,
    OWNER_FILLER,
    PLACES,
    SUBJECT_KINDS,
    TRADE,
    VERBS,
)
from extraction.sentence import EntityMention
from extraction.text.regex_prefilter import Prefiltered
from kg.ids import entity_id
from kg.model import Kind

if TYPE_CHECKING:
    from extraction.sentence import AnnotatedSentence

_SCORE = 0.75
_NAMED = SUBJECT_KINDS | {Kind.REGION}
_AROUND, _NARROWS = OWNER_FILLER | GENERIC, NARROWING | PLACES
_NOTHING = NO_NAMES | OWNER_FILLER | INNER
_INNER_FIRST, _BEHIND_NAME = INNER - {"前", "非", "抗"}, (INNER - {"级"}) | OWNER_FILLER | NARROWING | PLACES
_SHORTEST, _LONGEST = 2, 18
_WALL = Prefiltered(r"[，。；：！？（）()【】\[\]“”\"《》|]|\.{2,}")
_GROUP = re.compile(
    r"(?:厂商|企业|公司|药企|运营商|品牌|龙头|巨头|标的|样本|个股|大厂|客户|药房|医院|机构|供应商|者|团队|用户|人群|居民|家庭)$"
)
_OF_GROUP = re.compile(
    r"(?P<name>.{2,12}?)(?:全?行业|领域|板块|产业|市场|子板块)?(?:前[一二三四五六七八九十两\d]+大?|核心|主要|重点|上市|头部|规模以上|全部|多数|代表|A股|国内)*"
    r"(?:厂商|企业|公司|药企|运营商|品牌|龙头|标的|供应商)$"
)
_NAME_TAGS = ("n", "l", "i", "b", "j", "eng", "vn", "s", "a", "g", "zg", "an", "ag")
_CUT = re.compile(r"(?:[A-Za-z0-9]|[年月]期|[级类型]|其[他它])$")  # 「1年期同业存单」 is another thing than all of them
_JOINERS = frozenset(["和", "与", "及", "、", "/", "以及"])
_LATIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+/\-]*")
_MEASURE_TAIL = re.compile(
    r"(?:增速|增长|同比|环比|占比|比重|份额|金额|数量|总额|规模|情况|水平|速度|贡献|影响|幅度|预期)$"
)
_BAD = re.compile(
    r"^[\d.\-/+、和与及%]*$|图表|资料|来源|请务必|免责|研究所|研究院|证券研究|^[一二三四五六七八九十]$|年报|季报|评级|我们|截至|假设|TOP|\d[Xx]|^板块|^地区|^个股|^公司|^前|^占|^全|^其|^各|^该|^此|[Pp][EBS]$|TTM|FY\d|经调|ROE|CAGR|同比|环比|\d{2,4}(?:H|Q|年)"
)


class Owner(Struct, frozen=True):
    """Who is measured: `ref` is None when the clause names nobody, `region` is the place it names.

    `scope` holds the place (`places` where several stand in a row) and what narrows it to some firms (前三大企业);
    `told` is False where the words before the indicator cannot be read; `inside` says that somebody has it within
    what is named (甲公司在挖机市占率), `doubt` that other words stand before it.
    """

    ref: EntityMention | None = None
    region: EntityMention | None = None
    scope: str = ""
    told: bool = True
    places: tuple[str, ...] = ()
    inside: bool = False
    doubt: bool = False


class _Word(Struct, frozen=True):
    start: int
    end: int
    text: str
    tag: str


def read_owner(annotated: AnnotatedSentence, end: int, *, alone: bool = False, since: int = 0) -> Owner:
    """Read the phrase that ends where the indicator's own word begins; `alone` stops at 和, `since` at an offset."""
    text = annotated.text
    begin = max((found.end() for found in _WALL.finditer(text, 0, end)), default=0)
    begin = max(begin, since)
    words = _words(annotated, begin, end)
    at = len(words)
    while at and (words[at - 1].tag == "date" or words[at - 1].text in _AROUND or _counts(words, at - 1)):
        at -= 1
    last = at
    sold = bool(last) and text.startswith("市场", words[last - 1].end)  # 「外包市场」: before it a verb is a name
    while at and _is_name(words[at - 1], first=at == last and not sold):
        if alone and words[at - 1].text in _JOINERS:
            break
        at -= 1
    told = at == 0 or words[at - 1].tag != "x"
    opens = at == 0 or words[at - 1].tag == "date" or words[at - 1].text in OPENS
    inside = text[: words[at].start].endswith(("在", "于")) if at < last else False
    owner = _owner(annotated, words[at:last], words[last:], told=told)
    # Where a new name begins must be plain, and a clause that names nobody has no other words before its indicator.
    known = owner.ref is not None and owner.ref in annotated.refs and not _CUT.search(text, 0, owner.ref.start)
    doubt = not (opens or alone or known) or (at == 0 and _cut_by_bracket(text, begin))
    return replace(owner, inside=inside, doubt=doubt, scope=owner.scope or _place_before(words, at))


def _place_before(words: list[_Word], at: int) -> str:
    """Return the place that stands before a phrase's date: 欧盟2023年绿地投资."""
    if not (at and words[at - 1].tag == "date"):
        return ""
    while at and words[at - 1].tag == "date":
        at -= 1
    return words[at - 1].text if at and (words[at - 1].tag == "region" or words[at - 1].text in PLACES) else ""


def _cut_by_bracket(text: str, begin: int) -> bool:
    """Whether a phrase goes on before the bracket that it stands behind: 独立焦化厂（全样本）焦炭库存."""
    if not text[:begin].endswith(("）", ")")):
        return False
    opened = max(text.rfind("（", 0, begin), text.rfind("(", 0, begin))
    return opened > 0 and text[opened - 1] not in "，。；：！？、 "


def _counts(words: list[_Word], at: int) -> bool:
    """Whether a word only counts the firms that are measured: 297家公司."""
    counted = words[at].tag == "x" and words[at].text.endswith("家")
    return counted or (words[at].text in {"公司", "企业", "上市公司"} and at > 0 and words[at - 1].text.endswith("家"))


def _owner(annotated: AnnotatedSentence, name: list[_Word], generic: list[_Word], *, told: bool) -> Owner:
    """Take region words off the front of a phrase and type what is left."""
    phrase = name
    name, region, scope = _placed(annotated, name)
    name, before = _behind_market(name)
    where = _row_of(phrase, scope) + before
    if not name:
        return Owner(None, region, where, told)
    start, end = name[0].start, name[-1].end
    words = annotated.text[start:end]
    if _GROUP.search(words):
        return _of_group(annotated, (start, end), region, where, told=told)
    named = [ref for ref in annotated.refs if ref.start >= start and ref.end <= end and ref.name not in NO_NAMES]
    known = [ref for ref in named if ref.kind in SUBJECT_KINDS]
    if known and known[-1].start == start and known[-1].end == end:
        return Owner(known[-1], region, where, told, tuple(scope))
    if known and known[-1].kind == Kind.COMPANY and known[-1].end == end:
        return Owner(known[-1], region, where, told, tuple(scope))
    measures = any(ref.kind == Kind.INDICATOR and start <= ref.start and ref.end <= end for ref in annotated.refs)
    if measures or not _is_sound(words) or all(word.text in _NOTHING for word in name):
        return Owner(None, region, where, told=False)
    if known and known[0].kind == Kind.COMPANY:
        return Owner(None, region, where, told=False)  # 「苹果手机」 is neither the firm nor any phone
    kind = Kind.INDUSTRY if any(word.text in TRADE for word in generic) or words.endswith("业") else Kind.PRODUCT
    return Owner(
        EntityMention(entity_id(kind, words), kind, words, start, end, score=_SCORE), region, where, told, tuple(scope)
    )


def _placed(annotated: AnnotatedSentence, name: list[_Word]) -> tuple[list[_Word], EntityMention | None, list[str]]:
    """Take off a phrase's ends what says where it is measured: the name, its region, the places as worded."""
    scope: list[str] = []
    region: EntityMention | None = None
    while name and (name[0].text in PLACES or name[0].tag == "region" or name[0].text in _INNER_FIRST):
        if name[0].text not in INNER:
            scope.append(name[0].text)
        known = [ref for ref in annotated.refs if ref.start == name[0].start and ref.kind == Kind.REGION]
        region = known[0] if known else region
        name = name[1:]
    while name and (name[-1].text in _BEHIND_NAME):
        if name[-1].text in _NARROWS:
            scope.append(name[-1].text)
        name = name[:-1]
    return name, region, scope


def _row_of(phrase: list[_Word], scope: list[str]) -> str:
    """Return what says where a figure is measured in one: 全国规上, and 云南、四川, which are two places."""
    joined = {word.text for before, word in pairwise(phrase) if before.text in _JOINERS | {"&"}}
    return "".join("、" + word if at and word in joined else word for at, word in enumerate(scope))


def _behind_market(name: list[_Word]) -> tuple[list[_Word], str]:
    """「汽车主要市场新能源汽车」: what stands before 市场 says where, not what."""
    inner = max((at for at, word in enumerate(name) if word.text in GENERIC and at), default=-1)
    return name[inner + 1 :], "".join(word.text for word in name[: inner + 1])


def _of_group(
    annotated: AnnotatedSentence, span: tuple[int, int], region: EntityMention | None, where: str, *, told: bool
) -> Owner:
    """「消费电子领域重点公司2020年收入」 is the trade's, narrowed to some firms; 「前三大企业」 names no trade."""
    words = annotated.text[slice(*span)]
    trade = _OF_GROUP.fullmatch(words)
    if trade is None or trade["name"] in NO_NAMES or not _is_sound(trade["name"]) or _GROUP.search(trade["name"]):
        return Owner(None, region, where + words, told)
    start, end = span[0], span[0] + trade.end("name")
    known = next((ref for ref in annotated.refs if (ref.start, ref.end) == (start, end)), None)
    if known is None or known.kind not in SUBJECT_KINDS:
        name = trade["name"]
        known = EntityMention(entity_id(Kind.INDUSTRY, name), Kind.INDUSTRY, name, start, end, score=_SCORE)
    return Owner(known, region, where + words[trade.end("name") :], told)


def _is_sound(words: str) -> bool:
    if not _SHORTEST <= len(words) <= _LONGEST or _BAD.search(words) or _MEASURE_TAIL.search(words):
        return False
    return words not in OWNER_FILLER and words not in GENERIC


def _words(annotated: AnnotatedSentence, begin: int, end: int) -> list[_Word]:
    """Cut a stretch into words, dates and known names; a known name is never cut."""
    fixed = [(dated.start, dated.end, "date") for dated in annotated.periods if begin <= dated.start < end]
    fixed += [
        (ref.start, min(ref.end, end), "region" if ref.kind == Kind.REGION else "name")
        for ref in annotated.refs
        if begin <= ref.start < end and ref.kind in _NAMED
    ]
    fixed += [(each.start, each.end, "x") for each in annotated.quantities if begin <= each.start < end]
    out: list[_Word] = []
    at = begin
    for start, stop, tag in sorted(fixed):
        if start < at:
            continue
        out += _cut(annotated.text, at, start)
        out.append(_Word(start, stop, annotated.text[start:stop], tag))
        at = stop
    return out + _cut(annotated.text, at, end)


def _cut(text: str, begin: int, end: int) -> list[_Word]:
    out, at = [], begin
    for word, tag in rjieba.tag(text[begin:end]):
        if word.strip():
            out.append(_Word(at, at + len(word), word, tag))
        at += len(word)
    return out


def _is_name(word: _Word, *, first: bool) -> bool:
    """Whether a word may be part of a name; `first` is the one nearest the indicator."""
    if word.tag in {"name", "region"}:
        return True
    if word.tag in {"date", "x"} and not _LATIN.fullmatch(word.text):
        return word.text in {"/", "+", "-", "&", "、", "·"} and not first
    if word.text in OWNER_FILLER:
        return word.text == "用" and not first
    if word.text in NOUNISH or (word.text in INNER and not first):
        return True
    if word.tag == "v" and not first and len(word.text) > 1:
        return word.text not in VERBS
    if _LATIN.fullmatch(word.text):
        return True
    return word.tag.startswith(_NAME_TAGS)
