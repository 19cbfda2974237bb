"""A number with its reading, as the reasons for doubt look at it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from extraction.text.sentences import behind_last

if TYPE_CHECKING:
    from extraction.dating.reader import Dated
    from extraction.quantities.reader import Quantity
    from extraction.sentence import AnnotatedSentence, EntityMention
    from kg.period import Period


DOUBTFUL = 0.2  # a reading that as often belongs to something else; below what is stored (Settings.min_confidence)


class Measurement(Struct, frozen=True):
    """An indicator with the subject it is measured of; one only `described` is not the next figure's."""

    indicator: EntityMention
    subject: EntityMention
    confidence: float
    scope: str = ""
    described: bool = False


class PreviousMeasurement(Struct, frozen=True):
    """What was measured last, in this sentence or right before it; `earlier` is the last one of a named subject."""

    reading: Measurement
    quantity: Quantity
    earlier: PreviousMeasurement | None = None

    @property
    def named(self) -> PreviousMeasurement | None:
        """The last one whose subject was named."""
        return self.earlier if self.reading.described else self


def named_of(said: PreviousMeasurement | None) -> Measurement | None:
    """Return the last reading whose subject was named."""
    named = said.named if said else None
    return named.reading if named else None


def doubted(said: PreviousMeasurement | None) -> PreviousMeasurement | None:
    """Return what was measured last as a reading that may belong to something else."""
    if said is None:
        return None
    return replace(said, reading=replace(said.reading, confidence=DOUBTFUL), earlier=doubted(said.earlier))


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its reading; `dated` is the expression that dates it, `listed` says that it stands in a row."""

    annotated: AnnotatedSentence
    reading: Measurement
    quantity: Quantity
    dated: Dated | None
    valid: Period | None
    listed: bool
    traded: bool = False  # the figure before was one of imports or exports
    before: PreviousMeasurement | None = None  # what the sentence before measured last
    clause: str = field(init=False)  # the words from the last mark up to the number

    def __post_init__(self) -> None:
        """Cut the clause once for all reasons that ask for it."""
        text, end = self.annotated.text, self.quantity.start
        object.__setattr__(self, "clause", text[behind_last("，。；：", text, end) : end])
