"""SQLite connections to one base: each thread its own, all closed together."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

from kg.errors import StoreUnusable
from kg.store.faults import telling
from kg.store.migrations import migrate, version

if TYPE_CHECKING:
    from pathlib import Path

BUSY_SECONDS = 10.0


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

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._guard:
            for connection in self._all:
                connection.close()
            self._all.clear()
        self._own = threading.local()


def connect(path: Path, *, create: bool = False) -> sqlite3.Connection:
    """Open a base and see that it is one.

    Raises:
        StoreUnusable: when it is not, or cannot be opened.
        StoreTooNew: when a later version wrote it.
    """
    uri = f"file:{quote(str(path))}?mode={'rwc' if create else 'rw'}"
    with telling(path):
        connection = sqlite3.connect(
            uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        try:
            _prepare(connection, path, create=create)
        except BaseException:
            connection.close()
            raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, *, create: bool) -> None:
    found = version(connection, path)  # first of all: another program's database is not touched
    connection.execute("PRAGMA foreign_keys = ON")
    if create:
        connection.execute("PRAGMA journal_mode = WAL")
    # In WAL a power cut may lose the last commits but never tears one or damages the file; NORMAL therefore only
    # costs the last documents of an ingest that is resumed anyway, and saves one fsync per document.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -65536")
    connection.execute("PRAGMA wal_autocheckpoint = 8192")  # 32 MB: fewer waits for the disk during an ingest
    if create:
        migrate(connection, path)
    elif found == 0:
        raise StoreUnusable(path, "an empty file, not a knowledge base")
