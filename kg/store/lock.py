"""One writer at a time, across processes: `flock` on a file beside the base, freed by the system when a writer dies.

The base itself cannot carry the lock: closing any second descriptor of it would drop SQLite's own POSIX locks
(https://sqlite.org/howtocorrupt.html, 2.2).
"""

from __future__ import annotations

import fcntl
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kg.errors import StoreLocked, StoreUnusable

if TYPE_CHECKING:
    from collections.abc import Iterator


_LONGEST_NOTE = 200  # bytes


@contextmanager
def writing(base: Path) -> Iterator[None]:
    """Hold the writer's lock of a base, by whatever link it was reached.

    Raises:
        StoreLocked: when another writer holds it.
        StoreUnusable: when the lock cannot be made, as in a read-only folder.
    """
    path = Path(f"{os.path.realpath(base)}-lock")
    descriptor = _acquire(path, base)
    try:
        yield
    finally:
        # While still held: whoever opened the old file meanwhile will see that it has gone, and start anew.
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _acquire(path: Path, base: Path) -> int:
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreUnusable(base, f"no writer's lock can be made beside it ({error.strerror})") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(descriptor, _LONGEST_NOTE, 0).decode("utf-8", "replace")
            os.close(descriptor)
            raise StoreLocked(base, holder) from error
        if _is_at(descriptor, path):
            _sign(descriptor)
            return descriptor
        os.close(descriptor)


def _sign(descriptor: int) -> None:
    """Write down who holds the lock for whoever comes second; a full disk must not keep the first from working."""
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]])
    note = f"process {os.getpid()} ({' '.join(command.split())})".encode("utf-8", "replace")[:_LONGEST_NOTE]
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, note, 0)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the locked file is still the one under that name: its last holder may have taken the name away."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
