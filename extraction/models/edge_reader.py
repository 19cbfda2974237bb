"""Turn edges of the edge model into claims: each span becomes a linked name or a new typed entity."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from extraction.models.units import TITLE, units_of
from extraction.names.gazetteer import indicator_of
from extraction.sentence import AnnotatedSentence, Claim, EntityMention
from kg.ids import entity_id, normal_name
from kg.model import Kind, Polarity
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.models.edges import Edge, EdgeModel, Span
    from extraction.models.units import Unit
    from extraction.names.gazetteer import Lexicon
    from extraction.sentence import AnnotatedDocument

_SIGN = {"up": 1, "down": -1, "none": 1}
_LONGEST, _SHORTEST = 30, 2  # characters of a name
_TRIMMED = " 、，。：；！？“”‘’\"'「」『』*·-—的"
_NO_NAME = re.compile(
    r"[，。；：！？▸|、]|^[\d.,%+\-~亿万元倍年月日季度\s]+$|^(?:其|该|此|这|那|它|本|我们|公司|上述|以上|以下|前者|后者)(?:们|公司|行业|产品|类|些|业务)?$"
    r"|^[（()）]+|[（(][^）)]*$|^[^（(]*[）)]"
)
_BRACKET = re.compile(r"[（(][^（()）]*[）)]$")
_INDUSTRY_SUFFIX = re.compile(r"(?:板块|行业|产业链|产业|赛道|概念股|概念|领域)+$")
_COMPANY_TAIL = re.compile(r"(?:等|公司|集团|股份|控股|科技|等公司|等企业|\s|-[A-Z]+|[（(][\w.:： ]+[）)])*")
_OWNER_KINDS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.BUSINESS, Kind.THEME, Kind.REGION, Kind.COMPANY})
_MAX_CLAIMS = 40  # per sentence, as a safeguard against a misbehaving model


class EdgeEnd(Struct, frozen=True):
    """One end of an edge: its entity, and the line and span that name it."""

    ref: EntityMention
    line: int
    start: int
    end: int


class EdgeReader:
    """Claim reader of the edge model; keeps no state between documents."""

    def __init__(self, model: EdgeModel, lexicon: Lexicon, *, min_confidence: float) -> None:
        self._model, self._lexicon, self._min_confidence = model, lexicon, min_confidence
        self.version = f"edges@{model.version}"

    def read(self, document: AnnotatedDocument) -> Iterator[tuple[Claim, AnnotatedSentence]]:
        """Yield the claims of a document; each triple once, where its confidence is highest."""
        found: list[tuple[Claim, AnnotatedSentence]] = []
        for unit in units_of(document.document.title, document.lines):
            found += self._claims(unit, document)
        found.sort(key=lambda row: (-row[0].confidence, row[1].sentence.start))
        kept: dict[tuple[str, str, str], tuple[Claim, AnnotatedSentence]] = {}
        per_sentence: dict[int, int] = {}
        for claim, annotated in found:
            key = (claim.subject.entity, claim.relation, claim.object.entity)
            count = per_sentence.get(annotated.sentence.start, 0)
            if key not in kept and count < _MAX_CLAIMS:
                kept[key] = claim, annotated
                per_sentence[annotated.sentence.start] = count + 1
        yield from sorted(kept.values(), key=lambda row: (row[1].sentence.start, row[0].start, row[0].end))

    def _claims(self, unit: Unit, document: AnnotatedDocument) -> Iterator[tuple[Claim, AnnotatedSentence]]:
        for edge in self._model.read(unit, min_confidence=self._min_confidence):
            subject = self._end(unit, edge.subject, edge.subject_scope, edge.subject_kind, document)
            object_ = self._end(unit, edge.object, edge.object_scope, edge.object_kind, document)
            if subject is None or object_ is None or subject.ref.entity == object_.ref.entity:
                continue
            ends = self._allowed(edge, subject, object_)
            if ends is not None:
                yield self._claim(edge, *ends, document)

    def _allowed(self, edge: Edge, subject: EdgeEnd, object_: EdgeEnd) -> tuple[EdgeEnd, EdgeEnd] | None:
        """Return the ends with kinds that the relation allows, or None if the kinds of linked names do not fit."""
        relation = vocabulary()[edge.relation]
        if relation.allows(subject.ref.kind, object_.ref.kind):
            return subject, object_
        for left in self._kinds(subject.ref):
            for right in self._kinds(object_.ref):
                if relation.allows(left, right):
                    return _as_kind(subject, left), _as_kind(object_, right)
        return None

    def _kinds(self, ref: EntityMention) -> list[Kind]:
        """Return the possible kinds of a name; listed companies and gazetteer names have one."""
        if ref.entity.startswith("sec:") or ref.about or ref.name in self._lexicon.terms:
            return [ref.kind]
        return self._model.kind_of(ref.name)

    def _end(
        self, unit: Unit, span: Span, scope: Span | None, kind: Kind, document: AnnotatedDocument
    ) -> EdgeEnd | None:
        place = unit.locate(*span)
        if place is None:
            return None
        line, start, end = place
        text = document.text_of(line)
        start, end = _trimmed(text, start, end)
        name = text[start:end]
        before = _scope_text(unit, scope, document) if scope else ""
        names = document.names[line] if line != TITLE else document.title_names
        if not before:
            known = self._known(text, names, start, end)
            if known is not None:
                return EdgeEnd(known, line, start, end)
        name = before + name
        if not _SHORTEST <= len(name) <= _LONGEST or _NO_NAME.search(name) or self._lexicon.is_bare(name):
            return None
        inside = [ref for ref in names if ref.start >= start and ref.end <= end] if not before else []
        return EdgeEnd(self._new_entity(name, start, end, inside, kind), line, start, end)

    def _known(self, text: str, names: Sequence[EntityMention], start: int, end: int) -> EntityMention | None:
        """Return the linked name of a span, ignoring a suffix such as 等 or 公司 or a code in brackets."""
        for ref in names:
            if ref.start == start and ref.end == end:
                return ref
            if ref.kind != Kind.COMPANY or ref.start != start:
                continue
            longer = ref.end <= end and _COMPANY_TAIL.fullmatch(text, ref.end, end)
            if longer or (end < ref.end and text[start:end] in ref.name):
                return ref
        name = text[start:end]
        term = self._lexicon.terms.get(name) or self._lexicon.trade(without_trade(name))
        if term is None:
            return None
        return EntityMention(term.entity, term.kind, term.name, start, end, term.about, 0.9, term.owner)

    def _new_entity(
        self, name: str, start: int, end: int, inside: Sequence[EntityMention], kind: Kind
    ) -> EntityMention:
        """Return a new entity for an unknown name; an indicator is anchored to its owner."""
        name = without_trade(normal_spelling(name))
        head = self._lexicon.measure_of(name)
        if head is not None:
            owner, measure = head
            lead = next((ref for ref in inside if ref.kind in _OWNER_KINDS and ref.start == start), None)
            if lead is not None and normal_name(lead.name) == normal_name(owner):
                return indicator_of(lead, measure, start=start, end=end)
            term = self._lexicon.terms.get(owner)
            owner_kind = (
                term.kind
                if term
                else next((each for each in self._model.kind_of(owner) if each in _OWNER_KINDS), Kind.PRODUCT)
            )
            if owner_kind in _OWNER_KINDS and len(owner) >= _SHORTEST and owner not in self._lexicon.never:
                known = term.entity if term else entity_id(owner_kind, owner)
                anchor = EntityMention(known, owner_kind, term.name if term else owner, start, start + len(owner))
                return indicator_of(anchor, measure, start=start, end=end)
            return EntityMention(entity_id(Kind.INDICATOR, name), Kind.INDICATOR, name, start, end)
        kinds = self._model.kind_of(name)
        chosen = kind if kind in (Kind.COMPANY, Kind.PERSON) and kind in kinds[:2] else kinds[0]
        lead = next((ref for ref in inside if ref.start == start and ref.kind == Kind.COMPANY), None)
        about, owner = (lead.entity, lead.name) if lead and chosen == Kind.INDICATOR else ("", "")
        return EntityMention(entity_id(chosen, name), chosen, name, start, end, about=about, owner=owner, score=0.7)

    def _claim(
        self, edge: Edge, subject: EdgeEnd, object_: EdgeEnd, document: AnnotatedDocument
    ) -> tuple[Claim, AnnotatedSentence]:
        """Return the edge as a claim of the sentence that contains the later one of its ends."""
        line = max(subject.line, object_.line)
        annotated = document.sentence(max(line, 0))
        ends = [each for each in (subject, object_) if each.line == line]
        causal = edge.relation == "affects"
        directions = (("cause_direction", edge.cause), ("effect_direction", edge.effect)) if causal else ()
        return Claim(
            relation=edge.relation,
            subject=_in_sentence(subject, line),
            object=_in_sentence(object_, line),
            start=min(each.start for each in ends) if line != TITLE else 0,
            end=max(each.end for each in ends) if line != TITLE else 0,
            pattern=edge.relation,
            sign=_SIGN[edge.cause] * _SIGN[edge.effect] if causal else 0,
            qualifiers=directions,
            confidence=edge.probability,
            modality=edge.modality,
            polarity=Polarity.NEGATIVE if edge.negative else Polarity.POSITIVE,
            named=tuple(
                (*document.lines[each.line].sentence.span(each.start, each.end), each.ref)
                for each in (subject, object_)
                if each.line != TITLE
            ),
            reader=self.version,
        ), annotated


def _scope_text(unit: Unit, scope: Span, document: AnnotatedDocument) -> str:
    place = unit.locate(*scope)
    if place is None:
        return ""
    text = document.text_of(place[0])
    start, end = _trimmed(text, *place[1:])
    return text[start:end]


def normal_spelling(name: str) -> str:
    """Return a name without quotes, a final bracket and spaces next to Chinese characters.

    >>> normal_spelling("“人形机器人” 概念（A股）")
    '人形机器人概念'
    """
    name = _BRACKET.sub("", re.sub(r"[“”‘’\"'「」『』*]", "", name)) or name
    return re.sub(r"(?<=[一-鿿])\s+|\s+(?=[一-鿿])", "", name).strip(_TRIMMED)


def without_trade(name: str) -> str:
    """Return a name without a suffix for an industry: 银行 for 银行板块, AI算力 for AI算力产业链.

    >>> without_trade("银行板块"), without_trade("行业")
    ('银行', '行业')
    """
    stem = _INDUSTRY_SUFFIX.sub("", name)
    return stem if len(stem) >= _SHORTEST else name


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start] in _TRIMMED:
        start += 1
    while end > start and text[end - 1] in _TRIMMED:
        end -= 1
    return start, end


def _as_kind(end: EdgeEnd, kind: Kind) -> EdgeEnd:
    if end.ref.kind == kind:
        return end
    ref = end.ref
    return EdgeEnd(
        EntityMention(entity_id(kind, ref.name), kind, ref.name, ref.start, ref.end, score=ref.score),
        end.line,
        end.start,
        end.end,
    )


def _in_sentence(end: EdgeEnd, line: int) -> EntityMention:
    """Return the mention with its offsets in the sentence, or without offsets if it is in another line."""
    ref = end.ref
    start, stop = (end.start, end.end) if end.line == line and line != TITLE else (-1, -1)
    return EntityMention(ref.entity, ref.kind, ref.name, start, stop, ref.about, ref.score, ref.owner, -1)
