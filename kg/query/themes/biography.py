"""A theme's life, read off the weekly runs: names, sizes by week, and every turn with the facts behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.messages.words import listed, word
from kg.model import LifecycleEvent
from kg.query.wording import claim_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import date

    from kg.model import Community, Fact, Run, ThemeEvent
    from kg.query.answers import Citation
    from kg.query.session import QuerySession

_NAMES_EACH = 8
_CITED = 2


@dataclass(frozen=True, slots=True)
class ThemeChapter:
    """One turn of a theme: the week, what happened in words, and the facts behind it with their sources."""

    as_of: date
    turn: LifecycleEvent
    text: str
    facts: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Biography:
    """`names` are (from, name), `sizes` are (week, members); a week in which it was not found has none."""

    names: tuple[tuple[date, str], ...]
    sizes: tuple[tuple[date, int], ...]
    episodes: tuple[ThemeChapter, ...]


def biography(session: QuerySession, theme_id: str) -> Biography:
    """Return the life of a theme as the view may know it; an unknown id has none."""
    return biographies(session, [theme_id])[theme_id]


def biographies(session: QuerySession, theme_ids: Collection[str]) -> dict[str, Biography]:
    """Return the lives of some themes, reading each run once.

    A week that was filled in later than the one after it is shown as it was published.
    """
    names: dict[str, list[tuple[date, str]]] = {theme: [] for theme in theme_ids}
    sizes: dict[str, list[tuple[date, int]]] = {theme: [] for theme in theme_ids}
    by_theme: dict[str, list[tuple[date, ThemeEvent]]] = {theme: [] for theme in theme_ids}
    titles: dict[str, str] = {}
    for run in session.view.runs():
        titles |= titles_of(run)
        for community in run.communities:
            if community.id in names:
                sizes[community.id].append((run.as_of, len(community.members)))
                if [name for _, name in names[community.id][-1:]] != [name_of(community)]:
                    names[community.id].append((run.as_of, name_of(community)))
        for event in run.events:
            if event.theme in by_theme:
                by_theme[event.theme].append((run.as_of, event))
    return {
        theme: Biography(tuple(names[theme]), tuple(sizes[theme]), tuple(episodes(session, by_theme[theme], titles)))
        for theme in theme_ids
    }


def episodes(
    session: QuerySession, dated_events: Sequence[tuple[date, ThemeEvent]], titles: Mapping[str, str]
) -> Iterable[ThemeChapter]:
    """Put events into words.

    Args:
        session: of the view.
        dated_events: the week and the event.
        titles: what other themes were last called, by id.
    """
    facts = {
        fact.id: fact for fact in session.view.facts(ids={fact for _, event in dated_events for fact in event.facts})
    }
    for day, event in dated_events:
        known = [facts[fact] for fact in event.facts if fact in facts]
        yield ThemeChapter(
            as_of=day,
            turn=event.turn,
            text=turn_text(session, event, titles),
            facts=tuple(fact.id for fact in known),
            claims=tuple(claim_text(session, fact) for fact in known),
            citations=tuple(_cited(session, known)),
        )


def title_of(community: Community) -> str:
    """Return what a theme is called."""
    return community.summary.title if community.summary else community.id


def name_of(community: Community) -> str:
    """Return the name in a theme's title; what happened follows it: 固态电池：设备订单放量."""
    return title_of(community).partition("：")[0]


def titles_of(run: Run) -> dict[str, str]:
    """Return what the themes of a run are called, those that ended in it too."""
    ended = {event.theme: event.name for event in run.events}
    return ended | {community.id: name_of(community) for community in run.communities}


def _cited(session: QuerySession, facts: Sequence[Fact]) -> Iterable[Citation]:
    for fact in facts[:_CITED]:
        yield from session.citations([fact], 1)


def _listed(session: QuerySession, ids: Sequence[str]) -> str:
    names = listed((session.name(member) for member in ids[:_NAMES_EACH]), session.lang)
    return word("and_more", session.lang, names=names, count=len(ids)) if len(ids) > _NAMES_EACH else names


def turn_text(session: QuerySession, event: ThemeEvent, titles: Mapping[str, str]) -> str:
    """Return what happened to a theme, in the session's language."""
    lang = session.lang
    key = event.turn.value
    if event.others and event.turn in _ENDS_IN_OTHERS:
        key = _ENDS_IN_OTHERS[event.turn]
    return word(
        f"theme.{key}",
        lang,
        name=event.name,
        size=event.size,
        members=_listed(session, event.left if event.turn is LifecycleEvent.SHRUNK else event.joined),
        others=listed((word("quoted", lang, text=titles.get(other, other)) for other in event.others), lang),
    )


_ENDS_IN_OTHERS = {LifecycleEvent.BORN: "born_of", LifecycleEvent.DIED: "died_into"}
