"""Data types for a measured figure and its context."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from extraction.text.clauses import clause_start

if TYPE_CHECKING:
    from extraction.quantities.reader import Quantity
    from extraction.sentence import AnnotatedSentence, EntityMention
    from kg.dating.reader import Dated
    from kg.period import Period


DOUBTFUL = 0.2  # right about half the time; below Settings.min_confidence, so not stored


class Measurement(Struct, frozen=True):
    """An indicator with its subject; if `described`, the subject has no proper name and is not carried over."""

    indicator: EntityMention
    subject: EntityMention
    confidence: float
    scope: str = ""
    described: bool = False


class PreviousMeasurement(Struct, frozen=True):
    """The last measurement of this or the previous sentence; `earlier` is the last with a named subject."""

    measurement: Measurement
    quantity: Quantity
    earlier: PreviousMeasurement | None = None

    @property
    def named(self) -> PreviousMeasurement | None:
        """The last measurement whose subject is named."""
        return self.earlier if self.measurement.described else self


def last_named(previous: PreviousMeasurement | None) -> Measurement | None:
    """Return the last measurement whose subject is named."""
    named = previous.named if previous else None
    return named.measurement if named else None


def mark_doubtful(previous: PreviousMeasurement | None) -> PreviousMeasurement | None:
    """Return the previous measurement with its confidence lowered to DOUBTFUL."""
    if previous is None:
        return None
    return replace(
        previous,
        measurement=replace(previous.measurement, confidence=DOUBTFUL),
        earlier=mark_doubtful(previous.earlier),
    )


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its measurement; `dated` is its date expression, `listed` says whether it is a list item."""

    annotated: AnnotatedSentence
    measurement: Measurement
    quantity: Quantity
    dated: Dated | None
    valid: Period | None
    listed: bool
    traded: bool = False  # the previous figure measured imports or exports
    before: PreviousMeasurement | None = None  # last measurement of the previous sentence
    joined: bool = False  # the previous sentence ended with a semicolon
    segments: bool = False  # the text before announces the segments of a firm: 分产品看
    clause: str = field(init=False)  # text from the last punctuation mark to the number

    def __post_init__(self) -> None:
        """Compute the clause once for all filters."""
        text, end = self.annotated.text, self.quantity.start
        object.__setattr__(self, "clause", text[clause_start(text, end) : end])
