"""A labelled text as the user's `ingest` reads it: one document, the shipped extractor, what would be stored."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from extraction.documents.jsonl import read_record
from extraction.documents.source import SourceFile
from extraction.pipeline import Extractor
from kg.settings import Settings

if TYPE_CHECKING:
    from kg.model import Fact, Reading

_PLACE = Path("text")
_READ_AT = datetime(2026, 1, 1, tzinfo=UTC)


class TextReader:
    """Reads undated texts as if they had been published on one day."""

    def __init__(self, day: date, master: Path | None = None) -> None:
        usual = Settings()
        self._extractor = Extractor.default(master=master, ner=usual.ner, min_confidence=usual.min_confidence)
        self._day = day

    def read(self, text: str) -> Reading:
        """Return what is stored of a text."""
        record = {"text": text, "date": self._day.isoformat()}
        document = read_record(record, SourceFile(_PLACE, b"", _READ_AT.date()))
        return self._extractor.extract(document, recorded_at=_READ_AT)


def spellings(reading: Reading) -> dict[str, set[str]]:
    """Return by entity every spelling that names it in a reading."""
    named: dict[str, set[str]] = defaultdict(set)
    for entity in reading.entities:
        named[entity.id] |= {entity.name, *(alias.name for alias in entity.aliases)}
    for mention in reading.mentions:
        if mention.entity:
            named[mention.entity].add(mention.text)
    return named


def spelled(fact: Fact, reading: Reading) -> tuple[str, str]:
    """Return the ends of a fact as its quote spells them: the longest spelling of each that stands in it."""
    named, quote = spellings(reading), fact.evidence[0].quote
    ends = [
        max((name for name in named[end] if name in quote), key=len, default=min(named[end], default=end))
        for end in (fact.subject, fact.object)
    ]
    return ends[0], ends[1]
