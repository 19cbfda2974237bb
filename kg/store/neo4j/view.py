"""The view of a Neo4j store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Self

from kg.ids import normal_name
from kg.model import MentionStatus
from kg.store import codec
from kg.store.neo4j import statements as cypher
from kg.store.neo4j.facts import Neo4jFactReader, Neo4jSight, native, unpacked
from kg.store.neo4j.schema import LAST_DAY, LAST_INSTANT
from kg.store.neo4j.search import frequency, search
from kg.store.rules.merging import StatedEntity, unite_entity
from kg.store.rules.validated import Profile
from kg.store.visibility import instant_of, microseconds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from datetime import date, datetime

    from kg.judgement import Judgement
    from kg.model import Chunk, Document, Entity, Fact, Kind, Mention, Run
    from kg.period import Period
    from kg.relations import Vocabulary
    from kg.store.neo4j.connection import ReadSession, Row
    from kg.store.port import DocumentHead, Triple


@dataclass(frozen=True)
class Neo4jView:
    """A view without judgements (`kg.store.rules.identity_view.PlainView`); each call reads one state."""

    line: ReadSession
    vocabulary: Vocabulary
    as_of: date | None
    known_at: datetime | None
    period: Period | None = None

    def during(self, period: Period) -> Self:
        """Return the view restricted to facts that hold on some day of `period`."""
        return replace(self, period=period)

    def until(self, as_of: date) -> Self:
        """Return the same state of the base as of a day."""
        return replace(self, as_of=as_of)

    def judgements(self) -> list[Judgement]:
        """Return the visible judgements."""
        return [codec.judgement_in(identity, record) for identity, record in self._rows(cypher.JUDGEMENTS)]

    def entity(self, entity_id: str) -> Entity | None:
        """Return one entity."""
        return next(self._entities(cypher.ENTITY, id=entity_id), None)

    def entities(self, kind: Kind | None = None, *, ids: Collection[str] | None = None) -> Iterator[Entity]:
        """Yield the visible entities."""
        if ids is None:
            found = self._entities(cypher.ENTITIES)
        else:
            found = self._entities(cypher.ENTITIES_OF, ids=sorted(set(ids)))
        return (entity for entity in found if kind is None or entity.kind == kind)

    def named(self, text: str) -> list[Entity]:
        """Return the entities with that name."""
        return list(self._entities(cypher.NAMED, folded=normal_name(text)))

    def names(self, containing: str = "") -> Iterator[tuple[str, str]]:
        """Yield all names, or those that contain a text."""
        yield from sorted((name, identity) for name, identity in self._rows(cypher.NAMES, part=containing))

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
        wanted: dict[str, Any] = {name: value for name, value in ends.items() if value is not None}
        for name, values in (("ids", ids), ("triples", triples)):
            if values is not None:
                wanted[name] = list(dict.fromkeys(values))
        if wanted:
            yield from self.line.read(lambda moment: self._reader(moment).matching(wanted, self.period))
        else:
            yield from unpacked(self.line.read(lambda moment: self._reader(moment).everything(self.period)))

    def document(self, document_id: str) -> Document | None:
        """Return one document."""
        for *head, signature, body in self._rows(cypher.DOCUMENT, id=document_id):
            return codec.body_in(_head(head), signature or b"", body)
        return None

    def documents(self, ids: Collection[str] | None = None) -> Iterator[DocumentHead]:
        """Yield the visible documents."""
        if ids is None:
            yield from map(_head, self._rows(cypher.DOCUMENTS))
        else:
            yield from map(_head, self._rows(cypher.DOCUMENTS_OF, ids=sorted(set(ids))))

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Return one passage."""
        return next((codec.chunk_in(*row) for row in self._rows(cypher.CHUNK, id=chunk_id)), None)

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return the passages of a document."""
        return [codec.chunk_in(*row) for row in self._rows(cypher.CHUNKS, id=document_id)]

    def mentions(self, document_id: str) -> list[Mention]:
        """Return the mentions of a document."""
        rows = self._rows(cypher.MENTIONS, id=document_id)
        return [codec.mention_in(record) for (records,) in rows for record in records]

    def frequency(self, words: Collection[str]) -> tuple[int, dict[str, int]]:
        """Return the number of visible passages, and in how many of them each index word occurs."""
        return self.line.read(lambda moment: frequency(moment, self.visibility, words))

    def search(self, query: str, limit: int) -> list[tuple[Chunk, float]]:
        """Return the best-matching passages."""
        return self.line.read(lambda moment: search(moment, self.visibility, query, limit=limit))

    def chunks_mentioning(self, entity_id: str, limit: int) -> list[Chunk]:
        """Return the passages that mention an entity."""
        return [codec.chunk_in(*row) for row in self._rows(cypher.MENTIONING, id=entity_id, limit=max(limit, 0))]

    def run(self) -> Run | None:
        """Return the latest visible run; of runs of the same day, the one published last."""
        return next((_run(*row) for row in self._rows(cypher.RUN)), None)

    def runs(self) -> Iterator[Run]:
        """Yield the visible runs; of runs of the same day, only the one published last."""
        return (_run(*row) for row in self._rows(cypher.RUNS))

    def appearances(self, entity_ids: Collection[str]) -> Iterator[tuple[str, date, Profile]]:
        """Yield the profiles of these entities in visible documents."""
        for document, day, identity, implied, record in self._rows(cypher.APPEARANCES, entities=sorted(entity_ids)):
            yield document, native(day), Profile(codec.entity_in(identity, record), implied=implied)

    def linked(self, entity_ids: Collection[str]) -> Iterator[tuple[str, str, Mention]]:
        """Yield the mentions linked to these entities."""
        for document, records, holders, passages in self._rows(cypher.LINKED, entities=sorted(entity_ids)):
            for mention, holder in zip(map(codec.mention_in, records), holders, strict=True):
                if mention.status is MentionStatus.LINKED and mention.entity in entity_ids:
                    yield document, "" if holder < 0 else passages[holder], mention

    def touching(self, entity_ids: Collection[str]) -> Iterator[Fact]:
        """Yield the facts with one of these entities at an end, one per wording."""
        yield from self.line.read(lambda moment: self._reader(moment).touching(sorted(entity_ids)))

    @property
    def visibility(self) -> Neo4jSight:
        """The visibility limits of the view as query parameters."""
        known = LAST_INSTANT if self.known_at is None else microseconds(self.known_at)
        return Neo4jSight(self.as_of or LAST_DAY, known)

    def _reader(self, moment: Any) -> Neo4jFactReader:
        return Neo4jFactReader(moment, self.visibility, self.vocabulary)

    def _rows(self, statement: str, **parameters: object) -> list[Row]:
        return self.line.read(lambda moment: moment.rows(statement, **self.visibility.parameters, **parameters))

    def _entities(self, statement: str, **parameters: object) -> Iterator[Entity]:
        # Sort here: the server may order characters outside the Basic Multilingual Plane differently from Python.
        rows = sorted(self._rows(statement, **parameters), key=itemgetter(0))
        for _, group in groupby(rows, key=itemgetter(0)):
            yield unite_entity(map(_stated_entity, group))


def _head(row: Sequence[Any]) -> DocumentHead:
    return codec.head_in(row[0], native(row[1]), row[3], path=row[2])


def _run(record: str, recorded_at: int | None) -> Run:
    return codec.run_in(record, None if recorded_at is None else instant_of(recorded_at))


def _stated_entity(row: Row) -> StatedEntity:
    identity, implied, (first, one), (last, other), record = row
    return StatedEntity(implied, (native(first), one), (native(last), other), codec.entity_in(identity, record))
