"""Allow one writer at a time across processes: `flock` on a separate file, released by the system if a writer dies.

The database file itself cannot be locked: closing a second descriptor of it would drop SQLite's own POSIX locks
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


_MAX_HOLDER_BYTES = 200  # bytes


@contextmanager
def writing(base: Path) -> Iterator[None]:
    """Hold the writer lock of a store; symbolic links to the same file share one lock.

    Raises:
        StoreLocked: when another writer holds it.
        StoreUnusable: when the lock file cannot be created, as in a read-only folder.
    """
    path = Path(f"{os.path.realpath(base)}-lock")
    descriptor = _acquire(path, base)
    try:
        yield
    finally:
        if descriptor in _HELD:  # a forked child does not hold it
            # Unlink while the lock is held: a process that has opened the old file will notice and retry.
            _HELD.discard(descriptor)
            path.unlink(missing_ok=True)
            os.close(descriptor)


def _release_in_child() -> None:
    """Close the locks of the parent: a forked child would hold them as long as it lives."""
    while _HELD:
        os.close(_HELD.pop())


_HELD: set[int] = set()
os.register_at_fork(after_in_child=_release_in_child)


def _acquire(path: Path, base: Path) -> int:
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreUnusable(base, f"cannot create its writer lock file ({error.strerror})") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(descriptor, _MAX_HOLDER_BYTES, 0).decode("utf-8", "replace")
            os.close(descriptor)
            raise StoreLocked(base, holder) from error
        if _is_file_at(descriptor, path):
            _write_holder(descriptor)
            _HELD.add(descriptor)
            return descriptor
        os.close(descriptor)


def _write_holder(descriptor: int) -> None:
    """Record the lock holder for error messages; ignore write errors such as a full disk."""
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]])
    note = f"process {os.getpid()} ({' '.join(command.split())})".encode("utf-8", "replace")[:_MAX_HOLDER_BYTES]
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, note, 0)


def _is_file_at(descriptor: int, path: Path) -> bool:
    """Return whether the locked file is still at `path`: the previous holder may have unlinked it."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
