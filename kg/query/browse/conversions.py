"""Answers as graphs and tables of other libraries, and in notebooks.

A picture is drawn by what is installed under the entry point group `liantu.pictures`, as commands are found: `kg` knows
no package that draws.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, is_dataclass
from html import escape
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Literal

from kg.errors import KgError
from kg.query.browse.frames import COLUMNS, arrow_table, extra, pandas_frame
from kg.query.plain import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import igraph
    import networkx as nx

    from kg.model import Evidence, Fact, Value
    from kg.period import Period
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
                edge |= {f"{end}_{name}": node[name] for name in ("name", "kind", "code")}
        return GraphElements(nodes, tuple(edges.values()))

    def to_networkx(self) -> nx.MultiDiGraph[str]:
        """Return a directed multigraph of NetworkX."""
        network = import_module("networkx")
        graph: nx.MultiDiGraph[str] = network.MultiDiGraph()
        found = self.elements()
        graph.add_nodes_from((key, _stated(node)) for key, node in found.nodes.items())
        graph.add_edges_from((edge["source"], edge["target"], _stated(edge)) for edge in found.edges)
        return graph

    def to_igraph(self) -> igraph.Graph:
        """Return a directed graph of igraph; the vertex attribute `name` is the entity's id, `label` its name."""
        library, found = import_module("igraph"), self.elements()
        vertices = [{**node, "name": key, "label": node["name"]} for key, node in found.nodes.items()]
        graph: igraph.Graph = library.Graph.DictList(vertices, found.edges, directed=True)
        return graph

    def to_pandas(self, table: Literal["edges", "nodes"] = "edges") -> Any:
        """Return the edges or the nodes as a data frame with the columns of kg/query/browse/frames.py, also if empty.

        Raises:
            KgError: when pandas is not installed.
        """
        return pandas_frame(COLUMNS[table], self._rows(table))

    def to_arrow(self, table: Literal["edges", "nodes"] = "edges") -> Any:
        """Return the same as a table of Arrow, which Polars takes: `polars.from_arrow(answer.to_arrow())`.

        Raises:
            KgError: when pyarrow is not installed.
        """
        return arrow_table(COLUMNS[table], self._rows(table))

    def _rows(self, table: Literal["edges", "nodes"]) -> list[dict[str, Any]]:
        found = self.elements()
        return list(found.nodes.values()) if table == "nodes" else list(found.edges)

    def to_pyvis(self) -> Any:
        """Return a network of pyvis with fixed positions, that loads nothing from elsewhere.

        Raises:
            KgError: when pyvis, or what draws, is not installed.
        """
        extra("pyvis")
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
    fixed: dict[str, Any] = {"id": identity, "name": name, "kind": kind, "code": "", "codes": ""}
    return fixed | {"layer": 0, "score": 0.0, "direction": 0} | more


def _read_node(part: Node, nodes: dict[str, dict[str, Any]], _: Any) -> None:
    entity = part.entity
    code = entity.codes[0] if entity.codes else ""
    more = {"codes": " ".join(entity.codes), "layer": part.layer, "score": part.score, "direction": part.direction}
    nodes.setdefault(entity.id, _node(entity.id, entity.kind.value, entity.name, code=code, **more))


def _read_ref(part: EntityRef, nodes: dict[str, dict[str, Any]], _: Any) -> None:
    nodes.setdefault(part.id, _node(part.id, part.kind, part.name, code=part.code, codes=part.code))


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
        "recorded_at": min(item.recorded_at for item in found).isoformat(),
        **_measured(fact.value, fact.valid),
        "product": fact.qualifier("product"),
        "qualifiers": json.dumps(dict(fact.qualifiers), ensure_ascii=False),
        "quote": cited[0].quote if cited else "",
        "document": cited[0].document if cited else "",
        "title": cited[0].title if cited else "",
        "publisher": cited[0].publisher if cited else "",
        "speaker": cited[0].speaker if cited else "",
        "published_on": cited[0].published_on.isoformat() if cited else None,
    }


def _measured(value: Value | None, valid: Period | None) -> dict[str, Any]:
    """Return a value with its unit, and the bounds of a period, the end excluded."""
    return {
        "value": value.number if value else None,
        "value_high": value.high if value else None,
        "unit": value.unit if value else "",
        "scale": value.scale if value else "",
        "change": value.change if value else "",
        "basis": value.basis if value else "",
        "valid": str(valid or ""),
        "valid_from": valid.start.isoformat() if valid and valid.start else None,
        "valid_to": valid.end.isoformat() if valid and valid.end else None,
    }


def _stated(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without what is unknown: graph formats have no empty value."""
    return {name: value for name, value in row.items() if value is not None}


def _read_neighbour(part: NeighbourEdge, _: Any, edges: dict[tuple[Any, ...], dict[str, Any]]) -> None:
    same = ("source", "target", "relation", "wording", "sign", "polarity", "modality", "confidence")
    edges[part.facts] = {name: getattr(part, name) for name in (*same, "independent_sources", "contested")} | {
        "first_day": part.first_day.isoformat(),
        "last_day": part.last_day.isoformat(),
        **_measured(part.value, part.valid),
        "facts": " ".join(part.facts),
        "qualifiers": json.dumps({name: "、".join(each) for name, each in part.qualifiers.items()}, ensure_ascii=False),
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
