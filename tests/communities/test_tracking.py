from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given, settings

from communities.quality import stability
from communities.tracking import stable_ids
from kg.ids import community_id
from kg.model import Community


def week(groups: list[tuple[str, ...]], previous: list[Community] | None = None) -> list[Community]:
    names = stable_ids(0, groups, previous or [])
    return [Community(name, 0, "", members) for name, members in zip(names, groups, strict=True)]


def ids(communities: list[Community]) -> list[str]:
    return [community.id for community in communities]


A, B = tuple("abcdef"), tuple("uvwxyz")


def test_a_new_theme_is_named_by_its_members():
    assert ids(week([A, B])) == [community_id(0, A), community_id(0, B)]
    assert stable_ids(1, [A], []) != stable_ids(0, [A], [])
    assert stable_ids(0, [], week([A])) == []


def test_the_same_and_the_nearly_same_keep_their_id_in_any_order():
    first = week([A, B])
    later = week([(*B, "t"), A[:-1]], first)
    assert ids(later) == [first[1].id, first[0].id]


def test_of_a_split_the_larger_part_keeps_the_id():
    first = week([(*A, *B)])
    later = week([A[:4], (*B, *A[4:])], first)
    assert later[1].id == first[0].id
    assert later[0].id not in ids(first)


def test_of_a_merger_the_larger_lends_its_id():
    first = week([A[:4], B])
    assert ids(week([(*A[:4], *B)], first)) == [first[1].id]


def test_too_little_in_common_is_a_new_theme():
    assert ids(week([(*A[:2], "1", "2", "3", "4")], week([A]))) != ids(week([A]))


def test_the_assignment_is_the_best_of_all_not_the_first_that_fits():
    """Taken greedily, the first group would take the only theme that the second can have."""
    first = week([tuple("abcdefgh"), tuple("ijkl")])
    groups = [tuple("abcd") + tuple("ijkl"), tuple("efgh")]
    assert ids(week(groups, first)) == [first[1].id, first[0].id]


def test_founders_that_come_apart_from_a_grown_theme_get_an_id_of_their_own():
    founded = week([("a", "b", "c")])
    grown = week([("a", "b", "c", "d", "e", "f", "g")], founded)
    assert ids(grown) == ids(founded)
    apart = week([("a", "b", "c"), ("d", "e", "f", "g")], grown)
    assert apart[1].id == grown[0].id
    assert len(set(ids(apart))) == 2


_WEEK = st.lists(st.sets(st.sampled_from("abcdefghijkl"), min_size=1), max_size=4).map(
    lambda groups: [
        tuple(sorted(members - set().union(*groups[:place]))) for place, members in enumerate(groups)
        if members - set().union(*groups[:place])
    ]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(weeks=st.lists(_WEEK, min_size=2, max_size=5))
def test_ids_are_distinct_in_every_week_and_a_week_repeated_keeps_all(weeks: list[list[tuple[str, ...]]]):
    previous: list[Community] = []
    for groups in weeks:
        now = week(groups, previous)
        assert len(set(ids(now))) == len(groups)
        assert ids(week(groups, now)) == ids(now)
        assert stability(now, week(groups, now)) == 1.0
        previous = now


def test_stability_is_the_share_that_stayed():
    first = week([A, B])
    assert stability([], first) == 1.0
    assert stability(first, []) == 0.0
    moved = [Community(first[0].id, 0, "", A[:3]), Community(first[1].id, 0, "", (*B, *A[3:]))]
    assert stability(first, moved) == 9 / 12
