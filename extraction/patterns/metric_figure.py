"""A number with its reading, as the reasons for doubt look at it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from extraction.sentences import behind_last

if TYPE_CHECKING:
    from extraction.annotated import Annotated
    from extraction.dating import Dated
    from extraction.patterns.metric_reading import Measured, Said
    from extraction.quantities import Quantity
    from kg.period import Period


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its reading; `dated` is the expression that dates it, `listed` says that it stands in a row."""

    annotated: Annotated
    reading: Measured
    quantity: Quantity
    dated: Dated | None
    valid: Period | None
    listed: bool
    traded: bool = False  # the figure before was one of imports or exports
    before: Said | None = None  # what the sentence before measured last
    clause: str = field(init=False)  # the words from the last mark up to the number

    def __post_init__(self) -> None:
        """Cut the clause once for all reasons that ask for it."""
        text, end = self.annotated.text, self.quantity.start
        object.__setattr__(self, "clause", text[behind_last("，。；：", text, end) : end])
