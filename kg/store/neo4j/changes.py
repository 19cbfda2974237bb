"""Cypher statements of a writer, built from constants only; all values are parameters."""

from __future__ import annotations

from kg.store.neo4j.schema import FOREVER

_D = "MATCH (d:Document {id: $id, added: $revision})"

# ── the writer lock ────────────────────────────────────────────────────────────────────────────────────────────────
# An open transaction with these metadata is the writer lock. The server ends it with the connection, so that no lock
# outlives its holder. Of two concurrent writers, the one with the lower transaction number keeps the lock.
WRITERS = """
    SHOW TRANSACTIONS YIELD transactionId, database, metaData
    WHERE metaData.liantu = 'writer' RETURN transactionId, database, metaData.token
"""
READERS = """
    SHOW TRANSACTIONS YIELD metaData, startTime
    WHERE metaData.liantu = 'reader' AND datetime(startTime) <= $moment RETURN count(*)
"""
NOW = "RETURN datetime.realtime()"
# A writer that lost its connection unnoticed finds its token replaced and can no longer write.
TAKE = """
    MATCH (b:Base {name: 'liantu'}) SET b.writer = $token, b.revision = b.written RETURN b.revision
"""
HOLD = """
    MATCH (b:Base {name: 'liantu', writer: $token}) SET b.writer = $token
    RETURN b.written, coalesce(b.identity, elementId(b))
"""
WRITTEN = "MATCH (b:Base {name: 'liantu'}) SET b.written = $revision"
PUBLISH = "MATCH (b:Base {name: 'liantu', writer: $token}) SET b.revision = b.written"

# ── a document ─────────────────────────────────────────────────────────────────────────────────────────────────────
DOCUMENT = f"CREATE (d:Document) SET d = $document, d.added = $revision, d.removed = {FOREVER}"
COPIES = f"{_D} SET d:Copy, d.copies = $copies"
# Names, kind, codes and ABOUT are for people who ask in Cypher, as last written; profiles know the documents.
ENTITIES = """
    UNWIND $entities AS row
    MERGE (t:Entity {id: row.id})
    SET t.kind = row.kind
    FOREACH (_ IN CASE WHEN row.implied AND t.name IS NOT NULL THEN [] ELSE [1] END |
        SET t.name = row.name, t.aliases = row.aliases, t.codes = row.codes)
    WITH t, row WHERE row.about <> ''
    MATCH (o:Entity {id: row.about}) MERGE (t)-[:ABOUT]->(o)
"""
KNOWN_PROFILES = "UNWIND $keys AS key MATCH (p:Profile {key: key}) RETURN key"
PROFILES = """
    UNWIND $profiles AS row
    MATCH (t:Entity {id: row.entity})
    CREATE (:Profile {key: row.key, implied: row.implied, record: row.record})-[:OF]->(t)
"""
DESCRIBES = f"{_D} UNWIND $keys AS key MATCH (p:Profile {{key: key}}) CREATE (d)-[:DESCRIBES]->(p)"
PASSAGES = f"""
    {_D} UNWIND $passages AS row
    CREATE (c:Passage)-[:PART_OF]->(d) SET c = row.properties
    WITH c, row UNWIND row.mentions AS mention
    MATCH (t:Entity {{id: mention[0]}})
    CREATE (c)-[:MENTIONS {{times: mention[1]}}]->(t)
"""
KNOWN_FACTS = "UNWIND $ids AS id MATCH (f:Fact {id: id}) RETURN id"
FACTS = """
    UNWIND $facts AS row
    MATCH (s:Entity {id: row.subject}) MATCH (o:Entity {id: row.object})
    CREATE (f:Fact) SET f = row
    CREATE (f)-[:SUBJECT]->(s) CREATE (f)-[:OBJECT]->(o)
"""
STATES = f"""
    {_D} UNWIND $evidence AS row
    MATCH (f:Fact {{id: row.fact}})
    CREATE (d)-[e:STATES]->(f) SET e = row.properties
"""

# ── removal: first hidden, later deleted ───────────────────────────────────────────────────────────────────────────
REMOVE = f"""
    MATCH (d:Document {{id: $id}}) WHERE d.removed = {FOREVER} SET d.removed = $revision RETURN d.id
"""
HIDDEN = "MATCH (d:Document) WHERE d.removed <= $revision RETURN elementId(d)"
FACTS_OF = "MATCH (d)-[:STATES]->(f:Fact) WHERE elementId(d) = $key RETURN DISTINCT f.id"
PROFILES_OF = "MATCH (d)-[:DESCRIBES]->(p:Profile) WHERE elementId(d) = $key RETURN DISTINCT p.key"
DROP_PASSAGES = "MATCH (d)<-[:PART_OF]-(c:Passage) WHERE elementId(d) = $key DETACH DELETE c"
DROP_DOCUMENT = "MATCH (d) WHERE elementId(d) = $key DETACH DELETE d"
DROP_FACTS = """
    UNWIND $ids AS id MATCH (f:Fact {id: id}) WHERE NOT EXISTS { (f)<-[:STATES]-() } DETACH DELETE f
"""
LONELY_PROFILES = """
    UNWIND $keys AS key MATCH (p:Profile {key: key})-[:OF]->(t:Entity) WHERE NOT EXISTS { (p)<-[:DESCRIBES]-() }
    RETURN p.key, t.id
"""
DROP_PROFILES = "UNWIND $keys AS key MATCH (p:Profile {key: key}) DETACH DELETE p"
DROP_ENTITIES = "UNWIND $ids AS id MATCH (t:Entity {id: id}) WHERE NOT EXISTS { (t)<-[:OF]-() } DETACH DELETE t"
HIDDEN_RUNS = "MATCH (r:Run) WHERE r.removed <= $revision RETURN r.number"
DROP_RUNS = "MATCH (r:Run) WHERE r.removed <= $revision DELETE r"

# ── runs and judgements ────────────────────────────────────────────────────────────────────────────────────────────
WITHDRAW = f"MATCH (r:Run {{id: $id}}) WHERE r.removed = {FOREVER} SET r.removed = $revision RETURN r.id"
PUBLISH_RUN = f"""
    OPTIONAL MATCH (r:Run) WITH coalesce(max(r.number), 0) + 1 AS number
    CREATE (:Run {{
        number: number, id: $id, as_of: $as_of, recorded_at: $instant, record: $record, added: $revision,
        removed: {FOREVER}
    }})
"""
# For people who ask in Cypher, as the properties of entities.
COMMUNITIES = """
    UNWIND $communities AS row
    CREATE (c:Community {id: row.id, run: $run, as_of: $as_of, name: row.name, level: row.level})
    WITH c, row UNWIND row.members AS member
    MATCH (t:Entity {id: member}) CREATE (t)-[:IN_COMMUNITY]->(c)
"""
DROP_COMMUNITIES = "MATCH (c:Community {run: $run}) DETACH DELETE c"
JUDGE = f"""
    CREATE (:Judgement {{
        id: $id, published_on: $day, recorded_at: $instant, record: $record, added: $revision, removed: {FOREVER}
    }})
"""
