"""Rows of a graph as documents: one a day and source, whose text holds the rows as they stood in the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from kg.ids import document_id
from kg.interop.claims import BadRow
from kg.model import Document
from kg.store.sheet import Row, Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import date, datetime
    from typing import Any

    from kg.interop.claims import Claims
    from kg.model import Entity

ROWS = 10_000  # of a sheet at most: a document that can still be shown and removed
_WAITING = 400_000  # rows held back at most, when a file goes back and forth between days
EXTRACTOR = "import/1"


class Written(NamedTuple):
    """A row as a file has it: where it stands, its very words, its fields; or `fault`, what is wrong with it."""

    where: str
    text: str
    row: Mapping[str, Any]
    fault: str = ""


class Refused(NamedTuple):
    """A row that was not taken in."""

    where: str
    why: str


@dataclass(slots=True)
class _Page:
    """Rows that wait to become a sheet."""

    lines: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    entities: dict[str, Entity] = field(default_factory=dict)
    end: int = 0  # of the text so far


class Sheets:
    """Collects rows by day and source, and hands on the sheets that are full."""

    def __init__(self, claims: Claims, *, name: str, recorded_at: datetime) -> None:
        self._claims, self._name, self._recorded_at = claims, name, recorded_at
        self._pages: dict[tuple[date, str], _Page] = {}
        self._waiting = 0

    def of(self, rows: Iterable[Written]) -> Iterator[Sheet | Refused]:
        """Go through rows; those of one day and source lie in one sheet, in the order of the file."""
        for written in rows:
            try:
                if written.fault:
                    raise BadRow(written.fault)  # noqa: TRY301 - one way for all faults of a row
                place, page = self._add(written)
            except BadRow as fault:
                yield Refused(written.where, str(fault))
                continue
            if len(page.rows) >= ROWS:
                yield self._closed(place)
            elif self._waiting >= _WAITING:
                yield from self.rest()
        yield from self.rest()

    def rest(self) -> Iterator[Sheet]:
        """Close all that waits, by day and source."""
        for place in sorted(self._pages):
            yield self._closed(place)

    def _add(self, written: Written) -> tuple[tuple[date, str], _Page]:
        row, text = written.row, written.text
        day = self._claims.day(row.get("published_on"))
        fact, one, relation, other, negative, said = self._claims.claim(row, day)
        sure = _confidence(row.get("confidence"))
        source = str(row.get("source") or "")
        place = day, source
        page = self._pages.get(place)
        if page is None:
            page = self._pages[place] = _Page()
        start, end = page.end, page.end + len(text)
        speaker = str(row.get("speaker") or source)
        page.lines.append(text)
        page.rows.append(Row(fact, one.id, relation, other.id, negative, said, start, end, speaker, sure))
        page.end = end + 1
        for side in (one, other):
            if not side.plain:
                page.entities.setdefault(side.id, side.entity)
        self._waiting += 1
        return place, page

    def _closed(self, place: tuple[date, str]) -> Sheet:
        day, source = place
        page = self._pages.pop(place)
        self._waiting -= len(page.rows)
        text = "\n".join(page.lines)
        title = f"{source or self._name} {day}"
        head = "\n".join((self._name, source, str(day), text))
        document = Document(
            id=document_id(head.encode()),
            title=title,
            published_on=day,
            text=text,
            kind="graph",
            publisher=source,
            path=self._name,
        )
        return Sheet(document, tuple(page.entities.values()), tuple(page.rows), self._recorded_at, EXTRACTOR)


def _confidence(value: object) -> float:
    if value is None or value == "":
        return 1.0
    try:
        sure = float(str(value))
    except ValueError:
        raise BadRow(f"confidence {value!r} is not a number") from None
    if not 0 < sure <= 1:
        raise BadRow(f"confidence {value!r} is not above 0 and at most 1")
    return sure
