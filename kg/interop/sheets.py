"""Rows of a graph as documents: one a day and source, whose text holds the rows as they stood in the file."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

from kg.ids import document_id
from kg.interop.rows import Row
from kg.interop.wording import BadRow
from kg.model import Document
from kg.store.sheet import Rows, Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date, datetime

    from kg.interop.claims import Claim, Claims, End
    from kg.model import Entity

ROWS = 10_000  # of a sheet at most: a document that can still be shown and removed
_WAITING = 400_000  # rows held back at most, when a file goes back and forth between days
_IDLE = 20_000  # rows of other days after which a day is taken to be over: most files go by day
EXTRACTOR = "import/1"


class Written(NamedTuple):
    """A row as a file has it: where it stands, its very words, its fields; or `fault`, what is wrong with it."""

    where: str
    text: str
    row: Row = Row()
    fault: str = ""


class Refused(NamedTuple):
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

    def of(self, rows: Iterable[Written]) -> Iterator[Sheet | Refused]:
        """Go through rows; those of one day and source lie in one sheet, in the order of the file."""
        claim_of, pages = self._claims.claim, self._pages
        for number, (where, text, row, wrong) in enumerate(rows):
            try:
                if wrong:
                    raise BadRow(wrong)  # noqa: TRY301 - one way for all faults of a row
                claim = claim_of(row)
            except BadRow as fault:
                yield Refused(where, str(fault))
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
            if number % _IDLE == 0:
                yield from self.rest(before=number - _IDLE)
        yield from self.rest()

    def rest(self, *, before: int | None = None) -> Iterator[Sheet]:
        """Close all that waits, by day and source; or only what no row has come to since that number."""
        for place in sorted(place for place, page in self._pages.items() if before is None or page.last < before):
            yield self._closed(place)

    def _closed(self, place: tuple[date, str]) -> Sheet:
        day, source = place
        page = self._pages.pop(place)
        self._waiting -= len(page.claims)
        text = "\n".join(page.lines)
        head = "\n".join((self._name, source, str(day), text))
        document = Document(
            id=document_id(head.encode()),
            title=f"{source or self._name} {day}",
            published_on=day,
            text=text,
            kind="graph",
            publisher=source,
            path=self._name,
        )
        rows, entities = _columns(page)
        return Sheet(document, tuple(entities.values()), rows, self._recorded_at, EXTRACTOR)


def _columns(page: _Page) -> tuple[Rows, dict[str, Entity]]:
    """Return the rows of a page, and the entities that their ids do not tell all of."""
    digests, subjects, objects, likes, texts, sure = zip(*page.claims, strict=True)
    places: dict[str, int] = {}
    entities: dict[str, Entity] = {}
    place: dict[End, int] = {}
    for end in dict.fromkeys(chain.from_iterable(zip(subjects, objects, strict=True))):
        place[end] = places.setdefault(end.id, len(places))
        if not end.plain:
            entities.setdefault(end.id, end.entity)
    stops = array("I", [stop - 1 for stop in accumulate(len(line) + 1 for line in page.lines)])
    rows = Rows(
        digests=b"".join(digests),
        ends=tuple(places),
        subjects=array("I", map(place.__getitem__, subjects)),
        objects=array("I", map(place.__getitem__, objects)),
        relations=[like.relation.name for like in likes],
        negatives=[like.negative for like in likes],
        claims=texts,
        starts=array("I", (0, *(stop + 1 for stop in stops[:-1]))),
        stops=stops,
        speakers=[like.speaker for like in likes],
        confidences=array("d", sure),
    )
    return rows, entities
