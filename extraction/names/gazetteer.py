"""Match names without a securities code: the typed gazetteer and compound indicators."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import daachorse
import rjieba
from msgspec import Struct

from extraction.sentence import EntityMention
from extraction.text.lexicon import phrases, table
from kg.ids import entity_id
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_FILES = (
    "products",
    "industries",
    "indicators",
    "macro_indicators",
    "policies",
    "events",
    "themes",
    "regions",
    "institutions",
    "companies",
)
COMPOUND_KINDS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME, Kind.BUSINESS})
_MIN_UNCHECKED_LENGTH = 3  # characters; shorter names must coincide with word boundaries
_PHRASES = phrases("names/gazetteer")
_BRIDGE = _PHRASES["bridge"]
_OPENING = _PHRASES["opening"]
_LIST_MARKS, _MARK = ("、", "："), re.compile("[，。；！？]")
_FUNCTION_WORDS = "系受因由以对使令据与和及的了于为是在从向将把被"
_PRICE_CONTINUATIONS = ("格", "差", "值", "位", "款", "钱")
_LATIN, _LETTER = re.compile(r"[A-Za-z0-9]"), re.compile(r"[A-Za-z]")
_HALF = re.compile(r"[1-4][HQ]\d\d(?!\d)")  # 1H20 is half a year, no chip H20


@dataclass(frozen=True, slots=True)
class Term:
    """One gazetteer entry; `units` are the unit types of an indicator (currency, percent, price …).

    `about` is the id of the entity it belongs to by definition, and `owner` that entity's name: a product's industry,
    an event's product.
    """

    name: str
    kind: Kind
    units: tuple[str, ...] = ()
    basis: str = ""
    about: str = ""
    owner: str = ""
    macro: bool = False

    @property
    def entity(self) -> str:
        """Typed entity id."""
        return entity_id(self.kind, self.name)


@dataclass(frozen=True, slots=True)
class IndicatorHead:
    """The head of a compound indicator: 价格 in 碳酸锂价格."""

    name: str
    units: tuple[str, ...] = ()


class GazetteerMatch(Struct, frozen=True):
    """A gazetteer match in a text; `weak` marks ambiguous words (铁, 支付, PC)."""

    start: int
    end: int
    term: Term
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Gazetteer:
    """The tables of extraction/lexicon/, keyed by spelling.

    `industries` are selected over other terms of the same spelling where one of `industry_suffixes` follows; `never`
    words are not names, `weak` words are names only with supporting context.
    """

    terms: Mapping[str, Term]
    heads: Mapping[str, IndicatorHead]
    short_forms: Mapping[str, tuple[str, str]]
    industries: Mapping[str, Term] = field(default_factory=dict)
    never: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()
    industry_suffixes: Sequence[str] = ()


class Lexicon:
    """Gazetteer lookup by a single automaton (daachorse, leftmost-longest)."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self.terms, self.heads = gazetteer.terms, gazetteer.heads
        self.short_forms, self.never = gazetteer.short_forms, gazetteer.never
        self._industries, self._weak = gazetteer.industries, gazetteer.weak
        self.anchors = {term.entity: term for term in (*gazetteer.industries.values(), *gazetteer.terms.values())}
        self._spellings = sorted(self.terms)
        self._automaton = daachorse.CharwiseDoubleArrayAhoCorasick(
            self._spellings, daachorse.MATCH_KIND_LEFTMOST_LONGEST
        )
        self._head_re = _any_of_pattern(gazetteer.heads)
        self._short_re = _any_of_pattern(gazetteer.short_forms)
        self._suffix_re = _any_of_pattern(gazetteer.industry_suffixes)

    def find(self, text: str) -> list[GazetteerMatch]:
        """Return the gazetteer matches in a normalised sentence; short names must coincide with word boundaries."""
        found = []
        for start, end, index in self._automaton.find(text):
            spelling = self._spellings[index]
            if _splits_latin_word(text, start, end):
                continue
            if len(spelling) < _MIN_UNCHECKED_LENGTH:
                edges = word_edges(text)
                begins = start in edges or text[start - 1] in _FUNCTION_WORDS  # 主要系硅料 is segmented as 系硅料
                ends = end in edges or self._head_re.match(text, end)  # 黄金市场均价 is segmented as 黄金市场
                if not (begins and ends):
                    continue
            term = self.terms[spelling]
            # 光伏玻璃行业 is the industry, not the product
            if spelling in self._industries and self._suffix_re.match(text, end):
                term = self._industries[spelling]
            found.append(GazetteerMatch(start, end, term, self._is_weak(text, start, end, spelling)))
        return found

    def _is_weak(self, text: str, start: int, end: int, spelling: str) -> bool:
        """Whether an ambiguous word lacks supporting context: a following 行业, indicator or colon, or a list."""
        if spelling not in self._weak:
            return False
        supported = (
            self._suffix_re.match(text, end) or self._head_re.match(text, end) or text[end : end + 1] in _LIST_MARKS
        )
        return not (supported or (start > 0 and text[start - 1] == "、"))

    def compound(self, text: str, base: EntityMention) -> EntityMention | None:
        """Return the compound indicator that starts with `base`, or None: 碳酸锂 + 价格, 铜 + 价."""
        if base.kind not in COMPOUND_KINDS:
            return None
        bridge = _BRIDGE.match(text, base.end)
        match = self._head_re.match(text, bridge.end() if bridge else base.end)
        if match is None or _continues(text, match.end()):
            return None
        return indicator_of(base, self.heads[match[0]].name, start=base.start, end=match.end())

    def head_behind(self, text: str, end: int) -> tuple[int, int, str] | None:
        """Return the indicator head that follows a name, as (start, end, canonical head): 成本 in 比亚迪成本."""
        bridge = _BRIDGE.match(text, end)
        match = self._head_re.match(text, bridge.end() if bridge else end)
        if match is None or _continues(text, match.end()):
            return None
        return match.start(), match.end(), self.heads[match[0]].name

    def bare_heads(self, text: str) -> list[tuple[int, int, str]]:
        """Return the indicator heads that open the first clause or the one after a lead-in: (start, end, head).

        Later clauses are skipped, since their subject may differ.
        """
        found = []
        for match in self._head_re.finditer(text, 0, _first_clause_end(text)):
            alone = _OPENING.fullmatch(text, text.rfind("：", 0, match.start()) + 1, match.start())
            if alone and not _continues(text, match.end()):
                found.append((match.start(), match.end(), self.heads[match[0]].name))
        return found

    def measure_of(self, name: str) -> tuple[str, str] | None:
        """Split a factor name into owner and canonical measure name, or return None: 猪肉均价 → 猪肉, 价格.

        A known owner needs no more than 价 for its price: 碳酸锂价; 猪价 is a short form of 生猪价格.
        """
        if name in self.short_forms:
            return self.short_forms[name]
        if name.endswith("价") and name[:-1] in self.terms:
            return name[:-1], "价格"
        for cut in range(2, len(name)):
            head = self.heads.get(name[cut:])
            if head is not None:
                return name[:cut].rstrip("的 "), head.name
        return None

    def trade(self, name: str) -> Term | None:
        """Return the industry of this name, else any other term of this name."""
        return self._industries.get(name) or self.terms.get(name)

    def is_bare(self, name: str) -> bool:
        """Whether a word names no entity by itself: 公司, or 价格 without an owner."""
        return name in self.never or (name in self.heads and name not in self.terms)

    def without_heads(self, text: str) -> str:
        """Return the text without indicator heads; the remainder of a lead-in names its subject."""
        return self._head_re.sub("", text)

    def short_compounds(self, text: str) -> list[EntityMention]:
        """Return the compound indicators written as a single word: 铜价, 猪价, 油价."""
        found = []
        for match in self._short_re.finditer(text):
            if match.start() not in word_edges(text) or text[match.end() : match.end() + 1] in _PRICE_CONTINUATIONS:
                continue  # skip 水价 in 胶水价格 and 铜价 in 铜价格
            product, head = self.short_forms[match[0]]
            term = self.terms.get(product)
            owner = EntityMention(
                term.entity if term else entity_id(Kind.PRODUCT, product), Kind.PRODUCT, term.name if term else product
            )
            found.append(indicator_of(owner, head, start=match.start(), end=match.end()))
        return found


def indicator_of(owner: EntityMention, head: str, *, start: int, end: int) -> EntityMention:
    """Build the compound indicator of an owner: 碳酸锂 + 价格."""
    name = f"{owner.name}{head}"
    return EntityMention(
        entity_id(Kind.INDICATOR, name),
        Kind.INDICATOR,
        name,
        start,
        end,
        owner.entity,
        owner.score,
        owner.name,
        owner.end,
    )


def _first_clause_end(text: str) -> int:
    """Return the end of the first clause after any lead-in."""
    lead = text.find("：")
    match = _MARK.search(text, lead + 1)
    return match.start() if match else len(text)


def _any_of_pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches any of the words, longest first, or nothing if there are none."""
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))) or r"(?!)")


@lru_cache(maxsize=64)  # called several times per sentence
def word_edges(text: str) -> frozenset[int]:
    """Return the word boundaries of rjieba's segmentation, as offsets."""
    return frozenset({0, *accumulate(map(len, rjieba.cut(text)))})


def _splits_latin_word(text: str, start: int, end: int) -> bool:
    """Whether a match is only part of a longer Latin word: 「AI」 in 「AIDS」."""
    if not (text[start].isascii() or text[end - 1].isascii()):
        return False
    glued = start > 0 and (_LETTER.match(text, start - 1) or _HALF.match(text, start - 1))
    before = glued and _LATIN.match(text, start)
    after = end < len(text) and _LATIN.match(text, end - 1) and _LETTER.match(text, end)
    return bool(before or after)


def _continues(text: str, end: int) -> bool:
    """Whether the head is only a prefix of another word: 需求侧, 收入国家."""
    return text[end : end + 1] in ("侧", "端", "方", "者", "国", "商", "链", "型", "弹")


@cache
def shipped_lexicon() -> Lexicon:
    """Return the lexicon that ships with Liantu."""
    return Lexicon(shipped_gazetteer())


_SALES_CHANNELS = frozenset({"零售", "批发"})  # 零售销量 does not measure the retail industry


@cache
def shipped_gazetteer() -> Gazetteer:
    """Return the tables of extraction/lexicon/."""
    stop = table("stopwords")
    never = frozenset(word for group in stop["never"] for word in group)
    preferred = {word: Kind(kind) for word, kind in stop["ambiguous_kind"].items()}
    terms: dict[str, Term] = {}
    industries: dict[str, Term] = {}
    for name in _FILES:
        for spelling, term in _terms(table(name), macro=name == "macro_indicators"):
            if term.kind == Kind.INDUSTRY:
                industries[spelling] = term
            if spelling not in never and (spelling not in terms or preferred.get(spelling) == term.kind):
                terms[spelling] = term
    terms = {spelling: _with_owner(term, terms) for spelling, term in terms.items()}
    heads, shorts = _heads(table("indicator_heads"))
    weak = frozenset(stop["ambiguous_alone"])
    return Gazetteer(terms, heads, shorts, industries, never, weak, stop["industry_suffixes"])


def _terms(read: Mapping[str, Any], *, macro: bool) -> Iterable[tuple[str, Term]]:
    kind = Kind(read["kind"])
    for entry in read["entries"]:
        units = entry.get("unit", ())
        term = Term(
            name=entry["name"],
            kind=kind,
            units=_as_tuple(units),
            basis=entry.get("basis", ""),
            about=_owner_id(kind, entry),
            owner=entry.get("product", entry.get("industry", entry.get("parent", ""))),
            macro=macro,
        )
        for spelling in (entry["name"], *entry.get("aliases", ())):
            yield spelling, term


def _heads(read: Mapping[str, Any]) -> tuple[dict[str, IndicatorHead], dict[str, tuple[str, str]]]:
    heads: dict[str, IndicatorHead] = {}
    for entry in read["entries"]:
        units = entry.get("unit", ())
        head = IndicatorHead(entry["name"], _as_tuple(units))
        heads |= dict.fromkeys((entry["name"], *entry.get("aliases", ())), head)
    shorts = {
        spelling: (form["product"], form["head"])
        for form in read["short_forms"]
        for spelling in (form["name"], *form.get("aliases", ()))
    }
    return heads, shorts


def _as_tuple(units: str | Sequence[str]) -> tuple[str, ...]:
    return (units,) if isinstance(units, str) else tuple(units)


def _with_owner(term: Term, terms: Mapping[str, Term]) -> Term:
    """Return the term, with an owner if it is an indicator whose name starts with one: 能繁母猪存栏量 → 能繁母猪."""
    if term.kind != Kind.INDICATOR or term.about or term.macro:
        return term
    for size in range(len(term.name) - 1, 1, -1):
        owner = terms.get(term.name[:size])
        if owner and owner.kind in (Kind.PRODUCT, Kind.INDUSTRY) and term.name[:size] not in _SALES_CHANNELS:
            return replace(term, about=owner.entity, owner=owner.name)
    return term


def _owner_id(kind: Kind, entry: Mapping[str, Any]) -> str:
    """Return the id of the owner (an indicator's product, a product's industry, an industry's parent), or ""."""
    if "product" in entry:
        return entity_id(Kind.PRODUCT, entry["product"])
    for key in ("industry", "parent"):
        if key in entry and kind in (Kind.PRODUCT, Kind.INDUSTRY):
            return entity_id(Kind.INDUSTRY, entry[key])
    return ""
