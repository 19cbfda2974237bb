"""A knowledge base as one object: open it once and question it from any number of threads."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Self, TypedDict, Unpack

from kg.errors import KgError
from kg.llm.embeddings import OfflineEncoder
from kg.query.ask.answer import ask
from kg.query.browse.diff import diff
from kg.query.browse.facts import FactFilter, FactOrder, find_facts
from kg.query.browse.neighbours import NeighbourFilter, neighbours
from kg.query.browse.pages import DocumentPart, part_of
from kg.query.chain import chain
from kg.query.filings.documents import FilingIndex, FilingShelf
from kg.query.filings.outline import OutlineAnswer, stored_outline
from kg.query.filings.page_table import PageTables
from kg.query.filings.pages import FilingPagesAnswer, filing_pages
from kg.query.grounding.checking import KnownNames
from kg.query.grounding.context import context
from kg.query.grounding.dual_level import dual_level
from kg.query.grounding.prose import PROSE_TOKENS, NoModel, prose
from kg.query.grounding.vectors import VectorSearch, index_beside
from kg.query.history import HistoryAnswer, history
from kg.query.impact import causes, impact
from kg.query.profile import profile
from kg.query.relate import relate
from kg.query.resolve import resolve_name
from kg.query.session import ANSWERED, QuerySession
from kg.query.stats import stats
from kg.query.themes.listing import theme, themes
from kg.service.search import EntityMatch, NameIndex, PerView, search
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date, datetime
    from pathlib import Path

    from kg.llm.embeddings import Encoder
    from kg.llm.port import Model
    from kg.messages.words import Lang
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
    from kg.query.browse.diff import DiffAnswer
    from kg.query.browse.facts import FactsAnswer
    from kg.query.browse.neighbours import NeighboursAnswer
    from kg.query.grounding.context import ContextAnswer
    from kg.query.grounding.dual_level import Mode
    from kg.query.grounding.prose import ProseAnswer
    from kg.query.resolve import ResolveAnswer
    from kg.query.stats import BaseStats
    from kg.store.port import Store


class ViewClocks(TypedDict, total=False):
    """What a question may see: published by the end of `as_of`, read by the instant `known_at` (with a time zone)."""

    as_of: date | None
    known_at: datetime | None


class ViewOptions(ViewClocks, total=False):
    """`ViewClocks`, the least confidence of the facts that support the answer, and whether weak ones are shown."""

    min_confidence: float | None
    weak: bool | None


class KnowledgeBase:
    """Answers questions on a store; thread-safe.

    Each call opens its own session on one state of the store, so concurrent calls share no mutable state and a
    concurrent write is seen by an answer either whole or not at all. Compiled graphs are shared through the cache of
    kg/graph/cache.py. `as_of` hides everything published after a day, `known_at` everything read after an instant;
    facts below `min_confidence` support no answer.

    Attributes:
        store: the store, for `ingest`, `run_week` and raw views.
        lang: the language of wordings.
        min_confidence: the threshold of calls that give none.
        weak: whether calls that say nothing of it show weak facts, marked and last.
        model: writes `prose`; None if there is none.
        vectors: the index of vectors with its encoder; None if the base has no place for one.
    """

    def __init__(
        self,
        store: Store,
        *,
        lang: Lang = "zh",
        min_confidence: float = ANSWERED,
        model: Model | None = None,
        vectors: VectorSearch | None = None,
        weak: bool = True,
    ) -> None:
        self.store, self.lang, self.min_confidence, self.weak = store, lang, min_confidence, weak
        self.model, self.vectors = model, vectors
        self._stats = PerView(stats)
        self._names = PerView(lambda session: KnownNames(session.view))
        self._indexes = PerView(lambda session: NameIndex(session.view.names()))
        self._orders = PerView(lambda session: FactOrder(session.snapshot))
        self._filings = PerView(lambda session: FilingIndex(session.view.documents(), session.view))
        self._tables = PageTables()

    @contextmanager
    def session(self, **options: Unpack[ViewOptions]) -> Iterator[QuerySession]:
        """Open a session on one state of the store, for several questions that must agree; one thread only."""
        threshold = options.get("min_confidence")
        threshold = self.min_confidence if threshold is None else threshold
        weak = options.get("weak")
        weak = self.weak if weak is None else weak
        revision = self.store.revision()
        try:
            with self.store.reader(as_of=options.get("as_of"), known_at=options.get("known_at")) as view:
                found = self.vectors if self.vectors and self.vectors.index.state else None
                shelf = FilingShelf(self._tables, lambda session: self._filings.of(session, revision))
                yield QuerySession(
                    view, lang=self.lang, min_confidence=threshold, vectors=found, weak=weak, shelf=shelf
                )
        except KgError as error:
            error.lang = self.lang
            raise

    @contextmanager
    def pinned(self, **options: Unpack[ViewOptions]) -> Iterator[PinnedBase]:
        """Give a knowledge base whose answers are all of one session, for those who print what an answer refers to."""
        with self.session(**options) as session:
            yield PinnedBase(self, session)

    def chain(self, topic: str, *, depth: int = 2, **options: Unpack[ViewOptions]) -> ChainAnswer:
        """Return the upstream, midstream and downstream of a product or industry, with companies.

        Raises:
            UnknownName: when no entity has this name.
        """
        with self.session(**options) as session:
            return chain(session, topic, depth=depth)

    def impact(self, factor: str, direction: int = 1, **options: Unpack[ViewOptions]) -> ImpactAnswer:
        """Return what a factor's rise (direction 1) or fall (-1) leads to, as signed paths.

        Raises:
            UnknownName: when no entity has this name.
        """
        with self.session(**options) as session:
            return impact(session, factor, direction)

    def causes(self, effect: str, direction: int = 1, **options: Unpack[ViewOptions]) -> ImpactAnswer:
        """Return what makes an effect rise (direction 1) or fall (-1), as signed paths.

        Raises:
            UnknownName: when no entity has this name.
        """
        with self.session(**options) as session:
            return causes(session, effect, direction)

    def relate(self, first: str, second: str, **options: Unpack[ViewOptions]) -> RelateAnswer:
        """Return the most credible paths between two entities.

        Raises:
            UnknownName: when no entity has one of the names.
        """
        with self.session(**options) as session:
            return relate(session, first, second)

    def profile(self, name: str, **options: Unpack[ViewOptions]) -> ProfileAnswer:
        """Return the names, codes and facts of an entity.

        Raises:
            UnknownName: when no entity has this name.
        """
        with self.session(**options) as session:
            return profile(session, name)

    def history(self, factor: str, subject: str, **options: Unpack[ViewOptions]) -> HistoryAnswer:
        """Return what sources said of a factor's effect on a subject, by episode, oldest first.

        Raises:
            UnknownName: when no entity has one of the names.
        """
        with self.session(**options) as session:
            return HistoryAnswer(*history(session, factor, subject))

    def diff(self, since: date, *, name: str = "", limit: int = 50, **options: Unpack[ViewOptions]) -> DiffAnswer:
        """Return the links that appeared, vanished, changed sign or were contradicted after a day.

        `name` limits them to an entity and what is about it; `as_of` ends the time that is compared.

        Raises:
            UnknownName: when no entity has this name.
        """
        with self.session(**options) as session:
            return diff(session, since, name=name, limit=limit)

    def neighbours(
        self, name: str, wanted: NeighbourFilter | None = None, **options: Unpack[ViewOptions]
    ) -> NeighboursAnswer:
        """Return the strongest neighbours of an entity, with what is said between them.

        Raises:
            UnknownName: when no entity has this name.
            UnknownRelation: when a relation is not in the vocabulary.
        """
        with self.session(**options) as session:
            return neighbours(session, name, wanted)

    def facts(
        self, wanted: FactFilter | None = None, *, after: str = "", limit: int = 50, **options: Unpack[ViewOptions]
    ) -> FactsAnswer:
        """Return a page of the facts that hold, in id order; `after` is the `next` of the page before.

        Raises:
            UnknownName: when no entity has the name of the filter.
            UnknownRelation: when a relation is not in the vocabulary.
            TooManyDetails: for superseded facts without a name.
        """
        revision = self.store.revision()
        with self.session(**options) as session:
            order = lambda: self._orders.of(session, revision)  # noqa: E731 -- built only if the filter needs it
            return find_facts(session, wanted or FactFilter(), order, after=after, limit=limit)

    def stats(self, **options: Unpack[ViewOptions]) -> BaseStats:
        """Return what the base holds: documents, days, publishers, facts by relation, main names."""
        revision = self.store.revision()
        with self.session(**options) as session:
            usual = session.min_confidence == self.min_confidence
            return self._stats.of(session, revision) if usual else stats(session)

    def resolve(self, name: str, **options: Unpack[ViewClocks]) -> ResolveAnswer:
        """Return the entities that a name, alias, code or id may mean, with the reason, most connected first."""
        with self.session(**options) as session:
            return resolve_name(session, name)

    def themes(self, *, level: int = 0, **options: Unpack[ViewClocks]) -> tuple[Community, ...]:
        """Return the themes of the last weekly run; level 0 is the coarsest.

        Raises:
            NoRun: when no run is visible.
        """
        with self.session(**options) as session:
            return themes(session.view, level=level)

    def theme(self, theme_id: str, **options: Unpack[ViewOptions]) -> ThemeAnswer:
        """Return a theme with its summary, biography and graph.

        Raises:
            NoRun: when no run is visible.
            UnknownTheme: when no theme has this id.
        """
        with self.session(**options) as session:
            return theme(session, theme_id)

    def passages(
        self, query: str, *, limit: int = 10, mode: Mode = "words", **options: Unpack[ViewClocks]
    ) -> list[Passage]:
        """Return the passages that best match a query, best first, by words, vectors or the graph (`dual_level`).

        Raises:
            NoVectors: for the mode `vectors` on a base without an index.
            OtherModel: when another encoder made the index.
        """
        with self.session(**options) as session:
            return dual_level(session, query, mode=mode, limit=limit)

    def filing_pages(self, question: str, *, limit: int = 5, **options: Unpack[ViewClocks]) -> FilingPagesAnswer:
        """Return the pages of annual, quarterly and other filings that answer a question, best first."""
        with self.session(**options) as session:
            return filing_pages(session, question, limit=limit)

    def filing_outline(self, document_id: str, **options: Unpack[ViewClocks]) -> OutlineAnswer:
        """Return the sections of a document with their pages.

        Raises:
            UnknownDocument: when no document has this id.
        """
        with self.session(**options) as session:
            return stored_outline(session.view, document_id)

    def ask(self, question: str, **options: Unpack[ViewOptions]) -> AskAnswer:
        """Answer a question in words; an unanswerable one has the status `not_found`."""
        with self.session(**options) as session:
            return ask(session, question)

    def context(self, question: str, *, budget_tokens: int = 2000, **options: Unpack[ViewOptions]) -> ContextAnswer:
        """Return what an answering model needs of a question, within a budget of tokens (an upper estimate)."""
        with self.session(**options) as session:
            return context(session, question, budget_tokens=budget_tokens)

    def prose(self, question: str, *, budget_tokens: int = PROSE_TOKENS, **options: Unpack[ViewOptions]) -> ProseAnswer:
        """Return an answer in prose by the model; sentences that their citations do not support are dropped, visibly.

        Raises:
            NoModel: when the base was opened without a model.
            ModelError: when the model does not answer.
        """
        if self.model is None:
            raise NoModel
        revision = self.store.revision()
        with self.session(**options) as session:
            answer = ask(session, question)
            found = context(session, question, budget_tokens=budget_tokens, answer=answer)
            names = self._names.of(session, revision)
        return prose(found, self.model, names, answer=answer, lang=self.lang)

    def entities(self, q: str, *, limit: int = 10, **options: Unpack[ViewClocks]) -> list[EntityMatch]:
        """Return the entities that a name, a part of one, a code or pinyin initials may mean, best first."""
        revision = self.store.revision()
        with self.session(**options) as session:
            return search(session, self._indexes.of(session, revision), q, limit=limit)

    def document(
        self,
        document_id: str,
        *,
        page: int | None = None,
        start: int = 0,
        facts: Sequence[str] = (),
        **options: Unpack[ViewClocks],
    ) -> DocumentPart:
        """Return a page of a document, or its text from `start` on, with the names in it.

        `facts` are ids whose sentences in this document are wanted, as `highlights`.

        Raises:
            UnknownDocument: when no document has this id.
            UnknownPage: when it has no such page or place.
        """
        with self.session(**options) as session:
            return part_of(session.view, document_id, page=page, start=start, facts=facts)

    def close(self) -> None:
        """Close the store, and the connections of an encoder."""
        if self.vectors:
            self.vectors.encoder.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class PinnedBase(KnowledgeBase):
    """The knowledge base of one session, which its questions give no options; one thread only."""

    def __init__(self, kb: KnowledgeBase, pin: QuerySession) -> None:
        super().__init__(
            kb.store,
            lang=kb.lang,
            min_confidence=pin.min_confidence,
            model=kb.model,
            vectors=kb.vectors,
            weak=pin.weak,
        )
        self.pin = pin

    @contextmanager
    def session(self, **options: Unpack[ViewOptions]) -> Iterator[QuerySession]:
        """Give the session.

        Raises:
            ValueError: when asked for another view than that of the session.
        """
        if options:
            raise ValueError("the view of a pinned base is that of its session")
        yield self.pin


def open_kb(
    url: str | Path,
    *,
    create: bool = False,
    lang: Lang = "zh",
    min_confidence: float = ANSWERED,
    model: Model | None = None,
    encoder: Encoder | None = None,
) -> KnowledgeBase:
    """Open a knowledge base.

    Args:
        url: a path, `memory:`, or `neo4j://HOST:PORT/DATABASE`, as for kg/store/open.py.
        create: create the base if it does not exist.
        lang: the language of wordings, `zh` or `en`.
        min_confidence: facts below it support no answer.
        model: writes `prose`; `kg/llm` has one for OpenAI-compatible endpoints.
        encoder: for search by vectors; without one the offline encoder of kg/llm/embeddings.py.

    Raises:
        StoreError: when it does not exist or cannot be opened.
    """
    index = index_beside(url)
    vectors = VectorSearch(index, encoder or OfflineEncoder()) if index else None
    store = open_store(url, create=create)
    return KnowledgeBase(store, lang=lang, min_confidence=min_confidence, model=model, vectors=vectors)
