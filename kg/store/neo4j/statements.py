"""Cypher queries of a store, built from constants only; all values are parameters."""

from __future__ import annotations

# What a reader sees: what was added up to the revision of its state and not removed by then.
_STATE = "{0}.added <= $revision AND $revision < {0}.removed"
_VISIBLE = _STATE.format("d")

# ── documents ──────────────────────────────────────────────────────────────────────────────────────────────────────
HAS_DOCUMENT = f"MATCH (d:Document {{id: $id}}) WHERE {_VISIBLE} RETURN d.id"
DOCUMENTS_AT = f"""
    MATCH (d:Document) WHERE d.path STARTS WITH $path AND {_VISIBLE}
    RETURN d.id, d.path ORDER BY d.published_on, d.id
"""
SIGNATURES = f"""
    MATCH (d:Document) WHERE {_VISIBLE} AND d.signature IS NOT NULL RETURN d.id, d.signature ORDER BY d.id
"""
DOCUMENTS = f"MATCH (d:Document) WHERE {_VISIBLE} RETURN d.id, d.added"

# ── a document as it was written ───────────────────────────────────────────────────────────────────────────────────
WRITTEN = f"""
    MATCH (d:Document {{id: $id}}) WHERE {_VISIBLE}
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

# ── judgements and runs ────────────────────────────────────────────────────────────────────────────────────────────
JUDGEMENTS = f"""
    MATCH (j:Judgement) WHERE {_STATE.format("j")} AND j.added > $since
    RETURN j.id, j.record ORDER BY j.recorded_at, j.id
"""
RUNS = f"MATCH (r:Run) WHERE {_STATE.format('r')} RETURN r.number, r.id"
RUNS_OF = "MATCH (r:Run) WHERE r.number IN $numbers RETURN r.record, r.recorded_at ORDER BY r.number"

COUNTS = {
    "documents": f"MATCH (d:Document) WHERE {_VISIBLE} RETURN count(d)",
    "chunks": f"MATCH (d:Document) WHERE {_VISIBLE} RETURN sum(d.passages)",
    "mentions": f"MATCH (d:Document) WHERE {_VISIBLE} RETURN sum(size(d.mentions))",
    "entities": f"""
        MATCH (t:Entity)
        WHERE EXISTS {{ MATCH (t)<-[:OF]-(:Profile)<-[:DESCRIBES]-(d:Document) WHERE {_VISIBLE} }}
        RETURN count(t)
    """,
    "facts": f"MATCH (f:Fact) WHERE EXISTS {{ MATCH (f)<-[:STATES]-(d:Document) WHERE {_VISIBLE} }} RETURN count(f)",
    "evidence": f"MATCH (d:Document)-[e:STATES]->() WHERE {_VISIBLE} RETURN count(e)",
    "runs": f"MATCH (r:Run) WHERE {_STATE.format('r')} RETURN count(r)",
    "judgements": f"MATCH (j:Judgement) WHERE {_STATE.format('j')} RETURN count(j)",
}
