"""Export a scene as a plain pyvis network, for those who build on pyvis; the page makes no network requests.

pyvis's own template loads Bootstrap from a CDN even where it inlines the rest, so the page is rendered with ours.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from kg.errors import KgError
from kg.model import Polarity
from viz.layout.folding import pictures
from viz.network import library_script
from viz.pages import as_json, render
from viz.palette import KINDS, stroke_of

if TYPE_CHECKING:
    from pyvis.network import Network

    from viz.scene import Scene, SceneEdge, SceneNode
    from viz.wording import Lang

_VIEW: Final = ((1170, 810),)
_SHAPE: Final = "box"
_START: Final = """"use strict";
{
  const { nodes, edges, options } = JSON.parse(document.getElementById("data").textContent);
  new vis.Network(document.getElementById("network"), { nodes, edges }, options);
}"""


def pyvis_network(scene: Scene, lang: Lang = "zh") -> Network:
    """Return a scene as a pyvis network with fixed positions; nodes are keyed by id, so namesakes stay apart.

    Raises:
        KgError: if pyvis is not installed.
    """
    try:
        from pyvis.network import Network  # noqa: PLC0415 -- an extra
    except ModuleNotFoundError as missing:
        raise KgError(f"{missing.name} is not installed; run `pip install 'liantu[pyvis]'`") from missing
    network = Network(height="100%", width="100%", directed=True, heading="")
    network.set_options('{"physics": {"enabled": false}, "interaction": {"hover": true}}')
    boxes = pictures(scene, lang, _VIEW)[-1].placement.boxes
    for node in scene.nodes:
        box = boxes[node.id]
        network.add_node(node.id, **_node(node), x=box.x, y=box.y)
    for edge in scene.edges:
        network.add_edge(edge.source, edge.target, **_edge(edge))
    return network


def plain_page(scene: Scene, *, lang: Lang = "zh") -> str:
    """Return a self-contained page with a scene as a pyvis network."""
    nodes, edges, _, _, _, options = pyvis_network(scene, lang).get_network_data()
    return render(
        "pyvis.html.j2",
        lang=lang,
        title=scene.title,
        scripts=[library_script(), _START],
        data=as_json({"nodes": nodes, "edges": edges, "options": json.loads(options)}),
    )


def _node(node: SceneNode) -> dict[str, Any]:
    look = KINDS[node.kind]
    return {
        "label": "\n".join((node.label, *node.codes[:1])),
        "title": node.tip,
        "shape": _SHAPE,
        "color": {"background": look.fill, "border": look.line},
        "font": {"size": node.size},
    }


def _edge(edge: SceneEdge) -> dict[str, Any]:
    stroke = stroke_of(edge.sign, edge.modality, edge.polarity)
    sign = {1: "＋", -1: "－"}.get(edge.sign, "")
    denied = "✕" if edge.polarity is Polarity.NEGATIVE else ""
    quote = edge.evidence[0].quote if edge.evidence else ""
    return {
        "label": f"{denied}{edge.label}{sign}",
        "title": quote,
        "color": stroke.color,
        "dashes": list(stroke.dash) or False,
        "width": edge.width,
        "font": {"size": 12},
    }
