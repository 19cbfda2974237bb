"""A document of rows, one claim each: what comes from an existing graph, and how a store takes many at once."""

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


class Names:
    """The ids of entities in the order in which a reader met them; its rows refer to them by number.

    RowColumns that go to another process share one there too, which their reader's ids must be given to.
    """

    __slots__ = ("ids",)

    def __init__(self, ids: list[str] | None = None) -> None:
        self.ids: list[str] = [] if ids is None else ids

    def __reduce__(self) -> tuple[type[Names], tuple[()]]:
        """Travel without the ids: those sent before are there already."""
        return Names, ()


@dataclass(frozen=True, slots=True)
class RowColumns:
    """Rows column by column, so that they travel between processes and into tables without being looked at one by one.

    Attributes:
        digests: of the facts' ids, 16 bytes a row.
        names: the entities that rows are about, and perhaps others.
        subjects: numbers of `names`, one a row; `objects` too.
        relations: one a row, as are `negatives`, `claims`, `starts`, `stops`, `speakers` and `confidences`.
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
        """Take rows apart."""
        given = list(rows)
        facts, subjects, relations, objects, negatives, claims, starts, stops, speakers, sure = (
            zip(*given, strict=True) if given else [()] * len(ClaimRow._fields)
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
            confidences=array("d", sure),
        )

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.claims)

    def __iter__(self) -> Iterator[ClaimRow]:
        """Go through the rows."""
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
    """A document whose text holds the rows, so that every quote can be checked (DESIGN §1.6).

    RowColumns come in the order of the text, each with a span of its own.
    """

    document: Document
    entities: tuple[Entity, ...]
    rows: RowColumns
    recorded_at: datetime
    extractor: str

    @cached_property
    def packed(self) -> bytes:
        """The text and what lies along it as stores of one file keep it; worked out where it is first asked for."""
        return zlib.compress(codec.body_out(self.document, ()), 1)

    @cached_property
    def stamp(self) -> str:
        """Hash all that a compiled graph may depend on, as `kg.store.sqlite.journal.content` does."""
        said = (f"{entity.id} {entity.kind} {entity.about}" for entity in self.entities)
        told = (self.rows.digests.hex(), "\n".join(self.rows.speakers), self.rows.confidences.tobytes().hex())
        return digest((f"{self.document.published_on} {self.recorded_at} {self.extractor}", *said, "|rows", *told))

    def work_out(self) -> None:
        """Work out now, in the process that reads, what would be asked for in the one that writes."""
        assert self.packed
        assert self.stamp

    def reading(self) -> Reading:
        """Return the same as any other document is written."""
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
    """A writer with a way of its own for many rows."""

    def load(self, sheets: Iterable[RowBatch]) -> Iterator[tuple[RowBatch, bool]]:
        """Write sheets, several in one transaction; the result is that of `write`."""


def load(writer: Writer, sheets: Iterable[RowBatch]) -> Iterator[tuple[RowBatch, bool]]:
    """Write sheets, and give each back once it is safely in the store.

    Returns:
        Each sheet and whether it was new.

    Raises:
        ValueError: when a sheet contradicts itself (kg/store/rules/validated.py).
        StoreUnusable: when the disk is full; what was given back before is in the store.
    """
    if isinstance(writer, BulkWriter):
        yield from writer.load(sheets)
    else:
        for sheet in sheets:
            yield sheet, writer.write(sheet.reading())
