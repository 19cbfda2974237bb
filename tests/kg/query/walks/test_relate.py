from __future__ import annotations

from itertools import pairwise

import hypothesis.strategies as st
import networkx as nx
import pytest
from hypothesis import given

import kg.query.walks.relate as relate_module
from kg.errors import UnknownName
from kg.query.session import QuerySession
from kg.query.walks.relate import relate
from tests.kg.query.world import LONGI, SILICON, SUNGROW, TONGWEI, WAFER, claim, paper, seen, solar


def test_the_ways_between_two_are_reported_link_by_link():
    answer = relate(seen(*solar()), "阳光电源", "硅料")
    assert {path.nodes for path in answer.paths} == {
        (SUNGROW, LONGI, WAFER, SILICON),
        (SUNGROW, LONGI, TONGWEI, SILICON),
    }
    for path in answer.paths:
        assert all({link.source, link.target} == set(path.nodes[n : n + 2]) for n, link in enumerate(path.links))
        assert all(link.citations for link in path.links)
    assert {node.entity.id for node in answer.graph.nodes} == {SUNGROW, LONGI, WAFER, TONGWEI, SILICON}


def test_the_most_credible_way_comes_first():
    weights = [path.weight for path in relate(seen(*solar()), "隆基绿能", "通威股份").paths]
    assert weights == sorted(weights, reverse=True)
    assert relate(seen(*solar()), "隆基绿能", "通威股份").paths[0].nodes == (LONGI, TONGWEI)


def test_a_measured_number_and_a_rating_relate_nobody():
    same = [claim(company, "reports", "indicator:毛利率") for company in (LONGI, TONGWEI)]
    view = seen(paper(1, "2024-01-01", ("甲。", same[0]), ("乙。", same[1])))
    assert relate(view, "隆基绿能", "通威股份").paths == ()


def test_one_is_not_related_to_himself_and_the_unknown_is_named():
    assert relate(seen(*solar()), "隆基绿能", "601012.SH").paths == ()
    for pair in (("隆基绿能", "火星"), ("火星", "隆基绿能")):
        with pytest.raises(UnknownName, match="火星"):
            relate(seen(*solar()), *pair)


_ENDS = [f"product:物{n}" for n in range(12)]
_PAIR = st.tuples(st.sampled_from(_ENDS), st.sampled_from(_ENDS)).filter(lambda pair: pair[0] != pair[1])


@given(pairs=st.sets(_PAIR, min_size=1, max_size=16), strong=st.integers(0, 5))
def test_there_is_a_way_exactly_when_networkx_finds_one_of_four_hops(pairs: set[tuple[str, str]], strong: int):
    claims = [claim(a, "upstream_of", b) for a, b in sorted(pairs)]
    said = [paper(n, "2024-01-01", (f"句{n}。", one)) for n, one in enumerate(claims)]
    view = seen(*said, *(paper(100 + n, "2024-01-01", (f"句{n}。", one)) for n, one in enumerate(claims[:strong])))
    session, graph = QuerySession(view), nx.Graph(pairs)
    first = min(graph)
    hops = nx.single_source_shortest_path_length(graph, first)
    for other in sorted(graph):
        if other == first:
            continue
        paths = relate(session, first.split(":")[1], other.split(":")[1]).paths
        assert bool(paths) == (hops.get(other, 9) <= 4)
        assert len({path.nodes for path in paths}) == len(paths) <= 8
        for path in paths:
            assert nx.is_simple_path(graph, path.nodes)
            assert len(path.links) <= 4
        ways = list(nx.all_simple_paths(graph, first, other, cutoff=4))
        if len(ways) <= 8:
            assert {path.nodes for path in paths} == {tuple(way) for way in ways}


def test_a_dense_world_is_bounded():
    names = [f"product:物{n:02}" for n in range(60)]
    claims = [(f"{a}{b}。", claim(a, "upstream_of", b)) for a in names for b in names if a < b]
    answer = relate(seen(paper(1, "2024-01-01", *claims)), "物00", "物59")
    assert len(answer.paths) == 8
    assert answer.paths[0].nodes == ("product:物00", "product:物59")


_RELATIONS = ("upstream_of", "uses", "part_of")


@given(said=st.lists(st.tuples(_PAIR, st.sampled_from(_RELATIONS)), min_size=3, max_size=24, unique=True))
def test_the_paths_are_the_most_credible_of_all_that_networkx_finds(said: list[tuple[tuple[str, str], str]]):
    papers = (paper(n, "2024-01-01", (f"句{n}。", claim(a, relation, b))) for n, ((a, b), relation) in enumerate(said))
    session, graph = QuerySession(seen(*papers)), nx.Graph()
    edges, names = session.graph.edges(), session.graph.entity_ids
    for source, target, weight in zip(edges.source.tolist(), edges.target.tolist(), edges.weight.tolist(), strict=True):
        ends = names[source], names[target]
        graph.add_edge(*ends, weight=max(weight, graph.get_edge_data(*ends, {"weight": 0.0})["weight"]))
    first, *others = sorted(graph)
    for other in others:
        ranked = []
        for nodes in nx.all_simple_paths(graph, first, other, cutoff=4):
            credit = 1.0
            for one, next_ in pairwise(nodes):
                credit = credit * min(1.0, graph[one][next_]["weight"]) * 0.6
            ranked.append((-credit, tuple(nodes)))
        found = [(-path.weight, path.nodes) for path in relate(session, first, other).paths]
        assert found == [(round(cost, 4), nodes) for cost, nodes in sorted(ranked)[:8]]


@given(pairs=st.sets(_PAIR, min_size=8, max_size=30), most=st.integers(2, 30))
def test_how_many_walks_are_made_longer_at_once_changes_no_path(pairs: set[tuple[str, str]], most: int):
    said = (paper(n, "2024-01-01", (f"句{n}。", claim(a, "upstream_of", b))) for n, (a, b) in enumerate(sorted(pairs)))
    session, ends = QuerySession(seen(*said)), sorted({end for pair in pairs for end in pair})
    answers = []
    for at_once in (1, 7, 256):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(relate_module, "_AT_ONCE", at_once)
            patch.setattr(relate_module, "_WALKS", most)
            answers.append([relate(session, ends[0], end) for end in ends])
    assert answers[0] == answers[1] == answers[2]
