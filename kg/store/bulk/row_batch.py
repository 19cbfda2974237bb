"""Documents made of rows with one claim each, imported from an existing graph and loaded in bulk."""

from __future__ import annotations

import zlib
from array import array
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from kg.ids import digest, fact_ids
from kg.model import Evidence, Reading
from kg.store import codec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from kg.model import Document, Entity, Fact
    from kg.store.port import Writer

_HEAD = len("fact:")


class ClaimRow(NamedTuple):
    """A claim and its text span; `claim` is encoded by `kg.store.codec.claim_out`, `fact` is the fact's id."""

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


class Names:
    """Entity ids in the order in which a reader first met them; its rows refer to them by number.

    RowColumns sent to another process share one instance there, to which the reader's new ids must be added.
    """

    __slots__ = ("ids",)

    def __init__(self, ids: list[str] | None = None) -> None:
        self.ids: list[str] = [] if ids is None else ids

    def __reduce__(self) -> tuple[type[Names], tuple[()]]:
        """Pickle without the ids, which the receiving process already has."""
        return Names, ()


@dataclass(frozen=True, slots=True)
class RowColumns:
    """Rows as columns, so that they can be pickled and inserted without a Python loop over rows.

    Attributes:
        digests: the digests in the fact ids, 16 bytes per row.
        names: the entities of the rows, and possibly others.
        subjects: numbers in `names`, one per row; `objects` likewise.
        relations: one per row, as are `negatives`, `claims`, `starts`, `stops`, `speakers` and `confidences`.
    """

    digests: bytes
    names: Names
    subjects: array[int]
    objects: array[int]
    relations: Sequence[str]
    negatives: Sequence[bool]
    claims: Sequence[str]
    starts: array[int]
    stops: array[int]
    speakers: Sequence[str]
    confidences: array[float]

    @staticmethod
    def of(rows: Iterable[ClaimRow]) -> RowColumns:
        """Convert rows to columns."""
        listed = list(rows)
        facts, subjects, relations, objects, negatives, claims, starts, stops, speakers, confidences = (
            zip(*listed, strict=True) if listed else [()] * len(ClaimRow._fields)
        )
        ids = list(dict.fromkeys((*subjects, *objects)))
        number = {identity: place for place, identity in enumerate(ids)}
        return RowColumns(
            digests=bytes.fromhex("".join(fact[_HEAD:] for fact in facts)),
            names=Names(ids),
            subjects=array("I", [number[end] for end in subjects]),
            objects=array("I", [number[end] for end in objects]),
            relations=relations,
            negatives=negatives,
            claims=claims,
            starts=array("I", starts),
            stops=array("I", stops),
            speakers=speakers,
            confidences=array("d", confidences),
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.claims)

    def __iter__(self) -> Iterator[ClaimRow]:
        """Yield the rows."""
        return map(
            ClaimRow,
            fact_ids(self.digests),
            map(self.names.ids.__getitem__, self.subjects),
            self.relations,
            map(self.names.ids.__getitem__, self.objects),
            self.negatives,
            self.claims,
            self.starts,
            self.stops,
            self.speakers,
            self.confidences,
        )


@dataclass(frozen=True)
class RowBatch:
    """A document whose text contains the rows, so that every quote can be checked (DESIGN §1.6).

    Rows are in text order, each with its own span.
    """

    document: Document
    entities: tuple[Entity, ...]
    rows: RowColumns
    recorded_at: datetime
    extractor: str

    @cached_property
    def packed(self) -> bytes:
        """The compressed document body in the format of the SQLite store; computed on first access."""
        return zlib.compress(codec.body_out(self.document, ()), 1)

    @cached_property
    def stamp(self) -> str:
        """Hash of everything a compiled graph may depend on (compare `kg.store.sqlite.journal.content`)."""
        entities = (f"{entity.id} {entity.kind} {entity.about}" for entity in self.entities)
        rows = (self.rows.digests.hex(), "\n".join(self.rows.speakers), self.rows.confidences.tobytes().hex())
        return digest((f"{self.document.published_on} {self.recorded_at} {self.extractor}", *entities, "|rows", *rows))

    def work_out(self) -> None:
        """Compute the cached properties now, in the reading process instead of the writing one."""
        assert self.packed
        assert self.stamp

    def reading(self) -> Reading:
        """Return the equivalent reading for stores without bulk loading."""
        facts = tuple(self._fact(row) for row in self.rows)
        return Reading(self.document, entities=self.entities, facts=facts, recorded_at=self.recorded_at)

    def _fact(self, row: ClaimRow) -> Fact:
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
    """A writer that supports bulk loading."""

    def load(self, row_batches: Iterable[RowBatch]) -> Iterator[tuple[RowBatch, bool]]:
        """Write row batches, several per transaction; yield each with the result that `write` would return."""


def load(writer: Writer, row_batches: Iterable[RowBatch]) -> Iterator[tuple[RowBatch, bool]]:
    """Write row batches and yield each once it is committed.

    Returns:
        Each row batch and whether it was new.

    Raises:
        ValueError: when a row batch is inconsistent (kg/store/rules/validated.py).
        StoreUnusable: when the disk is full; row batches yielded before are in the store.
    """
    if isinstance(writer, BulkWriter):
        yield from writer.load(row_batches)
    else:
        for row_batch in row_batches:
            yield row_batch, writer.write(row_batch.reading())
