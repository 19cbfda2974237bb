"""Render a scene as a self-contained HTML page with vis-network; the page makes no network requests."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from kg.model import Kind, Modality, Polarity
from viz.layout.folding import MIN_SCALE, FoldedScene, pictures
from viz.layout.labels import FONT_PIXELS
from viz.layout.lines import lines_of
from viz.pages import Prose, as_json, render
from viz.palette import CONTESTED, KINDS, MINUS, NEGATED, NEUTRAL, PLUS, Stroke, sign_color, stroke_of
from viz.wording import Lang, word, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from viz.layout.labels import EdgeLabel
    from viz.scene import Scene, SceneEdge, SceneNode

_SCRIPTS: Final = ("shapes.js", "panel.js", "network.js")
_VIEWS: Final = ((930, 540), (1170, 810))
_VIEWS_BESIDE_TEXT: Final = ((780, 540), (970, 810))
"""Room for the graph in windows of 1280 × 720 and 1600 × 1000."""

_LABEL_INK: Final = {PLUS: "#a5310f", MINUS: "#17568f", NEUTRAL: "#55606f", NEGATED: "#7b8490"}

_OPTIONS: Final[dict[str, Any]] = {
    "physics": {"enabled": False},
    "layout": {"improvedLayout": False},
    "interaction": {
        "hover": True,
        "multiselect": False,
        "selectConnectedEdges": False,
        "tooltipDelay": 250,
        "zoomSpeed": 0.7,
        "keyboard": {"enabled": True, "bindToWindow": False},
    },
    "nodes": {"chosen": False},
    "edges": {
        "chosen": True,
        "hoverWidth": 1,
        "selectionWidth": 2,
        "arrows": {"to": {"enabled": True, "scaleFactor": 0.55}},
        "arrowStrikethrough": False,
    },
}

_SCRIPT_WORDS: Final = (
    *("search_none", "search_found", "back", "links", "members", "no_evidence", "page", "speaker", "untitled"),
    *("node_alone", "failed", "contested", "negated", "folded", "fold", "unfold", "figures", "pages_about"),
    *("pages_related", "open_source"),
    *(str(item) for item in (*Kind, *Modality)),
)


@dataclass(frozen=True, slots=True)
class Folder:
    """What a page in a folder of pages needs: its own file name, and the scripts in the folder."""

    file: str
    library: str
    manifest: str


def page(scene: Scene, *, lang: Lang = "zh", prose: Prose | None = None, folder: Folder | None = None) -> str:
    """Return the whole page.

    Args:
        scene: the graph; an empty one gives a page with a notice.
        lang: language of the page.
        prose: text shown in the panel until something is clicked (a theme's summary, an answer).
        folder: set for a page in a folder: the library is a file there, and pages link to each other.
    """
    views = pictures(scene, lang, _VIEWS_BESIDE_TEXT if prose else _VIEWS)
    data = _data(scene, views, lang=lang) | {"file": folder.file if folder else "", "about": scene.about}
    ours = "\n".join(_static(name) for name in _SCRIPTS)
    inlined = [] if folder or not scene.nodes else [library_script()]
    files_beside = [folder.manifest, folder.library] if folder else []
    return render(
        "network.html.j2",
        lang=lang,
        title=scene.title,
        scripts=[*inlined, ours] if scene.nodes else [],
        files=files_beside if scene.nodes else [],
        in_folder=folder is not None,
        scene=scene,
        prose=prose,
        data=as_json(data) if scene.nodes else "",
        entities=len({node.entity for node in scene.nodes}),
        folds=len(views) > 1,
        kinds=_kinds(scene),
        owners=len({group.entity for group in scene.figures}),
        lines=legend_lines(lang),
    )


def legend_lines(lang: Lang) -> list[dict[str, str]]:
    """Return the legend's line samples: colour by sign, dash by modality, negated and contested."""
    neutral = [(item, stroke_of(0, item, Polarity.POSITIVE)) for item in Modality if item is not Modality.ASSERTED]
    samples: list[tuple[str, Stroke, str]] = [
        ("plus", Stroke(PLUS), ""),
        ("minus", Stroke(MINUS), ""),
        ("neutral", Stroke(NEUTRAL), ""),
        *((str(item), stroke, "") for item, stroke in neutral),
        ("negated", stroke_of(0, Modality.ASSERTED, Polarity.NEGATIVE), ""),
        ("contested", Stroke(NEUTRAL), CONTESTED),
    ]
    return [
        {"text": word(key, lang), "color": stroke.color, "dash": " ".join(map(str, stroke.dash)), "halo": halo}
        for key, stroke, halo in samples
    ]


def _data(scene: Scene, views: Sequence[FoldedScene], *, lang: Lang) -> dict[str, Any]:
    number = {node.id: index for index, node in enumerate(scene.nodes)}
    return {
        "pictures": [_picture(view, scene, number) for view in views],
        "options": _OPTIONS,
        "members": [_member(node, number) for node in scene.nodes],
        "links": [_link(edge, number) for edge in scene.edges],
        "looks": {str(kind): asdict(look) for kind, look in KINDS.items()},
        "colors": {"plus": PLUS, "minus": MINUS, "contested": CONTESTED},
        "labelPixels": FONT_PIXELS,
        "minScale": MIN_SCALE,
        "words": words(_SCRIPT_WORDS, lang),
    }


def _picture(view: FoldedScene, whole: Scene, number: Mapping[str, int]) -> dict[str, Any]:
    """Return one view in vis-network's format; nodes and links have their numbers in the whole scene."""
    folds = (node.id for node in view.scene.nodes if node.hides)
    ids = {key: f"n{index}" for key, index in number.items()} | {key: f"f{at}" for at, key in enumerate(folds)}
    link_number = {id(edge): index for index, edge in enumerate(whole.edges)}
    links = [link_number[id(edge)] for edge in view.scene.edges]
    lines = lines_of(view.scene, view.placement, ids)
    marks = _marks(view.scene.edges, {node.id for node in view.scene.nodes if node.stage})
    nodes = [{"id": ids[node.id], **_shape(node, view, number, mark=marks.get(node.id))} for node in view.scene.nodes]
    point = {"label": " ", "shape": "dot", "size": 0, "borderWidth": 0, "chosen": False}
    nodes += [{"id": key, **point, "x": x, "y": y} for key, (x, y) in lines.bends.items()]
    return {
        "nodes": nodes,
        "edges": [{"arrows": "to", **edge, "link": links[edge["link"]]} for edge in lines.edges],
        "cards": [{"stage": ids[key], **asdict(box)} for key, box in view.placement.cards.items()],
        "labels": [
            {**_label(label, view.scene.edges[label.link]), "link": links[label.link]} for label in lines.labels
        ],
        "heads": [asdict(head) for head in view.placement.heads],
    }


def _shape(node: SceneNode, view: FoldedScene, number: Mapping[str, int], *, mark: SceneEdge | None) -> dict[str, Any]:
    box, face = view.placement.boxes[node.id], view.faces[node.id]
    stroke = stroke_of(0, mark.modality, mark.polarity) if mark else Stroke("")
    return {
        "label": node.label,
        "shape": "custom",
        "title": node.tip,
        "x": box.x,
        "y": box.y,
        "face": {
            "kind": str(node.kind),
            "lines": face.lines,
            "code": face.code,
            "row": face.row,
            "stage": f"n{number[node.stage]}" if node.stage else "",
            "width": box.width,
            "height": box.height,
            "size": node.size,
            "focus": node.focus,
            "direction": node.direction,
            "dash": stroke.dash,
            "faint": bool(mark and mark.polarity is Polarity.NEGATIVE),
            "contested": bool(mark and mark.contested),
            "hides": [number[key] for key in node.hides],
        },
    }


def _marks(edges: Iterable[SceneEdge], copies: set[str]) -> dict[str, SceneEdge]:
    """Return the link between each company and its stage; the company's outline shows the link's certainty."""
    marks: dict[str, SceneEdge] = {}
    for edge in edges:
        if edge.inside:
            for end in {edge.source, edge.target} & copies:
                marks.setdefault(end, edge)
    return marks


def _label(label: EdgeLabel, edge: SceneEdge) -> dict[str, Any]:
    stroke = stroke_of(edge.sign, edge.modality, edge.polarity)
    return {**asdict(label), "color": _LABEL_INK.get(stroke.color, _LABEL_INK[NEUTRAL])}


def _member(node: SceneNode, number: Mapping[str, int]) -> dict[str, Any]:
    return {
        "label": node.label,
        "kind": str(node.kind),
        "codes": node.codes,
        "tip": node.tip,
        "direction": node.direction,
        "entity": node.entity,
        "stage": number.get(node.stage),
        "first": number[node.entity] if node.entity in number else number[node.id],
    }


def _link(edge: SceneEdge, number: Mapping[str, int]) -> dict[str, Any]:
    return {
        "source": number[edge.source],
        "target": number[edge.target],
        "label": edge.label,
        "sign": edge.sign,
        "modality": "" if edge.modality is Modality.ASSERTED else str(edge.modality),
        "negated": edge.polarity is Polarity.NEGATIVE,
        "contested": edge.contested,
        "width": edge.width,
        "color": sign_color(edge.sign),
        "evidence": [{**asdict(item), "published_on": item.published_on.isoformat()} for item in edge.evidence],
    }


def _kinds(scene: Scene) -> Sequence[tuple[str, int]]:
    counts: dict[str, set[str]] = {str(kind): set() for kind in KINDS}
    for node in scene.nodes:
        counts[str(node.kind)].add(node.entity)
    return [(kind, len(entities)) for kind, entities in counts.items() if entities]


def library_script() -> str:
    """Return the drawing library, vis-network 9.1.2 (Apache-2.0 or MIT)."""
    text = _static("vis-network.min.js")
    # Keeps developer tools from requesting the source map.
    return text.replace("//# sourceMappingURL=vis-network.min.js.map", "")


def _static(name: str) -> str:
    return files(__package__).joinpath("static", name).read_text(encoding="utf-8")
