"""One entity: its names, its facts by relation, and who stands around it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from kg.model import Polarity
from kg.query.answers import Node, ProfileAnswer
from kg.query.resolve import resolve
from kg.query.session import QuerySession, spoken, subgraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg.graph.outlines import Claim, Outline
    from kg.model import Entity, Fact
    from kg.query.answers import Link
    from kg.store.port import View

_PER_RELATION = 20


def profile(view: View | QuerySession, name: str) -> ProfileAnswer:
    """Return what is known of an entity: up to twenty links a relation and end, by share, then the strongest first.

    Raises:
        UnknownName: when the name is unknown in the view.
    """
    session = view if isinstance(view, QuerySession) else QuerySession(view)
    entity = resolve(session, name)
    return profile_of(session, entity)


def profile_of(session: QuerySession, entity: Entity) -> ProfileAnswer:
    """Return the profile of an entity that is known already."""
    own = session.topics.ids(entity.id)
    strongest = [row for group in _by_relation(session, own) for row in _strongest(session, group)]
    session.read_facts({session.triple(ends) for _, (ends, _, _) in strongest})
    grouped = ((weight, _facts(session, claim)) for weight, claim in strongest)
    each = [session.link(sorted(facts, key=spoken), weight) for weight, facts in grouped if facts]
    links = _joined(session, entity.id, frozenset(own), each)
    links.sort(key=lambda link: (*group_of(session, entity.id, link), -_share(link)))  # the strongest of equals first
    session.meet_all(end for link in links for end in (link.source, link.target))
    nodes = {entity.id: Node(entity, 0, 2.0 + len(links))}
    for link in links:
        other = link.target if link.source == entity.id else link.source
        known = session.known(other)
        if known and other not in nodes:
            nodes[other] = Node(known, 1 if link.source == entity.id else -1, link.weight)
    return ProfileAnswer(entity, tuple(links), subgraph(nodes.values(), links))


def _joined(session: QuerySession, entity_id: str, own: frozenset[str], links: list[Link]) -> list[Link]:
    """Return the links of all names of a topic as those of one of them: who makes 生猪 also 布局 生猪养殖."""
    found: dict[tuple[str, str, str, int, bool], list[Link]] = defaultdict(list)
    for link in links:
        source, target = (entity_id if end in own else end for end in (link.source, link.target))
        if source != target:
            affirmed = link.facts[0].polarity is Polarity.POSITIVE
            found[source, target, link.relation, link.sign, affirmed].append(link)
    joined = []
    for (source, target, *_), same in found.items():
        facts = {fact.id: fact for link in same for fact in link.facts}
        weight = sum(link.weight for link in same)
        whole = same[0] if len(same) == 1 else session.link(sorted(facts.values(), key=spoken), weight)
        joined.append(replace(whole, source=source, target=target))
    return joined


def group_of(session: QuerySession, entity_id: str, link: Link) -> tuple[int, bool]:
    """Return the group of a link in a profile: its relation, and whether the entity is its object (its suppliers)."""
    order = list(session.words.relations)
    return order.index(link.relation), link.source != entity_id and not session.words[link.relation].symmetric


def _share(link: Link) -> float:
    """Return the largest share of revenue or cost that a link's facts give."""
    shares = (fact.qualifier(name) for fact in link.facts for name in ("revenue_share", "cost_share"))
    return max((float(share) for share in shares if share), default=0.0)


def _by_relation(session: QuerySession, own: Sequence[str]) -> list[list[Outline]]:
    """Return the live facts of the names of an entity by relation and end, in the order of the vocabulary."""
    nodes = {session.index(entity_id) for entity_id in own}
    found: dict[tuple[int, bool], list[Outline]] = defaultdict(list)
    said = {outline.id: outline for entity_id in own for outline in session.outlines_at(entity_id)}
    for outline in said.values():
        if outline.live:
            found[outline.ends[1], outline.ends[0] not in nodes].append(outline)
    return [found[group] for group in sorted(found)]


def _strongest(session: QuerySession, said: list[Outline]) -> list[tuple[float, Claim]]:
    """Return what the facts of one relation claim, the most witnessed first, weak ones last; a denial is a claim."""
    weights: dict[Claim, list[float]] = defaultdict(list)
    sure = {outline.claim for outline in session.sure(said)}
    for outline in session.sure(said, weak=True):
        weights[outline.claim].append(outline.witnesses * outline.confidence)
    ranked = sorted((claim not in sure, -sum(each), claim) for claim, each in weights.items())
    return [(-weight, claim) for _, weight, claim in ranked[:_PER_RELATION]]


def _facts(session: QuerySession, claim: Claim) -> list[Fact]:
    """Return the live facts that claim this."""
    ends, sign, affirmed = claim
    said = (fact for fact in session.facts_between({session.triple(ends)}) if not fact.superseded_by)
    return [fact for fact in said if fact.sign == sign and (fact.polarity is Polarity.POSITIVE) == affirmed]
