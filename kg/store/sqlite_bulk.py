"""Many rows into a SQLite base at once: the rows of `kg/store/sqlite_writer.py` for sheets, in large transactions.

Facts go in sorted by id, so that the index over ids is walked once per transaction and not jumped about in; keys are
given here, so that evidence needs no look-up unless a fact was known already.
"""

from __future__ import annotations

import json
import re
import zlib
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING

from kg.ids import normal_name
from kg.store import codec, journal, schema
from kg.store.prepared import bare_entity, utc
from kg.store.schema import DAY_ROOM, first_key, microseconds

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from kg.model import Entity
    from kg.store.sheet import Row, Sheet

Said = tuple[str, str, "Row", tuple[object, ...]]

ROWS_AT_ONCE = 250_000
_CACHE = -1_048_576  # KB: the indexes of ten million facts stay in memory while they grow


# A base without facts is in no need of these while it is filled; the unique ones stay.
_INDEXES = {
    found[1]: found[0].replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS")
    for found in re.finditer(r"CREATE INDEX (\w+) ON (?:fact|evidence|appearance|profile_name) [^;]+", schema.VERSION_1)
}


def batches(sheets: Iterable[Sheet]) -> Iterator[list[Sheet]]:
    """Put sheets together until there are rows enough for a transaction."""
    batch: list[Sheet] = []
    rows = 0
    for sheet in sheets:
        batch.append(sheet)
        rows += len(sheet.rows)
        if rows >= ROWS_AT_ONCE:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


@contextmanager
def unreferenced(connection: sqlite3.Connection) -> Iterator[None]:
    """Let SQLite look up no row that another refers to: the loader takes every key it writes from a row it has seen.

    Within a transaction this changes nothing (`Writer.together`): then each reference is looked up as ever.
    """
    connection.execute("PRAGMA foreign_keys = OFF")
    try:
        yield
    finally:
        connection.execute("PRAGMA foreign_keys = ON")


class Loader:
    """Writes batches of sheets; keys that it has given or met once are not looked up again.

    An empty base is filled without its secondary indexes, which are built at the end from sorted rows. Should the
    process be killed in between, the next load builds them; until then questions are only slower.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._entities: dict[str, int] = {}
        self._implied: dict[str, int] = {}
        connection.execute(f"PRAGMA cache_size = {_CACHE}")
        connection.execute("PRAGMA wal_autocheckpoint = 65536")
        self._bare = connection.execute("SELECT 1 FROM fact LIMIT 1").fetchone() is None

    def insert(self, sheets: list[Sheet]) -> list[bool]:
        """Write sheets within a transaction; say which were new."""
        if self._bare:
            for name in _INDEXES:
                self._connection.execute(f"DROP INDEX IF EXISTS {name}")
        fresh: list[tuple[int, Sheet]] = []
        new: list[bool] = []
        for sheet in sheets:
            known = self._connection.execute("SELECT 1 FROM document WHERE id = ?", (sheet.document.id,)).fetchone()
            new.append(known is None)
            if known is None:
                fresh.append((_insert_document(self._connection, sheet), sheet))
        if fresh:
            self._insert_profiles(fresh)
            _insert_facts(self._connection, self._entities, fresh)
        for _, sheet in fresh:
            journal.note(self._connection, sheet.document.id, said=_content(sheet))
        return new

    def finish(self) -> None:
        """Build the indexes that are missing, within a transaction."""
        for statement in _INDEXES.values():
            self._connection.execute(statement)

    def _insert_profiles(self, sheets: list[tuple[int, Sheet]]) -> None:
        """Write what the sheets say of entities, as kg/store/prepared.py makes it of documents without mentions."""
        described = [{entity.id for entity in sheet.entities} for _, sheet in sheets]
        bare = [_used(sheet) - own for (_, sheet), own in zip(sheets, described, strict=True)]
        self._know_entities(set().union(*described, *bare))
        self._know_bare(set().union(*bare))
        appearances = set()
        for (document, sheet), others in zip(sheets, bare, strict=True):
            appearances |= {(self._profile(entity), document) for entity in dict.fromkeys(sheet.entities)}
            appearances |= {(self._implied[identity], document) for identity in others}
        self._connection.executemany("INSERT INTO appearance (profile, document) VALUES (?, ?)", sorted(appearances))

    def _know_entities(self, ids: set[str]) -> None:
        wanted = sorted(ids - self._entities.keys())
        self._connection.executemany(
            "INSERT INTO entity (id) VALUES (?) ON CONFLICT DO NOTHING", ((identity,) for identity in wanted)
        )
        found = self._connection.execute(
            "SELECT id, key FROM entity WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(wanted),)
        )
        self._entities.update(found.fetchall())

    def _know_bare(self, ids: set[str]) -> None:
        """Learn the profiles of entities that are used and not described; make those that are missing."""
        wanted = {identity: bare_entity(identity) for identity in sorted(ids - self._implied.keys())}
        records = {identity: codec.entity_out(entity) for identity, entity in wanted.items()}
        self._connection.executemany(
            "INSERT INTO profile (entity, implied, record) VALUES (?, 1, ?) ON CONFLICT DO NOTHING",
            ((self._entities[identity], record) for identity, record in records.items()),
        )
        found = self._connection.execute(
            "SELECT t.id, p.record, p.key FROM entity AS t JOIN profile AS p ON p.entity = t.key "
            "WHERE p.implied AND t.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(wanted)),),
        )
        self._implied.update((identity, key) for identity, record, key in found if record == records[identity])
        self._name((self._implied[identity], entity) for identity, entity in wanted.items())

    def _profile(self, entity: Entity) -> int:
        row = (self._entities[entity.id], codec.entity_out(entity))
        known = "SELECT key FROM profile WHERE entity = ? AND NOT implied AND record = ?"
        found = self._connection.execute(known, row).fetchone()
        if found is not None:
            return int(found[0])
        made = self._connection.execute("INSERT INTO profile (entity, implied, record) VALUES (?, 0, ?)", row)
        self._name([(int(made.lastrowid or 0), entity)])
        return int(made.lastrowid or 0)

    def _name(self, profiles: Iterable[tuple[int, Entity]]) -> None:
        self._connection.executemany(
            "INSERT INTO profile_name (folded, profile, name, code) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            ((normal_name(name), key, name, code) for key, entity in profiles for name, code in _names(entity)),
        )


def _insert_document(connection: sqlite3.Connection, sheet: Sheet) -> int:
    document = sheet.document
    first = first_key(document.published_on)
    key: int = connection.execute(
        "SELECT coalesce(max(key) + 1, :first) FROM document WHERE key >= :first AND key < :next",
        {"first": first, "next": first + DAY_ROOM},
    ).fetchone()[0]
    recorded = microseconds(utc(sheet.recorded_at))
    connection.execute(
        "INSERT INTO document (key, id, path, recorded_at, signature, head) VALUES (?, ?, ?, ?, ?, ?)",
        (key, document.id, document.path, recorded, document.signature, codec.head_out(document)),
    )
    connection.execute(
        "INSERT INTO body (document, content, terms) VALUES (?, ?, ?)",
        (key, _pack(codec.body_out(document, ())), _pack("")),
    )
    return key


def _pack(text: str) -> bytes:
    return zlib.compress(text.encode(), 1)


def _used(sheet: Sheet) -> set[str]:
    used = {row.subject for row in sheet.rows} | {row.object for row in sheet.rows}
    used.update(entity.about for entity in sheet.entities if entity.about)
    return used


def _names(entity: Entity) -> Iterator[tuple[str, int]]:
    yield entity.name, 0
    yield from ((alias.name, 0) for alias in entity.aliases)
    yield from ((code, 1) for code in entity.codes)


def _insert_facts(connection: sqlite3.Connection, entities: dict[str, int], sheets: list[tuple[int, Sheet]]) -> None:
    said = [item for document, sheet in sheets for item in _evidence(document, sheet)]
    said.sort(key=itemgetter(0))
    claims = _claims(said)
    first: int = connection.execute("SELECT coalesce(max(key), 0) + 1 FROM fact").fetchone()[0]
    before = connection.total_changes
    connection.executemany(
        "INSERT INTO fact (key, id, subject, relation, object, negative, claim) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        [
            (key, row.fact, entities[row.subject], row.relation, entities[row.object], row.negative, claim)
            for key, ((_, claim), row) in enumerate(claims.items(), start=first)
        ],
    )
    if connection.total_changes - before == len(claims):
        keys = {claim: key for key, claim in enumerate(claims, start=first)}
    else:
        keys = _known(connection, {fact for fact, _ in claims})
    connection.executemany(
        "INSERT INTO evidence "
        '(fact, document, place, start, "end", quote, recorded_at, speaker, confidence, extractor) '
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(keys[fact, claim], *rest) for fact, claim, _, rest in said],
    )


def _claims(said: list[Said]) -> dict[tuple[str, str], Row]:
    """Return the claims, by fact and wording, each with a row that states it."""
    claims: dict[tuple[str, str], Row] = {}
    for fact, claim, row, _ in said:
        claims.setdefault((fact, claim), row)
    return claims


def _evidence(document: int, sheet: Sheet) -> Iterator[Said]:
    """Yield (fact, claim, row, rest of the evidence's columns); the first row of a fact says how it is worded."""
    text, extractor = sheet.document.text, sheet.extractor
    read = microseconds(utc(sheet.recorded_at))
    known: dict[str, tuple[str, int]] = {}
    for row in sheet.rows:
        fact, _, _, _, _, worded, start, end, speaker, confidence = row
        claim, place = known.get(fact, (worded, 0))
        known[fact] = claim, place + 1
        rest = document, place, start, end, text[start:end], read, speaker, confidence, extractor
        yield fact, claim, row, rest


def _known(connection: sqlite3.Connection, facts: set[str]) -> dict[tuple[str, str], int]:
    rows = connection.execute(
        "SELECT id, claim, key FROM fact WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(sorted(facts)),)
    )
    return {(fact, claim): key for fact, claim, key in rows}


def _content(sheet: Sheet) -> Iterator[str]:
    """Yield all that a compiled graph may depend on, as `journal.content` does of other documents."""
    yield f"{sheet.document.published_on} {sheet.recorded_at} {sheet.extractor}"
    for entity in sheet.entities:
        yield f"{entity.id} {entity.kind} {entity.about}"
    yield "\n".join([f"{row.fact} {row.speaker} {row.confidence!r}" for row in sheet.rows])
