"""Cypher queries of a view, built from constants only; all values are parameters."""

from __future__ import annotations

from kg.store.neo4j.schema import PASSAGE_WORDS

# `d` is a document, `e` its evidence. Visibility is defined only here, by the reader's state and the view's two clocks;
# the parameters are $revision, $day and $known.
_STATE = "{0}.added <= $revision AND $revision < {0}.removed"
_STATED = _STATE.format("e")
VISIBLE = f"{_STATE.format('d')} AND d.published_on <= $day AND coalesce(d.recorded_at, $known) <= $known"
SAID = f"{_STATED} AND e.published_on <= $day AND e.known_from <= $known"

# ── entities ───────────────────────────────────────────────────────────────────────────────────────────────────────
_PROFILES = f"""
    MATCH (t)<-[:OF]-(p:Profile)<-[:DESCRIBES]-(d:Document) WHERE {VISIBLE}
    WITH t, p, min([d.published_on, d.id]) AS first, max([d.published_on, d.id]) AS last
    RETURN t.id, p.implied, first, last, p.record ORDER BY t.id
"""
ENTITIES = f"MATCH (t:Entity) {_PROFILES}"
ENTITY = f"MATCH (t:Entity {{id: $id}}) {_PROFILES}"
ENTITIES_OF = f"UNWIND $ids AS id MATCH (t:Entity {{id: id}}) {_PROFILES}"
NAMED = f"""
    MATCH (:Name {{folded: $folded}})<-[:NAMED]-(q:Profile)-[:OF]->(t:Entity)
    WHERE EXISTS {{ MATCH (q)<-[:DESCRIBES]-(d:Document) WHERE {VISIBLE} }}
    WITH DISTINCT t {_PROFILES}
"""
NAMES = f"""
    MATCH (:Name)<-[n:NAMED {{code: false}}]-(p:Profile)-[:OF]->(t:Entity)
    WHERE n.name CONTAINS $part AND EXISTS {{ MATCH (p)<-[:DESCRIBES]-(d:Document) WHERE {VISIBLE} }}
    RETURN DISTINCT n.name, t.id
"""

# ── judgements and judged entities ─────────────────────────────────────────────────────────────────────────────────
JUDGEMENTS = f"""
    MATCH (j:Judgement) WHERE {_STATE.format("j")} AND j.published_on <= $day AND j.recorded_at <= $known
    RETURN j.id, j.record ORDER BY j.recorded_at, j.id
"""
APPEARANCES = f"""
    UNWIND $entities AS id
    MATCH (t:Entity {{id: id}})<-[:OF]-(p:Profile)<-[:DESCRIBES]-(d:Document) WHERE {VISIBLE}
    RETURN d.id, d.published_on, t.id, p.implied, p.record ORDER BY d.published_on, d.id, t.id, p.key
"""
# The passages of a document in order, because a mention refers to its passage by position.
LINKED = f"""
    UNWIND $entities AS id
    MATCH (:Entity {{id: id}})<-[:OF]-(:Profile)<-[:DESCRIBES]-(d:Document) WHERE {VISIBLE}
    WITH DISTINCT d
    RETURN d.id, d.mentions, d.holders,
        COLLECT {{ MATCH (d)<-[:PART_OF]-(c:Passage) RETURN c.id ORDER BY c.place }} AS passages
    ORDER BY d.published_on, d.id
"""

# ── documents and passages ─────────────────────────────────────────────────────────────────────────────────────────
HAS_DOCUMENT = f"MATCH (d:Document {{id: $id}}) WHERE {_STATE.format('d')} RETURN d.id"
DOCUMENTS_AT = f"""
    MATCH (d:Document) WHERE d.path STARTS WITH $path AND {_STATE.format("d")}
    RETURN d.id, d.path ORDER BY d.published_on, d.id
"""
SIGNATURES = f"""
    MATCH (d:Document) WHERE {_STATE.format("d")} AND d.signature IS NOT NULL RETURN d.id, d.signature ORDER BY d.id
"""
_HEAD = "d.id, d.published_on, d.path, d.head"
DOCUMENT = f"MATCH (d:Document {{id: $id}}) WHERE {VISIBLE} RETURN {_HEAD}, d.signature, d.body"
DOCUMENTS = f"MATCH (d:Document) WHERE {VISIBLE} RETURN {_HEAD} ORDER BY d.published_on, d.id"
DOCUMENTS_OF = f"""
    UNWIND $ids AS id MATCH (d:Document {{id: id}}) WHERE {VISIBLE} RETURN {_HEAD} ORDER BY d.published_on, d.id
"""
MENTIONS = f"MATCH (d:Document {{id: $id}}) WHERE {VISIBLE} RETURN d.mentions"
CHUNK = f"MATCH (c:Passage {{id: $id}})-[:PART_OF]->(d:Document) WHERE {VISIBLE} RETURN c.id, d.id, c.record"
CHUNKS = f"""
    MATCH (d:Document {{id: $id}})<-[:PART_OF]-(c:Passage) WHERE {VISIBLE} RETURN c.id, d.id, c.record ORDER BY c.place
"""
MENTIONING = f"""
    MATCH (:Entity {{id: $id}})<-[m:MENTIONS]-(c:Passage)-[:PART_OF]->(d:Document) WHERE {VISIBLE}
    RETURN c.id, d.id, c.record ORDER BY m.times DESC, d.published_on DESC, c.id LIMIT $limit
"""
LENGTHS = f"MATCH (d:Document) WHERE {VISIBLE} RETURN sum(d.passages), sum(d.words)"
# The index selects candidates; the list of words gives the exact count of the word in a passage.
POSTINGS = f"""
    UNWIND range(0, size($terms) - 1) AS number
    CALL db.index.fulltext.queryNodes('{PASSAGE_WORDS}', $queries[number]) YIELD node AS c
    MATCH (c)-[:PART_OF]->(d:Document) WHERE {VISIBLE}
    WITH number, c, size([word IN c.terms WHERE word = $terms[number]]) AS often WHERE often > 0
    RETURN number, elementId(c), often, size(c.terms)
"""
FOUND = """
    UNWIND $keys AS key MATCH (c:Passage)-[:PART_OF]->(d:Document) WHERE elementId(c) = key
    RETURN key, c.id, d.id, c.record
"""

# ── facts ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# Whether a fact holds on some day of $start … $end: in its stated period, else from its first visible day on.
HOLDS = f"""(NOT $narrowed OR CASE WHEN f.dated
    THEN f.valid_from < $end AND $start < f.valid_to
    ELSE EXISTS {{ MATCH (f)<-[e:STATES]-() WHERE e.published_on < $end AND {SAID} }} END)"""
CONDITIONS = {
    "subject": "f.subject = $subject",
    "object": "f.object = $object",
    "relation": "f.relation = $relation",
    "ids": "f.id IN $ids",
}
OF_TRIPLES = """
    UNWIND $triples AS triple MATCH (f:Fact {subject: triple[0], relation: triple[1], object: triple[2]})
"""
_EVIDENCE = f"MATCH (f)<-[e:STATES]-() WHERE {SAID}"
_CLAIM = "f.id, e.claim, f.subject, f.relation, f.object, e.document, e.published_on"
_WORDS = "e.start, e.end, e.quote, e.recorded_at, e.speaker, e.confidence, e.extractor"
# For superseding: speakers and days, without the quotes.
_BARE = f"{_CLAIM}, 0 AS start, 0 AS end, '' AS quote, e.recorded_at, e.speaker, 0.0 AS confidence, '' AS extractor"
FACTS = f"{_EVIDENCE} RETURN {_CLAIM}, {_WORDS} ORDER BY f.id"
EVERYTHING = f"MATCH (f:Fact) WHERE f.id > $after AND {HOLDS} WITH f ORDER BY f.id LIMIT $limit {FACTS}"
TOUCHING = f"""
    UNWIND $entities AS end
    CALL (end) {{ MATCH (f:Fact {{subject: end}}) RETURN f UNION MATCH (f:Fact {{object: end}}) RETURN f }}
    WITH DISTINCT f {FACTS}
"""
# Facts that may supersede facts of these subjects and relations, or be superseded.
COMPANIONS = f"""
    UNWIND $pairs AS pair
    CALL (pair) {{
        MATCH (g:Fact {{subject: pair[0], relation: pair[1]}}) WITH collect(g) AS rivals
        WHERE pair[2] OR any(g IN rivals WHERE g.negative)
        UNWIND rivals AS f RETURN f
    }}
    {_EVIDENCE} RETURN {_BARE} ORDER BY f.id
"""
RIVALS = f"""
    MATCH (g:Fact) WHERE g.negative AND NOT g.relation IN $ones
    WITH collect(DISTINCT [g.subject, g.relation]) AS denied
    CALL (denied) {{
        UNWIND denied AS pair MATCH (f:Fact {{subject: pair[0], relation: pair[1]}}) RETURN f
        UNION ALL MATCH (f:Fact) WHERE f.relation IN $ones RETURN f
    }}
    {_EVIDENCE} RETURN {_BARE} ORDER BY f.subject, f.relation, f.id
"""

# ── families of copies ─────────────────────────────────────────────────────────────────────────────────────────────
COPIES = f"MATCH (d:Copy) WHERE {VISIBLE} RETURN d.id, d.published_on, d.copies"
ORIGINS = f"UNWIND $ids AS id MATCH (d:Document {{id: id}}) WHERE {VISIBLE} RETURN d.id, d.published_on"

# ── a document as it was written ───────────────────────────────────────────────────────────────────────────────────
WRITTEN = f"""
    MATCH (d:Document {{id: $id}}) WHERE {_STATE.format("d")}
    RETURN elementId(d), d.published_on, d.path, d.head, d.signature, d.body, d.recorded_at, d.mentions, COLLECT {{
        UNWIND coalesce(d.copies, []) AS other MATCH (o:Document {{id: other}}) WHERE {_STATE.format("o")} RETURN other
        UNION MATCH (o:Copy) WHERE d.id IN o.copies AND {_STATE.format("o")} RETURN o.id AS other
    }}
"""
WRITTEN_PASSAGES = """
    MATCH (d)<-[:PART_OF]-(c:Passage) WHERE elementId(d) = $key RETURN c.id, d.id, c.record ORDER BY c.place
"""
WRITTEN_ENTITIES = """
    MATCH (d)-[:DESCRIBES]->(p:Profile)-[:OF]->(t:Entity) WHERE elementId(d) = $key AND NOT p.implied
    RETURN t.id, p.record
"""
WRITTEN_FACTS = """
    MATCH (d)-[e:STATES]->(f:Fact) WHERE elementId(d) = $key
    RETURN f.id, f.subject, f.relation, f.object, e.claim, e.start, e.end, e.quote, e.recorded_at, e.speaker,
        e.confidence, e.extractor ORDER BY f.id, e.place
"""

# ── runs ───────────────────────────────────────────────────────────────────────────────────────────────────────────
_PUBLISHED = f"{_STATE.format('r')} AND r.as_of <= $day AND coalesce(r.recorded_at, $known) <= $known"
RUN = f"""
    MATCH (r:Run) WHERE {_PUBLISHED}
    RETURN r.record, r.recorded_at ORDER BY r.as_of DESC, r.number DESC LIMIT 1
"""
RUNS = f"""
    MATCH (r:Run) WHERE {_PUBLISHED}
    WITH r.as_of AS as_of, max(r.number) AS number
    MATCH (r:Run {{number: number}}) RETURN r.record, r.recorded_at ORDER BY as_of
"""

COUNTS = {
    "documents": f"MATCH (d:Document) WHERE {_STATE.format('d')} RETURN count(d)",
    "chunks": f"MATCH (d:Document) WHERE {_STATE.format('d')} RETURN sum(d.passages)",
    "mentions": f"MATCH (d:Document) WHERE {_STATE.format('d')} RETURN sum(size(d.mentions))",
    "entities": f"""
        MATCH (t:Entity)
        WHERE EXISTS {{ MATCH (t)<-[:OF]-(:Profile)<-[:DESCRIBES]-(d:Document) WHERE {_STATE.format("d")} }}
        RETURN count(t)
    """,
    "facts": f"MATCH (f:Fact) WHERE EXISTS {{ MATCH (f)<-[e:STATES]-() WHERE {_STATED} }} RETURN count(f)",
    "evidence": f"MATCH (:Document)-[e:STATES]->() WHERE {_STATED} RETURN count(e)",
    "runs": f"MATCH (r:Run) WHERE {_STATE.format('r')} RETURN count(r)",
    "judgements": f"MATCH (j:Judgement) WHERE {_STATE.format('j')} RETURN count(j)",
}
