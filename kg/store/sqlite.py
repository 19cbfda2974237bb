"""The default store: a knowledge base in one SQLite file.

Many processes read while one writes (WAL). Reading goes through kg/store/sqlite_view.py, writing through
kg/store/sqlite_writer.py, the tables stand in kg/store/schema.py.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from kg.relations import vocabulary
from kg.store.connections import Connections, connect, make_ready
from kg.store.faults import telling
from kg.store.lock import writing
from kg.store.prepared import utc
from kg.store.sqlite_search import visible_lengths
from kg.store.sqlite_view import SqliteView
from kg.store.sqlite_writer import SqliteWriter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime
    from pathlib import Path
    from typing import Any

    from kg.relations import Vocabulary
    from kg.store.schema import Sight
    from kg.store.sqlite_search import Lengths

_KEPT_LENGTHS = 4
_COUNTS = {
    "documents": "SELECT count(*) FROM document",
    "chunks": "SELECT count(*) FROM chunk",
    "mentions": "SELECT count(*) FROM mention",
    "entities": "SELECT count(*) FROM entity",
    "facts": "SELECT count(DISTINCT id) FROM fact",
    "evidence": "SELECT count(*) FROM evidence",
    "runs": "SELECT count(*) FROM run",
}


class SqliteStore:
    """A knowledge base in one file."""

    def __init__(self, path: Path, words: Vocabulary | None = None, *, create: bool = False) -> None:
        self._path = path
        self._vocabulary = words or vocabulary()
        self._connections = Connections(path)
        self._lengths: OrderedDict[tuple[Sight, int], Lengths] = OrderedDict()
        self._guard = threading.Lock()
        make_ready(path, create=create)  # a file that cannot serve says so now, not at the first question

    def view(self, *, as_of: date | None = None, known_at: datetime | None = None) -> SqliteView:
        """Return the base as it could have been known."""
        known = utc(known_at) if known_at else None
        return SqliteView(self._connections, self._vocabulary, self._visible_lengths, as_of, known)

    @contextmanager
    def writer(self) -> Iterator[SqliteWriter]:
        """Return the one writer."""
        with writing(self._path), closing(connect(self._path)) as connection:
            yield SqliteWriter(connection, self._path)

    def has_document(self, document_id: str) -> bool:
        """Whether the document was written."""
        return self._value("SELECT key FROM document WHERE id = ?", document_id) is not None

    def document_id_at(self, path: str) -> str | None:
        """Return the latest document that was read from `path`."""
        found = self._value(
            "SELECT id FROM document WHERE path = ? AND path <> '' ORDER BY key >> 21 DESC, id DESC LIMIT 1", path
        )
        return None if found is None else str(found)

    def signatures(self) -> Iterator[tuple[str, bytes]]:
        """Go through (document id, signature)."""
        with telling(self._path):
            rows = self._connections.reader().execute(
                "SELECT id, signature FROM document WHERE signature <> x'' ORDER BY id"
            )
            yield from rows.fetchall()

    def revision(self) -> int:
        """Count the changes."""
        return int(self._value("SELECT revision FROM state"))

    def stats(self) -> dict[str, int]:
        """Count what there is."""
        return {name: int(self._value(statement)) for name, statement in _COUNTS.items()}

    def close(self) -> None:
        """Close the file; the last to close it folds the -wal file into it."""
        self._connections.close()

    def _value(self, statement: str, *parameters: str) -> Any:
        with telling(self._path):
            row = self._connections.reader().execute(statement, parameters).fetchone()
        return None if row is None else row[0]

    def _visible_lengths(self, sight: Sight) -> Lengths:
        """Return the lengths of the passages a view sees, kept while the base does not change."""
        connection = self._connections.reader()
        key = sight, int(connection.execute("SELECT revision FROM state").fetchone()[0])
        with self._guard:
            found = self._lengths.get(key)
            if found is not None:
                self._lengths.move_to_end(key)
                return found
        found = visible_lengths(connection, sight)
        with self._guard:
            self._lengths[key] = found
            while len(self._lengths) > _KEPT_LENGTHS:
                self._lengths.popitem(last=False)
        return found
