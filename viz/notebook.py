"""Answers as networks of pyvis, on a page or in a notebook. Found by entry point, see pyproject.toml."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from html import escape
from importlib import import_module
from importlib.util import find_spec
from textwrap import wrap
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import networkx as nx

from kg.messages.words import word
from kg.model import Kind, Modality, Polarity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kg.query.browse.conversions import GraphElements

_HEIGHT: Final = 640  # pixels
_ROWS: Final = 16  # boxes above each other; more are put beside them
_LETTERS: Final = 12  # of a line of a label
_LINE, _MARGIN, _GAP, _ASIDE = 19, 12, 22, 130  # pixels
_REMOTE: Final = re.compile(
    r"<(?:link|script)\b[^>]*(?:href|src)=\"(?:https?:)?//[^>]*>(?:\s*</script>)?", re.IGNORECASE
)
# Hues after Okabe & Ito (2008), "Color Universal Design"; the explorer's are in viz/explorer/src/palette.ts.
_KINDS: Final[Mapping[Kind, tuple[str, str]]] = MappingProxyType(
    {
        Kind.COMPANY: ("#ffffff", "#475569"),
        Kind.PRODUCT: ("#dcf3ea", "#00795a"),
        Kind.INDUSTRY: ("#e8e4f8", "#5140a0"),
        Kind.BUSINESS: ("#e2eefb", "#2b6cb0"),
        Kind.THEME: ("#f8e3f0", "#a8327a"),
        Kind.INDICATOR: ("#fff0c9", "#a06800"),
        Kind.EVENT: ("#fde3d5", "#b8480a"),
        Kind.POLICY: ("#fbe4e4", "#9b2c2c"),
        Kind.REGION: ("#e9efd2", "#5d6b16"),
        Kind.INSTITUTION: ("#e8eaee", "#374151"),
        Kind.PERSON: ("#f4e9dc", "#7d5022"),
    }
)
_SIGNS: Final = MappingProxyType({1: "#c9401c", 0: "#8592a3", -1: "#1f6bb0"})
_DENIED: Final = "#a9b1bc"


def html_of(answer: Any) -> str:
    """Return an answer as a network in a sandboxed frame, "" for one without a graph or without pyvis."""
    if not hasattr(answer, "graph") or find_spec("pyvis") is None:
        return ""
    html = escape(pyvis_of(answer.elements()).generate_html(), quote=True)
    return f'<iframe srcdoc="{html}" sandbox="allow-scripts" width="100%" height="{_HEIGHT}" frameborder="0"></iframe>'


def pyvis_of(found: GraphElements) -> Any:
    """Return a pyvis network with fixed positions and a legend; its page loads nothing from elsewhere."""
    library = import_module("pyvis.network")
    legend = _legend({node["kind"] for node in found.nodes.values()})

    class OfflineNetwork(library.Network):  # type: ignore[name-defined,misc] # pyvis ships no types
        """A pyvis network whose page has no addresses: with `in_line`, pyvis still links a style sheet."""

        def generate_html(self, *args: Any, **options: Any) -> str:
            html = _REMOTE.sub("", super().generate_html(*args, **options))
            return html.replace("<body>", f"<body>{legend}", 1)

        def show(self, name: str, local: bool = True, notebook: bool | None = None) -> Any:
            """Write a page and open it, or show it in a notebook; pyvis' own `show` fails outside one."""
            inside = "ipykernel" in sys.modules if notebook is None else notebook
            if inside:
                self.prep_notebook()
            return super().show(name, local, inside)

    network = OfflineNetwork(height=f"{_HEIGHT - 60}px", width="100%", directed=True, cdn_resources="in_line")
    network.toggle_physics(False)  # noqa: FBT003 -- pyvis takes it by position
    labels = _labels(found)
    places = _places(found, labels)
    for key, node in found.nodes.items():
        fill, line = _KINDS[Kind(node["kind"])] if node["kind"] else ("#ffffff", "#475569")
        x, y = places[key]
        colour = {"background": fill, "border": line}
        title = f"{node['name']} {node['code']}".strip()
        network.add_node(key, label="\n".join(labels[key]), title=title, x=x, y=y, shape="box", color=colour)
    for edge in found.edges:
        network.add_edge(edge["source"], edge["target"], **_line(edge))
    return network


def _line(edge: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a link is drawn; colour is never the only sign."""
    denied = edge["polarity"] == Polarity.NEGATIVE.value
    sign = {1: " +", -1: " −"}.get(edge["sign"], "")
    return {
        "label": f"{'✕ ' if denied else ''}{edge['wording']}{sign}{' ≠' if edge['contested'] else ''}",
        "title": "\n".join(filter(None, (edge["wording"], edge.get("quote", ""), edge["last_day"]))),
        "color": _DENIED if denied else _SIGNS[edge["sign"]],
        "dashes": denied or edge["modality"] != Modality.ASSERTED.value,
        "font": {"size": 12},
    }


def _legend(kinds: set[str]) -> str:
    boxes = [
        f'<span style="background:{fill};border:1px solid {line};border-radius:3px;padding:0 6px">'
        f"{word(f'kind.{kind}')}</span>"
        for kind, (fill, line) in _KINDS.items()
        if kind.value in kinds
    ]
    lines = [
        f'<span style="color:{_SIGNS[sign]}">{word(f"pyvis.{key}")}</span>'
        for key, sign in (("same", 1), ("opposite", -1), ("structure", 0))
    ]
    return (
        '<p style="display:flex;flex-wrap:wrap;gap:4px 12px;margin:4px 8px;font:13px sans-serif">'
        f"{''.join([*boxes, *lines])}<span>{word('pyvis.marks')}</span></p>"
    )


def _labels(found: GraphElements) -> dict[str, list[str]]:
    """Return the lines of each label: the name, the kind of namesakes, the code."""
    named: dict[str, int] = defaultdict(int)
    for node in found.nodes.values():
        named[node["name"]] += 1
    labels = {}
    for key, node in found.nodes.items():
        kind = f"（{word('kind.' + node['kind'])}）" if node["kind"] and named[node["name"]] > 1 else ""
        labels[key] = [*wrap(node["name"] + kind, _LETTERS), *([node["code"]] if node["code"] else [])] or [key]
    return labels


def _places(found: GraphElements, labels: Mapping[str, Sequence[str]]) -> dict[str, tuple[float, float]]:
    """Return the middle of each box: in columns by layer, else by the steps from the node with most links."""
    layers = {key: node["layer"] for key, node in found.nodes.items()}
    if len(set(layers.values())) < 2:  # noqa: PLR2004 -- one column carries no information
        layers = _steps(found)
    columns: dict[int, list[str]] = defaultdict(list)
    for key in found.nodes:
        columns[layers[key]].append(key)
    places: dict[str, tuple[float, float]] = {}
    left = 0.0
    for layer in sorted(columns):
        for begin in range(0, len(columns[layer]), _ROWS):
            keys = columns[layer][begin : begin + _ROWS]
            wide = max(len(line.encode("gbk", "replace")) * _LINE / 4 for key in keys for line in labels[key]) + _MARGIN
            heights = [len(labels[key]) * _LINE + _MARGIN + _GAP for key in keys]
            top = -sum(heights) / 2
            for key, height in zip(keys, heights, strict=True):
                places[key] = (round(left + wide / 2, 1), round(top + height / 2, 1))
                top += height
            left += wide + _ASIDE
    return places


def _steps(found: GraphElements) -> dict[str, int]:
    """Return how many links each node is from the best connected one of its part of the graph."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(found.nodes)
    graph.add_edges_from((edge["source"], edge["target"]) for edge in found.edges)
    steps: dict[str, int] = {}
    for part in nx.connected_components(graph):
        hub = max(sorted(part), key=lambda key: graph.degree[key])
        steps |= nx.single_source_shortest_path_length(graph, hub)
    return steps
