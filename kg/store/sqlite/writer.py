"""Write to and remove from a SQLite store: one transaction per document, at a cost proportional to the document."""

from __future__ import annotations

import json
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kg.ids import normal_name
from kg.model import MentionStatus, Polarity
from kg.store import codec
from kg.store.rules.identities import examined
from kg.store.rules.validated import prepare, utc
from kg.store.sqlite import journal
from kg.store.sqlite.connections import keep_few_pages, let_log_grow, telling
from kg.store.sqlite.schema import FACT_ENDS, PLACE_BITS, PLACE_ROOM
from kg.store.visibility import DAY_ROOM, first_key, microseconds
from kg.store.word_search import terms

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from kg.judgement import Judgement
    from kg.model import Entity, Fact, Mention, Reading, Run
    from kg.store.port import View
    from kg.store.rules.validated import Prepared, Profile


_LOG_RESIZE_INTERVAL = 500  # documents
_TRANSACTION = ("BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",))
_SAVEPOINT = ("SAVEPOINT part", "RELEASE part", ("ROLLBACK TO part", "RELEASE part"))


class SqliteWriter:
    """The only writer of a store; used while the writer lock is held."""

    def __init__(self, connection: sqlite3.Connection, path: Path, view: View) -> None:
        self._connection, self._path, self._view = connection, path, view
        self._written = 0
        keep_few_pages(connection)

    def write(self, reading: Reading) -> bool:
        """Write a document atomically."""
        with self._transaction() as connection:
            if _key_of(connection, reading.document.id) is not None:
                return False
            if self._written % _LOG_RESIZE_INTERVAL == 0:
                let_log_grow(connection)
            self._written += 1
            prepared = prepare(reading)
            _insert(connection, prepared)
            journal.note(connection, reading.document.id, parts=journal.content(prepared))
        return True

    def remove(self, document_id: str) -> bool:
        """Remove a document and everything that only it states."""
        with self._transaction() as connection:
            key = _key_of(connection, document_id)
            if key is None:
                return False
            gone = journal.about_to_remove(connection, document_id)
            _delete(connection, key)
            journal.note(connection, document_id, gone=gone)
        return True

    def publish(self, run: Run) -> None:
        """Publish a weekly run."""
        recorded = None if run.recorded_at is None else microseconds(utc(run.recorded_at))
        with self._transaction() as connection:
            # Delete first, so that a run published again becomes the latest of its day.
            connection.execute("DELETE FROM run WHERE id = ?", (run.id,))
            connection.execute(
                "INSERT INTO run (number, id, as_of, record, recorded_at) "
                "VALUES ((SELECT coalesce(max(number), 0) + 1 FROM run), ?, ?, ?, ?)",
                (run.id, run.as_of.isoformat(), codec.run_out(run), recorded),
            )
            journal.note(connection)

    def withdraw(self, run_id: str) -> bool:
        """Withdraw a weekly run."""
        with self._transaction() as connection:
            if not connection.execute("DELETE FROM run WHERE id = ?", (run_id,)).rowcount:
                return False
            journal.note(connection)
        return True

    def judge(self, judgement: Judgement) -> Judgement | None:
        """Store a judgement."""
        with self._transaction() as connection:
            kept = examined(judgement, self._view)
            row = (kept.id, kept.published_on.toordinal(), microseconds(kept.recorded_at), codec.judgement_out(kept))
            inserted = connection.execute(
                "INSERT INTO judgement (id, day, recorded_at, record) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", row
            )
            if inserted.rowcount == 0:
                return None
            journal.note(connection)
        return kept

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make all calls within one transaction."""
        with self._transaction():
            yield

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction, or a savepoint if one is open."""
        connection = self._connection
        inner = connection.in_transaction
        begin, commit, undo = _SAVEPOINT if inner else _TRANSACTION
        with telling(self._path):
            connection.execute(begin)
            try:
                yield connection
                connection.execute(commit)
            except BaseException:
                # SQLite may already have rolled back by itself, as on a full disk.
                for statement in undo if connection.in_transaction else ():
                    connection.execute(statement)
                raise


def _key_of(connection: sqlite3.Connection, document_id: str) -> int | None:
    row = connection.execute("SELECT key FROM document WHERE id = ?", (document_id,)).fetchone()
    return None if row is None else int(row[0])


def _insert(connection: sqlite3.Connection, reading: Prepared) -> None:
    document = _insert_document(connection, reading)
    entities = _insert_entities(connection, (profile.entity.id for profile in reading.profiles))
    _insert_profiles(connection, document, entities, reading.profiles)
    _insert_text(connection, document, reading)
    connection.executemany(
        "INSERT INTO mention (document, place, chunk, entity, record) VALUES (?, ?, ?, ?, ?)",
        (
            (
                document,
                place,
                _chunk_key(document, holder),
                entities.get(_linked_entity(mention)),
                codec.mention_out(mention),
            )
            for place, (mention, holder) in enumerate(zip(reading.mentions, reading.holders, strict=True))
        ),
    )
    _insert_facts(connection, document, entities, reading.facts)


def _insert_document(connection: sqlite3.Connection, reading: Prepared) -> int:
    document = reading.document
    first = first_key(document.published_on)
    key: int = connection.execute(
        "SELECT coalesce(max(key) + 1, :first) FROM document WHERE key >= :first AND key < :next",
        {"first": first, "next": first + DAY_ROOM},
    ).fetchone()[0]
    recorded = None if reading.recorded_at is None else microseconds(reading.recorded_at)
    connection.execute(
        "INSERT INTO document (key, id, path, recorded_at, signature, head) VALUES (?, ?, ?, ?, ?, ?)",
        (key, document.id, document.path, recorded, document.signature, codec.head_out(document)),
    )
    connection.executemany(
        "INSERT INTO copy (document, other) VALUES (?, ?)", ((key, other) for other in reading.copies)
    )
    return key


def _insert_entities(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, int]:
    wanted = sorted(set(ids))
    connection.executemany("INSERT INTO entity (id) VALUES (?) ON CONFLICT DO NOTHING", ((i,) for i in wanted))
    rows = connection.execute(
        "SELECT id, key FROM entity WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(wanted),)
    )
    return dict(rows.fetchall())


def _insert_profiles(
    connection: sqlite3.Connection, document: int, entities: dict[str, int], profiles: tuple[Profile, ...]
) -> None:
    rows = [(entities[p.entity.id], p.implied, codec.entity_out(p.entity)) for p in profiles]
    last: int = connection.execute("SELECT coalesce(max(key), 0) FROM profile").fetchone()[0]
    connection.executemany(
        "INSERT INTO profile (entity, implied, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows
    )
    fresh = connection.execute(
        "SELECT p.key, e.id, p.record FROM profile p JOIN entity e ON e.key = p.entity WHERE p.key > ?", (last,)
    ).fetchall()
    for key, identity, record in fresh:
        connection.executemany(
            "INSERT INTO profile_name (folded, profile, name, code) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            ((normal_name(name), key, name, code) for name, code in _names(codec.entity_in(identity, record))),
        )
    select = "SELECT key FROM profile WHERE entity = ? AND implied = ? AND record = ?"
    keys = sorted({_column(connection, select, *row)[0] for row in rows})
    row = document, codec.dump(keys)
    connection.execute("INSERT INTO appearance (document, profiles) VALUES (?, ?)", row)
    connection.execute("INSERT INTO appearing (rowid, profiles) VALUES (?, ?)", row)


def _names(entity: Entity) -> Iterator[tuple[str, int]]:
    yield entity.name, 0
    yield from ((alias.name, 0) for alias in entity.aliases)
    yield from ((code, 1) for code in entity.codes)


def _insert_text(connection: sqlite3.Connection, document: int, reading: Prepared) -> None:
    chunks = reading.chunks
    if len(chunks) > PLACE_ROOM:
        raise ValueError(f"{reading.document.id}: more than {PLACE_ROOM} passages")
    words = [terms(chunk.search_text or chunk.text) for chunk in chunks]
    lines = [" ".join(found) for found in words]
    connection.execute(
        "INSERT INTO body (document, content, terms) VALUES (?, ?, ?)",
        (document, _pack(codec.body_out(reading.document, reading.problems)), _pack("\n".join(lines).encode())),
    )
    connection.executemany(
        "INSERT INTO chunk (key, id, words, record) VALUES (?, ?, ?, ?)",
        (
            (_chunk_key(document, place), chunk.id, len(found), codec.chunk_out(chunk))
            for place, (chunk, found) in enumerate(zip(chunks, words, strict=True))
        ),
    )
    connection.executemany(
        "INSERT INTO word (rowid, terms) VALUES (?, ?)",
        ((_chunk_key(document, place), line) for place, line in enumerate(lines)),
    )


def _pack(text: bytes) -> bytes:
    return zlib.compress(text, 1)


def _chunk_key(document: int, place: int | None) -> int | None:
    return None if place is None else (document << PLACE_BITS) + place


def _linked_entity(mention: Mention) -> str:
    return mention.entity if mention.status is MentionStatus.LINKED else ""


def _insert_facts(
    connection: sqlite3.Connection, document: int, entities: dict[str, int], facts: tuple[Fact, ...]
) -> None:
    claims = [codec.claim_out(fact) for fact in facts]
    last = _column(connection, "SELECT coalesce(max(key), 0) FROM fact")[0]
    connection.executemany(
        "INSERT INTO fact (id, subject, relation, object, negative, claim) SELECT ?1, ?2, ?3, ?4, ?5, ?6 "
        "WHERE NOT EXISTS (SELECT 1 FROM fact WHERE id = ?1 AND claim = ?6)",
        (
            (f.id, entities[f.subject], f.relation, entities[f.object], f.polarity is Polarity.NEGATIVE, claim)
            for f, claim in zip(facts, claims, strict=True)
        ),
    )
    connection.execute(f"{FACT_ENDS} WHERE key > ?", (last,))
    connection.executemany(
        "INSERT INTO evidence "
        '(fact, document, place, start, "end", quote, recorded_at, speaker, confidence, extractor) '
        "SELECT key, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM fact WHERE id = ? AND claim = ?",
        (
            (
                document,
                place,
                item.start,
                item.end,
                item.quote,
                microseconds(item.recorded_at),
                item.speaker,
                item.confidence,
                item.extractor,
                fact.id,
                claim,
            )
            for fact, claim in zip(facts, claims, strict=True)
            for place, item in enumerate(fact.evidence)
        ),
    )


def _delete(connection: sqlite3.Connection, document: int) -> None:
    """Delete a document's rows, then the facts, profiles and entities that no other document has."""
    low, high = document << PLACE_BITS, (document + 1) << PLACE_BITS
    facts = _column(connection, "SELECT DISTINCT fact FROM evidence WHERE document = ?", document)
    profiles = connection.execute("SELECT profiles FROM appearance WHERE document = ?", (document,)).fetchone()[0]
    packed = connection.execute("SELECT terms FROM body WHERE document = ?", (document,)).fetchone()[0]
    lines = zlib.decompress(packed).decode().split("\n")
    indexed = _column(connection, "SELECT count(*) FROM chunk WHERE key >= ? AND key < ?", low, high)[0]
    connection.executemany(
        "INSERT INTO word (word, rowid, terms) VALUES ('delete', ?, ?)",
        ((low + place, lines[place]) for place in range(indexed)),
    )
    connection.execute(
        "INSERT INTO appearing (appearing, rowid, profiles) VALUES ('delete', ?, ?)", (document, profiles)
    )
    for statement in (
        "DELETE FROM evidence WHERE document = ?",
        "DELETE FROM appearance WHERE document = ?",
        "DELETE FROM mention WHERE document = ?",
        "DELETE FROM copy WHERE document = ?",
        "DELETE FROM body WHERE document = ?",
    ):
        connection.execute(statement, (document,))
    connection.execute("DELETE FROM chunk WHERE key >= ? AND key < ?", (low, high))
    connection.execute("DELETE FROM document WHERE key = ?", (document,))
    orphans = json.dumps(
        _column(
            connection,
            "SELECT value FROM json_each(?) AS f WHERE NOT EXISTS (SELECT 1 FROM evidence WHERE fact = f.value)",
            json.dumps(sorted(facts)),
        )
    )
    connection.execute(
        "INSERT INTO fact_end (fact_end, rowid, ends) "
        "SELECT 'delete', key, subject || ' o' || object FROM fact WHERE key IN (SELECT value FROM json_each(?))",
        (orphans,),
    )
    connection.execute("DELETE FROM fact WHERE key IN (SELECT value FROM json_each(?))", (orphans,))
    _delete_profiles(connection, profiles)


def _delete_profiles(connection: sqlite3.Connection, profiles: str) -> None:
    orphans = _column(
        connection,
        "SELECT value FROM json_each(?) AS p WHERE NOT EXISTS (SELECT 1 FROM appearing WHERE appearing MATCH p.value)",
        profiles,
    )
    orphan_keys = json.dumps(orphans)
    entities = _column(
        connection, "SELECT DISTINCT entity FROM profile WHERE key IN (SELECT value FROM json_each(?))", orphan_keys
    )
    connection.execute("DELETE FROM profile_name WHERE profile IN (SELECT value FROM json_each(?))", (orphan_keys,))
    connection.execute("DELETE FROM profile WHERE key IN (SELECT value FROM json_each(?))", (orphan_keys,))
    connection.execute(
        "DELETE FROM entity WHERE key IN (SELECT value FROM json_each(?)) "
        "AND NOT EXISTS (SELECT 1 FROM profile WHERE profile.entity = entity.key)",
        (json.dumps(entities),),
    )


def _column(connection: sqlite3.Connection, statement: str, *parameters: int | str) -> list[int]:
    return [row[0] for row in connection.execute(statement, parameters)]
