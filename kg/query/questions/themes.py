"""Questions on the themes of the weekly runs: `themes`, `theme`, `theme_changes`."""

from __future__ import annotations

from datetime import date  # noqa: TC003 -- pydantic reads it
from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Field

from kg.messages.words import word
from kg.model import Community
from kg.query.answers import ThemeAnswer
from kg.query.questions.parameters import DatedQuestion, SureQuestion, Theme, read_day
from kg.query.text_output import citation_lines, head, summary_text
from kg.query.themes.changes import ChangesAnswer, changes, markdown
from kg.query.themes.listing import theme, themes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.query.session import QuerySession
    from kg.query.themes.biography import Biography

Level = Annotated[int, Field(ge=0, le=3, description="层级，0 最粗 · level, 0 is the coarsest")]


class ThemesQuestion(DatedQuestion):
    """最新一期的主题 · the themes of the newest week."""

    key = "themes"
    answers = tuple[Community, ...]

    level: Level = 0

    def answer(self, session: QuerySession) -> tuple[Community, ...]:
        """Return the themes of one level, largest first."""
        return themes(session.view, level=self.level)

    @staticmethod
    def text(session: QuerySession, answer: tuple[Community, ...]) -> Iterator[str]:
        """Yield one line a theme, and how many themes the next level has."""
        for community in answer:
            title = community.summary.title if community.summary else ""
            row = {"id": community.id[:14], "title": title, "size": len(community.members)}
            yield word("print.theme_row", session.lang, **row)
        run, levels = session.view.run(), {community.level for community in answer}
        if levels == {0} and run and (more := sum(community.level == 1 for community in run.communities)):
            yield word("print.more_themes", session.lang, count=more)


class ThemeQuestion(SureQuestion):
    """一个主题的摘要与历史 · one theme with its summary and history."""

    key = "theme"
    answers = ThemeAnswer

    theme_id: Theme

    def answer(self, session: QuerySession) -> ThemeAnswer:
        """Return the theme."""
        return theme(session, self.theme_id)

    @staticmethod
    def text(session: QuerySession, answer: ThemeAnswer) -> Iterator[str]:
        """Yield the summary, each line with its first quote, what is new, and the biography."""
        community, summary = answer.community, answer.community.summary
        if summary is None:
            return
        row = {"title": summary.title, "size": len(community.members), "period": summary.period or ""}
        yield word("print.theme", session.lang, id=community.id, **row)
        for line in summary.lines:
            facts = list(session.view.facts(ids=line.facts[:2]))
            yield f"\n  {summary_text(session, line)}"
            yield from citation_lines(session, session.citations(facts, 2))
        if community.changes:
            yield head(session, word("print.new", session.lang))
        for line in community.changes:
            yield f"  {summary_text(session, line)}"
        if answer.biography:
            yield from _life_lines(session, answer.biography)


def _life_lines(session: QuerySession, life: Biography) -> Iterator[str]:
    lang = session.lang
    yield head(session, word("print.biography", lang))
    for episode in life.episodes:
        yield f"  {episode.as_of}  {episode.text}"
        yield from (f"              {claim}" for claim in episode.claims)
        yield from citation_lines(session, episode.citations[:1], indent=14)
    yield head(session, word("print.theme_names", lang))
    yield from (f"  {day}  {name}" for day, name in life.names)
    yield head(session, word("print.sizes", lang))
    yield "  " + word("comma", lang).join(f"{day} {size}" for day, size in life.sizes)


class ThemeChangesQuestion(DatedQuestion):
    """一天以来各主题的变化 · how themes have changed since a day, as Markdown."""

    key = "theme_changes"
    answers = ChangesAnswer

    since: Annotated[
        date,
        BeforeValidator(read_day),
        Field(description="读者上次看到的一天 · the day of the reader's last visit", examples=["2025-01-01"]),
    ]
    level: Level = 0

    def answer(self, session: QuerySession) -> ChangesAnswer:
        """Return the changes."""
        return changes(session, self.since, level=self.level)

    @staticmethod
    def text(session: QuerySession, answer: ChangesAnswer) -> Iterator[str]:
        """Yield the changes as Markdown."""
        yield markdown(answer, session.lang).removesuffix("\n")
