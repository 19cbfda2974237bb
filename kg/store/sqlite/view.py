"""The view of a SQLite store."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kg.ids import normal_name
from kg.store import codec
from kg.store.rules.merging import StatedEntity, unite_entity
from kg.store.rules.validated import Profile
from kg.store.sqlite import statements as sql
from kg.store.sqlite.columns import SqliteSource
from kg.store.sqlite.facts import SqliteFactReader
from kg.store.sqlite.schema import PLACE_BITS
from kg.store.visibility import day_of, instant_of, visibility_of
from kg.store.word_search import bm25, strongest, terms

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterator, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from kg.judgement import Judgement
    from kg.model import Chunk, Document, Entity, Fact, Kind, Mention, Run
    from kg.relations import Vocabulary
    from kg.store.port import DocumentHead, Triple
    from kg.store.sqlite.connections import Lender
    from kg.store.visibility import Visibility


Lengths = tuple["NDArray[np.int64]", "NDArray[np.int64]"]
Names = list[tuple[str, str]]


def search(connection: sqlite3.Connection, lengths: Lengths, query: str, *, limit: int) -> list[tuple[Chunk, float]]:
    """Return the best-matching passages among those in `lengths`."""
    wanted = sorted(set(terms(query)))
    if not wanted or limit <= 0:
        return []
    keys, words = lengths
    scores = bm25(words, [_posting(connection, keys, term) for term in wanted])
    by_key = {int(keys[place]): float(scores[place]) for place in strongest(scores, limit)}
    rows = connection.execute(sql.FOUND, {"bits": PLACE_BITS, "keys": json.dumps(list(by_key))}).fetchall()
    best = sorted(rows, key=lambda row: (-by_key[row[0]], row[1]))[:limit]
    return [(codec.chunk_in(row[1], row[2], row[3]), by_key[row[0]]) for row in best]


def visible_lengths(connection: sqlite3.Connection, visibility: Visibility) -> Lengths:
    """Return the sorted keys of the visible passages and their word counts."""
    table = _table(connection.execute(sql.LENGTHS, (visibility.below << PLACE_BITS,)).fetchall())
    if visibility.known is not None:
        documents = _table(connection.execute(sql.VISIBLE_DOCUMENTS, visibility.parameters).fetchall())
        table = table[np.isin(table[:, 0] >> PLACE_BITS, documents[:, 0])]
    return table[:, 0].copy(), table[:, 1].copy()


def visible_names(connection: sqlite3.Connection, visibility: Visibility) -> Names:
    """Return all pairs of a name and the entity that has it, sorted."""
    return connection.execute(sql.NAMES, visibility.parameters).fetchall()


def _posting(
    connection: sqlite3.Connection, keys: NDArray[np.int64], term: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return positions in `keys` of visible passages that contain a term, and its counts there."""
    table = _table(connection.execute(sql.POSTING, (term,)).fetchall())
    places = np.searchsorted(keys, table[:, 0])
    inside = places < len(keys)
    inside[inside] = keys[places[inside]] == table[inside, 0]
    return places[inside].astype(np.int64), table[inside, 1]


def _table(rows: list[Any]) -> NDArray[np.int64]:
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


Row = tuple[Any, ...]


@dataclass(frozen=True)
class SqliteView:
    """A view without judgements (those are applied by `kg.store.rules.identity_view`).

    Each call is one transaction; the lender determines whether later calls see newer commits.
    """

    _lender: Lender
    _vocabulary: Vocabulary
    _lengths: Callable[[sqlite3.Connection, Visibility], Lengths]
    _names: Callable[[sqlite3.Connection, Visibility], Names]
    _witnesses: Callable[[sqlite3.Connection, Visibility], dict[str, str]]
    as_of: date | None
    known_at: datetime | None

    def until(self, as_of: date) -> Self:
        """Return the same state of the base as of a day."""
        return replace(self, as_of=as_of)

    @property
    def source(self) -> SqliteSource:
        """The source of the column table."""
        return SqliteSource(self._lender.path, self._lender.reading)

    def judgements(self) -> list[Judgement]:
        """Return the visible judgements."""
        return [codec.judgement_in(*row) for row in self._rows(sql.JUDGEMENTS)]

    def entity(self, entity_id: str) -> Entity | None:
        """Return one entity."""
        return next(self._entities(sql.ENTITY, id=entity_id), None)

    def entities(self, kind: Kind | None = None, *, ids: Collection[str] | None = None) -> Iterator[Entity]:
        """Yield the visible entities."""
        found = self._entities(sql.ENTITIES) if ids is None else self._entities(sql.ENTITIES_OF, ids=_json_list(ids))
        return (entity for entity in found if kind is None or entity.kind == kind)

    def named(self, text: str) -> list[Entity]:
        """Return the entities with that name."""
        return list(self._entities(sql.NAMED, folded=normal_name(text)))

    def names(self, containing: str = "") -> Iterator[tuple[str, str]]:
        """Yield all names, or those that contain a text."""
        if containing:
            yield from self._rows(sql.NAMES_WITH, part=containing)
        else:
            with self._lender.reading() as connection:
                names = self._names(connection, self.visibility)
            yield from names

    def facts(
        self,
        *,
        subject: str | None = None,
        object: str | None = None,  # noqa: A002 - the model's name for a fact's second end
        relation: str | None = None,
        ids: Collection[str] | None = None,
        triples: Collection[Triple] | None = None,
    ) -> Iterator[Fact]:
        """Yield the facts that meet all conditions."""
        ends = {"subject": subject, "object": object, "relation": relation}
        wanted = {name: value for name, value in ends.items() if value is not None}
        if ids is not None:
            wanted["ids"] = json.dumps(list(ids))
        if triples is not None:
            wanted["triples"] = json.dumps(list(triples))
        return self._matching(wanted) if wanted else self._everything()

    def document(self, document_id: str) -> Document | None:
        """Return one document."""
        for *head, signature, content in self._rows(sql.DOCUMENT, id=document_id):
            return codec.body_in(_head(head), signature, zlib.decompress(content).decode())
        return None

    def documents(self, ids: Collection[str] | None = None) -> Iterator[DocumentHead]:
        """Yield the visible documents."""
        rows = self._rows(sql.DOCUMENTS) if ids is None else self._rows(sql.DOCUMENTS_OF, ids=_json_list(ids))
        yield from map(_head, rows)

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Return one passage."""
        return next((codec.chunk_in(*row) for row in self._rows(sql.CHUNK, bits=PLACE_BITS, id=chunk_id)), None)

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return the passages of a document."""
        return [codec.chunk_in(*row) for row in self._rows(sql.CHUNKS, bits=PLACE_BITS, id=document_id)]

    def mentions(self, document_id: str) -> list[Mention]:
        """Return the mentions of a document."""
        return [codec.mention_in(record) for (record,) in self._rows(sql.MENTIONS, id=document_id)]

    def frequency(self, words: Collection[str]) -> tuple[int, dict[str, int]]:
        """Return the number of visible passages, and in how many of them each index word occurs."""
        with self._lender.reading() as connection:
            keys, _ = self._lengths(connection, self.visibility)
            return len(keys), {word: len(_posting(connection, keys, word)[0]) for word in sorted(words)}

    def search(self, query: str, limit: int) -> list[tuple[Chunk, float]]:
        """Return the best-matching passages."""
        with self._lender.reading() as connection:
            return search(connection, self._lengths(connection, self.visibility), query, limit=limit)

    def chunks_mentioning(self, entity_id: str, limit: int) -> list[Chunk]:
        """Return the passages that mention an entity."""
        return [codec.chunk_in(*row) for row in self._rows(sql.MENTIONING, id=entity_id, limit=max(limit, 0))]

    def run(self) -> Run | None:
        """Return the latest visible run; of runs of the same day, the one published last."""
        day = None if self.as_of is None else self.as_of.isoformat()
        return next((_run(*row) for row in self._rows(sql.RUN, day=day)), None)

    def runs(self) -> Iterator[Run]:
        """Yield the visible runs; of runs of the same day, only the one published last."""
        day = None if self.as_of is None else self.as_of.isoformat()
        for (number,) in self._rows(sql.RUNS, day=day):
            yield from (_run(*row) for row in self._rows(sql.RUN_AT, number=number))

    def appearances(self, entity_ids: Collection[str]) -> Iterator[tuple[str, date, Profile]]:
        """Yield the profiles of these entities in visible documents."""
        for document, key, identity, implied, record in self._rows(sql.APPEARANCES, entities=_json_list(entity_ids)):
            yield document, day_of(key), Profile(codec.entity_in(identity, record), implied=bool(implied))

    def linked(self, entity_ids: Collection[str]) -> Iterator[tuple[str, str, Mention]]:
        """Yield the mentions linked to these entities."""
        for document, chunk, record in self._rows(sql.LINKED, entities=_json_list(entity_ids)):
            yield document, chunk, codec.mention_in(record)

    def touching(self, entity_ids: Collection[str]) -> Iterator[Fact]:
        """Yield the facts with one of these entities at an end, one per wording."""
        with self._lender.reading() as connection:
            facts = self._reader(connection).touching(_json_list(entity_ids))
        yield from facts

    @property
    def visibility(self) -> Visibility:
        """The visibility limits of the view for SQL."""
        return visibility_of(self.as_of, self.known_at)

    def _rows(self, statement: str, **parameters: str | int | None) -> list[Row]:
        with self._lender.reading() as connection:
            return connection.execute(statement, {**self.visibility.parameters, **parameters}).fetchall()

    def _entities(self, statement: str, **parameters: str) -> Iterator[Entity]:
        for _, group in groupby(self._rows(statement, **parameters), key=itemgetter(0)):
            yield unite_entity(_stated_entity(row) for row in group)

    def _matching(self, wanted: dict[str, str]) -> Iterator[Fact]:
        with self._lender.reading() as connection:
            facts = self._reader(connection).matching(wanted)
        yield from facts

    def _everything(self) -> Iterator[Fact]:
        with self._lender.streaming() as connection:
            yield from self._reader(connection).everything()

    def _reader(self, connection: sqlite3.Connection) -> SqliteFactReader:
        witness = self._witnesses(connection, self.visibility)
        return SqliteFactReader(connection, self.visibility, self._vocabulary, witness=witness)


def _json_list(ids: Collection[str]) -> str:
    return json.dumps(sorted(ids))


def _head(row: Sequence[Any]) -> DocumentHead:
    return codec.head_in(row[0], day_of(row[1]), row[3], path=row[2])


def _run(record: str, recorded_at: int | None) -> Run:
    return codec.run_in(record, None if recorded_at is None else instant_of(recorded_at))


def _stated_entity(row: Row) -> StatedEntity:
    identity, implied, first, last, record = row
    return StatedEntity(
        bool(implied), _day_and_document(first), _day_and_document(last), codec.entity_in(identity, record)
    )


def _day_and_document(text: str) -> tuple[date, str]:
    return date.fromordinal(int(text[: sql.DAY_DIGITS]) - sql.FIRST_DAY), text[sql.DAY_DIGITS :]
