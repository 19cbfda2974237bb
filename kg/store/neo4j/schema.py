"""The schema of a knowledge base in Neo4j; docs/store.md has a diagram.

    (Document)-[:DESCRIBES]->(Profile)-[:OF]->(Entity)      (Profile)-[:NAMED {name, code}]->(Name)
    (Document)-[:STATES {quote, speaker …}]->(Fact)-[:SUBJECT|OBJECT]->(Entity)
    (Passage)-[:PART_OF]->(Document)                        (Passage)-[:MENTIONS {times}]->(Entity)
    (Run)  (Judgement)  (Base)                              (Entity {name, kind, codes})-[:ABOUT]->(Entity)
    (Entity)-[:IN_COMMUNITY]->(Community {name, level, as_of, run})

Documents, STATES, runs and judgements have `added` and `removed`: the revisions in which they were added and removed. A
reader fixes one revision at its start and sees exactly that state, because Neo4j itself lets a reader see a commit
while it is being applied.
"""

from __future__ import annotations

from datetime import UTC, date, datetime

from kg.store.visibility import microseconds

VERSION = 2
FOREVER = 2**63 - 1
LAST_DAY = date.max
LAST_INSTANT = microseconds(datetime.max.replace(tzinfo=UTC))

PASSAGE_WORDS = "passage_words"

SCHEMA = (
    "CREATE CONSTRAINT base_name IF NOT EXISTS FOR (n:Base) REQUIRE n.name IS UNIQUE",
    "CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT fact_id IF NOT EXISTS FOR (n:Fact) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT profile_key IF NOT EXISTS FOR (n:Profile) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT name_folded IF NOT EXISTS FOR (n:Name) REQUIRE n.folded IS UNIQUE",
    # Not unique: a removed document stays until no reader sees it, and may be written again before that.
    "CREATE INDEX document_id IF NOT EXISTS FOR (n:Document) ON (n.id)",
    "CREATE INDEX document_path IF NOT EXISTS FOR (n:Document) ON (n.path)",
    "CREATE INDEX document_day IF NOT EXISTS FOR (n:Document) ON (n.published_on)",
    "CREATE INDEX document_removed IF NOT EXISTS FOR (n:Document) ON (n.removed)",
    "CREATE INDEX passage_id IF NOT EXISTS FOR (n:Passage) ON (n.id)",
    "CREATE INDEX entity_name IF NOT EXISTS FOR (n:Entity) ON (n.name)",
    "CREATE INDEX community_run IF NOT EXISTS FOR (n:Community) ON (n.run)",
    "CREATE INDEX fact_from IF NOT EXISTS FOR (n:Fact) ON (n.subject, n.relation)",
    "CREATE INDEX fact_to IF NOT EXISTS FOR (n:Fact) ON (n.object, n.relation)",
    "CREATE INDEX fact_between IF NOT EXISTS FOR (n:Fact) ON (n.subject, n.relation, n.object)",
    "CREATE INDEX fact_relation IF NOT EXISTS FOR (n:Fact) ON (n.relation)",
    f"""CREATE FULLTEXT INDEX {PASSAGE_WORDS} IF NOT EXISTS FOR (n:Passage) ON EACH [n.indexed]
    OPTIONS {{indexConfig: {{`fulltext.analyzer`: 'cjk', `fulltext.eventually_consistent`: false}}}}""",
)
READY = "CALL db.awaitIndexes(60)"

BASE = "MATCH (b:Base {name: 'liantu'}) RETURN b.version, b.revision, b.written"
ANYTHING = "MATCH (n) RETURN 1 LIMIT 1"
STATE = "MATCH (b:Base {name: 'liantu'}) RETURN coalesce(b.identity, elementId(b)), b.revision"
CREATE_BASE = """MERGE (b:Base {name: 'liantu'})
ON CREATE SET b.version = $version, b.revision = 0, b.written = 0, b.identity = randomUUID()"""
