"""Link entity mentions in sentences: securities by the resolver, others by gazetteer, compounds and the NER model."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from extraction.names.company_forms import find_firms, has_form, is_marked
from extraction.names.company_merge import with_firms
from extraction.names.gazetteer import indicator_of
from extraction.names.ner import KIND_OF_LABEL
from extraction.sentence import EntityMention
from extraction.text.clauses import IDENTIFYING
from extraction.text.lexicon import phrases
from kg.ids import entity_id
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from extraction.names.gazetteer import GazetteerMatch, Lexicon
    from extraction.names.ner import Ner, Span
    from extraction.text.sentences import Sentence
    from kg.model import Document
    from kg.securities.resolver import Resolution, Resolver

_LINKED, _LISTED, _GUESSED = 0, 1, 2  # precedence between overlapping names of equal length
_PRICE_MOVES = frozenset({"涨价", "降价"})
_NER_SCORE = 0.8
_OPENING = ("（", "(", "[", "【")
_WEAK_SCORE, _MIN_WEAK_LENGTH = 0.8, 2
_MIN_GUESS_LENGTH = 2
_PERSON = re.compile(r"[\u4e00-\u9fff]{2,4}|[\u4e00-\u9fff]{1,8}(?:·[\u4e00-\u9fff]{1,8}){1,3}")
_PHRASES = phrases("names/linker")
_NOT_PRODUCT = _PHRASES["not_product"]


class Linker:
    """Find and identify every name of a document, one sentence at a time."""

    def __init__(self, resolver: Resolver, lexicon: Lexicon, ner: Ner | None) -> None:
        self._resolver, self._lexicon, self._ner = resolver, lexicon, ner

    def link(self, document: Document, sentences: Sequence[Sentence]) -> list[list[EntityMention]]:
        """Return the mentions of each sentence in text order, without overlap; offsets are relative to the sentence."""
        return self.read(document.text, document.published_on, sentences, codes=document.codes)[1]

    def read(
        self, text: str, day: date, sentences: Sequence[Sentence], *, codes: Sequence[str] = ()
    ) -> tuple[list[Resolution], list[list[EntityMention]]]:
        """Return all companies of a text with their candidates, and the mentions of each sentence as in `link`.

        An unlisted company is an `unknown` resolution with a typed id and no code.
        """
        spans = self._ner.find([sentence.text for sentence in sentences]) if self._ner else [[] for _ in sentences]
        firms = [
            (*sentence.span(firm.start, firm.end), firm)
            for sentence, named in zip(sentences, spans, strict=True)
            for firm in find_firms(sentence.text, named)
            if sentence.text[firm.start : firm.end] not in self._lexicon.never
        ]
        found = self._resolver.resolve(text, day, subject_codes=codes)
        resolutions = with_firms(text, found, firms, day=day, resolver=self._resolver)
        linked: list[list[EntityMention]] = []
        at = 0
        for sentence, named in zip(sentences, spans, strict=True):
            while at < len(resolutions) and resolutions[at].start < sentence.start:
                at += 1
            linked.append(self._mentions(text, sentence, named, _companies(sentence, resolutions, at)))
        return resolutions, linked

    def _mentions(
        self, text: str, sentence: Sentence, named: Sequence[Span], companies: _Companies
    ) -> list[EntityMention]:
        """Combine the companies of a sentence with gazetteer matches and NER spans."""
        found = list(companies.refs)
        found += [
            (ref, _LISTED)
            for hit in self._lexicon.find(sentence.text)
            if (ref := _gazetteer_mention(hit, sentence.text, text))
        ]
        found += [(ref, _LISTED) for ref in self._lexicon.short_compounds(sentence.text)]
        found += [(ref, _GUESSED) for span in named if (ref := self._guess(sentence.text, span))]
        if not found:
            return []
        found = _drop_inside_firms(found)
        refs = _without_identifiers(sentence.text, _without_overlap(found, companies.doubtful))
        return self._extend_compounds(sentence.text, refs)

    def _guess(self, text: str, span: Span) -> EntityMention | None:
        """Return a NER span as a product or person mention, or None if its form rules that out."""
        name, kind = text[span.start : span.end], KIND_OF_LABEL.get(span.label)
        if kind not in (Kind.PRODUCT, Kind.PERSON) or len(name) < _MIN_GUESS_LENGTH or name in self._lexicon.never:
            return None
        if _NOT_PRODUCT.search(name) if kind == Kind.PRODUCT else not _PERSON.fullmatch(name):
            return None
        return EntityMention(entity_id(kind, name), kind, name, span.start, span.end, score=_NER_SCORE)

    def _extend_compounds(self, text: str, refs: list[EntityMention]) -> list[EntityMention]:
        """Extend 碳酸锂 to 碳酸锂价格 where an indicator head follows, dropping mentions inside the extended name."""
        mentions: list[EntityMention] = []
        for ref in refs:
            if mentions and ref.start < mentions[-1].end:
                continue
            if (
                ref.kind == Kind.EVENT
                and ref.name in _PRICE_MOVES
                and mentions
                and mentions[-1].kind == Kind.PRODUCT
                and mentions[-1].end == ref.start
            ):
                # 碳酸锂涨价: the event word gives the direction
                mentions[-1] = indicator_of(mentions[-1], "价格", start=mentions[-1].start, end=mentions[-1].end)
                continue
            extended = self._lexicon.compound(text, ref) if ref.kind != Kind.COMPANY else None
            mentions.append(extended or ref)
            if ref.kind == Kind.COMPANY and (head := self._lexicon.head_behind(text, ref.end)):
                start, end, name = head  # 比亚迪成本: keep the company, add its indicator
                if not any(start < other.end and other.start < end for other in refs):
                    mentions.append(EntityMention(entity_id(Kind.INDICATOR, name), Kind.INDICATOR, name, start, end))
        return mentions


class _Companies(Struct, frozen=True):
    """Company mentions of one sentence with their origin, and spans of doubtful names that must not be guessed."""

    refs: Sequence[tuple[EntityMention, int]]
    doubtful: list[tuple[int, int]]


def _companies(sentence: Sentence, resolutions: Sequence[Resolution], at: int) -> _Companies:
    """Return the companies of a sentence: linked securities and unlisted companies."""
    refs, doubtful = [], []
    for index in range(at, len(resolutions)):
        resolution = resolutions[index]
        if resolution.start >= sentence.end:
            break
        start, end = bisect_left(sentence.offsets, resolution.start), bisect_left(sentence.offsets, resolution.end)
        if sentence.text.startswith("指数", end):
            doubtful.append((start, end))  # 中信银行指数 is an index of banks published by 中信, not the bank
        elif resolution.entity_id is None or (resolution.status == "unknown" and is_marked(resolution.text)):
            doubtful.append((start, end))
        elif resolution.status == "linked" or has_form(resolution.text):
            linked = resolution.status == "linked"
            name = resolution.text if linked else sentence.text[start:end]
            ref = EntityMention(resolution.entity_id, Kind.COMPANY, name, start, end, score=min(1.0, resolution.score))
            refs.append((ref, _LINKED if linked else _GUESSED))
    return _Companies(refs, doubtful)


def _gazetteer_mention(hit: GazetteerMatch, sentence: str, document: str) -> EntityMention | None:
    """Return a gazetteer match as a mention; weak words get a lower score, or None if they are unlikely to be names."""
    term = hit.term
    if hit.weak and (
        hit.end - hit.start < _MIN_WEAK_LENGTH or term.kind not in (Kind.PRODUCT, Kind.INDUSTRY) or term.name.isascii()
    ):
        return None
    if hit.weak and sentence[hit.start : hit.end] != term.name and term.name[:2] not in document:
        return None  # 组件 means 光伏组件 only in documents that mention 光伏
    score = _WEAK_SCORE if hit.weak else 1.0
    return EntityMention(term.entity, term.kind, term.name, hit.start, hit.end, term.about, score, term.owner)


def _drop_inside_firms(found: list[tuple[EntityMention, int]]) -> list[tuple[EntityMention, int]]:
    """Drop gazetteer matches inside the name of an unlisted company: 科技 in 力成科技 is not an industry."""
    firms = [ref for ref, origin in found if origin == _GUESSED and ref.kind == Kind.COMPANY]
    if not firms:
        return found
    listed = [ref for ref, origin in found if origin == _LINKED]
    firms = [ref for ref in firms if not any(other.start < ref.end and ref.start < other.end for other in listed)]
    return [
        (ref, origin)
        for ref, origin in found
        if origin != _LISTED
        or not any(firm.start <= ref.start and ref.end <= firm.end and firm != ref for firm in firms)
    ]


def _without_overlap(found: list[tuple[EntityMention, int]], doubtful: list[tuple[int, int]]) -> list[EntityMention]:
    """Keep the longest of overlapping names; at equal length, securities before gazetteer matches before guesses.

    Names inside a doubtful security name are dropped: 黄金 in 湖南黄金 is not a product.
    """
    if doubtful:
        found = [
            (ref, origin)
            for ref, origin in found
            if origin == _LINKED or not any(_inside(ref, span, whole=origin == _GUESSED) for span in doubtful)
        ]
    found = sorted(found, key=_start_of)
    if all(before.end <= behind.start for (before, _), (behind, _) in pairwise(found)):
        return [ref for ref, _ in found]  # the common case
    kept: list[EntityMention] = []
    for ref, _ in sorted(found, key=_precedence):
        if not any(other.start < ref.end and ref.start < other.end for other in kept):
            kept.append(ref)
    return sorted(kept, key=lambda ref: ref.start)


def _without_identifiers(text: str, refs: list[EntityMention]) -> list[EntityMention]:
    """Drop what only identifies the company before it in a bracket: 证券 in 甲公司（证券代码600000）."""
    firms = [ref for ref in refs if ref.kind == Kind.COMPANY and text[ref.end : ref.end + 1] in _OPENING]
    for firm in firms:
        if aside := IDENTIFYING.match(text, firm.end):
            refs = [
                ref
                for ref in refs
                if not (firm.end < ref.start < aside.end() and (ref.kind != Kind.COMPANY or ref.entity == firm.entity))
            ]
    return refs


def _start_of(item: tuple[EntityMention, int]) -> int:
    return item[0].start


def _precedence(item: tuple[EntityMention, int]) -> tuple[bool, int, int, int]:
    ref, origin = item
    return origin == _GUESSED, ref.start - ref.end, origin, ref.start


def _inside(ref: EntityMention, span: tuple[int, int], *, whole: bool) -> bool:
    """Whether a name is inside a span; the full span itself counts only if `whole` is set."""
    within = span[0] <= ref.start and ref.end <= span[1]
    return within and (whole or ref.end - ref.start < span[1] - span[0])
