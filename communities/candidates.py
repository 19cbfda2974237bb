"""Candidate themes of a week: gathered, filtered by size, and matched with last week's."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from communities.content import gather
from communities.evidence import COMPANIES, TOPIC_KINDS, EvidenceReader
from communities.summaries import name_givers
from communities.tracking import Turned, stable_ids, turns
from kg.model import LifecycleEvent, ThemeEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from communities.content import Content, Gathered
    from kg.model import Community, Run
    from kg.query.session import QuerySession

_SMALLEST = 3  # members of a theme
_MIN_FACTS = 3  # with fewer its card would be empty
_MIN_PARTS = 2  # a single part would repeat the whole
_MOST_TOP = 60  # top themes; the rest is found by search
_OF_OTHERS = 3  # companies of a small theme of its own
_DORMANT_AFTER_DAYS = 56  # days without a new note after which a theme is dormant
_MAX_EVIDENCE = 3


@dataclass(frozen=True, slots=True)
class Draft:
    """A theme without a summary; `born` is set for a theme that last week did not have."""

    id: str
    level: int
    parent: str
    name: str
    content: Content
    born: bool

    @property
    def members(self) -> tuple[str, ...]:
        """Member ids, sorted, as stored in the run."""
        return tuple(sorted(self.content.members))


@dataclass(frozen=True, slots=True)
class Drafts:
    """The themes of both levels, the larger first, their lifecycle events, and the partition's figures."""

    themes: tuple[Draft, ...]
    events: tuple[ThemeEvent, ...]
    figures: dict[str, float]


def draft(session: QuerySession, before: Run | None, *, day: date) -> Drafts:
    """Find the themes of a day and match them with those of `before`, the latest run of an earlier day."""
    previous = before.communities if before else ()
    top = [community for community in previous if community.level == 0]
    home = {member: head for each in top for head in _head(session, each) for member in _topics(each.members)}
    reader = EvidenceReader(session)
    reader.read()
    gathered = gather(session, reader, before=home, since=before.as_of if before else None)
    themes = _named(session, gathered, previous)
    grouping = gathered.grouping
    measured = {
        "topics": float(gathered.topics),
        "modularity": round(grouping.modularity, 4),
        "in_themes": gathered.in_themes,
    }
    return Drafts(tuple(themes), tuple(_events(themes, before, day)), measured)


def _head(session: QuerySession, community: Community) -> list[str]:
    """Return the topic that a theme is named after, as a list of one, or none."""
    title = community.summary.title if community.summary else ""
    return sorted(filter(None, _topics(sorted(name_givers(session, community.members, title)))))[:1]


def _topics(members: Sequence[str]) -> tuple[str, ...]:
    """Return the members that are topics: a theme is known by them, its companies are in others too."""
    return tuple(member for member in members if member.startswith(TOPIC_KINDS))


def _named(session: QuerySession, gathered: Gathered, previous: Sequence[Community]) -> list[Draft]:
    """Return the themes that are large enough, under the ids of last week's that they continue."""
    eligible = _eligible(gathered)
    names: dict[int, str] = {}
    for level in (0, 1):
        numbers = [number for number, placed in eligible.items() if placed == level]
        old = [
            replace(community, members=_topics(community.members)) for community in previous if community.level == level
        ]
        anchors = {
            each.id: name_givers(session, each.members, each.summary.title if each.summary else "") for each in old
        }
        groups = [tuple(sorted(_topics(gathered.contents[number].members))) for number in numbers]
        names |= dict(zip(numbers, stable_ids(level, groups, old, anchors=anchors), strict=True))
    known = {community.id for community in previous}
    return [
        Draft(
            id=names[number],
            level=level,
            parent=names.get(gathered.parents[number], ""),
            name=session.name(gathered.contents[number].head),
            content=gathered.contents[number],
            born=names[number] not in known,
        )
        for number, level in eligible.items()
    ]


def _eligible(gathered: Gathered) -> dict[int, int]:
    """Return the themes that are large enough, with their levels.

    The largest are at the top; below it their parts that have a sibling, and what else is a business with companies.
    """

    def is_large(content: Content) -> bool:
        facts = len(content.facts) + len(content.figures)
        return len(content.members) >= _SMALLEST and facts >= _MIN_FACTS and bool(content.notes)

    parents = gathered.parents
    large = [number for number, content in enumerate(gathered.contents) if is_large(content)]
    tops = [number for number in large if gathered.levels[number] == 0]
    top = set(sorted(tops, key=lambda number: -len(gathered.contents[number].members))[:_MOST_TOP])
    parts = Counter(parents[number] for number in large)

    def has_place(number: int) -> bool:
        if parents[number] >= 0:
            return parents[number] in top and parts[parents[number]] >= _MIN_PARTS
        companies = sum(each.startswith(COMPANIES) for each in gathered.contents[number].members)
        return number in top or companies >= _OF_OTHERS

    return {number: int(number not in top) for number in large if has_place(number)}


def _events(themes: Sequence[Draft], before: Run | None, day: date) -> Iterator[ThemeEvent]:
    known = {theme.id: theme for theme in themes}
    previous = {community.id: community for community in (before.communities if before else ())}
    for level in (0, 1):
        today = {theme.id: _topics(theme.members) for theme in themes if theme.level == level}
        old = {name: _topics(community.members) for name, community in previous.items() if community.level == level}
        for turned in turns(today, old):
            yield _event(turned, known.get(turned.theme), previous.get(turned.theme), level)
    for theme in themes:
        if before and theme.id in previous:
            yield from _status_events(theme, previous[theme.id], day=day, before=before)


def _event(turned: Turned, theme: Draft | None, community: Community | None, level: int) -> ThemeEvent:
    if theme is None:
        assert community is not None  # only a theme of last week can die
        return ThemeEvent(turned.turn, turned.theme, level, _name(community), len(community.members), turned.others)
    content, joined = theme.content, set(turned.joined)
    shown = (*content.fresh, *content.facts, *content.figures)
    touching = [fact.id for fact in shown if fact.subject in joined or fact.object in joined]
    facts = dict.fromkeys(touching or [fact.id for fact in shown])
    return ThemeEvent(
        turn=turned.turn,
        theme=theme.id,
        level=level,
        name=theme.name,
        size=len(content.members),
        others=turned.others,
        joined=() if turned.turn is LifecycleEvent.BORN else turned.joined,  # a theme is born with all its members
        left=turned.left,
        facts=tuple(facts)[:_MAX_EVIDENCE],
    )


def _name(community: Community) -> str:
    return community.summary.title.split("：", 1)[0] if community.summary else ""


def _status_events(theme: Draft, community: Community, *, day: date, before: Run) -> Iterator[ThemeEvent]:
    """Yield the events of a renamed, dormant or revived theme."""
    days = [note for note, _ in theme.content.notes]
    earlier = [note for note in days if note <= before.as_of] or days[:1]
    was_quiet = (before.as_of - earlier[-1]).days > _DORMANT_AFTER_DAYS
    quiet = (day - days[-1]).days > _DORMANT_AFTER_DAYS
    fresh = tuple(fact.id for fact in theme.content.fresh[:_MAX_EVIDENCE])
    size = len(theme.content.members)
    if _name(community) != theme.name:
        yield ThemeEvent(LifecycleEvent.RENAMED, theme.id, theme.level, theme.name, size, facts=fresh)
    if quiet and not was_quiet:
        yield ThemeEvent(LifecycleEvent.DORMANT, theme.id, theme.level, theme.name, size)
    if was_quiet and not quiet:
        yield ThemeEvent(LifecycleEvent.REVIVED, theme.id, theme.level, theme.name, size, facts=fresh)
