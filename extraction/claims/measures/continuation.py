"""Resolve figures without an indicator of their own: a change, next level, part or share of the previous one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from extraction.claims.measures.subject import INHERITED_CONFIDENCE, SHARE_CONFIDENCE, SubjectFinder, without
from extraction.claims.measures.words import AFTER_LEVEL, CONTINUES, FILLER, RATES, VAGUE
from extraction.dating.policy import comparison_period
from extraction.text.lexicon import phrases

if TYPE_CHECKING:
    from collections.abc import Callable

    from extraction.claims.measures.measurement import Measurement, PreviousMeasurement
    from extraction.quantities.reader import Quantity
    from extraction.sentence import AnnotatedSentence, EntityMention

_PHRASES = phrases("measures/continuation")
SHARE_OF = _PHRASES["share_of"]
_REACHED = _PHRASES["reached"]
_POINTS = ("pct", "bp")
# 「较2024H1的-3.7亿元增长56亿元」: -3.7亿元 is the base value.
_BASE_VALUE = re.compile("[较比][^，。；]{1,12}的$")


@dataclass(frozen=True, slots=True)
class ContinuationResolver:
    """Resolves such figures; `fits` checks whether a unit suits an indicator."""

    subjects: SubjectFinder
    fits: Callable[[EntityMention, Quantity], bool]

    def from_previous(
        self, annotated: AnnotatedSentence, previous: PreviousMeasurement, quantity: Quantity
    ) -> Measurement | None:
        """Return the previous measurement if this number is its change, its next level or a part of it."""
        last = previous.quantity
        gap = without(annotated, last.end, quantity.start)
        if quantity.change not in ("", "share"):
            # 「占欧洲42%，同比下降8%」 is ambiguous: amount or share
            either = last.change == "share" and quantity.unit == "%"
            if either or _BASE_VALUE.search(annotated.text, last.end, quantity.start):
                return None
            if AFTER_LEVEL.fullmatch(gap):
                return previous.measurement if last.change != quantity.change else None
            return self.subjects.part(annotated, previous, start=last.end, end=quantity.start)
        if quantity.change:
            return None
        if last.change:
            return self._level(previous, quantity, gap)
        return self._next_level(annotated, previous, quantity, gap) if quantity.unit == last.unit else None

    def _next_level(
        self, annotated: AnnotatedSentence, previous: PreviousMeasurement, quantity: Quantity, gap: str
    ) -> Measurement | None:
        """Resolve the next level in the same unit: 「…，2027年将达到20亿元」, 「…，其中印度3亿元」."""
        start = previous.quantity.end
        dated = any(start <= each.start < quantity.start for each in annotated.periods)
        if (dated and CONTINUES.fullmatch(gap)) or comparison_period(annotated, quantity) is not None:
            return previous.measurement
        return self.subjects.part(annotated, previous, start=start, end=quantity.start)

    def _level(self, previous: PreviousMeasurement, quantity: Quantity, gap: str) -> Measurement | None:
        """Resolve a level after its change: 「…同比下降16%，仅为11.6亿部」, 「净利率提升1.8pct至15.3%」."""
        if not self.fits(previous.measurement.indicator, quantity):
            return None
        if quantity.unit in RATES:
            level = previous.quantity.unit in _POINTS and quantity.unit == "%" and _REACHED.fullmatch(gap)
            return previous.measurement if level else None
        return previous.measurement if CONTINUES.fullmatch(gap) else None

    def from_previous_sentence(
        self, annotated: AnnotatedSentence, before: PreviousMeasurement | None, quantity: Quantity
    ) -> Measurement | None:
        """Resolve 「同比增长29%。」 and 「预计2027年将达到20亿元。」 after a sentence that states a level."""
        if before is None:
            return None
        opening = without(annotated, 0, quantity.start)
        if quantity.change not in ("", "share"):
            return before.measurement if AFTER_LEVEL.fullmatch(opening) else None
        dated = any(each.role == "stated" and each.end <= quantity.start for each in annotated.periods)
        level = not quantity.change and not before.quantity.change and quantity.unit == before.quantity.unit
        if not (dated and level and CONTINUES.fullmatch(opening)):
            return None
        measurement = before.measurement
        return replace(measurement, confidence=min(INHERITED_CONFIDENCE, measurement.confidence))

    def share(
        self,
        annotated: AnnotatedSentence,
        indicators: list[EntityMention],
        found: re.Match[str],
        *,
        previous: PreviousMeasurement | None,
        before: Measurement | None,
    ) -> Measurement | None:
        """Resolve 「…，占全球手机出货量的64.1%」: a share held by the last subject, or by the thing named before 占."""
        whole = [
            ref
            for ref in indicators
            if found.start("whole") <= ref.start < found.end("whole") and ref.name not in VAGUE
        ]
        inner = [ref for ref in indicators if ref.end == found.start()]
        if inner and FILLER.fullmatch(without(annotated, found.start(), found.end())):  # 5G手机出货量占比从2024年的
            return self.subjects.find(annotated, inner[-1], previous=previous, before=before)
        measured = self.subjects.share(annotated, found.start(), previous=previous, before=before)
        if not whole:
            return measured
        last = previous.measurement if previous else before
        subject = measured.subject if measured else last.subject if last else None
        if subject is None:
            return None
        return replace(
            self.subjects.for_subject(subject, whole[-1], "占" + found["whole"]), confidence=SHARE_CONFIDENCE
        )
