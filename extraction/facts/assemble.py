"""Build facts from claims: determine modality, speaker and period, cut the quote, order the ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from extraction.certainty.modality import speaker_of
from extraction.certainty.policy import certainty_of
from extraction.dating.policy import relation_period
from extraction.sentence import PATTERNS
from extraction.text.clauses import labelled_clause
from kg.ids import fact_id_of, id_part, said_key
from kg.kinds import kind_of
from kg.model import Entity, Evidence, Fact
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from extraction.names.gazetteer import Term
    from extraction.sentence import AnnotatedSentence, Claim, EntityMention
    from kg.model import Document

_MAX_QUOTE = 280
_EVEN_ODDS, _DOUBT_FACTOR = 0.5, 0.35


def to_fact(claim: Claim, annotated: AnnotatedSentence, document: Document, *, recorded_at: datetime) -> Fact:
    """Build the fact stated by a claim, with its one piece of evidence."""
    certainty = certainty_of(claim, annotated, document)
    subject, object_ = claim.subject, claim.object
    if vocabulary()[claim.relation].symmetric and object_.entity < subject.entity:
        subject, object_ = object_, subject
    start, end = _quote_span(claim, annotated)
    evidence = Evidence(
        document=document.id,
        start=start,
        end=end,
        quote=document.text[start:end],
        published_on=document.published_on,
        recorded_at=recorded_at,
        speaker=speaker_of(annotated.text, document.publisher),
        confidence=round(_confidence(claim, hedged=certainty.hedged) * document.legibility_at(start), 3),
        extractor=f"{claim.reader}:{claim.pattern}",
    )
    sign = claim.sign if vocabulary()[claim.relation].signed else 0
    valid = claim.valid or relation_period(claim, annotated)
    stated = (sign, certainty.polarity, certainty.modality)
    claim_key = said_key(*stated, valid=valid, value=claim.value, qualifiers=claim.qualifiers)
    ends = (subject.entity, claim.relation, object_.entity)
    return Fact(
        fact_id_of(*map(id_part, ends), claim=claim_key),
        *ends,
        sign=sign,
        polarity=certainty.polarity,
        modality=certainty.modality,
        valid=valid,
        value=claim.value,
        qualifiers=claim.qualifiers,
        evidence=(evidence,),
    )


def _confidence(claim: Claim, *, hedged: bool) -> float:
    """Return a claim's confidence; a pattern's score is no probability, and below even odds it is seldom right."""
    confidence = claim.confidence * (0.9 if hedged and claim.reader == PATTERNS else 1.0)
    return round(confidence * (_DOUBT_FACTOR if claim.reader == PATTERNS and confidence < _EVEN_ODDS else 1.0), 3)


def richest(claims: Iterable[Claim]) -> list[Claim]:
    """Keep the most informative of the claims with the same relation and ends: by value, qualifiers, confidence."""
    best: dict[tuple[str, str, str], Claim] = {}
    for claim in claims:
        key = (claim.relation, claim.subject.entity, claim.object.entity)
        known = best.get(key)
        if known is None or _information(claim) > _information(known):
            best[key] = claim
    return list(best.values())


def _information(claim: Claim) -> tuple[bool, int, float]:
    return claim.value is not None, len(claim.qualifiers), claim.confidence


def merge(facts: Iterable[Fact]) -> list[Fact]:
    """Merge facts that make the same claim into one with all evidence, the most confident for each span."""
    merged: dict[str, Fact] = {}
    for fact in facts:
        known = merged.get(fact.id)
        merged[fact.id] = fact.with_evidence(_best_per_span((*known.evidence, *fact.evidence))) if known else fact
    return list(merged.values())


def entities_of(refs: Sequence[EntityMention], names: dict[str, Entity], anchors: Mapping[str, Term]) -> list[Entity]:
    """Return the entities that are mentioned; `names` holds issuers, `anchors` gazetteer entries, both by id.

    What a name is about is an entity if it is mentioned too, or is one of `names` or `anchors`: the 原料补库 of
    原料补库需求 is none.
    """
    mentioned = {ref.entity for ref in refs}
    owned = [
        structs.replace(ref, about="", owner="")
        if ref.about and not any(ref.about in known for known in (mentioned, names, anchors))
        else ref
        for ref in refs
    ]
    found: dict[str, Entity] = {}
    for _, entity, name, about, kind in sorted(
        {(not ref.about, ref.entity, ref.name, ref.about, ref.kind) for ref in owned}
    ):
        if entity not in found:
            found[entity] = names.get(entity) or Entity(entity, kind, name, about=about)
    for ref in owned:  # add the entities that they are about, up to the widest industry
        # Mentions may differ in `about`; the entity keeps the first, and the others would be unreferenced.
        about, owner = (ref.about, ref.owner) if found[ref.entity].about == ref.about else ("", "")
        while about and owner and about not in found:
            term = anchors.get(about)
            known = names.get(about) or Entity(about, kind_of(about), owner, about=term.about if term else "")
            found[about] = known
            about, owner = known.about, term.owner if term else ""
    return [found[key] for key in sorted(found)]


def _best_per_span(evidence: tuple[Evidence, ...]) -> list[Evidence]:
    best: dict[tuple[str, int, int], Evidence] = {}
    for item in evidence:
        place = (item.document, item.start, item.end)
        if place not in best or item.confidence > best[place].confidence:
            best[place] = item
    return list(best.values())


def _quote_span(claim: Claim, annotated: AnnotatedSentence) -> tuple[int, int]:
    """Return the span of the sentence or, if that is too long, of the clauses around the claim."""
    sentence = annotated.sentence
    if sentence.end - sentence.start <= _MAX_QUOTE:
        return sentence.start, sentence.end
    return sentence.span(*labelled_clause(annotated.text, claim.start, claim.end))
