"""The communities of the newest run that a view may see."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from kg.errors import QuestionError
from kg.query.answers import Node, ThemeAnswer
from kg.query.session import QuerySession
from kg.query.themes.biography import biography
from kg.store.visibility import is_before_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from kg.model import Community, Fact, SummaryLine
    from kg.store.port import View

_STEPS_EACH = 12


class NoRun(QuestionError):
    """Themes were asked for before any weekly run."""

    def __init__(self) -> None:
        super().__init__("there are no themes yet; run `liantu weekly` first")


class UnknownTheme(QuestionError):
    """A theme id that the run does not hold."""

    def __init__(self, theme_id: str) -> None:
        super().__init__("no theme {name}; `liantu themes` lists all", name=theme_id)


def themes(view: View, *, level: int = 0) -> tuple[Community, ...]:
    """Return the communities of one level, largest first, with the lines whose facts the view holds.

    Raises:
        NoRun: before the first weekly run; on a day before the first document there are none.
    """
    run = view.run()
    if run is None and is_before_all(view):
        return ()
    if run is None:
        raise NoRun
    found = sorted((c for c in run.communities if c.level == level), key=lambda c: (-len(c.members), c.id))
    return tuple(_supported(view, found))


def theme(view: View | QuerySession, theme_id: str) -> ThemeAnswer:
    """Return one community with the links among its members and its life; a unique beginning of the id will do.

    Raises:
        NoRun: before the first weekly run.
        UnknownTheme: when no community, or more than one, has this id.
    """
    session = view if isinstance(view, QuerySession) else QuerySession(view)
    run = session.view.run()
    if run is None:
        raise NoRun
    wanted = theme_id if theme_id.startswith("theme:") else f"theme:{theme_id}"
    found = [community for community in run.communities if community.id.startswith(wanted)]
    if len(found) != 1:
        raise UnknownTheme(theme_id)
    (supported,) = _supported(session.view, found)
    return replace(theme_of(session, supported), as_of=run.as_of, biography=biography(session, supported.id))


def _supported(view: View, communities: Sequence[Community]) -> Iterator[Community]:
    """Yield communities with the lines that the view still supports; documents may have been removed since the run."""
    lines_of = [[*(item.summary.lines if item.summary else ()), *item.changes[1:]] for item in communities]
    holds = standing(view, [line for lines in lines_of for line in lines])
    for item in communities:
        news = tuple(line for line in item.changes[1:] if line in holds)
        summary = item.summary and replace(
            item.summary, lines=tuple(line for line in item.summary.lines if line in holds)
        )
        yield replace(item, summary=summary, changes=(*item.changes[:1], *news) if news else ())


def facts_inside(
    session: QuerySession, communities: Iterable[Community], since: date, *, until: date
) -> dict[str, list[Fact]]:
    """Return the shown facts of each theme, those between two members, first published after `since` and by `until`."""
    themes_of: dict[str, set[str]] = defaultdict(set)
    for community in communities:
        for member in community.members:
            themes_of[member].add(community.id)
    found: dict[str, list[Fact]] = defaultdict(list)
    recent = [
        fact
        for fact in session.view.facts()
        if not fact.superseded_by
        and since < fact.published_on <= until
        and not themes_of[fact.subject].isdisjoint(themes_of[fact.object])
    ]
    for fact in session.confident(recent):
        for theme_id in themes_of[fact.subject] & themes_of[fact.object]:
            found[theme_id].append(fact)
    return found


def standing(view: View, lines: Sequence[SummaryLine]) -> set[SummaryLine]:
    """Return the lines all of whose facts the view holds, under the ids they had then or have now."""
    asked = {fact for line in lines for fact in line.facts}
    held = {fact.id for fact in view.facts(ids=asked)} if asked else set()
    # A judgement gives a fact another id, the only one by which it is found.
    held.update(fact for fact in sorted(asked - held) if any(True for _ in view.facts(ids=[fact])))
    return {line for line in lines if held.issuperset(line.facts)}


def theme_of(session: QuerySession, community: Community) -> ThemeAnswer:
    """Return the picture of a community that is known already."""
    rows = {index for member in community.members if (index := session.index(member)) is not None}
    relations = session.words.of_family("structure", "chain", "causal")
    steps = [step for step in session.expand(sorted(rows), relations, "out", limit=_STEPS_EACH) if step.target in rows]
    strength = dict.fromkeys(rows, 0.0)
    for step in steps:
        strength[step.source] += step.weight
        strength[step.target] += step.weight
    session.meet(rows)
    # A member with figures alone has no line in the picture; the summary mentions it.
    nodes = [Node(session.entity(index), 0, round(strength[index], 4)) for index in sorted(rows) if strength[index]]
    return ThemeAnswer(community, session.picture(nodes, steps))
