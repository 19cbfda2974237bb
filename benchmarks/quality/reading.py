"""Read a labelled text with the default extractor, as `liantu ingest` would."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from extraction.documents.jsonl import read_record
from extraction.documents.metadata import SourceFile
from extraction.pipeline import Extractor
from kg.settings import Settings

if TYPE_CHECKING:
    from kg.model import Fact, Reading

_PLACE = Path("text")
_READ_AT = datetime(2026, 1, 1, tzinfo=UTC)


class TextReader:
    """Extract from undated texts, with a fixed publication day."""

    def __init__(self, day: date, master: Path | None = None) -> None:
        settings = Settings()
        self._extractor = Extractor.default(master=master, ner=settings.ner, min_confidence=settings.min_confidence)
        self._day = day

    def read(self, text: str) -> Reading:
        """Return the reading of a text."""
        record = {"text": text, "date": self._day.isoformat()}
        document = read_record(record, SourceFile(_PLACE, b"", _READ_AT.date()))
        return self._extractor.extract(document, recorded_at=_READ_AT)


def spellings(reading: Reading) -> dict[str, set[str]]:
    """Return every spelling of each entity in a reading."""
    names: dict[str, set[str]] = defaultdict(set)
    for entity in reading.entities:
        names[entity.id] |= {entity.name, *(alias.name for alias in entity.aliases)}
    for mention in reading.mentions:
        if mention.entity:
            names[mention.entity].add(mention.text)
    return names


def spelled(fact: Fact, reading: Reading) -> tuple[str, str]:
    """Return subject and object as spelled in the fact's quote, preferring the longest spelling."""
    names, quote = spellings(reading), fact.evidence[0].quote
    ends = [
        max((name for name in names[end] if name in quote), key=len, default=min(names[end], default=end))
        for end in (fact.subject, fact.object)
    ]
    return ends[0], ends[1]
