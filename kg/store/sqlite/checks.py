"""The invariants of a SQLite base, looked at in the tables themselves: a view would pass over what is broken.

A check is a small function: over the whole base it takes a connection, over one document what lies in its row.
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
from kg.store.sight import day_of, microseconds
from kg.store.sqlite.schema import PLACE_BITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kg.model import Chunk, Entity
    from kg.store.port import DocumentHead

_AT_MOST = 100  # breaches a check tells of: one fault of a disk may break a million rows


@dataclass(frozen=True, slots=True)
class Paper:
    """One document as its row has it: the head, the stored text, its passages with their indexed words, and its key."""

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
    """Every page and index of the file is whole."""
    for (line,) in connection.execute(f"PRAGMA integrity_check({_AT_MOST})"):
        if line != "ok":
            yield str(line)


def references(connection: sqlite3.Connection) -> Iterator[str]:
    """Every row that a row refers to is there."""
    for table, row, other, _ in connection.execute("PRAGMA foreign_key_check"):
        yield f"{table} row {row} refers to a {other} that is not there"


def revision(connection: sqlite3.Connection) -> Iterator[str]:
    """The revision is that of the last commit noted."""
    numbers = [row[0] for row in connection.execute("SELECT revision FROM state")]
    noted = connection.execute("SELECT max(revision) FROM change").fetchone()[0]
    if len(numbers) != 1 or (noted is not None and noted != numbers[0]):
        yield f"revisions {numbers}, the last noted commit is {noted}"


# ── documents, one at a time ───────────────────────────────────────────────────────────────────────────────────────


def heads(paper: Paper) -> Iterator[str]:
    """A document's head tells of the pages that its body tells of."""
    if paper.head.pages != paper.pages:
        yield f"{paper.id}: {len(paper.head.pages)} pages by the head, {len(paper.pages)} by the body, or others"


def passages(paper: Paper) -> Iterator[str]:
    """A passage is the stretch of text it names, under the id of its place."""
    for _, _, chunk in paper.chunks:
        if chunk.text != paper.text[chunk.start : chunk.end] or chunk.id != chunk_id(paper.id, chunk.start, chunk.end):
            yield f"{paper.id}: {chunk.id} is not the text at {chunk.start}:{chunk.end}"


def passage_words(paper: Paper) -> Iterator[str]:
    """A document keeps the words of each of its passages."""
    if len(paper.lines) != len(paper.chunks):
        yield f"{paper.id}: {len(paper.chunks)} passages, words of {len(paper.lines)}"
        return
    for (_, words, chunk), line in zip(paper.chunks, paper.lines, strict=True):
        if words != len(line.split()):
            yield f"{paper.id}: {chunk.id} counts {words} words, {len(line.split())} are kept"


def quotes(paper: Paper) -> Iterator[str]:
    """A quote is the stretch of text it names."""
    rows = paper.connection.execute(
        'SELECT f.id, e.start, e."end", e.quote FROM evidence AS e JOIN fact AS f ON f.key = e.fact WHERE document = ?',
        (paper.key,),
    )
    for fact, start, end, quote in rows:
        if quote != paper.text[start:end] or not 0 <= start <= end:
            yield f"{paper.id}: the quote of {fact} is not the text at {start}:{end}"


def mentions(paper: Paper) -> Iterator[str]:
    """A mention is the stretch of text it names, in the passage and of the entity that its row says."""
    rows = paper.connection.execute(
        "SELECT m.record, t.id, m.chunk FROM mention AS m LEFT JOIN entity AS t ON t.key = m.entity WHERE document = ?",
        (paper.key,),
    )
    spans = {key: chunk for key, _, chunk in paper.chunks}
    for record, entity, chunk in rows:
        mention = codec.mention_in(record)
        meant = mention.entity if mention.status is MentionStatus.LINKED else ""
        inside = chunk is None or (
            chunk in spans and spans[chunk].start <= mention.start and mention.end <= spans[chunk].end
        )
        if mention.text != paper.text[mention.start : mention.end] or meant != (entity or "") or not inside:
            yield f"{paper.id}: the mention of {mention.text!r} at {mention.start} is not what its row says"


def uses(paper: Paper) -> Iterator[str]:
    """A document describes every entity that its facts are about."""
    rows = paper.connection.execute(
        """SELECT DISTINCT t.id FROM evidence AS e JOIN fact AS f ON f.key = e.fact
           JOIN entity AS t ON t.key IN (f.subject, f.object)
           WHERE e.document = :key AND t.key NOT IN (
               SELECT p.entity FROM appearance AS b CROSS JOIN json_each(b.profiles) AS a
               CROSS JOIN profile AS p ON p.key = a.value
               WHERE b.document = :key)""",
        {"key": paper.key},
    )
    for (entity,) in rows:
        yield f"{paper.id}: a fact is about {entity}, which the document does not describe"


# ── facts and entities ─────────────────────────────────────────────────────────────────────────────────────────────


def fact_ids(connection: sqlite3.Connection) -> Iterator[str]:
    """A fact's id is the hash of what it claims, and no two facts claim the same in the same words."""
    twice = "SELECT one.id FROM fact AS one JOIN fact AS other USING (id, claim) WHERE one.key < other.key"
    for (identity,) in connection.execute(twice):
        yield f"{identity} is there twice"
    rows = connection.execute(
        "SELECT f.id, s.id, f.relation, o.id, f.claim, f.negative FROM fact AS f "
        "JOIN entity AS s ON s.key = f.subject JOIN entity AS o ON o.key = f.object"
    )
    for identity, subject, relation, object_, claim, negative in rows:
        fact = codec.claim_in(identity, (subject, relation, object_), claim, evidence=())
        if fact_id(fact) != identity or bool(negative) != (fact.polarity is Polarity.NEGATIVE):
            yield f"{identity} is not what {subject} {relation} {object_} hashes to"


def ends(connection: sqlite3.Connection) -> Iterator[str]:
    """Every fact is found by its two ends, and by nothing else."""
    held = connection.execute("SELECT term, doc FROM fact_end_place ORDER BY term, doc")
    wanted = connection.execute(
        "SELECT CAST(subject AS TEXT), key FROM fact UNION ALL SELECT 'o' || object, key FROM fact ORDER BY 1, 2"
    )
    for found, due in zip_longest(held, wanted):
        if found != due:  # all that follows is out of step
            yield f"the index over ends has {found}, where the facts have {due} (an end's word, a fact's key)"
            return


def said(connection: sqlite3.Connection) -> Iterator[str]:
    """Every fact has evidence."""
    rows = connection.execute(
        "SELECT id FROM fact WHERE NOT EXISTS (SELECT 1 FROM evidence WHERE evidence.fact = fact.key)"
    )
    for (identity,) in rows:
        yield f"{identity} has no evidence"


def described(connection: sqlite3.Connection) -> Iterator[str]:
    """Every entity is described, every description is some document's, and a document is found by those it has."""
    bare = "SELECT id FROM entity WHERE NOT EXISTS (SELECT 1 FROM profile WHERE profile.entity = entity.key)"
    for (identity,) in connection.execute(bare):
        yield f"{identity} is described by no document"
    lonely = (
        "SELECT t.id FROM profile AS p JOIN entity AS t ON t.key = p.entity "
        "WHERE p.key NOT IN (SELECT a.value FROM appearance AS b CROSS JOIN json_each(b.profiles) AS a)"
    )
    for (identity,) in connection.execute(lonely):
        yield f"a description of {identity} is no document's"
    found: dict[int, list[str]] = defaultdict(list)
    for profile, document in connection.execute("SELECT term, doc FROM appearing_place"):
        found[document].append(profile)
    known = {key for (key,) in connection.execute("SELECT key FROM profile")}
    for document, profiles in connection.execute("SELECT document, profiles FROM appearance"):
        told = json.loads(profiles)
        if not known.issuperset(told) or sorted(found.pop(document, [])) != sorted(map(str, told)):
            yield f"document {document} is not found by what it describes"
    if found:
        yield f"{len(found)} documents that are not there are found by what they describe"


def used(connection: sqlite3.Connection) -> Iterator[str]:
    """An entity that a read document describes is mentioned, in a fact, or what another one is about."""
    # Rows of existing graphs may bring entities that nothing is said of; their documents have no mentions.
    rows = connection.execute(
        """SELECT DISTINCT t.id FROM entity AS t
           JOIN profile AS p ON p.entity = t.key
           JOIN appearance AS b JOIN json_each(b.profiles) AS a ON a.value = p.key
           WHERE t.key NOT IN (SELECT subject FROM fact) AND t.key NOT IN (SELECT object FROM fact)
           AND t.key NOT IN (SELECT entity FROM mention WHERE entity IS NOT NULL)
           AND b.document IN (SELECT document FROM mention)"""
    )
    unused = {identity for (identity,) in rows}
    if unused:
        records = connection.execute("SELECT t.id, p.record FROM profile AS p JOIN entity AS t ON t.key = p.entity")
        unused -= {codec.entity_in(identity, record).about for identity, record in records}
    for identity in sorted(unused):
        yield f"{identity} is neither mentioned nor in a fact; ingest its document again"


def names(connection: sqlite3.Connection) -> Iterator[str]:
    """An entity is found by every name and code that it is described with, and by no other."""
    found: dict[int, set[tuple[str, str, int]]] = defaultdict(set)
    for profile, folded, name, code in connection.execute("SELECT profile, folded, name, code FROM profile_name"):
        found[profile].add((folded, name, code))
    rows = connection.execute("SELECT p.key, t.id, p.record FROM profile AS p JOIN entity AS t ON t.key = p.entity")
    for key, identity, record in rows:
        if found.pop(key, set()) != _names(codec.entity_in(identity, record)):
            yield f"{identity} is not found by its names"
    if found:
        yield f"{len(found)} descriptions that are not there are found by name"


def _names(entity: Entity) -> set[tuple[str, str, int]]:
    called = {(normal_name(name), name, 0) for name in (entity.name, *(alias.name for alias in entity.aliases))}
    return called | {(normal_name(code), code, 1) for code in entity.codes}


def index(connection: sqlite3.Connection) -> Iterator[str]:
    """The word index holds the words of every passage, and nothing else."""
    held: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for term, passage in connection.execute("SELECT term, doc FROM word_place"):
        entry = held[passage]
        entry[0], entry[1] = entry[0] + 1, entry[1] + zlib.crc32(term.encode())
    for document, terms in connection.execute("SELECT document, terms FROM body"):
        for place, line in enumerate(_lines(connection, document, terms)):
            kept = line.split()
            wanted = [len(kept), sum(zlib.crc32(term.encode()) for term in kept)]
            if held.pop((document << PLACE_BITS) + place, [0, 0]) != wanted:
                yield f"passage {place} of document {document} is not found by its words"
    if held:
        yield f"{len(held)} passages that are not there are found by words"


# ── judgements, weeks ──────────────────────────────────────────────────────────────────────────────────────────────


def judgements(connection: sqlite3.Connection) -> Iterator[str]:
    """A judgement's id is the hash of what it says, and what it revokes is there."""
    known = dict(connection.execute("SELECT id, record FROM judgement").fetchall())
    for identity, day, instant in connection.execute("SELECT id, day, recorded_at FROM judgement"):
        judgement = codec.judgement_in(identity, known[identity])
        clocks = (judgement.published_on.toordinal(), microseconds(judgement.recorded_at))
        if judgement_id(judgement) != identity or clocks != (day, instant):
            yield f"{identity} is not what it says"
        if judgement.verdict is Verdict.REVOKE and judgement.subject not in known:
            yield f"{identity} revokes {judgement.subject}, which is not there"


def weeks(connection: sqlite3.Connection) -> Iterator[str]:
    """A weekly run is whole: its communities are told apart, have members, and stand under one another."""
    for identity, as_of, record in connection.execute("SELECT id, as_of, record FROM run"):
        run = codec.run_in(record)
        ids = [item.id for item in run.communities]
        above = {item.parent for item in run.communities} - {""}
        empty = any(not item.members for item in run.communities)
        told = run.id == identity and run.as_of.isoformat() == as_of
        if not told or len(set(ids)) != len(ids) or not above <= set(ids) or empty:
            yield f"the week {as_of} ({identity}) is not whole"


_FILE: tuple[Callable[[sqlite3.Connection], Iterator[str]], ...] = (pages, references, revision)
_PAPER: tuple[Callable[[Paper], Iterator[str]], ...] = (heads, passages, passage_words, quotes, mentions, uses)
_BASE: tuple[Callable[[sqlite3.Connection], Iterator[str]], ...] = (
    *(fact_ids, ends, said, described, used, names, index, judgements, weeks),
)


def invariants() -> list[Invariant]:
    """Return what must hold."""
    return [
        Invariant(check.__name__.replace("_", " "), (check.__doc__ or "").strip())
        for check in (*_FILE, *_PAPER, *_BASE)
    ]


def breaches(connection: sqlite3.Connection) -> Iterator[Breach]:
    """Go through all that is broken, at most a hundred a check; a damaged file is not looked at any further."""
    damaged = False
    for check in _FILE:
        for breach in _told(check.__name__, check(connection)):
            damaged = True
            yield breach
    if damaged:
        return
    counts: dict[str, int] = defaultdict(int)
    for paper in _papers(connection):
        if isinstance(paper, Breach):
            yield paper
            continue
        for single in _PAPER:
            for breach in _told(single.__name__, single(paper)):
                counts[breach.invariant] += 1
                if counts[breach.invariant] <= _AT_MOST:
                    yield breach
    for check in _BASE:
        yield from _told(check.__name__, check(connection))


def _told(name: str, messages: Iterator[str]) -> Iterator[Breach]:
    """Give the messages of one check; a record that cannot be read is one, and ends it."""
    try:
        for number, message in enumerate(messages):
            if number >= _AT_MOST:
                return
            yield Breach(name.replace("_", " "), message)
    except (ValueError, TypeError, zlib.error, sqlite3.DatabaseError) as error:
        yield Breach(name.replace("_", " "), f"a record cannot be read: {error}")


def _papers(connection: sqlite3.Connection) -> Iterator[Paper | Breach]:
    rows: Iterator[tuple[Any, ...]] = connection.execute(
        "SELECT d.key, d.id, d.head, b.content, b.terms FROM document AS d "
        "LEFT JOIN body AS b ON b.document = d.key ORDER BY d.key"
    )
    for key, identity, told, content, terms in rows:
        try:
            text, pages, *_ = json.loads(zlib.decompress(content))
            head = codec.head_in(identity, day_of(key), told, path="")
            lines = _lines(connection, key, terms)
            chunks = [
                (chunk, words, codec.chunk_in(chunk_name, identity, record))
                for chunk, chunk_name, words, record in connection.execute(
                    "SELECT key, id, words, record FROM chunk WHERE key >= ? AND key < ? ORDER BY key",
                    (key << PLACE_BITS, (key + 1) << PLACE_BITS),
                )
            ]
            yield Paper(connection, key, identity, head, tuple(pages), text, lines, chunks)
        except (ValueError, TypeError, zlib.error) as error:
            yield Breach("passages", f"{identity}: its text or a passage cannot be read: {error}")


def _lines(connection: sqlite3.Connection, document: int, terms: bytes) -> list[str]:
    """Return the indexed words, a line a passage; of a document without passages none."""
    lines = zlib.decompress(terms).decode().split("\n")
    if lines == [""]:
        bounds = (document << PLACE_BITS, (document + 1) << PLACE_BITS)
        return lines[
            : connection.execute("SELECT count(*) FROM chunk WHERE key >= ? AND key < ?", bounds).fetchone()[0]
        ]
    return lines
