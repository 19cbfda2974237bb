"""The weekly job: project, detect, follow, summarise, publish; everything of a week becomes visible at once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from communities.detection import DetectionOptions, Found, detect
from communities.projection import SHARES, project
from communities.quality import measure
from communities.summaries import compose, summary_key
from communities.tracking import stable_ids
from kg.errors import EmptyBase
from kg.ids import digest
from kg.model import Community, Run
from kg.query.lens import Lens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date

    from communities.projection import Projection
    from kg.model import Fact, Summary
    from kg.store.port import Store, View

_SMALLEST = 3  # a pair of names is a link, not a theme


@dataclass(frozen=True, slots=True)
class Week:
    """What a run did: the run itself, and how many summaries were written anew or carried over."""

    run: Run
    written: int
    carried: int


def run_week(
    store: Store, as_of: date | None, *, options: DetectionOptions | None = None, progress: Callable[[str], None] = lambda _: None
) -> Week:
    """Find the themes as of a day and publish them; the same state gives the same run, so a re-run changes nothing."""
    view = store.view(as_of=as_of)
    day = as_of or max((head.published_on for head in view.documents()), default=None)
    if day is None:
        raise EmptyBase
    view = store.view(as_of=day)
    week = _build(view, day, options or DetectionOptions(), progress)
    progress("publish")
    with store.writer() as writer:
        writer.publish(week.run)
    return week


def _build(view: View, day: date, options: DetectionOptions, progress: Callable[[str], None]) -> Week:
    lens = Lens(view)
    previous = view.run()
    progress("project")
    projection = project(lens.snapshot)
    progress("detect")
    levels = detect(projection, options)
    communities = list(_communities(lens, projection, levels, previous))
    progress("summarise")
    described, written = _described(lens, communities, previous)
    top = levels[0] if levels else []
    kept = {community.id: set(community.members) for community in described if community.level == 0}
    parameters = {"seed": str(options.seed), "resolutions": ",".join(map(str, options.resolutions)), "largest": str(options.largest)}
    run = Run("run:" + digest((day.isoformat(), *sorted(parameters.values()))), day, parameters, measure(projection, top, previous, kept), described)
    return Week(run, written, len(described) - written)


def _communities(lens: Lens, projection: Projection, levels: Sequence[Sequence[Found]], previous: Run | None) -> Iterator[Community]:
    """Name the groups of each level and tie them to their parents; groups too small to be a theme are left unnamed."""
    ids = lens.snapshot.entity_ids
    above: list[str] = []
    for level, found in enumerate(levels):
        groups = [tuple(sorted(ids[int(projection.nodes[position])] for position in item.members)) for item in found]
        before = [community for community in (previous.communities if previous else ()) if community.level == level]
        names = stable_ids(level, groups, before)
        for item, members, name in zip(found, groups, names, strict=True):
            if len(members) >= _SMALLEST:
                yield Community(name, level, above[item.parent] if level else "", members)
        above = names


def _described(lens: Lens, communities: Sequence[Community], previous: Run | None) -> tuple[tuple[Community, ...], int]:
    """Give each community its summary; one whose facts did not change keeps last week's."""
    known = {c.summary.id: c.summary for c in (previous.communities if previous else ()) if c.summary}
    out, written = [], 0
    for facts, community in zip(_inner_facts(lens, communities), communities, strict=True):
        summary: Summary | None = known.get(summary_key(facts))
        if summary is None:
            summary = compose(lens, community, facts, _strength(facts))
            written += 1
        out.append(Community(community.id, community.level, community.parent, community.members, summary))
    return tuple(out), written


def _inner_facts(lens: Lens, communities: Sequence[Community]) -> Iterator[list[Fact]]:
    """Yield, for each community, the facts that join two of its members."""
    home: dict[str, dict[int, int]] = defaultdict(dict)
    for index, community in enumerate(communities):
        for member in community.members:
            home[member][community.level] = index
    inside: dict[int, list[Fact]] = defaultdict(list)
    for relation in (name for name, share in SHARES.items() if share):
        for fact in lens.view.facts(relation=relation):
            ends = home.get(fact.subject, {}).items() & home.get(fact.object, {}).items()
            for _, index in ends:
                inside[index].append(fact)
    for index in range(len(communities)):
        yield inside[index]


def _strength(facts: Sequence[Fact]) -> dict[str, float]:
    strength: dict[str, float] = defaultdict(float)
    for fact in facts:
        for end in (fact.subject, fact.object):
            strength[end] += fact.witnesses * fact.confidence
    return strength
