"""Read the column table (kg/store/columns.py) of a SQLite store with a few scans."""

from __future__ import annotations

import json
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from kg.model import Kind, Modality, Polarity
from kg.store import codec
from kg.store.columns import NEVER, OPEN_END, OPEN_START, FactTable, Texts
from kg.store.rules.superseding import one_at_a_time, place_of, same_matter
from kg.store.sqlite import journal
from kg.store.visibility import DAY_BITS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray

    from kg.period import Period
    from kg.relations import Vocabulary
    from kg.store.columns import State, Touched

_KINDS = {kind.value: number for number, kind in enumerate(Kind)}
_MODALITIES = {modality: number for number, modality in enumerate(Modality)}
_DIRECTIONS = {"up": 1, "down": -1}
_BATCH = 100_000
Columns = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SqliteSource:
    """The table of a base, and what is not in it.

    Attributes:
        path: the base; graphs compiled from its table are kept next to it.
        lend: opens a connection within a transaction.
        period: the period to which the view of this source is restricted.
        judged: entities that judgements change, so that the table is wrong about them (kg/store/rules/identities.py).
        judged_facts: facts with such an entity at an end, by their current ids, and facts that compete with them.
    """

    path: Path
    lend: Callable[[], AbstractContextManager[sqlite3.Connection]]
    period: Period | None = None
    judged: frozenset[str] = frozenset()
    judged_facts: frozenset[str] = frozenset()

    @contextmanager
    def reading(self) -> Iterator[SqliteReader]:
        """Open the current state."""
        with self.lend() as connection:
            yield SqliteReader(connection)


@dataclass(frozen=True, slots=True)
class SqliteReader:
    """One state of a store."""

    connection: sqlite3.Connection

    def state(self) -> State:
        """Return the state."""
        return journal.state(self.connection)

    def touched(self, since: State, words: Vocabulary) -> Touched | None:
        """Return what changed after an earlier state."""
        return journal.touched(self.connection, since, words)

    def table(self, words: Vocabulary) -> FactTable:
        """Read all columns."""
        return read_table(self.connection, words)


def read_table(connection: sqlite3.Connection, words: Vocabulary) -> FactTable:
    """Read the whole store; call within a transaction."""
    documents, row_of_document = _documents(connection)
    entities, node_of_entity = _entities(connection)
    profiles = _profiles(connection, node_of_entity, row_of_document)
    facts, row_of_fact = _facts(connection, words, node_of_entity)
    evidence = _evidence(connection, row_of_fact, row_of_document)
    return FactTable(**documents, **entities, **profiles, **facts, **evidence)


class _Rows:
    """Maps arbitrary keys to row numbers."""

    def __init__(self, keys: NDArray[np.int64], rows: NDArray[np.int32]) -> None:
        order = np.argsort(keys, kind="stable")
        self._keys, self._rows = keys[order], rows[order]

    def __call__(self, keys: NDArray[np.int64]) -> NDArray[np.int32]:
        return self._rows[np.searchsorted(self._keys, keys)]


def _documents(connection: sqlite3.Connection) -> tuple[Columns, _Rows]:
    keys = _numbers(connection, f"SELECT key, coalesce(recorded_at, {NEVER}) FROM document "  # noqa: S608 - a constant
                    f"ORDER BY key >> {DAY_BITS}, id", 2)  # fmt: skip
    rows = _Rows(keys[:, 0], np.arange(len(keys), dtype=np.int32))
    pairs = _numbers(connection, "SELECT c.document, d.key FROM copy AS c JOIN document AS d ON d.id = c.other", 2)
    return {
        "document_day": (keys[:, 0] >> DAY_BITS).astype(np.int32),
        "document_read": keys[:, 1].copy(),
        "copy_one": rows(pairs[:, 0]) if len(pairs) else np.empty(0, np.int32),
        "copy_other": rows(pairs[:, 1]) if len(pairs) else np.empty(0, np.int32),
    }, rows


def _entities(connection: sqlite3.Connection) -> tuple[Columns, _Rows]:
    keys: list[int] = []

    def ids() -> Iterator[str]:
        for key, identity in connection.execute("SELECT key, id FROM entity ORDER BY id"):
            keys.append(key)
            yield identity

    texts = Texts.of(ids())
    rows = _Rows(np.array(keys, dtype=np.int64), np.arange(len(keys), dtype=np.int32))
    return {"entity_texts": texts.content, "entity_ends": texts.ends}, rows


def _profiles(connection: sqlite3.Connection, nodes: _Rows, documents: _Rows) -> Columns:
    keys, entity, implied, kind = [], [], [], []
    about: dict[int, str] = {}
    records: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    rows = connection.execute(
        "SELECT p.key, p.entity, p.implied, p.record, t.id FROM profile AS p JOIN entity AS t ON t.key = p.entity "
        "ORDER BY t.id, p.key"
    )
    for place, (key, entity_key, is_implied, record, identity) in enumerate(rows):
        kind_name, _, _, _, anchor = json.loads(record)
        keys.append(key)
        entity.append(entity_key)
        implied.append(is_implied)
        kind.append(_KINDS[kind_name])
        if anchor:
            about[place] = anchor
        records[entity_key].append((place, identity, record))
    rank = np.zeros(len(keys), dtype=np.int32)
    for same in records.values():
        if len(same) > 1:  # the tie-breaking order of kg/store/rules/merging.py
            ordered = sorted((repr(codec.entity_in(identity, record)), place) for place, identity, record in same)
            rank[[place for _, place in ordered]] = range(len(ordered))
    places = _Rows(np.array(keys, dtype=np.int64), np.arange(len(keys), dtype=np.int32))
    seen = _appearances(connection)
    held = places(seen[:, 0]) if len(seen) else np.empty(0, np.int32)
    order = np.argsort(held, kind="stable")
    return {
        "profile_entity": nodes(np.array(entity, dtype=np.int64)) if entity else np.empty(0, np.int32),
        "profile_implied": np.array(implied, dtype=np.int8),
        "profile_kind": np.array(kind, dtype=np.int8),
        "profile_about": _anchors(connection, about, len(keys), nodes),
        "profile_rank": rank,
        "profile_ends": np.concatenate([[0], np.cumsum(np.bincount(held, minlength=len(keys)))]).astype(np.int64),
        "seen_in": documents(seen[order, 1]) if len(seen) else np.empty(0, np.int32),
    }


def _appearances(connection: sqlite3.Connection) -> NDArray[np.int64]:
    """Return (profile, document) pairs."""
    found = [np.empty((0, 2), np.int64)]
    for document, profiles in connection.execute("SELECT document, profiles FROM appearance"):
        keys = np.array(json.loads(profiles), np.int64)
        found.append(np.stack([keys, np.full(len(keys), document)], axis=1))
    return np.concatenate(found)


def _anchors(connection: sqlite3.Connection, about: dict[int, str], size: int, nodes: _Rows) -> NDArray[np.int32]:
    found = np.full(size, -1, dtype=np.int32)
    if about:
        wanted = json.dumps(sorted(set(about.values())), ensure_ascii=False)
        rows = connection.execute("SELECT id, key FROM entity WHERE id IN (SELECT value FROM json_each(?))", (wanted,))
        keys = dict(rows.fetchall())
        places = [place for place, anchor in about.items() if anchor in keys]
        found[places] = nodes(np.array([keys[about[place]] for place in places], dtype=np.int64))
    return found


_FACT = np.dtype(
    [("key", "i8"), ("subject", "i8"), ("object", "i8"), ("relation", "i2"), ("sign", "i1"), ("negative", "i1"),
     ("modality", "i1"), ("stated", "i1"), ("start", "i4"), ("end", "i4"), ("cause", "i1"), ("effect", "i1"),
     ("place", "i8")]
)  # fmt: skip


def _facts(connection: sqlite3.Connection, words: Vocabulary, nodes: _Rows) -> tuple[Columns, _Rows]:
    relations = {name: number for number, name in enumerate(words.relations)}
    ones = {name for name in relations if one_at_a_time(name, words)}
    ids: list[NDArray[np.bytes_]] = []
    parts: list[NDArray[Any]] = []
    cursor = connection.execute("SELECT key, id, subject, relation, object, claim FROM fact")
    while rows := cursor.fetchmany(_BATCH):
        ids.append(np.array([row[1].encode() for row in rows], dtype=np.bytes_))
        parts.append(np.array([_fact_row(row, relations, ones, words) for row in rows], dtype=_FACT))
    table = np.concatenate(parts) if parts else np.empty(0, _FACT)
    identities = np.concatenate(ids) if ids else np.empty(0, "S1")
    rank = np.empty(len(table), dtype=np.int64)
    by_id = np.argsort(identities, kind="stable")
    is_new = np.ones(len(by_id), dtype=np.bool_)
    is_new[1:] = identities[by_id[1:]] != identities[by_id[:-1]]
    rank[by_id] = np.cumsum(is_new) - 1  # rows with one id but different wordings share a rank
    source = nodes(table["subject"]) if len(table) else np.empty(0, np.int32)
    target = nodes(table["object"]) if len(table) else np.empty(0, np.int32)
    order = np.lexsort((rank, table["relation"], source))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = rank[order[1:]] != rank[order[:-1]]
    row_of_fact = _Rows(table["key"][order], (np.cumsum(first) - 1).astype(np.int32))
    kept = order[first]
    columns: Columns = {
        name: table[name][kept]
        for name in ("relation", "sign", "negative", "modality", "stated", "start", "end", "cause", "effect")
    }
    columns |= {"source": source[kept], "target": target[kept], "fact_id": identities[kept]}
    columns["place"] = _shared(table["place"][kept])
    columns["by_target"] = np.lexsort((rank[kept], columns["relation"], columns["target"])).astype(np.int32)
    columns["by_ends"] = np.lexsort((columns["target"], columns["source"])).astype(np.int32)  # stable
    columns["by_id"] = np.argsort(rank[kept], kind="stable").astype(np.int32)
    pairs = _denials(connection, row_of_fact)
    return columns | {"denied": pairs[:, 0].copy(), "denial": pairs[:, 1].copy()}, row_of_fact


def _fact_row(row: Sequence[Any], relations: dict[str, int], ones: set[str], words: Vocabulary) -> tuple[int, ...]:
    key, _, subject, relation, object_, claim = row
    sign, negative, modality, stated, start, end, cause, effect = _claim(claim)
    place = 0
    if relation in ones and not negative:
        fact = codec.claim_in("", (str(subject), relation, str(object_)), claim, evidence=())
        place = int.from_bytes(blake2b(repr(place_of(fact, words)).encode(), digest_size=8).digest(), signed=True)
    number = relations.get(relation, -1)
    return key, subject, object_, number, sign, negative, modality, stated, start, end, cause, effect, place


@lru_cache(maxsize=65536)
def _claim(claim: str) -> tuple[int, ...]:
    fact = codec.claim_in("", ("", "", ""), claim, evidence=())
    valid, qualifiers = fact.valid, dict(fact.qualifiers)
    start = OPEN_START if valid is None or valid.start is None else valid.start.toordinal()
    end = OPEN_END if valid is None or valid.end is None else valid.end.toordinal()
    directions = (_DIRECTIONS.get(qualifiers.get(name, ""), 0) for name in ("cause_direction", "effect_direction"))
    negative = fact.polarity is Polarity.NEGATIVE
    return fact.sign, int(negative), _MODALITIES[fact.modality], int(valid is not None), start, end, *directions


def _shared(places: NDArray[np.int64]) -> NDArray[np.int32]:
    """Number the places shared by several facts; a fact alone in its place never has a rival and gets −1."""
    known, inverse, counts = np.unique(places, return_inverse=True, return_counts=True)
    shared = (counts > 1) & (known != 0)
    numbers = np.where(shared, np.cumsum(shared) - 1, -1).astype(np.int32)
    return numbers[inverse]


def _denials(connection: sqlite3.Connection, rows: _Rows) -> NDArray[np.int32]:
    """Return (fact row, row of an asserted denial of it), independent of visibility."""
    rivals = connection.execute(
        "SELECT f.key, f.claim, o.key, o.claim FROM fact AS o "
        "CROSS JOIN fact_end AS a ON a.fact_end MATCH o.subject || ' o' || o.object "
        "CROSS JOIN fact AS f ON f.key = a.rowid AND f.relation = o.relation AND NOT f.negative "
        "WHERE o.negative"
    )
    found = []
    for fact_key, claim, other_key, denial in rivals:
        fact, other = (codec.claim_in("", ("", "", ""), text, evidence=()) for text in (claim, denial))
        if other.modality is Modality.ASSERTED and same_matter(fact, other):
            found.append((fact_key, other_key))
    keys = np.array(found, dtype=np.int64).reshape(-1, 2)
    return np.stack([rows(keys[:, 0]), rows(keys[:, 1])], axis=1) if len(keys) else np.empty((0, 2), np.int32)


def _evidence(connection: sqlite3.Connection, facts: _Rows, documents: _Rows) -> Columns:
    speakers: dict[str, int] = {"": 0}
    parts = []
    cursor = connection.execute("SELECT fact, document, recorded_at, speaker, confidence FROM evidence")
    dtype = np.dtype([("fact", "i8"), ("document", "i8"), ("read", "i8"), ("speaker", "i4"), ("sure", "f8")])
    while rows := cursor.fetchmany(_BATCH):
        coded = [(f, d, r, speakers.setdefault(s, len(speakers)), c) for f, d, r, s, c in rows]
        parts.append(np.array(coded, dtype=dtype))
    table = np.concatenate(parts) if parts else np.empty(0, dtype)
    held = facts(table["fact"]) if len(table) else np.empty(0, np.int32)
    order = np.argsort(held, kind="stable")
    table, held = table[order], held[order]
    instants, read = np.unique(table["read"], return_inverse=True)
    confidences, sure = np.unique(table["sure"], return_inverse=True)
    count = int(held[-1]) + 1 if len(held) else 0
    return {
        "evidence_ends": np.concatenate([[0], np.cumsum(np.bincount(held, minlength=count))]).astype(np.int64),
        "evidence_document": documents(table["document"]) if len(table) else np.empty(0, np.int32),
        "evidence_read": read.astype(np.int32),
        "evidence_sure": sure.astype(np.int32),
        "evidence_speaker": table["speaker"].copy(),
        "instants": instants,
        "confidences": confidences,
    }


def _numbers(connection: sqlite3.Connection, statement: str, width: int) -> NDArray[np.int64]:
    parts = []
    cursor = connection.execute(statement)
    while rows := cursor.fetchmany(_BATCH):
        parts.append(np.array(rows, dtype=np.int64))
    return np.concatenate(parts) if parts else np.empty((0, width), dtype=np.int64)
