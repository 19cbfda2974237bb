"""Bulk-load row batches into a SQLite store, in large transactions; writes the same rows as kg/store/sqlite/writer.py.

Keys are assigned here, so that evidence needs no lookup unless its fact exists already; a store without facts is loaded
without the index over fact ids, which is built at the end from sorted rows.
"""

from __future__ import annotations

import json
import zlib
from functools import lru_cache
from itertools import chain, compress, islice, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from kg.errors import DocumentError
from kg.ids import normal_name
from kg.store import codec
from kg.store.bulk.dedup import Filed, Stated
from kg.store.rules.validated import bare_name, utc
from kg.store.sight import DAY_ROOM, first_key, microseconds
from kg.store.sqlite import journal, schema
from kg.store.sqlite.schema import FACT_ENDS

if TYPE_CHECKING:
    import sqlite3
    from array import array
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from kg.model import Entity
    from kg.store.bulk.row_batch import Names, RowBatch


ROWS_OF_A_STATEMENT = 16  # measured: 8 and 32 are no faster


def insert_columns(
    connection: sqlite3.Connection,
    table: str,
    columns: Mapping[str, Iterable[object]],
    *,
    count: int,
    shared: Mapping[str, object] | None = None,
    passing_over: bool = False,
) -> int:
    """Insert `count` rows and return how many were inserted.

    Args:
        connection: within a transaction.
        table: the table name; like the column names, never external text.
        columns: the values of each column, one per row.
        count: number of rows.
        shared: columns with the same value in all rows.
        passing_over: skip rows that exist already, without counting them.

    Raises:
        sqlite3.IntegrityError: when a row exists already and `passing_over` is false.
    """
    constants = shared or {}
    values = chain.from_iterable(zip(*columns.values(), strict=True))
    inserted = 0
    for size, times in ((ROWS_OF_A_STATEMENT, count // ROWS_OF_A_STATEMENT), (1, count % ROWS_OF_A_STATEMENT)):
        if times:
            rows = zip(*map(repeat, constants.values()), *[values] * (len(columns) * size), strict=False)
            statement = _insertion(table, tuple(constants), tuple(columns), size)
            statement += " ON CONFLICT DO NOTHING" if passing_over else ""
            inserted += connection.executemany(statement, islice(rows, times)).rowcount
    return inserted


@lru_cache
def _insertion(table: str, shared: tuple[str, ...], columns: tuple[str, ...], size: int) -> str:
    """Return an INSERT statement for `size` rows; the shared values are the first parameters."""
    width = len(columns)
    common = [f"?{place}" for place in range(1, len(shared) + 1)]
    rows = (
        ", ".join([*common, *(f"?{len(shared) + row * width + place}" for place in range(1, width + 1))])
        for row in range(size)
    )
    names = ", ".join(f'"{name}"' for name in (*shared, *columns))
    return f"INSERT OR FAIL INTO {table} ({names}) VALUES ({'), ('.join(rows)})"  # noqa: S608


ROWS_AT_FIRST, ROWS_AT_ONCE, ROWS_AT_MOST = 10_000, 50_000, 1_000_000
_NO_WORDS = zlib.compress(b"", 1)
_BY_KEY = "SELECT id, claim, key FROM fact WHERE key IN (SELECT value FROM json_each(?))"
_BY_ID = "SELECT id, claim, key FROM fact WHERE id IN (SELECT value FROM json_each(?))"
_PART, _PART_OF_EMPTY = 4, 16  # inserting into the index over ids costs random writes, unless it is built later
_CACHE = -262_144  # KB; holds the growing indexes of a million entities


def batches(row_batches: Iterable[RowBatch], *, part: int) -> Iterator[list[RowBatch]]:
    """Group row batches into transactions.

    Each transaction rewrites most pages of indexes that grow in random places, so the transaction size grows with the
    number of rows written before: a fraction of them (`part` 4 is a fourth), within bounds. The first transactions are
    small for early feedback.

    Raises:
        DocumentError: raised by the iterable of row batches, after earlier row batches have been yielded.
    """
    group: list[RowBatch] = []
    rows, before, fault = 0, 0, None
    try:
        for row_batch in row_batches:
            group.append(row_batch)
            rows += len(row_batch.rows)
            least = min(max(before, ROWS_AT_FIRST), ROWS_AT_ONCE)
            if rows >= max(least, min(before // part, ROWS_AT_MOST)):
                yield group
                group, rows, before = [], 0, before + rows
    except DocumentError as error:  # write the earlier row batches first
        fault = error
    if group:
        yield group
    if fault:
        raise fault


class Loader:
    """Writes groups of row batches; caches the keys that it has assigned or looked up.

    If the process is killed before the indexes are built, the next writer builds them (`schema.complete`); until then
    queries are only slower.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._ids: list[str] = []
        self._index = _Indices(self._ids)  # index of an entity in the list above and the arrays below
        self._names: list[str] = []  # ids of the reader whose numbers the next array maps
        self._index_of_number = np.empty(0, np.int64)
        self._entities = np.empty(0, np.int64)
        self._implied = np.empty(0, np.int64)  # key of the implied profile, or 0
        self._written: list[Filed] = []
        connection.execute("PRAGMA wal_autocheckpoint = 65536")
        self._last = self._last_fact()
        self._empty = self._last == 0
        connection.execute(f"PRAGMA cache_size = {_CACHE}")
        schema.merge_at(connection, schema.MERGED_AT_OF_LOAD)
        self.part = _PART_OF_EMPTY if self._empty else _PART

    def insert(self, row_batches: list[RowBatch]) -> list[bool]:
        """Write row batches within a transaction; return which were new."""
        if (last := self._last_fact()) != self._last:  # written by another writer: only the index finds these
            self._last, self._empty = last, False
            schema.complete(self._connection)
        if self._empty:
            self._connection.execute("DROP INDEX IF EXISTS fact_id")
        fresh: list[tuple[int, RowBatch]] = []
        new: list[bool] = []
        for row_batch in row_batches:
            known = self._connection.execute("SELECT 1 FROM document WHERE id = ?", (row_batch.document.id,)).fetchone()
            new.append(known is None)
            if known is None:
                fresh.append((_insert_document(self._connection, row_batch), row_batch))
        if fresh:
            ends = self._entities_of([row_batch for _, row_batch in fresh])
            self._insert_appearances(fresh, ends)
            self._insert_facts(fresh, ends)
            self._last = self._last_fact()
        for _, row_batch in fresh:
            journal.note(self._connection, row_batch.document.id, parts=(row_batch.stamp,))
        return new

    def _last_fact(self) -> int:
        last: int = self._connection.execute("SELECT coalesce(max(key), 0) FROM fact").fetchone()[0]
        return last

    def _entities_of(self, row_batches: list[RowBatch]) -> list[_Ends]:
        """Return the ends of the rows; look up or create the keys of all entities of row batches."""
        known = len(self._ids)
        ends = [
            _Ends(self._row_entities(rows.names, rows.subjects), self._row_entities(rows.names, rows.objects))
            for rows in (row_batch.rows for row_batch in row_batches)
        ]
        for entity in chain.from_iterable(row_batch.entities for row_batch in row_batches):
            self._indices((entity.id, *filter(None, (entity.about,))))
        new = self._ids[known:]
        order = sorted(range(len(new)), key=new.__getitem__)
        keys = np.zeros(len(new), np.int64)
        keys[order] = self._entity_keys([new[place] for place in order])
        self._entities = np.append(self._entities, keys)
        self._implied = np.append(self._implied, np.zeros(len(new), np.int64))
        return ends

    def _row_entities(self, names: Names, numbers: array[int]) -> NDArray[np.int64]:
        """Return the indices of entities that a reader has numbered; each id is looked up once."""
        if names.ids is not self._names:
            self._names, self._index_of_number = names.ids, np.empty(0, np.int64)
        unknown = np.full(len(names.ids) - len(self._index_of_number), -1)
        if len(unknown):
            self._index_of_number = np.append(self._index_of_number, unknown)
        wanted = np.asarray(numbers)
        places: NDArray[np.int64] = self._index_of_number[wanted]
        if len(places) and places.min() < 0:
            new = _sorted_unique(wanted[places < 0])
            self._index_of_number[new] = self._indices(names.ids[number] for number in new.tolist())
            places = self._index_of_number[wanted]
        return places

    def _indices(self, ids: Iterable[str]) -> NDArray[np.int64]:
        return np.fromiter(map(self._index.__getitem__, ids), np.int64)

    def _entity_keys(self, ids: list[str]) -> Sequence[int]:
        """Return the keys of entities, creating missing ones."""
        made = insert_columns(self._connection, "entity", {"id": ids}, count=len(ids), passing_over=True)
        if made == len(ids):
            return _last_keys(self._connection, "entity", made)
        select = "SELECT id, key FROM entity WHERE id IN (SELECT value FROM json_each(?))"
        found = dict(self._connection.execute(select, (json.dumps(ids),)).fetchall())
        return [found[identity] for identity in ids]

    def _insert_appearances(self, row_batches: list[tuple[int, RowBatch]], ends: list[_Ends]) -> None:
        """Write the profiles of the row batches, as kg/store/rules/validated.py does for documents without mentions."""
        bare = [self._undescribed(row_batch, used) for (_, row_batch), used in zip(row_batches, ends, strict=True)]
        used = np.concatenate(bare)
        self._add_implied_profiles(_sorted_unique(used[self._implied[used] == 0]))
        for (document, row_batch), others in zip(row_batches, bare, strict=True):
            own = np.fromiter(map(self._profile, dict.fromkeys(row_batch.entities)), np.int64)
            profiles = _sorted_unique(np.concatenate([own, self._implied[others]]))
            insert_appearances(self._connection, document, profiles.tolist())

    def _undescribed(self, row_batch: RowBatch, ends: _Ends) -> NDArray[np.int64]:
        """Return the distinct indices of entities that a row batch uses without describing."""
        used = _sorted_unique(np.concatenate(ends))
        if not row_batch.entities:
            return used
        about = self._indices(entity.about for entity in row_batch.entities if entity.about)
        return np.setdiff1d(np.union1d(used, about), self._indices(entity.id for entity in row_batch.entities))

    def _add_implied_profiles(self, places: NDArray[np.int64]) -> None:
        """Look up or create the implied profiles of entities."""
        places = places[np.argsort(self._entities[places])]
        entities = self._entities[places].tolist()
        wanted = [bare_name(self._ids[place]) for place in places.tolist()]
        records = [codec.bare_out(kind, name) for kind, name in wanted]
        profiles = self._implied_keys(entities, records)
        self._implied[places] = profiles
        self._insert_names([(normal_name(name), key, name, 0) for key, (_, name) in zip(profiles, wanted, strict=True)])

    def _implied_keys(self, entities: list[int], records: list[str]) -> Sequence[int]:
        """Return the keys of implied profiles, creating missing ones."""
        count = len(records)
        columns: dict[str, Iterable[object]] = {"entity": entities, "record": records}
        shared = {"implied": 1}
        made = insert_columns(self._connection, "profile", columns, count=count, shared=shared, passing_over=True)
        if made == count:
            return _last_keys(self._connection, "profile", made)
        found = self._connection.execute(
            "SELECT entity, record, key FROM profile WHERE implied AND entity IN (SELECT value FROM json_each(?))",
            (json.dumps(entities),),
        )
        keys = {(entity, record): key for entity, record, key in found}
        return [keys[pair] for pair in zip(entities, records, strict=True)]

    def _profile(self, entity: Entity) -> int:
        row = (int(self._entities[self._index[entity.id]]), codec.entity_out(entity))
        select = "SELECT key FROM profile WHERE entity = ? AND NOT implied AND record = ?"
        found = self._connection.execute(select, row).fetchone()
        if found is not None:
            return int(found[0])
        made = self._connection.execute("INSERT INTO profile (entity, implied, record) VALUES (?, 0, ?)", row)
        key = int(made.lastrowid or 0)
        self._insert_names([(normal_name(name), key, name, code) for name, code in _names(entity)])
        return key

    def _insert_names(self, names: list[tuple[str, int, str, int]]) -> None:
        """Write the folded names and codes by which profiles are found."""
        columns = dict(zip(("folded", "profile", "name", "code"), zip(*names, strict=True), strict=False))
        if names:
            insert_columns(self._connection, "profile_name", columns, count=len(names), passing_over=True)

    def _insert_facts(self, row_batches: list[tuple[int, RowBatch]], ends: list[_Ends]) -> None:
        """Write facts and evidence column by column, after deduplication."""
        stated = Stated.of([row_batch for _, row_batch in row_batches])
        leads = stated.leader == np.arange(len(stated.leader))
        keys = np.zeros(len(leads), np.int64)
        for row, key in self._existing(stated, leads):
            keys[row], leads[row] = key, False
        keys[leads] = np.arange(np.count_nonzero(leads)) + self._last + 1
        if self._empty:
            self._written = Filed.of(stated.heads[leads], self._last + 1).with_those_before(self._written)
        subjects, objects = (self._entities[np.concatenate(side)].tolist() for side in zip(*ends, strict=True))
        columns: dict[str, Iterable[object]] = {
            "key": keys.tolist(),
            "id": stated.facts,
            "subject": subjects,
            "relation": _chained(row_batches, "relations"),
            "object": objects,
            "negative": _chained(row_batches, "negatives"),
            "claim": stated.claims,
        }
        if not leads.all():
            leading = leads.tolist()
            columns = {name: compress(column, leading) for name, column in columns.items()}
        insert_columns(self._connection, "fact", columns, count=int(np.count_nonzero(leads)))
        self._connection.execute(f"{FACT_ENDS} WHERE key > ?", (self._last,))
        _write_evidence(self._connection, row_batches, keys[stated.leader].tolist(), stated.places)

    def _existing(self, stated: Stated, leads: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        """Yield (row, fact key) for rows whose facts exist already."""
        rows = np.flatnonzero(leads)
        if self._empty:
            rows = rows[np.argsort(stated.heads[rows])]  # sorted lookups are several times faster
            matches = [each.alike(stated.heads[rows]) for each in self._written]
            keys = np.concatenate([rows[:0], *(keys for _, keys in matches)]).tolist()
            rows = rows[np.concatenate([rows[:0], *(places for places, _ in matches)])]
            found = self._connection.execute(_BY_KEY, (json.dumps(keys),))
        else:
            ids = [stated.facts[row] for row in rows.tolist()]
            found = self._connection.execute(_BY_ID, (json.dumps(ids),))
        known = {(fact, claim): key for fact, claim, key in found}
        for row in rows.tolist() if known else ():
            key = known.get((stated.facts[row], stated.claims[row]))
            if key is not None:
                yield row, key


def insert_appearances(connection: sqlite3.Connection, document: int, profiles: list[int]) -> None:
    """Write the profiles of a document; `profiles` must be sorted and distinct."""
    record = msgspec.json.encode(profiles).decode()
    connection.execute("INSERT INTO appearance (document, profiles) VALUES (?, ?)", (document, record))
    connection.execute("INSERT INTO appearing (rowid, profiles) VALUES (?, ?)", (document, record))


def _insert_document(connection: sqlite3.Connection, row_batch: RowBatch) -> int:
    document = row_batch.document
    first = first_key(document.published_on)
    key: int = connection.execute(
        "SELECT coalesce(max(key) + 1, :first) FROM document WHERE key >= :first AND key < :next",
        {"first": first, "next": first + DAY_ROOM},
    ).fetchone()[0]
    recorded = microseconds(utc(row_batch.recorded_at))
    connection.execute(
        "INSERT INTO document (key, id, path, recorded_at, signature, head) VALUES (?, ?, ?, ?, ?, ?)",
        (key, document.id, document.path, recorded, document.signature, codec.head_out(document)),
    )
    connection.execute(
        "INSERT INTO body (document, content, terms) VALUES (?, ?, ?)",
        (key, row_batch.packed, _NO_WORDS),
    )
    return key


def _names(entity: Entity) -> Iterator[tuple[str, int]]:
    yield entity.name, 0
    yield from ((alias.name, 0) for alias in entity.aliases)
    yield from ((code, 1) for code in entity.codes)


def _chained(row_batches: list[tuple[int, RowBatch]], column: str) -> Iterator[Any]:
    return chain.from_iterable(getattr(row_batch.rows, column) for _, row_batch in row_batches)


def _write_evidence(
    connection: sqlite3.Connection, row_batches: list[tuple[int, RowBatch]], facts: list[int], places: list[int]
) -> None:
    done = 0
    for document, row_batch in row_batches:
        rows, text, size = row_batch.rows, row_batch.document.text, len(row_batch.rows)
        span = slice(done, done + size)
        done += size
        shared = {
            "document": document,
            "recorded_at": microseconds(utc(row_batch.recorded_at)),
            "extractor": row_batch.extractor,
        }
        columns: dict[str, Sequence[object]] = {
            "fact": facts[span],
            "place": places[span],
            "start": rows.starts,
            "end": rows.stops,
            "speaker": rows.speakers,
            "confidence": rows.confidences,
        }
        for name in ("place", "speaker", "confidence"):  # usually equal in all rows
            if len(set(columns[name])) == 1:
                shared[name] = columns.pop(name)[0]
        quotes = map(text.__getitem__, map(slice, rows.starts, rows.stops))
        insert_columns(connection, "evidence", {**columns, "quote": quotes}, count=size, shared=shared)


def _sorted_unique(numbers: NDArray[Any]) -> NDArray[Any]:
    """Sort and deduplicate numbers; for a thousand, twenty times faster than np.unique."""
    ordered = np.sort(numbers)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)]]


def _last_keys(connection: sqlite3.Connection, table: str, count: int) -> range:
    """Return the keys of the last `count` rows, which are consecutive if inserted together without skipping."""
    last = connection.execute(f"SELECT coalesce(max(key), 0) FROM {table}").fetchone()[0]  # noqa: S608
    return range(last - count + 1, last + 1)


class _Ends(NamedTuple):
    """The entity indices at the ends of a row batch's rows."""

    subjects: NDArray[np.int64]
    objects: NDArray[np.int64]


class _Indices(dict[str, int]):
    """Indices of ids, assigned on first lookup."""

    def __init__(self, ids: list[str]) -> None:
        super().__init__()
        self._ids = ids

    def __missing__(self, identity: str) -> int:
        """Assign the next index."""
        self[identity] = place = len(self._ids)
        self._ids.append(identity)
        return place
