"""Assign nodes to the columns of a left-to-right layout, and caption the columns."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx

from kg.model import Kind
from viz.wording import Lang, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kg.query.answers import ChainAnswer, ImpactAnswer, Link, Node, Path, Subgraph

_STAGE_RELATIONS = frozenset(("produces", "operates", "belongs_to"))
_MIN_COLUMNS = 2
_MAX_DEPTH_WITHIN_LAYER = 3  # limits the width of one layer
_UNPLACED = 99  # to the right of every layer


@dataclass(frozen=True, slots=True)
class SceneCaption:
    """A caption over the columns `first` … `last` (上游 / 中游 / 下游)."""

    text: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Columns:
    """Column of each entity id, counted from 0 at the left, and the captions."""

    of: Mapping[str, int]
    captions: tuple[SceneCaption, ...] = ()


def chain_columns(answer: ChainAnswer, lang: Lang) -> Columns:
    """Order each layer by its internal upstream links, so that 硅片 → 电池片 → 组件 run left to right within 中游.

    Stages whose position no source states stand in a column of their own at the right.
    """
    nodes = {node.entity.id: node for node in answer.graph.nodes}
    nodes |= {stage.node.entity.id: stage.node for layer in answer.layers for stage in layer.stages}
    hosted = {node.entity.id for layer in answer.layers for stage in layer.stages for node in stage.companies}
    free = {key: node for key, node in nodes.items() if key not in hosted}
    depth = _depth_within_layer(free, answer.graph.links)
    unplaced = {stage.node.entity.id for layer in answer.layers if not layer.placed for stage in layer.stages}
    columns = _dense(
        {key: (_UNPLACED, 0) if key in unplaced else (node.layer, depth[key]) for key, node in free.items()}
    )
    captions = [
        (word(layer.name, lang), [columns[stage.node.entity.id] for stage in layer.stages])
        for layer in answer.layers
        if layer.stages
    ]
    return Columns(columns, _captions(captions))


def impact_columns(answer: ImpactAnswer, lang: Lang) -> Columns:
    """Assign one column per step from the factor (or back from the effect)."""
    steps = {node.entity.id: node.layer for node in answer.graph.nodes}
    if not any(steps.values()):
        steps = _steps(answer.paths, steps)
        steps = steps if answer.forward else {key: -step for key, step in steps.items()}
    columns = _dense({key: (step, 0) for key, step in steps.items()})
    names = {column: _order_name(steps[key], forward=answer.forward, lang=lang) for key, column in columns.items()}
    return Columns(columns, tuple(SceneCaption(text, at, at) for at, text in sorted(names.items())))


def path_columns(nodes: Iterable[Node], paths: Sequence[Path], last: str) -> Columns:
    """Assign columns by shortest distance from the first entity, with the second always rightmost."""
    steps = _steps(paths, {node.entity.id: 0 for node in nodes})
    end = max((len(path.nodes) - 1 for path in paths), default=0)
    if last in steps and paths:
        steps = {key: min(step, end - 1) if key != last else end for key, step in steps.items()}
    return Columns(_dense({key: (step, 0) for key, step in steps.items()}))


def graph_columns(graph: Subgraph) -> Columns | None:
    """Assign columns by the nodes' layers; None if they have fewer than two."""
    nodes = {node.entity.id: node for node in graph.nodes}
    if len({node.layer for node in graph.nodes}) < _MIN_COLUMNS:
        return None
    depth = _depth_within_layer(nodes, graph.links)
    return Columns(_dense({key: (node.layer, depth[key]) for key, node in nodes.items()}))


def stages_in(graph: Subgraph) -> tuple[tuple[Node, tuple[Node, ...]], ...]:
    """Return the stages (products, industries) of a graph with their linked companies."""
    nodes = {node.entity.id: node for node in graph.nodes}
    companies_of: dict[str, dict[str, Node]] = defaultdict(dict)
    for link in graph.links:
        company, stage = nodes.get(link.source), nodes.get(link.target)
        if link.relation in _STAGE_RELATIONS and company and stage and company.entity.kind is Kind.COMPANY:
            companies_of[link.target][link.source] = company
    return tuple((node, tuple(companies_of[key].values())) for key, node in nodes.items() if key in companies_of)


def _order_name(step: int, *, forward: bool, lang: Lang) -> str:
    if step == 0:
        return word("factor" if forward else "effect", lang)
    return word("order_forward" if step > 0 else "order_back", lang, n=abs(step))


def _steps(paths: Sequence[Path], default: Mapping[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for path in paths:
        for position, key in enumerate(path.nodes):
            found[key] = min(position, found.get(key, position))
    return {key: found.get(key, step) for key, step in default.items()}


def _depth_within_layer(nodes: Mapping[str, Node], links: Iterable[Link]) -> dict[str, int]:
    chain: nx.DiGraph[str] = nx.DiGraph()
    chain.add_nodes_from(sorted(nodes))
    chain.add_edges_from(
        sorted(
            (link.source, link.target) for link in links if link.relation == "upstream_of" and _same_layer(link, nodes)
        )
    )
    condensed = nx.condensation(chain)
    depth: dict[int, int] = {}
    for component in nx.lexicographical_topological_sort(condensed):
        depth[component] = max((depth[before] + 1 for before in condensed.predecessors(component)), default=0)
    members: Mapping[str, int] = condensed.graph["mapping"]
    return {key: min(depth[members[key]], _MAX_DEPTH_WITHIN_LAYER) for key in nodes}


def _same_layer(link: Link, nodes: Mapping[str, Node]) -> bool:
    source, target = nodes.get(link.source), nodes.get(link.target)
    return source is not None and target is not None and source.layer == target.layer


def _dense(keys: Mapping[str, tuple[int, int]]) -> dict[str, int]:
    rank = {key: index for index, key in enumerate(sorted(set(keys.values())))}
    return {name: rank[key] for name, key in keys.items()}


def _captions(named: Sequence[tuple[str, Sequence[int]]]) -> tuple[SceneCaption, ...]:
    """Merge captions over overlapping columns, so that none are drawn on top of each other."""
    by_span: dict[tuple[int, int], list[str]] = defaultdict(list)
    for text, columns in sorted(named, key=lambda item: (min(item[1]), max(item[1]))):
        span = (min(columns), max(columns))
        before = max(by_span, default=None)
        if before is not None and span[0] <= before[1]:
            texts = by_span.pop(before)
            by_span[before[0], max(before[1], span[1])] = [*texts, text]
        else:
            by_span[span] = [text]
    return tuple(SceneCaption(" / ".join(texts), *span) for span, texts in sorted(by_span.items()))
