"""The graph as NetworkX and igraph objects, and as GraphML and GEXF files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ElementTree

import igraph
import networkx as nx
from networkx.readwrite.gexf import GEXFWriter

from kg.interop.exports.content import MEASURES, EdgeKey, ExportContent, plain
from kg.interop.exports.tables import TABLES, edge_measures, iso
from kg.messages.words import word
from kg.model import Modality, Polarity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kg.store.port import View

Attributes = dict[str, str | int | float]
_COLUMNS = {table.name: tuple(table.columns) for table in TABLES}
_LIST_SEPARATOR = "; "  # GraphML and GEXF know no lists


def to_networkx(view: View, *, min_confidence: float = 0.0) -> nx.MultiDiGraph[str]:
    """Return the graph of a view, one edge per subject, relation, object, sign, polarity and certainty.

    Nodes and edges carry the columns of the tables `nodes` and `edges` (docs/interop.md); an edge's key says which
    of several between two nodes it is. What is not known is left out.
    """
    return _networkx(ExportContent(view, min_confidence=min_confidence))


def to_igraph(view: View, *, min_confidence: float = 0.0) -> igraph.Graph:
    """Return the same as a directed igraph graph; vertices have the attribute `id`, what is not known is None."""
    content = ExportContent(view, min_confidence=min_confidence)
    vertices = [{"id": identity, **attributes} for identity, attributes in _nodes(content)]
    edges = [{"source": one, "target": other, **attributes} for one, other, _, attributes in _edges(content)]
    graph: igraph.Graph = igraph.Graph.DictList(vertices, edges, directed=True, vertex_name_attr="id")
    return graph


def write_graphml(content: ExportContent, path: Path) -> None:
    """Write GraphML, as NetworkX, igraph, Gephi, yEd and Cytoscape read it."""
    nx.write_graphml_xml(_writable(content), path, named_key_ids=True)


def write_gexf(content: ExportContent, path: Path) -> None:
    """Write GEXF for Gephi, whose timeline shows every node and edge from its first publication on."""
    graph = _writable(content)
    for _, attributes in graph.nodes(data=True):
        _begin(attributes)
    for _, _, attributes in graph.edges(data=True):
        _begin(attributes)
    graph.graph["mode"] = "dynamic"
    writer = GEXFWriter(encoding="utf-8", version="1.2draft")
    writer.add_graph(graph)
    for meta in writer.xml.iter("meta"):
        meta.attrib.pop("lastmodifieddate", None)  # the day of writing is no content
    ElementTree(writer.xml).write(path, encoding="utf-8", xml_declaration=True)


def _writable(content: ExportContent) -> nx.MultiDiGraph[str]:
    """Return the graph with ids that XML can hold."""
    graph = _networkx(content)
    relabelled: nx.MultiDiGraph[str] = nx.relabel_nodes(
        graph, {node: plain(node) for node in graph if plain(node) != node}
    )
    return relabelled


def _begin(attributes: Attributes) -> None:
    if "published_on" in attributes:
        attributes["start"] = attributes["published_on"]


def _networkx(content: ExportContent) -> nx.MultiDiGraph[str]:
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    graph.add_nodes_from(_nodes(content))
    for one, other, key, attributes in _edges(content):
        graph.add_edge(one, other, key=key, **attributes)
    return graph


def _nodes(content: ExportContent) -> Iterator[tuple[str, Attributes]]:
    table = next(table for table in TABLES if table.name == "nodes")
    for row in table.rows(content):
        named = dict(zip(_COLUMNS["nodes"], row, strict=True))
        label: Attributes = {"label": plain(named["name"])}
        yield named.pop("id"), label | _given(named)


def _edges(content: ExportContent) -> Iterator[tuple[str, str, str, Attributes]]:
    for edge in content.edges():
        columns = (*EdgeKey._fields, *_COLUMNS["edges"][-len(measures := edge_measures(edge)) :])
        named = dict(zip(columns, (*edge.key, *measures), strict=True))
        key = "|".join(map(str, (edge.key.relation, edge.key.sign, edge.key.polarity, edge.key.modality)))
        one, other = named.pop("subject"), named.pop("object")
        drawn: Attributes = {"label": content.caption(edge.key), "weight": content.certainty(edge.facts)}
        yield one, other, key, drawn | _given(named)
    for one, other in content.measures():
        label = word("export.measures", content.lang, thing="").strip()
        stated: Attributes = {"sign": 0, "polarity": Polarity.POSITIVE.value, "modality": Modality.ASSERTED.value}
        clocks = _given(dict(zip(_COLUMNS["nodes"][-3:], content.touched.get(one, ()), strict=False)))
        fixed: Attributes = {"label": label, "relation": MEASURES, "weight": 1.0}
        yield one, other, MEASURES, fixed | stated | clocks


def _given(named: dict[str, Any]) -> Attributes:
    """Return the values that are known, as the scalars that every reader takes."""
    return {name: _scalar(value) for name, value in named.items() if value not in (None, ())}


def _scalar(value: Any) -> str | int | float:
    if isinstance(value, tuple):
        return _LIST_SEPARATOR.join(map(plain, value))
    if isinstance(value, str):
        return plain(str(value))
    return value if isinstance(value, int | float) else iso(value)
