"""Group rows of a graph into documents, one per day and source, whose text is the original lines."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import accumulate, count
from operator import add
from typing import TYPE_CHECKING, NamedTuple

from kg.ids import document_id
from kg.model import Document
from kg.store.bulk.row_batch import RowBatch, RowColumns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date, datetime

    from kg.interop.rows.claims import Claim, Claims, RowEntity
    from kg.interop.rows.fields import Fault, SourceRow
    from kg.model import Entity

ROWS = 10_000  # maximum rows per sheet, so that a document can still be shown and removed
_WAITING = 400_000  # maximum rows held in memory when a file alternates between days
_IDLE = 10_000  # rows of other days after which a day is considered complete; most files are sorted by day
_CHECK_INTERVAL = 1_000  # rows between checks for idle pages
EXTRACTOR = "import/1"


class RowBlock(NamedTuple):
    """A block of rows of a file: line numbers, source lines, and parsed rows or faults."""

    path: str
    numbers: Sequence[int]
    lines: Sequence[str]
    rows: Sequence[SourceRow | Fault]


class RefusedRow(NamedTuple):
    """A row that was not imported."""

    where: str
    why: str


@dataclass(slots=True)
class _Page:
    """Rows collected for a sheet; `last` is the overall number of the latest row."""

    lines: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    last: int = 0


class Sheets:
    """Collects rows by day and source and yields full sheets."""

    def __init__(self, claims: Claims, *, name: str, recorded_at: datetime) -> None:
        self._claims, self._name, self._recorded_at = claims, name, recorded_at
        self._pages: dict[tuple[date, str], _Page] = {}
        self._waiting = 0

    def of(self, blocks: Iterable[RowBlock]) -> Iterator[RowBatch | RefusedRow]:
        """Yield sheets and refused rows; rows of one day and source share a sheet, in file order."""
        claims_of, pages, number = self._claims.of, self._pages, -1
        for block in blocks:
            claims, faults = claims_of(block.rows)
            messages = iter(faults)
            for line, text, claim in zip(block.numbers, block.lines, claims, strict=True):
                number += 1
                if claim is None:
                    yield RefusedRow(f"{block.path}:{line}", next(messages))
                    continue
                place = claim[3].place
                page = pages.get(place)
                if page is None:
                    page = pages[place] = _Page()
                page.lines.append(text)
                page.claims.append(claim)
                page.last = number
                self._waiting += 1
                if len(page.claims) >= ROWS:
                    yield self._close(place)
                elif self._waiting >= _WAITING:
                    yield from self.rest()
                if number % _CHECK_INTERVAL == 0:
                    yield from self.rest(before=number - _IDLE)
        yield from self.rest()

    def rest(self, *, before: int | None = None) -> Iterator[RowBatch]:
        """Close all open sheets by day and source, or only those without rows since number `before`."""
        for place in sorted(place for place, page in self._pages.items() if before is None or page.last < before):
            yield self._close(place)

    def _close(self, place: tuple[date, str]) -> RowBatch:
        day, source = place
        page = self._pages.pop(place)
        self._waiting -= len(page.claims)
        text = "\n".join(page.lines)
        head = "\n".join((self._name, source, str(day), ""))
        document = Document(
            id=document_id(head.encode() + text.encode()),
            title=f"{source or self._name} {day}",
            published_on=day,
            text=text,
            kind="graph",
            publisher=source,
            path=self._name,
        )
        digests, subjects, objects, templates, texts, confidence = zip(*page.claims, strict=True)
        # End offset of each line: the cumulative length of the lines plus the number of line breaks before it.
        stops = array("I", map(add, accumulate(map(len, page.lines)), count()))
        rows = RowColumns(
            digests=b"".join(digests),
            names=self._claims.names,
            subjects=array("I", [end.number for end in subjects]),
            objects=array("I", [end.number for end in objects]),
            relations=[template.name for template in templates],
            negatives=[template.negative for template in templates],
            claims=texts,
            starts=array("I", (0, *map((1).__add__, stops[:-1]))),
            stops=stops,
            speakers=[template.speaker for template in templates],
            confidences=array("d", confidence),
        )
        return RowBatch(document, _described(subjects, objects), rows, self._recorded_at, EXTRACTOR)


def _described(subjects: Iterable[RowEntity], objects: Iterable[RowEntity]) -> tuple[Entity, ...]:
    """Return the entities whose ids do not carry all their data, in row order."""
    described = {end for end in {*subjects, *objects} if not end.plain}
    if not described:
        return ()
    ends = dict.fromkeys(end for both in zip(subjects, objects, strict=True) for end in both if end in described)
    return tuple({end.id: end.entity for end in reversed(ends)}.values())[::-1]
