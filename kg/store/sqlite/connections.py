"""SQLite connections to one store: one per thread, or one pinned to a single state."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from kg.errors import StoreLocked, StoreMissing, StoreUnusable
from kg.store.lock import writing
from kg.store.sqlite.schema import STEPS, migrate, version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from kg.errors import StoreError


# By primary result code (https://sqlite.org/rescode.html); extended codes carry it in their low byte.
_CAUSES = {
    sqlite3.SQLITE_NOTADB: "not a knowledge base",
    sqlite3.SQLITE_CORRUPT: "damaged; restore it from a copy or ingest the reports again into a new file",
    sqlite3.SQLITE_FULL: "the disk is full; nothing of the last document was kept",
    sqlite3.SQLITE_READONLY: "the file or its folder is read-only; both must be writable, even for reading",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that the file and its folder exist and are readable and writable",
    sqlite3.SQLITE_PERM: "access is denied",
    sqlite3.SQLITE_IOERR: "the disk failed to read or write; nothing of the last document was kept",
}


def translated(error: sqlite3.Error, path: Path) -> StoreError:
    """Convert a SQLite error to a store error."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return StoreLocked(path)
    return StoreUnusable(path, _CAUSES.get(code, f"SQLite error: {error}"))


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Convert SQLite errors to store errors.

    Raises:
        StoreUnusable: for any error that makes the store unusable.
        StoreLocked: when another process holds it for longer than the timeout.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise translated(error, path) from error


BUSY_SECONDS = 10.0
_SMALLEST_PAGE = 512
_LOG = 8192, 65536  # pages of the write-ahead log, 32 and 256 MB


class Lender(Protocol):
    """Lends connections to a view; all reads within one block see one state of the store."""

    path: Path

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Yield a connection for one call."""

    def streaming(self) -> AbstractContextManager[sqlite3.Connection]:
        """Yield a connection for a stream, during which the caller may make other reads."""


def place_of(path: Path) -> tuple[int, int, int]:
    """Return which files are a base: the device and inode of a path, and the inode of the index of its log.

    The file is not opened (kg/store/lock.py explains why).

    Raises:
        StoreMissing: when there is none.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise StoreMissing(path) from None
    except OSError as error:
        raise StoreUnusable(path, f"cannot be reached ({error.strerror})") from error
    try:
        index = _log_index(path).stat().st_ino
    except OSError:  # none, or the last connection of another process removes it just now
        index = 0
    return found.st_dev, found.st_ino, index


def _log_index(path: Path) -> Path:
    target = Path(os.path.realpath(path))
    return target.with_name(f"{target.name}-shm")


class Connections:
    """Keeps one read connection per thread, because a connection serves one thread at a time.

    `before_read` is called before each read that begins.
    """

    def __init__(self, path: Path, *, before_read: Callable[[], None] | None = None) -> None:
        self.path, self._before_read = path, before_read
        self._own = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._place: tuple[int, int, int] | None = None

    def check_place(self) -> None:
        """Close all connections when other files have taken the place of the base, as a restored copy does.

        SQLite would go on reading the old file, or the copy through the log of the old one.

        Raises:
            StoreMissing: when the file is gone.
        """
        if self._before_read:
            self._before_read()
        place = place_of(self.path)
        with self._guard:
            if self._place not in {None, place}:
                self._close_all()

    def reader(self) -> sqlite3.Connection:
        """Return this thread's connection.

        Raises:
            StoreMissing: when the file is gone.
        """
        self.check_place()
        connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = connect(self.path)
            with self._guard:
                self._own.connection = connection
                self._all.append(connection)
                self._place = self._place or place_of(self.path)
        return connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield this thread's connection, in a transaction."""
        connection = self.reader()
        with telling(self.path), one_state(connection):
            yield connection

    @contextmanager
    def streaming(self) -> Iterator[sqlite3.Connection]:
        """Yield a new connection, in a transaction that lasts as long as the stream."""
        self.check_place()
        with closing(connect(self.path)) as connection, telling(self.path), one_state(connection):
            yield connection

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._guard:
            self._close_all()

    def _close_all(self) -> None:
        for connection in self._all:
            connection.close()
        self._all.clear()
        self._own, self._place = threading.local(), None


class PinnedConnection:
    """One connection in one transaction: every call reads the same state, despite concurrent writes."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection."""
        with telling(self.path):
            yield self._connection

    streaming = reading


@contextmanager
def one_state(connection: sqlite3.Connection) -> Iterator[None]:
    """Read one state of the store: commits after the first statement are not visible."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def make_ready(path: Path, *, create: bool) -> None:
    """Create the database if needed and migrate it to the current schema.

    Raises:
        StoreUnusable: when the file is not a knowledge base, or is empty and `create` is false.
        StoreTooNew: when a later version wrote it.
        StoreLocked: when it needs a migration while another process writes.
    """
    with telling(path):
        if create and not path.exists() and path.parent.is_dir():
            _create(path)
        connection = connect(path)
    with telling(path), closing(connection):
        applied = version(connection, path)
        if applied == 0 and not create:
            raise StoreUnusable(path, "an empty file, not a knowledge base")
        if applied < len(STEPS):
            with writing(path):
                migrate(connection, path)


def _create(path: Path) -> None:
    """Create a knowledge base under another name and rename it, so that no reader opens an unfinished one."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.new")
    with writing(path):
        if target.exists():  # another process was faster
            return
        for suffix in ("", "-wal", "-shm"):  # left by a killed process
            Path(f"{temporary}{suffix}").unlink(missing_ok=True)
        with closing(connect(temporary, create=True)) as connection:
            migrate(connection, temporary)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # fails on a full disk; closing would not say so
        temporary.replace(target)


def connect(path: Path, *, create: bool = False) -> sqlite3.Connection:
    """Open a file that is a knowledge base or empty.

    Raises:
        StoreUnusable: when it is neither, or cannot be opened.
        StoreTooNew: when a later version wrote it.
    """
    # SQLite treats a file of a few bytes as an empty database and overwrites it. Check the size without opening the
    # file: closing our own descriptor would drop SQLite's locks (see kg/store/lock.py).
    if path.exists() and 0 < path.stat().st_size < _SMALLEST_PAGE:
        raise StoreUnusable(path, "not a knowledge base")
    uri = f"file:{quote(str(path))}?mode={'rwc' if create else 'rw'}"
    with telling(path):
        connection = sqlite3.connect(
            uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        try:
            version(connection, path)  # check first, so that another program's database is not changed
            _refuse_old_log(connection, path)
            _tune(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def _refuse_old_log(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse to read a copy through the log of the base whose place it took, which a connection still holds open."""
    if not _log_index(path).exists() and connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
        raise StoreUnusable(path, "was replaced while it is read; try again")


def _tune(connection: sqlite3.Connection) -> None:
    # Writers use only keys of existing rows and delete only rows without references, and `liantu check` verifies all
    # references. Enforcement would need an index over every referencing column.
    connection.execute("PRAGMA foreign_keys = OFF")
    # In WAL mode a power failure may lose the last commits but never corrupts the file. NORMAL thus risks only the last
    # documents of an ingest, which can be resumed, and saves one fsync per document.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -65536")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG[0]}")


def keep_few_pages(connection: sqlite3.Connection) -> None:
    """Limit the page cache to 16 MB, for a connection that commits often.

    Balancing a tree temporarily gives a page the number at offset 1 GB; at the commit SQLite then scans all cached
    pages for those beyond the end of the file (`pcache1TruncateUnsafe`). Other pages come from the system's file cache.
    """
    connection.execute("PRAGMA cache_size = -16384")


def let_log_grow(connection: sqlite3.Connection) -> None:
    """Let the write-ahead log grow to the size of the database, within bounds, before a checkpoint.

    In a large database a document changes scattered pages that soon change again; a longer log checkpoints each less
    often.
    """
    pages = int(connection.execute("PRAGMA page_count").fetchone()[0])
    connection.execute(f"PRAGMA wal_autocheckpoint = {min(max(pages, _LOG[0]), _LOG[1])}")
