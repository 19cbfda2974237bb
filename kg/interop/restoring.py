"""A dump back into a store, line by line; what is damaged is said and everything else is kept."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from kg.errors import DocumentError, JudgementRefused
from kg.ids import chunk_id, fact_id
from kg.interop.dumping import FORMAT
from kg.interop.rows.sheets import RefusedRow
from kg.model import Block, BlockKind, Document, Evidence, Problem, Reading, Removed
from kg.store import codec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from kg.model import Chunk, Entity, Fact, Mention, Run
    from kg.store.port import Store, Writer

_FAULTS = (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError)


@dataclass(slots=True)
class Restored:
    """How much a dump brought: documents that were new or known, lines of the end, lines refused."""

    documents: int = 0
    known: int = 0
    judgements: int = 0
    runs: int = 0
    refused: int = 0


@dataclass(slots=True)
class _Open:
    """A document whose lines are being read."""

    where: str
    document: Document
    copies: tuple[str, ...]
    problems: tuple[Problem, ...]
    chunks: list[Chunk] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)


class Restorer:
    """Takes the lines of one dump into one store."""

    def __init__(
        self, store: Store, writer: Writer, *, name: str, recorded_at: datetime, refuse: Callable[[RefusedRow], None]
    ) -> None:
        self._store, self._writer = store, writer
        self._name, self._recorded_at, self._refuse = name, recorded_at, refuse
        self._open: _Open | None = None
        self._end: int | None = None  # lines before the last one, as it tells
        self.done = Restored()

    def take(self, lines: Iterable[tuple[int, str]]) -> Restored:
        """Take numbered lines.

        Raises:
            DocumentError: when the first line is not that of a dump this version knows; when the last one is missing,
                and then the document before it, of which lines may be missing too, is left out.
        """
        numbered = iter(lines)
        whole = self._check_head(next(numbered, (0, ""))) == 1
        count = 0  # lines before the present one
        for number, line in numbered:
            count += 1
            where = f"{self._name}:{number}"
            try:
                self._taken(where, _read(line))
            except _FAULTS as error:
                self._refused(where, f"not a line of a dump ({type(error).__name__}: {error})")
            except JudgementRefused as error:
                self._refused(where, str(error))
        if self._end is None and not whole:
            raise DocumentError(self._name, "ends before its last line", "bring the whole file; what is here stays")
        self._close()
        if self._end not in {None, count}:
            self._refused(self._name, f"{count} lines, where {self._end} were written and the last")
        return self.done

    def _check_head(self, first: tuple[int, str]) -> int:
        """Return the format that the first line tells."""
        try:
            head = _read(first[1])
            found = head["format"] if head["type"] == "base" else None
        except _FAULTS:
            found = None
        if not isinstance(found, int) or not 1 <= found <= FORMAT:
            cause = "not a dump" if found is None else f"a dump of format {found}, this version reads {FORMAT}"
            raise DocumentError(self._name, cause, "make one with `liantu dump`, or name the layout with --format")
        return found

    def _taken(self, where: str, record: dict[str, Any]) -> None:
        kind = record["type"]
        if kind == "document":
            self._close()
            self._open = _document(where, record)
        elif kind == "judgement":
            self._close()
            self.done.judgements += self._writer.judge(codec.judgement_in(record["id"], _text(record))) is not None
        elif kind == "run":
            self._close()
            run = codec.run_in(_text(record))
            _string(run.id)
            self.done.runs += self._published(run)
        elif kind == "end":
            self._close()
            self._end = int(record["lines"])
        elif self._open is None:
            raise ValueError(f"a {kind} without its document")
        else:
            _add(self._open, record, self._recorded_at)

    def _close(self) -> None:
        """Write the document whose lines have ended."""
        whole, self._open = self._open, None
        if whole is None:
            return
        reading = Reading(
            document=whole.document,
            chunks=tuple(whole.chunks),
            mentions=tuple(whole.mentions),
            entities=tuple(whole.entities),
            facts=tuple(whole.facts),
            problems=whole.problems,
            copies=whole.copies,
            recorded_at=self._recorded_at,
        )
        try:
            new = self._writer.write(reading)
        except ValueError as error:
            self._refused(whole.where, str(error))
            return
        self.done.documents += new
        self.done.known += not new

    def _published(self, run: Run) -> bool:
        """Publish a weekly run, unless it is the one that is seen of its day: that keeps its instant."""
        seen = self._store.view(as_of=run.as_of).run()
        new = seen is None or replace(seen, recorded_at=None) != run
        if new:
            self._writer.publish(replace(run, recorded_at=self._recorded_at))
        return new

    def _refused(self, where: str, why: str) -> None:
        self.done.refused += 1
        self._refuse(RefusedRow(where, why))


def restore(store: Store, lines: Iterator[tuple[int, str]], **about: Any) -> Restored:
    """Take a dump into a store; documents that are there already stay as they are."""
    with store.writer() as writer:
        return Restorer(store, writer, **about).take(lines)


def _read(line: str) -> Any:
    """Read a line of JSON; NaN and Infinity, which Python knows and JSON does not, are refused."""
    return json.loads(line, parse_constant=_no_number)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _text(record: dict[str, Any]) -> str:
    return codec.dump(record["record"])


def _document(where: str, record: dict[str, Any]) -> _Open:
    document = Document(
        id=_string(record["id"]),
        title=_string(record["title"]),
        published_on=date.fromisoformat(record["published_on"]),
        text=_string(record["text"]),
        kind=_string(record["kind"]),
        publisher=_string(record["publisher"]),
        authors=tuple(map(_string, record["authors"])),
        url=_string(record["url"]),
        language=_string(record["language"]),
        codes=tuple(map(_string, record["codes"])),
        tags=tuple(map(_string, record["tags"])),
        path=_string(record["path"]),
        pages=tuple(map(int, record["pages"])),
        blocks=tuple(
            Block(int(start), int(end), BlockKind(kind), int(level), _string(html))
            for start, end, kind, level, html in record["blocks"]
        ),
        removed=tuple(Removed(int(start), int(end), reason) for start, end, reason in record["removed"]),
        signature=bytes.fromhex(record["signature"]),
    )
    problems = tuple(Problem(*problem) for problem in record["problems"])
    return _Open(where, document, tuple(map(_string, record["copies"])), problems)


def _add(whole: _Open, record: dict[str, Any], recorded_at: datetime) -> None:
    document = whole.document
    match record["type"]:
        case "chunk":
            chunk = codec.chunk_in(_string(record["id"]), document.id, _text(record))
            _check(chunk.id == chunk_id(document.id, chunk.start, chunk.end), "its id is not that of its place")
            _check(chunk.text == document.text[chunk.start : chunk.end], "its text does not stand there")
            whole.chunks.append(chunk)
        case "mention":
            mention = codec.mention_in(_text(record))
            _check(mention.text == document.text[mention.start : mention.end], "its text does not stand there")
            whole.mentions.append(mention)
        case "entity":
            said = [record[name] for name in ("kind", "name", "aliases", "codes", "about")]
            whole.entities.append(codec.entity_in(_string(record["id"]), codec.dump(said)))
        case "fact":
            whole.facts.append(_fact(document, record, recorded_at))
        case kind:
            raise ValueError(f"no line is called {kind!r}")


def _fact(document: Document, record: dict[str, Any], recorded_at: datetime) -> Fact:
    ends = _string(record["subject"]), _string(record["relation"]), _string(record["object"])
    evidence = []
    for start, end, speaker, confidence, extractor in record["evidence"]:
        _check(0 <= start < end <= len(document.text), f"{start} … {end} is outside the text")
        _check(0 < confidence <= 1, f"confidence {confidence} is not above 0 and at most 1")
        evidence.append(
            Evidence(
                document=document.id,
                start=start,
                end=end,
                quote=document.text[start:end],
                published_on=document.published_on,
                recorded_at=recorded_at,
                speaker=_string(speaker),
                confidence=float(confidence),
                extractor=_string(extractor),
            )
        )
    _check(bool(evidence), "no evidence")
    fact = codec.claim_in(_string(record["id"]), ends, codec.dump(record["claim"]), evidence=tuple(evidence))
    _check(fact.id == fact_id(fact), "its id is not that of its claim")
    return fact


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value
