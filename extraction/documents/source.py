"""What a reader is given: the bytes, where they came from, and the day it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One input. `published_on` is the user's `--date` and outranks all else; `today` bounds what a date may be."""

    path: Path
    data: bytes
    today: date
    published_on: date | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self.path)
