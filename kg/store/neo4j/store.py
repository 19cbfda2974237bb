"""A knowledge base on a Neo4j server, with the same results as the other stores, for teams that need a shared server.

Views are those of a local copy (kg/store/neo4j/replica.py); the writer is in kg/store/neo4j/writer.py, the schema in
kg/store/neo4j/schema.py.
Needs the extra `neo4j` (the official driver).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from kg.relations import vocabulary
from kg.store import codec
from kg.store.neo4j import statements as cypher
from kg.store.neo4j.connection import Connection
from kg.store.neo4j.reading import read_back
from kg.store.neo4j.replica import Replica
from kg.store.neo4j.schema import LEFT_OUT, VERSION
from kg.store.neo4j.writer import Neo4jWriter, writing
from kg.store.rules.validated import read_from

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from datetime import date, datetime

    from kg.model import Reading
    from kg.relations import Vocabulary
    from kg.store.neo4j.connection import Address
    from kg.store.port import View


class Neo4jStore:
    """A knowledge base on a server."""

    def __init__(self, address: Address, words: Vocabulary | None = None, *, create: bool = False) -> None:
        self._connection = Connection(address)
        try:
            if self._connection.make_ready(create=create) < VERSION:
                migrate(self._connection)
        except BaseException:
            self._connection.close()
            raise
        self._replica = Replica(self._connection, words or vocabulary())

    def view(self, *, as_of: date | None = None, known_at: datetime | None = None) -> View:
        """Return a view of the store."""
        return self._replica.store.view(as_of=as_of, known_at=known_at)

    def reader(self, *, as_of: date | None = None, known_at: datetime | None = None) -> AbstractContextManager[View]:
        """Return a view of one fixed state of the store."""
        return self._replica.store.reader(as_of=as_of, known_at=known_at)

    @contextmanager
    def writer(self) -> Iterator[Neo4jWriter]:
        """Return the only writer."""
        with writing(self._connection) as token:
            yield Neo4jWriter(self._connection, token, self._replica.examine)

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
        return "-".join(map(str, self._connection.state()))

    def stats(self) -> dict[str, int]:
        """Count the stored records."""
        return self._connection.read(
            lambda moment: {name: moment.rows(statement)[0][0] for name, statement in cypher.COUNTS.items()}
        )

    def close(self) -> None:
        """Close all connections to the server and remove the copy."""
        self._replica.store.close()
        self._connection.close()


_AT_ONCE = 20  # documents per batch, because their bodies are transferred
_KEYS = "MATCH (d:Document) RETURN elementId(d)"
_BODIES = "MATCH (d:Document) WHERE elementId(d) IN $keys RETURN elementId(d), d.head, d.body"
_HEADS = "UNWIND $heads AS row MATCH (d:Document) WHERE elementId(d) = row[0] SET d.head = row[1]"
_DONE = "MATCH (b:Base {name: 'liantu'}) SET b.version = $version"


def migrate(connection: Connection) -> None:
    """Migrate a store: add page offsets to document heads (version 1), drop the indexes of questions (2).

    Raises:
        StoreLocked: when a writer is active in this or another process.
    """
    with writing(connection), connection.telling(), connection.session() as session:
        keys = session.run(_KEYS).value()
        for first in range(0, len(keys), _AT_ONCE):
            rows = session.run(_BODIES, keys=keys[first : first + _AT_ONCE]).values()
            session.run(_HEADS, heads=[[key, codec.paged(head, body)] for key, head, body in rows]).consume()
        for statement in LEFT_OUT:
            session.run(statement).consume()
        session.run(_DONE, version=VERSION).consume()
