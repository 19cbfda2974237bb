"""Restore a dump into a store line by line; damaged lines are reported and skipped."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Protocol

from kg.errors import DocumentError, JudgementRefused, StoreError
from kg.ids import chunk_id, fact_id
from kg.interop.dumping import FORMAT
from kg.interop.imports.rows import RefusedRow
from kg.model import Block, BlockKind, Document, Evidence, Problem, Reading, Removed
from kg.store import codec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from kg.judgement import Judgement
    from kg.model import Chunk, Entity, Fact, Mention, Run
    from kg.store.port import Store

_FAULTS = (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError)


@dataclass(slots=True)
class Restored:
    """Counts of a restore: new documents, documents already present, judgements, runs and refused lines."""

    documents: int = 0
    known: int = 0
    judgements: int = 0
    runs: int = 0
    refused: int = 0


@dataclass(slots=True)
class _OpenDocument:
    """A document whose lines are being read."""

    where: str
    document: Document
    copies: tuple[str, ...]
    problems: tuple[Problem, ...]
    chunks: list[Chunk] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)


class RestoreTarget(Protocol):
    """The part of a store's writer that a restore uses."""

    def write(self, reading: Reading) -> bool:
        """Write a document, unless it is there."""

    def judge(self, judgement: Judgement) -> Judgement | None:
        """Write a judgement."""

    def publish(self, run: Run) -> None:
        """Write a weekly run."""


class _Discarded:
    """A target that keeps nothing."""

    def write(self, _: Reading) -> bool:
        return True

    def judge(self, judgement: Judgement) -> Judgement | None:
        return judgement

    def publish(self, run: Run) -> None:
        pass


class DumpUnreadable(StoreError):
    """A dump that cannot be restored."""

    def __init__(self, row: RefusedRow) -> None:
        template = "{where}: {why}; nothing was written: the disk or the knowledge base is damaged"
        super().__init__(template, where=row.where, why=row.why)


class Restorer:
    """Restores the lines of one dump into one store."""

    def __init__(
        self,
        store: Store | None,
        writer: RestoreTarget,
        *,
        name: str,
        recorded_at: datetime,
        refuse: Callable[[RefusedRow], None],
    ) -> None:
        self._store, self._writer = store, writer
        self._name, self._recorded_at, self._refuse = name, recorded_at, refuse
        self._open: _OpenDocument | None = None
        self._end: int | None = None  # number of lines according to the end line
        self.done = Restored()

    def take(self, lines: Iterable[tuple[int, str]]) -> Restored:
        """Restore numbered lines.

        Raises:
            DocumentError: when the first line is not a supported dump header; or when the end line is missing, in which
                case the last, possibly incomplete document is not stored.
        """
        numbered = iter(lines)
        has_end_line = self._check_head(next(numbered, (0, ""))) != 1
        count = 0  # lines before the current one
        for number, line in numbered:
            count += 1
            where = f"{self._name}:{number}"
            try:
                self._take_record(where, _read(line))
            except _FAULTS as error:
                self._reject(where, f"not a line of a dump ({type(error).__name__}: {error})")
            except JudgementRefused as error:
                self._reject(where, str(error))
        if self._end is None and has_end_line:
            raise DocumentError(self._name, "truncated: no end line", "use the complete file; restored data is kept")
        self._close()
        if self._end not in {None, count}:
            self._reject(self._name, f"{count} lines before the end line, expected {self._end}")
        return self.done

    def _check_head(self, first: tuple[int, str]) -> int:
        """Return the format stated in the first line."""
        try:
            head = _read(first[1])
            found = head["format"] if head["type"] == "base" else None
        except _FAULTS:
            found = None
        if not isinstance(found, int) or not 1 <= found <= FORMAT:
            cause = "not a dump" if found is None else f"a dump of format {found}, this version reads {FORMAT}"
            raise DocumentError(self._name, cause, "create one with `liantu dump`, or set the layout with --format")
        return found

    def _take_record(self, where: str, record: dict[str, Any]) -> None:
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
            self.done.runs += self._publish(run)
        elif kind == "end":
            self._close()
            self._end = int(record["lines"])
        elif self._open is None:
            raise ValueError(f"{kind} line without a document line")
        else:
            _add(self._open, record, self._recorded_at)

    def _close(self) -> None:
        """Write the current document, whose lines are complete."""
        current, self._open = self._open, None
        if current is None:
            return
        reading = Reading(
            document=current.document,
            chunks=tuple(current.chunks),
            mentions=tuple(current.mentions),
            entities=tuple(current.entities),
            facts=tuple(current.facts),
            problems=current.problems,
            copies=current.copies,
            recorded_at=self._recorded_at,
        )
        try:
            new = self._writer.write(reading)
        except ValueError as error:
            self._reject(current.where, str(error))
            return
        self.done.documents += new
        self.done.known += not new

    def _publish(self, run: Run) -> bool:
        """Publish a weekly run unless the store already has it for that day, with its own recording time."""
        seen = self._store and self._store.view(as_of=run.as_of).run()
        new = not seen or replace(seen, recorded_at=None) != run
        if new:
            self._writer.publish(replace(run, recorded_at=self._recorded_at))
        return new

    def _reject(self, where: str, why: str) -> None:
        self.done.refused += 1
        self._refuse(RefusedRow(where, why))


def restore(store: Store, lines: Iterator[tuple[int, str]], **about: Any) -> Restored:
    """Restore a dump into a store; documents already present are unchanged."""
    with store.writer() as writer:
        return Restorer(store, writer, **about).take(lines)


def read_back(lines: Iterator[tuple[int, str]], *, name: str, recorded_at: datetime) -> None:
    """Check that every line of a dump would be restored.

    Raises:
        DumpUnreadable: naming the first line that would not.
        DocumentError: when it is truncated.
    """

    def refuse(row: RefusedRow) -> None:
        raise DumpUnreadable(row)

    Restorer(None, _Discarded(), name=name, recorded_at=recorded_at, refuse=refuse).take(lines)


def _read(line: str) -> Any:
    """Parse a line of JSON; reject NaN and Infinity, which Python accepts but JSON does not."""
    return json.loads(line, parse_constant=_reject_constant)


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not a valid JSON number")


def _text(record: dict[str, Any]) -> str:
    return codec.dump(record["record"])


def _document(where: str, record: dict[str, Any]) -> _OpenDocument:
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
    return _OpenDocument(where, document, tuple(map(_string, record["copies"])), problems)


def _add(current: _OpenDocument, record: dict[str, Any], recorded_at: datetime) -> None:
    document = current.document
    match record["type"]:
        case "chunk":
            chunk = codec.chunk_in(_string(record["id"]), document.id, _text(record))
            _check(chunk.id == chunk_id(document.id, chunk.start, chunk.end), "id does not match the position")
            _check(chunk.text == document.text[chunk.start : chunk.end], "text does not match the document")
            current.chunks.append(chunk)
        case "mention":
            mention = codec.mention_in(_text(record))
            _check(mention.text == document.text[mention.start : mention.end], "text does not match the document")
            current.mentions.append(mention)
        case "entity":
            fields = [record[name] for name in ("kind", "name", "aliases", "codes", "about")]
            current.entities.append(codec.entity_in(_string(record["id"]), codec.dump(fields)))
        case "fact":
            current.facts.append(_fact(document, record, recorded_at))
        case kind:
            raise ValueError(f"unknown line type {kind!r}")


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
    _check(fact.id == fact_id(fact), "id does not match the claim")
    return fact


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value
