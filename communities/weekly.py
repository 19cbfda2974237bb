"""The weekly job: project, detect, follow, summarise, publish; everything of a week becomes visible at once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from communities.detection import DetectionOptions, Found, detect
from communities.projection import SHARES, project
from communities.quality import measure, stability
from communities.summaries import TEMPLATE, compose, summary_key
from communities.tracking import stable_ids
from kg.errors import EmptyBase
from kg.ids import digest
from kg.model import Community, Polarity, Run
from kg.query.lens import Lens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    store: Store,
    as_of: date | None,
    *,
    options: DetectionOptions | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Week:
    """Find the themes as of a day and publish them.

    A run is made of what is visible on its day and of the last run *before* that day, so that a re-run changes nothing
    and a run filled in later for an earlier day knows nothing of what came after it. The writer's lock is held from
    the first reading on: no document comes or goes under way.

    Args:
        store: the knowledge base.
        as_of: the day; None is the day of the newest document.
        options: how to find communities.
        progress: called with the name of each stage as it begins: project, detect, summarise, publish.

    Raises:
        EmptyBase: when no document is visible on that day.
        StoreLocked: when another writer is at work.
    """
    with store.writer() as writer:
        newest = max((head.published_on for head in store.view(as_of=as_of).documents()), default=None)
        if newest is None:
            raise EmptyBase
        week = _build(store, as_of or newest, options or DetectionOptions(), progress)
        progress("publish")
        writer.publish(week.run)
    return week


def _build(store: Store, day: date, options: DetectionOptions, progress: Callable[[str], None]) -> Week:
    view = store.view(as_of=day)
    lens = Lens(view)
    previous = _published(store.view(as_of=day - timedelta(days=1)))
    progress("project")
    projection = project(lens.snapshot)
    progress("detect")
    levels = detect(projection, options)
    communities = list(_communities(lens, projection, levels, previous))
    progress("summarise")
    known = {c.summary.id: c.summary for c in (*previous, *_published(view)) if c.summary}
    described, written = _described(lens, communities, known)
    quality = measure(projection, levels[0] if levels else ())
    quality["stability"] = round(stability(_top(previous), _top(described)), 4)
    parameters = _parameters(options)
    identity = "run:" + digest((day.isoformat(), *(f"{name}={value}" for name, value in sorted(parameters.items()))))
    return Week(Run(identity, day, parameters, quality, described), written, len(described) - written)


def _published(view: View) -> tuple[Community, ...]:
    run = view.run()
    return run.communities if run else ()


def _top(communities: Iterable[Community]) -> Iterator[Community]:
    return (community for community in communities if community.level == 0)


def _parameters(options: DetectionOptions) -> dict[str, str]:
    return {
        "seed": str(options.seed),
        "resolutions": ",".join(map(str, options.resolutions)),
        "largest": str(options.largest),
        "summaries": TEMPLATE,
    }


def _communities(
    lens: Lens, projection: Projection, levels: Sequence[Sequence[Found]], previous: Sequence[Community]
) -> Iterator[Community]:
    """Name the groups of each level and tie them to their parents; groups too small to be a theme are left out."""
    ids = lens.snapshot.entity_ids
    above: dict[int, str] = {}
    for level, found in enumerate(levels):
        large = {place: item for place, item in enumerate(found) if len(item.members) >= _SMALLEST}
        groups = [tuple(sorted(ids[projection.nodes[node]] for node in item.members)) for item in large.values()]
        before = [community for community in previous if community.level == level]
        names = dict(zip(large, stable_ids(level, groups, before), strict=True))
        for place, members in zip(large, groups, strict=True):
            yield Community(names[place], level, above[large[place].parent] if level else "", members)
        above = names


def _described(
    lens: Lens, communities: Sequence[Community], known: Mapping[str, Summary]
) -> tuple[tuple[Community, ...], int]:
    """Give each community its summary; one that would come out the same is not written again."""
    out, written = [], 0
    for facts, community in zip(_inner_facts(lens, communities), communities, strict=True):
        members = [entity for member in community.members if (entity := lens.view.entity(member))]
        summary = known.get(summary_key(members, facts))
        if summary is None:
            summary = compose(lens, members, facts)
            written += 1
        out.append(replace(community, summary=summary))
    return tuple(out), written


def _inner_facts(lens: Lens, communities: Sequence[Community]) -> Iterator[list[Fact]]:
    """Yield, for each community, the live facts that join two of its members."""
    home: dict[str, set[int]] = defaultdict(set)
    for number, community in enumerate(communities):
        for member in community.members:
            home[member].add(number)
    inside: dict[int, list[Fact]] = defaultdict(list)
    for relation in (name for name, share in SHARES.items() if share):
        for fact in lens.view.facts(relation=relation):
            if fact.polarity is Polarity.POSITIVE and not fact.superseded_by and fact.subject != fact.object:
                for number in home[fact.subject] & home[fact.object]:
                    inside[number].append(fact)
    for number in range(len(communities)):
        yield inside[number]
