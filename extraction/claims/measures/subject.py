"""Find the subject of an indicator: a known name, a phrase that forms a new name, or the current topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import daachorse
from msgspec.structs import replace

from extraction.claims.measures.measurement import DOUBTFUL, Measurement
from extraction.claims.measures.owner import read_owner
from extraction.claims.measures.words import (
    AFTER_LEVEL,
    ASIDE,
    BEFORE_LOSS,
    CODE,
    COMPANY_HEADS,
    COMPANY_INDICATORS,
    COMPANY_ONLY_INDICATORS,
    CONCENTRATION,
    FILLER,
    HYPOTHETICAL,
    INDEX_MOVES,
    INNER_SCOPE,
    LONGEST_SCOPE,
    LOSSES,
    MACRO_KINDS,
    MEASURE_HEADS,
    MEASURED_KINDS,
    NARROWS,
    NO_NAMES,
    NOISE,
    ON_THE_MARKET,
    OPENING,
    RESULTS,
    SCOPE_WORDS,
    SHARES_OF_MARKET,
    SUBJECT_KINDS,
    TAILS,
    VERBAL,
    is_loss,
)
from extraction.context.coreference import antecedent
from extraction.context.places import places_in
from extraction.names.gazetteer import COMPOUND_KINDS, indicator_of
from extraction.sentence import EntityMention
from extraction.text.clauses import IDENTIFYING, clause_start, statement_start
from extraction.text.lexicon import phrases
from kg.ids import entity_id
from kg.kinds import kind_of
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extraction.claims.measures.measurement import PreviousMeasurement
    from extraction.names.gazetteer import Lexicon
    from extraction.sentence import AnnotatedSentence


# Confidence by the way the subject was found, from precision in manually reviewed samples (docs/quality.md).
_PHRASE_CONFIDENCE = 0.65
INHERITED_CONFIDENCE = 0.6  # the last sentence's subject
_HEADING_COMPANY_CONFIDENCE = 0.84
_CONTEXT_CONFIDENCE = 0.6
_TOPIC_CONFIDENCE = 0.45  # named in another clause of the sentence; two of three are right
_OPENS_CONFIDENCE = 0.75  # a company that opens a clause before, and alone may have such a figure
SHARE_CONFIDENCE = 0.4  # share of a previously stated whole; one of three is right
_PHRASES = phrases("measures/subject")
_PART = _PHRASES["part"]
_NEXT = ("、", "/", "）、")
_PLAIN_GAP = _PHRASES["plain_gap"]


class SubjectFinder:
    """Finds subjects; the lexicon supplies macroeconomic indicators and the heads of compound indicators."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.macro = {term.entity for term in lexicon.terms.values() if term.macro}
        own = {name: name for name in MEASURE_HEADS} | {"市场": "市场规模"} | LOSSES
        self._heads = own | {name: head.name for name, head in lexicon.heads.items()}
        self._bare = [name for name in self._heads if len(name) > 1 and name not in VERBAL]
        self._automaton = daachorse.CharwiseDoubleArrayAhoCorasick(self._bare, daachorse.MATCH_KIND_LEFTMOST_LONGEST)

    def indicators(self, annotated: AnnotatedSentence) -> list[EntityMention]:
        """Return the indicators of a sentence, including those without a known owner."""
        known = [ref for ref in annotated.refs if ref.kind == Kind.INDICATOR and ref.start >= 0]
        out = [_owned(ref, annotated.text[ref.start : max(ref.owner_end, ref.start)]) for ref in known]
        for start, end, index in self._automaton.find(annotated.text):
            held = [ref for ref in annotated.refs if ref.start < end and start < ref.end]
            word = self._bare[index]
            if not held or (word in LOSSES and all(ref.kind == Kind.EVENT for ref in held)):  # 亏损 is an event too
                name = self._heads[word]
                out.append(EntityMention(entity_id(Kind.INDICATOR, name), Kind.INDICATOR, name, start, end))
        out += _index_moves(annotated)
        out = [ref for ref in out if not _is_part_of_result(annotated, ref, out)]
        ends = {ref.end for ref in out}
        # 销售总额, 市场规模: the second word only extends the first
        return sorted(
            (ref for ref in out if not (ref.start in ends and ref.name in TAILS)), key=lambda ref: (ref.start, ref.end)
        )

    def find(
        self,
        annotated: AnnotatedSentence,
        indicator: EntityMention,
        *,
        previous: PreviousMeasurement | None = None,
        before: Measurement | None = None,
    ) -> Measurement | None:
        """Return the indicator with its subject, or None if there is none.

        Args:
            annotated: the sentence.
            indicator: one of `indicators`.
            previous: the last measurement in this sentence.
            before: the last measurement of the previous sentence.
        """
        previous = previous.named if previous else None
        known = self._inherited(annotated, indicator, previous) or self._with_subject(annotated, indicator)
        if known is not None and (scope := scope_of(annotated, known)) is not None:
            return replace(known, scope="" if known.subject.name in scope else scope)
        if indicator.entity in self.macro:
            return None
        opened = self._from_phrase(annotated, indicator, previous, before)
        # 「液冷服务器市场规模」 if only 服务器 is known
        return opened or (replace(known, confidence=DOUBTFUL) if known else None)

    def share(
        self, annotated: AnnotatedSentence, at: int, *, previous: PreviousMeasurement | None, before: Measurement | None
    ) -> Measurement | None:
        """Measure the share of the thing named before `at` in the last total: 「其中LCDTV占比约25%」."""
        last = previous.measurement if previous else before
        owner = read_owner(annotated, at)
        if (
            last is None
            or not owner.readable
            or owner.doubt
            or owner.ref is None
            or owner.ref.kind not in COMPOUND_KINDS
        ):
            return None
        return self._measure(
            owner.ref, last.indicator, min(SHARE_CONFIDENCE, last.confidence) if previous else DOUBTFUL, owner.scope
        )

    def for_subject(self, subject: EntityMention, indicator: EntityMention, scope: str = "") -> Measurement:
        """Return the indicator for one of several enumerated names."""
        return self._measure(subject, indicator, _PHRASE_CONFIDENCE * subject.score, scope)

    def _from_phrase(
        self,
        annotated: AnnotatedSentence,
        indicator: EntityMention,
        previous: PreviousMeasurement | None,
        before: Measurement | None,
    ) -> Measurement | None:
        owned = indicator.about and indicator.owner_end > indicator.start
        owner = read_owner(annotated, indicator.owner_end if owned else indicator.start)
        if not owner.readable or (owned and owner.ref is None):
            return None
        if indicator.name.endswith(SHARES_OF_MARKET) and CONCENTRATION.search(annotated.text, 0, indicator.start):
            return None  # the combined share of the top five
        if owner.inside and indicator.name.endswith(SHARES_OF_MARKET):
            return None  # a share held by another entity in the named market
        if owner.ref is not None:
            doubt = owner.doubt or _may_belong_to_company(annotated, indicator, owner.ref)
            confidence = DOUBTFUL if doubt else _PHRASE_CONFIDENCE * owner.ref.score
            measured = self._measure(owner.ref, indicator, confidence, owner.scope)
            named = replace(measured.indicator, start=owner.ref.start)  # 「某公司矿产铜产量」 is the company's
            begin = clause_start(annotated.text, owner.ref.start)
            plain = named.about and not (owner.doubt or owner.scope)
            own = self._with_company(annotated, named, begin) if plain else None
            return own if own and own.subject in annotated.refs else measured
        implied = self._implied_subject(annotated, indicator, previous, before)
        if implied is None or annotated.text[indicator.start : indicator.end] == "市场":
            return None
        subject, confidence, scope = implied
        if subject.kind == Kind.COMPANY and owner.scope:
            return None  # 「全球出货量」 is not the company's
        lost = owner.scope and scope and not is_place(annotated, scope)  # 「DPP类颜料价格…，国内自给率」
        return self._measure(subject, indicator, DOUBTFUL if owner.doubt or lost else confidence, owner.scope or scope)

    def _implied_subject(
        self,
        annotated: AnnotatedSentence,
        indicator: EntityMention,
        previous: PreviousMeasurement | None,
        before: Measurement | None,
    ) -> tuple[EntityMention, float, str] | None:
        """Return the subject of a clause without a name: that of the sentence, the heading or the last sentence."""
        topics = _topics(annotated, indicator.start)
        found = antecedent(
            annotated,
            topics,
            previous=previous.measurement.subject if previous else None,
            before=before.subject if before else None,
        )
        if found is None:
            return None
        if found.origin == "clause" and previous is not None:
            last = previous.measurement
            others = any(ref.start >= previous.quantity.end for ref in topics)
            return found.mention, DOUBTFUL if others else last.confidence, _carried_scope(last)
        if found.origin == "topic":
            opens = clause_start(annotated.text, found.mention.start) == found.mention.start
            own = opens and found.mention.kind == Kind.COMPANY and indicator.name in COMPANY_INDICATORS
            return found.mention, (_OPENS_CONFIDENCE if own else _TOPIC_CONFIDENCE) * found.mention.score, ""
        if found.origin == "sentence" and before is not None:
            plain = OPENING.fullmatch(without(annotated, 0, indicator.start))  # otherwise of an unknown subject
            confidence = min(INHERITED_CONFIDENCE if plain else DOUBTFUL, before.confidence)
            return found.mention, confidence, _carried_scope(before)
        return found.mention, _CONTEXT_CONFIDENCE * found.mention.score, ""

    def part(
        self, annotated: AnnotatedSentence, previous: PreviousMeasurement, *, start: int, end: int
    ) -> Measurement | None:
        """Return the same indicator for a part named in text[start:end]: 「…4.23亿部，其中印度1.30亿部」."""
        words = _PART.match(annotated.text, start, end)
        if words is None or not AFTER_LEVEL.fullmatch(without(annotated, words.end(), end)):
            return None
        owner = read_owner(annotated, words.end(), since=words.start("name"))
        if not owner.readable or owner.doubt or (owner.ref is None and not owner.scope):
            return None
        if owner.ref is None:
            return replace(previous.measurement, scope=owner.scope[:LONGEST_SCOPE])
        if owner.ref.kind not in COMPOUND_KINDS:
            return None
        return self._measure(
            owner.ref,
            previous.measurement.indicator,
            _PHRASE_CONFIDENCE * owner.ref.score,
            owner.scope or previous.measurement.scope,
        )

    def _measure(self, subject: EntityMention, indicator: EntityMention, confidence: float, scope: str) -> Measurement:
        """Join subject and head: 手机 + 出货量 = 手机出货量; for a company or country it stays 出货量."""
        head = indicator.name.removeprefix(indicator.owner) if indicator.about else indicator.name
        if subject.kind in COMPOUND_KINDS and head in self._heads:
            named = indicator_of(subject, self._heads[head], start=indicator.start, end=indicator.end)
        elif indicator.about:
            named = EntityMention(entity_id(Kind.INDICATOR, head), Kind.INDICATOR, head, indicator.start, indicator.end)
        else:
            named = indicator
        return Measurement(named, subject, confidence, scope[: 2 * LONGEST_SCOPE])

    def _inherited(
        self, annotated: AnnotatedSentence, indicator: EntityMention, previous: PreviousMeasurement | None
    ) -> Measurement | None:
        """Reuse the previous subject: 「宁德时代营收3620亿元，归母净利润507亿元」."""
        if previous is None or indicator.about or indicator.entity in self.macro:
            return None
        end, measurement = previous.quantity.end, previous.measurement
        between = [ref for ref in annotated.between(end, indicator.start) if ref.kind in MEASURED_KINDS]
        if between or not OPENING.fullmatch(without(annotated, end, indicator.start)):
            return None
        if measurement.indicator.about == measurement.subject.entity:
            return None
        # 「甲公司挖掘机收入…，毛利率35%」: of the product or the company
        confidence = (
            DOUBTFUL
            if measurement.indicator.about and indicator.name in COMPANY_INDICATORS - COMPANY_ONLY_INDICATORS
            else measurement.confidence
        )
        return replace(measurement, indicator=indicator, scope="", confidence=confidence)

    def _with_subject(self, annotated: AnnotatedSentence, indicator: EntityMention) -> Measurement | None:
        begin = statement_start(annotated.text, max(indicator.start, 0))
        if indicator.about:
            product = compound_measurement(indicator)
            if _may_belong_to_company(annotated, indicator, product.subject):
                product = replace(product, confidence=DOUBTFUL)
            return self._with_company(annotated, indicator, begin) or product
        allowed = MACRO_KINDS if indicator.entity in self.macro else SUBJECT_KINDS
        subjects = [
            ref
            for ref in annotated.between(begin, indicator.start)
            if ref.kind in MEASURED_KINDS and ref.name not in NO_NAMES
        ]
        if subjects and subjects[-1].kind not in allowed:
            return None
        own = _is_company_only(annotated, indicator, subjects)
        if subjects:
            subject = subjects[-1]
            gap = without(annotated, subject.end, indicator.start)
            begins_clause = clause_start(annotated.text, subject.start) == subject.start
            aside = subject.kind != Kind.COMPANY and "，" in gap and not begins_clause
            owner = annotated.subject if aside or (subject.kind == Kind.PRODUCT and "，" in gap) else subject
            if _PLAIN_GAP.fullmatch(gap) and owner is not None and (owner is subject or owner.kind == Kind.COMPANY):
                return Measurement(indicator, owner, 0.85 * owner.score)
            if not own:
                return None
        implied = annotated.region if indicator.entity in self.macro else annotated.subject
        opening = without(annotated, clause_start(annotated.text, indicator.start), indicator.start)
        if implied is None or not OPENING.fullmatch(opening):
            return None
        if not own and any(
            ref.kind == Kind.INDICATOR and ref.about for ref in annotated.between(begin, indicator.start)
        ):
            return None  # 「全球汽车销量…，预计增速3%」: not the heading's growth
        traded = indicator.name.startswith(("出口", "进口"))  # the traded goods are unstated
        confidence = _HEADING_COMPANY_CONFIDENCE if implied.kind == Kind.COMPANY else 0.7
        return Measurement(indicator, implied, DOUBTFUL if traded else confidence * implied.score)

    def _with_company(self, annotated: AnnotatedSentence, indicator: EntityMention, begin: int) -> Measurement | None:
        """Assign 煤炭产量 to a company: the one right before it, or that of the bullet or section."""
        if kind_of(indicator.about) == Kind.COMPANY or not indicator.name.endswith(COMPANY_HEADS):
            return None
        before = [ref for ref in annotated.between(begin, indicator.start) if ref.kind == Kind.COMPANY]
        subject = annotated.subject
        if before and (subject is None or before[-1].entity != subject.entity):
            gap = without(annotated, before[-1].end, indicator.start)
            return Measurement(indicator, before[-1], 0.8 * before[-1].score) if OPENING.fullmatch(gap) else None
        return (
            Measurement(indicator, subject, 0.7 * subject.score) if subject and subject.kind == Kind.COMPANY else None
        )


def _is_part_of_result(annotated: AnnotatedSentence, ref: EntityMention, others: Sequence[EntityMention]) -> bool:
    """Return whether a loss is of a result named before it (净利润亏损70亿元), or of nobody (未弥补亏损)."""
    if not is_loss(annotated.text, ref):
        return False
    results = (each for each in others if each.end <= ref.start and each.name.endswith(RESULTS))
    if any(FILLER.fullmatch(without(annotated, each.end, ref.start)) for each in results):
        return True
    begins = any(ref.start == end for end in (*(r.end for r in annotated.refs), *(d.end for d in annotated.periods)))
    return not begins and BEFORE_LOSS.search(annotated.text, 0, ref.start) is None


def _index_moves(annotated: AnnotatedSentence) -> list[EntityMention]:
    """Return industry indices whose name is implied: 「医药生物板块上涨1.7%，跑赢沪深300」."""
    if not ON_THE_MARKET.search(annotated.text):
        return []
    trades = [ref for ref in annotated.refs if ref.kind == Kind.INDUSTRY and ref.start >= 0]
    moved = [(ref, INDEX_MOVES.match(annotated.text, ref.end)) for ref in trades]
    return [indicator_of(ref, "指数", start=ref.start, end=move.end("name")) for ref, move in moved if move]


def _owned(indicator: EntityMention, written: str) -> EntityMention:
    """Merge a word that is no owner into the indicator: 进口 in 进口价格."""
    if not NO_NAMES & {indicator.owner, written}:
        return indicator
    name = (written or indicator.owner) + indicator.name.removeprefix(indicator.owner)
    return replace(indicator, entity=entity_id(Kind.INDICATOR, name), name=name, about="", owner="", owner_end=-1)


def _is_company_only(annotated: AnnotatedSentence, indicator: EntityMention, subjects: Sequence[EntityMention]) -> bool:
    """Return whether a figure can only belong to the labelled company: 「甲公司：绿电装机38GW，股息率6%」."""
    company = annotated.subject
    if company is None or company.kind != Kind.COMPANY or indicator.name not in COMPANY_ONLY_INDICATORS:
        return False
    return {ref.entity for ref in subjects} == {company.entity}


def _may_belong_to_company(annotated: AnnotatedSentence, indicator: EntityMention, owner: EntityMention) -> bool:
    """Return whether a product's figure may belong to a company named before: 「甲公司（储能系统毛利率36.7%）」."""
    if owner.kind == Kind.COMPANY or not indicator.name.endswith(COMPANY_HEADS):
        return False
    return any(ref.kind == Kind.COMPANY and 0 <= ref.start < indicator.start for ref in annotated.refs)


def _carried_scope(measurement: Measurement) -> str:
    """Return the scope that also applies to the next indicator: a place does, the whole of a share does not."""
    return "" if measurement.subject.kind == Kind.COMPANY or measurement.scope.startswith("占") else measurement.scope


def is_place(annotated: AnnotatedSentence, scope: str) -> bool:
    """Return whether a scope is a place."""
    return bool(places_in(scope, ())) or any(ref.kind in MACRO_KINDS and ref.name in scope for ref in annotated.refs)


def _topics(annotated: AnnotatedSentence, before: int) -> list[EntityMention]:
    """Return the entities named before an offset, including owners of compound indicators."""
    named = [ref for ref in annotated.refs if ref.start >= 0 and ref.end <= before]
    owners = [compound_measurement(ref).subject if ref.about and ref.kind == Kind.INDICATOR else ref for ref in named]
    return [ref for ref in owners if ref.kind in SUBJECT_KINDS and ref.name not in NO_NAMES]


def compound_measurement(indicator: EntityMention) -> Measurement:
    """Return a compound indicator with its owner as subject: 碳酸锂价格 of 碳酸锂."""
    about = EntityMention(
        indicator.about,
        kind_of(indicator.about),
        indicator.owner,
        indicator.start,
        indicator.end,
        score=indicator.score,
    )
    return Measurement(indicator, about, 0.85 * indicator.score)


def scope_of(annotated: AnnotatedSentence, measurement: Measurement) -> str | None:
    """Return the scope as written right before the indicator: a region, a market, a grade.

    None if the words before it are more than a scope, so that the indicator only ends a longer name (保险 in 阳光保险).
    """
    indicator, subject = measurement.indicator, measurement.subject
    first, last = clause_start(annotated.text, indicator.start), indicator.start
    within = INNER_SCOPE.search(annotated.text, max(indicator.owner_end, indicator.start), indicator.end)
    written = first <= subject.start < indicator.start
    if written and subject.kind == Kind.COMPANY:
        first = subject.end
    elif written and subject.kind not in MACRO_KINDS:
        last = subject.start  # 中国大陆智能手机5月出货量
    # 「收入10亿元、」 and 「42家」 start a new phrase
    opened = annotated.text.rfind("（", 0, max(last - 1, 0))
    first = max(first, opened + 1 if "）" not in annotated.text[opened:last] else 0)  # 「降幅收窄（3月房价」
    figures = [each for each in annotated.quantities if each.end < last]
    figures = [each for each in figures if annotated.text.startswith(_NEXT, each.end) or each.text.endswith("家")]
    first = max([first, *(each.end for each in figures)])
    words = NOISE.sub("", ASIDE.sub("", without(annotated, first, last))).strip("，、/：（）()的 ").lstrip("和与及")
    if not words or not any(map(str.isalpha, words)):
        return within[0] if within else ""
    known = any(words.startswith(ref.name) or words.endswith(ref.name) for ref in annotated.refs if ref.kind in NARROWS)
    if not (known or SCOPE_WORDS.fullmatch(words)) or words.endswith(("及", "和", "与", "、", "以及", "-")):
        return None
    words += within[0] if within else ""
    return words if len(words) <= LONGEST_SCOPE and not HYPOTHETICAL.search(words) else None


def without(annotated: AnnotatedSentence, start: int, end: int) -> str:
    """Return text[start:end] without dates, bracketed securities codes and what identifies a company in a bracket."""
    aside = [(dated.start, dated.end) for dated in annotated.periods]
    names = [ref.end for ref in annotated.refs if ref.kind == Kind.COMPANY and start <= ref.end < end]
    aside += [found.span() for at in names if (found := IDENTIFYING.match(annotated.text, at))]
    kept, position = [], start
    for begin, after in sorted(aside):
        if position <= begin and after <= end:
            kept.append(annotated.text[position:begin])
            position = after
    kept.append(annotated.text[position:end])
    return CODE.sub("", "".join(kept))
