"""Input of a document reader: the bytes, their path, and today's date."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One input. `published_on` is the user's `--date` and overrides other dates; `today` is the latest valid day."""

    path: Path
    data: bytes
    today: date
    published_on: date | None = None

    @property
    def name(self) -> str:
        """Name used in messages."""
        return str(self.path)
