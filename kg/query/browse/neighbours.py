"""Expand one entity: its strongest neighbours, and what is said between them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from kg.query.browse.conversions import GraphAnswer
from kg.query.resolve import resolve
from kg.query.session import spoken

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from kg.model import Fact, Value
    from kg.period import Period
    from kg.query.answers import EntityRef
    from kg.query.session import QuerySession
    from kg.store.port import Triple

Side = Literal["out", "in", "both"]
_MOST_EDGES = 20_000  # per relation and direction


@dataclass(frozen=True, slots=True)
class NeighbourFilter:
    """Which neighbours are wanted; empty tuples exclude nothing.

    `direction` is seen from the entity: `out` where it is the subject. A symmetric relation has no direction and always
    counts.
    """

    relations: tuple[str, ...] = ()
    direction: Side = "both"
    modalities: tuple[str, ...] = ()
    limit: int = 30


@dataclass(frozen=True, slots=True)
class NeighbourEdge:
    """All facts with the same ends, relation, sign, polarity and modality.

    `value` and `valid` are those of the first fact; `qualifiers` collects the values of all. `direction` is seen from
    the expanded entity.
    """

    source: str
    target: str
    relation: str
    wording: str
    direction: Side
    sign: int
    polarity: str
    modality: str
    confidence: float
    independent_sources: int
    first_day: date
    last_day: date
    valid: Period | None
    value: Value | None
    qualifiers: dict[str, tuple[str, ...]]
    contested: bool
    weak: bool
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NeighboursAnswer(GraphAnswer):
    """An entity and its strongest neighbours, each at least once an end of an edge.

    `omitted` counts further neighbours by the wanted relations and directions, `below` the facts left out because of
    their confidence.
    """

    entity: EntityRef
    nodes: tuple[EntityRef, ...]
    edges: tuple[NeighbourEdge, ...]
    omitted: int
    below: int


def neighbours(session: QuerySession, name: str, wanted: NeighbourFilter | None = None) -> NeighboursAnswer:
    """Return the neighbours of an entity, strongest first.

    Raises:
        UnknownName: when no entity has this name.
        UnknownRelation: when a relation is not in the vocabulary.
    """
    wanted = wanted or NeighbourFilter()
    session.words.check(wanted.relations)
    entity = resolve(session, name)
    ranked = list(_ranked(session, entity.id, wanted))
    shown: list[str] = []
    edges: list[NeighbourEdge] = []
    examined = 0
    while examined < len(ranked) and len(shown) < wanted.limit:
        batch = ranked[examined : examined + wanted.limit - len(shown)]
        examined += len(batch)
        found = _edges(session, entity.id, {triple for _, triples in batch for triple in triples}, wanted)
        shown += [other for other, _ in batch if other in found]
        edges += [edge for other, _ in batch for edge in found.get(other, ())]
    refs = session.refs([entity.id, *shown])
    return NeighboursAnswer(
        entity=refs[0],
        nodes=tuple(refs[1:]),
        edges=tuple(edges),
        omitted=len(ranked) - examined,
        below=session.below,
    )


def _ranked(session: QuerySession, entity: str, wanted: NeighbourFilter) -> Iterator[tuple[str, set[Triple]]]:
    """Yield the neighbours with the ends and relations of their edges, by weight."""
    index = session.index(entity)
    weights: dict[int, float] = defaultdict(float)
    triples: dict[int, set[tuple[int, int, int]]] = defaultdict(set)
    for direction, relations in _directions(session, wanted) if index is not None else ():
        found = session.graph.expand(np.array([index]), relations, direction, limit_per_node=_MOST_EDGES)
        columns = (found.source.tolist(), found.target.tolist(), found.relation.tolist(), found.weight.tolist())
        for source, target, relation, weight in zip(*columns, strict=True):
            other = target if direction == "out" else source
            weights[other] += weight
            triples[other].add((source, relation, target))
    names, relation_names = session.graph.entity_ids, session.graph.relation_names
    for other in sorted(weights, key=lambda node: (-weights[node], node)):
        yield names[other], {(names[s], relation_names[r], names[t]) for s, r, t in triples[other]}


def _directions(session: QuerySession, wanted: NeighbourFilter) -> Iterator[tuple[Literal["out", "in"], Sequence[str]]]:
    relations = wanted.relations or tuple(session.words.relations)
    for direction in ("out", "in"):
        either = wanted.direction in (direction, "both")
        yield direction, [name for name in relations if either or session.words[name].symmetric]


def _edges(
    session: QuerySession, entity: str, triples: set[Triple], wanted: NeighbourFilter
) -> dict[str, list[NeighbourEdge]]:
    """Return the edges by the neighbour; denials between the same ends are edges of their own."""
    grouped: dict[tuple[str, str, str, int, str, str], list[Fact]] = defaultdict(list)
    live = [fact for fact in session.facts_between(triples) if not fact.superseded_by]
    for fact in session.confident(live, weak=True):
        if not wanted.modalities or fact.modality in wanted.modalities:
            grouped[fact.subject, fact.relation, fact.object, fact.sign, fact.polarity, fact.modality].append(fact)
    edges: dict[str, list[NeighbourEdge]] = defaultdict(list)
    for key in sorted(grouped):
        edge = _edge(session, entity, sorted(grouped[key], key=spoken))
        edges[edge.target if edge.source == entity else edge.source].append(edge)
    return edges


def _edge(session: QuerySession, entity: str, facts: list[Fact]) -> NeighbourEdge:
    first, relation = facts[0], session.words[facts[0].relation]
    evidence = [item for fact in facts for item in fact.evidence]
    return NeighbourEdge(
        source=first.subject,
        target=first.object,
        relation=first.relation,
        wording=relation.wording[session.lang],
        direction="both" if relation.symmetric else "out" if first.subject == entity else "in",
        sign=first.sign,
        polarity=first.polarity.value,
        modality=first.modality.value,
        confidence=session.certainty(facts),
        independent_sources=len({item.witness or item.document for item in evidence}),
        first_day=min(item.published_on for item in evidence),
        last_day=max(item.published_on for item in evidence),
        valid=first.valid,
        value=first.value,
        qualifiers=_qualifiers(facts),
        contested=bool(session.against(facts)),
        weak=session.certainty(facts) < session.cut(first.relation),
        facts=tuple(fact.id for fact in facts),
    )


def _qualifiers(facts: Iterable[Fact]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for fact in facts:
        for name, value in fact.qualifiers:
            found[name][value] = None
    return {name: tuple(values) for name, values in sorted(found.items())}
