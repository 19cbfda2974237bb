"""Schema versions and the steps between them; SQLite's `user_version` counts the steps that were taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.errors import StoreTooNew, StoreUnusable
from kg.store import schema

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

STEPS = (schema.VERSION_1,)


def version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the number of steps the file has taken.

    Raises:
        StoreTooNew: when a later version of Liantu wrote it.
        StoreUnusable: when it is some other program's database.
    """
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    empty = connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is None
    if application != schema.APPLICATION and not (empty and application == 0 and found == 0):
        raise StoreUnusable(path, "a database, but not a knowledge base of Liantu")
    if found > len(STEPS):
        raise StoreTooNew(path, found, len(STEPS))
    return found


def migrate(connection: sqlite3.Connection, path: Path, steps: tuple[str, ...] = STEPS) -> None:
    """Take the missing steps, each in a transaction of its own, so that a killed migration resumes where it was."""
    for number, step in enumerate(steps[version(connection, path) :], start=version(connection, path) + 1):
        # A PRAGMA takes no parameters; both numbers are ours.
        marks = f"PRAGMA application_id = {schema.APPLICATION}; PRAGMA user_version = {number};"
        connection.executescript(f"BEGIN IMMEDIATE; {step} {marks} COMMIT;")
