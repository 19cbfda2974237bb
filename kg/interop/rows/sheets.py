"""Rows of a graph as documents: one a day and source, whose text holds the rows as they stood in the file."""

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

ROWS = 10_000  # of a sheet at most: a document that can still be shown and removed
_WAITING = 400_000  # rows held back at most, when a file goes back and forth between days
_IDLE = 10_000  # rows of other days after which a day is taken to be over: most files go by day
_LOOKED_AFTER = 1_000  # rows
EXTRACTOR = "import/1"


class RowBlock(NamedTuple):
    """Rows as a file has them: the numbers of their lines, their very words, and their fields or what is wrong."""

    path: str
    numbers: Sequence[int]
    lines: Sequence[str]
    rows: Sequence[SourceRow | Fault]


class RefusedRow(NamedTuple):
    """A row that was not taken in."""

    where: str
    why: str


@dataclass(slots=True)
class _Page:
    """Rows that wait to become a sheet; `last` is the number of the latest among all rows."""

    lines: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    last: int = 0


class Sheets:
    """Collects rows by day and source, and hands on the sheets that are full."""

    def __init__(self, claims: Claims, *, name: str, recorded_at: datetime) -> None:
        self._claims, self._name, self._recorded_at = claims, name, recorded_at
        self._pages: dict[tuple[date, str], _Page] = {}
        self._waiting = 0

    def of(self, blocks: Iterable[RowBlock]) -> Iterator[RowBatch | RefusedRow]:
        """Go through rows; those of one day and source lie in one sheet, in the order of the file."""
        claims_of, pages, number = self._claims.of, self._pages, -1
        for block in blocks:
            claims, faults = claims_of(block.rows)
            told = iter(faults)
            for line, text, claim in zip(block.numbers, block.lines, claims, strict=True):
                number += 1
                if claim is None:
                    yield RefusedRow(f"{block.path}:{line}", next(told))
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
                    yield self._closed(place)
                elif self._waiting >= _WAITING:
                    yield from self.rest()
                if number % _LOOKED_AFTER == 0:
                    yield from self.rest(before=number - _IDLE)
        yield from self.rest()

    def rest(self, *, before: int | None = None) -> Iterator[RowBatch]:
        """Close all that waits, by day and source; or only what no row has come to since that number."""
        for place in sorted(place for place, page in self._pages.items() if before is None or page.last < before):
            yield self._closed(place)

    def _closed(self, place: tuple[date, str]) -> RowBatch:
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
        digests, subjects, objects, likes, texts, sure = zip(*page.claims, strict=True)
        # Of each line its end, without the line breaks before it, and how many of these there are.
        stops = array("I", map(add, accumulate(map(len, page.lines)), count()))
        rows = RowColumns(
            digests=b"".join(digests),
            names=self._claims.names,
            subjects=array("I", [end.number for end in subjects]),
            objects=array("I", [end.number for end in objects]),
            relations=[like.name for like in likes],
            negatives=[like.negative for like in likes],
            claims=texts,
            starts=array("I", (0, *map((1).__add__, stops[:-1]))),
            stops=stops,
            speakers=[like.speaker for like in likes],
            confidences=array("d", sure),
        )
        return RowBatch(document, _described(subjects, objects), rows, self._recorded_at, EXTRACTOR)


def _described(subjects: Iterable[RowEntity], objects: Iterable[RowEntity]) -> tuple[Entity, ...]:
    """Return the entities that their ids do not tell all of, in the order of the rows."""
    told = {end for end in {*subjects, *objects} if not end.plain}
    if not told:
        return ()
    ends = dict.fromkeys(end for both in zip(subjects, objects, strict=True) for end in both if end in told)
    return tuple({end.id: end.entity for end in reversed(ends)}.values())[::-1]
