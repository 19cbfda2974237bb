"""The in-memory reference store: it computes every result from the readings, simply rather than fast.

tests/contracts/ and tests/properties/ compare the other stores with it.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Self

import numpy as np

from kg.errors import StoreLocked
from kg.ids import normal_name
from kg.model import MentionStatus, Reading
from kg.relations import vocabulary
from kg.store import codec
from kg.store.port import DocumentHead
from kg.store.rules.identities import Identities, examined
from kg.store.rules.merging import StatedEntity, first_of_families, unite, unite_entity
from kg.store.rules.superseding import effective, superseded
from kg.store.rules.validated import Prepared, prepare, read_from, utc
from kg.store.word_search import bm25, strongest, terms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from datetime import date, datetime

    from kg.judgement import Judgement
    from kg.model import Chunk, Document, Entity, Fact, Kind, Mention, Run
    from kg.period import Period
    from kg.relations import Vocabulary
    from kg.store.port import Triple


class MemoryStore:
    """A knowledge base that lasts as long as the process."""

    def __init__(self, words: Vocabulary | None = None) -> None:
        self._readings: dict[str, Prepared] = {}
        self._runs: dict[str, Run] = {}
        self._judgements: dict[str, Judgement] = {}
        self._vocabulary = words or vocabulary()
        self._changes = [0]
        self._identity = token_hex(8)
        self._lock = threading.Lock()

    def view(self, *, as_of: date | None = None, known_at: datetime | None = None) -> MemoryView:
        """Return a view of the store."""
        content = (self._readings, self._runs, self._judgements)
        return MemoryView(*content, self._vocabulary, as_of, utc(known_at) if known_at else None)

    @contextmanager
    def reader(self, *, as_of: date | None = None, known_at: datetime | None = None) -> Iterator[MemoryView]:
        """Return a view of one fixed state of the store."""
        view = self.view(as_of=as_of, known_at=known_at)
        yield replace(view, _readings=dict(self._readings), _runs=dict(self._runs), _judgements=dict(self._judgements))

    @contextmanager
    def writer(self) -> Iterator[MemoryWriter]:
        """Return the only writer."""
        if not self._lock.acquire(blocking=False):
            raise StoreLocked(Path("memory:"))
        try:
            yield MemoryWriter(self.view(), self._changes)
        finally:
            self._lock.release()

    def has_document(self, document_id: str) -> bool:
        """Return whether the document is in the store."""
        return document_id in self._readings

    def reading(self, document_id: str) -> Reading | None:
        """Return the stored reading of a document."""
        kept = self._readings.get(document_id)
        return None if kept is None else _as_reading(kept, self._copies(kept))

    def _copies(self, kept: Prepared) -> tuple[str, ...]:
        """Return the stored documents linked as copies, in either direction."""
        outgoing = {other for other in kept.copies if other in self._readings}
        incoming = {other for other, reading in self._readings.items() if kept.document.id in reading.copies}
        return tuple(sorted(outgoing | incoming))

    def documents_at(self, path: str) -> dict[str, str]:
        """Return the documents that were read from a file or its lines."""
        found = [r.document for r in self._readings.values() if read_from(r.document.path, path)]
        return {document.id: document.path for document in sorted(found, key=lambda d: (d.published_on, d.id))}

    def signatures(self) -> Iterator[tuple[str, bytes]]:
        """Yield pairs of document id and signature."""
        for identity in sorted(self._readings):
            if signature := self._readings[identity].document.signature:
                yield identity, signature

    def revision(self) -> int:
        """Return the number of changes."""
        return self._changes[0]

    def state(self) -> str:
        """Return a name of this state of this base."""
        return f"{self._identity}-{self.revision()}"

    def stats(self) -> dict[str, int]:
        """Count the stored records."""
        readings = self._readings.values()
        return {
            "documents": len(self._readings),
            "chunks": sum(len(reading.chunks) for reading in readings),
            "mentions": sum(len(reading.mentions) for reading in readings),
            "entities": len({profile.entity.id for reading in readings for profile in reading.profiles}),
            "facts": len({fact.id for reading in readings for fact in reading.facts}),
            "evidence": sum(len(fact.evidence) for reading in readings for fact in reading.facts),
            "runs": len(self._runs),
            "judgements": len(self._judgements),
        }

    def close(self) -> None:
        """Do nothing: there are no resources to release."""


class MemoryWriter:
    """Writer over dictionaries; each reading is one entry, so writes are atomic."""

    def __init__(self, view: MemoryView, changes: list[int]) -> None:
        self._view, self._changes = view, changes
        self._readings, self._runs, self._judgements = view._readings, view._runs, view._judgements

    def write(self, reading: Reading) -> bool:
        """Write a document."""
        if reading.document.id in self._readings:
            return False
        self._readings[reading.document.id] = prepare(reading)
        self._changes[0] += 1
        return True

    def remove(self, document_id: str) -> bool:
        """Remove a document."""
        if self._readings.pop(document_id, None) is None:
            return False
        self._changes[0] += 1
        return True

    def publish(self, run: Run) -> None:
        """Publish a weekly run; the last published comes last."""
        self._runs.pop(run.id, None)
        self._runs[run.id] = replace(run, recorded_at=utc(run.recorded_at) if run.recorded_at else None)
        self._changes[0] += 1

    def withdraw(self, run_id: str) -> bool:
        """Withdraw a weekly run."""
        if self._runs.pop(run_id, None) is None:
            return False
        self._changes[0] += 1
        return True

    def judge(self, judgement: Judgement) -> Judgement | None:
        """Store a judgement."""
        kept = examined(judgement, self._view)
        if kept.id in self._judgements:
            return None
        self._judgements[kept.id] = kept
        self._changes[0] += 1
        return kept

    @contextmanager
    def together(self) -> Iterator[None]:
        """Roll back all changes when an exception is raised."""
        before = [(part, dict(part)) for part in (self._readings, self._runs, self._judgements)]
        try:
            yield
        except BaseException:
            for part, content in before:
                part.clear()
                part.update(content)  # type: ignore[arg-type] # each with its own type
            raise


@dataclass(frozen=True)
class MemoryView:
    """View that computes every result from the visible readings."""

    _readings: dict[str, Prepared]
    _runs: dict[str, Run]
    _judgements: dict[str, Judgement]
    _vocabulary: Vocabulary
    as_of: date | None
    known_at: datetime | None
    _period: Period | None = None

    def during(self, period: Period) -> Self:
        """Return the view restricted to facts that hold on some day of `period`."""
        return replace(self, _period=period)

    def until(self, as_of: date) -> Self:
        """Return the same state of the base as of a day."""
        return replace(self, as_of=as_of)

    def judgements(self) -> list[Judgement]:
        """Return the visible judgements."""
        visible = [
            judgement
            for judgement in self._judgements.values()
            if (self.as_of is None or judgement.published_on <= self.as_of)
            and (self.known_at is None or judgement.recorded_at <= self.known_at)
        ]
        return sorted(visible, key=lambda judgement: (judgement.recorded_at, judgement.id))

    def entity(self, entity_id: str) -> Entity | None:
        """Return one entity."""
        stated = self._stated_entities().get(self._identities().who(entity_id))
        return unite_entity(stated) if stated else None

    def entities(self, kind: Kind | None = None, *, ids: Collection[str] | None = None) -> Iterator[Entity]:
        """Yield the visible entities."""
        wanted = None if ids is None else set(map(self._identities().who, ids))
        for identity, stated in sorted(self._stated_entities().items()):
            entity = unite_entity(stated)
            if kind in {None, entity.kind} and (wanted is None or identity in wanted):
                yield entity

    def named(self, text: str) -> list[Entity]:
        """Return the entities with that name."""
        wanted = normal_name(text)
        return [
            entity
            for entity in self.entities()
            if wanted in {normal_name(name) for name in (entity.name, *_aliases(entity), *entity.codes)}
        ]

    def names(self, containing: str = "") -> Iterator[tuple[str, str]]:
        """Yield all names, or those that contain a text."""
        pairs = {(name, entity.id) for entity in self.entities() for name in (entity.name, *_aliases(entity))}
        yield from sorted(pair for pair in pairs if containing in pair[0])

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
        who = self._identities().who
        subject, object = subject and who(subject), object and who(object)  # noqa: A001
        ids = None if ids is None else {*ids, *self._current_ids(ids)}
        triples = None if triples is None else {(who(one), name, who(other)) for one, name, other in triples}
        for fact in self._facts():
            matches = (
                subject in {None, fact.subject},
                object in {None, fact.object},
                relation in {None, fact.relation},
            )
            in_triples = triples is None or (fact.subject, fact.relation, fact.object) in triples
            if all(matches) and in_triples and (ids is None or fact.id in ids):
                yield fact

    def document(self, document_id: str) -> Document | None:
        """Return one document."""
        return next((r.document for r in self._visible() if r.document.id == document_id), None)

    def documents(self, ids: Collection[str] | None = None) -> Iterator[DocumentHead]:
        """Yield the visible documents."""
        for document in (reading.document for reading in self._visible()):
            if ids is None or document.id in ids:
                yield DocumentHead(**{name: getattr(document, name) for name in DocumentHead.__slots__})

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Return one passage."""
        return next((chunk for r in self._visible() for chunk in r.chunks if chunk.id == chunk_id), None)

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return the passages of a document."""
        return [chunk for r in self._visible() if r.document.id == document_id for chunk in r.chunks]

    def mentions(self, document_id: str) -> list[Mention]:
        """Return the mentions of a document."""
        return [mention for r in self._visible() if r.document.id == document_id for mention in r.mentions]

    def frequency(self, words: Collection[str]) -> tuple[int, dict[str, int]]:
        """Return the number of visible passages, and in how many of them each index word occurs."""
        held = [set(terms(chunk.search_text or chunk.text)) for reading in self._visible() for chunk in reading.chunks]
        return len(held), {word: sum(word in each for each in held) for word in words}

    def search(self, query: str, limit: int) -> list[tuple[Chunk, float]]:
        """Return the best-matching passages."""
        chunks = [chunk for reading in self._visible() for chunk in reading.chunks]
        counts = [Counter(terms(chunk.search_text or chunk.text)) for chunk in chunks]
        postings = []
        for term in sorted(set(terms(query))):
            places = [place for place, count in enumerate(counts) if term in count]
            frequencies = [counts[place][term] for place in places]
            postings.append((np.array(places, dtype=np.int64), np.array(frequencies, dtype=np.int64)))
        scores = bm25(np.array([count.total() for count in counts], dtype=np.int64), postings)
        found = [(chunks[place], float(scores[place])) for place in strongest(scores, limit)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0].id))[:limit]

    def chunks_mentioning(self, entity_id: str, limit: int) -> list[Chunk]:
        """Return the passages that mention an entity."""
        found: list[tuple[int, int, str, Chunk]] = []
        entity_id = self._identities().who(entity_id)
        for reading in self._visible():
            pairs = zip(reading.mentions, reading.holders, strict=True)
            places = Counter(
                place for mention, place in pairs if _is_linked_to(mention, entity_id) and place is not None
            )
            newest = -reading.document.published_on.toordinal()
            found += [(-count, newest, reading.chunks[p].id, reading.chunks[p]) for p, count in places.items()]
        return [chunk for *_, chunk in sorted(found, key=lambda item: item[:3])[:limit]]

    def run(self) -> Run | None:
        """Return the latest visible run; of runs of the same day, the one published last."""
        return max(self.runs(), key=lambda run: run.as_of, default=None)

    def runs(self) -> Iterator[Run]:
        """Yield the visible runs; of runs of the same day, only the one published last."""
        last = {
            run.as_of: run
            for run in self._runs.values()
            if (self.as_of is None or run.as_of <= self.as_of)
            and (self.known_at is None or run.recorded_at is None or run.recorded_at <= self.known_at)
        }
        yield from (self._identities().run(last[day]) for day in sorted(last))

    def _identities(self) -> Identities:
        return Identities.of(self.judgements(), self._vocabulary)

    def _visible(self) -> list[Prepared]:
        """Return the visible documents with the judgements applied."""
        return [*map(self._identities().applied, self._stored())]

    def _current_ids(self, ids: Collection[str]) -> set[str]:
        """Return the ids of stored facts after the judgements are applied."""
        identities = self._identities()
        return {
            claim.id
            for reading in self._stored()
            for fact in reading.facts
            if fact.id in ids
            for claim in identities.claims(fact, reading, identities.moves_in(reading))
        }

    def _stored(self) -> list[Prepared]:
        """Return the visible documents as written, with only their visible evidence."""
        readings = [
            replace(reading, facts=tuple(self._with_visible_evidence(reading.facts)))
            for reading in self._readings.values()
            if (self.as_of is None or reading.document.published_on <= self.as_of)
            and (self.known_at is None or reading.recorded_at is None or reading.recorded_at <= self.known_at)
        ]
        return sorted(readings, key=lambda reading: (reading.document.published_on, reading.document.id))

    def _with_visible_evidence(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        for fact in facts:
            evidence = tuple(e for e in fact.evidence if self.known_at is None or e.recorded_at <= self.known_at)
            if evidence:
                yield replace(fact, evidence=evidence)

    def _stated_entities(self) -> dict[str, list[StatedEntity]]:
        stated: dict[str, list[StatedEntity]] = defaultdict(list)
        for reading in self._visible():
            for profile in reading.profiles:
                place = (reading.document.published_on, reading.document.id)
                stated[profile.entity.id].append(StatedEntity(profile.implied, place, place, profile.entity))
        return stated

    def _facts(self) -> list[Fact]:
        visible = self._visible()
        days = {reading.document.id: reading.document.published_on for reading in visible}
        links = [(reading.document.id, other) for reading in visible for other in reading.copies]
        first = first_of_families(links, days)
        by_id: dict[str, list[Fact]] = defaultdict(list)
        for fact in (fact for reading in visible for fact in reading.facts):
            evidence = tuple(replace(item, witness=first.get(item.document, "")) for item in fact.evidence)
            by_id[fact.id].append(replace(fact, evidence=evidence))
        merged = [unite(by_id[identity]) for identity in sorted(by_id)]
        closed = superseded(merged, self._vocabulary)
        facts = [replace(fact, superseded_by=closed.get(fact.id, "")) for fact in merged]
        return [fact for fact in facts if self._period is None or effective(fact).overlaps(self._period)]


def _aliases(entity: Entity) -> list[str]:
    return [alias.name for alias in entity.aliases]


def _is_linked_to(mention: Mention, entity_id: str) -> bool:
    return mention.status is MentionStatus.LINKED and mention.entity == entity_id


def _as_reading(kept: Prepared, copies: tuple[str, ...]) -> Reading:
    described = [profile.entity for profile in kept.profiles if not profile.implied]
    return Reading(
        document=kept.document,
        chunks=kept.chunks,
        mentions=kept.mentions,
        entities=tuple(sorted(described, key=lambda entity: (entity.id, codec.entity_out(entity)))),
        facts=kept.facts,
        problems=kept.problems,
        copies=copies,
        recorded_at=kept.recorded_at,
    )
