"""What changed between two days: links that appeared, vanished, changed sign or were contradicted."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from kg.model import Polarity
from kg.query.browse.conversions import GraphAnswer
from kg.query.history import family
from kg.query.resolve import resolve
from kg.query.session import spoken

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import date

    from kg.graph.edges import Edges
    from kg.model import Entity, Fact
    from kg.query.answers import EntityRef, Link
    from kg.query.session import QuerySession
    from kg.store.port import Triple

ChangeOfLink = Literal["appeared", "vanished", "turned", "contradicted"]
_EXAMINED = 2_000  # pairs of ends whose facts are read, those with the heaviest changes first
_READ_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class LinkChange:
    """One change; `link` is as of the later day, for `vanished` as of the earlier one.

    `turned` is a link whose sign is new between its ends; `contradicted` one that another fact opposes only now.
    """

    change: ChangeOfLink
    subject: EntityRef
    object: EntityRef
    link: Link


@dataclass(frozen=True, slots=True)
class DiffAnswer(GraphAnswer):
    """The changes after `since` until `until`, heaviest first; `omitted` counts pairs of ends that were not examined.

    `entity` limits them to an entity and what is about it.
    """

    since: date
    until: date | None
    entity: Entity | None
    changes: tuple[LinkChange, ...]
    omitted: int


def diff(session: QuerySession, since: date, *, name: str = "", limit: int = 50) -> DiffAnswer:
    """Return what changed between the end of a day and the day of the session.

    Raises:
        UnknownName: when no entity has this name.
    """
    before = session.earlier(since)
    entity = resolve(session, name) if name else None
    around = family(session, entity) if entity else None
    ranked = _changed(before, session, around)
    changes: list[LinkChange] = []
    examined = 0
    while examined < min(len(ranked), _EXAMINED) and len(changes) < limit:
        batch = ranked[examined : examined + _READ_AT_ONCE]
        examined += len(batch)
        old, new = _links(before, set(batch)), _links(session, set(batch))
        for triple in batch:
            changes += _compare(session, old.get(triple, []), new.get(triple, []))
    return DiffAnswer(since, session.view.as_of, entity, tuple(changes[:limit]), len(ranked) - examined)


def _changed(before: QuerySession, after: QuerySession, around: Collection[str] | None) -> list[Triple]:
    """Return the ends and relations whose live facts differ, heaviest change first."""
    edges = [(session, found := _edges(session, around), session.graph.facts_of(found)) for session in (before, after)]
    changed = set(edges[0][2]) ^ set(edges[1][2])
    weights: dict[Triple, float] = defaultdict(float)
    for session, found, facts in edges:
        names, relations = session.graph.entity_ids, session.graph.relation_names
        differ = found.take(np.fromiter((fact in changed for fact in facts), dtype=np.bool_, count=len(facts)))
        columns = (differ.source, differ.relation, differ.target, differ.weight)
        for source, relation, target, weight in zip(*(column.tolist() for column in columns), strict=True):
            weights[names[source], relations[relation], names[target]] += weight
    return sorted(weights, key=lambda triple: (-weights[triple], triple))


def _edges(session: QuerySession, around: Collection[str] | None) -> Edges:
    """Return the live edges of the base, or those at some entities."""
    edges = session.graph.edges()
    if around is None:
        return edges
    nodes = [index for entity in sorted(around) if (index := session.graph.index_of(entity)) is not None]
    return edges.take(np.isin(edges.source, nodes) | np.isin(edges.target, nodes))


def _links(session: QuerySession, triples: set[Triple]) -> dict[Triple, list[Link]]:
    """Return the affirmed links between these ends, one for each sign."""
    grouped: dict[tuple[Triple, int], list[Fact]] = defaultdict(list)
    live = [fact for fact in session.facts_between(triples) if not fact.superseded_by]
    for fact in session.confident(live):
        if fact.polarity is Polarity.POSITIVE:
            grouped[(fact.subject, fact.relation, fact.object), fact.sign].append(fact)
    links: dict[Triple, list[Link]] = defaultdict(list)
    for (triple, _), facts in sorted(grouped.items(), key=lambda item: item[0]):
        weight = sum(fact.witnesses * fact.confidence for fact in facts)
        links[triple].append(session.link(sorted(facts, key=spoken), weight))
    return links


def _compare(session: QuerySession, old: list[Link], new: list[Link]) -> list[LinkChange]:
    changes: list[LinkChange] = []
    signs = {link.sign: link for link in old}
    for link in new:
        known = signs.pop(link.sign, None)
        if known is None:
            changes.append(_change(session, "turned" if old else "appeared", link))
        elif link.contested and not known.contested:
            changes.append(_change(session, "contradicted", link))
    changes += [_change(session, "vanished", link) for link in signs.values()]
    return changes


def _change(session: QuerySession, change: ChangeOfLink, link: Link) -> LinkChange:
    subject, object_ = session.refs([link.source, link.target])
    return LinkChange(change, subject, object_, link)
