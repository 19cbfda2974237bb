"""Prefetch in a child process, which parses, checks and hashes rows while the parent writes sheets."""

from __future__ import annotations

import gc
import os
import queue
import signal
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kg.errors import DocumentError
from kg.interop.rows.files import LeftOut
from kg.interop.rows.sheets import RefusedRow
from kg.store.bulk.row_batch import RowBatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection

    from kg.store.bulk.row_batch import Names

_BATCH_ROWS = 10_000  # rows per batch
_MAX_QUEUED = 32  # batches that may queue while the writer is in a transaction
Item = RowBatch | RefusedRow


class BatchSource(Protocol):
    """A picklable source of sheets."""

    def items(self, left_out: LeftOut) -> Iterator[Item]:
        """Yield sheets and refused rows; count unmapped relations in `left_out`."""


class _Batch(NamedTuple):
    """One batch; `names` belong to its sheets and are sent without the ids that were sent before."""

    items: list[Item]
    names: Names | None = None
    ids: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _End:
    """The final message of the child process."""

    left_out: LeftOut
    fault: tuple[str, str, str] | None = None


def read_ahead(source: BatchSource, left_out: LeftOut, *, name: str) -> Iterator[Item]:
    """Yield the items of a source, read in a child process; `name` identifies the source in errors.

    Raises:
        DocumentError: raised by the source, after all earlier items have been yielded; or when the child was killed.
    """
    context = get_context("spawn")
    receiver, transmitter = context.Pipe(duplex=False)
    process = context.Process(target=_read, args=(source, transmitter), daemon=True)
    process.start()
    transmitter.close()  # so that the pipe ends when the child does
    ids: list[str] = []
    try:
        while True:
            try:
                batch: _Batch | _End = receiver.recv()
            except EOFError:
                process.join()
                cause = f"the reading process was killed ({process.exitcode})"
                raise DocumentError(name, cause, "run the import again; earlier rows are stored") from None
            if isinstance(batch, _End):
                left_out.counts.update(batch.left_out.counts)
                if batch.fault:
                    raise DocumentError(*batch.fault)
                return
            ids += batch.ids
            if batch.names:
                batch.names.ids = ids
            yield from batch.items
    finally:
        receiver.close()
        process.terminate()
        process.join()


def _read(source: BatchSource, pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent terminates this process
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    outbox: queue.Queue[_Batch | _End | None] = queue.Queue(_MAX_QUEUED)
    sender = threading.Thread(target=_send, args=(outbox, pipe))
    sender.start()
    left_out = LeftOut()
    faults: list[tuple[str, str, str]] = []
    end: _End | None = None
    try:
        with no_cycles():
            for batch in _batches(_until_fault(source.items(left_out), faults)):
                outbox.put(batch)
        end = _End(left_out, faults[0] if faults else None)
    finally:
        outbox.put(end)  # None ends the pipe without an _End, so that the parent detects a partial file
    sender.join()


def _until_fault(items: Iterator[Item], faults: list[tuple[str, str, str]]) -> Iterator[Item]:
    """Yield items until the end or a DocumentError, which is added to `faults`."""
    try:
        yield from items
    except DocumentError as error:
        faults.append((error.source, error.cause, error.advice))


def _batches(items: Iterator[Item]) -> Iterator[_Batch]:
    """Group items into batches, with everything precomputed that does not need the store."""
    batch: list[Item] = []
    rows = sent = 0
    names: Names | None = None

    def flush() -> _Batch:
        nonlocal sent
        ids = names.ids[sent:] if names else []
        if names:
            names.ids[sent:] = [""] * len(ids)  # no longer needed in this process
        sent += len(ids)
        return _Batch(batch, names, ids)

    for item in items:
        batch.append(item)
        rows += 1
        if isinstance(item, RowBatch):
            rows += len(item.rows)
            names = item.rows.names
            item.work_out()
        if rows >= _BATCH_ROWS:
            yield flush()
            batch, rows = [], 0
    if batch:
        yield flush()


def _send(outbox: queue.Queue[_Batch | _End | None], pipe: Connection) -> None:
    while True:
        batch = outbox.get()
        if batch is None:
            return
        try:
            pipe.send(batch)
        except BrokenPipeError:
            os._exit(1)  # the parent has closed the pipe
        if isinstance(batch, _End):
            return


def _exit_with_parent() -> None:
    """Exit when the parent has ended; a killed parent cannot terminate its child."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def no_cycles() -> Iterator[None]:
    """Disable the cyclic garbage collector: rows form no cycles, and it takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
