"""The tables of a knowledge base in one SQLite file, and the migrations that lead to them.

Keys grow with the day: a document's key is `day << 21 | number`, day being `date.toordinal()`, and a passage's key is
`document key << 20 | place`. "Published on or before D" is therefore a comparison of keys wherever a document or
passage is referenced, including the full-text index, and no row repeats a date. Capacity: 2 million documents a day
with a million passages each, in SQLite's 63 bits. SQLite's `user_version` is the number of migration steps applied.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from kg.errors import StoreTooNew, StoreUnusable
from kg.ids import normal_name
from kg.store import codec
from kg.store.sqlite import journal

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

PLACE_BITS = 20
PLACE_ROOM = 1 << PLACE_BITS

APPLICATION = 0x4C54_4B42  # "LTKB" in the file header identifies a knowledge base of Liantu

VERSION_1 = """
CREATE TABLE state (revision INTEGER NOT NULL);
INSERT INTO state VALUES (0);

CREATE TABLE entity (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);

CREATE TABLE document (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL,
    recorded_at INTEGER,              -- microseconds since 1970 UTC; NULL: nobody said, seen by every view
    signature BLOB NOT NULL,
    head TEXT NOT NULL
);
CREATE INDEX document_path ON document (path) WHERE path <> '';
-- Near-duplicates as found by the later reading; by id, because the other one may be removed and come back.
CREATE TABLE copy (
    document INTEGER NOT NULL REFERENCES document,
    other TEXT NOT NULL,
    PRIMARY KEY (document, other)
) WITHOUT ROWID;
-- Under zlib: the text with all that lies along it as JSON, and the indexed words, a line for each passage.
-- The words, because an index without content needs the exact words to delete them, and segmenting the text
-- again may give other words once the dictionary has changed. (contentless_delete needs SQLite 3.43.)
CREATE TABLE body (document INTEGER PRIMARY KEY REFERENCES document, content BLOB NOT NULL, terms BLOB NOT NULL);

CREATE TABLE chunk (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    words INTEGER NOT NULL,
    record TEXT NOT NULL
);
CREATE INDEX chunk_words ON chunk (key, words);   -- lengths for BM25 without reading the passages
-- Words come cut and folded (kg/store/words.py), so the tokenizer has only spaces left to find.
CREATE VIRTUAL TABLE word USING fts5 (terms, content = '', columnsize = 0, tokenize = 'ascii');
CREATE VIRTUAL TABLE word_place USING fts5vocab (word, instance);

CREATE TABLE mention (
    document INTEGER NOT NULL REFERENCES document,
    place INTEGER NOT NULL,
    chunk INTEGER REFERENCES chunk,
    entity INTEGER REFERENCES entity,
    record TEXT NOT NULL,
    PRIMARY KEY (document, place)
) WITHOUT ROWID;
CREATE INDEX mention_entity ON mention (entity, chunk) WHERE entity IS NOT NULL;
CREATE INDEX mention_chunk ON mention (chunk);

-- What documents say about entities. Equal statements are kept once; `appearance` lists the documents.
CREATE TABLE profile (
    key INTEGER PRIMARY KEY,
    entity INTEGER NOT NULL REFERENCES entity,
    implied INTEGER NOT NULL,
    record TEXT NOT NULL,
    UNIQUE (entity, implied, record)
);
CREATE TABLE profile_name (
    folded TEXT NOT NULL,
    profile INTEGER NOT NULL REFERENCES profile,
    name TEXT NOT NULL,
    code INTEGER NOT NULL,            -- 1 for a securities code: found by `named`, no part of `names`
    PRIMARY KEY (folded, profile, name, code)
) WITHOUT ROWID;
CREATE INDEX profile_name_profile ON profile_name (profile);
CREATE TABLE appearance (
    profile INTEGER NOT NULL REFERENCES profile,
    document INTEGER NOT NULL REFERENCES document,
    PRIMARY KEY (profile, document)
) WITHOUT ROWID;
CREATE INDEX appearance_document ON appearance (document);

-- One id may stand in several rows: the id leaves out how a claim was worded (scale, precision), `claim` does not.
CREATE TABLE fact (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    subject INTEGER NOT NULL REFERENCES entity,
    relation TEXT NOT NULL,
    object INTEGER NOT NULL REFERENCES entity,
    negative INTEGER NOT NULL,
    claim TEXT NOT NULL,
    UNIQUE (id, claim)
);
CREATE INDEX fact_subject ON fact (subject, relation);
CREATE INDEX fact_object ON fact (object, relation);
CREATE INDEX fact_relation ON fact (relation);
CREATE INDEX fact_negative ON fact (subject, relation) WHERE negative;
CREATE TABLE evidence (
    fact INTEGER NOT NULL REFERENCES fact,
    document INTEGER NOT NULL REFERENCES document,
    place INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    quote TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    speaker TEXT NOT NULL,
    confidence REAL NOT NULL,
    extractor TEXT NOT NULL,
    PRIMARY KEY (fact, document, place)
) WITHOUT ROWID;
CREATE INDEX evidence_document ON evidence (document);

CREATE TABLE run (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, as_of TEXT NOT NULL, record TEXT NOT NULL);
CREATE INDEX run_as_of ON run (as_of, number);
"""

# Add lifecycle events of themes to a run, and changes since the previous run to a theme (kg/store/codec.py, run_out).
VERSION_2 = """
UPDATE run SET record = json_insert(
    json_replace(
        record, '$[4]',
        (SELECT json_group_array(json_insert(value, '$[5]', json('[]'))) FROM json_each(record, '$[4]'))
    ),
    '$[5]', json('[]')
);
"""

VERSION_4 = """
-- Who is who, as somebody judged (kg/store/identities.py); applied when reading, so no other table knows of it.
CREATE TABLE judgement (
    id TEXT PRIMARY KEY,
    day INTEGER NOT NULL,             -- counts from this day on, as date.toordinal()
    recorded_at INTEGER NOT NULL,
    record TEXT NOT NULL
) WITHOUT ROWID;
"""

# Add the value class of a passage (kg/store/codec.py, chunk_out); existing passages are plain until read again.
VERSION_5 = "UPDATE chunk SET record = json_insert(record, '$[9]', 'plain');"

# Fold traditional and simplified spellings to one name (kg/ids.py); existing names are folded again.
VERSION_6 = "UPDATE OR REPLACE profile_name SET folded = normal_name(name);"

# Writers ensure that no two facts have the same id and claim, and `liantu check` verifies it; a UNIQUE index would be
# larger, and it grows in random places. Earlier versions built these after a bulk load, which may have been killed.
INDEXES = {
    "fact_id": "CREATE INDEX IF NOT EXISTS fact_id ON fact (id)",
    "fact_negative": "CREATE INDEX IF NOT EXISTS fact_negative ON fact (subject, relation) WHERE negative",
    "evidence_document": "CREATE INDEX IF NOT EXISTS evidence_document ON evidence (document)",
    "profile_name_profile": "CREATE INDEX IF NOT EXISTS profile_name_profile ON profile_name (profile)",
}
# Mentions of an entity are found through its documents, so that the index entries of one document are adjacent.
_FACTS_AND_MENTIONS = """
CREATE TABLE fact_7 (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    subject INTEGER NOT NULL REFERENCES entity,
    relation TEXT NOT NULL,
    object INTEGER NOT NULL REFERENCES entity,
    negative INTEGER NOT NULL,
    claim TEXT NOT NULL
);
INSERT INTO fact_7 SELECT * FROM fact;
DROP TABLE fact;
ALTER TABLE fact_7 RENAME TO fact;
DROP INDEX IF EXISTS mention_entity;
DROP INDEX IF EXISTS mention_chunk;
CREATE INDEX mention_entity ON mention (document, entity, chunk) WHERE entity IS NOT NULL;
"""
VERSION_7 = ";\n".join((_FACTS_AND_MENTIONS, *INDEXES.values(), ""))

# The profiles of a document are one row, a JSON list of profile keys, and a full-text index over the lists replaces a
# row per profile, so that a document writes adjacent entries instead of pages all over the file.
VERSION_8 = """
CREATE TABLE appearance_8 (document INTEGER PRIMARY KEY REFERENCES document, profiles TEXT NOT NULL);
INSERT INTO appearance_8
    SELECT document, json_group_array(profile) FROM (SELECT * FROM appearance ORDER BY document, profile)
    GROUP BY document;
DROP TABLE appearance;
ALTER TABLE appearance_8 RENAME TO appearance;
CREATE VIRTUAL TABLE appearing USING fts5 (profiles, content = '', columnsize = 0, detail = none, tokenize = 'ascii');
CREATE VIRTUAL TABLE appearing_place USING fts5vocab (appearing, instance);
INSERT INTO appearing (rowid, profiles) SELECT document, profiles FROM appearance ORDER BY document;
"""

# Facts are found by their ends through a full-text index, whose words are the subject's key and the object's key after
# an `o`: it buffers new facts and merges them later, while a B-tree over each end would write a page per fact.
FACT_ENDS = "INSERT INTO fact_end (rowid, ends) SELECT key, subject || ' o' || object FROM fact"
VERSION_9 = f"""
DROP INDEX IF EXISTS fact_subject;
DROP INDEX IF EXISTS fact_object;
CREATE VIRTUAL TABLE fact_end USING fts5 (ends, content = '', columnsize = 0, detail = none, tokenize = 'ascii');
CREATE VIRTUAL TABLE fact_end_place USING fts5vocab (fact_end, instance);
{FACT_ENDS};
"""

# Add page offsets to document heads, so that citations need not decompress the text. They are copied from the body;
# heads that have them are unchanged (kg/store/codec.py, paged).
VERSION_10 = """
UPDATE document SET head = paged(head, (SELECT b.content FROM body AS b WHERE b.document = document.key));
"""

# Add the publication time of weekly runs; it is unknown for existing runs.
VERSION_11 = "ALTER TABLE run ADD COLUMN recorded_at INTEGER;"

# Delete entities that the invariant `used` (kg/store/sqlite/checks.py) rejects: earlier versions stored the ends of
# claims that were too doubtful to become facts. Documents without mentions come from imported graphs and keep theirs,
# and what somebody judged stays.
VERSION_12 = """
CREATE TABLE unused_12 (profile INTEGER PRIMARY KEY, entity INTEGER NOT NULL);
WITH RECURSIVE used (entity) AS (
    SELECT subject FROM fact UNION SELECT object FROM fact
    UNION SELECT entity FROM mention WHERE entity IS NOT NULL
    UNION SELECT p.entity FROM appearance AS b JOIN json_each(b.profiles) AS a JOIN profile AS p ON p.key = a.value
        WHERE b.document NOT IN (SELECT document FROM mention)
    UNION SELECT t.key FROM judgement AS j JOIN entity AS t ON t.id IN (j.record ->> 1, j.record ->> 2)
    UNION SELECT t.key FROM used JOIN profile AS p ON p.entity = used.entity JOIN entity AS t ON t.id = about(p.record)
)
INSERT INTO unused_12 SELECT key, entity FROM profile WHERE entity NOT IN (SELECT entity FROM used);
CREATE TABLE described_12 (document INTEGER PRIMARY KEY, profiles TEXT NOT NULL);
INSERT INTO described_12 SELECT document, profiles FROM appearance
    WHERE EXISTS (SELECT 1 FROM json_each(profiles) WHERE value IN (SELECT profile FROM unused_12));
INSERT INTO appearing (appearing, rowid, profiles) SELECT 'delete', document, profiles FROM described_12;
UPDATE appearance SET profiles = (
    SELECT json_group_array(value) FROM json_each(profiles) WHERE value NOT IN (SELECT profile FROM unused_12)
) WHERE document IN (SELECT document FROM described_12);
INSERT INTO appearing (rowid, profiles)
    SELECT document, profiles FROM appearance WHERE document IN (SELECT document FROM described_12);
DELETE FROM profile_name WHERE profile IN (SELECT profile FROM unused_12);
DELETE FROM profile WHERE key IN (SELECT profile FROM unused_12);
INSERT INTO change
    SELECT s.revision + 1, coalesce(c.stamp, '') || '+12', '', json_array(
        json('[]'), (SELECT json_group_array(id) FROM entity WHERE key IN (SELECT entity FROM unused_12))
    ) FROM state AS s LEFT JOIN change AS c ON c.revision = s.revision WHERE EXISTS (SELECT 1 FROM unused_12);
UPDATE state SET revision = revision + 1 WHERE EXISTS (SELECT 1 FROM unused_12);
DELETE FROM entity WHERE key IN (SELECT entity FROM unused_12);
DROP TABLE unused_12;
DROP TABLE described_12;
"""

# Give each base a random identity, so that what is cached of one base is never taken for another's.
VERSION_13 = """
ALTER TABLE state ADD COLUMN identity TEXT NOT NULL DEFAULT '';
UPDATE state SET identity = lower(hex(randomblob(16)));
"""

STEPS = (
    *(VERSION_1, VERSION_2, journal.STEP, VERSION_4),
    *(VERSION_5, VERSION_6, VERSION_7, VERSION_8, VERSION_9),
    *(VERSION_10, VERSION_11, VERSION_12, VERSION_13),
)


def complete(connection: sqlite3.Connection) -> None:
    """Build the indexes that a killed bulk load of an earlier version left out."""
    connection.execute("PRAGMA threads = 1")  # one additional thread for sorting
    for statement in INDEXES.values():
        connection.execute(statement)


def version(connection: sqlite3.Connection, path: Path, steps: tuple[str, ...] = STEPS) -> int:
    """Return the number of steps applied to the file, 0 for an empty one.

    Raises:
        StoreTooNew: when a later version of Liantu wrote it.
        StoreUnusable: when it is another program's database.
    """
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    empty = connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is None
    if application != APPLICATION and not (empty and application == 0 and found == 0):
        raise StoreUnusable(path, "a database, but not a knowledge base of Liantu")
    if found > len(steps):
        raise StoreTooNew(path, found, len(steps))
    return found


def migrate(connection: sqlite3.Connection, path: Path, steps: tuple[str, ...] = STEPS) -> None:
    """Apply the missing steps, each in its own transaction, so that a killed migration can resume.

    The caller must hold the writer lock (kg/store/lock.py): concurrent migrations would apply a step twice.
    """
    applied = version(connection, path, steps)
    if applied == 0:
        connection.execute("PRAGMA journal_mode = WAL")  # persistent
    connection.create_function("normal_name", 1, normal_name, deterministic=True)
    connection.create_function("about", 1, lambda record: codec.entity_in("", record).about, deterministic=True)
    connection.create_function("paged", 2, lambda head, packed: codec.paged(head, zlib.decompress(packed)))
    for number, step in enumerate(steps[applied:], start=applied + 1):
        # PRAGMA statements take no parameters; both numbers are constants of this program.
        marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {number};"
        try:
            connection.executescript(f"BEGIN IMMEDIATE; {step} {marks} COMMIT;")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
