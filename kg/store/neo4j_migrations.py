"""Steps from one version of a Neo4j base to the next; each may be taken again after it was broken off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.store import codec
from kg.store.neo4j_schema import VERSION
from kg.store.neo4j_writer import writing

if TYPE_CHECKING:
    from kg.store.neo4j_connection import Connection

_AT_ONCE = 20  # documents, whose bodies cross the line
_KEYS = "MATCH (d:Document) RETURN elementId(d)"
_BODIES = "MATCH (d:Document) WHERE elementId(d) IN $keys RETURN elementId(d), d.head, d.body"
_HEADS = "UNWIND $heads AS row MATCH (d:Document) WHERE elementId(d) = row[0] SET d.head = row[1]"
_DONE = "MATCH (b:Base {name: 'liantu'}) SET b.version = $version"


def migrate(connection: Connection) -> None:
    """Bring a base of version 1 to version 2: heads of documents tell of pages, which only bodies told of.

    Raises:
        StoreLocked: when a writer, here or in another process, is at work.
    """
    with writing(connection), connection.telling(), connection.session() as session:
        keys = session.run(_KEYS).value()
        for first in range(0, len(keys), _AT_ONCE):
            rows = session.run(_BODIES, keys=keys[first : first + _AT_ONCE]).values()
            session.run(_HEADS, heads=[[key, codec.paged(head, body)] for key, head, body in rows]).consume()
        session.run(_DONE, version=VERSION).consume()
