"""What a figure measures, of whom, and what was measured last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from extraction.annotated import Ref
    from extraction.quantities import Quantity

DOUBTFUL = 0.2  # a reading that as often belongs to something else; below what is stored (Settings.min_confidence)


class Measured(Struct, frozen=True):
    """An indicator with the subject it is measured of; one only `described` is not the next figure's."""

    indicator: Ref
    subject: Ref
    confidence: float
    scope: str = ""
    described: bool = False


class Said(Struct, frozen=True):
    """What was measured last, in this sentence or right before it; `earlier` is the last one of a named subject."""

    reading: Measured
    quantity: Quantity
    earlier: Said | None = None

    @property
    def named(self) -> Said | None:
        """The last one whose subject was named."""
        return self.earlier if self.reading.described else self


def named_of(said: Said | None) -> Measured | None:
    """Return the last reading whose subject was named."""
    named = said.named if said else None
    return named.reading if named else None


def doubted(said: Said | None) -> Said | None:
    """Return what was measured last as a reading that may belong to something else."""
    if said is None:
        return None
    return replace(said, reading=replace(said.reading, confidence=DOUBTFUL), earlier=doubted(said.earlier))
