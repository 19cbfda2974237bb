"""SELECT statements of a view, built from constants only; all values are parameters."""
# ruff: noqa: S608 - no external text enters these strings

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.store.visibility import DAY_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable

# `d` is the document, `e` the evidence. Visibility is defined only here; `Visibility` provides the values.
VISIBLE = "d.key < :below AND (:known IS NULL OR d.recorded_at IS NULL OR d.recorded_at <= :known)"
VISIBLE_EVIDENCE = f"e.document < :below AND (:known IS NULL OR e.recorded_at <= :known) AND {VISIBLE}"

# ── entities ───────────────────────────────────────────────────────────────────────────────────────────────────────
# A visible day and document as one string that sorts like the pair, for the first and last description.
DAY_DIGITS, FIRST_DAY = 7, 1_000_000  # added to the day, so that all have as many digits
_DAY_AND_DOCUMENT = f"({FIRST_DAY} + (d.key >> {DAY_BITS})) || d.id"
# Profiles `p` with each document `d` that has them, found by a full-text index over profile keys; CROSS JOIN fixes the
# order of the loops. Statements over all profiles read the JSON lists instead.
_IN_DOCUMENTS = "CROSS JOIN appearing AS a ON a.appearing MATCH p.key CROSS JOIN document AS d ON d.key = a.rowid"


def _entities_where(condition: str) -> str:
    """Return the SELECT for entities; an entity with one description needs only one document that has it."""
    alone = "NOT EXISTS (SELECT 1 FROM profile AS other WHERE other.entity = p.entity AND other.key <> p.key)"
    return f"""
        WITH described AS MATERIALIZED (SELECT p.key, {alone} AS alone FROM profile AS p WHERE {condition}),
        found (key, seen) AS MATERIALIZED (
            SELECT p.key, (
                SELECT {_DAY_AND_DOCUMENT} FROM appearing AS a CROSS JOIN document AS d ON d.key = a.rowid
                WHERE a.appearing MATCH p.key AND {VISIBLE} LIMIT 1
            ) FROM described AS p WHERE p.alone
        )
        SELECT t.id, p.implied, a.first, a.last, p.record
        FROM (
            SELECT p.key, min({_DAY_AND_DOCUMENT}) AS first, max({_DAY_AND_DOCUMENT}) AS last
            FROM described AS p {_IN_DOCUMENTS} AND {VISIBLE} WHERE NOT p.alone GROUP BY p.key
            UNION ALL
            SELECT key, seen, seen FROM found WHERE seen IS NOT NULL
        ) AS a
        CROSS JOIN profile AS p ON p.key = a.key
        CROSS JOIN entity AS t ON t.key = p.entity
        ORDER BY t.id
    """


_ALL = f"""
    FROM document AS d CROSS JOIN appearance AS b ON b.document = d.key CROSS JOIN json_each(b.profiles) AS a
    WHERE {VISIBLE}
"""
ENTITIES = f"""
    SELECT t.id, p.implied, a.first, a.last, p.record
    FROM (
        SELECT a.value AS profile, min({_DAY_AND_DOCUMENT}) AS first, max({_DAY_AND_DOCUMENT}) AS last
        {_ALL} GROUP BY a.value
    ) AS a
    CROSS JOIN profile AS p ON p.key = a.profile
    CROSS JOIN entity AS t ON t.key = p.entity
    ORDER BY t.id
"""
ENTITY = _entities_where("p.entity = (SELECT key FROM entity WHERE id = :id)")
ENTITIES_OF = _entities_where("p.entity IN (SELECT key FROM entity WHERE id IN (SELECT value FROM json_each(:ids)))")
NAMED = _entities_where(f"""
    p.entity IN (
        SELECT p.entity FROM profile_name AS n
        CROSS JOIN profile AS p ON p.key = n.profile
        {_IN_DOCUMENTS}
        WHERE n.folded = :folded AND {VISIBLE}
    )
""")
NAMES = f"""
    SELECT DISTINCT n.name, t.id FROM profile_name AS n
    JOIN profile AS p ON p.key = n.profile
    JOIN entity AS t ON t.key = p.entity
    WHERE NOT n.code AND p.key IN (SELECT a.value {_ALL})
    ORDER BY n.name, t.id
"""
# Few names contain a given text, so documents are looked up only for those.
NAMES_WITH = f"""
    SELECT DISTINCT n.name, t.id FROM profile_name AS n
    CROSS JOIN profile AS p ON p.key = n.profile
    CROSS JOIN entity AS t ON t.key = p.entity
    WHERE NOT n.code AND instr(n.name, :part) AND EXISTS (
        SELECT 1 FROM appearing AS a CROSS JOIN document AS d ON d.key = a.rowid
        WHERE a.appearing MATCH p.key AND {VISIBLE}
    )
    ORDER BY n.name, t.id
"""

# ── judgements and judged entities ─────────────────────────────────────────────────────────────────────────────────
JUDGEMENTS = f"""
    SELECT id, record FROM judgement
    WHERE day << {DAY_BITS} < :below AND (:known IS NULL OR recorded_at <= :known) ORDER BY recorded_at, id
"""
_JUDGED = "(SELECT key FROM entity WHERE id IN (SELECT value FROM json_each(:entities)))"
APPEARANCES = f"""
    SELECT d.id, d.key, t.id, p.implied, p.record FROM profile AS p
    CROSS JOIN entity AS t ON t.key = p.entity
    {_IN_DOCUMENTS}
    WHERE p.entity IN {_JUDGED} AND {VISIBLE} ORDER BY d.key, p.key
"""
# An entity mentioned in a document has a profile there.
LINKED = f"""
    SELECT d.id, coalesce(c.id, ''), m.record
    FROM (
        SELECT DISTINCT p.entity, a.rowid AS document
        FROM profile AS p CROSS JOIN appearing AS a ON a.appearing MATCH p.key WHERE p.entity IN {_JUDGED}
    ) AS b
    CROSS JOIN document AS d ON d.key = b.document
    CROSS JOIN mention AS m ON m.document = b.document AND m.entity = b.entity
    LEFT JOIN chunk AS c ON c.key = m.chunk
    WHERE {VISIBLE} ORDER BY m.document, m.place
"""

# ── documents and passages ─────────────────────────────────────────────────────────────────────────────────────────
_HEAD = "SELECT d.id, d.key, d.path, d.head"
DOCUMENT = f"""
    {_HEAD}, d.signature, b.content FROM document AS d JOIN body AS b ON b.document = d.key
    WHERE d.id = :id AND {VISIBLE}
"""
DOCUMENTS = f"{_HEAD} FROM document AS d WHERE {VISIBLE} ORDER BY d.key >> {DAY_BITS}, d.id"
DOCUMENTS_OF = f"""
    {_HEAD} FROM document AS d WHERE d.id IN (SELECT value FROM json_each(:ids)) AND {VISIBLE}
    ORDER BY d.key >> {DAY_BITS}, d.id
"""
CHUNK = f"""
    SELECT c.id, d.id, c.record FROM chunk AS c JOIN document AS d ON d.key = c.key >> :bits
    WHERE c.id = :id AND {VISIBLE}
"""
CHUNKS = f"""
    SELECT c.id, d.id, c.record FROM document AS d
    JOIN chunk AS c ON c.key >= d.key << :bits AND c.key < (d.key + 1) << :bits
    WHERE d.id = :id AND {VISIBLE} ORDER BY c.key
"""
MENTIONS = f"""
    SELECT m.record FROM document AS d JOIN mention AS m ON m.document = d.key
    WHERE d.id = :id AND {VISIBLE} ORDER BY m.place
"""
MENTIONING = f"""
    SELECT c.id, d.id, c.record
    FROM (
        SELECT DISTINCT p.entity, a.rowid AS document
        FROM profile AS p CROSS JOIN appearing AS a ON a.appearing MATCH p.key
        WHERE p.entity = (SELECT key FROM entity WHERE id = :id)
    ) AS b
    CROSS JOIN document AS d ON d.key = b.document
    CROSS JOIN mention AS m ON m.document = b.document AND m.entity = b.entity
    CROSS JOIN chunk AS c ON c.key = m.chunk
    WHERE {VISIBLE}
    GROUP BY c.key ORDER BY count(*) DESC, d.key >> {DAY_BITS} DESC, c.id LIMIT :limit
"""
VISIBLE_DOCUMENTS = f"SELECT d.key, 0 FROM document AS d WHERE {VISIBLE}"
LENGTHS = "SELECT key, words FROM chunk WHERE key < ? ORDER BY key"
POSTING = "SELECT doc, count(*) FROM word_place WHERE term = ? GROUP BY doc"
FOUND = """
    SELECT c.key, c.id, d.id, c.record FROM chunk AS c JOIN document AS d ON d.key = c.key >> :bits
    WHERE c.key IN (SELECT value FROM json_each(:keys))
"""

# ── facts ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# CROSS JOIN fixes the order of the loops: from facts to their evidence, never a sort of all evidence.
_FROM = f"""
    FROM fact AS f
    CROSS JOIN evidence AS e ON e.fact = f.key
    CROSS JOIN document AS d ON d.key = e.document
    CROSS JOIN entity AS s ON s.key = f.subject
    CROSS JOIN entity AS o ON o.key = f.object
    WHERE {VISIBLE_EVIDENCE}
"""
_CLAIM = "SELECT f.key, f.id, s.id, f.relation, o.id, f.claim, d.key, d.id"
FACTS = f'{_CLAIM}, e.start, e."end", e.quote, e.recorded_at, e.speaker, e.confidence, e.extractor {_FROM}'
# For superseding: speakers and days, without the quotes.
BARE_FACTS = f"{_CLAIM}, 0, 0, '', e.recorded_at, e.speaker, 0.0, '' {_FROM}"
# Facts that may supersede or be superseded.
RIVALS = """
    (f.relation IN (SELECT value FROM json_each(:ones))
     OR (f.subject, f.relation) IN (SELECT subject, relation FROM fact WHERE negative))
"""
_CONDITIONS = {
    "subject": "f.subject = (SELECT key FROM entity WHERE id = :subject)",
    "object": "f.object = (SELECT key FROM entity WHERE id = :object)",
    "relation": "f.relation = :relation",
    "ids": "f.id IN (SELECT value FROM json_each(:ids))",
    "triples": """
        f.key IN (
            SELECT a.rowid FROM json_each(:triples) AS j
            CROSS JOIN entity AS one ON one.id = json_extract(j.value, '$[0]')
            CROSS JOIN entity AS other ON other.id = json_extract(j.value, '$[2]')
            CROSS JOIN fact_end AS a ON a.fact_end MATCH one.key || ' o' || other.key
        ) AND (s.id, f.relation, o.id) IN (
            SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]')
            FROM json_each(:triples)
        )
    """,
}
_END_WORDS = {
    "subject": "(SELECT key FROM entity WHERE id = :subject)",
    "object": "(SELECT 'o' || key FROM entity WHERE id = :object)",
}
TOUCHING = f"""
    {FACTS} AND f.key IN (
        SELECT a.rowid FROM entity AS t CROSS JOIN fact_end AS a ON a.fact_end MATCH t.key || ' OR o' || t.key
        WHERE t.id IN (SELECT value FROM json_each(:entities))
    )
    ORDER BY f.id, f.key
"""
# Rivals of the given facts that lack in the result: they share the subject and, except where a subject can have one
# object only (`:subject_ones`), the object. Few facts have rivals, and only their ends are looked up.
_GROUPS = f"""
    SELECT DISTINCT f.subject, f.relation,
        CASE WHEN f.relation IN (SELECT value FROM json_each(:subject_ones)) THEN NULL ELSE f.object END AS object
    FROM fact AS f WHERE {_CONDITIONS["ids"]} AND {RIVALS}
"""
COMPANIONS = f"""
    WITH rivalry (subject, relation, object) AS MATERIALIZED ({_GROUPS})
    {BARE_FACTS} AND f.key IN (
        SELECT g.key FROM rivalry AS r
        CROSS JOIN fact_end AS a ON a.fact_end MATCH r.subject || coalesce(' o' || r.object, '')
        CROSS JOIN fact AS g ON g.key = a.rowid AND g.relation = r.relation
    )
    ORDER BY f.id, f.key
"""


def facts_where(names: Iterable[str]) -> str:
    """Return the SELECT for facts that meet conditions, named subject, object, relation, ids or triples."""
    given = list(names)
    conditions = [_CONDITIONS[name] for name in given]
    words = " || ' ' || ".join(_END_WORDS[name] for name in given if name in _END_WORDS)
    if words and not {"ids", "triples"}.intersection(given):
        conditions.append(f"f.key IN (SELECT rowid FROM fact_end WHERE fact_end MATCH coalesce({words}, '0'))")
    return f"{FACTS} AND {' AND '.join(conditions)} ORDER BY f.id, f.key"


# ── families of copies ─────────────────────────────────────────────────────────────────────────────────────────────
COPIED = f"SELECT d.id, d.key FROM document AS d WHERE {VISIBLE} AND d.key IN (SELECT document FROM copy)"
ORIGINS = f"SELECT d.id, d.key FROM document AS d WHERE {VISIBLE} AND d.id IN (SELECT other FROM copy)"
COPIES = "SELECT d.id, c.other FROM copy AS c JOIN document AS d ON d.key = c.document"

_PUBLISHED = """
    (:day IS NULL OR as_of <= :day) AND (:known IS NULL OR recorded_at IS NULL OR recorded_at <= :known)
"""
RUN = f"SELECT record, recorded_at FROM run WHERE {_PUBLISHED} ORDER BY as_of DESC, number DESC LIMIT 1"
RUNS = f"SELECT max(number) FROM run WHERE {_PUBLISHED} GROUP BY as_of ORDER BY as_of"
RUN_AT = "SELECT record, recorded_at FROM run WHERE number = :number"
