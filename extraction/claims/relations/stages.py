"""Read the stages that a line lists under its chain: 「上游：光芯片、结构件等」 below a heading or title on 光模块."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from extraction.claims.relations.listed import names_of_list
from extraction.context.headings import elsewhere, only_topic
from extraction.sentence import Claim, EntityMention
from extraction.text.lexicon import phrases
from kg.ids import entity_id
from kg.model import BlockKind, Kind
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.sentence import AnnotatedDocument, AnnotatedSentence, ClaimRow

_KINDS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.BUSINESS, Kind.THEME})
_PHRASES = phrases("relations/stages")
_LINE, _NO_STAGE, _OWN = _PHRASES["line"], _PHRASES["no_stage"], _PHRASES["own_chain"]
_LABEL, _ITEM, _NO_SIDE = _PHRASES["label"], _PHRASES["item"], _PHRASES["no_side"]
_SIDE = re.compile("上游|中游|下游")
_RELATION = {"上游": "upstream_of", "中游": "belongs_to", "下游": "upstream_of"}
_KNOWN, _NEW = 0.75, 0.6  # confidence of a name that is in a list of names, and of one that is not
_FEWEST = 2


class StageReader:
    """Claim reader of listed stages; keeps no state between documents."""

    def read(self, document: AnnotatedDocument) -> Iterator[ClaimRow]:
        """Yield what goes into the topic of a heading, else of the title, what belongs to it, and what it goes into."""
        title = only_topic(document.title_names)
        topic, side = title, ""
        for number, line in enumerate(document.lines):
            names, text = document.names[number], line.sentence.text
            if line.block.kind == BlockKind.HEADING:
                side = _side_of(text)
                topic = _owner(text, names) or only_topic(names) or title
            elif topic and (annotated := document.by_line.get(number)):
                side = (_side_of(text) or side) if _LABEL.fullmatch(text) else side
                yield from ((claim, annotated) for claim in _claims(annotated, topic, side))


def _side_of(text: str) -> str:
    """Return the one side that a heading or label names, "" for none or several, and for a risk."""
    sides = set(_SIDE.findall(text))
    return sides.pop() if len(sides) == 1 and not _NO_SIDE.search(text) else ""


def _owner(text: str, names: Sequence[EntityMention]) -> EntityMention | None:
    """Return whose side a heading names: 锂电 of 「锂电上游材料」."""
    found = next((ref for ref in names if ref.kind in _KINDS and _SIDE.match(text, ref.end)), None)
    return found and elsewhere(found)


def _claims(annotated: AnnotatedSentence, topic: EntityMention, side: str) -> Iterator[Claim]:
    """Yield the stages of a sentence; `side` is that of the label above it, or ""."""
    text = annotated.text
    own = [ref for ref in annotated.refs if ref.start >= 0 and _OWN.match(text, ref.end)]
    if any(ref.entity != topic.entity for ref in own):
        return  # 「甲产业链方面，上游为…」 below a heading on another
    lists = [(line["side"], line.span("list")) for line in _LINE.finditer(text)]
    item = _ITEM.match(text) if side and not lists else None
    end = _end(annotated, item.span("name")) if item else None
    if item and end and end.score > _NEW and end.entity != topic.entity:
        yield from _claim(side, end, topic, item.start("name"))
    for placed, span in lists:
        found = [end for each in names_of_list(text, *span) if (end := _end(annotated, each))]
        ends = [end for end in found if end.entity != topic.entity]
        for end in ends if len(ends) >= _FEWEST else ():
            yield from _claim(placed, end, topic, span[0])


def _claim(side: str, end: EntityMention, topic: EntityMention, start: int) -> Iterator[Claim]:
    relation = _RELATION[side]
    subject, object_ = (topic, end) if side == "下游" else (end, topic)
    if vocabulary()[relation].allows(subject.kind, object_.kind):
        confidence = _KNOWN if end.score > _NEW else _NEW
        yield Claim(relation, subject, object_, start, end.end, f"stages.{side}", confidence=confidence)


def _end(annotated: AnnotatedSentence, span: tuple[int, int]) -> EntityMention | None:
    """Return the thing of an item: a known name that fills it, else a new product; None of a firm or a clause."""
    start, end = span
    name = annotated.text[start:end]
    known = next((ref for ref in annotated.refs if (ref.start, ref.end) == span), None)
    if known:
        return known if known.kind in _KINDS else None
    if _NO_STAGE.search(name):
        return None
    return EntityMention(entity_id(Kind.PRODUCT, name), Kind.PRODUCT, name, start, end, score=_NEW)
