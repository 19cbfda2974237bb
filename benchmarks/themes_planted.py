"""Generate weeks with planted splits and mergers of themes, and count how many are detected."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

import igraph
import numpy as np

from communities.tracking import stable_ids, turns
from kg.model import Community, LifecycleEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    PlantedTurn = tuple[LifecycleEvent, frozenset[int], tuple[frozenset[int], frozenset[int]]]

_THEMES, _SMALLEST, _LARGEST = 12, 16, 40
_DEGREE = 10
_CHURN = 0.05
_MIN_OVERLAP = 0.5


@dataclass(frozen=True, slots=True)
class PlantedWeek:
    """One week: each theme's members, the pairs among them, and the events planted since the previous week.

    An event is (split, the whole, its two parts) or (merged, the whole, its two sources), as sets of members.
    """

    themes: tuple[frozenset[int], ...]
    pairs: tuple[tuple[int, int], ...]
    planted: tuple[PlantedTurn, ...]


def planted_weeks(*, seed: int, weeks: int, mixing: float) -> Iterator[PlantedWeek]:
    """Yield weeks of themes with churn; every other week, one theme splits and two merge."""
    source = random.Random(seed)  # noqa: S311 - synthetic data
    sizes = [source.randint(_SMALLEST, _LARGEST) for _ in range(_THEMES)]
    themes, fresh = [], 0
    for size in sizes:
        themes.append(frozenset(range(fresh, fresh + size)))
        fresh += size
    for week in range(weeks):
        planted: list[PlantedTurn] = []
        if week:
            themes, fresh = _churned(themes, fresh, source)
        if week % 2:
            themes, planted = _split_and_merged(themes, source)
        yield PlantedWeek(tuple(themes), tuple(_pairs(themes, mixing, source)), tuple(planted))


def _churned(themes: Sequence[frozenset[int]], fresh: int, source: random.Random) -> tuple[list[frozenset[int]], int]:
    """Replace a share of each theme's members with new ones."""
    changed = []
    for theme in themes:
        count = round(_CHURN * len(theme))
        stays = set(theme) - set(source.sample(sorted(theme), count))
        changed.append(frozenset(stays | set(range(fresh, fresh + count))))
        fresh += count
    return changed, fresh


def _split_and_merged(
    themes: list[frozenset[int]], source: random.Random
) -> tuple[list[frozenset[int]], list[PlantedTurn]]:
    order = sorted(themes, key=lambda theme: (len(theme), min(theme)))
    one, other, largest = order[0], order[1], order[-1]
    members = sorted(largest)
    source.shuffle(members)
    half = len(members) * source.choice((40, 50, 60)) // 100
    parts = (frozenset(members[:half]), frozenset(members[half:]))
    left = [theme for theme in themes if theme not in (one, other, largest)]
    planted = [(LifecycleEvent.MERGED, one | other, (one, other)), (LifecycleEvent.SPLIT, largest, parts)]
    return [*left, one | other, *parts], planted


def _pairs(themes: Sequence[frozenset[int]], mixing: float, source: random.Random) -> Iterator[tuple[int, int]]:
    every = sorted(node for theme in themes for node in theme)
    found: set[tuple[int, int]] = set()
    for theme in themes:
        inside = sorted(theme)
        for node in inside:
            for _ in range(_DEGREE // 2):
                end = source.choice(every if source.random() < mixing else inside)
                if end != node:
                    found.add((min(node, end), max(node, end)))
    yield from sorted(found)


def turns_found(weeks: Iterator[PlantedWeek]) -> tuple[int, int, int]:
    """Return the numbers of correctly detected, detected, and planted events over all weeks after the first."""
    right = detected = planted = 0
    before: list[Community] = []
    for number, week in enumerate(weeks):
        groups = _detect_groups(week, before)
        names = stable_ids(0, groups, before)
        today = dict(zip(names, groups, strict=True))
        old = {community.id: community.members for community in before}
        if number:
            found = [
                turned for turned in turns(today, old) if turned.turn in (LifecycleEvent.SPLIT, LifecycleEvent.MERGED)
            ]
            detected += len(found)
            planted += len(week.planted)
            for turn, whole, parts in week.planted:
                sides = (old, today) if turn is LifecycleEvent.SPLIT else (today, old)
                right += any(
                    item.turn is turn
                    and _alike(sides[0][item.theme], whole)
                    and all(
                        any(_alike(sides[1][name], part) for name in (item.theme, *item.others) if name in sides[1])
                        for part in parts
                    )
                    for item in found
                )
        before = [Community(name, 0, "", members) for name, members in today.items()]
    return right, detected, planted


def _alike(members: Sequence[str], planted: frozenset[int]) -> bool:
    mine = {int(member) for member in members}
    return len(mine & planted) > _MIN_OVERLAP * len(mine | planted)


def _detect_groups(week: PlantedWeek, before: Sequence[Community]) -> list[tuple[str, ...]]:
    pairs = np.array(week.pairs, dtype=np.int64)
    nodes = np.unique(pairs)
    edges = np.searchsorted(nodes, pairs)
    home = {int(member): number for number, item in enumerate(before) for member in item.members}
    start = [home.get(node, len(before) + place) for place, node in enumerate(nodes.tolist())]
    igraph.set_random_number_generator(random.Random(0))  # noqa: S311 -- a seed for repeatable groups, not a secret
    found = igraph.Graph(n=len(nodes), edges=edges).community_leiden(
        objective_function="modularity",
        initial_membership=np.unique(start, return_inverse=True)[1].tolist() if before else None,
        n_iterations=8,
    )
    igraph.set_random_number_generator(random)  # igraph has one generator per process
    labels = np.array(found.membership)
    return [tuple(str(node) for node in nodes[labels == label]) for label in range(labels.max() + 1)]
