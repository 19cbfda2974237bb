"""Journal of what each commit changed, so that compiled graphs can be patched (kg/graph/cache.py).

A commit without an entry only causes a recompilation. The stamp is a hash over all commits, so it distinguishes stores
with the same number of commits but different content.
"""

# ruff: noqa: S608 - no external text enters these strings

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kg.ids import digest
from kg.store.columns import State, Touched
from kg.store.rules.superseding import one_at_a_time
from kg.store.sqlite import statements as sql

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from kg.relations import Vocabulary
    from kg.store.rules.validated import Prepared

_KEPT = 1024  # commits; graphs older than this are recompiled
_SWEPT = 64  # commits between deletions; the oldest entries are on other pages, so delete many at once

STEP = """
CREATE TABLE change (
    revision INTEGER PRIMARY KEY,
    stamp TEXT NOT NULL,
    document TEXT NOT NULL,           -- its id; empty where no document was written or removed
    gone TEXT                         -- JSON of what a removed document touched; NULL for one that was written
);
CREATE INDEX copy_other ON copy (other);
"""

# CROSS JOIN fixes the order of the loops: from the document outwards, never over all facts.
# A document and all documents linked to it by copies, because copies change the number of witnesses of a fact.
_FAMILY = """
    WITH RECURSIVE family (key) AS (
        SELECT key FROM document WHERE id = :id
        UNION SELECT d.key FROM family
            CROSS JOIN copy AS c ON c.document = family.key CROSS JOIN document AS d ON d.id = c.other
        UNION SELECT c.document FROM family
            CROSS JOIN document AS d ON d.key = family.key CROSS JOIN copy AS c ON c.other = d.id
    )
"""
_FACTS = f"""
    {_FAMILY}
    SELECT DISTINCT f.id, s.id, f.relation FROM family
    CROSS JOIN evidence AS e ON e.document = family.key
    CROSS JOIN fact AS f ON f.key = e.fact
    CROSS JOIN entity AS s ON s.key = f.subject
"""
_ENTITIES = """
    SELECT DISTINCT t.id FROM document AS d CROSS JOIN appearance AS b ON b.document = d.key
    CROSS JOIN json_each(b.profiles) AS a CROSS JOIN profile AS p ON p.key = a.value
    CROSS JOIN entity AS t ON t.key = p.entity WHERE d.id = :id
"""
_RIVALS = f"""
    WITH asked (subject, relation) AS (
        SELECT s.key, pair.value ->> 1 FROM json_each(:pairs) AS pair
        CROSS JOIN entity AS s ON s.id = pair.value ->> 0
    ),
    pair (subject, relation) AS MATERIALIZED (SELECT f.subject, f.relation FROM asked AS f WHERE {sql.RIVALS})
    SELECT DISTINCT f.id FROM (SELECT DISTINCT subject FROM pair) AS p
    CROSS JOIN fact_end AS a ON a.fact_end MATCH p.subject
    CROSS JOIN fact AS f ON f.key = a.rowid AND (f.subject, f.relation) IN pair
"""


def note(
    connection: sqlite3.Connection, document_id: str = "", *, gone: str | None = None, parts: Iterable[str] = ()
) -> None:
    """Increment the revision and record what the commit changed; without a document, no facts or entities.

    Args:
        connection: a connection within a transaction.
        document_id: the document that was written or removed.
        gone: the result of `about_to_remove` for a removed document.
        parts: strings to hash for a written document (`content`).
    """
    connection.execute("UPDATE state SET revision = revision + 1")
    revision = int(connection.execute("SELECT revision FROM state").fetchone()[0])
    before = connection.execute("SELECT stamp FROM change WHERE revision = ?", (revision - 1,)).fetchone()
    stamp = digest([before[0] if before else "", str(revision), document_id, gone or "", *parts])
    connection.execute("INSERT INTO change VALUES (?, ?, ?, ?)", (revision, stamp, document_id, gone))
    if revision % _SWEPT == 0:
        connection.execute("DELETE FROM change WHERE revision <= ?", (revision - _KEPT,))


def content(reading: Prepared) -> Iterator[str]:
    """Yield everything of a document that a compiled graph may depend on."""
    yield f"{reading.document.published_on} {reading.recorded_at}"
    yield from reading.copies
    for profile in reading.profiles:
        yield f"{profile.entity.id} {profile.entity.kind} {profile.entity.about} {profile.implied}"
    for fact in reading.facts:
        yield fact.id
        for item in fact.evidence:
            yield f"{item.speaker} {item.confidence!r} {item.recorded_at}"


def about_to_remove(connection: sqlite3.Connection, document_id: str) -> str:
    """Return what removing a document will change, for `note`; call before the removal."""
    facts = connection.execute(_FACTS, {"id": document_id}).fetchall()
    entities = connection.execute(_ENTITIES, {"id": document_id}).fetchall()
    return json.dumps([sorted(facts), sorted(entity for (entity,) in entities)], ensure_ascii=False)


def state(connection: sqlite3.Connection) -> State:
    """Return the state of the store; its stamp begins with the identity of the base."""
    identity, revision, stamp = connection.execute(
        "SELECT s.identity, s.revision, c.stamp FROM state AS s LEFT JOIN change AS c ON c.revision = s.revision"
    ).fetchone()
    if stamp is None:  # the last commit has no entry
        known = connection.execute("SELECT id FROM document ORDER BY key")
        stamp = digest([str(revision), *(identity for (identity,) in known)])
    return State(int(revision), f"{identity}.{stamp}")


def touched(connection: sqlite3.Connection, since: State, words: Vocabulary) -> Touched | None:
    """Return what changed after `since`, including all facts that may supersede a changed fact or be superseded."""
    now = state(connection)
    identity = now.stamp.partition(".")[0]
    rows = connection.execute(
        "SELECT revision, stamp, document, gone FROM change WHERE revision >= ? ORDER BY revision", (since.revision,)
    ).fetchall()
    if rows and rows[0][0] == since.revision:
        if f"{identity}.{rows.pop(0)[1]}" != since.stamp:
            return None  # another store, or one restored from a backup
    elif since.revision or since.stamp:
        return None
    if [row[0] for row in rows] != list(range(since.revision + 1, now.revision + 1)):
        return None
    facts: set[tuple[str, str, str]] = set()
    entities: set[str] = set()
    for _, _, document, gone in rows:
        if gone is not None:
            lost, names = json.loads(gone)
            facts.update(map(tuple, lost))
            entities.update(names)
        elif document:
            facts.update(connection.execute(_FACTS, {"id": document}).fetchall())
            entities.update(name for (name,) in connection.execute(_ENTITIES, {"id": document}))
    pairs = json.dumps(sorted({(subject, relation) for _, subject, relation in facts}), ensure_ascii=False)
    ones = json.dumps([name for name in words.relations if one_at_a_time(name, words)])
    rivals = connection.execute(_RIVALS, {"pairs": pairs, "ones": ones})
    return Touched(frozenset({fact for fact, *_ in facts} | {fact for (fact,) in rivals}), frozenset(entities))
