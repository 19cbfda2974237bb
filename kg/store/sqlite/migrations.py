"""Schema migrations; SQLite's `user_version` is the number of steps applied."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from kg.errors import StoreTooNew, StoreUnusable
from kg.ids import normal_name
from kg.store import codec
from kg.store.sqlite import journal, schema

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

STEPS = (
    *(schema.VERSION_1, schema.VERSION_2, journal.STEP, schema.VERSION_4),
    *(schema.VERSION_5, schema.VERSION_6, schema.VERSION_7, schema.VERSION_8, schema.VERSION_9),
    *(schema.VERSION_10, schema.VERSION_11),
)


def version(connection: sqlite3.Connection, path: Path, steps: tuple[str, ...] = STEPS) -> int:
    """Return the number of steps applied to the file, 0 for an empty one.

    Raises:
        StoreTooNew: when a later version of Liantu wrote it.
        StoreUnusable: when it is another program's database.
    """
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    empty = connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is None
    if application != schema.APPLICATION and not (empty and application == 0 and found == 0):
        raise StoreUnusable(path, "a database, but not a knowledge base of Liantu")
    if found > len(steps):
        raise StoreTooNew(path, found, len(steps))
    return found


def migrate(connection: sqlite3.Connection, path: Path, steps: tuple[str, ...] = STEPS) -> None:
    """Apply the missing steps, each in its own transaction, so that a killed migration can resume.

    The caller must hold the writer lock (kg/store/lock.py): concurrent migrations would apply a step twice.
    """
    applied = version(connection, path, steps)
    if applied == 0:
        connection.execute("PRAGMA journal_mode = WAL")  # persistent
    connection.create_function("normal_name", 1, normal_name, deterministic=True)
    connection.create_function("paged", 2, lambda head, packed: codec.paged(head, zlib.decompress(packed)))
    for number, step in enumerate(steps[applied:], start=applied + 1):
        # PRAGMA statements take no parameters; both numbers are constants of this program.
        marks = f"PRAGMA application_id = {schema.APPLICATION}; PRAGMA user_version = {number};"
        try:
            connection.executescript(f"BEGIN IMMEDIATE; {step} {marks} COMMIT;")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
