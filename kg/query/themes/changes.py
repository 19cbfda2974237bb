"""What changed in the themes since a reader's last visit, as records and as Markdown that a search can index."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.messages.words import word
from kg.query.themes.biography import ThemeChapter, episodes, name_of, titles_of
from kg.query.themes.listing import NoRun, standing
from kg.store.visibility import is_before_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from kg.messages.words import Lang
    from kg.model import Community, Run, SummaryLine, ThemeEvent
    from kg.query.session import QuerySession

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~])")
_NEWS_EACH = 8


@dataclass(frozen=True, slots=True)
class ThemeChange:
    """What happened to one theme: its name then ("" when it was not there) and now, its sizes, turns and new facts."""

    id: str
    name: str
    name_before: str
    size: int
    size_before: int
    episodes: tuple[ThemeChapter, ...]
    news: tuple[SummaryLine, ...]


@dataclass(frozen=True, slots=True)
class ChangesAnswer:
    """The themes that changed between two weeks, the most news first; `unchanged` counts the others.

    `since` is the week of the last run the reader has seen, None when there was none.
    """

    since: date | None
    until: date
    weeks: tuple[date, ...]
    themes: tuple[ThemeChange, ...]
    unchanged: int


def changes(session: QuerySession, since: date, *, level: int = 0) -> ChangesAnswer:
    """Return what changed in the themes of one level after the last run of `since` or before.

    Raises:
        NoRun: before the first weekly run; on a day before the first document nothing has changed.
    """
    before: Run | None = None
    last: Run | None = None
    weeks: list[date] = []
    by_theme: dict[str, list[tuple[date, ThemeEvent]]] = {}
    news: dict[str, dict[SummaryLine, None]] = {}
    titles: dict[str, str] = {}
    for run in session.view.runs():
        last = run
        titles |= titles_of(run)
        if run.as_of <= since:
            before = run
            continue
        weeks.append(run.as_of)
        for event in run.events:
            if event.level == level:
                by_theme.setdefault(event.theme, []).append((run.as_of, event))
        for community in _of_level(run, level):
            # The first line of a week counts its facts; here the facts themselves are listed.
            news.setdefault(community.id, {}).update(dict.fromkeys(community.changes[1:]))
    if last is None and is_before_all(session.view):
        return ChangesAnswer(None, session.view.as_of or since, (), (), 0)
    if last is None:
        raise NoRun
    holds = standing(session.view, [line for lines in news.values() for line in lines])
    old = {community.id: community for community in _of_level(before, level)}
    now = {community.id: community for community in _of_level(last, level)}
    changed = [
        ThemeChange(
            id=theme,
            name=name_of(now[theme]) if theme in now else titles.get(theme, theme),
            name_before=name_of(old[theme]) if theme in old else "",
            size=len(now[theme].members) if theme in now else 0,
            size_before=len(old[theme].members) if theme in old else 0,
            episodes=tuple(episodes(session, by_theme.get(theme, []), titles)),
            news=tuple(line for line in news.get(theme, {}) if line in holds),
        )
        for theme in sorted(old.keys() | now.keys())
        if by_theme.get(theme) or not holds.isdisjoint(news.get(theme, ()))
    ]
    changed.sort(key=lambda item: (-len(item.news), -len(item.episodes), item.id))
    unchanged = len(now) - sum(item.id in now for item in changed)
    return ChangesAnswer(before.as_of if before else None, last.as_of, tuple(weeks), tuple(changed), unchanged)


def markdown(answer: ChangesAnswer, lang: Lang = "zh") -> str:
    """Return the report as Markdown; names and sentences come from documents, so their marks are escaped."""
    return "\n".join(_written(answer, lang)) + "\n"


def _of_level(run: Run | None, level: int) -> Iterator[Community]:
    return (community for community in (run.communities if run else ()) if community.level == level)


def _written(answer: ChangesAnswer, lang: Lang) -> Iterator[str]:
    title = "changes.title" if answer.since else "changes.title_all"
    yield word(title, lang, since=answer.since, until=answer.until)
    yield ""
    changed = len(answer.themes)
    yield word("changes.count", lang, weeks=len(answer.weeks), changed=changed, unchanged=answer.unchanged)
    for item in answer.themes:
        yield ""
        yield f"## {safe(item.name)}"
        yield ""
        yield word("changes.members", lang, id=item.id, before=item.size_before, now=item.size) + _named(item, lang)
        yield from _section(item.episodes)
        yield from _news(item.news, lang)


def _named(item: ThemeChange, lang: Lang) -> str:
    renamed = item.name_before and item.name_before != item.name
    return word("changes.renamed", lang, name=safe(item.name_before)) if renamed else ""


def _section(chapters: Iterable[ThemeChapter]) -> Iterator[str]:
    yield ""
    for episode in chapters:
        yield f"- {episode.as_of} {safe(episode.text)}"
        for claim in episode.claims:
            yield f"  - {safe(claim)}"


def _news(lines: Sequence[SummaryLine], lang: Lang) -> Iterator[str]:
    if lines:
        yield ""
        yield word("changes.news", lang)
        yield ""
    for line in lines[:_NEWS_EACH]:
        yield f"- {safe(line.text)}"
    if len(lines) > _NEWS_EACH:
        yield word("changes.more", lang, count=len(lines) - _NEWS_EACH)


def safe(text: str) -> str:
    r"""Return text on one line that Markdown reads as text.

    >>> safe("a*b <script>")
    'a\\*b \\<script\\>'
    """
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
