"""Questions on facts: `facts`, `diff`, `stats`."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Field, model_validator

from kg.messages.words import listed, word
from kg.period import Period
from kg.query.browse.diff import DiffAnswer, diff
from kg.query.browse.facts import FactFilter, FactOrder, FactsAnswer, find_facts
from kg.query.browse.stats import BaseStats, stats
from kg.query.questions.parameters import (
    LONGEST_NAME,
    Day,
    FactIds,
    Kinds,
    Relations,
    SureQuestion,
    Text,
    read_day,
)
from kg.query.text_output import citation_lines, head, link_lines
from kg.query.wording import claim_text, coded, flow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from kg.query.session import QuerySession


class FactsQuestion(SureQuestion):
    """按条件列出事实，可翻页 · facts by filter, paged, in the order of their ids."""

    key = "facts"
    answers = FactsAnswer

    name: Annotated[str, Text, Field(max_length=LONGEST_NAME, description="一端的实体 · an entity at an end")] = ""
    relation: Relations = Field(default=[])
    kind: Kinds = Field(default=[])
    valid_from: Annotated[Day, Field(description="有效期在这一天或以后 · valid on this day or later")] = None
    valid_to: Annotated[Day, Field(description="有效期在这一天或以前 · valid on this day or earlier")] = None
    publisher: Annotated[str, Text, Field(max_length=LONGEST_NAME, description="发布者 · publisher")] = ""
    published_from: Annotated[Day, Field(description="在这一天或以后发表 · published on this day or later")] = None
    published_to: Annotated[Day, Field(description="在这一天或以前发表 · published on this day or earlier")] = None
    id: Annotated[FactIds, Field(max_length=100, description="事实编号 · ids of facts")] = Field(default=[])
    superseded: Annotated[bool, Field(description="与 name 同用：含已被取代的 · with name: also superseded facts")] = (
        False
    )
    after: Annotated[str, Field(max_length=LONGEST_NAME, description="上一页的 next · `next` of the page before")] = ""
    limit: Annotated[int, Field(ge=1, le=1000, description="一页几条 · facts of a page")] = 50

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.valid_from and self.valid_to and self.valid_from > self.valid_to:
            raise ValueError("valid_from is after valid_to")
        if self.published_from and self.published_to and self.published_from > self.published_to:
            raise ValueError("published_from is after published_to")
        return self

    def answer(self, session: QuerySession) -> FactsAnswer:
        """Return a page of facts."""
        end = self.valid_to and (self.valid_to + timedelta(days=1) if self.valid_to < date.max else None)
        wanted = FactFilter(
            name=self.name,
            relations=tuple(self.relation),
            kinds=tuple(kind.value for kind in self.kind),
            during=Period(self.valid_from, end) if self.valid_from or end else None,
            publisher=self.publisher,
            published=(self.published_from, self.published_to) if self.published_from or self.published_to else None,
            ids=tuple(self.id),
            superseded=self.superseded,
        )
        order = lambda: session.kept(_fact_order)  # noqa: E731 -- built only if the filter needs it
        return find_facts(session, wanted, order, after=self.after, limit=self.limit)

    @staticmethod
    def text(session: QuerySession, answer: FactsAnswer) -> Iterator[str]:
        """Yield each fact with a citation."""
        if not answer.facts:
            yield word("nothing", session.lang)
        for row in answer.facts:
            yield claim_text(session, row.fact)
            yield from citation_lines(session, row.citations[:1])
        if answer.next:
            yield word("print.next", session.lang, after=answer.next)


def _fact_order(session: QuerySession) -> FactOrder:
    return FactOrder(session.graph)


class DiffQuestion(SureQuestion):
    """一天以来的变化 · links that appeared, vanished, turned or were contradicted after a day, until `as_of`."""

    key = "diff"
    answers = DiffAnswer

    since: Annotated[
        date,
        BeforeValidator(read_day),
        Field(description="与这一天相比 · compares with this day", examples=["2025-01-01"]),
    ]
    name: Annotated[str, Text, Field(max_length=LONGEST_NAME, description="只看一个实体 · only one entity")] = ""
    limit: Annotated[int, Field(ge=1, le=500, description="最多几处变化 · most changes")] = 50

    def answer(self, session: QuerySession) -> DiffAnswer:
        """Return the changes."""
        return diff(session, self.since, name=self.name, limit=self.limit)

    @staticmethod
    def text(session: QuerySession, answer: DiffAnswer) -> Iterator[str]:
        """Yield the links by kind of change."""
        if not answer.changes:
            yield word("nothing", session.lang)
        for kind in dict.fromkeys(each.change for each in answer.changes):
            yield head(session, word(f"diff.{kind}", session.lang))
            for each in answer.changes:
                if each.change == kind:
                    yield from link_lines(session, each.link)


class StatsQuestion(SureQuestion):
    """库里有什么，可以问什么 · what the base holds, and questions to ask."""

    key = "stats"
    answers = BaseStats

    def answer(self, session: QuerySession) -> BaseStats:
        """Return the contents."""
        return session.kept(stats, session.min_confidence, session.lang)

    @staticmethod
    def text(session: QuerySession, answer: BaseStats) -> Iterator[str]:
        """Yield documents, publishers, facts, names and questions."""
        lang = session.lang
        wording = {relation: session.words[relation].wording[lang] for relation, _ in answer.facts}
        days = word("stats.days", lang, first=answer.first, last=answer.last) if answer.first else ""
        counts = listed((f"{wording[relation]} {count}" for relation, count in answer.facts), lang)
        publishers = listed((f"{name} {count}" for name, count in answer.publishers), lang)
        yield word("stats.documents", lang, count=answer.documents) + days
        yield word("stats.publishers", lang, names=publishers)
        yield word("stats.facts", lang, counts=counts)
        yield word("stats.below", lang, count=answer.below)
        yield word("stats.names", lang, names=listed((coded(entity, lang) for entity in answer.names), lang))
        yield word("stats.questions", lang, questions=flow(answer.questions, lang))
