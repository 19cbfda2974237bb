"""Ingest files into a store: parallel extraction, one writer, resumable, and unreadable files are skipped."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from extraction.cluster import cluster_map
from extraction.documents.open_file import walk
from extraction.facts.near_duplicates import DuplicateIndex
from extraction.intake import FileChange, Intake
from extraction.pipeline import Extractor
from extraction.reading import LIMITS, FileReader
from extraction.workers import ordered_map
from kg.errors import DocumentError
from kg.settings import Settings, market_day

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date, datetime
    from pathlib import Path

    from kg.model import Document, Reading
    from kg.store.port import Store, Writer


@dataclass(frozen=True, slots=True)
class Job:
    """What to read and how; `recorded_at` is the transaction time of every fact of the run."""

    paths: Sequence[Path]
    recorded_at: datetime
    published_on: date | None = None
    workers: int = 0
    ner: bool = True
    master: Path | None = None
    names: Path | None = None  # the user's own names and synonyms
    edge_model: str = "shipped"
    min_confidence: float = Settings().min_confidence  # facts below it are not stored
    filing_pages: int = Settings().filing_pages  # pages of prose of a filing that are read for relations
    read_seconds: float = Settings().read_seconds  # processor time that opening a file may take
    ray: str = ""  # address of a Ray cluster that reads; empty: processes of this machine


@dataclass(slots=True)
class Outcome:
    """Counts of a run.

    `changed` counts files whose bytes differ from the last run, `removed` the documents removed because of that, and
    `moved` the documents found under another path.
    """

    written: int = 0
    known: int = 0
    changed: int = 0
    removed: int = 0
    moved: int = 0
    facts: int = 0
    characters: int = 0
    seconds: float = 0.0
    refused: list[DocumentError] = field(default_factory=list)
    passed_over: Counter[str] = field(default_factory=Counter)  # files of unknown kinds in folders, by ending


def ingest(store: Store, job: Job, progress: Callable[[str, int, int], None] = lambda *_: None) -> Outcome:
    """Read every file of the job into the store and return the counts.

    Args:
        store: the knowledge base to write.
        job: what to read, and how.
        progress: called with a stage (read), completed files and all files.
    """
    started = time.perf_counter()
    outcome = Outcome()
    files = list(walk(job.paths, outcome.passed_over))
    limits = replace(LIMITS, seconds=job.read_seconds)
    reader = FileReader(market_day(job.recorded_at), job.published_on, limits)
    with closing(reader), store.writer() as writer:
        intake = Intake(store, reader)
        files_done = count(1)
        progress("read", 0, len(files))
        fresh = intake.fresh(files, lambda: progress("read", next(files_done), len(files)))
        index = DuplicateIndex()
        for known, signature in store.signatures():
            index.add(known, signature)
        edits = _Edits(writer, index, intake, outcome)
        for reading in _readings(fresh, job):
            if isinstance(reading, _LostDocument):
                edits.lose(reading)
            else:
                edits.put(reading)
        for change in intake.emptied:
            edits.make(change)
        for identity, path in intake.moved.items():
            edits.move(store.reading(identity), path)
    outcome.known += intake.known
    outcome.refused += intake.refused
    outcome.seconds = time.perf_counter() - started
    return outcome


class _Edits:
    """Writes readings to the store; a changed file's removals and additions go into one transaction."""

    def __init__(self, writer: Writer, index: DuplicateIndex, intake: Intake, outcome: Outcome) -> None:
        self._writer, self._index, self._intake, self._outcome = writer, index, intake, outcome

    def put(self, reading: Reading) -> None:
        change = self._intake.changes.get(reading.document.id)
        if change is None:
            change = FileChange([], 1)
        change.readings.append(reading)
        if change.ready:
            self.make(change)

    def lose(self, lost: _LostDocument) -> None:
        """Report a document, and go on without it; a file of which nothing is left keeps what it was."""
        self._outcome.refused.append(lost.error)
        change = self._intake.changes.get(lost.id)
        if change is None:
            return
        change.expected -= 1
        if change.ready and change.readings:
            self.make(change)

    def make(self, change: FileChange) -> None:
        """Apply a change in one transaction."""
        # A document that another file has lost and this one contains is rewritten under this file's path.
        affected = (*change.outdated, *(reading.document.id for reading in change.readings))
        outgoing = [identity for identity in affected if identity in self._intake.outgoing]
        with self._writer.together():
            for identity in outgoing:
                self._outcome.removed += self._writer.remove(identity)
                self._index.remove(identity)
            for reading in change.readings:
                self._write(reading)
        self._intake.outgoing.difference_update(outgoing)
        self._outcome.changed += bool(change.outdated)

    def move(self, reading: Reading | None, path: str) -> None:
        """Change the path of a stored document."""
        if reading is None:
            return
        self._index.remove(reading.document.id)
        copies = tuple(self._index.copies(reading.document.signature))
        moved = replace(reading, document=replace(reading.document, path=path), copies=copies)
        with self._writer.together():
            self._writer.remove(reading.document.id)
            self._writer.write(moved)
        self._index.add(reading.document.id, reading.document.signature)
        self._outcome.moved += 1

    def _write(self, reading: Reading) -> None:
        copies = tuple(self._index.copies(reading.document.signature))
        if self._writer.write(replace(reading, copies=copies)):
            self._index.add(reading.document.id, reading.document.signature)
            self._outcome.written += 1
            self._outcome.facts += len(reading.facts)
            self._outcome.characters += len(reading.document.text)
        else:
            self._outcome.known += 1


def _readings(documents: Iterator[Document], job: Job) -> Iterator[Reading | _LostDocument]:
    build = partial(_extractor, job)
    if job.ray:
        return cluster_map(documents, build, _lost, address=job.ray, workers=job.workers)
    return ordered_map(documents, build, _lost, workers=job.workers)


@dataclass(frozen=True, slots=True)
class _LostDocument:
    """A document that could not be extracted."""

    id: str
    error: DocumentError


def _lost(document: Document, cause: str) -> _LostDocument:
    return _LostDocument(document.id, DocumentError(document.path, cause, "split it into shorter documents"))


def _extractor(job: Job) -> Callable[[Document], Reading | _LostDocument]:
    """Return the function that extracts one document; called once per process."""
    extractor = Extractor.default(
        master=job.master,
        ner=job.ner,
        edge_model=job.edge_model,
        names=job.names,
        min_confidence=job.min_confidence,
        filing_pages=job.filing_pages,
    )
    return partial(extractor.extract, recorded_at=job.recorded_at)
