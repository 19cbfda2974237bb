"""Answers in notebooks: a page in a frame of its own, or a pyvis network. Found by entry point, see pyproject.toml."""

from __future__ import annotations

import re
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, get_args

import igraph

from kg.model import Kind, Modality, Polarity
from viz.network import page
from viz.palette import KINDS, stroke_of
from viz.scene import Answer, scene_of

if TYPE_CHECKING:
    from kg.query.browse.conversions import GraphElements

_HEIGHT: Final = 640  # pixels
_SCALE: Final = 140  # pixels between neighbours
_COLUMN: Final = 320
_REMOTE: Final = re.compile(
    r"<(?:link|script)\b[^>]*(?:href|src)=\"(?:https?:)?//[^>]*>(?:\s*</script>)?", re.IGNORECASE
)


def html_of(answer: object) -> str:
    """Return an answer as a page in a sandboxed frame, "" for one that has no picture."""
    if not isinstance(answer, get_args(Answer)):
        return ""
    html = escape(page(scene_of(answer)), quote=True)
    return f'<iframe srcdoc="{html}" sandbox="allow-scripts" width="100%" height="{_HEIGHT}" frameborder="0"></iframe>'


def pyvis_of(found: GraphElements) -> Any:
    """Return a pyvis network with fixed positions; its page loads nothing from elsewhere."""
    library = import_module("pyvis.network")

    class OfflineNetwork(library.Network):  # type: ignore[name-defined,misc] # pyvis ships no types
        """A pyvis network whose page has no addresses: with `in_line`, pyvis still links a style sheet."""

        def generate_html(self, *args: Any, **options: Any) -> str:
            return _REMOTE.sub("", super().generate_html(*args, **options))

    network = OfflineNetwork(height=f"{_HEIGHT}px", width="100%", directed=True, cdn_resources="in_line")
    network.toggle_physics(False)  # noqa: FBT003 -- pyvis takes it by position
    for (key, node), (x, y) in zip(found.nodes.items(), _places(found), strict=True):
        look = KINDS.get(Kind(node["kind"])) if node["kind"] else None
        colour = {"background": look.fill, "border": look.line} if look else None
        network.add_node(
            key, label=node["name"], title=f"{node['name']} {node['code']}", x=x, y=y, shape="box", color=colour
        )
    for edge in found.edges:
        stroke = stroke_of(edge["sign"], Modality(edge["modality"]), Polarity(edge["polarity"]))
        title = "\n".join(filter(None, (edge["wording"], edge.get("quote", ""), edge["last_day"])))
        options = {
            "label": edge["wording"],
            "title": title,
            "color": stroke.color,
            "dashes": list(stroke.dash) or False,
        }
        network.add_edge(edge["source"], edge["target"], **options)
    return network


def _places(found: GraphElements) -> list[tuple[float, float]]:
    """Return a position for each node: columns where the answer has layers, else a drawing by stress."""
    layers = [node["layer"] for node in found.nodes.values()]
    if len(set(layers)) > 1:
        rows = dict.fromkeys(layers, 0)
        places = []
        for layer in layers:
            places.append((float(layer * _COLUMN), float(rows[layer] * _SCALE // 2)))
            rows[layer] += 1
        return places
    number = {key: place for place, key in enumerate(found.nodes)}
    graph = igraph.Graph(len(number), [(number[edge["source"]], number[edge["target"]]) for edge in found.edges])
    circle = graph.layout_circle()
    return [(x * _SCALE, y * _SCALE) for x, y in graph.layout_kamada_kawai(seed=circle)]
