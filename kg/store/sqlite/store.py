"""The default store: a knowledge base in one SQLite file.

Many processes can read while one writes (WAL). Views are in kg/store/sqlite/view.py, the writer in
kg/store/sqlite/writer.py, the tables in kg/store/sqlite/schema.py.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, TypeVar
from weakref import finalize

from kg.errors import StoreUnusable
from kg.relations import vocabulary
from kg.store.lock import writing
from kg.store.rules.identity_view import JudgedView, Overlay
from kg.store.rules.validated import read_from, utc
from kg.store.sqlite import checks as sqlite_checks
from kg.store.sqlite import journal, schema
from kg.store.sqlite.connections import Connections, PinnedConnection, connect, make_ready, one_state, telling
from kg.store.sqlite.facts import read_back, visible_witnesses
from kg.store.sqlite.view import SqliteView, visible_lengths, visible_names
from kg.store.sqlite.writer import SqliteWriter
from kg.store.visibility import ViewCache

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from datetime import date, datetime
    from typing import Any

    from kg.model import Reading
    from kg.relations import Vocabulary
    from kg.store.checks import Breach, Invariant
    from kg.store.sqlite.connections import Lender
    from kg.store.sqlite.view import Lengths, Names
    from kg.store.visibility import Visibility

T = TypeVar("T")

_COUNTS = {
    "documents": "SELECT count(*) FROM document",
    "chunks": "SELECT count(*) FROM chunk",
    "mentions": "SELECT count(*) FROM mention",
    "entities": "SELECT count(*) FROM entity",
    "facts": "SELECT count(DISTINCT id) FROM fact",
    "evidence": "SELECT count(*) FROM evidence",
    "runs": "SELECT count(*) FROM run",
    "judgements": "SELECT count(*) FROM judgement",
}


class SqliteStore:
    """A knowledge base in one file."""

    def __init__(
        self,
        path: Path,
        words: Vocabulary | None = None,
        *,
        create: bool = False,
        connections: Connections | None = None,
    ) -> None:
        self._path = path
        self._vocabulary = words or vocabulary()
        self._connections = connections or Connections(path)
        self._lengths: ViewCache[Lengths] = ViewCache()
        self._names: ViewCache[Names] = ViewCache()
        self._witnesses: ViewCache[dict[str, str]] = ViewCache()
        self._overlays: ViewCache[Overlay] = ViewCache()
        make_ready(path, create=create)  # report an unusable file now, not at the first query

    def view(self, *, as_of: date | None = None, known_at: datetime | None = None) -> JudgedView:
        """Return a view of the store."""
        return self._view(self._connections, as_of, known_at)

    @contextmanager
    def reader(self, *, as_of: date | None = None, known_at: datetime | None = None) -> Iterator[JudgedView]:
        """Return a view of one fixed state of the store."""
        self._connections.check_place()
        with closing(connect(self._path)) as connection, telling(self._path), one_state(connection):
            connection.execute("SELECT revision FROM state").fetchone()  # the first read fixes the state
            yield self._view(PinnedConnection(self._path, connection), as_of, known_at)

    @contextmanager
    def writer(self) -> Iterator[SqliteWriter]:
        """Return the only writer."""
        with writing(self._path), closing(connect(self._path)) as connection:
            with telling(self._path):
                schema.complete(connection)
            # The writer's overlay and witnesses are not cached: it may be rolled back and its revision reused.
            plain = replace(
                self._plain(PinnedConnection(self._path, connection), None, None), _witnesses=visible_witnesses
            )
            view = JudgedView(plain, lambda: Overlay.of(plain, plain.judgements(), self._vocabulary))
            yield SqliteWriter(connection, self._path, view)

    def has_document(self, document_id: str) -> bool:
        """Return whether the document is in the store."""
        return self._value("SELECT key FROM document WHERE id = ?", document_id) is not None

    def reading(self, document_id: str) -> Reading | None:
        """Return the stored reading of a document."""
        with self._connections.reading() as connection:
            return read_back(connection, document_id)

    def documents_at(self, path: str) -> dict[str, str]:
        """Return the documents that were read from a file or its lines."""
        # ';' follows ':' in ASCII, so paths that start with "PATH:" are an index range.
        statement = (
            "SELECT id, path FROM document WHERE path <> '' AND (path = :path OR path > :path || ':' AND "
            "path < :path || ';') ORDER BY key >> 21, id"
        )
        with telling(self._path):
            rows = self._connections.reader().execute(statement, {"path": path}).fetchall()
        return {identity: found for identity, found in rows if read_from(found, path)}

    def signatures(self) -> Iterator[tuple[str, bytes]]:
        """Yield pairs of document id and signature."""
        with telling(self._path):
            rows = self._connections.reader().execute(
                "SELECT id, signature FROM document WHERE signature <> x'' ORDER BY id"
            )
            yield from rows.fetchall()

    def revision(self) -> int:
        """Return the number of changes."""
        return int(self._value("SELECT revision FROM state"))

    def state(self) -> str:
        """Return a name of this state of this base."""
        with telling(self._path):
            found = journal.state(self._connections.reader())
        return f"{found.revision}-{found.stamp}"

    def stats(self) -> dict[str, int]:
        """Count the stored records."""
        return {name: int(self._value(statement)) for name, statement in _COUNTS.items()}

    def invariants(self) -> list[Invariant]:
        """Return the invariants."""
        return sqlite_checks.invariants()

    def breaches(self) -> Iterator[Breach]:
        """Yield all violations of the invariants."""
        with self._connections.streaming() as connection:
            yield from sqlite_checks.breaches(connection)

    def become(self, source: SqliteStore) -> None:
        """Take over all that another base holds at one moment, in one transaction: who reads or serves goes on.

        Raises:
            StoreLocked: when something writes to this base.
            StoreUnusable: when the other one is damaged; this one stays as it is.
        """
        if any(True for _ in source.breaches()):
            raise StoreUnusable(source._path, "fails its check; `liantu check` lists the faults")
        with (
            writing(self._path),
            telling(self._path),
            closing(connect(source._path)) as one,
            closing(connect(self._path)) as other,
        ):
            one.backup(other)

    def close(self) -> None:
        """Close the file; the last connection to close checkpoints the -wal file."""
        self._connections.close()

    def _value(self, statement: str, *parameters: str) -> Any:
        with telling(self._path):
            row = self._connections.reader().execute(statement, parameters).fetchone()
        return None if row is None else row[0]

    def _plain(self, lender: Lender, as_of: date | None, known_at: datetime | None) -> SqliteView:
        def lengths(connection: sqlite3.Connection, visibility: Visibility) -> Lengths:
            return self._lengths.get(
                (visibility, journal.state(connection)), lambda: visible_lengths(connection, visibility)
            )

        def names(connection: sqlite3.Connection, visibility: Visibility) -> Names:
            return self._names.get(
                (visibility, journal.state(connection)), lambda: visible_names(connection, visibility)
            )

        def witnesses(connection: sqlite3.Connection, visibility: Visibility) -> dict[str, str]:
            return self._witnesses.get(
                (visibility, journal.state(connection)), lambda: visible_witnesses(connection, visibility)
            )

        known = utc(known_at) if known_at else None
        return SqliteView(lender, self._vocabulary, lengths, names, witnesses, as_of, known)

    def _view(self, lender: Lender, as_of: date | None, known_at: datetime | None) -> JudgedView:
        plain = self._plain(lender, as_of, known_at)

        def overlay() -> Overlay:
            with lender.reading() as connection:
                state = plain.visibility, journal.state(connection)
            return self._overlays.get(state, lambda: Overlay.of(plain, plain.judgements(), self._vocabulary))

        return JudgedView(plain, overlay, until=lambda day: self._view(lender, day, known_at))


class TemporaryStore(SqliteStore):
    """A knowledge base in a temporary folder, for as long as this object is open: `memory:`, and a server's copy."""

    def __init__(self, words: Vocabulary | None = None, *, before_read: Callable[[], None] | None = None) -> None:
        folder = mkdtemp(prefix="liantu-")
        self._remove = finalize(self, rmtree, folder, ignore_errors=True)  # also of a base that nobody closes
        path = Path(folder) / "kb.liantu"
        super().__init__(path, words, create=True, connections=Connections(path, before_read=before_read))

    def close(self) -> None:
        """Close the store and remove its folder."""
        super().close()
        self._remove()
