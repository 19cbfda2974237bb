"""Candidate themes of a week: detected, filtered by size, titled, and matched with last week's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from communities.detection import detect
from communities.summaries import name_givers, title_of
from communities.theme_facts import gather
from communities.tracking import Turned, stable_ids, turns
from kg.model import LifecycleEvent, ThemeEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from numpy.typing import NDArray

    from communities.detection import DetectedCommunity, DetectionOptions, Labels
    from communities.projection import Projection
    from communities.theme_facts import Content
    from kg.model import Community, Run
    from kg.query.session import QuerySession

_SMALLEST_NEW = 5  # minimum nodes of a new theme; a smaller group is a fragment
_SMALLEST_EXISTING = 3  # minimum nodes of an existing theme; lower than for a new one, so that themes do not flicker
_MIN_FACTS = 3  # with fewer its card would be empty
_MIN_PARTS = 2  # a single part would repeat the whole
_DORMANT_AFTER_DAYS = 56  # days without a new fact after which a theme is dormant
_MAX_EVIDENCE = 3


@dataclass(frozen=True, slots=True)
class Draft:
    """A theme without a summary; `born` is set for a theme that last week did not have."""

    id: str
    level: int
    parent: str
    title: str
    content: Content
    born: bool

    @property
    def members(self) -> tuple[str, ...]:
        """Member ids, sorted, as stored in the run."""
        return tuple(sorted(self.content.members))


@dataclass(frozen=True, slots=True)
class Drafts:
    """The themes of all levels (coarsest first), their lifecycle events, and the top-level partition."""

    themes: tuple[Draft, ...]
    events: tuple[ThemeEvent, ...]
    top: Sequence[DetectedCommunity]


def draft(
    session: QuerySession,
    projection: Projection,
    before: Run | None,
    *,
    options: DetectionOptions,
    day: date,
    start: Labels | None = None,
) -> Drafts:
    """Detect the themes of a day and match them with those of the previous run.

    Args:
        session: session on the week's view.
        projection: projection of the view's snapshot.
        before: the latest run of an earlier day.
        options: detection options.
        day: day of the view.
        start: initial labels of the top level; None starts from the communities of `before`.
    """
    previous = before.communities if before else ()
    starts = [_start_labels(session, projection, previous, level) for level in range(len(options.resolutions))]
    levels = detect(projection, options, starts if start is None else [start, *starts[1:]])
    themes: list[Draft] = []
    above: dict[int, str] = {}
    for level, found in enumerate(levels):
        old = [community for community in previous if community.level == level]
        titled = dict(_titled_drafts(session, projection, _eligible(found, above if level else None), old, before))
        titled = _with_siblings(titled, found) if level else titled
        themes += (
            Draft(item.id, level, above[found[place].parent] if level else "", item.title, item.content, item.born)
            for place, item in titled.items()
        )
        above = {place: item.id for place, item in titled.items()}
    return Drafts(tuple(themes), tuple(_events(themes, before, day)), levels[0] if levels else ())


def _start_labels(session: QuerySession, projection: Projection, previous: Iterable[Community], level: int) -> Labels:
    """Return the index of each node's community last week, −1 if it had none."""
    home = {
        member: number
        for number, community in enumerate(item for item in previous if item.level == level)
        for member in community.members
    }
    rows = (session.index(member) for member in home)
    labels = np.full(len(session.snapshot.entity_ids), -1, dtype=np.int64)
    for row, number in zip(rows, home.values(), strict=True):
        if row is not None:
            labels[row] = number
    return labels[projection.nodes]


def _eligible(found: Sequence[DetectedCommunity], above: Mapping[int, str] | None) -> dict[int, DetectedCommunity]:
    """Return the groups eligible as themes: large enough, and with a published parent."""
    return {
        place: item
        for place, item in enumerate(found)
        if len(item.members) >= _SMALLEST_EXISTING and (above is None or item.parent in above)
    }


def _titled_drafts(
    session: QuerySession,
    projection: Projection,
    groups: Mapping[int, DetectedCommunity],
    old: Sequence[Community],
    before: Run | None,
) -> Iterator[tuple[int, Draft]]:
    home: NDArray[np.int64] = np.full(len(session.snapshot.entity_ids), -1, dtype=np.int64)
    for number, item in enumerate(groups.values()):
        home[projection.nodes[list(item.members)]] = number
    since = before.as_of if before else None
    contents = gather(session.view, session.snapshot, session.words, home=home, since=since)
    kept = {
        place: content
        for (place, _), content in zip(groups.items(), contents, strict=False)
        if content.count >= _MIN_FACTS
    }
    members = [tuple(sorted(content.members)) for content in kept.values()]
    level = next(iter(groups.values())).level if groups else 0
    titles = {community.id: community.summary.title if community.summary else "" for community in old}
    anchors = {community.id: name_givers(session, community.members, titles[community.id]) for community in old}
    for (place, content), name in zip(kept.items(), stable_ids(level, members, old, anchors=anchors), strict=True):
        born = name not in titles
        if not born or len(groups[place].members) >= _SMALLEST_NEW:
            title = title_of(session, content.members, titles.get(name, ""))
            yield place, Draft(name, level, "", title, content, born)


def _with_siblings(titled: dict[int, Draft], found: Sequence[DetectedCommunity]) -> dict[int, Draft]:
    """Drop parts without a sibling."""
    parts: dict[int, int] = {}
    for place in titled:
        parts[found[place].parent] = parts.get(found[place].parent, 0) + 1
    return {place: item for place, item in titled.items() if parts[found[place].parent] >= _MIN_PARTS}


def _events(themes: Sequence[Draft], before: Run | None, day: date) -> Iterator[ThemeEvent]:
    known = {theme.id: theme for theme in themes}
    previous = {community.id: community for community in (before.communities if before else ())}
    levels = sorted({theme.level for theme in themes} | {community.level for community in previous.values()})
    for level in levels:
        today = {theme.id: theme.members for theme in themes if theme.level == level}
        old = {name: community.members for name, community in previous.items() if community.level == level}
        for turned in turns(today, old):
            yield _event(turned, known.get(turned.theme), previous.get(turned.theme), level)
    for theme in themes:
        if before and theme.id in previous:
            yield from _status_events(theme, previous[theme.id], day=day, before=before)


def _event(turned: Turned, theme: Draft | None, community: Community | None, level: int) -> ThemeEvent:
    if theme is None:
        assert community is not None  # only a theme of last week can die
        title = community.summary.title if community.summary else ""
        return ThemeEvent(turned.turn, turned.theme, level, title, len(community.members), turned.others)
    content, joined = theme.content, set(turned.joined)
    shown = (*content.fresh, *content.facts, *content.figures)
    touching = [fact.id for fact in shown if fact.subject in joined or fact.object in joined]
    facts = dict.fromkeys(touching or [fact.id for fact in shown])
    return ThemeEvent(
        turn=turned.turn,
        theme=theme.id,
        level=level,
        name=theme.title,
        size=len(content.members),
        others=turned.others,
        joined=() if turned.turn is LifecycleEvent.BORN else turned.joined,  # a theme is born with all its members
        left=turned.left,
        facts=tuple(facts)[:_MAX_EVIDENCE],
    )


def _status_events(theme: Draft, community: Community, *, day: date, before: Run) -> Iterator[ThemeEvent]:
    """Yield the events of a renamed, dormant or revived theme."""
    content = theme.content
    was_quiet = before.as_of.toordinal() - content.before > _DORMANT_AFTER_DAYS
    quiet = day.toordinal() - content.newest > _DORMANT_AFTER_DAYS
    fresh = tuple(fact.id for fact in content.fresh[:_MAX_EVIDENCE])
    if community.summary and community.summary.title != theme.title:
        yield ThemeEvent(LifecycleEvent.RENAMED, theme.id, theme.level, theme.title, len(content.members), facts=fresh)
    if quiet and not was_quiet:
        yield ThemeEvent(LifecycleEvent.DORMANT, theme.id, theme.level, theme.title, len(content.members))
    if was_quiet and not quiet:
        yield ThemeEvent(LifecycleEvent.REVIVED, theme.id, theme.level, theme.title, len(content.members), facts=fresh)
