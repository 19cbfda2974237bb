"""Decide how certain a claim is: by the cues of its sentence, then by its section and its period.

This is the only place that decides modality and polarity; a reader that knows more than the sentence says, such as a
model with probabilities, sets them on its claim.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from extraction.certainty.modality import read_modality
from extraction.dating.policy import CLOSING_INDICATORS, REPORTING_PERIODS
from extraction.text.clauses import clause_start
from extraction.text.lexicon import phrases
from kg.model import Kind, Modality, Polarity

if TYPE_CHECKING:
    from datetime import date

    from extraction.certainty.modality import ModalityReading
    from extraction.sentence import AnnotatedSentence, Claim
    from kg.model import Document
    from kg.period import Period

_PHRASES = phrases("certainty/policy")
_REACHED = _PHRASES["reached"]
_DENIED = _PHRASES["denied"]
_EVENT_DENIED = _PHRASES["event_denied"]
_EVENT_PLANNED = re.compile(r"(?:(?:提议|建议|计划|拟|有意|筹划|考虑|有权|可以?)[^，。；：]{0,14}|预)$")  # 预中标
_EVENT_PLAN = re.compile(r"(?:[^，。；：]{0,4})(?:计划|方案|预案)")
_EVENT_DONE = re.compile("完成|实施完毕|届满")
_COMPLETED = re.compile("已")  # required where the period ends far ahead: 达到 alone is then a forecast
_NOW = re.compile("当前|目前|现阶段")
_CUE_IN_NAME = re.compile("[若如拟将望未不无非]")
_SAME_CLAUSE = re.compile("，?[^，；。：]*")
_DAY, _STILL_OPEN, _LONG_PAST, _FAR = timedelta(days=1), timedelta(days=31), timedelta(days=90), timedelta(days=120)
_FIRST_REPORTS = timedelta(days=9)  # after a quarter's end; earlier figures are forecasts
_RESULTS = ("收入", "利润", "毛利率", "净利率", "费用率")
_FACTORS = frozenset({"affects", "reports"})  # relations of factors, which a section on risks makes conditional


class Certainty(Struct, frozen=True):
    """Modality and polarity of a claim; `hedged`: its clause weakens it."""

    modality: Modality
    polarity: Polarity
    hedged: bool


def certainty_of(claim: Claim, annotated: AnnotatedSentence, document: Document) -> Certainty:
    """Return the certainty of a claim: its reader's, unless the verb itself is denied or its plan is a rumour."""
    reading = read_modality(_without_cues(annotated), claim.start, claim.end)
    is_rumour = claim.modality is Modality.PLANNED and reading.modality is Modality.RUMOURED
    modality = (None if is_rumour else claim.modality) or _modality(reading, claim, annotated, document.published_on)
    polarity = Polarity.NEGATIVE if _is_denied(claim, annotated) else claim.polarity or _polarity(reading, claim)
    return Certainty(modality, polarity, reading.hedge)


def cell_modality(claim: Claim, period: Period | None, published_on: date, *, estimated: bool) -> Modality:
    """Return the modality of a table's cell, of which only its labels speak.

    Args:
        claim: the figure of the cell.
        period: of the cell.
        published_on: the document's day; a month's figures may be published before the month ends.
        estimated: a label marks the cell as an estimate (2025E).
    """
    is_future = period is not None and period.end is not None and period.end > published_on + _STILL_OPEN
    early = period is not None and _is_preview(claim, period, published_on)
    return Modality.FORECAST if estimated or is_future or early else Modality.ASSERTED


def event_certainty(text: str, start: int, end: int) -> tuple[Modality | None, Polarity]:
    """Return the certainty of the event whose trigger is text[start:end]; None leaves modality to the sentence."""
    plan = _EVENT_PLAN.match(text, end) and not _EVENT_DONE.search(text)
    planned = plan or _EVENT_PLANNED.search(text, 0, start)
    denied = _EVENT_DENIED.search(text, 0, start)
    return Modality.PLANNED if planned else None, Polarity.NEGATIVE if denied else Polarity.POSITIVE


def _without_cues(annotated: AnnotatedSentence) -> str:
    """Return the sentence without company names that contain a modality cue: 若 in 若羽臣 is no condition."""
    text = annotated.text
    for ref in annotated.refs:
        if ref.kind == Kind.COMPANY and ref.start >= 0 and _CUE_IN_NAME.search(text, ref.start, ref.end):
            text = text[: ref.start] + "\0" * (ref.end - ref.start) + text[ref.end :]
    return text


def _is_denied(claim: Claim, annotated: AnnotatedSentence) -> bool:
    """「天齐锂业不生产铜、铝」 denies each of the list; the edge model has seen too few denials to tell."""
    first, second = sorted((claim.subject, claim.object), key=lambda end: end.start)
    if first.start < 0 or claim.relation in _FACTORS:
        return False
    return _DENIED.search(annotated.text, first.end, second.start) is not None


def _polarity(reading: ModalityReading, claim: Claim) -> Polarity:
    # A fall is in the number and a cancelled effect in the cause's sign: neither negates the claim.
    return Polarity.POSITIVE if claim.relation in _FACTORS else reading.polarity


def _modality(reading: ModalityReading, claim: Claim, annotated: AnnotatedSentence, published_on: date) -> Modality:
    modality = reading.modality
    if claim.listing:  # 「隔膜：A、B」 classifies a company, whatever is forecast of it
        modality = Modality.ASSERTED
    if claim.relation not in _FACTORS:
        return _of_relation(modality, claim, annotated, published_on)
    if claim.subject.kind != Kind.COMPANY and reading.cue.endswith("将"):
        modality = Modality.FORECAST  # 「2026年市场规模将达1380亿」 is a forecast, not a plan
    is_over = claim.valid is not None and claim.valid.end is not None and claim.valid.end <= published_on
    measured = claim.relation == "reports"
    if annotated.risk and modality != Modality.RUMOURED and not (measured and is_over):
        return Modality.CONDITIONAL
    return _of_figure(modality, claim, annotated, published_on) if measured else modality


def _of_relation(modality: Modality, claim: Claim, annotated: AnnotatedSentence, published_on: date) -> Modality:
    """Return the modality of a relation: one that is dated after publication is a plan or forecast."""
    if modality != Modality.ASSERTED or claim.listing or not _is_dated_ahead(claim, annotated, published_on):
        return modality
    return Modality.PLANNED if claim.subject.kind == Kind.COMPANY else Modality.FORECAST


def _is_dated_ahead(claim: Claim, annotated: AnnotatedSentence, published_on: date) -> bool:
    """Whether the claim's own clause is dated after publication: 「甲公司2026年四季度量产固态电池」 in 2025."""
    return any(
        dated.role == "stated"
        and dated.end <= claim.end
        and (dated.period.start or published_on) > published_on
        and (dated.start >= claim.start or _SAME_CLAUSE.fullmatch(annotated.text, dated.end, claim.start))
        for dated in annotated.periods
    )


def _of_figure(modality: Modality, claim: Claim, annotated: AnnotatedSentence, published_on: date) -> Modality:
    """Return the modality of a figure: one for an unfinished period is no measurement, for a long-past no forecast."""
    end = claim.valid.end if claim.valid else None
    if claim.valid is None and claim.object.name in CLOSING_INDICATORS:
        return Modality.ASSERTED
    if modality in {Modality.FORECAST, Modality.PLANNED}:  # 「甲公司计划裁员，一季度净利润下降12%」
        return Modality.ASSERTED if end and end < published_on - _LONG_PAST else modality
    if modality != Modality.ASSERTED:
        return modality
    if annotated.estimated:
        return Modality.FORECAST
    if annotated.outlook:
        start = clause_start(annotated.text, claim.start)
        known = end <= published_on if end else _NOW.search(annotated.text, start, claim.end)
        return Modality.ASSERTED if known else Modality.FORECAST
    expected = claim.valid is not None and _is_expected(claim, claim.valid, annotated, published_on)
    return Modality.FORECAST if expected else Modality.ASSERTED


def _is_preview(claim: Claim, valid: Period, published_on: date) -> bool:
    """Whether a company's results are named before it can have published them."""
    if claim.subject.kind != Kind.COMPANY or not claim.object.name.endswith(_RESULTS):
        return False
    ended = valid.end is not None and published_on - _FIRST_REPORTS < valid.end <= published_on
    return ended and valid.precision in REPORTING_PERIODS


def _is_expected(claim: Claim, valid: Period, annotated: AnnotatedSentence, published_on: date) -> bool:
    """Whether a figure's period is not over, or so recently that no results can have been published."""
    if valid.end is None:
        return False
    if _is_preview(claim, valid, published_on):
        return True
    # A span to a later year is no measurement, even with a verb of attainment (「2024-2027年CAGR达14%」).
    if (valid.end - _DAY).year > published_on.year or (valid.start is not None and valid.start > published_on):
        return True
    reached = _REACHED if valid.end <= published_on + _FAR else _COMPLETED
    is_open = valid.end > published_on + _STILL_OPEN
    return is_open and not reached.search(annotated.text[claim.start : claim.end])
