"""Give an indicator a descriptive subject: the words before it, or the current topic."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from extraction.claims.measures.measurement import DOUBTFUL, Measurement
from extraction.claims.measures.subject import without
from extraction.claims.measures.words import SUBJECT_KINDS
from extraction.sentence import CONTEXT, EntityMention
from extraction.text.lexicon import phrases
from kg.ids import entity_id
from kg.model import Kind

if TYPE_CHECKING:
    from extraction.claims.measures.measurement import PreviousMeasurement
    from extraction.sentence import AnnotatedSentence

_SHORTEST, _LONGEST = 2, 20
_BOUNDARY = re.compile("[，。；：！？（）]")
_MARK, _ASIDE, _JOIN = re.compile("[，。；：！？]"), re.compile("（[^（）]*）"), re.compile("[、/]|以及|[和与及]")
_NUMBERED = re.compile(r"\d+(?P<rest>\D.*)")
_DIGIT = re.compile(r"\d")
_PHRASES = phrases("measures/described")
_AROUND = _PHRASES["around"]


def measure_described(
    annotated: AnnotatedSentence,
    indicator: EntityMention,
    *,
    previous: PreviousMeasurement | None,
    before: PreviousMeasurement | None,
    macro: bool = False,
) -> Measurement | None:
    """Return an indicator with a descriptive subject: the words before it, else the current topic.

    Args:
        annotated: the sentence.
        indicator: one of `SubjectFinder.indicators` without a subject.
        previous: the last measurement in this sentence.
        before: the last measurement of the previous sentence.
        macro: whether the indicator is macroeconomic, so that it cannot take the current topic.
    """
    subject = _compound_owner(annotated, indicator) or _described_owner(annotated, indicator)
    if subject is None and not macro:
        subject = _current_topic(annotated, previous=previous, before=before)
    return Measurement(indicator, subject, DOUBTFUL, described=True) if subject else None


def measure_described_row(annotated: AnnotatedSentence, indicator: EntityMention, count: int) -> list[Measurement]:
    """Return an indicator for each of `count` enumerated descriptions; empty if their number differs.

    「32/55/65寸面板价格」 gives 32寸面板, 55寸面板 and 65寸面板.
    """
    start = indicator.owner_end if indicator.about and indicator.owner_end > indicator.start else indicator.start
    begin = max((found.end() for found in _MARK.finditer(annotated.text, 0, start)), default=0)
    words = _ASIDE.sub("", _AROUND.sub("", without(annotated, begin, start).strip()))
    names = [name.strip() for name in _JOIN.split(words)]
    if len(names) != count or not all(names):
        return []
    tail = _NUMBERED.fullmatch(names[-1])
    names = [name + tail["rest"] if tail and name.isdecimal() else name for name in names]
    if not all(_SHORTEST <= len(name) <= _LONGEST for name in names):
        return []
    refs = [EntityMention(entity_id(Kind.BUSINESS, name), Kind.BUSINESS, name, begin, start) for name in names]
    return [Measurement(indicator, ref, DOUBTFUL, described=True) for ref in refs]


def _compound_owner(annotated: AnnotatedSentence, indicator: EntityMention) -> EntityMention | None:
    """Return the owner of a compound indicator."""
    if not indicator.about:
        return None
    return next((ref for ref in annotated.refs if ref.entity == indicator.about), None)


def _described_owner(annotated: AnnotatedSentence, indicator: EntityMention) -> EntityMention | None:
    """Return the words between the last punctuation mark or figure and the indicator as a name."""
    marks = [found.end() for found in _BOUNDARY.finditer(annotated.text, 0, indicator.start)]
    figures = [each.end for each in annotated.quantities if each.end <= indicator.start and _DIGIT.search(each.text)]
    begin = max((*marks, *figures), default=0)
    words = _AROUND.sub("", without(annotated, begin, indicator.start).strip())[-_LONGEST:]
    if len(words) < _SHORTEST:
        return None
    return EntityMention(entity_id(Kind.BUSINESS, words), Kind.BUSINESS, words, begin, indicator.start)


def _current_topic(
    annotated: AnnotatedSentence, *, previous: PreviousMeasurement | None, before: PreviousMeasurement | None
) -> EntityMention | None:
    if previous is not None:
        return previous.measurement.subject
    named = [ref for ref in annotated.refs if ref.kind in SUBJECT_KINDS and ref.start >= 0]
    if named or annotated.subject:
        return named[0] if named else annotated.subject
    if before is not None:
        return before.measurement.subject
    words = annotated.heading[-1].strip()[:_LONGEST] if annotated.heading else ""
    if len(words) < _SHORTEST:
        return None
    return EntityMention(entity_id(Kind.BUSINESS, words), Kind.BUSINESS, words, CONTEXT, CONTEXT)
