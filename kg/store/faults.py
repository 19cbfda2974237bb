"""What SQLite says went wrong, as one clear line of ours."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kg.errors import StoreLocked, StoreUnusable

if TYPE_CHECKING:
    from collections.abc import Iterator
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
