# ruff: noqa: A002
# Written by `python -m tests.kg.service.stub`.
from collections.abc import Sequence
from datetime import date
from typing import Any, Literal, Unpack

from kg.model import Community
from kg.query.answers import AskAnswer, ChainAnswer, ImpactAnswer, Passage, ProfileAnswer, RelateAnswer, ThemeAnswer
from kg.query.browse.diff import DiffAnswer
from kg.query.browse.facts import FactsAnswer
from kg.query.browse.neighbours import NeighboursAnswer
from kg.query.browse.pages import DocumentPart
from kg.query.browse.search import EntityMatch
from kg.query.browse.stats import BaseStats
from kg.query.filings.outline import OutlineAnswer
from kg.query.filings.pages import FilingPagesAnswer
from kg.query.filings.values.answer import FilingValueAnswer
from kg.query.grounding.context import ContextAnswer
from kg.query.grounding.prose import ProseAnswer
from kg.query.history import HistoryAnswer
from kg.query.questions.parameters import DatedQuestion, ViewClocks, ViewOptions
from kg.query.resolve import ResolveAnswer
from kg.query.themes.changes import ChangesAnswer

class QuestionMethods:
    def answer(self, question: DatedQuestion) -> Any: ...
    def asked(self, key: str, *about: object, **options: object) -> Any: ...
    def chain(
        self,
        topic: str,
        *,
        depth: int = 2,
        **options: Unpack[ViewOptions],
    ) -> ChainAnswer: ...
    def impact(
        self,
        factor: str,
        *,
        direction: Literal["up", "down", 1, -1] = "up",
        **options: Unpack[ViewOptions],
    ) -> ImpactAnswer: ...
    def causes(
        self,
        effect: str,
        *,
        direction: Literal["up", "down", 1, -1] = "up",
        **options: Unpack[ViewOptions],
    ) -> ImpactAnswer: ...
    def history(
        self,
        factor: str,
        subject: str,
        **options: Unpack[ViewOptions],
    ) -> HistoryAnswer: ...
    def relate(
        self,
        first: str,
        second: str,
        **options: Unpack[ViewOptions],
    ) -> RelateAnswer: ...
    def profile(
        self,
        name: str,
        **options: Unpack[ViewOptions],
    ) -> ProfileAnswer: ...
    def neighbours(
        self,
        name: str,
        *,
        relation: Sequence[str] | str = ...,
        direction: Literal["out", "in", "both"] = "both",
        modality: Sequence[str] | str = ...,
        limit: int = 30,
        **options: Unpack[ViewOptions],
    ) -> NeighboursAnswer: ...
    def resolve(
        self,
        name: str,
        **options: Unpack[ViewClocks],
    ) -> ResolveAnswer: ...
    def entities(
        self,
        q: str,
        *,
        limit: int = 10,
        **options: Unpack[ViewClocks],
    ) -> list[EntityMatch]: ...
    def facts(
        self,
        *,
        name: str = "",
        relation: Sequence[str] | str = ...,
        kind: Sequence[str] | str = ...,
        valid_from: date | str | None = None,
        valid_to: date | str | None = None,
        publisher: str = "",
        published_from: date | str | None = None,
        published_to: date | str | None = None,
        id: Sequence[str] | str = ...,
        superseded: bool = False,
        after: str = "",
        limit: int = 50,
        **options: Unpack[ViewOptions],
    ) -> FactsAnswer: ...
    def diff(
        self,
        since: date | str,
        *,
        name: str = "",
        limit: int = 50,
        **options: Unpack[ViewOptions],
    ) -> DiffAnswer: ...
    def stats(
        self,
        **options: Unpack[ViewOptions],
    ) -> BaseStats: ...
    def themes(
        self,
        *,
        level: int = 0,
        **options: Unpack[ViewClocks],
    ) -> tuple[Community, ...]: ...
    def theme(
        self,
        theme_id: str,
        **options: Unpack[ViewOptions],
    ) -> ThemeAnswer: ...
    def theme_changes(
        self,
        since: date | str,
        *,
        level: int = 0,
        **options: Unpack[ViewClocks],
    ) -> ChangesAnswer: ...
    def passages(
        self,
        query: str,
        *,
        limit: int = 10,
        mode: Literal["words", "vectors", "local", "global", "hybrid", "mix", "fused"] = "words",
        **options: Unpack[ViewClocks],
    ) -> list[Passage]: ...
    def document(
        self,
        document_id: str,
        *,
        page: int | None = None,
        start: int = 0,
        fact: Sequence[str] | str = ...,
        **options: Unpack[ViewClocks],
    ) -> DocumentPart: ...
    def filing_pages(
        self,
        question: str,
        *,
        limit: int = 5,
        **options: Unpack[ViewClocks],
    ) -> FilingPagesAnswer: ...
    def filing_value(
        self,
        question: str,
        *,
        trace: bool = False,
        **options: Unpack[ViewClocks],
    ) -> FilingValueAnswer: ...
    def filing_outline(
        self,
        document_id: str,
        **options: Unpack[ViewClocks],
    ) -> OutlineAnswer: ...
    def ask(
        self,
        question: str,
        **options: Unpack[ViewOptions],
    ) -> AskAnswer: ...
    def context(
        self,
        question: str,
        *,
        budget_tokens: int = 2000,
        **options: Unpack[ViewOptions],
    ) -> ContextAnswer: ...
    def prose(
        self,
        question: str,
        *,
        budget_tokens: int = 1500,
        **options: Unpack[ViewOptions],
    ) -> ProseAnswer: ...
