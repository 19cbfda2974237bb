"""A folder of files into a store: extraction in parallel, writing by one, resumable, nothing lost on a bad file."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from extraction.duplicates import DuplicateIndex
from extraction.pipeline import Extractor
from extraction.pool import ordered_map
from extraction.readers.dispatch import read_file, walk
from kg.errors import DocumentError
from kg.ids import document_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import date, datetime
    from pathlib import Path

    from kg.model import Document, Reading
    from kg.store.port import Store, Writer


@dataclass(frozen=True, slots=True)
class Job:
    """What to read and how; `recorded_at` is the moment that every fact of this run is stamped with."""

    paths: Sequence[Path]
    recorded_at: datetime
    published_on: date | None = None
    workers: int = 0
    ner: bool = True
    master: Path | None = None


@dataclass(slots=True)
class Outcome:
    """What a run did."""

    written: int = 0
    known: int = 0
    facts: int = 0
    characters: int = 0
    seconds: float = 0.0
    refused: list[DocumentError] = field(default_factory=list)


def ingest(store: Store, job: Job) -> Outcome:
    """Read every file of the job into the store and say what happened."""
    began = time.perf_counter()
    outcome = Outcome()
    files = list(walk(job.paths))
    with _progress() as progress, store.writer() as writer:
        task = progress.add_task("读入", total=len(files))
        fresh = _fresh(store, files, job, outcome, lambda: progress.advance(task))
        index = DuplicateIndex()
        for known, signature in store.signatures():
            index.add(known, signature)
        for reading in _readings(fresh, job):
            _write(writer, index, reading, outcome)
    outcome.seconds = time.perf_counter() - began
    return outcome


def _fresh(
    store: Store, files: Iterable[Path], job: Job, outcome: Outcome, advance: Callable[[], None]
) -> Iterator[Document]:
    """Yield the documents that are not in the store yet; count the others."""
    seen: set[str] = set()
    for file in files:
        for item in _documents(store, file, job):
            if isinstance(item, DocumentError):
                outcome.refused.append(item)
            elif isinstance(item, str) or item.id in seen or store.has_document(item.id):
                outcome.known += 1
            else:
                seen.add(item.id)
                yield item
        advance()


def _documents(store: Store, file: Path, job: Job) -> Iterable[Document | DocumentError | str]:
    """Read a file, or, when its bytes are in the store already, only say which document it is."""
    if file.suffix.lower() != ".jsonl" and file.is_file():
        known = document_id(file.read_bytes())
        if store.has_document(known):
            return [known]
    return read_file(file, today=job.recorded_at.date(), published_on=job.published_on)


def _write(writer: Writer, index: DuplicateIndex, reading: Reading, outcome: Outcome) -> None:
    copies = tuple(index.copies(reading.document.signature))
    if writer.write(replace(reading, copies=copies)):
        index.add(reading.document.id, reading.document.signature)
        outcome.written += 1
        outcome.facts += len(reading.facts)
        outcome.characters += len(reading.document.text)
    else:
        outcome.known += 1


def _readings(documents: Iterator[Document], job: Job) -> Iterator[Reading]:
    return ordered_map(documents, partial(_reader, job), workers=job.workers)


def _reader(job: Job) -> Callable[[Document], Reading]:
    """Make the function that reads a document, once in each process."""
    return partial(Extractor.default(master=job.master, ner=job.ner).extract, recorded_at=job.recorded_at)


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True))
