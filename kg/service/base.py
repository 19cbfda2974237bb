"""A knowledge base as one object: open it once and question it from any number of threads."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from kg.query.ask.answer import ask
from kg.query.chain import chain
from kg.query.impact import causes, impact
from kg.query.passages import passages
from kg.query.profile import profile
from kg.query.relate import relate
from kg.query.session import ANSWERED, QuerySession
from kg.query.themes.listing import theme, themes
from kg.service.pages import DocumentPart, part_of
from kg.service.search import EntityMatch, NameIndexes, search
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from pathlib import Path

    from kg.model import Community
    from kg.query.answers import (
        AskAnswer,
        ChainAnswer,
        ImpactAnswer,
        Passage,
        ProfileAnswer,
        RelateAnswer,
        ThemeAnswer,
    )
    from kg.relations import Lang
    from kg.store.port import Store


class KnowledgeBase:
    """Answers questions on a store; thread-safe.

    Each call opens its own session on one state of the store, so concurrent calls share no mutable state and a
    concurrent write is seen by an answer either whole or not at all. Compiled graphs are shared through the cache of
    kg/graph/cache.py. `as_of` hides everything published after a day; facts below `min_confidence` support no answer.

    Attributes:
        store: the store, for `ingest`, `run_week` and raw views.
        lang: the language of wordings.
        min_confidence: the threshold of calls that give none.
    """

    def __init__(self, store: Store, *, lang: Lang = "zh", min_confidence: float = ANSWERED) -> None:
        self.store, self.lang, self.min_confidence = store, lang, min_confidence
        self._indexes = NameIndexes()

    @contextmanager
    def session(self, *, as_of: date | None = None, min_confidence: float | None = None) -> Iterator[QuerySession]:
        """Open a session on one state of the store, for several questions that must agree; one thread only."""
        threshold = self.min_confidence if min_confidence is None else min_confidence
        with self.store.reader(as_of=as_of) as view:
            yield QuerySession(view, lang=self.lang, min_confidence=threshold)

    def chain(
        self, topic: str, *, depth: int = 2, as_of: date | None = None, min_confidence: float | None = None
    ) -> ChainAnswer:
        """Return the upstream, midstream and downstream of a product or industry, with companies.

        Raises:
            UnknownName: when no entity has this name.
        """
        with self.session(as_of=as_of, min_confidence=min_confidence) as session:
            return chain(session, topic, depth=depth)

    def impact(
        self, factor: str, direction: int = 1, *, as_of: date | None = None, min_confidence: float | None = None
    ) -> ImpactAnswer:
        """Return what a factor's rise (direction 1) or fall (-1) leads to, as signed paths.

        Raises:
            UnknownName: when no entity has this name.
        """
        with self.session(as_of=as_of, min_confidence=min_confidence) as session:
            return impact(session, factor, direction)

    def causes(
        self, effect: str, direction: int = 1, *, as_of: date | None = None, min_confidence: float | None = None
    ) -> ImpactAnswer:
        """Return what makes an effect rise (direction 1) or fall (-1), as signed paths.

        Raises:
            UnknownName: when no entity has this name.
        """
        with self.session(as_of=as_of, min_confidence=min_confidence) as session:
            return causes(session, effect, direction)

    def relate(
        self, first: str, second: str, *, as_of: date | None = None, min_confidence: float | None = None
    ) -> RelateAnswer:
        """Return the most credible paths between two entities.

        Raises:
            UnknownName: when no entity has one of the names.
        """
        with self.session(as_of=as_of, min_confidence=min_confidence) as session:
            return relate(session, first, second)

    def profile(self, name: str, *, as_of: date | None = None, min_confidence: float | None = None) -> ProfileAnswer:
        """Return the names, codes and facts of an entity.

        Raises:
            UnknownName: when no entity has this name.
        """
        with self.session(as_of=as_of, min_confidence=min_confidence) as session:
            return profile(session, name)

    def themes(self, *, level: int = 0, as_of: date | None = None) -> tuple[Community, ...]:
        """Return the themes of the last weekly run; level 0 is the coarsest.

        Raises:
            NoRun: when no run is visible.
        """
        with self.session(as_of=as_of) as session:
            return themes(session.view, level=level)

    def theme(self, theme_id: str, *, as_of: date | None = None, min_confidence: float | None = None) -> ThemeAnswer:
        """Return a theme with its summary, biography and graph.

        Raises:
            NoRun: when no run is visible.
            UnknownTheme: when no theme has this id.
        """
        with self.session(as_of=as_of, min_confidence=min_confidence) as session:
            return theme(session, theme_id)

    def passages(self, query: str, *, limit: int = 10, as_of: date | None = None) -> list[Passage]:
        """Return the passages that best match the words of a query, best first."""
        with self.session(as_of=as_of) as session:
            return passages(session.view, query, limit=limit)

    def ask(self, question: str, *, as_of: date | None = None, min_confidence: float | None = None) -> AskAnswer:
        """Answer a question in words; an unanswerable one has the status `not_found`."""
        with self.session(as_of=as_of, min_confidence=min_confidence) as session:
            return ask(session, question)

    def entities(self, q: str, *, limit: int = 10, as_of: date | None = None) -> list[EntityMatch]:
        """Return the entities that a name, a part of one, a code or pinyin initials may mean, best first."""
        revision = self.store.revision()
        with self.session(as_of=as_of) as session:
            return search(session, self._indexes.of(session, revision), q, limit=limit)

    def document(
        self, document_id: str, *, page: int | None = None, start: int = 0, as_of: date | None = None
    ) -> DocumentPart:
        """Return a page of a document, or its text from `start` on, with the names in it.

        Raises:
            UnknownDocument: when no document has this id.
            UnknownPage: when it has no such page or place.
        """
        with self.store.reader(as_of=as_of) as view:
            return part_of(view, document_id, page=page, start=start)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_kb(
    url: str | Path, *, create: bool = False, lang: Lang = "zh", min_confidence: float = ANSWERED
) -> KnowledgeBase:
    """Open a knowledge base.

    Args:
        url: a path, `memory:`, or `neo4j://HOST:PORT/DATABASE`, as for kg/store/open.py.
        create: create the base if it does not exist.
        lang: the language of wordings, `zh` or `en`.
        min_confidence: facts below it support no answer.

    Raises:
        StoreError: when it does not exist or cannot be opened.
    """
    return KnowledgeBase(open_store(url, create=create), lang=lang, min_confidence=min_confidence)
