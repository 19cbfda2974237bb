"""Import the rows of an existing graph as facts; an invalid row is reported and skipped."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cached_property, lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from kg.errors import DocumentError
from kg.ids import document_id, entity_id, fact_id
from kg.interop.imports.files import FORMATS
from kg.model import Document, Entity, Evidence, Fact, Kind, Modality, Polarity, Reading, Value
from kg.period import Period, day, half, month, quarter, year
from kg.store.rules.validated import bare_entity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from kg.interop.imports.files import SourceRow
    from kg.relations import Relation, Vocabulary
    from kg.securities.master import Master
    from kg.store.port import Store

EXTRACTOR = "import/1"
ROWS = 10_000  # maximum rows per document, so that it can still be shown and removed
_WAITING = 100_000  # maximum rows held in memory when a file alternates between days
_DAY = "a date like 2025-12-31"
_PERIODS = "a period like 2024, 2024Q3, 2024-09-30 or 2024-01-01/2024-06-30"
_PERIOD = re.compile(r"(\d{4})(?:H([12])|Q([1-4])|-(\d{2})(?:-(\d{2}))?)?")


class BadRow(ValueError):
    """A row that cannot be imported; the message states the cause and the remedy."""


class RefusedRow(NamedTuple):
    """A row that was not imported."""

    where: str
    why: str


class ImportedClaim(NamedTuple):
    """The statement of a row: a fact without evidence, its ends, and its source."""

    fact: Fact
    ends: tuple[Entity, Entity]
    published_on: date
    source: str
    speaker: str
    confidence: float


@dataclass(slots=True)
class Tally:
    """Counts of an import, in rows except for `documents`; `known` rows were already stored.

    `left_out` counts the rows of relations that have no counterpart in the vocabulary.
    """

    documents: int = 0
    written: int = 0
    known: int = 0
    refused: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class FieldReader:
    """Reads fields as claims; with a master, company names that it knows exactly once become codes."""

    words: Vocabulary
    master: Master | None = None

    def read(self, row: Mapping[str, Any]) -> ImportedClaim:
        """Return the claim of a row.

        Raises:
            BadRow: when a field is missing or invalid, or the relation is unknown or does not allow such ends.
        """
        published_on = _parsed(row, "published_on", date.fromisoformat, None, _DAY)
        if published_on is None:
            raise BadRow(f"published_on '' is not {_DAY}")
        relation = self.words.relations.get(_text(row, "relation"))
        if relation is None:
            raise BadRow(f"relation {_text(row, 'relation')!r} is not in the vocabulary (kg/relations.yaml)")
        one, other = self._end(row, "subject", published_on), self._end(row, "object", published_on)
        _check_ends(relation, one, other)
        if relation.symmetric and one.id > other.id:
            one, other = other, one
        source = _text(row, "source")
        fact = _fact(row, (one.id, relation.name, other.id))
        try:
            fact = replace(fact, id=fact_id(fact))
            speaker = _text(row, "speaker") or source
            f"{source}{speaker}".encode()
        except UnicodeEncodeError:
            raise BadRow("a field contains an unpaired surrogate") from None
        confidence = _parsed(row, "confidence", _confidence, 1.0, "above 0 and at most 1")
        return ImportedClaim(fact, (one, other), published_on, source, speaker, confidence)

    def _end(self, row: Mapping[str, Any], side: str, published_on: date) -> Entity:
        name = row.get(side)
        if not isinstance(name, str) or not name.strip():
            raise BadRow(f"{side} is missing")
        kind = _text(row, f"{side}_kind")
        return self._entity(name.strip(), kind, published_on if self.master else date.min, side)

    @cached_property
    def _entity(self) -> Callable[[str, str, date, str], Entity]:
        return lru_cache(maxsize=65_536)(self._find)

    def _find(self, name: str, kind: str, published_on: date, side: str) -> Entity:
        if not kind:
            try:
                return bare_entity(name)
            except ValueError:
                cause = f"{side} {name!r} is not an id like product:碳酸锂; add {side}_kind for a name"
                raise BadRow(cause) from None
        if kind not in set(Kind):
            raise BadRow(f"{side}_kind {kind!r} is not one of {', '.join(Kind)}")
        if kind == Kind.COMPANY and self.master:
            issuer = self.master.by_code(name)
            issuers = [issuer] if issuer else self.master.by_name(name, published_on)
            if len(issuers) == 1:
                return Entity(issuers[0].id, Kind(issuers[0].kind), issuers[0].name, codes=(issuers[0].code,))
        identity = entity_id(Kind(kind), name)
        if identity.endswith(":"):
            raise BadRow(f"{side} {name!r} is not a name")
        return Entity(identity, Kind(kind), name)


@dataclass(frozen=True, slots=True)
class RowImport:
    """Imports the rows of a file; rows of one day and source become documents whose text is the original lines."""

    layout: str
    reader: FieldReader
    recorded_at: datetime
    day: str = ""  # of files that state none

    def run(self, path: Path, store: Store, *, refuse: Callable[[RefusedRow], None]) -> Tally:
        """Import a file or folder; each invalid row goes to `refuse`.

        Raises:
            DocumentError: when the file is unreadable or has another layout; earlier rows are stored.
            StoreError: when the store fails; stored rows are kept and a second run continues from there.
        """
        tally = Tally()
        with store.writer() as writer:
            for page in self._pages(path, tally, refuse):
                new = writer.write(page.reading(path.name, self.recorded_at))
                tally.documents += new
                tally.written += len(page.rows) if new else 0
                tally.known += 0 if new else len(page.rows)
        return tally

    def _pages(self, path: Path, tally: Tally, refuse: Callable[[RefusedRow], None]) -> Iterator[_Page]:
        """Yield full pages, and the others at the end of the file or when too many rows wait."""
        pages: dict[tuple[date, str], _Page] = {}
        waiting, fault = 0, None
        try:
            for row in FORMATS[self.layout](path, tally.left_out, self.day):
                try:
                    claim = self._claim(row)
                except BadRow as error:
                    tally.refused += 1
                    refuse(RefusedRow(row.where, str(error)))
                    continue
                place = claim.published_on, claim.source
                page = pages.setdefault(place, _Page(*place))
                page.rows.append((row.text, claim))
                waiting += 1
                if len(page.rows) >= ROWS or waiting >= _WAITING:
                    ready = [place] if waiting < _WAITING else sorted(pages)
                    for full in map(pages.pop, ready):
                        waiting -= len(full.rows)
                        yield full
        except DocumentError as error:  # write the earlier rows first
            fault = error
        yield from map(pages.__getitem__, sorted(pages))
        if fault:
            raise fault

    def _claim(self, row: SourceRow) -> ImportedClaim:
        if isinstance(row.fields, str):
            raise BadRow(row.fields)
        return self.reader.read(row.fields)


@dataclass(slots=True)
class _Page:
    """Rows of one day and source, with their lines."""

    published_on: date
    source: str
    rows: list[tuple[str, ImportedClaim]] = field(default_factory=list)

    def reading(self, name: str, recorded_at: datetime) -> Reading:
        """Return the rows as a document of the file `name`."""
        text = "\n".join(line for line, _ in self.rows)
        head = "\n".join((name, self.source, str(self.published_on), ""))
        document = Document(
            id=document_id(f"{head}{text}".encode()),
            title=f"{self.source or name} {self.published_on}",
            published_on=self.published_on,
            text=text,
            kind="graph",
            publisher=self.source,
            path=name,
        )
        facts, start = [], 0
        for line, claim in self.rows:
            evidence = Evidence(
                document=document.id,
                start=start,
                end=start + len(line),
                quote=line,
                published_on=self.published_on,
                recorded_at=recorded_at,
                speaker=claim.speaker,
                confidence=claim.confidence,
                extractor=EXTRACTOR,
            )
            facts.append(replace(claim.fact, evidence=(evidence,)))
            start += len(line) + 1
        ends = (end for _, claim in self.rows for end in claim.ends)
        described = {end.id: end for end in ends if end.codes or end.id.partition(":")[2] != end.name}
        return Reading(document, entities=tuple(described.values()), facts=tuple(facts), recorded_at=recorded_at)


def parse_period(text: str) -> Period:
    """Parse 2024, 2024H1, 2024Q3, 2024-09, 2024-09-30, or FIRST/LAST, both inclusive and optional.

    Raises:
        ValueError: when the format is not one of these; an OverflowError, when a day is beyond the calendar.
    """
    first, slash, last = text.partition("/")
    if slash:
        end = date.fromisoformat(last) + timedelta(days=1) if last else None
        return Period(date.fromisoformat(first) if first else None, end)
    found = _PERIOD.fullmatch(text)
    if found is None:
        raise ValueError(text)
    number, halves, quarters, months, days = found.groups()
    if days:
        return day(date.fromisoformat(text))
    if halves:
        return half(int(number), int(halves))
    if quarters:
        return quarter(int(number), int(quarters))
    return month(int(number), int(months)) if months else year(int(number))


def _fact(row: Mapping[str, Any], ends: tuple[str, str, str]) -> Fact:
    number = _parsed(row, "value", _finite)
    return Fact(
        "",
        *ends,
        sign=_parsed(row, "sign", _sign, 0, "1, -1 or 0"),
        polarity=_parsed(row, "polarity", Polarity, Polarity.POSITIVE),
        modality=_parsed(row, "modality", Modality, Modality.ASSERTED),
        valid=_parsed(row, "valid", parse_period, None, _PERIODS),
        value=None if number is None else _value(row, number),
        qualifiers=_qualifiers(row.get("qualifiers")),
    )


def _value(row: Mapping[str, Any], number: float) -> Value:
    unit, scale, change, basis = (_text(row, name) for name in ("unit", "scale", "change", "basis"))
    return Value(number, unit, scale, change, basis, _parsed(row, "high", _finite))


def _parsed(
    row: Mapping[str, Any], name: str, parse: Callable[[Any], Any], default: Any = None, wanted: str = "valid"
) -> Any:
    """Return a field as parsed, or `default` if it is empty."""
    value = row.get(name)
    if value is None or value == "":
        return default
    if isinstance(value, list | dict):
        raise BadRow("a field holds a list or an object; only qualifiers may be nested")
    try:
        return parse(value)
    except (ValueError, TypeError, OverflowError):
        raise BadRow(f"{name} {value!r} is not {wanted}") from None


def _text(row: Mapping[str, Any], name: str) -> str:
    text: str = _parsed(row, name, str, "")
    return text


def _finite(value: Any) -> float:
    number = float(value)
    if not isfinite(number):
        raise ValueError(value)
    return number


def _sign(value: Any) -> int:
    if int(value) not in {-1, 0, 1}:
        raise ValueError(value)
    return int(value)


def _confidence(value: Any) -> float:
    number = float(str(value))
    if not 0 < number <= 1:
        raise ValueError(value)
    return number


def _qualifiers(given: Any) -> tuple[tuple[str, str], ...]:
    if not given:
        return ()
    if isinstance(given, str):  # a CSV cell: product=电池;rank=1
        pairs = [part.partition("=") for part in given.split(";") if part.strip()]
        if not all(equals for _, equals, _ in pairs):
            raise BadRow(f"qualifiers {given!r} are not in the form name=value;name=value")
        return tuple(sorted((name.strip(), value.strip()) for name, _, value in pairs))
    if not isinstance(given, dict):
        raise BadRow("qualifiers must be an object or name=value;name=value")
    return tuple(sorted((str(name), str(value)) for name, value in given.items()))


def _check_ends(relation: Relation, one: Entity, other: Entity) -> None:
    if one.id == other.id:
        raise BadRow(f"subject and object are both {one.id}")
    if not relation.allows(one.kind, other.kind):
        raise BadRow(f"{relation.name} does not allow {one.kind} and {other.kind} as its ends (kg/relations.yaml)")
