"""Many rows into a SQLite base at once: the rows of `kg/store/sqlite_writer.py` for sheets, in large transactions.

Facts go in sorted by id, so that the index over ids is walked once per transaction and not jumped about in; keys are
given here, so that evidence needs no look-up unless a fact was known already.
"""

from __future__ import annotations

import json
import re
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from kg.errors import DocumentError
from kg.ids import fact_ids, normal_name
from kg.store import codec, journal, schema
from kg.store.prepared import bare_entity, utc
from kg.store.schema import DAY_ROOM, first_key, microseconds

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from kg.model import Entity
    from kg.store.sheet import Sheet

ROWS_AT_ONCE, ROWS_AT_MOST = 250_000, 1_000_000
_NO_WORDS = zlib.compress(b"", 1)
_CACHE = -1_048_576  # KB: the indexes of ten million facts stay in memory while they grow


# A base without facts is in no need of these while it is filled; the unique ones stay.
_INDEXES = {
    found[1]: found[0].replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS")
    for found in re.finditer(r"CREATE INDEX (\w+) ON (?:fact|evidence|appearance|profile_name) [^;]+", schema.VERSION_1)
}


def batches(sheets: Iterable[Sheet]) -> Iterator[list[Sheet]]:
    """Put sheets together until there are rows enough for a transaction.

    A transaction writes a page of the index over ids for nearly each page that there is, so that many rows take larger
    ones: a quarter of what went before, within bounds.

    Raises:
        DocumentError: what the sheets raise, once those before have been handed on.
    """
    batch: list[Sheet] = []
    rows, before, fault = 0, 0, None
    try:
        for sheet in sheets:
            batch.append(sheet)
            rows += len(sheet.rows)
            if rows >= max(ROWS_AT_ONCE, min(before // 4, ROWS_AT_MOST)):
                yield batch
                batch, rows, before = [], 0, before + rows
    except DocumentError as error:  # what came before shall be written
        fault = error
    if batch:
        yield batch
    if fault:
        raise fault


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
            journal.note(self._connection, sheet.document.id, said=(sheet.stamp,))
        return new

    def finish(self) -> None:
        """Build the indexes that are missing, within a transaction."""
        for statement in _INDEXES.values():
            self._connection.execute(statement)

    def _insert_profiles(self, sheets: list[tuple[int, Sheet]]) -> None:
        """Write what the sheets say of entities, as kg/store/prepared.py makes it of documents without mentions."""
        described = [{entity.id for entity in sheet.entities} for _, sheet in sheets]
        bare = [_bare(sheet, own) for (_, sheet), own in zip(sheets, described, strict=True)]
        self._know_entities(set().union(*described, *bare))
        self._know_bare(set().union(*bare))
        profiles, documents = [], []
        for (document, sheet), others in zip(sheets, bare, strict=True):
            own = list(map(self._profile, dict.fromkeys(sheet.entities)))
            profiles.append(np.fromiter((*own, *map(self._implied.__getitem__, others)), np.int64))
            documents.append(np.full(len(profiles[-1]), document))
        one, other = np.concatenate(profiles), np.concatenate(documents)
        order = np.lexsort((other, one))
        self._connection.executemany(
            "INSERT INTO appearance (profile, document) VALUES (?, ?)",
            zip(one[order].tolist(), other[order].tolist(), strict=True),
        )

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
        (key, sheet.packed, _NO_WORDS),
    )
    return key


def _bare(sheet: Sheet, described: set[str]) -> list[str]:
    """Return what a sheet uses and does not describe, each once."""
    about = {entity.about for entity in sheet.entities} - {""} - described
    return [*(end for end in sheet.rows.ends if end not in described), *sorted(about.difference(sheet.rows.ends))]


def _names(entity: Entity) -> Iterator[tuple[str, int]]:
    yield entity.name, 0
    yield from ((alias.name, 0) for alias in entity.aliases)
    yield from ((code, 1) for code in entity.codes)


def _insert_facts(connection: sqlite3.Connection, entities: dict[str, int], sheets: list[tuple[int, Sheet]]) -> None:
    """Write facts and evidence by id; a fact of several rows is looked at by itself, all others column by column."""
    said = _Said.of(sheets)
    first: int = connection.execute("SELECT coalesce(max(key), 0) + 1 FROM fact").fetchone()[0]
    leaders = said.order[said.leader[said.order] == said.order]
    keys = np.empty(len(said.order), np.int64)
    keys[leaders] = np.arange(first, first + len(leaders))
    ends = [np.array([entities[end] for end in sheet.rows.ends], np.int64) for _, sheet in sheets]
    subjects, objects = (
        np.concatenate([known[getattr(sheet.rows, side)] for known, (_, sheet) in zip(ends, sheets, strict=True)])
        for side in ("subjects", "objects")
    )
    facts = list(
        zip(
            *(keys.tolist(), said.facts, subjects.tolist()),
            *([item for _, sheet in sheets for item in sheet.rows.relations], objects.tolist()),
            *([item for _, sheet in sheets for item in sheet.rows.negatives], said.claims),
            strict=True,
        )
    )
    before = connection.total_changes
    connection.executemany(
        "INSERT INTO fact (key, id, subject, relation, object, negative, claim) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        map(facts.__getitem__, leaders.tolist()),
    )
    if connection.total_changes - before < len(leaders):
        _take_known(connection, said, leaders, keys=keys)
    keys = keys[said.leader]
    rows = list(zip(keys.tolist(), *_evidence(sheets, said.places), strict=True))
    connection.executemany(
        "INSERT INTO evidence "
        '(fact, document, place, start, "end", quote, recorded_at, speaker, confidence, extractor) '
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        map(rows.__getitem__, said.order.tolist()),
    )


@dataclass(frozen=True, slots=True)
class _Said:
    """What the rows of several sheets state, one after another.

    Attributes:
        facts: the ids; `claims` how they are worded: by the first row of a sheet that states the fact.
        places: how many rows of the sheet stated the fact before.
        leader: for each row the first row of the same fact in the same words.
        order: the rows by fact.
    """

    facts: list[str]
    claims: list[str]
    places: list[int]
    leader: NDArray[np.int64]
    order: NDArray[np.int64]

    @staticmethod
    def of(sheets: list[tuple[int, Sheet]]) -> _Said:
        """Look at the rows of sheets."""
        digests = b"".join(sheet.rows.digests for _, sheet in sheets)
        head = np.frombuffer(digests, ">u8")[::2]
        order = np.argsort(head, kind="stable")
        ordered = head[order]
        twice = np.zeros(len(order) + 1, bool)
        twice[1:-1] = ordered[1:] == ordered[:-1]
        said = _Said(
            facts=fact_ids(digests),
            claims=[claim for _, sheet in sheets for claim in sheet.rows.claims],
            places=[0] * len(order),
            leader=np.arange(len(order)),
            order=order,
        )
        owner = np.repeat(np.arange(len(sheets)), [len(sheet.rows) for _, sheet in sheets])
        said._join(np.sort(order[twice[1:] | twice[:-1]]).tolist(), owner)
        return said

    def _join(self, rows: list[int], owner: NDArray[np.int64]) -> None:
        """Settle rows, in their order, whose facts others may state too."""
        worded: dict[tuple[int, str], tuple[str, int]] = {}
        leaders: dict[tuple[str, str], int] = {}
        for row in rows:
            fact, sheet = self.facts[row], int(owner[row])
            claim, place = worded.get((sheet, fact), (self.claims[row], 0))
            worded[sheet, fact] = claim, place + 1
            self.claims[row], self.places[row] = claim, place
            self.leader[row] = leaders.setdefault((fact, claim), row)


def _take_known(
    connection: sqlite3.Connection, said: _Said, leaders: NDArray[np.int64], *, keys: NDArray[np.int64]
) -> None:
    """Give the facts that were there already their keys."""
    first = int(keys[leaders[0]])
    made = np.fromiter(
        (key for (key,) in connection.execute("SELECT key FROM fact WHERE key >= ?", (first,))), np.int64
    )
    there = leaders[~np.isin(keys[leaders], made)].tolist()
    rows = connection.execute(
        "SELECT id, claim, key FROM fact WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted({said.facts[row] for row in there})),),
    )
    known = {(fact, claim): key for fact, claim, key in rows}
    for row in there:
        keys[row] = known[said.facts[row], said.claims[row]]


def _evidence(sheets: list[tuple[int, Sheet]], places: list[int]) -> Iterator[Iterable[Any]]:
    """Yield the columns of the evidence but for the fact; the sheets' own are as long as need be."""
    rows = [sheet.rows for _, sheet in sheets]
    yield (document for document, sheet in sheets for _ in range(len(sheet.rows)))
    yield places
    yield (start for each in rows for start in each.starts)
    yield (stop for each in rows for stop in each.stops)
    yield (
        text[start:stop]
        for _, sheet in sheets
        for text in (sheet.document.text,)
        for start, stop in zip(sheet.rows.starts, sheet.rows.stops, strict=True)
    )
    yield (read for _, sheet in sheets for read in repeat(microseconds(utc(sheet.recorded_at)), len(sheet.rows)))
    yield (speaker for each in rows for speaker in each.speakers)
    yield (sure for each in rows for sure in each.confidences)
    yield (name for _, sheet in sheets for name in repeat(sheet.extractor, len(sheet.rows)))
