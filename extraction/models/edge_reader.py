"""Turn edges of the edge model into claims: each span becomes a linked name or a new typed entity."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from extraction.models.linking import EdgeEnd, Statement, claim_of, normal_spelling, trimmed
from extraction.models.units import TITLE, units_of
from extraction.text.clauses import in_brackets
from kg.model import BlockKind
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from extraction.models.edges import Edge, EdgeModel, Span
    from extraction.models.linking import KindsByName, NameLinker
    from extraction.models.units import Unit
    from extraction.sentence import AnnotatedDocument, AnnotatedSentence, Claim
    from kg.model import Kind

_EXTENT = re.compile(r"从[^，。；：、]{1,12}?(?:到|至)[^，。；：、]{1,12}")
_MAX_CLAIMS = 40  # per sentence, as a safeguard against a misbehaving model
# What stands between two items of one list, which have one role in their sentence: 「甲（JIA）、乙和丙」. Not
# 「甲（丁）、乙」, where the bracket is of 甲 alone, nor 「甲等戊、乙」, where 等 ends the list.
_BETWEEN = re.compile(
    r"\s*(?:（[^（）一-鿿]*）\s*)?(?:、|以及|和|及|或)(?:[^，。；：！？（）▸等]*(?:、|以及|和|及|或))?\s*"
)
_LONGEST_GAP = 60  # characters between two items
_FAINTEST = 0.1  # probability of an edge that the edges of other items support
_SUPPORT = 0.9  # of the probability that the best of these has
_STATED = ("relation", "cause", "effect", "modality", "negative")


class EdgeReader:
    """Claim reader of the edge model; keeps no state between documents."""

    def __init__(self, model: EdgeModel, linker: NameLinker, *, min_confidence: float) -> None:
        self._model, self._linker, self._min_confidence = model, linker, min_confidence
        self.version = f"edges@{model.version}"

    def read(self, document: AnnotatedDocument) -> Iterator[tuple[Claim, AnnotatedSentence]]:
        """Yield the claims of a document: each triple, or its reverse, once, where its confidence is highest."""
        units = units_of(document.title, document.lines)
        edges = self._model.read(units, min_confidence=min(self._min_confidence, _FAINTEST))
        read = [
            (unit, edge)
            for unit, found in zip(units, edges, strict=True)
            for edge in _with_support(unit, found)
            if edge.probability >= self._min_confidence
        ]
        kinds = _kinds_by_name(read)
        found = [claim for unit, edge in read for claim in self._claims(unit, edge, kinds, document)]
        found.sort(key=lambda row: (-row[0].confidence, row[1].sentence.start))
        kept: dict[tuple[str, str, str], tuple[Claim, AnnotatedSentence]] = {}
        per_sentence: dict[int, int] = {}
        for claim, annotated in found:
            key = (claim.subject.entity, claim.relation, claim.object.entity)
            count = per_sentence.get(annotated.sentence.start, 0)
            reverse = key[::-1]
            if key not in kept and reverse not in kept and count < _MAX_CLAIMS:
                kept[key] = claim, annotated
                per_sentence[annotated.sentence.start] = count + 1
        yield from sorted(kept.values(), key=lambda row: (row[1].sentence.start, row[0].start, row[0].end))

    def _claims(
        self, unit: Unit, edge: Edge, kinds: KindsByName, document: AnnotatedDocument
    ) -> Iterator[tuple[Claim, AnnotatedSentence]]:
        """Yield the claim of an edge, if both ends are names that its relation allows."""
        subject, object_ = (self._end(name, kinds, document) for name in _names(unit, edge))
        if subject is None or object_ is None or subject.ref.entity == object_.ref.entity:
            return
        if (ends := self._linker.allowed(edge.relation, subject.ref, object_.ref)) is None:
            return
        stated = Statement(
            edge.relation, edge.cause, edge.effect, edge.modality, edge.negative, edge.probability, self.version
        )
        left, right = structs.replace(subject, ref=ends[0]), structs.replace(object_, ref=ends[1])
        # The sentence that contains the later end states the edge.
        yield claim_of(stated, left, right, document=document, line=max(left.line, right.line))

    def _end(self, name: _Name, kinds: KindsByName, document: AnnotatedDocument) -> EdgeEnd | None:
        place = name.unit.locate(*name.span)
        if place is None:
            return None
        line, start, end = place
        low, high = trimmed(document.text_of(line), start, end)
        if _is_extent(document, line, low, high):
            return None
        before = _scope_text(name.unit, name.scope, document) if name.scope else ""
        ref = self._linker.link(document, line, (low, high), kinds=kinds, before=before)
        if ref is None:
            return None
        # A firm's name may be longer than what the model read.
        return EdgeEnd(ref, line, min(low, ref.start) if ref.start >= 0 else low, max(high, ref.end))


def _with_support(unit: Unit, edges: Sequence[Edge]) -> Iterator[Edge]:
    """Yield the edges of a unit, each nearly as probable as the same edge of another item of its list."""
    for edge in edges:
        others = (other.probability for other in edges if _is_of_list(unit.text, edge, other))
        yield structs.replace(edge, probability=max(edge.probability, _SUPPORT * max(others, default=0.0)))


def _is_of_list(text: str, edge: Edge, other: Edge) -> bool:
    """Whether two edges state the same of two items of one list; what a bracket holds is said of one item."""
    alike = all(getattr(edge, name) == getattr(other, name) for name in _STATED)
    if not alike or (edge.subject == other.subject) == (edge.object == other.object):
        return False
    same_object = edge.object == other.object
    one, two, shared = (
        (edge.subject, other.subject, edge.object) if same_object else (edge.object, other.object, edge.subject)
    )
    low, high = min(one, two)[1], max(one, two)[0]
    is_list = low < high <= low + _LONGEST_GAP and _BETWEEN.fullmatch(text, low, high) is not None
    return is_list and not vocabulary()[edge.relation].symmetric and not in_brackets(text, shared[0], 0)


def _is_extent(document: AnnotatedDocument, line: int, start: int, end: int) -> bool:
    """Whether a heading or title names a thing only as where it begins or stops: 「产业链全景：从硅砂到电站」."""
    if line != TITLE and document.lines[line].block.kind != BlockKind.HEADING:
        return False
    extents = _EXTENT.finditer(document.text_of(line))
    return any(found.start() < start and end <= found.end() for found in extents)


class _Name(Struct, frozen=True):
    """A name that an end of an edge is: its span in a unit, that of a separate first part, and the proposed kind."""

    unit: Unit
    span: Span
    scope: Span | None
    kind: Kind

    @property
    def spelled(self) -> str:
        return normal_spelling("".join(self.unit.text[slice(*each)] for each in (self.scope, self.span) if each))


def _names(unit: Unit, edge: Edge) -> tuple[_Name, _Name]:
    return (
        _Name(unit, edge.subject, edge.subject_scope, edge.subject_kind),
        _Name(unit, edge.object, edge.object_scope, edge.object_kind),
    )


def _kinds_by_name(read: Iterable[tuple[Unit, Edge]]) -> KindsByName:
    """Return what all edges of a document propose as the kinds of each name, weighted by their probabilities."""
    kinds: dict[str, dict[Kind, float]] = {}
    for unit, edge in read:
        for name in _names(unit, edge):
            of_name = kinds.setdefault(name.spelled, {})
            of_name[name.kind] = of_name.get(name.kind, 0.0) + edge.probability
    return kinds


def _scope_text(unit: Unit, scope: Span, document: AnnotatedDocument) -> str:
    place = unit.locate(*scope)
    if place is None:
        return ""
    text = document.text_of(place[0])
    start, end = trimmed(text, *place[1:])
    return text[start:end]
