"""Themes that answer a question: those with the most news this week, or the life of one that is named."""

from __future__ import annotations

import re
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

from kg.messages.words import noted, word
from kg.query.answers import AnswerLine
from kg.query.themes.biography import biography, name_of, title_of
from kg.query.themes.listing import facts_inside
from kg.query.wording import claim_text, flow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from kg.model import Community, Entity, Fact, Run
    from kg.query.session import QuerySession
    from kg.query.themes.biography import ThemeChapter

_THEMES, _EPISODES, _NEWS, _CITED = 8, 8, 3, 2
_WEEK, _WEEKS_BEFORE = timedelta(days=7), 4
_PART = re.compile("[·：、:/]")


def theme_lines(session: QuerySession, entities: Sequence[Entity], today: date) -> list[AnswerLine]:
    """Return the life of the theme that a question names, or the themes of the week; nothing without a weekly run."""
    run = session.view.run()
    if run is None:
        return []
    if not entities:
        return _of_the_week(session, run, today)
    found = _named(run, entities)
    return _life(session, found, today) if found else []


def _named(run: Run, entities: Sequence[Entity]) -> Community | None:
    """Return the theme that goes by the first entity's name, else the largest coarse one whose title has it."""
    name = entities[0].name
    ranked = []
    for community in run.communities:
        other = name_of(community) != name
        if not other or (community.level == 0 and name in _PART.split(title_of(community))):
            ranked.append((other, community.level, -len(community.members), community.id, community))
    return min(ranked)[-1] if ranked else None


def _of_the_week(session: QuerySession, run: Run, today: date) -> list[AnswerLine]:
    """Word the themes by how many more facts they have this week than in the average week of the four before."""
    themes = {community.id: community for community in run.communities if community.level == 0}
    news, before = _news(session, themes.values(), today)
    usual = {theme: before[theme] / _WEEKS_BEFORE for theme in news}
    hot = [theme for theme, facts in news.items() if len(facts) > usual[theme]]
    hot.sort(key=lambda theme: (usual[theme] - len(news[theme]), -len(news[theme]), theme))
    if not hot:
        return []
    lines = [AnswerLine(word("week.title", session.lang, first=today - _WEEK + timedelta(days=1), last=today))]
    for theme in hot[:_THEMES]:
        best = max(news[theme], key=lambda fact: (fact.confidence, fact.witnesses, fact.id))
        count = {"count": len(news[theme]), "usual": f"{usual[theme]:.1f}"}
        parts = (word("week.theme", session.lang, name=name_of(themes[theme]), **count), *_became(session, theme, run))
        text = f"{flow(parts, session.lang)}{word('colon', session.lang)}{claim_text(session, best)}"
        lines.append(AnswerLine(text, tuple(session.citations([best], 1)), 1))
    return lines


def _news(
    session: QuerySession, themes: Iterable[Community], today: date
) -> tuple[dict[str, list[Fact]], Counter[str]]:
    """Return the facts inside each theme that were first published in the last week, and how many in those before."""
    found = facts_inside(session, themes, today - (_WEEKS_BEFORE + 1) * _WEEK, until=today)
    news = {theme: [fact for fact in facts if today - fact.published_on < _WEEK] for theme, facts in found.items()}
    before = Counter({theme: len(facts) - len(news[theme]) for theme, facts in found.items()})
    return {theme: facts for theme, facts in news.items() if facts}, before


def _became(session: QuerySession, theme: str, run: Run) -> Iterable[str]:
    """Return what became of a theme in the newest run; in the first run every theme is new, which says nothing."""
    if len(list(session.view.runs())) < 2:  # noqa: PLR2004 -- two runs make a change
        return ()
    chapters = [each for each in biography(session, theme).episodes if each.as_of == run.as_of]
    return (each.text for each in chapters[:1])


def _life(session: QuerySession, theme: Community, today: date) -> list[AnswerLine]:
    """Word how a theme came to be, and what is new in it; every line cites facts of the theme."""
    lang = session.lang
    facts = _facts_of(session, theme)
    if not facts:
        return []
    days = {"first": facts[0].published_on, "last": facts[-1].last_published_on}
    head = word("life.title", lang, name=name_of(theme), size=len(theme.members), **days)
    lines = [AnswerLine(head), AnswerLine(word("life.began", lang)), _fact_line(session, facts[0])]
    turns = [_chapter_line(session, each, facts) for each in biography(session, theme.id).episodes[-_EPISODES:]]
    if any(line.citations for line in turns):
        lines.append(AnswerLine(word("life.turns", lang)))
        lines += [line for line in turns if line.citations]
    latest = [fact for fact in facts if today - fact.published_on < _WEEK]
    fresh = "life.news" if latest else "life.last"
    lines.append(AnswerLine(word(fresh, lang, day=facts[-1].published_on)))
    lines += [_fact_line(session, fact) for fact in (latest or facts)[-_NEWS:][::-1]]
    return lines


def _facts_of(session: QuerySession, theme: Community) -> list[Fact]:
    """Return the facts inside a theme, oldest first."""
    members = set(theme.members)
    found = [
        fact
        for member in theme.members
        for fact in session.view.facts(subject=member)
        if fact.object in members and not fact.superseded_by
    ]
    return sorted(session.confident(found), key=lambda fact: (fact.published_on, fact.id))


def _fact_line(session: QuerySession, fact: Fact) -> AnswerLine:
    text = f"{claim_text(session, fact)}{noted(fact.published_on, session.lang)}"
    return AnswerLine(text, tuple(session.citations([fact], 1)), 1)


def _chapter_line(session: QuerySession, chapter: ThemeChapter, facts: Sequence[Fact]) -> AnswerLine:
    """Word one turn; a turn that names no facts rests on the newest ones that were known then."""
    known = [fact for fact in facts if fact.published_on <= chapter.as_of][-1:]
    cited = chapter.citations[:_CITED] or tuple(session.citations(known, 1))
    return AnswerLine(f"{chapter.as_of}  {chapter.text}", cited, 1)
