from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from benchmarks.themes_planted import planted_weeks, turns_found
from communities.tracking import stability, stable_ids, turns, variation
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


def test_a_group_without_anything_the_theme_is_named_after_is_another_theme():
    """Of a split the larger part would keep the id; the part that holds the name does."""
    first = week([(*A, *B)])
    groups = [A[:4], (*B, *A[4:])]
    anchors = {first[0].id: frozenset("a")}
    assert stable_ids(0, groups, first, anchors=anchors)[0] == first[0].id
    assert first[0].id not in stable_ids(0, [B], first, anchors=anchors)
    assert stable_ids(0, [B], first, anchors={first[0].id: frozenset()}) == [first[0].id]


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


# ── what happened ──────────────────────────────────────────────────────────────────────────────────────────────────


def reported(
    groups: dict[str, tuple[str, ...]], previous: dict[str, tuple[str, ...]]
) -> set[tuple[str, str, tuple[str, ...]]]:
    return {(item.turn.value, item.theme, item.others) for item in turns(groups, previous)}


def test_nothing_happens_when_nothing_changes():
    assert reported({"t": A}, {"t": A}) == set()
    assert reported({}, {}) == set()
    assert reported({"t": (*A, "z")}, {"t": A}) == set()  # one member more of six is no growth


def test_birth_and_death():
    assert reported({"t": A}, {}) == {("born", "t", ())}
    assert reported({}, {"t": A}) == {("died", "t", ())}
    assert reported({"u": B}, {"t": A}) == {("born", "u", ()), ("died", "t", ())}


def test_a_split_names_its_parts_and_the_new_part_its_origin():
    assert reported({"t": A, "u": B}, {"t": (*A, *B)}) == {
        ("split", "t", ("u",)),
        ("born", "u", ("t",)),
        ("shrunk", "t", ()),
    }


def test_a_merger_names_what_it_was_made_of_and_the_lost_one_where_it_went():
    assert reported({"t": (*A, *B)}, {"t": A, "u": B}) == {
        ("merged", "t", ("u",)),
        ("died", "u", ("t",)),
        ("grown", "t", ()),
    }


def test_a_large_theme_that_takes_a_few_members_of_another_is_no_merger_and_no_split():
    large = tuple(f"m{number}" for number in range(40))
    assert reported({"t": (*large, *A[:2]), "u": A[2:]}, {"t": large, "u": A}) == set()


def test_growth_says_who_joined_and_left():
    (grown,) = turns({"t": (*A[1:], "1", "2", "3", "4")}, {"t": A})
    assert (grown.turn.value, grown.joined, grown.left) == ("grown", ("1", "2", "3", "4"), ("a",))


@pytest.mark.parametrize("mixing", [0.1, 0.3])
def test_planted_splits_and_mergers_are_reported(mixing: float):
    """F1 at least 0.9 (benchmarks.themes tracking prints it over more weeks)."""
    right, found, planted = turns_found(planted_weeks(seed=3, weeks=8, mixing=mixing))
    assert planted >= 8
    assert 2 * right / (found + planted) >= 0.9


def test_variation_is_nothing_for_the_same_and_all_for_strangers():
    """Two halves cut the other way share nothing: H = 1 bit each side, no mutual information, so 2 bits."""
    first = [Community("a", 0, "", ("product:1", "product:2")), Community("b", 0, "", ("product:3", "product:4"))]
    crossed = [Community("a", 0, "", ("product:1", "product:3")), Community("b", 0, "", ("product:2", "product:4"))]
    assert variation(first, first) == variation([], first) == 0.0
    assert variation(first, crossed) == pytest.approx(2.0)
