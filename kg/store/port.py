"""What a store is: one writer at a time, and views that see the base as it could have been known (DESIGN §1.2, §4).

Every reader goes through a `View`. Nothing that was published after `as_of` (or read after `known_at`) may change
anything a view gives back: not only facts, but also names, aliases, the existence of entities, scores of a search
and what is superseded. tests/contracts/ holds every store to that.
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
    """A document without its text: what lists, titles and citations need; `pages` are where each page begins."""

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
    """The base as it could have been known; two views of the same days give the same answers."""

    @property
    def as_of(self) -> date | None:
        """The last day of publication that is seen; None sees all."""

    @property
    def known_at(self) -> datetime | None:
        """The last instant of reading that is seen; None sees all."""

    def during(self, period: Period) -> Self:
        """Return the view with only the facts whose effective validity overlaps `period`.

        Effective is the stated period, else everything from the first visible day of publication on. Superseding is
        judged before this filter, so narrowing the period revives nothing.
        """

    def judgements(self) -> list[Judgement]:
        """Return the visible judgements, revoked ones too, in the order in which they were written down.

        Those in force are applied to all that the view gives back: an entity merged into another goes by the other's
        id, its facts are facts of the other, with the ids of what they now claim. What is asked about by an id from
        before a judgement is answered about what it has become.
        """

    def entity(self, entity_id: str) -> Entity | None:
        """Return one entity as the visible documents name it, or None when none of them does."""

    def entities(self, kind: Kind | None = None, *, ids: Collection[str] | None = None) -> Iterator[Entity]:
        """Go through the visible entities by id: all of a kind, and where `ids` are given only who these are."""

    def named(self, text: str) -> list[Entity]:
        """Return the entities that bear exactly this name, alias or code, folded by `kg.ids.normal_name`, by id."""

    def names(self, containing: str = "") -> Iterator[tuple[str, str]]:
        """Go through all (name or alias, entity id) pairs whose name holds these characters, sorted."""

    def facts(
        self,
        *,
        subject: str | None = None,
        object: str | None = None,  # noqa: A002 - the model's own word for a fact's second end
        relation: str | None = None,
        ids: Collection[str] | None = None,
        triples: Collection[Triple] | None = None,
    ) -> Iterator[Fact]:
        """Go through the facts that meet all conditions, by id, each with only its visible evidence.

        `triples` are (subject, relation, object) of which a fact must have one.
        A superseded fact is given too, and says by which visible fact. The `witness` of evidence is filled in for
        documents that have visible copies, and empty for all others.
        """

    def document(self, document_id: str) -> Document | None:
        """Return one document with its text."""

    def documents(self, ids: Collection[str] | None = None) -> Iterator[DocumentHead]:
        """Go through the visible documents, or those of them that have one of the ids, by day and id."""

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Return one passage."""

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return the passages of a document in the order of its text."""

    def mentions(self, document_id: str) -> list[Mention]:
        """Return the mentions of a document in the order of its text."""

    def search(self, query: str, limit: int) -> list[tuple[Chunk, float]]:
        """Return the passages that match the words of `query` best (BM25), the best first, ties by id."""

    def chunks_mentioning(self, entity_id: str, limit: int) -> list[Chunk]:
        """Return the passages that mention an entity: most mentions first, then the newest, then by id."""

    def run(self) -> Run | None:
        """Return the weekly run with the latest `as_of` that the view may see: none published after `known_at`."""

    def runs(self) -> Iterator[Run]:
        """Go through the visible runs by day, of each day the one of them published last."""


class Writer(Protocol):
    """The one that may change the base; each call is one transaction."""

    def write(self, reading: Reading) -> bool:
        """Write a document whole or not at all; False when it is there already and nothing was done.

        Raises:
            ValueError: when the reading contradicts itself (kg/store/rules/validated.py).
            StoreUnusable: when the disk is full or the base is damaged; nothing of the reading is kept.
        """

    def remove(self, document_id: str) -> bool:
        """Take a document out so that the base is as if it had never been; False when it is not there."""

    def publish(self, run: Run) -> None:
        """Make a weekly run visible at once, from its `recorded_at` on; the same id again replaces it.

        Of one that was replaced nothing is kept: a view known before the second publishing sees neither of the two.
        """

    def judge(self, judgement: Judgement) -> Judgement | None:
        """Keep a judgement, and return it with its id; None when it is there already.

        One that has an id comes from another base and is kept as it is; any other is looked at first.

        Raises:
            JudgementRefused: when it cannot be (kg/store/rules/identities.py); nothing is kept.
        """

    def together(self) -> AbstractContextManager[None]:
        """Make all calls within one `with` block one transaction: an exception undoes all of them."""

    def withdraw(self, run_id: str) -> bool:
        """Take a weekly run back, so that the one before it is seen again; False when it is not there."""


class Store(Protocol):
    """A knowledge base."""

    def view(self, *, as_of: date | None = None, known_at: datetime | None = None) -> View:
        """Return the base as it could have been known at the end of a day, or at an instant.

        Each call of the view reads the base as it is then; `reader` holds one state for many calls.
        """

    def reader(self, *, as_of: date | None = None, known_at: datetime | None = None) -> AbstractContextManager[View]:
        """Return a view that sees one state of the base for the length of a `with` block, whoever writes meanwhile."""

    def writer(self) -> AbstractContextManager[Writer]:
        """Return the one writer for the length of a `with` block.

        Raises:
            StoreLocked: when another writer, here or in another process, is at work.
        """

    def has_document(self, document_id: str) -> bool:
        """Whether the document was written."""

    def reading(self, document_id: str) -> Reading | None:
        """Return what was written of a document, clocks included and no judgement applied, for another store to take.

        Entities are those that the document describes, by id; facts come by id; copies are those that are there,
        whichever of the two was written first. Written elsewhere it is the same document: that store answers about it
        as this one does.
        """

    def documents_at(self, path: str) -> dict[str, str]:
        """Return the documents that were read from a file, oldest first: its own, and those of its lines.

        By id, each with its own path: that of the file, or `PATH:7`.
        """

    def signatures(self) -> Iterator[tuple[str, bytes]]:
        """Go through (document id, signature) of all documents that have one, by id: near-duplicates are told by it."""

    def revision(self) -> int:
        """Return a number that every change raises: what was compiled from a view is good while it stays."""

    def stats(self) -> dict[str, int]:
        """Count documents, chunks, mentions, entities, facts, evidence, runs and judgements, whatever their day."""

    def close(self) -> None:
        """Let go of files; the store is of no use afterwards."""
