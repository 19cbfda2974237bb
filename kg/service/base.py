"""A knowledge base as one object: open it once and question it from any number of threads."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, cast

import kg.service.operations as asked
from kg.errors import KgError
from kg.llm.embeddings import OfflineEncoder
from kg.query.ask.answer import ask
from kg.query.browse.diff import diff
from kg.query.browse.facts import FactFilter, FactOrder, find_facts
from kg.query.browse.frames import COLUMNS, STEPS, pandas_frame, theme_rows
from kg.query.browse.neighbours import NeighbourFilter, neighbours
from kg.query.browse.pages import DocumentPart, part_of
from kg.query.browse.profile import profile
from kg.query.browse.search import EntityMatch, NameIndex, PerView, search
from kg.query.browse.stats import stats
from kg.query.filings.documents import FilingIndex, FilingShelf
from kg.query.filings.outline import OutlineAnswer, stored_outline
from kg.query.filings.pages import FilingPagesAnswer, filing_pages
from kg.query.filings.shelf import PageTables
from kg.query.grounding.checking import KnownNames
from kg.query.grounding.context import context
from kg.query.grounding.dual_level import dual_level
from kg.query.grounding.prose import PROSE_TOKENS, NoModel, prose
from kg.query.grounding.vectors import VectorSearch, index_beside
from kg.query.history import HistoryAnswer, history
from kg.query.resolve import resolve, resolve_name
from kg.query.session import ANSWERED, QuerySession
from kg.query.themes.listing import theme, themes
from kg.query.walks.chain import chain
from kg.query.walks.impact import causes, impact
from kg.query.walks.relate import relate
from kg.service.parameters import SureQuestion, ViewClocks, ViewOptions, WrongParameter, check, checked
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date, datetime
    from pathlib import Path

    import pandas as pd

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
    from kg.query.browse.neighbours import NeighboursAnswer, Side
    from kg.query.browse.stats import BaseStats
    from kg.query.grounding.context import ContextAnswer
    from kg.query.grounding.dual_level import Mode
    from kg.query.grounding.prose import ProseAnswer
    from kg.query.resolve import ResolveAnswer
    from kg.store.port import Store


_FRAMED = ("chain", "impact", "causes", "profile")  # questions that `frame` answers
_PAGE = 1000
Direction = Literal["up", "down", 1, -1]
_SIGNS: Mapping[Direction, int] = {"up": 1, "down": -1}


class KnowledgeBase:
    """Answers questions on a store; thread-safe.

    Each call opens its own session on one state of the store, so concurrent calls share no mutable state and a
    concurrent write is seen by an answer either whole or not at all. Compiled graphs are shared through the cache of
    kg/graph/cache.py. `as_of` hides everything published after a day, `known_at` everything read after an instant;
    facts below `min_confidence` support no answer.

    Attributes:
        store: the store, for `ingest`, `run_week` and raw views.
        lang: the language of wordings.
        min_confidence, weak: the threshold, and whether weak facts are shown, of calls that give none.
        model, vectors: what writes `prose`, and the index of vectors with its encoder; None if there is none.
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
        self._names = PerView(lambda session: KnownNames(session.view.names()))
        self._indexes = PerView(lambda session: NameIndex(session.view.names()))
        self._orders = PerView(lambda session: FactOrder(session.graph))
        self._filings = PerView(lambda session: FilingIndex(session.view.documents(), session.view))
        self._tables = PageTables()

    @contextmanager
    @checked(SureQuestion)
    def session(self, **options: Unpack[ViewOptions]) -> Iterator[QuerySession]:
        """Open a session on one state of the store, for several questions that must agree; one thread only."""
        given = {name: value for name, value in options.items() if value is not None}
        sure: Any = {"min_confidence": self.min_confidence, "weak": self.weak} | given
        state = self.store.state()
        try:
            clocks: Any = {name: sure.pop(name, None) for name in ViewClocks.__annotations__}  # read by `checked`
            with self.store.reader(**clocks) as view:
                found = self.vectors if self.vectors and self.vectors.index.state else None
                shelf = FilingShelf(self._tables, lambda session: self._filings.of(session, state))
                yield QuerySession(view, lang=self.lang, vectors=found, shelf=shelf, **sure)
        except KgError as error:
            error.lang = self.lang
            raise

    @contextmanager
    def pinned(self, **options: Unpack[ViewOptions]) -> Iterator[PinnedBase]:
        """Give a knowledge base whose answers are all of one session, for those who print what an answer refers to."""
        with self.session(**options) as session:
            yield PinnedBase(self, session)

    def asof(self, day: date | str, *, known_at: datetime | str | None = None) -> DatedBase:
        """Return the base as it could be known on a day, for a back-test: no question on it sees what came later."""
        clocks: Any = check(SureQuestion, {"as_of": day, "known_at": known_at})
        return DatedBase(self, clocks)

    def frame(self, of: str, name: str, **options: Unpack[ViewOptions]) -> pd.DataFrame:
        """Return a step of the graph, or the answer to a question on a name, as a data frame; docs/service.md.

        It is empty before the first document.

        Args:
            of: a step (suppliers, makers …: kg/query/browse/frames.py), or chain, impact, causes or profile.
            name: the name, alias or code it is about.
            options: the view, as for every question.

        Raises:
            UnknownName: when no entity has this name.
            WrongParameter: when there is no such frame.
            KgError: when pandas is not installed.
        """
        if of not in STEPS and of not in _FRAMED:
            raise WrongParameter("of", f"no such frame; there are {', '.join((*STEPS, *_FRAMED))}")
        with self.pinned(**options) as base:
            if not any(True for _ in base.pin.view.documents()):
                rows: list[dict[str, object]] = []
            elif of in _FRAMED:
                return getattr(base, of)(name).to_pandas()
            else:
                rows = base.step(name, *STEPS[of])
        return pandas_frame(COLUMNS["edges"], rows)

    def themes_frame(self, *, level: int = 0, **options: Unpack[ViewClocks]) -> pd.DataFrame:
        """Return the themes of the last weekly run with their members as a data frame; without a run it is empty."""
        with self.pinned(**options) as base:
            run = base.pin.view.run()
            rows = theme_rows(base.pin, run.as_of, base.themes(level=level)) if run else []
        return pandas_frame(COLUMNS["themes"], rows)

    @checked(asked.ChainQuestion)
    def chain(self, topic: str, *, depth: int = 2, **options: Unpack[ViewOptions]) -> ChainAnswer:
        """Return the upstream, midstream and downstream of a product or industry, with companies.

        Raises:
            UnknownName: when no entity has this name.
        """
        with self.session(**options) as session:
            return chain(session, topic, depth=depth)

    @checked(asked.ImpactQuestion)
    def impact(self, factor: str, *, direction: Direction = "up", **options: Unpack[ViewOptions]) -> ImpactAnswer:
        """Return what a factor's rise (direction up or 1) or fall (down or -1) leads to, as signed paths.

        Raises:
            UnknownName: when no entity has this name.
        """
        with self.session(**options) as session:
            return impact(session, factor, _SIGNS[direction])

    @checked(asked.CausesQuestion)
    def causes(self, effect: str, *, direction: Direction = "up", **options: Unpack[ViewOptions]) -> ImpactAnswer:
        """Return what makes an effect rise (direction up or 1) or fall (down or -1), as signed paths.

        Raises:
            UnknownName: when no entity has this name.
        """
        with self.session(**options) as session:
            return causes(session, effect, _SIGNS[direction])

    @checked(asked.RelateQuestion)
    def relate(self, first: str, second: str, **options: Unpack[ViewOptions]) -> RelateAnswer:
        """Return the most credible paths between two entities.

        Raises:
            UnknownName: when no entity has one of the names.
        """
        with self.session(**options) as session:
            return relate(session, first, second)

    @checked(asked.ProfileQuestion)
    def profile(self, name: str, **options: Unpack[ViewOptions]) -> ProfileAnswer:
        """Return the names, codes and facts of an entity.

        Raises:
            UnknownName: when no entity has this name.
        """
        with self.session(**options) as session:
            return profile(session, name)

    @checked(asked.HistoryQuestion)
    def history(self, factor: str, subject: str, **options: Unpack[ViewOptions]) -> HistoryAnswer:
        """Return what sources said of a factor's effect on a subject, by episode, oldest first.

        Raises:
            UnknownName: when no entity has one of the names.
        """
        with self.session(**options) as session:
            return HistoryAnswer(*history(session, factor, subject))

    @checked(asked.DiffQuestion)
    def diff(self, since: date | str, *, name: str = "", limit: int = 50, **options: Unpack[ViewOptions]) -> DiffAnswer:
        """Return the links that appeared, vanished, changed sign or were contradicted after a day.

        `name` limits them to an entity and what is about it; `as_of` ends the time that is compared.

        Raises:
            UnknownName: when no entity has this name.
        """
        with self.session(**options) as session:
            return diff(session, cast("date", since), name=name, limit=limit)

    @checked(asked.NeighboursQuestion)
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

    @checked(asked.FactsQuestion)
    def facts(
        self,
        wanted: FactFilter | None = None,
        *,
        published_from: date | str | None = None,
        published_to: date | str | None = None,
        after: str = "",
        limit: int = 50,
        **options: Unpack[ViewOptions],
    ) -> FactsAnswer:
        """Return a page of the facts that hold, in id order; `after` is the `next` of the page before.

        `published_from` and `published_to` are the first and last day on which a document states the fact.

        Raises:
            UnknownName: when no entity has the name of the filter.
            UnknownRelation: when a relation is not in the vocabulary.
            TooManyDetails: for superseded facts without a name.
        """
        wanted = wanted or FactFilter()
        if published_from or published_to:
            wanted = replace(wanted, published=(published_from, published_to))  # type: ignore[arg-type] # read as days
        state = self.store.state()
        with self.session(**options) as session:
            order = lambda: self._orders.of(session, state)  # noqa: E731 -- built only if the filter needs it
            return find_facts(session, wanted, order, after=after, limit=limit)

    @checked(asked.StatsQuestion)
    def stats(self, **options: Unpack[ViewOptions]) -> BaseStats:
        """Return what the base holds: documents, days, publishers, facts by relation, main names."""
        state = self.store.state()
        with self.session(**options) as session:
            usual = session.min_confidence == self.min_confidence
            return self._stats.of(session, state) if usual else stats(session)

    @checked(asked.ResolveQuestion)
    def resolve(self, name: str, **options: Unpack[ViewClocks]) -> ResolveAnswer:
        """Return the entities that a name, alias, code or id may mean, with the reason, most connected first."""
        with self.session(**options) as session:
            return resolve_name(session, name)

    @checked(asked.ThemesQuestion)
    def themes(self, *, level: int = 0, **options: Unpack[ViewClocks]) -> tuple[Community, ...]:
        """Return the themes of the last weekly run; level 0 is the coarsest.

        Raises:
            NoRun: when no run is visible.
        """
        with self.session(**options) as session:
            return themes(session.view, level=level)

    @checked(asked.ThemeQuestion)
    def theme(self, theme_id: str, **options: Unpack[ViewOptions]) -> ThemeAnswer:
        """Return a theme with its summary, biography and graph.

        Raises:
            NoRun: when no run is visible.
            UnknownTheme: when no theme has this id.
        """
        with self.session(**options) as session:
            return theme(session, theme_id)

    @checked(asked.PassagesQuestion)
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

    @checked(asked.FilingPagesQuestion)
    def filing_pages(self, question: str, *, limit: int = 5, **options: Unpack[ViewClocks]) -> FilingPagesAnswer:
        """Return the pages of annual, quarterly and other filings that answer a question, best first."""
        with self.session(**options) as session:
            return filing_pages(session, question, limit=limit)

    @checked(asked.FilingOutlineQuestion)
    def filing_outline(self, document_id: str, **options: Unpack[ViewClocks]) -> OutlineAnswer:
        """Return the sections of a document with their pages.

        Raises:
            UnknownDocument: when no document has this id.
        """
        with self.session(**options) as session:
            return stored_outline(session.view, document_id)

    @checked(asked.AskQuestion)
    def ask(self, question: str, **options: Unpack[ViewOptions]) -> AskAnswer:
        """Answer a question in words; an unanswerable one has the status `not_found`."""
        with self.session(**options) as session:
            return ask(session, question)

    @checked(asked.ContextQuestion)
    def context(self, question: str, *, budget_tokens: int = 2000, **options: Unpack[ViewOptions]) -> ContextAnswer:
        """Return what an answering model needs of a question, within a budget of tokens (an upper estimate)."""
        with self.session(**options) as session:
            return context(session, question, budget_tokens=budget_tokens)

    @checked(asked.ProseQuestion)
    def prose(self, question: str, *, budget_tokens: int = PROSE_TOKENS, **options: Unpack[ViewOptions]) -> ProseAnswer:
        """Return an answer in prose by the model; sentences that their citations do not support are dropped, visibly.

        Raises:
            NoModel: when the base was opened without a model.
            ModelError: when the model does not answer.
        """
        if self.model is None:
            raise NoModel
        state = self.store.state()
        with self.session(**options) as session:
            answer = ask(session, question)
            found = context(session, question, budget_tokens=budget_tokens, answer=answer)
            names = self._names.of(session, state)
        return prose(found, self.model, names, answer=answer, lang=self.lang)

    @checked(asked.EntitiesQuestion)
    def entities(self, q: str, *, limit: int = 10, **options: Unpack[ViewClocks]) -> list[EntityMatch]:
        """Return the entities that a name, a part of one, a code or pinyin initials may mean, best first."""
        state = self.store.state()
        with self.session(**options) as session:
            return search(session, self._indexes.of(session, state), q, limit=limit)

    @checked(asked.DocumentQuestion)
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
        """Close the store, and the connections of the model and of an encoder."""
        for each in (self.model, self.vectors and self.vectors.encoder, self.store):
            if each:
                each.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class PinnedBase(KnowledgeBase):
    """The knowledge base of one session, which its questions give no options; one thread only."""

    def __init__(self, kb: KnowledgeBase, pin: QuerySession) -> None:
        super().__init__(kb.store, lang=kb.lang, min_confidence=pin.min_confidence, model=kb.model, vectors=kb.vectors)
        self.weak, self.pin = pin.weak, pin

    @contextmanager
    def session(self, **options: Unpack[ViewOptions]) -> Iterator[QuerySession]:
        """Give the session.

        Raises:
            ValueError: when asked for another view than that of the session.
        """
        if options:
            raise ValueError("the view of a pinned base is that of its session")
        yield self.pin

    def step(self, name: str, relation: str, side: Side) -> list[dict[str, object]]:
        """Return the facts of one relation that leave an entity (`out`) or lead to it (`in`), as rows of a frame."""
        entity, after, rows = resolve(self.pin, name).id, "", list[dict[str, object]]()
        ends = {"in": ("target",), "out": ("source",), "both": ("source", "target")}[side]
        while True:
            page = self.facts(FactFilter(entity, (relation,)), after=after, limit=_PAGE)
            rows += [row for row in page.elements().edges if entity in map(row.get, ends)]
            if not (after := page.next):
                return rows


class DatedBase(KnowledgeBase):
    """A knowledge base seen as of a day; its questions may look further back, never further ahead."""

    def __init__(self, kb: KnowledgeBase, clocks: ViewClocks) -> None:
        super().__init__(kb.store, lang=kb.lang, min_confidence=kb.min_confidence, model=kb.model, vectors=kb.vectors)
        self.weak, self._clocks = kb.weak, clocks

    @contextmanager
    @checked(SureQuestion)
    def session(self, **options: Unpack[ViewOptions]) -> Iterator[QuerySession]:
        """Open a session on one state of the store, as of the day of the base or an earlier one.

        Raises:
            WrongParameter: when a later view is wanted.
        """
        for name, own in self._clocks.items():
            asked_for = options.get(name)
            if asked_for is not None and own is not None and asked_for > own:  # type: ignore[operator] # checked above
                raise WrongParameter(name, "is later than the day of this base")
        given: Any = {name: value for name, value in options.items() if value is not None}
        with super().session(**{**self._clocks, **given}) as session:
            yield session

    def close(self) -> None:
        """Leave the store open: it belongs to the base that this one was made from."""


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
