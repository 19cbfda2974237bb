from __future__ import annotations

import random

import hypothesis.strategies as st
import igraph
import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from communities.detection import DetectedCommunity, DetectionOptions, detect, modularity
from communities.projection import Projection
from communities.quality import conductance, coverage, measure
from tests.communities.graphs import as_networkx, clique, members, projected

FLAT = DetectionOptions(resolutions=(1.0,), smallest=1)


def test_nothing_has_no_communities():
    empty = projected([])
    assert detect(empty) == [[], []]
    assert modularity(empty, []) == coverage(empty, []) == 0.0
    assert measure(empty, [])["largest"] == 0


def test_one_node_that_is_tied_to_nothing_stands_alone():
    lonely = Projection(np.arange(1), np.empty((0, 2), dtype=np.int64), np.empty(0))
    assert detect(lonely) == [[DetectedCommunity(0, -1, (0,))], [DetectedCommunity(1, 0, (0,))]]


def test_one_pair_is_one_community():
    assert detect(projected([(0, 1)]), FLAT) == [[DetectedCommunity(0, -1, (0, 1))]]


def test_a_star_and_a_clique_stay_whole():
    star = projected([(0, leaf) for leaf in range(1, 30)])
    assert members(detect(star)[0]) == [set(range(30))]
    assert members(detect(projected(clique(0, 12)))[0]) == [set(range(12))]


def test_what_is_not_joined_is_never_put_together():
    found = detect(projected(clique(0, 5) + clique(5, 4) + [(9, 10)]))[0]
    assert members(found) == [set(range(5)), set(range(5, 9)), {9, 10}]


def test_a_bridge_does_not_join_two_cliques():
    assert members(detect(projected([*clique(0, 6), *clique(6, 6), (5, 6)]), FLAT)[0]) == [
        set(range(6)),
        set(range(6, 12)),
    ]


def test_weights_count_not_only_pairs():
    """A path of four: the heavy middle pair stays together when its weight says so."""
    middle = projected([(0, 1), (1, 2), (2, 3)], [1.0, 50.0, 1.0])
    assert {1, 2} <= members(detect(middle, FLAT)[0])[0]
    sides = projected([(0, 1), (1, 2), (2, 3)], [50.0, 1.0, 50.0])
    assert sorted(map(sorted, members(detect(sides, FLAT)[0]))) == [[0, 1], [2, 3]]


def test_too_large_a_community_is_cut_again_but_a_star_is_not_peeled():
    ring = [pair for block in range(6) for pair in clique(8 * block, 8)]
    ring += [(8 * block + 7, 8 * ((block + 1) % 6)) for block in range(6)]
    whole = DetectionOptions(resolutions=(0.01,), largest=1000)
    assert [len(found.members) for found in detect(projected(ring), whole)[0]] == [48]
    few = DetectionOptions(resolutions=(0.3,), largest=10, smallest=1)
    assert max(len(found.members) for found in detect(projected(ring), few)[0]) <= 10
    star = projected([(0, leaf) for leaf in range(1, 60)])
    assert [len(found.members) for found in detect(star, DetectionOptions(resolutions=(0.6,), largest=10))[0]] == [60]


def test_a_piece_too_small_to_read_joins_the_neighbour_it_is_tied_to_most():
    """Two cliques and a pair between them: the pair goes where its heavier link leads; one by itself stays."""
    pairs = [*clique(0, 6), *clique(6, 6), (12, 13), (12, 0), (13, 6), (14, 15)]
    weights = [2.0 if pair == (12, 0) else 9.0 if pair == (12, 13) else 1.0 for pair in pairs]
    order = sorted(range(len(pairs)), key=lambda place: tuple(sorted(pairs[place])))
    projection = projected([pairs[place] for place in order], [weights[place] for place in order])
    options = DetectionOptions(resolutions=(2.0,), smallest=3)
    assert members(detect(projection, options)[0]) == [{0, 1, 2, 3, 4, 5, 12, 13}, set(range(6, 12)), {14, 15}]


def test_a_start_that_is_as_good_is_kept_and_a_bad_one_is_left():
    """A ring of eight cut in fours can be cut in four ways that are equally good."""
    ring = projected([(node, (node + 1) % 8) for node in range(8)])
    for shift in range(4):
        start = np.array([((node - shift) % 8) // 4 for node in range(8)])
        kept = detect(ring, DetectionOptions(resolutions=(1.0,), smallest=1), [start])[0]
        assert {frozenset(part) for part in members(kept)} == {
            frozenset(np.flatnonzero(start == part).tolist()) for part in (0, 1)
        }
    cliques = projected([*clique(0, 6), *clique(6, 6), (5, 6)])
    bad = np.array([0, 1] * 6)
    assert members(detect(cliques, FLAT, [bad])[0]) == [set(range(6)), set(range(6, 12))]


def test_detecting_leaves_the_generator_of_the_process_as_it_was():
    random.seed(7)
    before, first = random.getstate(), igraph.Graph.Erdos_Renyi(n=20, m=30).get_edgelist()
    random.setstate(before)
    detect(projected(clique(0, 6)))
    assert random.getstate() == before
    assert igraph.Graph.Erdos_Renyi(n=20, m=30).get_edgelist() == first


_PAIRS = st.lists(
    st.tuples(st.integers(0, 24), st.integers(0, 24)).filter(lambda pair: pair[0] != pair[1]), max_size=60
)


@given(
    pairs=_PAIRS,
    resolution=st.sampled_from([0.3, 0.6, 1.0, 2.0]),
    largest=st.integers(2, 30),
    smallest=st.integers(1, 6),
)
def test_levels_are_nested_connected_partitions_and_always_the_same(
    pairs: list[tuple[int, int]], resolution: float, largest: int, smallest: int
):
    projection = projected(sorted({(min(pair), max(pair)) for pair in pairs}))
    options = DetectionOptions(resolutions=(resolution, 2 * resolution), largest=largest, smallest=smallest)
    levels = detect(projection, options)
    graph = as_networkx(projection)
    whole = {node: len(part) for part in nx.connected_components(graph) for node in part}
    assert all(len(item.members) >= min(smallest, whole[item.members[0]]) for item in levels[0])
    for number, found in enumerate(levels):
        assert sorted(node for item in found for node in item.members) == list(range(len(projection.nodes)))
        assert all(nx.is_connected(graph.subgraph(item.members)) for item in found)
        if number:
            assert all(set(item.members) <= set(levels[0][item.parent].members) for item in found)
        assert [len(item.members) for item in found] == sorted((len(item.members) for item in found), reverse=True)
        parts = members(found)
        if projection.pairs.size:
            assert modularity(projection, found) == pytest.approx(nx.community.modularity(graph, parts))
            inside = nx.community.partition_quality(graph, parts)[0]
            assert coverage(projection, found) == pytest.approx(inside)
            oracle = sum(
                len(part) * (nx.conductance(graph, part) if 0 < nx.volume(graph, part) < 2 * graph.size() else 0.0)
                for part in parts
            )
            assert conductance(projection, found) == pytest.approx(oracle / graph.number_of_nodes())
    random.seed(len(pairs))
    assert detect(projection, options) == levels


@pytest.mark.parametrize("seed", range(5))
def test_planted_communities_are_found_again(seed: int):
    """Mixing 0.3: of a node's links, three in ten leave its community. ARI after Hubert and Arabie (1985)."""
    source = random.Random(seed)  # noqa: S311 - a made-up graph
    sizes = [20, 25, 30, 40, 45]
    home = [number for number, size in enumerate(sizes) for _ in range(size)]
    pairs: set[tuple[int, int]] = set()
    for node in range(len(home)):
        mates = [other for other in range(len(home)) if home[other] == home[node] and other != node]
        others = [other for other in range(len(home)) if home[other] != home[node]]
        ends = source.sample(mates, 7) + source.sample(others, 3)
        pairs |= {(min(node, end), max(node, end)) for end in ends}
    mixing = sum(home[one] != home[other] for one, other in pairs) / len(pairs)
    assert 0.25 < mixing < 0.36
    found = detect(projected(sorted(pairs)), FLAT)[0]
    label = {node: number for number, item in enumerate(found) for node in item.members}
    ours = [label[node] for node in range(len(home))]
    assert igraph.compare_communities(home, ours, method="adjusted_rand") >= 0.95
