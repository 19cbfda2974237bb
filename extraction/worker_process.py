"""A worker process with limits on memory and time; when it dies, only the item that it was working on is lost."""

from __future__ import annotations

import gc
import os
import queue
import resource
import signal
import threading
import time
import traceback
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from threadpoolctl import threadpool_limits

from kg.errors import KgError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
Result = TypeVar("Result")

MEGABYTE = 1 << 20
_MAX_FAILED_STARTS = 3
_START_SECONDS = 60.0
_SHARE = 0.5  # of the processor time, after which an item that can end by itself keeps what it has
# What parsers raise on damaged input that nobody has thought of; it costs one item, like a crash in a C library.
_FAULTS = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
_STATM = Path("/proc/self/statm")
# Workers are forked from a server process that has imported the readers and has no threads, which takes milliseconds.
_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload([f"{__package__}.documents.open_file"])


class WorkerFailed(KgError):
    """Worker processes that end before they are ready."""

    def __init__(self, cause: str) -> None:
        template = (
            "worker processes cannot start: {cause}; free some memory or set --workers to a lower number; "
            "a Python script has to call ingest under `if __name__ == '__main__':`"
        )
        super().__init__(template, cause=cause)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one item may cost.

    Attributes:
        memory: bytes of address space beyond those of an idle worker.
        seconds: processor time until the next result, so that a busy machine refuses nothing.
        waiting: wall time until the next result, for a process that sleeps.
    """

    memory: int
    seconds: float
    waiting: float = 7200.0


@dataclass(frozen=True, slots=True)
class Lost:
    """The result of an item that exceeded a limit or ended its worker."""

    cause: str


@dataclass(frozen=True, slots=True)
class Progress:
    """Results of a worker's current item, and whether there are no more."""

    results: tuple[Any, ...] = ()
    finished: bool = False


@dataclass(frozen=True, slots=True)
class _End:
    """The end of an item's results; `retiring` if the worker ends too, to give its memory back."""

    retiring: bool = False


@dataclass(frozen=True, slots=True)
class _Ready:
    """A worker has built its function."""


@dataclass(frozen=True, slots=True)
class _Advanced:
    """The current item takes long and advances."""


@dataclass(frozen=True, slots=True)
class _Raised:
    """An exception that is not a matter of limits."""

    error: Exception


class Worker(Generic[Item, Result]):
    """One replaceable process that maps items to streams of results, in order."""

    def __init__(self, build: Callable[[], Callable[[Item], Iterable[Result]]], limits: Limits) -> None:
        self._build, self._limits = build, limits
        self._process: Any = None
        self._is_ready = False
        self._failed_starts = 0
        self._since, self._spent = 0.0, 0.0  # wall and processor time at the last result
        self.connection: Connection | None = None
        self.items: deque[Item] = deque()  # sent and unfinished, the current one first
        self._seconds: deque[float] = deque()  # that each may take until its next result

    def send(self, item: Item, more_seconds: float = 0.0) -> None:
        """Give the worker an item; it starts on it when it has finished those before.

        Args:
            item: anything that can be pickled.
            more_seconds: what a long item may take beyond the limit of any.
        """
        if self.connection is None:
            self._start()
        if not self.items:
            self._restart_clocks()
        self.items.append(item)
        self._seconds.append(self._limits.seconds + more_seconds)
        self._transmit(item)

    def remaining(self) -> float:
        """Return the seconds after which the current item may be overdue; the start of the process does not count."""
        if not self.items or not self._is_ready:
            return _START_SECONDS
        waited = time.monotonic() - self._since
        spent = _processor_time(self._process.pid)
        spent = waited if spent is None else spent - self._spent
        return min(self._seconds[0] - spent, self._limits.waiting - waited)

    def receive(self) -> Progress:
        """Return the next result of the current item, or its end; call it when the connection has a message.

        Raises:
            WorkerFailed: when processes end before they are ready.
            Exception: whatever the function raised.
        """
        assert self.connection is not None
        try:
            message = self.connection.recv()
        except (EOFError, ConnectionResetError):
            return self._died()
        self._restart_clocks()
        if isinstance(message, _Ready):
            self._is_ready, self._failed_starts = True, 0
        elif isinstance(message, _Raised):
            raise message.error
        elif isinstance(message, _End):
            self._drop_first()
            if message.retiring:
                self._restart()
            return Progress(finished=True)
        elif not isinstance(message, _Advanced):
            return Progress((message,))
        return Progress()

    def overdue(self) -> Progress:
        """Replace the process because the current item takes too long."""
        if time.monotonic() - self._since >= self._limits.waiting:
            return self._lose(f"gives no result within {self._limits.waiting:g} s")
        return self._lose(f"takes more than {self._seconds[0]:g} s of processor time")

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def clear(self) -> None:
        """End the process and forget its items."""
        self.items.clear()
        self._seconds.clear()
        self.stop()

    def _start(self) -> None:
        self.connection, other = _CONTEXT.Pipe()
        process = _CONTEXT.Process(target=_serve, args=(other, self._build, self._limits), daemon=True)
        process.start()  # fails in a worker that imports the script which started it
        self._process = process
        other.close()
        self._is_ready = False

    def _transmit(self, item: Item) -> None:
        assert self.connection is not None
        with suppress(BrokenPipeError, ConnectionResetError):  # it has just died, which `receive` will notice
            self.connection.send(item)

    def _died(self) -> Progress:
        self._process.join()
        code = self._process.exitcode
        cause = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        if self._is_ready:
            limit = self._limits.memory // MEGABYTE
            return self._lose(f"its worker process ended with {cause} (memory limit {limit} MB)")
        self._failed_starts += 1
        if self._failed_starts == _MAX_FAILED_STARTS:
            raise WorkerFailed(cause) from None
        self._restart()
        return Progress()

    def _lose(self, cause: str) -> Progress:
        """Replace the process, which continues with the next item."""
        self._drop_first()
        self._restart()
        return Progress((Lost(cause),), finished=True)

    def _drop_first(self) -> None:
        self.items.popleft()
        self._seconds.popleft()

    def _restart(self) -> None:
        self.stop()
        if self.items:
            self._start()
            self._restart_clocks()
            for item in self.items:
                self._transmit(item)

    def _restart_clocks(self) -> None:
        self._since = time.monotonic()
        self._spent = _processor_time(self._process.pid) or 0.0


def built(build: Callable[[], Result]) -> Result:
    """Build an object that lives as long as the process, and exclude it from garbage collection."""
    made = build()
    gc.collect()
    gc.freeze()
    return made


_serving: list[Connection] = []  # the connection of this process if it is a worker
_allowed: list[
    float
] = []  # processor seconds of an item, and the reading of the clock at which it should end by itself


def report_progress() -> None:
    """Restart the time limit of a long item that advances; do nothing outside a worker."""
    for connection in _serving:
        connection.send(_Advanced())
        _restart_time(_allowed[0])


def is_out_of_time() -> bool:
    """Return whether the current item has used half of its processor time; never outside a worker."""
    return bool(_serving) and time.process_time() >= _allowed[1]


def _restart_time(seconds: float) -> None:
    _allowed[:] = [seconds, time.process_time() + _SHARE * seconds]


def allow_memory(more: int) -> None:
    """Raise the memory limit of the current item; nothing outside a worker."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if _serving and soft != resource.RLIM_INFINITY:
        _limit_memory(soft + more)


def _serve(connection: Connection, build: Callable[[], Callable[[Item], Iterable[Result]]], limits: Limits) -> None:
    """Work in the process until the parent closes its end or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt ends
    threadpool_limits(1)  # there is one process per processor already; BLAS threads would only compete
    inbox: queue.SimpleQueue[Item] = queue.SimpleQueue()
    try:
        work = built(build)
    except KgError as error:
        connection.send(_Raised(error))
        return
    except Exception as error:
        connection.send(_Raised(error))
        raise
    threading.Thread(target=_receive, args=(connection, inbox), daemon=True).start()
    connection.send(_Ready())
    _serving.append(connection)
    idle = _address_space()
    while True:
        item = inbox.get()
        _limit_memory(idle + limits.memory)
        _restart_time(limits.seconds)
        try:
            for result in work(item):
                connection.send(result)
        except MemoryError:
            _out_of_memory(connection, limits.memory)
            return
        except _FAULTS as error:
            if "bad_alloc" in str(error):
                _out_of_memory(connection, limits.memory)
                return
            connection.send(Lost(f"fails in {_place(error)} ({type(error).__name__}: {error})"[:300]))
        except Exception as error:
            connection.send(_Raised(error))
            raise
        retiring = _address_space() > idle + limits.memory // 2
        connection.send(_End(retiring))


def _receive(connection: Connection, inbox: queue.SimpleQueue[Any]) -> None:
    """Take items off the pipe while the worker is busy, so that the parent never waits; exit with the parent."""
    while True:
        try:
            inbox.put(connection.recv())
        except (EOFError, OSError):
            os._exit(1)


def _place(error: BaseException) -> str:
    """Return the innermost frame of an error."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}"


def _out_of_memory(connection: Connection, limit: int) -> None:
    _limit_memory(resource.RLIM_INFINITY)
    connection.send(Lost(f"needs more than {limit // MEGABYTE} MB of memory"))
    connection.send(_End(retiring=True))


def _processor_time(process: int) -> float | None:
    """Return the seconds that a process has computed, None where the system does not report it or it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _address_space() -> int:
    """Return the bytes of address space of this process, 0 where the system does not report it."""
    try:
        return int(_STATM.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _limit_memory(limit: int) -> None:
    """Limit the address space, within the limit of the system; do nothing where its size is unknown."""
    if not _STATM.exists():
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY and (limit == resource.RLIM_INFINITY or limit > hard):
        limit = hard
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
