"""Read a company's own segments and products from lists: 「主营业务为A、B和C」, 「产品包括…」, 「…业务」.

The gazetteer covers industries and products shared by many companies; company-specific segments and products appear
only in such lists. A trigger gives the type of the list; its separators delimit the names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from extraction.claims.measures.measurement import DOUBTFUL
from extraction.context.coreference import company_before
from extraction.sentence import Claim, EntityMention
from extraction.text.clauses import in_brackets
from extraction.text.lexicon import phrases
from kg.ids import entity_id
from kg.model import Kind
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.sentence import AnnotatedSentence

_MIN_LENGTH, _MAX_LENGTH = 2, 24  # characters of a name in a list
_MAX_NAMES = 40  # names in a list
_CONFIDENCE = 0.8  # of a name introduced by a trigger
_LIST_WORD = re.compile("业务|主业|主营|经营|产品|品种|剂型|品牌")
_LIST = re.compile(r"[^，。；：！？]{2,160}")
_JOINT = re.compile(r"、|以及|和|及其|及|与")
_NOT_OWN = re.compile("(?:合作|代理|联名|竞争|竞品|授权|服务|客户)的?$")  # the list is not about the company itself
_TRAILING_BRACKET = re.compile(r"（[^（）]*）(?:等)?$")
_NUMBERED = re.compile(r"^(?:（?[0-9一二三四五六七八九十]{1,2}[）.、]|[①-⑳])")
_PHRASES = phrases("relations/listed")
_LEAD = _PHRASES["lead"]
_TAIL = _PHRASES["tail"]
_NOT_A_NAME = _PHRASES["not_a_name"]
# A trigger introduces a list of names of this kind, in this relation to the company.
_OPENINGS = (("operates", Kind.BUSINESS, _PHRASES["operates"]), ("produces", Kind.PRODUCT, _PHRASES["produces"]))


def sure(annotated: AnnotatedSentence) -> Iterator[Claim]:
    """Yield the segments and products that lists in the sentence attribute to its companies."""
    if not _LIST_WORD.search(annotated.text):
        return
    seen: set[tuple[str, str, str]] = set()
    for claim in _list_claims(annotated):
        key = (claim.relation, claim.subject.entity, claim.object.entity)
        allowed = vocabulary()[claim.relation].allows(claim.subject.kind, claim.object.kind)
        if allowed and key not in seen:
            seen.add(key)
            yield claim


def _list_claims(annotated: AnnotatedSentence) -> Iterator[Claim]:
    text = annotated.text
    for relation, kind, trigger in _OPENINGS:
        for match in trigger.finditer(text):
            if _NOT_OWN.search(text, 0, match.start()):
                continue
            subject = company_before(annotated, match.start())
            found = _LIST.match(text, match.end())
            if subject is not None and found is not None:
                for start, end in names_of_list(text, *found.span()):
                    yield _claim(annotated, relation, kind, subject, (start, end))


def names_of_list(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a list at its separators and yield the span of each name, without lead-ins, endings and generic words."""
    at, parts = start, []
    joints = [found for found in _JOINT.finditer(text, start, end) if not in_brackets(text, found.start(), start)]
    for found in (*joints, None):
        parts.append((at, found.start() if found else end))
        at = found.end() if found else end
    for low, high in parts[:_MAX_NAMES]:
        bracket = _TRAILING_BRACKET.search(text, low, high)
        trimmed = _trim(text, low, bracket.start() if bracket else high)
        if trimmed is not None:
            yield trimmed


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    part = text[start:end]
    lead = _NUMBERED.match(part)
    begin = lead.end() if lead else 0
    lead = _LEAD.match(part, begin) or _LEAD.match(part[begin:])
    if lead and lead.start() == 0:
        begin += lead.end() - (begin if lead.string is part else 0)
    tail = _TAIL.search(part, begin)
    stop = tail.start() if tail else len(part)
    name = part[begin:stop]
    if not _MIN_LENGTH <= len(name) <= _MAX_LENGTH or _NOT_A_NAME.search(name):
        return None
    return start + begin, start + stop


def _claim(
    annotated: AnnotatedSentence, relation: str, kind: Kind, subject: EntityMention, span: tuple[int, int]
) -> Claim:
    start, end = span
    known = [ref for ref in annotated.refs if (ref.start, ref.end) == span]
    name = annotated.text[start:end]
    truncated = not known and len(name) == _MIN_LENGTH  # 有源 in 有源与无源器件
    object_ = known[0] if known else EntityMention(entity_id(kind, name), kind, name, start, end, score=0.8)
    return Claim(
        relation=relation,
        subject=subject,
        object=object_,
        start=min(start, subject.start) if subject.start >= 0 else start,
        end=end,
        pattern=f"listed.{relation}.named",
        confidence=DOUBTFUL if truncated else _CONFIDENCE * min(subject.score, object_.score),
    )
