"""What was written of one document, out of a SQLite base again."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

from kg.model import Problem, Reading
from kg.store import codec
from kg.store.schema import PLACE_BITS, day_of, instant_of
from kg.store.written import written_facts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from kg.model import Document, Fact

_DOCUMENT = """
    SELECT d.key, d.path, d.recorded_at, d.signature, d.head, b.content
    FROM document AS d JOIN body AS b ON b.document = d.key WHERE d.id = ?
"""
_ENTITIES = """
    SELECT t.id, p.record FROM appearance AS b CROSS JOIN json_each(b.profiles) AS a
    CROSS JOIN profile AS p ON p.key = a.value
    CROSS JOIN entity AS t ON t.key = p.entity WHERE b.document = ? AND NOT p.implied ORDER BY t.id, p.record
"""
_FACTS = """
    SELECT f.id, s.id, f.relation, o.id, f.claim, e.start, e."end", e.quote, e.recorded_at, e.speaker, e.confidence,
    e.extractor FROM evidence AS e JOIN fact AS f ON f.key = e.fact JOIN entity AS s ON s.key = f.subject
    JOIN entity AS o ON o.key = f.object WHERE e.document = ? ORDER BY f.id, e.place
"""
# Written by whichever came later, told from both sides: the order of writing is no content, nor is what was removed.
_COPIES = """
    SELECT c.other AS id FROM copy AS c JOIN document AS d ON d.id = c.other WHERE c.document = :key
    UNION SELECT d.id FROM copy AS c JOIN document AS d ON d.key = c.document WHERE c.other = :id ORDER BY id
"""


def read_back(connection: sqlite3.Connection, document_id: str) -> Reading | None:
    """Return what was written of a document; the caller holds the base still by a transaction."""
    row = connection.execute(_DOCUMENT, (document_id,)).fetchone()
    if row is None:
        return None
    key, path, recorded_at, signature, head, packed = row
    content = zlib.decompress(packed).decode()
    document = codec.body_in(codec.head_in(document_id, day_of(key), head, path=path), signature, content)
    low, high = key << PLACE_BITS, (key + 1) << PLACE_BITS
    chunks = connection.execute("SELECT id, record FROM chunk WHERE key >= ? AND key < ? ORDER BY key", (low, high))
    mentions = connection.execute("SELECT record FROM mention WHERE document = ? ORDER BY place", (key,))
    copies = connection.execute(_COPIES, {"key": key, "id": document_id})
    return Reading(
        document=document,
        chunks=tuple(codec.chunk_in(identity, document_id, record) for identity, record in chunks),
        mentions=tuple(codec.mention_in(record) for (record,) in mentions),
        entities=tuple(codec.entity_in(*said) for said in connection.execute(_ENTITIES, (key,))),
        facts=tuple(_facts(connection, key, document)),
        problems=tuple(Problem(*problem) for problem in json.loads(content)[4]),
        copies=tuple(other for (other,) in copies),
        recorded_at=None if recorded_at is None else instant_of(recorded_at),
    )


def _facts(connection: sqlite3.Connection, key: int, document: Document) -> Iterator[Fact]:
    return written_facts(connection.execute(_FACTS, (key,)).fetchall(), document)
