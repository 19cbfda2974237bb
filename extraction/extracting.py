"""`liantu extract`: a stream of dated texts to facts, with nothing stored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extraction.pipeline import Extractor, sure
from extraction.readers.jsonl import read_record, text_of
from extraction.readers.source import Source
from extraction.wire import reading_on_wire
from kg.errors import DocumentError

if TYPE_CHECKING:
    from datetime import datetime

    from extraction.streaming import Record, Work


@dataclass(frozen=True, slots=True)
class Extraction:
    """How texts are read; `read_at` stamps readings and bounds dates, `model` is where a trained one would lie."""

    read_at: datetime
    ner: bool = True
    master: Path | None = None
    model: Path | None = None
    explain: bool = False
    least_confidence: float = 0.0  # what is read less surely is not written

    def build(self) -> Work:
        """Make the function that answers one record."""
        return partial(_extract, Extractor.default(master=self.master, ner=self.ner, model=self.model), self)


def _extract(extractor: Extractor, how: Extraction, record: Record, where: str) -> dict[str, Any]:
    if "id" not in record:
        raise DocumentError(where, 'no "id"', "give each line one, so that its answer can be told")
    document = read_record(record, Source(Path(where), b"", how.read_at.date()))
    given = text_of(record)
    reading = sure(extractor.extract(document, recorded_at=how.read_at), how.least_confidence)
    written = reading_on_wire(record["id"], reading, explain=how.explain)
    for fact in written["facts"]:  # the stored text spells line ends one way; a quote is the giver's own characters
        evidence = fact["evidence"]
        evidence["quote"] = given[evidence["start"] : evidence["end"]]
    return written
