"""What a report tells of its company in passing, read loosely: businesses, goods, trades, places, uses, dealings.

The names are cut from the lists of `listed`, the company is the one that the clause is about. These readings are for
questions and for candidates of a model; they make no facts, for a list does not say whether it
is the company's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import rjieba
import yaml

from extraction.annotated import Claim, Ref
from extraction.patterns.listed import names
from extraction.patterns.profile_names import COARSE, acting, business_names, firm_names
from kg.ids import entity_id
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from extraction.annotated import Annotated

_GOING = (
    "其中|从事|经营|开展|发展|拓展|推进|推动|布局|深耕|聚焦|专注于?|致力于|做强做?大?|做大|夯实|巩固|开拓|优化|整合|打造|形成|探索|培育|"
    "涉足|进军|切入|介入|进入|加强|提升|承接|实施|提供|围绕|依托|立足|包括|涵盖|涉及|以|在|为|的|是|将|对|了|由|于|从|其|有|及其|"
    "完成|出售|剥离|停止|实现|受|因|向|与|负责|构建|坚持|确立|具有|通过|报告期内|目前|原有|传统|新兴|现有|新增|"
    "公司|旗下|主营|主要|核心|各项|相关|国内|全球|领先|优质|稳步|积极|大力|不断|持续|继续|全面|加快|重点|着力|进一步|开发|该|本"
)
_PIECE = re.compile("<([A-Z]+)>")
_LEADS = re.compile("^(?:以及|、|和|与|及|等)+")
_VERB = re.compile(f"(?:{_GOING})$")


@dataclass(frozen=True, slots=True)
class Wording:
    """A wording whose group `list` holds names; `back` where the names end at it and begin behind a verb."""

    name: str
    relation: str
    kind: Kind
    regex: re.Pattern[str]
    back: bool = False
    not_behind: re.Pattern[str] | None = None


@cache
def _wordings() -> tuple[Wording, ...]:
    """Return the wordings in the order of lexicon/profiles.yaml."""
    text = resources.files("extraction").joinpath("lexicon/profiles.yaml").read_text(encoding="utf-8")
    data = yaml.load(text, Loader=yaml.CSafeLoader)
    return tuple(_wording(entry, data["parts"]) for entry in data["wordings"])


def _wording(entry: dict[str, Any], parts: dict[str, str]) -> Wording:
    regex = re.compile(_spelled_out(entry["regex"], parts))
    behind = re.compile(_spelled_out(f"(?:{entry['not_behind']})$", parts)) if "not_behind" in entry else None
    return Wording(entry["name"], entry["relation"], Kind(entry["kind"]), regex, entry.get("back", False), behind)


def _spelled_out(regex: str, parts: dict[str, str]) -> str:
    while pieces := _PIECE.findall(regex):  # a piece may hold others
        for piece in pieces:
            regex = regex.replace(f"<{piece}>", parts[piece])
    return regex


_BEING = re.compile("是|为|作为|属于")
_PART = re.compile("[。；]")
_BESIDE = 6  # characters between a company and a wording that is plainly its own
_LOOSE = 0.5
_MOST_GOODS = 2  # that one list of uses can be told of
_USED_LEAD = re.compile("(?:，)?(?:经加工后)?(?:已|可|被|主要|广泛|均|直接|大量|的|地|主要是|目前|可以)*$")
_TRADE_END = re.compile(
    "(?:等)?(?:下游|航天|传统|新兴|多个|相关|各个?|众多|[一二三四五六七八九十两多0-9]+(?:个|大))*(?:行业|领域|产业|方面|市场|产品)?$"
)


def read(annotated: Annotated) -> Iterator[Claim]:
    """Yield what the sentence tells of its company, the loosest readings of it included; each place is read once."""
    taken: list[tuple[Ref, str]] = []
    for claim in _worded(annotated):
        name = listed_name(claim)
        others = (each for each in taken if each != (name, claim.pattern))  # one wording may tell a trade of two goods
        if not any(overlap(name, other) for other, _ in others):
            taken.append((name, claim.pattern))
            yield claim


def beside(claims: Iterable[Claim], read_already: Sequence[Claim]) -> Iterator[Claim]:
    """Yield the claims whose names stand in no place that is read already."""
    taken = [listed_name(claim) for claim in read_already]
    return (claim for claim in claims if not any(overlap(listed_name(claim), other) for other in taken))


def listed_name(claim: Claim) -> Ref:
    """Return the end of a claim that its wording lists: the child of a parent, the object of all else."""
    return claim.subject if claim.relation == "subsidiary_of" else claim.object


def overlap(one: Ref, other: Ref) -> bool:
    """Whether two names share a character of the sentence."""
    return one.start < other.end and other.start < one.end


def _worded(annotated: Annotated) -> Iterator[Claim]:
    for wording in _wordings():
        for match in wording.regex.finditer(annotated.text):
            start, end = match.span("list")
            if wording.back:
                start = _begin(annotated, start, end)
            if wording.not_behind and wording.not_behind.search(annotated.text, 0, start):
                continue
            if wording.relation == "upstream_of":
                yield from _uses(annotated, wording, match)
                continue
            owner = teller(annotated, start if wording.back else match.start())
            if owner is None or start >= end:
                continue
            for low, high in _names(annotated, wording, start, end):
                if (high <= owner.start or owner.end <= low) and not _is_place(annotated, wording, low, high):
                    yield _claim(annotated, wording, owner, (low, high))


def _is_place(annotated: Annotated, wording: Wording, start: int, end: int) -> bool:
    """Whether a list of businesses, goods or trades turns out to be one of places."""
    return wording.kind != Kind.REGION and any(
        ref.kind == Kind.REGION and (ref.start, ref.end) == (start, end) for ref in annotated.refs
    )


def _names(annotated: Annotated, wording: Wording, start: int, end: int) -> Iterator[tuple[int, int]]:
    if wording.kind == Kind.REGION:
        return _regions(annotated, start, end)
    if wording.kind == Kind.COMPANY:
        return firm_names(annotated, start, end)
    if wording.kind == Kind.BUSINESS:
        return business_names(annotated.text, start, end)
    return names(annotated.text, start, end, joint=COARSE)


def _begin(annotated: Annotated, start: int, end: int) -> int:
    """Where the names before a word like 业务 begin: behind the last verb and the last company."""
    text = annotated.text[start:end]
    words = rjieba.tokenize(text, "default", hmm=False)
    verbs = [start + stop for _, _, stop in words if _VERB.search(text, 0, stop)]
    begins = [max(verbs, default=start)]
    begins += [ref.end for ref in annotated.refs if ref.kind == Kind.COMPANY and start <= ref.start < end]
    begin = max(begins)
    lead = _LEADS.match(annotated.text[begin:end])
    return begin + (lead.end() if lead else 0)


def _uses(annotated: Annotated, wording: Wording, match: re.Match[str]) -> Iterator[Claim]:
    """Read 「A、B主要应用于C、D等行业」: what is used, and the trades it is used in."""
    text = annotated.text
    start, end = match.span("list")
    trail = _TRADE_END.search(text, start, end)
    trades = list(names(text, start, trail.start() if trail else end))
    goods = _used(annotated, match.start())
    if len(goods) > _MOST_GOODS:
        return
    for low, high in goods:
        one = Ref(entity_id(Kind.PRODUCT, text[low:high]), Kind.PRODUCT, text[low:high], low, high, score=0.8)
        for trade in trades:
            yield _claim(annotated, wording, one, trade)


def _used(annotated: Annotated, at: int) -> list[tuple[int, int]]:
    """Where the goods stand that a use is told of: in the clause before it, or in the one before that, before 是."""
    text = annotated.text
    sentence = max(text.rfind(mark, 0, at) for mark in "。；：！？") + 1
    lead = _USED_LEAD.search(text, sentence, at)
    stop = lead.start() if lead else at
    low = max(sentence, text.rfind("，", sentence, stop) + 1)
    if "产品".startswith(text[low:stop]) or text[low:stop] == "其产品":
        place = text.find("产品", low, at)
        if place >= 0:  # the text's own word for what it spoke of
            return [(place, place + 2)]
        low = max(sentence, text.rfind("，", sentence, max(low - 1, sentence)) + 1)
        being = _BEING.search(text, low, stop)
        return list(names(text, low, being.start())) if being else []
    being = _BEING.search(text, low, stop)
    stop = being.start() if being else stop
    return list(names(text, _begin(annotated, low, stop), stop))


def teller(annotated: Annotated, before: int) -> Ref | None:
    """Return the company that a clause is about: the one named right before, else the sentence's first."""
    named = [ref for ref in annotated.refs if ref.kind == Kind.COMPANY and ref.start >= 0]
    named = sorted([*named, *acting(annotated)], key=lambda ref: ref.start)
    near = [ref for ref in named if ref.end <= before and not _PART.search(annotated.text, ref.end, before)]
    if near and before - near[-1].end <= _BESIDE:
        return near[-1]
    if named:
        return named[0]
    subject = annotated.subject
    return subject if subject is not None and subject.kind == Kind.COMPANY else None


def _claim(annotated: Annotated, wording: Wording, owner: Ref, place: tuple[int, int]) -> Claim:
    start, end = place
    name = annotated.text[start:end]
    other = Ref(entity_id(wording.kind, name), wording.kind, name, start, end, score=0.8)
    subject, object_ = (other, owner) if wording.relation == "subsidiary_of" else (owner, other)
    return Claim(
        relation=wording.relation,
        subject=subject,
        object=object_,
        start=min(start, owner.start) if owner.start >= 0 else start,
        end=max(end, owner.end),
        pattern=f"profile.{wording.name}",
        confidence=_LOOSE,
    )


def _regions(annotated: Annotated, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the places named in a stretch; a province and its city side by side are one place."""
    places: list[tuple[int, int]] = []
    for ref in annotated.between(start, end):
        if ref.kind == Kind.REGION and places and places[-1][1] == ref.start:
            places[-1] = (places[-1][0], ref.end)
        elif ref.kind == Kind.REGION:
            places.append((ref.start, ref.end))
    yield from places
