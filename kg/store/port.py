"""Protocols of a store: one writer at a time, and views without look-ahead (DESIGN §1.2, §4).

Every read goes through a `View`. Nothing published after `as_of` or recorded after `known_at` may change any result of
a view: facts, names, aliases, the existence of entities, search scores and superseding. tests/contracts/ checks this
for every store.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from contextlib import AbstractContextManager
    from datetime import date, datetime

    from kg.judgement import Judgement
    from kg.model import Chunk, Document, Entity, Fact, Kind, Mention, Reading, Run
    from kg.period import Period

Triple = tuple[str, str, str]  # subject, relation, object


@dataclass(frozen=True, slots=True)
class DocumentHead:
    """A document without its text, for lists and citations; `pages` are the offsets at which pages begin."""

    id: str
    title: str
    published_on: date
    kind: str = "report"
    publisher: str = ""
    authors: tuple[str, ...] = ()
    url: str = ""
    language: str = "zh"
    codes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str = ""
    pages: tuple[int, ...] = ()

    def page_of(self, offset: int) -> int | None:
        """Return the 1-based page that holds `offset`, or None where the format has no pages."""
        return (bisect_right(self.pages, offset) or 1) if self.pages else None


class View(Protocol):
    """The store as known at a given time; views with equal clocks give equal results."""

    @property
    def as_of(self) -> date | None:
        """The last visible publication day; None for no limit."""

    @property
    def known_at(self) -> datetime | None:
        """The last visible recording time; None for no limit."""

    def during(self, period: Period) -> Self:
        """Return the view with only the facts whose effective validity overlaps `period`.

        The effective validity is the stated period, else everything from the first visible publication day on.
        Superseding is computed before this filter, so narrowing the period does not revive superseded facts.
        """

    def until(self, as_of: date) -> View:
        """Return the same state of the base as of a day."""

    def judgements(self) -> list[Judgement]:
        """Return the visible judgements, including revoked ones, ordered by recording time.

        Judgements in force are applied to all results of the view: an entity merged into another has the other's id,
        and its facts are facts of the other, with the ids of their new claims. An id from before a judgement is
        resolved to its current id.
        """

    def entity(self, entity_id: str) -> Entity | None:
        """Return one entity as the visible documents describe it, or None if none mentions it."""

    def entities(self, kind: Kind | None = None, *, ids: Collection[str] | None = None) -> Iterator[Entity]:
        """Yield the visible entities in id order, optionally only of one kind or with one of the ids."""

    def named(self, text: str) -> list[Entity]:
        """Return the entities with exactly this name, alias or code, folded by `kg.ids.normal_name`, in id order."""

    def names(self, containing: str = "") -> Iterator[tuple[str, str]]:
        """Yield all (name or alias, entity id) pairs whose name contains this text, sorted."""

    def facts(
        self,
        *,
        subject: str | None = None,
        object: str | None = None,  # noqa: A002 - the model's name for a fact's second end
        relation: str | None = None,
        ids: Collection[str] | None = None,
        triples: Collection[Triple] | None = None,
    ) -> Iterator[Fact]:
        """Yield the facts that meet all conditions in id order, each with only its visible evidence.

        A fact meets `triples` if its (subject, relation, object) is one of them. Superseded facts are included and
        name the visible fact that supersedes them. The `witness` of evidence is set for documents that have visible
        copies, and empty for all others.
        """

    def document(self, document_id: str) -> Document | None:
        """Return one document with its text."""

    def documents(self, ids: Collection[str] | None = None) -> Iterator[DocumentHead]:
        """Yield the visible documents, optionally only those with one of the ids, by day and id."""

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Return one passage."""

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return the passages of a document in text order."""

    def mentions(self, document_id: str) -> list[Mention]:
        """Return the mentions of a document in text order."""

    def frequency(self, words: Collection[str]) -> tuple[int, dict[str, int]]:
        """Return the number of visible passages, and in how many of them each index word occurs."""

    def search(self, query: str, limit: int) -> list[tuple[Chunk, float]]:
        """Return the passages that best match the words of `query` (BM25), best first, ties by id."""

    def chunks_mentioning(self, entity_id: str, limit: int) -> list[Chunk]:
        """Return the passages that mention an entity, ordered by number of mentions, then newest, then id."""

    def run(self) -> Run | None:
        """Return the visible weekly run with the latest `as_of`; runs published after `known_at` are not visible."""

    def runs(self) -> Iterator[Run]:
        """Yield the visible runs by day, for each day the one published last."""


class Writer(Protocol):
    """The only object that may change the store; each call is one transaction."""

    def write(self, reading: Reading) -> bool:
        """Write a document atomically; return False if it was already in the store.

        Raises:
            ValueError: when the reading is inconsistent (kg/store/rules/validated.py).
            StoreUnusable: when the disk is full or the database is damaged; nothing of the reading is stored.
        """

    def remove(self, document_id: str) -> bool:
        """Remove a document as if it had never been written; return False if it is not in the store."""

    def publish(self, run: Run) -> None:
        """Make a weekly run visible from its `recorded_at` on, replacing any run with the same id.

        A replaced run is deleted: a view with `known_at` before the second publication sees neither version.
        """

    def judge(self, judgement: Judgement) -> Judgement | None:
        """Store a judgement and return it with its id, or None if it is already stored.

        A judgement with an id comes from another store and is stored unchanged; any other is validated first.

        Raises:
            JudgementRefused: when it is invalid (kg/store/rules/identities.py); nothing is stored.
        """

    def together(self) -> AbstractContextManager[None]:
        """Run all calls within a `with` block as one transaction; an exception rolls all of them back."""

    def withdraw(self, run_id: str) -> bool:
        """Withdraw a weekly run, so that the previous one is visible again; return False if it does not exist."""


class Store(Protocol):
    """A knowledge base."""

    def view(self, *, as_of: date | None = None, known_at: datetime | None = None) -> View:
        """Return a view of what was published by the end of a day and recorded by an instant.

        Each call of the view reads the current state of the store; `reader` fixes one state for many calls.
        """

    def reader(self, *, as_of: date | None = None, known_at: datetime | None = None) -> AbstractContextManager[View]:
        """Return a view of one state of the store for a `with` block, unaffected by concurrent writes."""

    def writer(self) -> AbstractContextManager[Writer]:
        """Return the only writer for a `with` block.

        Raises:
            StoreLocked: when another writer is active in this or another process.
        """

    def has_document(self, document_id: str) -> bool:
        """Return whether the document is in the store."""

    def reading(self, document_id: str) -> Reading | None:
        """Return the stored reading of a document with its clocks and without judgements, for copying to another store.

        Entities are those that the document describes, in id order; facts are in id order; copies are those in this
        store, whichever of the two was written first. A store to which the reading is written gives the same results.
        """

    def documents_at(self, path: str) -> dict[str, str]:
        """Return the documents that were read from a file or its lines, oldest first.

        Maps each id to the document's path: that of the file, or `PATH:7`.
        """

    def signatures(self) -> Iterator[tuple[str, bytes]]:
        """Yield (document id, signature) of all documents with a signature, in id order, to find near-duplicates."""

    def revision(self) -> int:
        """Return a number that every change increments; data compiled from a view is valid until it changes."""

    def state(self) -> str:
        """Return a name of this state of this base, for keys of caches.

        Another base has other names, also one of the same revision that takes the place of this one, as a restored copy
        does.
        """

    def stats(self) -> dict[str, int]:
        """Count documents, chunks, mentions, entities, facts, evidence, runs and judgements, whatever their day."""

    def close(self) -> None:
        """Release resources; the store cannot be used afterwards."""
