"""`liantu extract`: a stream of dated texts to facts, with nothing stored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extraction.pipeline import Extractor
from extraction.readers.jsonl import read_record, text_of
from extraction.readers.source import Source
from extraction.wire import reading_on_wire
from kg.errors import DocumentError

if TYPE_CHECKING:
    from datetime import datetime

    from extraction.streaming import Record, Work


@dataclass(frozen=True, slots=True)
class Extraction:
    """How texts are read; `read_at` stamps readings and bounds dates."""

    read_at: datetime
    ner: bool = True
    master: Path | None = None
    names: Path | None = None
    edge_model: str = "shipped"
    explain: bool = False
    min_confidence: float = 0.0  # what is read less surely is not written

    def build(self) -> Work:
        """Make the function that answers one record."""
        extractor = Extractor.default(
            master=self.master,
            ner=self.ner,
            edge_model=self.edge_model,
            names=self.names,
            min_confidence=self.min_confidence,
        )
        return partial(_extract, extractor, self)


def _extract(extractor: Extractor, how: Extraction, record: Record, where: str) -> dict[str, Any]:
    if "id" not in record:
        raise DocumentError(where, 'missing "id"', "add one to match results to inputs")
    document = read_record(record, Source(Path(where), b"", how.read_at.date()))
    given = text_of(record)
    reading = extractor.extract(document, recorded_at=how.read_at)
    written = reading_on_wire(record["id"], reading, explain=how.explain)
    for fact in written["facts"]:  # the stored text spells line ends one way; a quote is the giver's own characters
        evidence = fact["evidence"]
        evidence["quote"] = given[evidence["start"] : evidence["end"]]
    return written
