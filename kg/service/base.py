"""A knowledge base as one object: open it once and question it from any number of threads."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, Unpack

from kg.errors import KgError
from kg.llm.embeddings import OfflineEncoder
from kg.query.browse.frames import COLUMNS, STEPS, pandas_frame, theme_rows
from kg.query.grounding.vectors import VectorSearch, index_beside
from kg.query.questions.parameters import SureQuestion, WrongParameter
from kg.query.questions.registry import question
from kg.query.resolve import resolve
from kg.query.session import ANSWERED, QuerySession
from kg.query.session_cache import SessionCache
from kg.query.themes.listing import themes
from kg.service.methods import QuestionMethods
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime
    from pathlib import Path

    import pandas as pd

    from kg.llm.embeddings import Encoder
    from kg.llm.port import Model
    from kg.messages.words import Lang
    from kg.query.questions.parameters import ViewClocks, ViewOptions
    from kg.store.port import Store


_FRAMED = ("chain", "impact", "causes", "profile")  # questions that `frame` answers
_PAGE = 1000


class KnowledgeBase(QuestionMethods):
    """Answers questions on a store; thread-safe.

    Each question of kg/query/questions is a method. Each call opens its own session on one state of the store, so
    concurrent calls share no mutable state and a concurrent write is seen by an answer either whole or not at all.
    Compiled graphs are shared through the cache of kg/graph/cache.py. `as_of` hides everything published after a day,
    `known_at` everything read after an instant; facts below `min_confidence` support no answer.

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
        self._cache = SessionCache()

    @contextmanager
    def session(self, **options: Unpack[ViewOptions]) -> Iterator[QuerySession]:
        """Open a session on one state of the store, for several questions that must agree; one thread only."""
        state = self.store.state()
        try:
            given = {name: each for name, each in SureQuestion.asked(**options).view().items() if each is not None}
            sure: Any = {"min_confidence": self.min_confidence, "weak": self.weak} | given
            clocks = {name: sure.pop(name, None) for name in ("as_of", "known_at")}
            with self.store.reader(**clocks) as view:
                found = self.vectors if self.vectors and self.vectors.index.state else None
                cache = (self._cache, state)
                yield QuerySession(view, lang=self.lang, vectors=found, cache=cache, **sure)
        except KgError as error:
            error.lang = self.lang
            raise

    def asof(self, day: date | str, *, known_at: datetime | str | None = None) -> DatedBase:
        """Return the base as it could be known on a day, for a back-test: no question on it sees what came later."""
        view: Any = SureQuestion.asked(as_of=day, known_at=known_at).view()
        return DatedBase(self, {"as_of": view["as_of"], "known_at": view["known_at"]})

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
        with self.session(**options) as session:
            if not any(True for _ in session.view.documents()):
                return pandas_frame(COLUMNS["edges"], [])
            if of in _FRAMED:
                return question(of).asked(name).answer(session).to_pandas()
            return pandas_frame(COLUMNS["edges"], _step(session, name, *STEPS[of]))

    def themes_frame(self, *, level: int = 0, **options: Unpack[ViewClocks]) -> pd.DataFrame:
        """Return the themes of the last weekly run with their members as a data frame; without a run it is empty."""
        with self.session(**options) as session:
            run = session.view.run()
            rows = theme_rows(session, run.as_of, themes(session.view, level=level)) if run else []
        return pandas_frame(COLUMNS["themes"], rows)

    def close(self) -> None:
        """Close the store, and the connections of the model and of an encoder."""
        for each in (self.model, self.vectors and self.vectors.encoder, self.store):
            if each:
                each.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _step(session: QuerySession, name: str, relation: str, side: str) -> list[dict[str, object]]:
    """Return the facts of one relation that leave an entity (`out`) or lead to it (`in`), as rows of a frame."""
    entity, after, rows = resolve(session, name).id, "", list[dict[str, object]]()
    ends = {"in": ("target",), "out": ("source",), "both": ("source", "target")}[side]
    while True:
        page = question("facts").asked(name=entity, relation=relation, after=after, limit=_PAGE).answer(session)
        rows += [row for row in page.elements().edges if entity in map(row.get, ends)]
        if not (after := page.next):
            return rows


class DatedBase(KnowledgeBase):
    """A knowledge base seen as of a day; its questions may look further back, never further ahead."""

    def __init__(self, kb: KnowledgeBase, clocks: ViewClocks) -> None:
        super().__init__(kb.store, lang=kb.lang, min_confidence=kb.min_confidence, model=kb.model, vectors=kb.vectors)
        self.weak, self._clocks = kb.weak, clocks

    @contextmanager
    def session(self, **options: Unpack[ViewOptions]) -> Iterator[QuerySession]:
        """Open a session on one state of the store, as of the day of the base or an earlier one.

        Raises:
            WrongParameter: when a later view is wanted.
        """
        view = SureQuestion.asked(**options).view()
        for name, own in self._clocks.items():
            if view[name] is not None and own is not None and view[name] > own:
                raise WrongParameter(name, "is later than the day of this base")
        given: Any = {name: value for name, value in view.items() if value is not None}
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
