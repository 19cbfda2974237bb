"""Answers as graphs and tables of other libraries, and in notebooks.

A picture is drawn by what is installed under the entry point group `liantu.pictures`, as commands are found: `kg` knows
no package that draws.
"""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass
from html import escape
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Literal

from kg.errors import KgError
from kg.query.plain import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import igraph
    import networkx as nx

    from kg.model import Evidence, Fact
    from kg.query.answers import Citation, EntityRef, Link, Node
    from kg.query.browse.neighbours import NeighbourEdge

PICTURES = "liantu.pictures"
_ROWS = 50  # shown of a table in a notebook
_SHOWN = ("source_name", "wording", "target_name", "sign", "modality", "last_day", "quote")


@dataclass(frozen=True, slots=True)
class GraphElements:
    """Nodes by id and edges as flat records of strings and numbers, so that any graph format can hold them."""

    nodes: dict[str, dict[str, Any]]
    edges: tuple[dict[str, Any], ...]


class GraphAnswer(Answer):
    """Base class of answers that are a graph."""

    __slots__ = ()

    def elements(self) -> GraphElements:
        """Return the nodes and edges of the answer, each once."""
        nodes: dict[str, dict[str, Any]] = {}
        edges: dict[tuple[Any, ...], dict[str, Any]] = {}
        for part in _parts(self):
            _READERS[type(part).__name__](part, nodes, edges)
        for edge in edges.values():
            for end in ("source", "target"):
                node = nodes.setdefault(edge[end], _node(edge[end], "", edge[end].partition(":")[2]))
                edge[f"{end}_name"] = node["name"]
        return GraphElements(nodes, tuple(edges.values()))

    def to_networkx(self) -> nx.MultiDiGraph[str]:
        """Return a directed multigraph of NetworkX."""
        network = import_module("networkx")
        graph: nx.MultiDiGraph[str] = network.MultiDiGraph()
        found = self.elements()
        graph.add_nodes_from(found.nodes.items())
        graph.add_edges_from((edge["source"], edge["target"], edge) for edge in found.edges)
        return graph

    def to_igraph(self) -> igraph.Graph:
        """Return a directed graph of igraph; the vertex attribute `name` is the entity's id, `label` its name."""
        library, found = import_module("igraph"), self.elements()
        vertices = [{**node, "name": key, "label": node["name"]} for key, node in found.nodes.items()]
        graph: igraph.Graph = library.Graph.DictList(vertices, found.edges, directed=True)
        return graph

    def to_pandas(self, table: Literal["edges", "nodes"] = "edges") -> Any:
        """Return the edges or the nodes as a data frame.

        Raises:
            KgError: when pandas is not installed.
        """
        pandas, found = _extra("pandas"), self.elements()
        if table == "nodes":
            return pandas.DataFrame([{"id": key, **node} for key, node in found.nodes.items()])
        frame = pandas.DataFrame(list(found.edges))
        for column in {"first_day", "last_day", "published_on"} & set(frame.columns):
            frame[column] = pandas.to_datetime(frame[column])
        return frame

    def to_pyvis(self) -> Any:
        """Return a network of pyvis with fixed positions, that loads nothing from elsewhere.

        Raises:
            KgError: when pyvis, or what draws, is not installed.
        """
        _extra("pyvis")
        draw = _picture("pyvis")
        if draw is None:
            raise KgError("nothing that draws is installed; reinstall liantu")
        return draw(self.elements())

    def _repr_html_(self) -> str:
        draw = _picture("html")
        return (draw(self) if draw else "") or table_html(self.elements())


def table_html(found: GraphElements) -> str:
    """Return the edges as an HTML table, with everything escaped."""
    head = "".join(f"<th>{name}</th>" for name in _SHOWN)
    rows = (
        "<tr>" + "".join(f"<td>{escape(str(edge.get(name, '')))}</td>" for name in _SHOWN) + "</tr>"
        for edge in found.edges[:_ROWS]
    )
    left = max(len(found.edges) - _ROWS, 0)
    more = f"<p>… +{left}</p>" if left else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"


def _parts(value: Any) -> Iterable[Any]:
    """Yield the records of an answer that are nodes or edges, wherever they stand."""
    if type(value).__name__ in _READERS:
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _parts(each)
    elif is_dataclass(value):
        for name in value.__dataclass_fields__:
            yield from _parts(getattr(value, name))


def _node(identity: str, kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": kind, "code": "", "layer": 0, "score": 0.0, "direction": 0, "id": identity} | more


def _read_node(part: Node, nodes: dict[str, dict[str, Any]], _: Any) -> None:
    entity = part.entity
    code = entity.codes[0] if entity.codes else ""
    more = {"layer": part.layer, "score": part.score, "direction": part.direction}
    nodes.setdefault(entity.id, _node(entity.id, entity.kind.value, entity.name, code=code, **more))


def _read_ref(part: EntityRef, nodes: dict[str, dict[str, Any]], _: Any) -> None:
    nodes.setdefault(part.id, _node(part.id, part.kind, part.name, code=part.code))


def _read_link(part: Link, _: Any, edges: dict[tuple[Any, ...], dict[str, Any]]) -> None:
    first, cited = part.facts[0], part.citations[:1]
    evidence = [item for fact in part.facts for item in fact.evidence]
    edge = _edge(first, part.wording, evidence, cited) | {
        "weight": part.weight,
        "contested": part.contested,
        "facts": " ".join(fact.id for fact in part.facts),
    }
    edges.setdefault((part.source, part.relation, part.target, part.sign, first.polarity, first.modality), edge)


def _read_row(part: Any, nodes: dict[str, dict[str, Any]], edges: dict[tuple[Any, ...], dict[str, Any]]) -> None:
    _read_ref(part.subject, nodes, edges)
    _read_ref(part.object, nodes, edges)
    edge = _edge(part.fact, part.wording, part.fact.evidence, part.citations[:1])
    edges.setdefault((part.fact.id,), edge | {"weight": part.confidence, "contested": False, "facts": part.fact.id})


def _edge(fact: Fact, wording: str, evidence: Iterable[Evidence], cited: tuple[Citation, ...]) -> dict[str, Any]:
    found = list(evidence)
    return {
        "source": fact.subject,
        "target": fact.object,
        "relation": fact.relation,
        "wording": wording,
        "sign": fact.sign,
        "polarity": fact.polarity.value,
        "modality": fact.modality.value,
        "confidence": fact.confidence,
        "independent_sources": len({item.witness or item.document for item in found}),
        "first_day": min(item.published_on for item in found).isoformat(),
        "last_day": max(item.published_on for item in found).isoformat(),
        "valid": str(fact.valid or ""),
        "quote": cited[0].quote if cited else "",
        "document": cited[0].document if cited else "",
        "title": cited[0].title if cited else "",
        "published_on": cited[0].published_on.isoformat() if cited else "",
    }


def _read_neighbour(part: NeighbourEdge, _: Any, edges: dict[tuple[Any, ...], dict[str, Any]]) -> None:
    same = ("source", "target", "relation", "wording", "sign", "polarity", "modality", "confidence")
    edges[part.facts] = {name: getattr(part, name) for name in (*same, "independent_sources", "contested")} | {
        "first_day": part.first_day.isoformat(),
        "last_day": part.last_day.isoformat(),
        "valid": str(part.valid or ""),
        "facts": " ".join(part.facts),
        **{name: "、".join(values) for name, values in part.qualifiers.items()},
    }


_READERS: dict[str, Callable[[Any, dict[str, dict[str, Any]], dict[tuple[Any, ...], dict[str, Any]]], None]] = {
    "Node": _read_node,
    "EntityRef": _read_ref,
    "Link": _read_link,
    "FactRow": _read_row,
    "NeighbourEdge": _read_neighbour,
}


def _picture(name: str) -> Any:
    return next((point.load() for point in entry_points(group=PICTURES, name=name)), None)


def _extra(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        raise KgError(f"{missing.name} is not installed; run `pip install 'liantu[notebooks]'`") from missing
