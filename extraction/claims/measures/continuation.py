"""Figures that name no indicator: the change, the next level, a part or a share of the one that was told before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from extraction.claims.measures.period import base_of
from extraction.claims.measures.subject import SHARE, TAKEN_OVER, SubjectFinder, without
from extraction.claims.measures.words import AFTER_LEVEL, CONTINUES, FILLER, RATES, VAGUE

if TYPE_CHECKING:
    from collections.abc import Callable

    from extraction.claims.measures.measurement import Measurement, PreviousMeasurement
    from extraction.quantities.reader import Quantity
    from extraction.sentence import AnnotatedSentence, EntityMention

SHARE_OF = re.compile(
    r"(?<!市)占(?:到了?|据了?|了)?(?P<whole>[^，。；：、]{0,24}?)(?:的)?(?:比重|比例|比率|比|份额)?"
    r"(?:的|为|达|到|约|近|超|过|仅|将|至|有|最高|最大|，|平均|在|是|逾|不足|左右|或|也|均|高)*+$"
)
_REACHED = re.compile("，?(?:(?:上升|提升|提高|增加|下降|回落|降低|收窄|扩大)?[至到]|达到?|为)约?")
_POINTS = ("pct", "bp")
_BASE = re.compile("[较比][^，。；]{1,12}的$")  # 「较2024H1的-3.7亿元增长56亿元」: what it was, not what it rose by


@dataclass(frozen=True, slots=True)
class ContinuationResolver:
    """Reads them; `fits` says whether a unit is one that an indicator is measured in."""

    subjects: SubjectFinder
    fits: Callable[[EntityMention, Quantity], bool]

    def follows(
        self, annotated: AnnotatedSentence, said: PreviousMeasurement, quantity: Quantity
    ) -> Measurement | None:
        """Return the reading of the number before, where this one tells its change, its next level or a part of it."""
        last = said.quantity
        gap = without(annotated, last.end, quantity.start)
        if quantity.change not in ("", "share"):
            either = last.change == "share" and quantity.unit == "%"  # 「占欧洲42%，同比下降8%」: the sum or the share
            if either or _BASE.search(annotated.text, last.end, quantity.start):
                return None
            if AFTER_LEVEL.fullmatch(gap):
                return said.reading if last.change != quantity.change else None
            return self.subjects.part(annotated, said, start=last.end, end=quantity.start)
        if quantity.change:
            return None
        if last.change:
            return self._level(said, quantity, gap)
        return self._again(annotated, said, quantity, gap) if quantity.unit == last.unit else None

    def _again(
        self, annotated: AnnotatedSentence, said: PreviousMeasurement, quantity: Quantity, gap: str
    ) -> Measurement | None:
        """「…，2027年将达到20亿元」, 「…，较2023年的90亿元」, 「…，其中印度3亿元」: another level in the same unit."""
        start = said.quantity.end
        dated = any(start <= each.start < quantity.start for each in annotated.periods)
        if (dated and CONTINUES.fullmatch(gap)) or base_of(annotated, quantity) is not None:
            return said.reading
        return self.subjects.part(annotated, said, start=start, end=quantity.start)

    def _level(self, said: PreviousMeasurement, quantity: Quantity, gap: str) -> Measurement | None:
        """「…同比下降16%，仅为11.6亿部」 and 「净利率提升1.8pct至15.3%」: the level behind its change."""
        if not self.fits(said.reading.indicator, quantity):
            return None
        if quantity.unit in RATES:
            level = said.quantity.unit in _POINTS and quantity.unit == "%" and _REACHED.fullmatch(gap)
            return said.reading if level else None
        return said.reading if CONTINUES.fullmatch(gap) else None

    def goes_on(
        self, annotated: AnnotatedSentence, before: PreviousMeasurement | None, quantity: Quantity
    ) -> Measurement | None:
        """「同比增长29%。」 and 「预计2027年将达到20亿元。」 behind a sentence that told a level."""
        if before is None:
            return None
        opening = without(annotated, 0, quantity.start)
        if quantity.change not in ("", "share"):
            return before.reading if AFTER_LEVEL.fullmatch(opening) else None
        dated = any(each.role == "stated" and each.end <= quantity.start for each in annotated.periods)
        level = not quantity.change and not before.quantity.change and quantity.unit == before.quantity.unit
        if not (dated and level and CONTINUES.fullmatch(opening)):
            return None
        reading = before.reading
        return replace(reading, confidence=min(TAKEN_OVER, reading.confidence))

    def share(
        self,
        annotated: AnnotatedSentence,
        indicators: list[EntityMention],
        found: re.Match[str],
        *,
        said: PreviousMeasurement | None,
        before: Measurement | None,
    ) -> Measurement | None:
        """「…，占全球手机出货量的64.1%」: a share of the last indicator's subject, or of the thing named before 占."""
        whole = [
            ref
            for ref in indicators
            if found.start("whole") <= ref.start < found.end("whole") and ref.name not in VAGUE
        ]
        inner = [ref for ref in indicators if ref.end == found.start()]
        if inner and FILLER.fullmatch(without(annotated, found.start(), found.end())):  # 5G手机出货量占比从2024年的
            return self.subjects.find(annotated, inner[-1], said=said, before=before)
        told = self.subjects.share(annotated, found.start(), said=said, before=before)
        if not whole:
            return told
        last = said.reading if said else before
        subject = told.subject if told else last.subject if last else None
        if subject is None:
            return None
        return replace(self.subjects.of_names(subject, whole[-1], "占" + found["whole"]), confidence=SHARE)
