"""Build facts from claims: determine modality, speaker and period, cut the quote, order the ends."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from extraction.certainty.modality import read_modality, speaker_of
from extraction.sentence import PATTERNS
from extraction.text.lexicon import phrases
from kg.ids import fact_id_of, id_part, said_key
from kg.kinds import kind_of
from kg.model import Entity, Evidence, Fact, Kind, Modality, Polarity
from kg.period import Precision
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from extraction.names.gazetteer import Term
    from extraction.sentence import AnnotatedSentence, Claim, EntityMention
    from kg.dating.reader import Dated
    from kg.model import Document
    from kg.period import Period

_MAX_QUOTE = 280
_EVEN_ODDS, _DOUBT_FACTOR = 0.5, 0.35
_SAME_CLAUSE = re.compile("，?[^，；。：]*")
_PHRASES = phrases("facts/assemble")
_REACHED = _PHRASES["reached"]
_NOW = re.compile("当前|目前|现阶段")
_COMPLETED = re.compile("已")  # required where the period ends far ahead: 达到 alone is then a forecast
_DAY, _STILL_OPEN, _LONG_PAST, _FAR = timedelta(days=1), timedelta(days=31), timedelta(days=90), timedelta(days=120)
_CUE_IN_NAME = re.compile("[若如拟将望未不无非]")
_FIRST_REPORTS = timedelta(days=9)  # after a quarter's end; earlier figures are forecasts
_RESULTS = ("收入", "利润", "毛利率", "净利率", "费用率")
_REPORTED = frozenset({Precision.QUARTER, Precision.HALF, Precision.YEAR})
_CLAUSE_MARKS = "。；！？\n"
# 「8月非农就业数据…」: the period belongs to these data only.
_DATA_RELEASE = re.compile(r"(?:份)?[^，。；]{2,12}?(?:数据|会议纪要)")
_SHORT = frozenset({Precision.DAY, Precision.WEEK, Precision.MONTH})  # these mostly belong to an adjacent figure
_OPENING = re.compile(r"(?:[^，。；：]{0,16}：)?[^，。；：\d]{0,4}")
_RISK_RELATIONS = frozenset({"affects", "reports"})  # conditional inside a section on risks
_TIMELESS = frozenset(
    {
        "belongs_to",
        "part_of",
        "produces",
        "upstream_of",
        "uses",
        "substitutes_for",
        "located_in",
        "competes_with",
        "operates",
        "subsidiary_of",
    }
)


def to_fact(claim: Claim, annotated: AnnotatedSentence, document: Document, *, recorded_at: datetime) -> Fact:
    """Build the fact stated by a claim, with its one piece of evidence."""
    reading = read_modality(_without_cues(annotated), claim.start, claim.end)
    if claim.listing:  # 「隔膜：A、B」 classifies a company, whatever is forecast of it
        reading = replace(reading, modality=Modality.ASSERTED)
    if claim.relation in _RISK_RELATIONS and claim.subject.kind != Kind.COMPANY and reading.cue.endswith("将"):
        reading = replace(reading, modality=Modality.FORECAST)  # 「2026年市场规模将达1380亿」 is a forecast, not a plan
    over = claim.relation == "reports" and claim.valid is not None and _is_over(claim.valid, document)
    at_risk = (
        annotated.risk and claim.relation in _RISK_RELATIONS and reading.modality != Modality.RUMOURED and not over
    )
    inferred = Modality.CONDITIONAL if at_risk else _adjust_for_date(reading.modality, claim, annotated, document)
    modality = claim.modality or inferred
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
        confidence=round(_confidence(claim, hedged=reading.hedge) * document.legibility_at(start), 3),
        extractor=f"{claim.reader}:{claim.pattern}",
    )
    sign = claim.sign if vocabulary()[claim.relation].signed else 0
    polarity = _polarity(reading.polarity, claim)
    valid = claim.valid or _stated_period(claim, annotated)
    claim_key = said_key(sign, polarity, modality, valid=valid, value=claim.value, qualifiers=claim.qualifiers)
    ends = (subject.entity, claim.relation, object_.entity)
    return Fact(
        fact_id_of(*map(id_part, ends), claim=claim_key),
        *ends,
        sign=sign,
        polarity=polarity,
        modality=modality,
        valid=valid,
        value=claim.value,
        qualifiers=claim.qualifiers,
        evidence=(evidence,),
    )


def _confidence(claim: Claim, *, hedged: bool) -> float:
    """Return a claim's confidence; a pattern's score is no probability, and below even odds it is seldom right."""
    confidence = claim.confidence * (0.9 if hedged and claim.reader == PATTERNS else 1.0)
    return round(confidence * (_DOUBT_FACTOR if claim.reader == PATTERNS and confidence < _EVEN_ODDS else 1.0), 3)


def _without_cues(annotated: AnnotatedSentence) -> str:
    """Return the sentence without company names that contain a modality cue: 若 in 若羽臣 is no condition."""
    text = annotated.text
    for ref in annotated.refs:
        if ref.kind == Kind.COMPANY and ref.start >= 0 and _CUE_IN_NAME.search(text, ref.start, ref.end):
            text = text[: ref.start] + "\0" * (ref.end - ref.start) + text[ref.end :]
    return text


def _polarity(read: Polarity, claim: Claim) -> Polarity:
    if claim.polarity is not None:
        return claim.polarity
    # A fall is in the number and a cancelled effect in the cause's sign: neither negates the claim.
    return Polarity.POSITIVE if claim.relation in ("reports", "affects") else read


def _is_over(period: Period, document: Document) -> bool:
    return period.end is not None and period.end <= document.published_on


def _adjust_for_date(modality: Modality, claim: Claim, annotated: AnnotatedSentence, document: Document) -> Modality:
    """Adjust modality by date: a value for an unfinished period is no measurement, for a long-past one no forecast."""
    end = claim.valid.end if claim.valid else None
    if claim.relation == "reports" and annotated.estimated and modality == Modality.ASSERTED:
        return Modality.FORECAST
    if claim.relation == "reports" and annotated.outlook and modality == Modality.ASSERTED:
        past = end is not None and end <= document.published_on
        now = end is None and _NOW.search(annotated.text, _clause_start(annotated.text, claim), claim.end)
        return Modality.ASSERTED if past or now else Modality.FORECAST
    if (
        claim.relation not in ("reports", "affects")
        and modality == Modality.ASSERTED
        and _dated_after_publication(claim, annotated, document)
    ):
        return Modality.PLANNED if claim.subject.kind == Kind.COMPANY else Modality.FORECAST
    if claim.relation != "reports" or end is None:
        return modality
    reached = _REACHED if end <= document.published_on + _FAR else _COMPLETED
    open_still = end > document.published_on + _STILL_OPEN and not reached.search(
        annotated.text[claim.start : claim.end]
    )
    if modality == Modality.ASSERTED and _too_early(claim, document):
        return Modality.FORECAST
    begins = claim.valid.start if claim.valid else None
    # A span to a later year is no measurement, even with a verb of attainment (「2024-2027年CAGR达14%」).
    open_still = open_still or (end - _DAY).year > document.published_on.year
    if modality == Modality.ASSERTED and (open_still or (begins is not None and begins > document.published_on)):
        return Modality.FORECAST
    if modality == Modality.FORECAST and end < document.published_on - _LONG_PAST:
        return Modality.ASSERTED
    return modality


def _clause_start(text: str, claim: Claim) -> int:
    return max(text.rfind(mark, 0, claim.start) for mark in "，。；：") + 1


def _too_early(claim: Claim, document: Document) -> bool:
    """Return whether a company's quarterly or longer figure predates the first reports, as in earnings previews."""
    if claim.subject.kind != Kind.COMPANY or claim.valid is None or claim.valid.end is None:
        return False
    of_results = claim.object.name.endswith(_RESULTS) and claim.valid.precision in _REPORTED
    return of_results and document.published_on - _FIRST_REPORTS < claim.valid.end <= document.published_on


def _dated_after_publication(claim: Claim, annotated: AnnotatedSentence, document: Document) -> bool:
    """Return whether the claim's own clause is dated after publication: 「甲公司2026年四季度量产固态电池」 in 2025."""
    return not claim.listing and any(
        dated.role == "stated"
        and dated.end <= claim.end
        and (dated.period.start or document.published_on) > document.published_on
        and (dated.start >= claim.start or _SAME_CLAUSE.fullmatch(annotated.text, dated.end, claim.start))
        for dated in annotated.periods
    )


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
    """Return the entities that are mentioned; `names` holds issuers, `anchors` gazetteer entries, both by id."""
    found: dict[str, Entity] = {}
    for _, entity, name, about, kind in sorted(
        {(not ref.about, ref.entity, ref.name, ref.about, ref.kind) for ref in refs}
    ):
        if entity not in found:
            found[entity] = names.get(entity) or Entity(entity, kind, name, about=about)
    for ref in refs:  # add the entities that they are about, up to the widest industry
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
    text = annotated.text
    start = max((text.rfind(mark, 0, claim.start) for mark in _CLAUSE_MARKS + "，"), default=-1) + 1
    ends = [at for mark in _CLAUSE_MARKS + "，" if (at := text.find(mark, claim.end)) >= 0]
    return sentence.span(start, min(ends, default=len(text)))


def _stated_period(claim: Claim, annotated: AnnotatedSentence) -> Period | None:
    """Return a claim's period: for a cause its own or the sentence's first, else the last one before its end."""
    if claim.relation in _TIMELESS or claim.pattern == "metric":  # the measure reader dates each figure itself
        return None
    stated = [dated for dated in annotated.periods if dated.role == "stated" and dated.start < claim.end]
    if claim.relation == "affects" or claim.own_clause:
        # 「2025年二季度净利润大增，主要受去年低基数拉动」: the period of the effect comes first; one inside another
        # clause (「表需偏弱，8月降幅扩大，需求支撑…」) belongs to that clause
        text = annotated.text
        stated = [
            each
            for each in stated
            if each.start >= claim.start
            or _opens_sentence(text, each.start, each.end, before=claim.start)
            or (each.end <= claim.start and "，" not in text[each.end : claim.start])
        ]
        stated = stated[:1]
    if not stated:
        stated = _period_of_other_clause(claim, annotated)
    if (
        not stated
        and claim.relation == "affects"
        and kind_of(claim.object.about or claim.object.entity) == Kind.COMPANY
    ):
        return annotated.period  # a company's figures inherit the period of the text
    return stated[-1].period if stated else None


def _period_of_other_clause(claim: Claim, annotated: AnnotatedSentence) -> list[Dated]:
    """Return the period of another clause if it is unambiguous: the sentence's only one, or its opening one.

    「2025Q1净利润增长32%，成本下降拉动毛利率提升」; 「甲与乙合作：9月19日，…」.
    """
    stated = [each for each in annotated.periods if each.role == "stated"]
    if claim.relation == "affects":
        before = [each for each in stated if each.end <= claim.start and each.period.precision not in _SHORT]
        return before if len({each.period for each in stated}) == 1 else []
    return [each for each in stated[:1] if _opens_sentence(annotated.text, each.start, each.end, before=claim.start)]


def _opens_sentence(text: str, start: int, end: int, *, before: int) -> bool:
    """Return whether a period opens its sentence, after at most a lead-in, and no figure in its clause uses it."""
    if _OPENING.fullmatch(text, 0, start) is None:
        return False
    if _DATA_RELEASE.match(text, end):
        return False
    comma = text.find("，", end, before)
    return comma < 0 or not any(letter.isdigit() for letter in text[end:comma])
