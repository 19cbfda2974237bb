"""A document of rows, one claim each: what comes from an existing graph, and how a store takes many at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from kg.model import Evidence, Reading
from kg.store import codec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from kg.model import Document, Entity, Fact
    from kg.store.port import Writer


class Row(NamedTuple):
    """A claim and where its words stand; `claim` as `kg.store.codec.claim_out` has it, `fact` is the fact's id."""

    fact: str
    subject: str
    relation: str
    object: str
    negative: bool
    claim: str
    start: int
    end: int
    speaker: str = ""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """A document whose text holds the rows, so that every quote can be checked (DESIGN §1.6).

    Rows come in the order of the text, each with a span of its own.
    """

    document: Document
    entities: tuple[Entity, ...]
    rows: tuple[Row, ...]
    recorded_at: datetime
    extractor: str

    def reading(self) -> Reading:
        """Return the same as any other document is written."""
        facts = tuple(self._fact(row) for row in self.rows)
        return Reading(self.document, entities=self.entities, facts=facts, recorded_at=self.recorded_at)

    def _fact(self, row: Row) -> Fact:
        evidence = Evidence(
            document=self.document.id,
            start=row.start,
            end=row.end,
            quote=self.document.text[row.start : row.end],
            published_on=self.document.published_on,
            recorded_at=self.recorded_at,
            speaker=row.speaker,
            confidence=row.confidence,
            extractor=self.extractor,
        )
        return codec.claim_in(row.fact, (row.subject, row.relation, row.object), row.claim, evidence=(evidence,))


@runtime_checkable
class BulkWriter(Protocol):
    """A writer with a way of its own for many rows."""

    def load(self, sheets: Iterable[Sheet]) -> Iterator[tuple[Sheet, bool]]:
        """Write sheets, several in one transaction; the result is that of `write`."""


def load(writer: Writer, sheets: Iterable[Sheet]) -> Iterator[tuple[Sheet, bool]]:
    """Write sheets, and give each back once it is safely in the store.

    Returns:
        Each sheet and whether it was new.

    Raises:
        ValueError: when a sheet contradicts itself (kg/store/prepared.py).
        StoreUnusable: when the disk is full; what was given back before is in the store.
    """
    if isinstance(writer, BulkWriter):
        yield from writer.load(sheets)
    else:
        for sheet in sheets:
            yield sheet, writer.write(sheet.reading())
