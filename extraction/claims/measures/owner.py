"""Find the owner of an indicator that is not a known name: the noun phrase before it.

「2021年，中国LED封装市场规模约800亿元」: scanning left from 市场规模, 封装 and LED belong to the name, 中国 is a
region, then the clause starts. A verb or function word ends the phrase. The result is a typed name without a code.
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
from extraction.text.lexicon import phrases
from kg.ids import entity_id
from kg.model import Kind
from kg.text.regex_prefilter import Prefiltered

if TYPE_CHECKING:
    from extraction.sentence import AnnotatedSentence

_SCORE = 0.75
_NAMED = SUBJECT_KINDS | {Kind.REGION}
_SKIPPED, _NARROWS = OWNER_FILLER | GENERIC, NARROWING | PLACES
_NON_NAMES = NO_NAMES | OWNER_FILLER | INNER
_INNER_FIRST, _BEHIND_NAME = INNER - {"前", "非", "抗"}, (INNER - {"级"}) | OWNER_FILLER | NARROWING | PLACES
_SHORTEST, _LONGEST = 2, 18
_BOUNDARY = Prefiltered(r"[，。；：！？（）()【】\[\]“”\"《》|]|\.{2,}")
_PHRASES = phrases("measures/owner")
_GROUP = _PHRASES["group"]
_OF_GROUP = _PHRASES["of_group"]
_NAME_TAGS = ("n", "l", "i", "b", "j", "eng", "vn", "s", "a", "g", "zg", "an", "ag")
_JOINERS = frozenset(["和", "与", "及", "、", "/", "以及"])
_LATIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+/\-]*")
_INVALID_NAME = _PHRASES["invalid_name"]


class Owner(Struct, frozen=True):
    """The owner of an indicator.

    `ref` is None if the clause names no owner; `region` is its place. `scope` holds the place (`places` lists several
    joined ones) and any restriction to a group of companies (前三大企业). `readable` is False if the words before the
    indicator cannot be parsed, `inside` is True if another entity holds the share within the named market
    (甲公司在挖机市占率), `doubt` is True if other words precede the phrase.
    """

    ref: EntityMention | None = None
    region: EntityMention | None = None
    scope: str = ""
    readable: bool = True
    places: tuple[str, ...] = ()
    inside: bool = False
    doubt: bool = False


class _Word(Struct, frozen=True):
    start: int
    end: int
    text: str
    tag: str


def read_owner(annotated: AnnotatedSentence, end: int, *, alone: bool = False, since: int = 0) -> Owner:
    """Read the phrase that ends at `end`, where the indicator starts; `alone` stops at 和, `since` at an offset."""
    text = annotated.text
    begin = max((found.end() for found in _BOUNDARY.finditer(text, 0, end)), default=0)
    begin = max(begin, since)
    words = _words(annotated, begin, end)
    at = len(words)
    while at and (words[at - 1].tag == "date" or words[at - 1].text in _SKIPPED):
        at -= 1
    last = at
    sold = bool(last) and text.startswith("市场", words[last - 1].end)  # 「外包市场」: a verb before 市场 can be a name
    while at and _is_name(words[at - 1], first=at == last and not sold):
        if alone and words[at - 1].text in _JOINERS:
            break
        at -= 1
    readable = at == 0 or words[at - 1].tag != "x"
    opens = at == 0 or words[at - 1].tag == "date" or words[at - 1].text in OPENS
    inside = text[: words[at].start].endswith(("在", "于")) if at < last else False
    owner = _owner(annotated, words[at:last], words[last:], readable=readable)
    # A name has a clear start (not 「一次性内窥镜」); without one, the clause has no other words before its indicator.
    doubt = not (opens or alone) or (at == 0 and _cut_by_bracket(text, begin))
    return replace(owner, inside=inside, doubt=doubt)


def _cut_by_bracket(text: str, begin: int) -> bool:
    """Return whether a phrase continues before a preceding bracket: 独立焦化厂（全样本）焦炭库存."""
    if not text[:begin].endswith(("）", ")")):
        return False
    opened = max(text.rfind("（", 0, begin), text.rfind("(", 0, begin))
    return opened > 0 and text[opened - 1] not in "，。；：！？、 "


def _owner(annotated: AnnotatedSentence, name: list[_Word], generic: list[_Word], *, readable: bool) -> Owner:
    """Strip regions from a phrase and type the rest."""
    phrase = name
    name, region, scope = _split_places(annotated, name)
    name, before = _behind_market(name)
    where = _join_places(phrase, scope) + before
    if not name:
        return Owner(None, region, where, readable)
    start, end = name[0].start, name[-1].end
    words = annotated.text[start:end]
    if _GROUP.search(words):
        return _group_owner(annotated, (start, end), region, where, readable=readable)
    named = [ref for ref in annotated.refs if ref.start >= start and ref.end <= end and ref.name not in NO_NAMES]
    known = [ref for ref in named if ref.kind in SUBJECT_KINDS]
    if known and known[-1].start == start and known[-1].end == end:
        return Owner(known[-1], region, where, readable, tuple(scope))
    if known and known[-1].kind == Kind.COMPANY and known[-1].end == end:
        return Owner(known[-1], region, where, readable, tuple(scope))
    measures = any(ref.kind == Kind.INDICATOR and start <= ref.start and ref.end <= end for ref in annotated.refs)
    if measures or not _is_valid_name(words) or all(word.text in _NON_NAMES for word in name):
        return Owner(None, region, where, readable=False)
    if known and known[0].kind == Kind.COMPANY:
        return Owner(None, region, where, readable=False)  # 「苹果手机」 is neither the company nor phones in general
    kind = Kind.INDUSTRY if any(word.text in TRADE for word in generic) or words.endswith("业") else Kind.PRODUCT
    return Owner(
        EntityMention(entity_id(kind, words), kind, words, start, end, score=_SCORE),
        region,
        where,
        readable,
        tuple(scope),
    )


def _split_places(
    annotated: AnnotatedSentence, name: list[_Word]
) -> tuple[list[_Word], EntityMention | None, list[str]]:
    """Strip location words from both ends of a phrase; return the name, its region and the places as written."""
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


def _join_places(phrase: list[_Word], scope: list[str]) -> str:
    """Join location words to a scope: 全国规上, but 云南、四川 for two places."""
    joined = {word.text for before, word in pairwise(phrase) if before.text in _JOINERS | {"&"}}
    return "".join("、" + word if at and word in joined else word for at, word in enumerate(scope))


def _behind_market(name: list[_Word]) -> tuple[list[_Word], str]:
    """Split 「汽车主要市场新能源汽车」 into the name and its scope: the words up to 市场 are the scope."""
    inner = max((at for at, word in enumerate(name) if word.text in GENERIC and at), default=-1)
    return name[inner + 1 :], "".join(word.text for word in name[: inner + 1])


def _group_owner(
    annotated: AnnotatedSentence, span: tuple[int, int], region: EntityMention | None, where: str, *, readable: bool
) -> Owner:
    """Read a group of companies: 「消费电子领域重点公司」 is an industry with a scope, 「前三大企业」 only a scope."""
    words = annotated.text[slice(*span)]
    trade = _OF_GROUP.fullmatch(words)
    if trade is None or trade["name"] in NO_NAMES or not _is_valid_name(trade["name"]) or _GROUP.search(trade["name"]):
        return Owner(None, region, where + words, readable)
    start, end = span[0], span[0] + trade.end("name")
    known = next((ref for ref in annotated.refs if (ref.start, ref.end) == (start, end)), None)
    if known is None or known.kind not in SUBJECT_KINDS:
        name = trade["name"]
        known = EntityMention(entity_id(Kind.INDUSTRY, name), Kind.INDUSTRY, name, start, end, score=_SCORE)
    return Owner(known, region, where + words[trade.end("name") :], readable)


def _is_valid_name(words: str) -> bool:
    if not _SHORTEST <= len(words) <= _LONGEST or _INVALID_NAME.search(words):
        return False
    return words not in OWNER_FILLER and words not in GENERIC


def _words(annotated: AnnotatedSentence, begin: int, end: int) -> list[_Word]:
    """Split text into words, dates and known names; known names are kept whole."""
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
    """Return whether a word may be part of a name; `first` marks the word next to the indicator."""
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
