"""One entity: its names, its facts by relation, and who stands around it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kg.query.answers import Node, ProfileAnswer
from kg.query.lens import Lens, subgraph
from kg.query.resolve import resolve

if TYPE_CHECKING:
    from kg.model import Entity, Fact
    from kg.query.answers import Link
    from kg.store.port import View

_PER_RELATION = 20


def profile(view: View | Lens, name: str) -> ProfileAnswer:
    """Return what is known of an entity: up to twenty links a relation, strongest first.

    Raises:
        UnknownName: when nothing in the view bears the name.
    """
    lens = view if isinstance(view, Lens) else Lens(view)
    entity = resolve(lens, name)
    return profile_of(lens, entity)


def profile_of(lens: Lens, entity: Entity) -> ProfileAnswer:
    """Return the profile of an entity that is known already."""
    facts = {fact.id: fact for end in ("subject", "object") for fact in _facts(lens, entity.id, end)}
    grouped: dict[tuple[str, str, str, int], list[Fact]] = defaultdict(list)
    for fact in facts.values():
        grouped[fact.subject, fact.relation, fact.object, fact.sign].append(fact)
    links = [lens.link(sorted(group, key=_newest), _weight(group)) for group in grouped.values()]
    chosen = _strongest(links)
    nodes = {entity.id: Node(entity, 0, 2.0 + len(chosen))}
    for link in chosen:
        other = link.target if link.source == entity.id else link.source
        known = lens.view.entity(other)
        if known and other not in nodes:
            nodes[other] = Node(known, 1 if link.source == entity.id else -1, link.weight)
    return ProfileAnswer(entity, tuple(chosen), subgraph(lens, nodes.values(), chosen))


def _facts(lens: Lens, entity_id: str, end: str) -> list[Fact]:
    found = lens.view.facts(subject=entity_id) if end == "subject" else lens.view.facts(object=entity_id)
    return [fact for fact in found if not fact.superseded_by]


def _newest(fact: Fact) -> tuple[int, str]:
    return -fact.last_published_on.toordinal(), fact.id


def _weight(facts: list[Fact]) -> float:
    return round(sum(fact.witnesses * fact.confidence for fact in facts), 4)


def _strongest(links: list[Link]) -> list[Link]:
    by_relation: dict[str, list[Link]] = defaultdict(list)
    for link in sorted(links, key=lambda link: (-link.weight, link.source, link.target)):
        if len(by_relation[link.relation]) < _PER_RELATION:
            by_relation[link.relation].append(link)
    return [link for relation in sorted(by_relation) for link in by_relation[relation]]
