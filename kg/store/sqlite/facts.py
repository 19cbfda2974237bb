"""Read facts from a SQLite store with their visible evidence and compute superseding among them."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from kg.model import Evidence, Reading
from kg.store import codec
from kg.store.rules.document_facts import written_facts
from kg.store.rules.merging import first_of_families, unite
from kg.store.rules.superseding import one_at_a_time, superseded, superseded_in_groups
from kg.store.sqlite import statements as sql
from kg.store.sqlite.schema import PLACE_BITS
from kg.store.visibility import day_of, instant_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping

    from kg.model import Document, Fact
    from kg.relations import Vocabulary
    from kg.store.visibility import Visibility


Row = tuple[Any, ...]


class SqliteFactReader:
    """Reads facts for one view; create one per read, within a transaction."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        visibility: Visibility,
        vocabulary: Vocabulary,
        *,
        witness: Mapping[str, str],
    ) -> None:
        self._connection, self._visibility, self._vocabulary = connection, visibility, vocabulary
        self._ones = [name for name in vocabulary.relations if one_at_a_time(name, vocabulary)]
        self._subject_ones = [name for name in self._ones if vocabulary[name].one_per == "subject"]
        self._witness = witness

    def everything(self) -> Iterator[Fact]:
        """Stream all facts in id order; only the ids of superseded facts are kept in memory."""
        rows = self._rows(f"{sql.BARE_FACTS} AND {sql.RIVALS} ORDER BY f.subject, f.relation", {})
        groups = groupby(rows, key=itemgetter(2, 3))
        competing = (self._facts(sorted(group, key=itemgetter(1, 0))) for _, group in groups)
        closed = superseded_in_groups(competing, self._vocabulary)
        for fact in self._facts(self._rows(f"{sql.FACTS} ORDER BY f.id, f.key", {})):
            by = closed.get(fact.id)
            yield replace(fact, superseded_by=by) if by else fact

    def matching(self, wanted: Mapping[str, str]) -> list[Fact]:
        """Return the facts that meet all conditions in id order; `wanted` has conditions of `sql.facts_where`."""
        facts = list(self._facts(self._rows(sql.facts_where(wanted), wanted)))
        closed = superseded([*facts, *self._companions(facts, wanted)], self._vocabulary)
        return [replace(fact, superseded_by=closed[fact.id]) if fact.id in closed else fact for fact in facts]

    def _companions(self, facts: list[Fact], wanted: Mapping[str, str]) -> list[Fact]:
        """Return the rivals of facts that the conditions leave out.

        All facts of a subject have their rivals among them, all facts between two ends those that share both ends.
        """
        if "ids" in wanted:
            ids = [fact.id for fact in facts]
        elif {"object", "triples"}.intersection(wanted):
            ids = [fact.id for fact in facts if fact.relation in self._subject_ones]
        else:
            ids = []
        known = {fact.id for fact in facts}
        found = self._facts(self._rows(sql.COMPANIONS, {"ids": json.dumps(ids)})) if ids else ()
        return [fact for fact in found if fact.id not in known]

    def touching(self, entities: str) -> list[Fact]:
        """Return the facts with an end in `entities` (a JSON list of ids), one per wording, without superseding."""
        return list(self._by_wording(self._rows(sql.TOUCHING, {"entities": entities})))

    def _rows(self, statement: str, parameters: Mapping[str, str]) -> Iterator[Row]:
        ones = {"ones": json.dumps(self._ones), "subject_ones": json.dumps(self._subject_ones)}
        return self._connection.execute(statement, {**self._visibility.parameters, **ones, **parameters})

    def _facts(self, rows: Iterable[Row]) -> Iterator[Fact]:
        """Build facts from rows sorted by id; rows with the same id are one fact."""
        for _, group in groupby(rows, key=itemgetter(1)):
            yield unite(list(self._by_wording(group)))

    def _by_wording(self, rows: Iterable[Row]) -> Iterator[Fact]:
        for _, group in groupby(rows, key=itemgetter(0)):
            same = list(group)
            _, identity, subject, relation, object_, claim = same[0][:6]
            evidence = tuple(map(self._evidence, same))
            yield codec.claim_in(identity, (subject, relation, object_), claim, evidence=evidence)

    def _evidence(self, row: Row) -> Evidence:
        return Evidence(
            document=row[7],
            start=row[8],
            end=row[9],
            quote=row[10],
            published_on=day_of(row[6]),
            recorded_at=instant_of(row[11]),
            speaker=row[12],
            witness=self._witness.get(row[7], ""),
            confidence=row[13],
            extractor=row[14],
        )


def visible_witnesses(connection: sqlite3.Connection, visibility: Visibility) -> dict[str, str]:
    """Return, for the visible documents with copies, the first document of their family."""
    copied = dict(connection.execute(sql.COPIED, visibility.parameters).fetchall())
    if not copied:
        return {}
    copied.update(connection.execute(sql.ORIGINS, visibility.parameters).fetchall())
    days = {identity: day_of(key) for identity, key in copied.items()}
    return first_of_families(connection.execute(sql.COPIES), days)


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
# Copies in either direction, because the document written later has the row; removed documents are left out.
_COPIES = """
    SELECT c.other AS id FROM copy AS c JOIN document AS d ON d.id = c.other WHERE c.document = :key
    UNION SELECT d.id FROM copy AS c JOIN document AS d ON d.key = c.document WHERE c.other = :id ORDER BY id
"""


def read_back(connection: sqlite3.Connection, document_id: str) -> Reading | None:
    """Return the stored reading of a document; call within a transaction."""
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
        entities=tuple(codec.entity_in(*row) for row in connection.execute(_ENTITIES, (key,))),
        facts=tuple(_facts(connection, key, document)),
        problems=codec.problems_in(content),
        copies=tuple(other for (other,) in copies),
        recorded_at=None if recorded_at is None else instant_of(recorded_at),
    )


def _facts(connection: sqlite3.Connection, key: int, document: Document) -> Iterator[Fact]:
    return written_facts(connection.execute(_FACTS, (key,)).fetchall(), document)
