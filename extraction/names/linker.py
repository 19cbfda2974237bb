"""Names in sentences: securities by the resolver, the rest by gazetteer, compounds and the NER model."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from extraction.names.company_forms import find_firms, has_form
from extraction.names.company_merge import with_firms
from extraction.names.gazetteer import indicator_of
from extraction.names.ner import KIND_OF_LABEL
from extraction.sentence import EntityMention
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

_LINKED, _LISTED, _GUESSED = 0, 1, 2  # whose word counts when two names overlap equally
_PRICE_MOVES = frozenset({"涨价", "降价"})
_NER_SCORE = 0.8
_WEAK_SCORE, _SHORTEST_WEAK = 0.8, 2
_SHORTEST_GUESS = 2
_PERSON = re.compile(r"[\u4e00-\u9fff]{2,4}|[\u4e00-\u9fff]{1,8}(?:·[\u4e00-\u9fff]{1,8}){1,3}")
_NOT_PRODUCT = re.compile(
    r"^(?:产品|公司|项目|业务|系统|平台|技术|设备|材料|产能|板块|行业|市场|.)$|[，。：；（）\d]|产业|公司|行业"
)


class Linker:
    """Finds and identifies every name of a document, sentence by sentence."""

    def __init__(self, resolver: Resolver, lexicon: Lexicon, ner: Ner | None) -> None:
        self._resolver, self._lexicon, self._ner = resolver, lexicon, ner

    def link(self, document: Document, sentences: Sequence[Sentence]) -> list[list[EntityMention]]:
        """Return the names of each sentence, in order of place, without overlap; offsets are the sentence's own."""
        return self.read(document.text, document.published_on, sentences, codes=document.codes)[1]

    def read(
        self, text: str, day: date, sentences: Sequence[Sentence], *, codes: Sequence[str] = ()
    ) -> tuple[list[Resolution], list[list[EntityMention]]]:
        """Return all companies of a text with their candidates, and the names of each sentence as `link` does.

        A company that no list knows is an `unknown` resolution with a typed id and no code.
        """
        spans = self._ner.find([sentence.text for sentence in sentences]) if self._ner else [[] for _ in sentences]
        firms = [
            (*sentence.span(firm.start, firm.end), firm)
            for sentence, named in zip(sentences, spans, strict=True)
            for firm in find_firms(sentence.text, named)
            if sentence.text[firm.start : firm.end] not in self._lexicon.never
        ]
        found = self._resolver.resolve(text, day, subject_codes=codes)
        resolutions = with_firms(text, found, firms, resolver=self._resolver)
        linked: list[list[EntityMention]] = []
        at = 0
        for sentence, named in zip(sentences, spans, strict=True):
            while at < len(resolutions) and resolutions[at].start < sentence.start:
                at += 1
            linked.append(self._names(text, sentence, named, _companies(sentence, resolutions, at)))
        return resolutions, linked

    def _names(
        self, text: str, sentence: Sentence, named: Sequence[Span], companies: _Companies
    ) -> list[EntityMention]:
        """Weigh the companies of a sentence against what the gazetteer and the model found in it."""
        found = list(companies.refs)
        found += [
            (ref, _LISTED) for hit in self._lexicon.find(sentence.text) if (ref := _listed(hit, sentence.text, text))
        ]
        found += [(ref, _LISTED) for ref in self._lexicon.short_compounds(sentence.text)]
        found += [(ref, _GUESSED) for span in named if (ref := self._guess(sentence.text, span))]
        if not found:
            return []
        found = _outside_firms(found)
        return self._compounds(sentence.text, _without_overlap(found, companies.doubtful))

    def _guess(self, text: str, span: Span) -> EntityMention | None:
        """Turn a span of the NER model into a product or a person, or nothing when its form speaks against it."""
        name, kind = text[span.start : span.end], KIND_OF_LABEL.get(span.label)
        if kind not in (Kind.PRODUCT, Kind.PERSON) or len(name) < _SHORTEST_GUESS or name in self._lexicon.never:
            return None
        if _NOT_PRODUCT.search(name) if kind == Kind.PRODUCT else not _PERSON.fullmatch(name):
            return None
        return EntityMention(entity_id(kind, name), kind, name, span.start, span.end, score=_NER_SCORE)

    def _compounds(self, text: str, refs: list[EntityMention]) -> list[EntityMention]:
        """Widen 碳酸锂 to 碳酸锂价格 where an indicator head follows, and drop what the widened name swallows."""
        out: list[EntityMention] = []
        for ref in refs:
            if out and ref.start < out[-1].end:
                continue
            if (
                ref.kind == Kind.EVENT
                and ref.name in _PRICE_MOVES
                and out
                and out[-1].kind == Kind.PRODUCT
                and out[-1].end == ref.start
            ):
                out[-1] = indicator_of(
                    out[-1], "价格", start=out[-1].start, end=out[-1].end
                )  # 碳酸锂涨价: the word stays as the direction
                continue
            wider = self._lexicon.compound(text, ref) if ref.kind != Kind.COMPANY else None
            out.append(wider or ref)
            if ref.kind == Kind.COMPANY and (head := self._lexicon.head_behind(text, ref.end)):
                start, end, name = head  # 比亚迪成本: the company stays, its indicator stands beside it
                if not any(start < other.end and other.start < end for other in refs):
                    out.append(EntityMention(entity_id(Kind.INDICATOR, name), Kind.INDICATOR, name, start, end))
        return out


class _Companies(Struct, frozen=True):
    """The companies of one sentence with whose word they are, and the doubtful names that must not be guessed at."""

    refs: Sequence[tuple[EntityMention, int]]
    doubtful: list[tuple[int, int]]


def _companies(sentence: Sentence, resolutions: Sequence[Resolution], at: int) -> _Companies:
    """Return the companies of a sentence: linked securities, and firms that no list knows."""
    refs, doubtful = [], []
    for place in range(at, len(resolutions)):
        resolution = resolutions[place]
        if resolution.start >= sentence.end:
            break
        start, end = bisect_left(sentence.offsets, resolution.start), bisect_left(sentence.offsets, resolution.end)
        if sentence.text.startswith("指数", end):
            doubtful.append((start, end))  # 中信银行指数 is a house's index of banks, not the bank's
        elif resolution.entity_id is None:
            doubtful.append((start, end))
        elif resolution.status == "linked" or has_form(resolution.text):
            linked = resolution.status == "linked"
            name = resolution.text if linked else sentence.text[start:end]
            ref = EntityMention(resolution.entity_id, Kind.COMPANY, name, start, end, score=min(1.0, resolution.score))
            refs.append((ref, _LINKED if linked else _GUESSED))
    return _Companies(refs, doubtful)


def _listed(hit: GazetteerMatch, sentence: str, document: str) -> EntityMention | None:
    """Turn a gazetteer match into a reference; a doubtful word counts less, and not at all when it is hardly a name."""
    term = hit.term
    if hit.weak and (
        hit.end - hit.start < _SHORTEST_WEAK or term.kind not in (Kind.PRODUCT, Kind.INDUSTRY) or term.name.isascii()
    ):
        return None
    if hit.weak and sentence[hit.start : hit.end] != term.name and term.name[:2] not in document:
        return None  # 组件 is 光伏组件 only where 光伏 is spoken of
    score = _WEAK_SCORE if hit.weak else 1.0
    return EntityMention(term.entity, term.kind, term.name, hit.start, hit.end, term.about, score, term.owner)


def _outside_firms(found: list[tuple[EntityMention, int]]) -> list[tuple[EntityMention, int]]:
    """Drop gazetteer words inside the name of an unlisted firm: no trade 科技 in 力成科技."""
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
    """Keep the longest name at each place; at equal length a security goes before the gazetteer, that before a guess.

    What lies inside a doubtful security's name is dropped: no product 黄金 in 湖南黄金, whoever that may be.
    """
    if doubtful:
        found = [
            (ref, origin)
            for ref, origin in found
            if origin == _LINKED or not any(_inside(ref, span, whole=origin == _GUESSED) for span in doubtful)
        ]
    found = sorted(found, key=_place)
    if all(before.end <= behind.start for (before, _), (behind, _) in pairwise(found)):
        return [ref for ref, _ in found]  # as nearly always
    kept: list[EntityMention] = []
    for ref, _ in sorted(found, key=_precedence):
        if not any(other.start < ref.end and ref.start < other.end for other in kept):
            kept.append(ref)
    return sorted(kept, key=lambda ref: ref.start)


def _place(item: tuple[EntityMention, int]) -> int:
    return item[0].start


def _precedence(item: tuple[EntityMention, int]) -> tuple[bool, int, int, int]:
    ref, origin = item
    return origin == _GUESSED, ref.start - ref.end, origin, ref.start


def _inside(ref: EntityMention, span: tuple[int, int], *, whole: bool) -> bool:
    """Whether a name lies in a span; the whole span counts only where `whole` is set."""
    within = span[0] <= ref.start and ref.end <= span[1]
    return within and (whole or ref.end - ref.start < span[1] - span[0])
