"""Many rows into a SQLite base at once: the rows of `kg/store/sqlite/writer.py` for sheets, in large transactions.

Keys are given here, so that evidence needs no look-up unless a fact was known already; a base without facts is filled
without the index over their ids, which is built at the end from sorted rows.
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
    """Insert `count` rows, and say how many were inserted.

    Args:
        connection: within a transaction.
        table: its name, never text from outside; nor the names of columns.
        columns: the values of each column, one a row.
        count: how many rows.
        shared: the columns that have one value in all rows.
        passing_over: whether rows that are there already are passed over, and not counted.

    Raises:
        sqlite3.IntegrityError: when a row is there already, and shall not be passed over.
    """
    given = shared or {}
    values = chain.from_iterable(zip(*columns.values(), strict=True))
    inserted = 0
    for size, times in ((ROWS_OF_A_STATEMENT, count // ROWS_OF_A_STATEMENT), (1, count % ROWS_OF_A_STATEMENT)):
        if times:
            rows = zip(*map(repeat, given.values()), *[values] * (len(columns) * size), strict=False)
            statement = _insertion(table, tuple(given), tuple(columns), size)
            statement += " ON CONFLICT DO NOTHING" if passing_over else ""
            inserted += connection.executemany(statement, islice(rows, times)).rowcount
    return inserted


@lru_cache
def _insertion(table: str, shared: tuple[str, ...], columns: tuple[str, ...], size: int) -> str:
    """Return a statement for some rows; the shared values come first."""
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
_PART, _PART_OF_EMPTY = 4, 16  # ids grow in random places but in a base that has no index over them yet
_CACHE = -262_144  # KB: indexes of a million entities stay in memory while they grow


def batches(sheets: Iterable[RowBatch], *, part: int) -> Iterator[list[RowBatch]]:
    """Put sheets together until there are rows enough for a transaction.

    A transaction writes most pages of what grows in random places, so that many rows take larger ones: a part of what
    went before (4 is a fourth), within bounds. The first are small, so that who writes need not wait long.

    Raises:
        DocumentError: what the sheets raise, once those before have been handed on.
    """
    batch: list[RowBatch] = []
    rows, before, fault = 0, 0, None
    try:
        for sheet in sheets:
            batch.append(sheet)
            rows += len(sheet.rows)
            least = min(max(before, ROWS_AT_FIRST), ROWS_AT_ONCE)
            if rows >= max(least, min(before // part, ROWS_AT_MOST)):
                yield batch
                batch, rows, before = [], 0, before + rows
    except DocumentError as error:  # what came before shall be written
        fault = error
    if batch:
        yield batch
    if fault:
        raise fault


class Loader:
    """Writes batches of sheets; keys that it has given or met once are not looked up again.

    Should the process be killed before the indexes are there, whoever writes next builds them (`schema.complete`);
    until then questions are only slower.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._ids: list[str] = []
        self._place = _Places(self._ids)  # of an entity in the list above and the columns below
        self._names: list[str] = []  # of the reader whose numbers the next column is for
        self._place_of_number = np.empty(0, np.int64)
        self._entities = np.empty(0, np.int64)
        self._implied = np.empty(0, np.int64)  # the profile of one that is used and not described, or 0
        self._written: list[Filed] = []
        connection.execute("PRAGMA wal_autocheckpoint = 65536")
        self._last = self._last_fact()
        self._empty = self._last == 0
        connection.execute(f"PRAGMA cache_size = {_CACHE}")
        schema.merge_at(connection, schema.MERGED_AT_OF_LOAD)
        self.part = _PART_OF_EMPTY if self._empty else _PART

    def insert(self, sheets: list[RowBatch]) -> list[bool]:
        """Write sheets within a transaction; say which were new."""
        if (last := self._last_fact()) != self._last:  # somebody else's: only the index knows of those
            self._last, self._empty = last, False
            schema.complete(self._connection)
        if self._empty:
            self._connection.execute("DROP INDEX IF EXISTS fact_id")
        fresh: list[tuple[int, RowBatch]] = []
        new: list[bool] = []
        for sheet in sheets:
            known = self._connection.execute("SELECT 1 FROM document WHERE id = ?", (sheet.document.id,)).fetchone()
            new.append(known is None)
            if known is None:
                fresh.append((_insert_document(self._connection, sheet), sheet))
        if fresh:
            ends = self._know([sheet for _, sheet in fresh])
            self._insert_appearances(fresh, ends)
            self._insert_facts(fresh, ends)
            self._last = self._last_fact()
        for _, sheet in fresh:
            journal.note(self._connection, sheet.document.id, said=(sheet.stamp,))
        return new

    def _last_fact(self) -> int:
        last: int = self._connection.execute("SELECT coalesce(max(key), 0) FROM fact").fetchone()[0]
        return last

    def _know(self, sheets: list[RowBatch]) -> list[_Ends]:
        """Learn the keys of the entities of sheets, and make those that are missing."""
        known = len(self._ids)
        ends = [
            _Ends(self._places(rows.names, rows.subjects), self._places(rows.names, rows.objects))
            for rows in (sheet.rows for sheet in sheets)
        ]
        for entity in chain.from_iterable(sheet.entities for sheet in sheets):
            self._described((entity.id, *filter(None, (entity.about,))))
        new = self._ids[known:]
        order = sorted(range(len(new)), key=new.__getitem__)
        keys = np.zeros(len(new), np.int64)
        keys[order] = self._entity_keys([new[place] for place in order])
        self._entities = np.append(self._entities, keys)
        self._implied = np.append(self._implied, np.zeros(len(new), np.int64))
        return ends

    def _places(self, names: Names, numbers: array[int]) -> NDArray[np.int64]:
        """Return the places of entities that a reader has numbered; each id is looked up once."""
        if names.ids is not self._names:
            self._names, self._place_of_number = names.ids, np.empty(0, np.int64)
        unknown = np.full(len(names.ids) - len(self._place_of_number), -1)
        if len(unknown):
            self._place_of_number = np.append(self._place_of_number, unknown)
        asked = np.asarray(numbers)
        places: NDArray[np.int64] = self._place_of_number[asked]
        if len(places) and places.min() < 0:
            new = _each_once(asked[places < 0])
            self._place_of_number[new] = self._described(names.ids[number] for number in new.tolist())
            places = self._place_of_number[asked]
        return places

    def _described(self, ids: Iterable[str]) -> NDArray[np.int64]:
        return np.fromiter(map(self._place.__getitem__, ids), np.int64)

    def _entity_keys(self, ids: list[str]) -> Sequence[int]:
        """Return the keys of entities, and make those that are missing."""
        made = insert_columns(self._connection, "entity", {"id": ids}, count=len(ids), passing_over=True)
        if made == len(ids):
            return _last_keys(self._connection, "entity", made)
        asked = "SELECT id, key FROM entity WHERE id IN (SELECT value FROM json_each(?))"
        found = dict(self._connection.execute(asked, (json.dumps(ids),)).fetchall())
        return [found[identity] for identity in ids]

    def _insert_appearances(self, sheets: list[tuple[int, RowBatch]], ends: list[_Ends]) -> None:
        """Write the entities of the sheets, as kg/store/rules/validated.py does for documents without mentions."""
        bare = [self._bare(sheet, used) for (_, sheet), used in zip(sheets, ends, strict=True)]
        used = np.concatenate(bare)
        self._imply(_each_once(used[self._implied[used] == 0]))
        for (document, sheet), others in zip(sheets, bare, strict=True):
            own = np.fromiter(map(self._profile, dict.fromkeys(sheet.entities)), np.int64)
            profiles = _each_once(np.concatenate([own, self._implied[others]]))
            insert_appearances(self._connection, document, profiles.tolist())

    def _bare(self, sheet: RowBatch, ends: _Ends) -> NDArray[np.int64]:
        """Return the places of the entities that a sheet uses and does not describe, each once."""
        used = _each_once(np.concatenate(ends))
        if not sheet.entities:
            return used
        about = self._described(entity.about for entity in sheet.entities if entity.about)
        return np.setdiff1d(np.union1d(used, about), self._described(entity.id for entity in sheet.entities))

    def _imply(self, places: NDArray[np.int64]) -> None:
        """Learn the profiles of entities that are used and not described; make those that are missing."""
        places = places[np.argsort(self._entities[places])]
        entities = self._entities[places].tolist()
        wanted = [bare_name(self._ids[place]) for place in places.tolist()]
        records = [codec.bare_out(kind, name) for kind, name in wanted]
        profiles = self._implied_keys(entities, records)
        self._implied[places] = profiles
        self._name([(normal_name(name), key, name, 0) for key, (_, name) in zip(profiles, wanted, strict=True)])

    def _implied_keys(self, entities: list[int], records: list[str]) -> Sequence[int]:
        """Return the keys of profiles of entities that nobody describes, and make those that are missing."""
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
        return [keys[said] for said in zip(entities, records, strict=True)]

    def _profile(self, entity: Entity) -> int:
        row = (int(self._entities[self._place[entity.id]]), codec.entity_out(entity))
        known = "SELECT key FROM profile WHERE entity = ? AND NOT implied AND record = ?"
        found = self._connection.execute(known, row).fetchone()
        if found is not None:
            return int(found[0])
        made = self._connection.execute("INSERT INTO profile (entity, implied, record) VALUES (?, 0, ?)", row)
        key = int(made.lastrowid or 0)
        self._name([(normal_name(name), key, name, code) for name, code in _names(entity)])
        return key

    def _name(self, names: list[tuple[str, int, str, int]]) -> None:
        """Write by which names, folded, profiles are found."""
        columns = dict(zip(("folded", "profile", "name", "code"), zip(*names, strict=True), strict=False))
        if names:
            insert_columns(self._connection, "profile_name", columns, count=len(names), passing_over=True)

    def _insert_facts(self, sheets: list[tuple[int, RowBatch]], ends: list[_Ends]) -> None:
        """Write facts and evidence; a fact of several rows is looked at by itself, all others column by column."""
        said = Stated.of([sheet for _, sheet in sheets])
        leads = said.leader == np.arange(len(said.leader))
        keys = np.zeros(len(leads), np.int64)
        for row, key in self._known(said, leads):
            keys[row], leads[row] = key, False
        keys[leads] = np.arange(np.count_nonzero(leads)) + self._last + 1
        if self._empty:
            self._written = Filed.of(said.heads[leads], self._last + 1).with_those_before(self._written)
        subjects, objects = (self._entities[np.concatenate(side)].tolist() for side in zip(*ends, strict=True))
        columns: dict[str, Iterable[object]] = {
            "key": keys.tolist(),
            "id": said.facts,
            "subject": subjects,
            "relation": _chained(sheets, "relations"),
            "object": objects,
            "negative": _chained(sheets, "negatives"),
            "claim": said.claims,
        }
        if not leads.all():
            leading = leads.tolist()
            columns = {name: compress(column, leading) for name, column in columns.items()}
        insert_columns(self._connection, "fact", columns, count=int(np.count_nonzero(leads)))
        self._connection.execute(f"{FACT_ENDS} WHERE key > ?", (self._last,))
        _write_evidence(self._connection, sheets, keys[said.leader].tolist(), said.places)

    def _known(self, said: Stated, leads: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        """Yield the rows whose facts are there already, with the facts' keys."""
        rows = np.flatnonzero(leads)
        if self._empty:
            rows = rows[np.argsort(said.heads[rows])]  # what is looked up in its order is found several times faster
            alike = [each.alike(said.heads[rows]) for each in self._written]
            keys = np.concatenate([rows[:0], *(keys for _, keys in alike)]).tolist()
            rows = rows[np.concatenate([rows[:0], *(places for places, _ in alike)])]
            found = self._connection.execute(_BY_KEY, (json.dumps(keys),))
        else:
            ids = [said.facts[row] for row in rows.tolist()]
            found = self._connection.execute(_BY_ID, (json.dumps(ids),))
        known = {(fact, claim): key for fact, claim, key in found}
        for row in rows.tolist() if known else ():
            key = known.get((said.facts[row], said.claims[row]))
            if key is not None:
                yield row, key


def insert_appearances(connection: sqlite3.Connection, document: int, profiles: list[int]) -> None:
    """Write which profiles, in their order and each once, a document describes its entities by."""
    told = msgspec.json.encode(profiles).decode()
    connection.execute("INSERT INTO appearance (document, profiles) VALUES (?, ?)", (document, told))
    connection.execute("INSERT INTO appearing (rowid, profiles) VALUES (?, ?)", (document, told))


def _insert_document(connection: sqlite3.Connection, sheet: RowBatch) -> int:
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
        (key, sheet.packed, _NO_WORDS),
    )
    return key


def _names(entity: Entity) -> Iterator[tuple[str, int]]:
    yield entity.name, 0
    yield from ((alias.name, 0) for alias in entity.aliases)
    yield from ((code, 1) for code in entity.codes)


def _chained(sheets: list[tuple[int, RowBatch]], column: str) -> Iterator[Any]:
    return chain.from_iterable(getattr(sheet.rows, column) for _, sheet in sheets)


def _write_evidence(
    connection: sqlite3.Connection, sheets: list[tuple[int, RowBatch]], facts: list[int], places: list[int]
) -> None:
    done = 0
    for document, sheet in sheets:
        rows, text, size = sheet.rows, sheet.document.text, len(sheet.rows)
        here = slice(done, done + size)
        done += size
        shared = {
            "document": document,
            "recorded_at": microseconds(utc(sheet.recorded_at)),
            "extractor": sheet.extractor,
        }
        columns: dict[str, Sequence[object]] = {
            "fact": facts[here],
            "place": places[here],
            "start": rows.starts,
            "end": rows.stops,
            "speaker": rows.speakers,
            "confidence": rows.confidences,
        }
        for name in ("place", "speaker", "confidence"):  # mostly one for all
            if len(set(columns[name])) == 1:
                shared[name] = columns.pop(name)[0]
        quotes = map(text.__getitem__, map(slice, rows.starts, rows.stops))
        insert_columns(connection, "evidence", {**columns, "quote": quotes}, count=size, shared=shared)


def _each_once(numbers: NDArray[Any]) -> NDArray[Any]:
    """Sort numbers and leave out what is there already: for a thousand, twenty times faster than np.unique."""
    ordered = np.sort(numbers)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)]]


def _last_keys(connection: sqlite3.Connection, table: str, count: int) -> range:
    """Return the keys of the rows inserted last, all in one go and none passed over: they follow one another."""
    last = connection.execute(f"SELECT coalesce(max(key), 0) FROM {table}").fetchone()[0]  # noqa: S608
    return range(last - count + 1, last + 1)


class _Ends(NamedTuple):
    """The places of the entities at the ends of a sheet's rows."""

    subjects: NDArray[np.int64]
    objects: NDArray[np.int64]


class _Places(dict[str, int]):
    """Numbers for ids in the order in which they are first asked for."""

    def __init__(self, ids: list[str]) -> None:
        super().__init__()
        self._ids = ids

    def __missing__(self, identity: str) -> int:
        """Give the next number."""
        self[identity] = place = len(self._ids)
        self._ids.append(identity)
        return place
