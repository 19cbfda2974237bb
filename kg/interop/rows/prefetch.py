"""A process that reads ahead: it parses, checks and hashes rows while the one that started it writes sheets."""

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

_TOGETHER = 10_000  # rows that travel together
_AHEAD = 32  # of such loads that wait to be taken while the writer is at a transaction
Item = RowBatch | RefusedRow


class BatchSource(Protocol):
    """Where sheets come from; it can be sent to another process."""

    def items(self, left_out: LeftOut) -> Iterator[Item]:
        """Yield the sheets and the rows refused, and count what is left out."""


class _Load(NamedTuple):
    """What travels together; `names` are those of its sheets, and travel without the ids sent before."""

    items: list[Item]
    names: Names | None = None
    ids: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _End:
    """The last word of the process that reads."""

    left_out: LeftOut
    fault: tuple[str, str, str] | None = None


def read_ahead(source: BatchSource, left_out: LeftOut, *, name: str) -> Iterator[Item]:
    """Yield what a source has, read by a process of its own; `name` is what the user calls the source.

    Raises:
        DocumentError: what the source raises, once all that came before has been yielded; or when the process was
            ended from outside.
    """
    context = get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_read, args=(source, there), daemon=True)
    process.start()
    there.close()  # so that the end of that process is the end of the pipe
    ids: list[str] = []
    try:
        while True:
            try:
                load: _Load | _End = here.recv()
            except EOFError:
                process.join()
                cause = f"the process that reads it was ended ({process.exitcode})"
                raise DocumentError(name, cause, "run it again: what came before is in the store") from None
            if isinstance(load, _End):
                left_out.counts.update(load.left_out.counts)
                if load.fault:
                    raise DocumentError(*load.fault)
                return
            ids += load.ids
            if load.names:
                load.names.ids = ids
            yield from load.items
    finally:
        here.close()
        process.terminate()
        process.join()


def _read(source: BatchSource, pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who writes ends this process
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    waiting: queue.Queue[_Load | _End | None] = queue.Queue(_AHEAD)
    sender = threading.Thread(target=_send, args=(waiting, pipe))
    sender.start()
    left_out = LeftOut()
    faults: list[tuple[str, str, str]] = []
    end: _End | None = None
    try:
        with no_cycles():
            for load in _loads(_until_fault(source.items(left_out), faults)):
                waiting.put(load)
        end = _End(left_out, faults[0] if faults else None)
    finally:
        waiting.put(end)  # without a last word the pipe just ends: half a file must not pass for a whole one
    sender.join()


def _until_fault(items: Iterator[Item], faults: list[tuple[str, str, str]]) -> Iterator[Item]:
    """Yield items until there are no more or none can be read, and keep the fault for the end."""
    try:
        yield from items
    except DocumentError as error:
        faults.append((error.source, error.cause, error.advice))


def _loads(items: Iterator[Item]) -> Iterator[_Load]:
    """Put items together; what can be worked out of a sheet without the store is worked out here."""
    load: list[Item] = []
    rows = sent = 0
    names: Names | None = None

    def packed() -> _Load:
        nonlocal sent
        ids = names.ids[sent:] if names else []
        if names:
            names.ids[sent:] = [""] * len(ids)  # nobody here asks for them again
        sent += len(ids)
        return _Load(load, names, ids)

    for item in items:
        load.append(item)
        rows += 1
        if isinstance(item, RowBatch):
            rows += len(item.rows)
            names = item.rows.names
            item.work_out()
        if rows >= _TOGETHER:
            yield packed()
            load, rows = [], 0
    if load:
        yield packed()


def _send(waiting: queue.Queue[_Load | _End | None], pipe: Connection) -> None:
    while True:
        load = waiting.get()
        if load is None:
            return
        try:
            pipe.send(load)
        except BrokenPipeError:
            os._exit(1)  # nobody listens any more
        if isinstance(load, _End):
            return


def _leave_with_parent() -> None:
    """End this process when the one that started it is gone; killed, that one cannot say so."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def no_cycles() -> Iterator[None]:
    """Look for no cycles of garbage meanwhile: rows form none, and looking takes a third of the time."""
    looked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked:
            gc.enable()
