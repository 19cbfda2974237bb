"""Turn edges of the edge model into claims: each span becomes a linked name or a new typed entity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from extraction.models.linking import EdgeEnd, NameLinker, Statement, claim_of, trimmed
from extraction.models.units import TITLE, units_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.models.edges import EdgeModel, Span
    from extraction.models.units import Unit
    from extraction.names.gazetteer import Lexicon
    from extraction.sentence import AnnotatedDocument, AnnotatedSentence, Claim
    from kg.model import Kind

_MAX_CLAIMS = 40  # per sentence, as a safeguard against a misbehaving model


class EdgeReader:
    """Claim reader of the edge model; keeps no state between documents."""

    def __init__(self, model: EdgeModel, lexicon: Lexicon, *, min_confidence: float) -> None:
        self._model, self._min_confidence = model, min_confidence
        self._linker = NameLinker(lexicon, model.kind_of)
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
            if (ends := self._linker.allowed(edge.relation, subject.ref, object_.ref)) is None:
                continue
            left, right = structs.replace(subject, ref=ends[0]), structs.replace(object_, ref=ends[1])
            stated = Statement(
                edge.relation, edge.cause, edge.effect, edge.modality, edge.negative, edge.probability, self.version
            )
            # The sentence that contains the later end states the edge.
            yield claim_of(stated, left, right, document=document, line=max(left.line, right.line))

    def _end(
        self, unit: Unit, span: Span, scope: Span | None, kind: Kind, document: AnnotatedDocument
    ) -> EdgeEnd | None:
        place = unit.locate(*span)
        if place is None:
            return None
        line, start, end = place
        text = document.text_of(line)
        start, end = trimmed(text, start, end)
        before = _scope_text(unit, scope, document) if scope else ""
        names = document.names[line] if line != TITLE else document.title_names
        ref = self._linker.link(text, names, (start, end), kind=kind, before=before)
        return EdgeEnd(ref, line, start, end) if ref else None


def _scope_text(unit: Unit, scope: Span, document: AnnotatedDocument) -> str:
    place = unit.locate(*scope)
    if place is None:
        return ""
    text = document.text_of(place[0])
    start, end = trimmed(text, *place[1:])
    return text[start:end]
