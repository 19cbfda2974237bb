"""stub."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from extraction.readers.source import Source
    from kg.model import Document


def read_pdf(source: Source) -> Document:
    raise NotImplementedError
