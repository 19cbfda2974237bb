"""Read the stages of a chain that a text lists by side: 「上游：光芯片、结构件等」, or 「中游」 above 「磁体系统：…」.

The chain is that of the nearest heading that names one thing, else of the title. A label of one side, on a line of its
own or in a heading, counts with one of another side beside it: 「上游原料」 alone opens prices, not a chain.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import structs

from extraction.claims.relations.listed import names_of_list
from extraction.context.headings import only_topic
from extraction.sentence import Claim, EntityMention
from extraction.text.lexicon import phrases
from kg.ids import entity_id
from kg.kinds import kind_of
from kg.model import BlockKind, Kind
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.sentence import AnnotatedDocument, AnnotatedSentence, ClaimRow

_KINDS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.BUSINESS, Kind.THEME})
_PHRASES = phrases("relations/stages")
_LINE, _NO_STAGE, _OWN = _PHRASES["line"], _PHRASES["no_stage"], _PHRASES["own_chain"]
_CLAUSE, _LABEL, _ITEM, _SEGMENT = (_PHRASES[name] for name in ("clause", "label", "item", "segment"))
_BRACKET = re.compile(r"（[^（）]*）")
_RELATION = {"上游": "upstream_of", "中游": "belongs_to", "下游": "upstream_of"}
_KNOWN, _NEW = 0.75, 0.6  # confidence of a name that is in a list of names, and of one that is not
_FEWEST = 2


class StageReader:
    """Claim reader of listed stages; keeps no state between documents."""

    def read(self, document: AnnotatedDocument) -> Iterator[ClaimRow]:
        """Yield what goes into the topic of a heading, else of the title, what belongs to it, and what it goes into."""
        topics = {0: only_topic(map(_owner, document.title_names))}
        labels, side = _labels(document), ""
        items: BlockKind | None = None  # the kind of the lines listed below the label
        for number, line in enumerate(document.lines):
            ended = line.block.kind == BlockKind.HEADING or (items and line.first and line.block.kind != items)
            side = labels.get(number, "" if ended else side)
            if line.block.kind == BlockKind.HEADING:
                topics = {level: topic for level, topic in topics.items() if level < line.block.level}
                topics[line.block.level] = None if side else _topic(document, number)
            topic = next((each for _, each in sorted(topics.items(), reverse=True) if each), None)
            annotated = document.by_line.get(number)
            if topic and line.first and (segment := _segment(document.sentence(number), topic)):
                yield segment, document.sentence(number)
            if topic and annotated:
                item = _ITEM.match(annotated.text) if side and line.first and number not in labels else None
                items = line.block.kind if item else None if number in labels else items
                known = line.block.kind != BlockKind.ITEM  # a paragraph may as well be 投资建议：…
                found = (
                    _item(annotated, topic, side, item, known=known)
                    if item
                    else _claims(annotated, topic, number in labels)
                )
                yield from ((claim, annotated) for claim in found)


def _topic(document: AnnotatedDocument, number: int) -> EntityMention | None:
    """Return the only thing that a heading names beside sides and segments: 「上游材料」 and 「电芯环节」 name none."""
    text = document.lines[number].sentence.text
    return only_topic(
        ref
        for ref in document.names[number]
        if not text[: max(ref.start, 0)].endswith(tuple(_RELATION)) and not text[ref.end :].lstrip().startswith("环节")
    )


def _owner(ref: EntityMention) -> EntityMention:
    """Return what a measure is of: 风电 for 「风电板块业绩」."""
    if ref.kind != Kind.INDICATOR or not ref.about:
        return ref
    return structs.replace(ref, entity=ref.about, kind=kind_of(ref.about), name=ref.owner or ref.name, about="")


def _segment(annotated: AnnotatedSentence, topic: EntityMention) -> Claim | None:
    """Return the segment that a label or heading names: 「管桩环节：」 below 「风电」."""
    label = _SEGMENT.match(annotated.text)
    end = label and _end(annotated, label.span("name"))
    if not end or end.entity == topic.entity:
        return None
    confidence = _KNOWN if end.score > _NEW else _NEW
    return Claim("belongs_to", end, topic, end.start, end.end, "stages.环节", confidence=confidence)


def _labels(document: AnnotatedDocument) -> dict[int, str]:
    """Return the side of each line that is a label beside one of another side, in one section."""
    found: dict[tuple[int, int], dict[int, str]] = defaultdict(dict)
    above: dict[int, int] = {}
    for number, line in enumerate(document.lines):
        is_heading = line.block.kind == BlockKind.HEADING
        level = line.block.level if is_heading else 0
        label = _LABEL.match(line.sentence.text) if line.first and line.block.kind != BlockKind.TABLE else None
        if label:
            section = max((at for depth, at in above.items() if not level or depth < level), default=-1)
            found[section, level][number] = label["side"]
        elif is_heading:
            above = {depth: at for depth, at in above.items() if depth < level} | {level: number}
    return {number: side for each in found.values() if len(set(each.values())) > 1 for number, side in each.items()}


def _item(
    annotated: AnnotatedSentence, topic: EntityMention, side: str, item: re.Match[str], *, known: bool
) -> Iterator[Claim]:
    """Yield the stage of a line below a label: 磁体系统 of 「磁体系统：约束等离子体」; if `known`, no new name."""
    for span in names_of_list(annotated.text, *item.span("name")):
        end = _end(annotated, span)
        is_new = end is not None and end.score <= _NEW
        if end and end.entity != topic.entity and not (known and is_new):
            yield from _claim(side, end, topic, span[0])


def _claims(annotated: AnnotatedSentence, topic: EntityMention, labelled: bool) -> Iterator[Claim]:
    """Yield the stages that a line lists itself; what stands in brackets is said of an item, not of the chain."""
    text = _BRACKET.sub(lambda bracket: "　" * len(bracket[0]), annotated.text)
    own = [ref for ref in annotated.refs if ref.start >= 0 and _OWN.match(text, ref.end)]
    if any(ref.entity != topic.entity for ref in own):
        return  # 「甲产业链方面，上游为…」 below a heading on another
    for line in _LINE.finditer(text):
        firms = [ref for ref in annotated.refs if ref.kind == Kind.COMPANY and 0 <= ref.start < line.end()]
        if _CLAUSE.search(line["list"]) or any(text[ref.start] != "　" for ref in firms):
            continue  # what a firm's goods go into, or what a firm does
        start, stop = line.span("list")
        found = [end for each in names_of_list(annotated.text, start, stop) if (end := _end(annotated, each))]
        ends = [end for end in found if end.entity != topic.entity]
        sure = [end for end in ends if len(ends) >= _FEWEST or (labelled and end.score > _NEW)]
        for end in sure:
            yield from _claim(line["side"], end, topic, start)


def _claim(side: str, end: EntityMention, topic: EntityMention, start: int) -> Iterator[Claim]:
    relation = _RELATION[side]
    subject, object_ = (topic, end) if side == "下游" else (end, topic)
    if vocabulary()[relation].allows(subject.kind, object_.kind):
        confidence = _KNOWN if end.score > _NEW else _NEW
        yield Claim(relation, subject, object_, start, end.end, f"stages.{side}", confidence=confidence)


def _end(annotated: AnnotatedSentence, span: tuple[int, int]) -> EntityMention | None:
    """Return the thing of an item: a known name that fills it, else a new product; None of a firm or a clause."""
    start, end = span
    if start and annotated.text[start - 1].isdigit():
        return None  # half of 3C电池
    end = start + len(annotated.text[start:end].partition("（")[0])
    name, span = annotated.text[start:end], (start, end)
    known = next((ref for ref in annotated.refs if (ref.start, ref.end) == span), None)
    if known:
        return known if known.kind in _KINDS else None
    if _NO_STAGE.search(name):
        return None
    return EntityMention(entity_id(Kind.PRODUCT, name), Kind.PRODUCT, name, start, end, score=_NEW)
