"""A knowledge base on a Neo4j server, with the same results as the other stores, for teams that need a shared server.

Views are in kg/store/neo4j/view.py, the writer in kg/store/neo4j/writer.py, the schema in kg/store/neo4j/schema.py.
Needs the extra `neo4j` (the official driver).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from kg.relations import vocabulary
from kg.store import codec
from kg.store.neo4j import statements as cypher
from kg.store.neo4j.connection import Connection
from kg.store.neo4j.reading import read_back
from kg.store.neo4j.schema import STATE, VERSION
from kg.store.neo4j.view import Neo4jView
from kg.store.neo4j.writer import Neo4jWriter, writing
from kg.store.rules.identity_view import JudgedView, Overlay
from kg.store.rules.validated import read_from, utc
from kg.store.visibility import ViewCache, visibility_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime

    from kg.model import Reading
    from kg.period import Period
    from kg.relations import Vocabulary
    from kg.store.neo4j.connection import Address, ReadSession


class Neo4jStore:
    """A knowledge base on a server."""

    def __init__(self, address: Address, words: Vocabulary | None = None, *, create: bool = False) -> None:
        self._vocabulary = words or vocabulary()
        self._overlays: ViewCache[Overlay] = ViewCache()
        self._connection = Connection(address)
        try:
            if self._connection.make_ready(create=create) < VERSION:
                migrate(self._connection)
        except BaseException:
            self._connection.close()
            raise

    def view(self, *, as_of: date | None = None, known_at: datetime | None = None) -> ServedView:
        """Return a view of the store."""
        return self._view(self._connection, as_of, known_at)

    @contextmanager
    def reader(self, *, as_of: date | None = None, known_at: datetime | None = None) -> Iterator[ServedView]:
        """Return a view of one fixed state of the store."""
        with self._connection.pinned() as pinned:
            yield self._view(pinned, as_of, known_at)

    @contextmanager
    def writer(self) -> Iterator[Neo4jWriter]:
        """Return the only writer."""
        with writing(self._connection) as token:
            yield Neo4jWriter(self._connection, token, self._writer_view)

    def has_document(self, document_id: str) -> bool:
        """Return whether the document is in the store."""
        return bool(self._connection.read(lambda moment: moment.rows(cypher.HAS_DOCUMENT, id=document_id)))

    def reading(self, document_id: str) -> Reading | None:
        """Return the stored reading of a document."""
        return self._connection.read(lambda moment: read_back(moment, document_id))

    def documents_at(self, path: str) -> dict[str, str]:
        """Return the documents that were read from a file or its lines."""
        rows = self._connection.read(lambda moment: moment.rows(cypher.DOCUMENTS_AT, path=path)) if path else []
        return {identity: found for identity, found in rows if read_from(found, path)}

    def signatures(self) -> Iterator[tuple[str, bytes]]:
        """Yield pairs of document id and signature."""
        rows = self._connection.read(lambda moment: moment.rows(cypher.SIGNATURES))
        return ((identity, signature) for identity, signature in rows)

    def revision(self) -> int:
        """Return the number of changes."""
        return self._connection.read(lambda moment: moment.revision)

    def state(self) -> str:
        """Return a name of this state of this base."""
        (row,) = self._connection.read(lambda moment: moment.rows(STATE))
        return "-".join(map(str, row))

    def stats(self) -> dict[str, int]:
        """Count the stored records."""
        return self._connection.read(
            lambda moment: {name: moment.rows(statement)[0][0] for name, statement in cypher.COUNTS.items()}
        )

    def close(self) -> None:
        """Close all connections to the server."""
        self._connection.close()

    def _view(self, line: ReadSession, as_of: date | None, known_at: datetime | None) -> ServedView:
        plain = Neo4jView(line, self._vocabulary, as_of, utc(known_at) if known_at else None)

        def overlay() -> Overlay:
            revision = line.read(lambda moment: moment.revision)
            key = visibility_of(as_of, plain.known_at), revision
            return self._overlays.get(key, lambda: Overlay.of(plain, plain.judgements(), self._vocabulary))

        return ServedView(plain, overlay, until=lambda day: self._view(line, day, known_at))

    def _writer_view(self, line: ReadSession) -> JudgedView:
        """Return a view of the writer's own transaction, without caching, because it may be rolled back."""
        plain = Neo4jView(line, self._vocabulary, None, None)
        return JudgedView(plain, lambda: Overlay.of(plain, plain.judgements(), self._vocabulary))


class ServedView(JudgedView):
    """A view whose period is applied on the server, so that only facts in it are transferred."""

    _plain: Neo4jView

    def during(self, period: Period) -> Self:
        """Return the view restricted to `period`; the overlay still computes superseding among all facts."""
        return type(self)(self._plain.during(period), self._overlay, period, until=self._until)

    @property
    def graph_key(self) -> tuple[object, ...]:
        """What a graph compiled from this view depends on: the state of the base and the bounds of the view."""
        plain = self._plain
        identity, revision = plain.line.read(lambda moment: (moment.rows(STATE)[0][0], moment.revision))
        return identity, revision, plain.as_of, plain.known_at, plain.period


_AT_ONCE = 20  # documents per batch, because their bodies are transferred
_KEYS = "MATCH (d:Document) RETURN elementId(d)"
_BODIES = "MATCH (d:Document) WHERE elementId(d) IN $keys RETURN elementId(d), d.head, d.body"
_HEADS = "UNWIND $heads AS row MATCH (d:Document) WHERE elementId(d) = row[0] SET d.head = row[1]"
_DONE = "MATCH (b:Base {name: 'liantu'}) SET b.version = $version"


def migrate(connection: Connection) -> None:
    """Migrate a store from version 1 to 2: add page offsets to document heads.

    Raises:
        StoreLocked: when a writer is active in this or another process.
    """
    with writing(connection), connection.telling(), connection.session() as session:
        keys = session.run(_KEYS).value()
        for first in range(0, len(keys), _AT_ONCE):
            rows = session.run(_BODIES, keys=keys[first : first + _AT_ONCE]).values()
            session.run(_HEADS, heads=[[key, codec.paged(head, body)] for key, head, body in rows]).consume()
        session.run(_DONE, version=VERSION).consume()
