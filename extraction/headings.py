"""What a heading hands down to the lines below it: a subject, a region, a period, and whether it looks ahead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from extraction.context import heading_subject
from extraction.dating import find_periods
from extraction.modality import is_risk_heading
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from extraction.annotated import Ref
    from kg.period import Period

_OUTLOOK = re.compile(r"预测|展望|预计|(?<![超及合于])预期|前瞻|目标|规划|假设|测算|弹性测算")

_ENTRY = re.compile(r"[^，。；：\d]{2,6}[：:]\s*")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and what it says of the lines below; `level` 1 is the top."""

    level: int
    text: str
    subject: Ref | None = None
    region: Ref | None = None
    period: Period | None = None


class Headings:
    """The headings above the line that is read, the nearest last."""

    def __init__(self) -> None:
        self._stack: list[Heading] = []

    def enter(self, heading: Heading) -> None:
        """Step below a heading; those of its own depth and deeper are left."""
        self._stack = [above for above in self._stack if above.level < heading.level]
        self._stack.append(heading)

    @property
    def texts(self) -> tuple[str, ...]:
        """The headings from the top down."""
        return tuple(heading.text for heading in self._stack)

    @property
    def subject(self) -> Ref | None:
        """The nearest subject."""
        return next((heading.subject for heading in reversed(self._stack) if heading.subject), None)

    @property
    def region(self) -> Ref | None:
        """The nearest region; 「某地：」 that nobody knows hides what is above it."""
        for heading in reversed(self._stack):
            if heading.region or _ENTRY.fullmatch(heading.text):
                return heading.region
        return None

    @property
    def period(self) -> Period | None:
        """The period that the nearest heading states."""
        return self._stack[-1].period if self._stack else None

    @property
    def risk(self) -> bool:
        """Whether the nearest heading is one of risks."""
        return bool(self._stack) and is_risk_heading(self._stack[-1].text)

    @property
    def outlook(self) -> bool:
        """Whether any heading looks ahead: figures below are expected, not measured."""
        return any(_OUTLOOK.search(heading.text) for heading in self._stack)


def read_heading(level: int, text: str, names: Sequence[Ref], *, published_on: date) -> Heading:
    """Return what a heading hands down."""
    region = next((ref for ref in names if ref.kind == Kind.REGION), None)
    stated = [dated.period for dated in find_periods(text, published_on) if dated.role == "stated"]
    past = stated[-1] if stated and stated[-1].start and stated[-1].start <= published_on else None
    return Heading(level, text, heading_subject(text, names), region, past)
