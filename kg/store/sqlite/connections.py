"""SQLite connections to one base: each thread its own, all closed together; or one that holds one state of the base."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from kg.errors import StoreLocked, StoreUnusable
from kg.store.lock import writing
from kg.store.sqlite.migrations import STEPS, migrate, version

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from kg.errors import StoreError


# By primary result code (https://sqlite.org/rescode.html); extended codes carry it in their low byte.
_CAUSES = {
    sqlite3.SQLITE_NOTADB: "not a knowledge base",
    sqlite3.SQLITE_CORRUPT: "damaged; restore it from a copy or ingest the reports again into a new file",
    sqlite3.SQLITE_FULL: "the disk is full; nothing of the last document was kept",
    sqlite3.SQLITE_READONLY: "the file or its folder is read-only; both must be writable, even to be read",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; are its folder and the file there, and yours to read and write?",
    sqlite3.SQLITE_PERM: "access is denied",
    sqlite3.SQLITE_IOERR: "the disk failed to read or write; nothing of the last document was kept",
}


def translated(error: sqlite3.Error, path: Path) -> StoreError:
    """Return the fault of ours that says what SQLite means."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return StoreLocked(path)
    return StoreUnusable(path, _CAUSES.get(code, f"SQLite refuses: {error}"))


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours.

    Raises:
        StoreUnusable: for anything that stops the base from serving.
        StoreLocked: when another process holds it for longer than the time-out.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise translated(error, path) from error


BUSY_SECONDS = 10.0
_SMALLEST_PAGE = 512
_LOG = 8192, 65536  # pages of the log, 32 and 256 MB


class Lender(Protocol):
    """Where a view reads from; all that is read within one block is one state of the base."""

    path: Path

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Lend a connection for one call."""

    def streaming(self) -> AbstractContextManager[sqlite3.Connection]:
        """Lend a connection for a stream, while whose length the caller asks other things."""


class Connections:
    """Hands every thread the connection it reads with, because a connection serves one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._own = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._guard = threading.Lock()

    def reader(self) -> sqlite3.Connection:
        """Return this thread's connection."""
        connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = connect(self.path)
            self._own.connection = connection
            with self._guard:
                self._all.append(connection)
        return connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend this thread's connection, in a transaction."""
        connection = self.reader()
        with telling(self.path), one_state(connection):
            yield connection

    @contextmanager
    def streaming(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection of its own, in a transaction that lasts as long as the stream."""
        with closing(connect(self.path)) as connection, telling(self.path), one_state(connection):
            yield connection

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._guard:
            for connection in self._all:
                connection.close()
            self._all.clear()
        self._own = threading.local()


class PinnedConnection:
    """One connection in one transaction: whatever is written meanwhile, every call reads the same state."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection."""
        with telling(self.path):
            yield self._connection

    streaming = reading


@contextmanager
def one_state(connection: sqlite3.Connection) -> Iterator[None]:
    """Read one state of the base: what is committed after the first statement is not seen."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def make_ready(path: Path, *, create: bool) -> None:
    """See that a base is there and of this version's schema: make it, or take the steps it misses.

    Raises:
        StoreUnusable: when the file is no base, or empty and none shall be made.
        StoreTooNew: when a later version wrote it.
        StoreLocked: when it needs a step while another process writes.
    """
    with telling(path), closing(connect(path, create=create)) as connection:
        taken = version(connection, path)
        if taken == 0 and not create:
            raise StoreUnusable(path, "an empty file, not a knowledge base")
        if taken < len(STEPS):
            with writing(path):
                migrate(connection, path)


def connect(path: Path, *, create: bool = False) -> sqlite3.Connection:
    """Open a file that is a base, or empty.

    Raises:
        StoreUnusable: when it is neither, or cannot be opened.
        StoreTooNew: when a later version wrote it.
    """
    # SQLite takes a file of a few bytes for an empty database and writes over it. The size is asked for and the file
    # not read: closing a descriptor of ours would drop the locks that SQLite's own hold (see kg/store/lock.py).
    if path.exists() and 0 < path.stat().st_size < _SMALLEST_PAGE:
        raise StoreUnusable(path, "not a knowledge base")
    uri = f"file:{quote(str(path))}?mode={'rwc' if create else 'rw'}"
    with telling(path):
        connection = sqlite3.connect(
            uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        try:
            version(connection, path)  # first of all: another program's database is not touched
            _tune(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def _tune(connection: sqlite3.Connection) -> None:
    # Every key that is written comes from a row just seen, and what is deleted was looked for in the tables that refer
    # to it; `liantu check` goes through all references. Looking each up again would want an index over each.
    connection.execute("PRAGMA foreign_keys = OFF")
    # In WAL a power cut may lose the last commits but never tears one or damages the file; NORMAL therefore only
    # costs the last documents of an ingest that is resumed anyway, and saves one fsync per document.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -65536")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG[0]}")


def keep_few_pages(connection: sqlite3.Connection) -> None:
    """Keep 16 MB of pages in memory, for a connection that commits often.

    Balancing a tree gives a page for a moment the number that lies at 1 GB, and SQLite then goes through all pages in
    memory at the commit, for those beyond the end of the file (`pcache1TruncateUnsafe`). What is not there comes from
    the system's memory.
    """
    connection.execute("PRAGMA cache_size = -16384")


def let_log_grow(connection: sqlite3.Connection) -> None:
    """Let the log have as many pages as the base before it is folded in.

    A document touches pages all over a large base, and the same ones again soon: a longer log folds each in less often.
    """
    pages = int(connection.execute("PRAGMA page_count").fetchone()[0])
    connection.execute(f"PRAGMA wal_autocheckpoint = {min(max(pages, _LOG[0]), _LOG[1])}")
