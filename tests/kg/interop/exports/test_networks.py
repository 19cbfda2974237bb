"""GraphML and GEXF are read back by NetworkX and igraph; objects in memory hold the same graph."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import igraph
import networkx as nx

from kg.interop.exports.content import plain
from kg.interop.exports.networks import to_igraph, to_networkx
from tests.kg.interop.exports.sample import CATL, HOSTILE, HOSTILE_IDS, MARGIN, PRICE, base, exported

if TYPE_CHECKING:
    from pathlib import Path


def test_networkx_holds_sign_period_and_clocks():
    graph = to_networkx(base().view())
    (cause,) = graph.get_edge_data(PRICE, MARGIN).values()
    assert cause["sign"] == -1
    assert (cause["valid_from"], cause["valid_to"], cause["published_on"]) == ("2024-01-01", "2024-04-01", "2024-01-02")
    assert cause["label"] == "影响 −"
    assert graph.nodes[CATL]["codes"] == "300750.SZ"
    assert graph.nodes[CATL]["aliases"] == "宁王"
    produced = graph.get_edge_data(CATL, "product:碳酸锂")
    assert [edge["polarity"] for edge in produced.values()] == ["negative"]


def test_igraph_holds_the_same_graph():
    view = base().view()
    one, other = to_networkx(view), to_igraph(view)
    assert sorted(other.vs["id"]) == sorted(one.nodes)
    ends = sorted((other.vs[edge.source]["id"], other.vs[edge.target]["id"], edge["relation"]) for edge in other.es)
    assert ends == sorted((start, end, data["relation"]) for start, end, data in one.edges(data=True))
    assert other.is_directed()


def test_graphml_is_read_by_networkx_and_igraph(tmp_path: Path):
    path = exported("graphml", tmp_path / "graph.graphml")
    read = nx.read_graphml(path, force_multigraph=True)
    held = to_networkx(base().view())
    assert dict(read.nodes(data="name")) == {plain(node): plain(name) for node, name in held.nodes(data="name")}
    assert _claims(read) == _claims(held)
    other = igraph.Graph.Read_GraphML(str(path))
    assert (other.vcount(), other.ecount()) == (held.number_of_nodes(), held.number_of_edges())
    assert {edge["sign"] for edge in other.es} == {-1, 0}


def test_gexf_is_read_by_networkx_and_begins_when_published(tmp_path: Path):
    path = exported("gexf", tmp_path / "graph.gexf")
    read = nx.read_gexf(path)
    assert _claims(read) == _claims(to_networkx(base().view()))
    assert read.edges[PRICE, MARGIN]["start"] == "2024-01-02"
    assert "lastmodifieddate" not in path.read_text(encoding="utf-8")


def test_hostile_names_stay_text(tmp_path: Path):
    for layout in ("graphml", "gexf"):
        tree = ET.parse(exported(layout, tmp_path / layout))  # noqa: S314 - our own file
        assert not [each for each in tree.iter() if each.tag.endswith("script")]
        texts = {each.text or "" for each in tree.iter()} | {
            value for each in tree.iter() for value in each.attrib.values()
        }
        assert {plain(name) for name in HOSTILE} <= {
            text.strip() if text and text.isspace() else text for text in texts
        }
    assert all(identity in to_networkx(base().view()) for identity in HOSTILE_IDS)


def _claims(graph: nx.MultiDiGraph[str]) -> list[tuple[object, ...]]:
    return sorted(
        (
            plain(start),
            plain(end),
            data["relation"],
            data["sign"],
            data["polarity"],
            data["modality"],
            data["published_on"],
        )
        for start, end, data in graph.edges(data=True)
    )
