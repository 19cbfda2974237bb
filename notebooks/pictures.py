"""Pictures of the notebooks: Matplotlib with a Chinese font, as PNG whose bytes depend on their content alone."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Final

import matplotlib as mpl
import networkx as nx
import PIL.Image
from IPython.display import HTML, Image
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

if TYPE_CHECKING:
    from collections.abc import Collection

    from matplotlib.axes import Axes
    from pandas import DataFrame

    from kg.query.browse.conversions import GraphAnswer
    from liantu import ChainAnswer

FONTS: Final = ("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Micro Hei", "PingFang SC", "Microsoft YaHei")
LABELLED: Final = 16  # links; more would cover each other
INK, QUIET, RED, BLUE = "#1f2933", "#8a94a0", "#c0392b", "#2468a8"
FILLS: Final = {
    "company": "#e7effa",
    "product": "#eaf5ea",
    "business": "#eaf5ea",
    "industry": "#eaf5ea",
    "indicator": "#fdf3dc",
    "event": "#f8e6e4",
    "policy": "#f8e6e4",
}
KINDS: Final = {"company": "公司", "product": "产品、业务、行业", "indicator": "指标", "event": "事件、政策"}
LAYERS: Final = {"上游": "#eaf5ea", "中游": "#fdf3dc", "下游": "#e7effa"}


def new_figure(width: float, height: float, *, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure in inches and its axes, without a frame on top and right."""
    found = {font.name for font in font_manager.fontManager.ttflist}
    font = next((name for name in FONTS if name in found), "")
    if not font:
        raise SystemExit("no Chinese font; on Debian and Ubuntu: apt-get install fonts-noto-cjk")
    mpl.rcParams.update(
        {
            "font.family": font,
            "axes.unicode_minus": False,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": QUIET,
            "axes.titlelocation": "left",
            "axes.titlesize": 12,
            "text.color": INK,
        }
    )
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


def png(figure: Figure) -> Image:
    """Return a figure as a picture for the output of a cell."""
    drawn, small = BytesIO(), BytesIO()
    figure.savefig(drawn, format="png", dpi=100)
    # A palette is a third of the bytes; without metadata they do not depend on the version of Matplotlib.
    picture = PIL.Image.open(drawn).convert("RGB").quantize(96, dither=PIL.Image.Dither.NONE)
    picture.save(small, format="png", optimize=True)
    return Image(small.getvalue())


def table(frame: DataFrame) -> HTML:
    """Return a data frame as a table without its index, text to the left, and short cells on one line."""
    html = frame.replace(r"\n", "", regex=True).to_html(index=False, border=0, justify="left")
    html = re.sub(r"<td>([^<]{0,14})</td>", r'<td style="text-align: left; white-space: nowrap">\1</td>', html)
    html = re.sub(r"<(td|th)>", r'<\1 style="text-align: left">', html)
    return HTML(html)


def draw_chain(answer: ChainAnswer, *, stages: int = 9, companies: int = 3) -> Image:
    """Draw the stages of a chain in a column for each layer, with their strongest companies."""
    layers = [layer for layer in answer.layers if layer.stages]
    rows = max(min(len(layer.stages), stages) for layer in layers)
    figure, (axes,) = new_figure(11, 0.62 * rows + 0.9)
    axes.set(xlim=(0, len(layers)), ylim=(-rows - 0.1, 0.75))
    axes.axis("off")
    for column, layer in enumerate(layers):
        fill = LAYERS.get(layer.name, "#eeeeee")
        left_out = len(layer.stages) - stages
        axes.text(column + 0.03, 0.3, layer.name, size=14, weight="bold")
        if left_out > 0:
            axes.text(column + 0.95, 0.3, f"另有 {left_out} 个环节", size=9, color=QUIET, ha="right")
        for row, stage in enumerate(layer.stages[:stages]):
            names = [node.entity.name for node in stage.companies]
            more = f" 等 {len(names)} 家" if len(names) > companies else ""
            axes.add_patch(
                mpl.patches.FancyBboxPatch(
                    (column + 0.03, -row - 0.85),
                    0.9,
                    0.72,
                    boxstyle="round,pad=0,rounding_size=0.03",
                    mutation_aspect=8,
                    facecolor=fill,
                    edgecolor="#c8d0d8",
                )
            )
            axes.text(column + 0.06, -row - 0.36, stage.node.entity.name, size=11, weight="bold", va="center")
            said = "、".join(names[:companies]) + more if names else "（未提到公司）"
            axes.text(column + 0.06, -row - 0.66, said, size=9, va="center", color=INK if names else QUIET)
    return png(figure)


def draw_graph(
    answer: GraphAnswer, *, title: str = "", height: float = 6, only: Collection[str] | None = None
) -> Image:
    """Draw the graph of an answer, or the nodes `only`.

    Red links move together, blue ones in opposite directions; dashed ones are not simply asserted.
    """
    graph = answer.to_networkx()
    if only is not None:
        graph.remove_nodes_from([node for node in graph if node not in only])
    graph.remove_nodes_from([node for node, degree in list(graph.degree) if not degree])
    places = _places(graph)
    figure, (axes,) = new_figure(11, height)
    axes.axis("off")
    axes.set_title(title)
    said: dict[tuple[str, str], list[str]] = {}  # colours say what signed links mean
    for source, target, link in graph.edges(data=True):
        words = said.setdefault((source, target), [])
        arrow = FancyArrowPatch(
            places[source],
            places[target],
            arrowstyle="-|>",
            mutation_scale=11,
            shrinkA=16,
            shrinkB=16,
            connectionstyle=f"arc3,rad={0.08 + 0.06 * len(words)}",
            color={1: RED, -1: BLUE}.get(link["sign"], QUIET),
            linestyle="-" if link["modality"] == "asserted" else "--",
        )
        axes.add_patch(arrow)
        words.append("" if link["sign"] else link["wording"])
    for (source, target), words in said.items() if len(said) <= LABELLED else ():
        (x1, y1), (x2, y2) = places[source], places[target]
        axes.text((x1 + x2) / 2, (y1 + y2) / 2, "、".join(filter(None, words)), size=8, color=QUIET, ha="center")
    for node, data in graph.nodes(data=True):
        box = {"boxstyle": "round,pad=0.35", "facecolor": FILLS.get(data["kind"], "#f2f2f2"), "edgecolor": "#c8d0d8"}
        axes.text(*places[node], data["name"], size=10, ha="center", va="center", bbox=box)
    across, up = zip(*places.values(), strict=True)
    axes.set(xlim=(min(across) - 0.25, max(across) + 0.25), ylim=(min(up) - 0.12, max(up) + 0.12))
    drawn = {data["kind"] for _, data in graph.nodes(data=True)}
    keys = [Line2D([], [], marker="s", ls="", ms=9, color=FILLS[kind], mec="#c8d0d8", label=name)
            for kind, name in KINDS.items() if kind in drawn]  # fmt: skip
    signs = {link["sign"] for _, _, link in graph.edges(data=True)}
    keys += [Line2D([], [], color=colour, label=name)
             for sign, colour, name in ((1, RED, "同向"), (-1, BLUE, "反向")) if sign in signs]  # fmt: skip
    axes.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=len(keys), frameon=False)
    return png(figure)


def _places(graph: nx.MultiDiGraph[str]) -> dict[str, tuple[float, float]]:
    """Return a place for each node: columns by steps from the only source or by layer, else by stress."""
    layer_of = dict(graph.nodes(data="layer"))
    roots = [node for node, degree in graph.in_degree if not degree]
    if len(roots) == 1 and len(hops := nx.single_source_shortest_path_length(graph, roots[0])) == len(graph):
        layer_of = hops
    layers = sorted(set(layer_of.values()))
    if len(layers) < 2:
        plain = nx.Graph(graph)
        found = nx.kamada_kawai_layout(plain, pos=nx.circular_layout(plain), weight=None)
        return {node: (float(x), float(y)) for node, (x, y) in found.items()}
    places = {}
    for column, layer in enumerate(layers):
        nodes = [node for node in graph if layer_of[node] == layer]
        for row, node in enumerate(nodes):
            aside = 0.12 * (row % 2)  # links inside a column pass beside its names
            places[node] = (column + aside, (len(nodes) - 1) / 2 / len(nodes) - row / len(nodes))
    return places
