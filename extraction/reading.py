"""Read files in a process of its own, so that a hostile one costs a line of the report and not the run."""

from __future__ import annotations

from functools import partial
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from extraction.documents.open_file import MORE_TIME, check, read_file
from extraction.worker_process import MEGABYTE, Limits, Lost, Worker
from kg.errors import DocumentError
from kg.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import date
    from pathlib import Path

    from kg.model import Document

LIMITS = Limits(memory=384 * MEGABYTE, seconds=Settings().read_seconds)  # docs/robustness.md
_ADVICE = "split it, or export it again as text"


class FileReader:
    """Reads one file after the other in one process, which is replaced when a file has ended it."""

    def __init__(self, today: date, published_on: date | None = None, limits: Limits = LIMITS) -> None:
        self._worker: Worker[Path, Document | DocumentError] = Worker(partial(_build, today, published_on), limits)

    def read(self, file: Path) -> Iterator[Document | DocumentError]:
        """Yield the documents of a file and its errors; an error whose source is the file means that some are missing.

        Raises:
            WorkerFailed: when the process cannot be started.
        """
        try:
            check(file)  # spares a process for what needs none
        except DocumentError as fault:
            yield fault
            return
        worker = self._worker
        worker.send(file)
        finished = False
        try:
            while not finished:
                ready = wait([worker.connection], timeout=max(0.0, worker.remaining()))  # type: ignore[list-item]
                if not ready and worker.remaining() > 0:
                    continue
                progress = worker.receive() if ready else worker.overdue()
                finished = progress.finished
                for item in progress.results:
                    yield _refusal(file, item) if isinstance(item, Lost) else item
        finally:
            if not finished:
                self.close()

    def close(self) -> None:
        """End the process; reading starts another."""
        self._worker.clear()


def _build(today: date, published_on: date | None) -> Callable[[Path], Iterable[Document | DocumentError]]:
    return partial(read_file, today=today, published_on=published_on)


def _refusal(file: Path, lost: Lost) -> DocumentError:
    return DocumentError(str(file), lost.cause, MORE_TIME if "processor time" in lost.cause else _ADVICE)
