"""Check the invariants of a SQLite store in the tables themselves, because a view would skip broken rows.

Each check is a function that yields messages: one over the whole store takes a connection, one over a document takes a
`StoredDocument`. Its name and docstring are shown to the user by `liantu check`.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections import defaultdict
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from kg.ids import chunk_id, fact_id, judgement_id, normal_name
from kg.judgement import Verdict
from kg.model import MentionStatus, Polarity
from kg.store import codec
from kg.store.checks import Breach, Invariant
from kg.store.sqlite.schema import PLACE_BITS
from kg.store.visibility import day_of, microseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kg.model import Chunk, Entity
    from kg.store.port import DocumentHead

_AT_MOST = 100  # breaches reported per check: one disk fault may break a million rows


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """One document as stored: key, head, text, and passages with their indexed words."""

    connection: sqlite3.Connection
    key: int
    id: str
    head: DocumentHead
    pages: tuple[int, ...]
    text: str
    lines: list[str]
    chunks: list[tuple[int, int, Chunk]]  # key, words, record


# ── the file ───────────────────────────────────────────────────────────────────────────────────────────────────────


def pages(connection: sqlite3.Connection) -> Iterator[str]:
    """Every page and index of the file is intact."""
    for (line,) in connection.execute(f"PRAGMA integrity_check({_AT_MOST})"):
        if line != "ok":
            yield str(line)


def references(connection: sqlite3.Connection) -> Iterator[str]:
    """Every referenced row exists."""
    for table, row, other, _ in connection.execute("PRAGMA foreign_key_check"):
        yield f"{table} row {row} refers to a missing {other}"


def revision(connection: sqlite3.Connection) -> Iterator[str]:
    """The revision is that of the last commit in the journal."""
    numbers = [row[0] for row in connection.execute("SELECT revision FROM state")]
    last = connection.execute("SELECT max(revision) FROM change").fetchone()[0]
    if len(numbers) != 1 or (last is not None and last != numbers[0]):
        yield f"revisions {numbers}, but the last commit in the journal is {last}"


# ── documents, one at a time ───────────────────────────────────────────────────────────────────────────────────────


def heads(stored: StoredDocument) -> Iterator[str]:
    """A document's head and body have the same page offsets."""
    if stored.head.pages != stored.pages:
        yield f"{stored.id}: page offsets differ: {len(stored.head.pages)} in the head, {len(stored.pages)} in the body"


def passages(stored: StoredDocument) -> Iterator[str]:
    """A passage equals the text at its span, and its id matches the span."""
    for _, _, chunk in stored.chunks:
        if chunk.text != stored.text[chunk.start : chunk.end] or chunk.id != chunk_id(
            stored.id, chunk.start, chunk.end
        ):
            yield f"{stored.id}: {chunk.id} does not match the text at {chunk.start}:{chunk.end}"


def passage_words(stored: StoredDocument) -> Iterator[str]:
    """A document has the indexed words of each of its passages."""
    if len(stored.lines) != len(stored.chunks):
        yield f"{stored.id}: {len(stored.chunks)} passages, but words of {len(stored.lines)}"
        return
    for (_, words, chunk), line in zip(stored.chunks, stored.lines, strict=True):
        if words != len(line.split()):
            yield f"{stored.id}: {chunk.id} has word count {words}, but {len(line.split())} words are stored"


def quotes(stored: StoredDocument) -> Iterator[str]:
    """A quote equals the text at its span."""
    rows = stored.connection.execute(
        'SELECT f.id, e.start, e."end", e.quote FROM evidence AS e JOIN fact AS f ON f.key = e.fact WHERE document = ?',
        (stored.key,),
    )
    for fact, start, end, quote in rows:
        if quote != stored.text[start:end] or not 0 <= start <= end:
            yield f"{stored.id}: the quote of {fact} does not match the text at {start}:{end}"


def mentions(stored: StoredDocument) -> Iterator[str]:
    """A mention equals the text at its span and has the passage and entity of its row."""
    rows = stored.connection.execute(
        "SELECT m.record, t.id, m.chunk FROM mention AS m LEFT JOIN entity AS t ON t.key = m.entity WHERE document = ?",
        (stored.key,),
    )
    spans = {key: chunk for key, _, chunk in stored.chunks}
    for record, entity, chunk in rows:
        mention = codec.mention_in(record)
        entity_id = mention.entity if mention.status is MentionStatus.LINKED else ""
        inside = chunk is None or (
            chunk in spans and spans[chunk].start <= mention.start and mention.end <= spans[chunk].end
        )
        if mention.text != stored.text[mention.start : mention.end] or entity_id != (entity or "") or not inside:
            yield f"{stored.id}: the mention of {mention.text!r} at {mention.start} does not match its row"


def uses(stored: StoredDocument) -> Iterator[str]:
    """A document describes every entity that its facts are about."""
    rows = stored.connection.execute(
        """SELECT DISTINCT t.id FROM evidence AS e JOIN fact AS f ON f.key = e.fact
           JOIN entity AS t ON t.key IN (f.subject, f.object)
           WHERE e.document = :key AND t.key NOT IN (
               SELECT p.entity FROM appearance AS b CROSS JOIN json_each(b.profiles) AS a
               CROSS JOIN profile AS p ON p.key = a.value
               WHERE b.document = :key)""",
        {"key": stored.key},
    )
    for (entity,) in rows:
        yield f"{stored.id}: a fact is about {entity}, which the document does not describe"


# ── facts and entities ─────────────────────────────────────────────────────────────────────────────────────────────


def fact_ids(connection: sqlite3.Connection) -> Iterator[str]:
    """A fact's id is the hash of its claim, and no two facts have the same id and wording."""
    duplicates = "SELECT one.id FROM fact AS one JOIN fact AS other USING (id, claim) WHERE one.key < other.key"
    for (identity,) in connection.execute(duplicates):
        yield f"{identity} is stored twice"
    rows = connection.execute(
        "SELECT f.id, s.id, f.relation, o.id, f.claim, f.negative FROM fact AS f "
        "JOIN entity AS s ON s.key = f.subject JOIN entity AS o ON o.key = f.object"
    )
    for identity, subject, relation, object_, claim, negative in rows:
        fact = codec.claim_in(identity, (subject, relation, object_), claim, evidence=())
        if fact_id(fact) != identity or bool(negative) != (fact.polarity is Polarity.NEGATIVE):
            yield f"{identity} is not the hash of {subject} {relation} {object_}"


def ends(connection: sqlite3.Connection) -> Iterator[str]:
    """The index over ends has the two ends of every fact and nothing else."""
    indexed = connection.execute("SELECT term, doc FROM fact_end_place ORDER BY term, doc")
    wanted = connection.execute(
        "SELECT CAST(subject AS TEXT), key FROM fact UNION ALL SELECT 'o' || object, key FROM fact ORDER BY 1, 2"
    )
    for found, expected in zip_longest(indexed, wanted):
        if found != expected:  # later rows would not line up
            yield f"the index over ends has {found}, but the facts have {expected} (word of an end, key of a fact)"
            return


def said(connection: sqlite3.Connection) -> Iterator[str]:
    """Every fact has evidence."""
    rows = connection.execute(
        "SELECT id FROM fact WHERE NOT EXISTS (SELECT 1 FROM evidence WHERE evidence.fact = fact.key)"
    )
    for (identity,) in rows:
        yield f"{identity} has no evidence"


def described(connection: sqlite3.Connection) -> Iterator[str]:
    """Every entity has a profile, every profile has a document, and documents are indexed by their profiles."""
    without_profile = "SELECT id FROM entity WHERE NOT EXISTS (SELECT 1 FROM profile WHERE profile.entity = entity.key)"
    for (identity,) in connection.execute(without_profile):
        yield f"{identity} has no profile"
    orphans = (
        "SELECT t.id FROM profile AS p JOIN entity AS t ON t.key = p.entity "
        "WHERE p.key NOT IN (SELECT a.value FROM appearance AS b CROSS JOIN json_each(b.profiles) AS a)"
    )
    for (identity,) in connection.execute(orphans):
        yield f"a profile of {identity} has no document"
    found: dict[int, list[str]] = defaultdict(list)
    for profile, document in connection.execute("SELECT term, doc FROM appearing_place"):
        found[document].append(profile)
    known = {key for (key,) in connection.execute("SELECT key FROM profile")}
    for document, profiles in connection.execute("SELECT document, profiles FROM appearance"):
        keys = json.loads(profiles)
        if not known.issuperset(keys) or sorted(found.pop(document, [])) != sorted(map(str, keys)):
            yield f"document {document} is not indexed by its profiles"
    if found:
        yield f"{len(found)} missing documents are in the index of profiles"


def used(connection: sqlite3.Connection) -> Iterator[str]:
    """An entity described in a read document is mentioned, in a fact, judged, or referenced by another entity."""
    # Imported graphs may have unused entities; their documents have no mentions.
    rows = connection.execute(
        """SELECT DISTINCT t.id FROM entity AS t
           JOIN profile AS p ON p.entity = t.key
           JOIN appearance AS b JOIN json_each(b.profiles) AS a ON a.value = p.key
           WHERE t.key NOT IN (SELECT subject FROM fact) AND t.key NOT IN (SELECT object FROM fact)
           AND t.key NOT IN (SELECT entity FROM mention WHERE entity IS NOT NULL)
           AND t.id NOT IN (SELECT record ->> 1 FROM judgement UNION SELECT record ->> 2 FROM judgement)
           AND b.document IN (SELECT document FROM mention)"""
    )
    unused = {identity for (identity,) in rows}
    if unused:
        records = connection.execute("SELECT t.id, p.record FROM profile AS p JOIN entity AS t ON t.key = p.entity")
        unused -= {codec.entity_in(identity, record).about for identity, record in records}
    for identity in sorted(unused):
        yield f"{identity} is neither mentioned nor in a fact; ingest its document again"


def names(connection: sqlite3.Connection) -> Iterator[str]:
    """An entity is indexed by exactly the names and codes of its profiles."""
    found: dict[int, set[tuple[str, str, int]]] = defaultdict(set)
    for profile, folded, name, code in connection.execute("SELECT profile, folded, name, code FROM profile_name"):
        found[profile].add((folded, name, code))
    rows = connection.execute("SELECT p.key, t.id, p.record FROM profile AS p JOIN entity AS t ON t.key = p.entity")
    for key, identity, record in rows:
        if found.pop(key, set()) != _names(codec.entity_in(identity, record)):
            yield f"{identity} is not indexed by its names"
    if found:
        yield f"{len(found)} missing profiles are in the index of names"


def _names(entity: Entity) -> set[tuple[str, str, int]]:
    folded = {(normal_name(name), name, 0) for name in (entity.name, *(alias.name for alias in entity.aliases))}
    return folded | {(normal_name(code), code, 1) for code in entity.codes}


def index(connection: sqlite3.Connection) -> Iterator[str]:
    """The word index has the words of every passage and nothing else."""
    held: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for term, passage in connection.execute("SELECT term, doc FROM word_place"):
        entry = held[passage]
        entry[0], entry[1] = entry[0] + 1, entry[1] + zlib.crc32(term.encode())
    for document, terms in connection.execute("SELECT document, terms FROM body"):
        for place, line in enumerate(_lines(connection, document, terms)):
            words = line.split()
            wanted = [len(words), sum(zlib.crc32(term.encode()) for term in words)]
            if held.pop((document << PLACE_BITS) + place, [0, 0]) != wanted:
                yield f"passage {place} of document {document} is not indexed by its words"
    if held:
        yield f"{len(held)} missing passages are in the word index"


# ── judgements, weeks ──────────────────────────────────────────────────────────────────────────────────────────────


def judgements(connection: sqlite3.Connection) -> Iterator[str]:
    """A judgement's id is the hash of its content, and a revoked judgement exists."""
    known = dict(connection.execute("SELECT id, record FROM judgement").fetchall())
    for identity, day, instant in connection.execute("SELECT id, day, recorded_at FROM judgement"):
        judgement = codec.judgement_in(identity, known[identity])
        clocks = (judgement.published_on.toordinal(), microseconds(judgement.recorded_at))
        if judgement_id(judgement) != identity or clocks != (day, instant):
            yield f"{identity} does not match its content"
        if judgement.verdict is Verdict.REVOKE and judgement.subject not in known:
            yield f"{identity} revokes {judgement.subject}, which does not exist"


def weeks(connection: sqlite3.Connection) -> Iterator[str]:
    """A weekly run is consistent: its communities have distinct ids, members and existing parents."""
    for identity, as_of, record in connection.execute("SELECT id, as_of, record FROM run"):
        run = codec.run_in(record)
        ids = [item.id for item in run.communities]
        parents = {item.parent for item in run.communities} - {""}
        empty = any(not item.members for item in run.communities)
        matches_row = run.id == identity and run.as_of.isoformat() == as_of
        if not matches_row or len(set(ids)) != len(ids) or not parents <= set(ids) or empty:
            yield f"the week {as_of} ({identity}) is inconsistent"


_FILE_CHECKS: tuple[Callable[[sqlite3.Connection], Iterator[str]], ...] = (pages, references, revision)
_DOCUMENT_CHECKS: tuple[Callable[[StoredDocument], Iterator[str]], ...] = (
    heads,
    passages,
    passage_words,
    quotes,
    mentions,
    uses,
)
_STORE_CHECKS: tuple[Callable[[sqlite3.Connection], Iterator[str]], ...] = (
    *(fact_ids, ends, said, described, used, names, index, judgements, weeks),
)


def invariants() -> list[Invariant]:
    """Return the invariants."""
    return [
        Invariant(check.__name__.replace("_", " "), (check.__doc__ or "").strip())
        for check in (*_FILE_CHECKS, *_DOCUMENT_CHECKS, *_STORE_CHECKS)
    ]


def breaches(connection: sqlite3.Connection) -> Iterator[Breach]:
    """Yield all breaches, at most a hundred per check; stop after the file checks if the file is damaged."""
    damaged = False
    for check in _FILE_CHECKS:
        for breach in _breaches(check.__name__, check(connection)):
            damaged = True
            yield breach
    if damaged:
        return
    counts: dict[str, int] = defaultdict(int)
    for stored in _stored_documents(connection):
        if isinstance(stored, Breach):
            yield stored
            continue
        for single in _DOCUMENT_CHECKS:
            for breach in _breaches(single.__name__, single(stored)):
                counts[breach.invariant] += 1
                if counts[breach.invariant] <= _AT_MOST:
                    yield breach
    for check in _STORE_CHECKS:
        yield from _breaches(check.__name__, check(connection))


def _breaches(name: str, messages: Iterator[str]) -> Iterator[Breach]:
    """Yield the messages of one check as breaches; an unreadable record is reported and ends the check."""
    try:
        for number, message in enumerate(messages):
            if number >= _AT_MOST:
                return
            yield Breach(name.replace("_", " "), message)
    except (ValueError, TypeError, zlib.error, sqlite3.DatabaseError) as error:
        yield Breach(name.replace("_", " "), f"a record cannot be read: {error}")


def _stored_documents(connection: sqlite3.Connection) -> Iterator[StoredDocument | Breach]:
    rows: Iterator[tuple[Any, ...]] = connection.execute(
        "SELECT d.key, d.id, d.head, b.content, b.terms FROM document AS d "
        "LEFT JOIN body AS b ON b.document = d.key ORDER BY d.key"
    )
    for key, identity, head_record, content, terms in rows:
        try:
            text, pages, *_ = json.loads(zlib.decompress(content))
            head = codec.head_in(identity, day_of(key), head_record, path="")
            lines = _lines(connection, key, terms)
            chunks = [
                (chunk, words, codec.chunk_in(chunk_name, identity, record))
                for chunk, chunk_name, words, record in connection.execute(
                    "SELECT key, id, words, record FROM chunk WHERE key >= ? AND key < ? ORDER BY key",
                    (key << PLACE_BITS, (key + 1) << PLACE_BITS),
                )
            ]
            yield StoredDocument(connection, key, identity, head, tuple(pages), text, lines, chunks)
        except (ValueError, TypeError, zlib.error) as error:
            yield Breach("passages", f"{identity}: its text or a passage cannot be read: {error}")


def _lines(connection: sqlite3.Connection, document: int, terms: bytes) -> list[str]:
    """Return the indexed words, one line per passage; empty for a document without passages."""
    lines = zlib.decompress(terms).decode().split("\n")
    if lines == [""]:
        bounds = (document << PLACE_BITS, (document + 1) << PLACE_BITS)
        return lines[
            : connection.execute("SELECT count(*) FROM chunk WHERE key >= ? AND key < ?", bounds).fetchone()[0]
        ]
    return lines
