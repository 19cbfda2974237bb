"""One entity: its names, its facts by relation, and who stands around it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kg.query.answers import Node, ProfileAnswer
from kg.query.resolve import resolve
from kg.query.session import QuerySession, subgraph

if TYPE_CHECKING:
    from kg.model import Entity, Fact
    from kg.store.port import View

_PER_RELATION = 20


def profile(view: View | QuerySession, name: str) -> ProfileAnswer:
    """Return what is known of an entity: up to twenty links a relation, strongest first.

    Raises:
        UnknownName: when nothing in the view bears the name.
    """
    session = view if isinstance(view, QuerySession) else QuerySession(view)
    entity = resolve(session, name)
    return profile_of(session, entity)


def profile_of(session: QuerySession, entity: Entity) -> ProfileAnswer:
    """Return the profile of an entity that is known already."""
    by_relation = _by_relation(session, entity.id)
    links = [
        session.link(sorted(group, key=_newest), weight)
        for relation in session.words.relations
        for weight, group in _strongest(session, by_relation[relation])
    ]
    session.meet_all(end for link in links for end in (link.source, link.target))
    nodes = {entity.id: Node(entity, 0, 2.0 + len(links))}
    for link in links:
        other = link.target if link.source == entity.id else link.source
        known = session.known(other)
        if known and other not in nodes:
            nodes[other] = Node(known, 1 if link.source == entity.id else -1, link.weight)
    return ProfileAnswer(entity, tuple(links), subgraph(nodes.values(), links))


def _by_relation(session: QuerySession, entity_id: str) -> dict[str, list[Fact]]:
    """Return the live facts of an entity by relation, read at once."""
    ends = (session.view.facts(subject=entity_id), session.view.facts(object=entity_id))
    said = {fact.id: fact for facts in ends for fact in facts if not fact.superseded_by}
    found: dict[str, list[Fact]] = defaultdict(list)
    for fact in said.values():
        found[fact.relation].append(fact)
    return found


def _strongest(session: QuerySession, said: list[Fact]) -> list[tuple[float, list[Fact]]]:
    """Return the facts of one relation, grouped by what they link and say; a denial is a link of its own."""
    grouped: dict[tuple[str, str, int, str], list[Fact]] = defaultdict(list)
    for fact in session.confident(said):
        grouped[fact.subject, fact.object, fact.sign, fact.polarity].append(fact)
    weighed = [(sum(fact.witnesses * fact.confidence for fact in group), key) for key, group in grouped.items()]
    ranked = sorted(weighed, key=lambda row: (-row[0], row[1]))[:_PER_RELATION]
    return [(weight, grouped[key]) for weight, key in ranked]


def _newest(fact: Fact) -> tuple[int, str]:
    return -fact.last_published_on.toordinal(), fact.id
