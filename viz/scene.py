"""Convert an answer to a scene: the content of a graph as plain data, without position or style."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Final

from kg.model import Kind, Modality, Polarity
from kg.query.answers import AskAnswer, ChainAnswer, ImpactAnswer, ProfileAnswer, RelateAnswer, ThemeAnswer
from viz.claims import SceneEvidence, evidence_of, label_of, leading
from viz.figures import FIGURE_RELATIONS, Figures, figures_of
from viz.layout.columns import (
    Columns,
    SceneCaption,
    chain_columns,
    graph_columns,
    impact_columns,
    path_columns,
    stages_in,
)
from viz.wording import Lang, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from kg.model import Entity
    from kg.query.answers import Link, Node, Path, Subgraph

Answer = ChainAnswer | ImpactAnswer | RelateAnswer | ProfileAnswer | ThemeAnswer | AskAnswer

MOST_NODES: Final = 300
"""Maximum number of nodes that stays readable; the weakest are left out with a notice."""

_SMALLEST_LABEL, _LABEL_RANGE, _FOCUS_LABEL = 13, 3, 17
_THINNEST, _WIDTH_RANGE = 1.4, 2.6
_ALIASES_IN_TIP = 5


@dataclass(frozen=True, slots=True)
class SceneNode:
    """One node. `entity` is the entity shown: a company on two stages of a chain has a node with its own `id` on each.

    `stage` is the id of the node it is listed under, `layer` its column from the left, `size` its label's font size in
    pixels, `rank` its place from the strongest, 0. A node that `hides` others stands for them while they are folded.
    """

    id: str
    label: str
    kind: Kind
    layer: int
    size: int
    codes: tuple[str, ...]
    direction: int
    tip: str
    entity: str
    stage: str = ""
    focus: bool = False
    rank: int = 0
    hides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SceneEdge:
    """One edge with its evidence. `inside` is set where places say it all and no line is drawn.

    That is so for a company listed under the stage it is linked to, and for a stage that belongs to its chain's topic.
    """

    source: str
    target: str
    label: str
    relation: str
    sign: int
    modality: Modality
    polarity: Polarity
    contested: bool
    width: float
    evidence: tuple[SceneEvidence, ...]
    inside: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """A complete graph; `notices` are messages the page must show: what was left out, or why it is empty.

    `about` are the ids of what the page is about, `figures` the measured facts, which are no part of the graph.
    """

    title: str
    subtitle: str
    as_of: date | None
    layered: bool
    nodes: tuple[SceneNode, ...]
    edges: tuple[SceneEdge, ...]
    notices: tuple[str, ...] = ()
    captions: tuple[SceneCaption, ...] = ()
    figures: tuple[Figures, ...] = ()
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Plan:
    title: str
    topic: str
    columns: Columns | None = None
    stages: tuple[tuple[Node, tuple[Node, ...]], ...] = ()
    focus: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()
    empty: str = ""


def scene_of(answer: Answer, *, as_of: date | None = None, lang: Lang = "zh", limit: int = MOST_NODES) -> Scene:
    """Return the scene of an answer.

    Args:
        answer: the answer to draw.
        as_of: the day the answer is valid for; None is the latest.
        lang: language of titles and claims.
        limit: maximum number of entities; the strongest (by score, then link weight) are kept.
    """
    plan = _plan(answer, lang)
    graph, measured = _without_figures(answer.graph, plan)
    known = _entities(graph, plan)
    ranks = _ranks(known, graph.links, plan, limit=limit)
    kept = {key: node for key, node in known.items() if key in ranks}
    nodes = tuple(replace(node, rank=ranks[node.entity]) for node in _placements(kept, plan, lang))
    names = {node.entity.id: node.entity.name for node in answer.graph.nodes} | _names(known, lang)
    edges = tuple(_edges(graph.links, nodes, names, lang=lang))
    if isinstance(answer, ChainAnswer):
        edges = tuple(replace(edge, inside=edge.inside or edge.relation == "belongs_to") for edge in edges)
    figures = figures_of(measured, names, lang)
    return Scene(
        title=plan.title,
        subtitle=_subtitle(kept, edges, plan, figures=figures, lang=lang),
        as_of=as_of,
        layered=plan.columns is not None,
        nodes=nodes,
        edges=edges,
        notices=_notices(kept, edges, plan, left=len(known) - len(kept) + graph.cut, lang=lang),
        captions=plan.columns.captions if plan.columns else (),
        figures=figures,
        about=plan.focus,
    )


def _without_figures(graph: Subgraph, plan: _Plan) -> tuple[Subgraph, tuple[Link, ...]]:
    """Return the graph without measured links and the nodes that only those connect, and the measured links."""
    measured = tuple(link for link in graph.links if link.relation in FIGURE_RELATIONS)
    links = tuple(link for link in graph.links if link.relation not in FIGURE_RELATIONS)
    connected = {end for link in links for end in (link.source, link.target)}.union(plan.focus)
    gone = {end for link in measured for end in (link.source, link.target)} - connected
    return replace(
        graph, nodes=tuple(node for node in graph.nodes if node.entity.id not in gone), links=links
    ), measured


def _names(known: Mapping[str, Node], lang: Lang) -> dict[str, str]:
    """Return each entity's name; namesakes get their kind, code or lack of a code behind it."""
    namesakes: dict[str, list[Entity]] = defaultdict(list)
    for node in known.values():
        namesakes[node.entity.name].append(node.entity)
    return {
        entity.id: f"{name}（{mark}）" if len(entities) > 1 and (mark := _mark(entity, entities, lang)) else name
        for name, entities in namesakes.items()
        for entity in entities
    }


def _mark(entity: Entity, namesakes: Sequence[Entity], lang: Lang) -> str:
    alike = [other for other in namesakes if other.kind is entity.kind]
    if len(alike) == 1:
        return word(entity.kind, lang)
    if sum(bool(other.codes) for other in alike) == 1 and entity.codes:
        return ""  # the code beside its name says which one it is
    return entity.codes[0] if entity.codes else word("no_code", lang)


def _plan(answer: Answer, lang: Lang) -> _Plan:
    match answer:
        case ChainAnswer():
            return _chain_plan(answer, lang)
        case ImpactAnswer():
            return _impact_plan(answer, lang)
        case RelateAnswer(first=first, second=second):
            columns = path_columns(answer.graph.nodes, answer.paths, second.id)
            title = word("title_relate", lang, a=first.name, b=second.name)
            ends = (first.id, second.id)
            empty = word("empty_path", lang, a=first.name, b=second.name)
            topic = f"{first.name}、{second.name}"
            return _Plan(title, topic, columns, focus=ends, paths=answer.paths, empty=empty)
        case ProfileAnswer(entity=entity):
            title = word("title_profile", lang, a=entity.name)
            return _Plan(title, entity.name, focus=(entity.id,))
        case ThemeAnswer(community=community):
            name = community.summary.title if community.summary else word("theme_unnamed", lang)
            return _Plan(name, name, focus=(community.id,))
        case AskAnswer(question=question, topic=topic):
            layers = graph_columns(answer.graph)
            return _Plan(question, topic or question, layers, stages_in(answer.graph) if layers else ())


def _chain_plan(answer: ChainAnswer, lang: Lang) -> _Plan:
    stages = tuple((stage.node, stage.companies) for layer in answer.layers for stage in layer.stages)
    return _Plan(
        title=word("title_chain", lang, a=answer.topic.name),
        topic=answer.topic.name,
        columns=chain_columns(answer, lang),
        stages=stages,
        focus=(answer.topic.id,),
    )


def _impact_plan(answer: ImpactAnswer, lang: Lang) -> _Plan:
    direction = _direction_word(answer, lang)
    name = answer.topic.name
    title = word("title_impact", lang, a=name, d=direction) if answer.forward else word("title_causes", lang, a=name)
    columns = impact_columns(answer, lang)
    return _Plan(
        title=title,
        topic=name,
        columns=columns,
        stages=stages_in(answer.graph),
        focus=(answer.topic.id,),
        paths=answer.paths,
    )


def _direction_word(answer: ImpactAnswer, lang: Lang) -> str:
    """Return the word for the factor's direction; an event or a policy occurs rather than rises."""
    happens = answer.topic.kind in {Kind.EVENT, Kind.POLICY}
    if answer.direction == 0 or (happens and answer.direction > 0):
        return ""
    return word("absent" if happens else {1: "up", -1: "down"}[answer.direction], lang)


def _entities(graph: Subgraph, plan: _Plan) -> dict[str, Node]:
    found = {node.entity.id: node for node in graph.nodes}
    for stage, companies in plan.stages:
        for node in (stage, *companies):
            found.setdefault(node.entity.id, node)
    return found


def _ranks(known: Mapping[str, Node], links: Iterable[Link], plan: _Plan, *, limit: int) -> dict[str, int]:
    """Return the ranks of the strongest entities: the topic, then paths in their order, then by score."""
    weight = dict.fromkeys(known, 0.0)
    for link in links:
        for end in (link.source, link.target):
            if end in weight:
                weight[end] += link.weight
    trail = {key: at for at, key in enumerate(dict.fromkeys(key for path in plan.paths for key in path.nodes))}
    order = sorted(
        known,
        key=lambda key: (key not in plan.focus, trail.get(key, len(trail)), -known[key].score, -weight[key], key),
    )
    return {key: rank for rank, key in enumerate(order[:limit])}


def _placements(kept: Mapping[str, Node], plan: _Plan, lang: Lang) -> Iterable[SceneNode]:
    """Yield every node: companies once under each of their stages, other entities once."""
    hosts: dict[str, list[str]] = {}
    stage_ids = {stage.entity.id for stage, _ in plan.stages}
    for stage, companies in plan.stages:
        if stage.entity.id not in kept:
            continue
        for company in companies:
            if company.entity.id in kept and company.entity.id not in stage_ids:
                hosts.setdefault(company.entity.id, []).append(stage.entity.id)
    columns = plan.columns.of if plan.columns else {}
    best = max((node.score for node in kept.values()), default=0.0)
    names = _names(kept, lang)
    for key, node in kept.items():
        shape = _shape(node, names[key], best=best, focus=key in plan.focus, lang=lang)
        stages = hosts.get(key, [])
        yield replace(shape, layer=columns.get(stages[0] if stages else key, 0), stage=stages[0] if stages else "")
        for other in stages[1:]:
            yield replace(shape, id=f"{key}@{other}", layer=columns.get(other, 0), stage=other)


def _shape(node: Node, name: str, *, best: float, focus: bool, lang: Lang) -> SceneNode:
    entity = node.entity
    share = sqrt(max(node.score, 0.0) / best) if best > 0 else 0.0
    return SceneNode(
        id=entity.id,
        label=name,
        kind=entity.kind,
        layer=0,
        size=_FOCUS_LABEL if focus else _SMALLEST_LABEL + round(_LABEL_RANGE * share),
        codes=entity.codes,
        direction=node.direction,
        tip=_tooltip(node, lang),
        entity=entity.id,
        focus=focus,
    )


def _tooltip(node: Node, lang: Lang) -> str:
    entity = node.entity
    head = " · ".join((entity.name, word(entity.kind, lang), *entity.codes))
    others = [alias.name for alias in entity.aliases if alias.name != entity.name]
    shown = list(dict.fromkeys(others))[:_ALIASES_IN_TIP]
    return "\n".join((head, "、".join(shown))) if shown else head


def _edges(
    links: Iterable[Link], nodes: Sequence[SceneNode], names: Mapping[str, str], *, lang: Lang
) -> Iterable[SceneEdge]:
    drawn = {node.id for node in nodes}
    stage_of = {node.id: node.stage for node in nodes}
    shown = [link for link in links if link.source in drawn and link.target in drawn]
    best = max((link.weight for link in shown), default=0.0)
    for link in shown:
        source, target, inside = _ends(link, drawn, stage_of)
        share = sqrt(max(link.weight, 0.0) / best) if best > 0 else 0.0
        fact = leading(link)
        yield SceneEdge(
            source=source,
            target=target,
            label=label_of(link),
            relation=link.relation,
            sign=link.sign,
            modality=fact.modality if fact else Modality.ASSERTED,
            polarity=fact.polarity if fact else Polarity.POSITIVE,
            contested=link.contested or len({fact.polarity for fact in link.facts}) > 1,
            width=round(_THINNEST + _WIDTH_RANGE * share, 2),
            evidence=evidence_of(link, names, lang),
            inside=inside,
        )


def _ends(link: Link, drawn: set[str], stage_of: Mapping[str, str]) -> tuple[str, str, bool]:
    """Attach a link between a company and one of its stages to the company's copy under that stage."""
    for company, stage in ((link.source, link.target), (link.target, link.source)):
        copy = company if stage_of.get(company) == stage else f"{company}@{stage}"
        if copy in drawn and stage_of.get(copy) == stage:
            return (copy, stage, True) if company == link.source else (stage, copy, True)
    return link.source, link.target, False


def _subtitle(
    kept: Mapping[str, Node], edges: Sequence[SceneEdge], plan: _Plan, *, figures: Sequence[Figures], lang: Lang
) -> str:
    rows = [row for group in figures for row in group.rows]
    quotes = sum(len(edge.evidence) for edge in edges) + sum(len(row.evidence) for row in rows)
    counts = word("subtitle", lang, nodes=len(kept), edges=len(edges), facts=quotes)
    before = word("subtitle_paths", lang, paths=len(plan.paths)) if plan.paths else ""
    return before + counts + (word("subtitle_figures", lang, figures=len(rows)) if rows else "")


def _notices(
    kept: Mapping[str, Node], edges: Sequence[SceneEdge], plan: _Plan, *, left: int, lang: Lang
) -> tuple[str, ...]:
    if not kept:
        return (plan.empty or word("empty_why", lang, a=plan.topic),)
    notices = []
    if left > 0:
        notices.append(word("cut", lang, kept=len(kept), left=left))
    if not edges:
        notices.append(word("lonely", lang))
    return tuple(notices)
