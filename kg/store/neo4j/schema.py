"""The schema of a knowledge base in Neo4j; docs/store.md has a diagram.

    (Document)-[:DESCRIBES]->(Profile)-[:OF]->(Entity)      (Entity {name, aliases, kind, codes})-[:ABOUT]->(Entity)
    (Document)-[:STATES {quote, speaker …}]->(Fact)-[:SUBJECT|OBJECT]->(Entity)
    (Passage)-[:PART_OF]->(Document)                        (Passage)-[:MENTIONS {times}]->(Entity)
    (Entity)-[:IN_COMMUNITY]->(Community {name, level, as_of, run})
    (Run)  (Judgement)  (Base)

Documents, runs and judgements have `added` and `removed`: the revisions in which they were added and removed. A reader
fixes one revision at its start and sees exactly that state, because Neo4j itself lets a reader see a commit while it is
being applied.
"""

from __future__ import annotations

VERSION = 3
FOREVER = 2**63 - 1
SCHEMA = (
    "CREATE CONSTRAINT base_name IF NOT EXISTS FOR (n:Base) REQUIRE n.name IS UNIQUE",
    "CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT fact_id IF NOT EXISTS FOR (n:Fact) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT profile_key IF NOT EXISTS FOR (n:Profile) REQUIRE n.key IS UNIQUE",
    # Not unique: a removed document stays until no reader sees it, and may be written again before that.
    "CREATE INDEX document_id IF NOT EXISTS FOR (n:Document) ON (n.id)",
    "CREATE INDEX document_path IF NOT EXISTS FOR (n:Document) ON (n.path)",
    "CREATE INDEX document_day IF NOT EXISTS FOR (n:Document) ON (n.published_on)",
    "CREATE INDEX document_removed IF NOT EXISTS FOR (n:Document) ON (n.removed)",
    "CREATE INDEX passage_id IF NOT EXISTS FOR (n:Passage) ON (n.id)",
    "CREATE INDEX entity_name IF NOT EXISTS FOR (n:Entity) ON (n.name)",
    "CREATE INDEX community_run IF NOT EXISTS FOR (n:Community) ON (n.run)",
    "CREATE INDEX fact_relation IF NOT EXISTS FOR (n:Fact) ON (n.relation)",
)
# What version 2 kept to answer on the server.
LEFT_OUT = (
    *(f"DROP INDEX {name} IF EXISTS" for name in ("passage_words", "fact_from", "fact_to", "fact_between")),
    "DROP CONSTRAINT name_folded IF EXISTS",
    "MATCH (n:Name) CALL (n) { DETACH DELETE n } IN TRANSACTIONS",
)
READY = "CALL db.awaitIndexes(60)"

BASE = "MATCH (b:Base {name: 'liantu'}) RETURN b.version"
ANYTHING = "MATCH (n) RETURN 1 LIMIT 1"
STATE = "MATCH (b:Base {name: 'liantu'}) RETURN coalesce(b.identity, elementId(b)), b.revision"
CREATE_BASE = """MERGE (b:Base {name: 'liantu'})
ON CREATE SET b.version = $version, b.revision = 0, b.written = 0, b.identity = randomUUID()"""
