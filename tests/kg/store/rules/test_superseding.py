"""The rule on arrays against a plain reading of it, statement by statement."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from kg.store.rules.superseding import UNNAMED, Statements, superseding_rows

Said = list[tuple[int, int, int]]  # fact, speaker, day
_FACTS = 5


def plainly(said: Said, place: list[int], denied: list[tuple[int, int]], bound: list[bool]) -> list[int]:
    """Read the rule fact by fact."""
    found = []
    for fact in range(len(place)):
        against = {other for one, other in denied if one == fact}
        against |= {other for other in range(len(place)) if place[other] == place[fact] >= 0}
        own, later = last_days(said, fact, bound[fact]), []
        revised = set()
        for other in against:
            for speaker, day in last_days(said, other, bound[fact]).items():
                if speaker != UNNAMED and speaker in own and day > own[speaker]:
                    revised.add(speaker)
                    later.append((-day, other))
        found.append(min(later)[1] if own and revised == own.keys() else -1)
    return found


def last_days(said: Said, fact: int, bound: bool) -> dict[int, int]:
    days: dict[int, int] = {}
    for row, speaker, day in said:
        if row == fact:
            name = speaker if bound else -1
            days[name] = max(day, days.get(name, day))
    return days


@given(
    said=st.lists(st.tuples(st.integers(0, _FACTS - 1), st.integers(0, 2), st.integers(1, 6)), max_size=16),
    place=st.lists(st.integers(-1, 1), min_size=_FACTS, max_size=_FACTS),
    denied=st.lists(st.tuples(st.integers(0, 2), st.integers(3, _FACTS - 1)), max_size=4, unique=True),
    bound=st.booleans(),
)
def test_the_rule_on_arrays_is_the_rule_read_plainly(
    said: Said,
    place: list[int],
    denied: list[tuple[int, int]],
    bound: bool,
):
    rows = Statements(*np.array(said, dtype=np.int64).reshape(-1, 3).T)
    pairs = np.array(denied, dtype=np.int64).reshape(-1, 2)
    by = superseding_rows(rows, np.array(place), pairs, bound=np.full(_FACTS, bound))
    assert by.tolist() == plainly(said, place, denied, [bound] * _FACTS)


def test_the_latest_rival_supersedes_and_ties_go_to_the_first():
    rows = Statements(np.array([0, 1, 2, 3]), np.array([1, 1, 1, 2]), np.array([1, 3, 3, 9]))
    by = superseding_rows(
        rows, np.zeros(4, dtype=np.int64), np.empty((0, 2), dtype=np.int64), bound=np.ones(4, dtype=bool)
    )
    assert by.tolist() == [1, -1, -1, -1]
