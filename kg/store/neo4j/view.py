"""Reading a Neo4j base as it could have been known."""

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
from kg.store.neo4j.search import search
from kg.store.rules.merging import StatedEntity, unite_entity
from kg.store.rules.validated import Profile
from kg.store.sight import instant_of, microseconds

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
    """The base as its documents alone have it (`kg.store.rules.identity_view.PlainView`); each call reads one state."""

    line: ReadSession
    vocabulary: Vocabulary
    as_of: date | None
    known_at: datetime | None
    period: Period | None = None

    def during(self, period: Period) -> Self:
        """Keep only facts that hold at some day of `period`."""
        return replace(self, period=period)

    def judgements(self) -> list[Judgement]:
        """Return the visible judgements."""
        return [codec.judgement_in(identity, record) for identity, record in self._rows(cypher.JUDGEMENTS)]

    def entity(self, entity_id: str) -> Entity | None:
        """Return one entity."""
        return next(self._entities(cypher.ENTITY, id=entity_id), None)

    def entities(self, kind: Kind | None = None, *, ids: Collection[str] | None = None) -> Iterator[Entity]:
        """Go through the visible entities."""
        if ids is None:
            found = self._entities(cypher.ENTITIES)
        else:
            found = self._entities(cypher.ENTITIES_OF, ids=sorted(set(ids)))
        return (entity for entity in found if kind is None or entity.kind == kind)

    def named(self, text: str) -> list[Entity]:
        """Return the entities of that name."""
        return list(self._entities(cypher.NAMED, folded=normal_name(text)))

    def names(self, containing: str = "") -> Iterator[tuple[str, str]]:
        """Go through all names, or those that hold a text."""
        yield from sorted((name, identity) for name, identity in self._rows(cypher.NAMES, part=containing))

    def facts(
        self,
        *,
        subject: str | None = None,
        object: str | None = None,  # noqa: A002 - the model's own word for a fact's second end
        relation: str | None = None,
        ids: Collection[str] | None = None,
        triples: Collection[Triple] | None = None,
    ) -> Iterator[Fact]:
        """Go through the facts that meet all conditions."""
        given = {"subject": subject, "object": object, "relation": relation}
        wanted: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        for name, several in (("ids", ids), ("triples", triples)):
            if several is not None:
                wanted[name] = list(dict.fromkeys(several))
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
        """Go through the visible documents."""
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

    def search(self, query: str, limit: int) -> list[tuple[Chunk, float]]:
        """Return the passages that match best."""
        return self.line.read(lambda moment: search(moment, self.sight, query, limit=limit))

    def chunks_mentioning(self, entity_id: str, limit: int) -> list[Chunk]:
        """Return the passages that mention an entity."""
        return [codec.chunk_in(*row) for row in self._rows(cypher.MENTIONING, id=entity_id, limit=max(limit, 0))]

    def run(self) -> Run | None:
        """Return the run with the latest visible day; of one day, the one published last."""
        return next((_run(*row) for row in self._rows(cypher.RUN)), None)

    def runs(self) -> Iterator[Run]:
        """Go through the visible runs; of one day, the one published last."""
        return (_run(*row) for row in self._rows(cypher.RUNS))

    def appearances(self, entity_ids: Collection[str]) -> Iterator[tuple[str, date, Profile]]:
        """Go through what visible documents say of these entities."""
        for document, day, identity, implied, record in self._rows(cypher.APPEARANCES, entities=sorted(entity_ids)):
            yield document, native(day), Profile(codec.entity_in(identity, record), implied=implied)

    def linked(self, entity_ids: Collection[str]) -> Iterator[tuple[str, str, Mention]]:
        """Go through the mentions linked to these entities."""
        for document, records, holders, passages in self._rows(cypher.LINKED, entities=sorted(entity_ids)):
            for mention, holder in zip(map(codec.mention_in, records), holders, strict=True):
                if mention.status is MentionStatus.LINKED and mention.entity in entity_ids:
                    yield document, "" if holder < 0 else passages[holder], mention

    def touching(self, entity_ids: Collection[str]) -> Iterator[Fact]:
        """Go through the facts with such an end, one a wording."""
        yield from self.line.read(lambda moment: self._reader(moment).touching(sorted(entity_ids)))

    @property
    def sight(self) -> Neo4jSight:
        """What the view may see, as parameters."""
        known = LAST_INSTANT if self.known_at is None else microseconds(self.known_at)
        return Neo4jSight(self.as_of or LAST_DAY, known)

    def _reader(self, moment: Any) -> Neo4jFactReader:
        return Neo4jFactReader(moment, self.sight, self.vocabulary)

    def _rows(self, statement: str, **parameters: object) -> list[Row]:
        return self.line.read(lambda moment: moment.rows(statement, **self.sight.parameters, **parameters))

    def _entities(self, statement: str, **parameters: object) -> Iterator[Entity]:
        # Sorted here: the server may order texts beyond the basic plane otherwise than Python does.
        rows = sorted(self._rows(statement, **parameters), key=itemgetter(0))
        for _, said in groupby(rows, key=itemgetter(0)):
            yield unite_entity(map(_said, said))


def _head(row: Sequence[Any]) -> DocumentHead:
    return codec.head_in(row[0], native(row[1]), row[3], path=row[2])


def _run(record: str, recorded_at: int | None) -> Run:
    return codec.run_in(record, None if recorded_at is None else instant_of(recorded_at))


def _said(row: Row) -> StatedEntity:
    identity, implied, (first, one), (last, other), record = row
    return StatedEntity(implied, (native(first), one), (native(last), other), codec.entity_in(identity, record))
