"""What several documents say, made one: evidence of a fact, names of an entity. Order of writing never matters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kg.model import Alias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from kg.model import Entity, Evidence, Fact


class StatedEntity(NamedTuple):
    """An entity as documents have it, with the (day, document) that say so first and last.

    The first speaks for it, described before implied; the last names it.
    """

    implied: bool
    first: tuple[date, str]
    last: tuple[date, str]
    entity: Entity


def unite(facts: Sequence[Fact]) -> Fact:
    """Return facts of one id as one, with all their evidence.

    The id leaves out how the claim was worded (scale 亿, precision of the period); the earliest evidence decides that,
    so that a later document cannot change how an earlier view shows it.
    """
    if len(facts) == 1:
        only = facts[0]
        return only if len(only.evidence) == 1 else replace(only, evidence=in_order(only.evidence))
    first = min(facts, key=lambda fact: (min(map(evidence_order, fact.evidence)), repr((fact.valid, fact.value))))
    return replace(first, evidence=in_order(item for fact in facts for item in fact.evidence))


def in_order(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Return distinct evidence in its one order."""
    return tuple(sorted(set(evidence), key=evidence_order))


def evidence_order(item: Evidence) -> tuple[object, ...]:
    """Order by day, document and place; the rest only breaks ties."""
    return (
        item.published_on,
        item.document,
        item.start,
        item.end,
        item.speaker,
        item.extractor,
        item.quote,
        item.confidence,
        item.recorded_at,
    )


def unite_entity(said: Iterable[StatedEntity]) -> Entity:
    """Return one entity from what visible documents say of it.

    The name is the latest document's (an issuer renamed is called as it is now), the kind the first's; other documents'
    names become aliases; aliases and codes are joined in order.
    """
    ordered = sorted(said, key=_said_order)
    entities = [item.entity for item in ordered]
    first = entities[0]
    if len(entities) == 1:
        return first
    aliases = dict.fromkeys(alias for entity in entities for alias in entity.aliases)
    described = [item for item in ordered if not item.implied] or ordered
    name = max(described, key=lambda item: (item.last, repr(item.entity))).entity.name
    known = {name, *(alias.name for alias in aliases)}
    aliases.update(dict.fromkeys(Alias(entity.name) for entity in entities if entity.name not in known))
    codes = dict.fromkeys(code for entity in entities for code in entity.codes)
    about = next((entity.about for entity in entities if entity.about), "")
    return replace(first, name=name, aliases=tuple(aliases), codes=tuple(codes), about=about)


def _said_order(item: StatedEntity) -> tuple[bool, tuple[date, str], str]:
    return item.implied, item.first, repr(item.entity)


def first_of_families(links: Iterable[tuple[str, str]], days: Mapping[str, date]) -> dict[str, str]:
    """Map each copied document to the first of its family, by day and id.

    Args:
        links: pairs of near-duplicates, in any direction.
        days: publication days of the visible documents; a link to any other document does not count, so a family
            that only a later document joins is still two families.
    """
    head: dict[str, str] = {}

    def root(document: str) -> str:
        while head.setdefault(document, document) != document:
            head[document] = head[head[document]]
            document = head[document]
        return document

    for one, other in links:
        if one in days and other in days:
            # The earlier root stays, so that the root of a family is its first document.
            first, later = sorted((root(one), root(other)), key=lambda document: (days[document], document))
            head[later] = first
    return {document: root(document) for document in list(head)}
