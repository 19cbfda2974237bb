"""Merge what several documents state: evidence of a fact, names of an entity. Independent of the writing order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kg.model import Alias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from kg.model import Entity, Evidence, Fact


class StatedEntity(NamedTuple):
    """An entity as described by documents, with the (day, document) of the first and last that describe it so.

    The first description determines the kind, explicit before implied; the last determines the name.
    """

    implied: bool
    first: tuple[date, str]
    last: tuple[date, str]
    entity: Entity


def unite(facts: Sequence[Fact]) -> Fact:
    """Merge facts with one id into one fact with all their evidence.

    The id does not cover the wording of the claim (scale 亿, precision of the period); the earliest evidence determines
    the wording, so that a later document cannot change an earlier view.
    """
    if len(facts) == 1:
        only = facts[0]
        return only if len(only.evidence) == 1 else replace(only, evidence=in_order(only.evidence))
    first = min(facts, key=lambda fact: (min(map(evidence_order, fact.evidence)), repr((fact.valid, fact.value))))
    return replace(first, evidence=in_order(item for fact in facts for item in fact.evidence))


def in_order(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Return distinct evidence in canonical order."""
    return tuple(sorted(set(evidence), key=evidence_order))


def evidence_order(item: Evidence) -> tuple[object, ...]:
    """Return a sort key: day, document and span; the rest only breaks ties."""
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


def unite_entity(stated: Iterable[StatedEntity]) -> Entity:
    """Merge the descriptions of one entity in visible documents.

    The name is from the latest document (a renamed issuer gets its current name), the kind from the first; the other
    documents' names become aliases; aliases and codes are united in order.
    """
    given = list(stated)
    if len(given) == 1:
        return given[0].entity
    ordered = sorted(given, key=_description_order)
    entities = [item.entity for item in ordered]
    first = entities[0]
    aliases = dict.fromkeys(alias for entity in entities for alias in entity.aliases)
    described = [item for item in ordered if not item.implied] or ordered
    name = max(described, key=lambda item: (item.last, repr(item.entity))).entity.name
    known = {name, *(alias.name for alias in aliases)}
    aliases.update(dict.fromkeys(Alias(entity.name) for entity in entities if entity.name not in known))
    codes = dict.fromkeys(code for entity in entities for code in entity.codes)
    about = next((entity.about for entity in entities if entity.about), "")
    return replace(first, name=name, aliases=tuple(aliases), codes=tuple(codes), about=about)


def _description_order(item: StatedEntity) -> tuple[bool, tuple[date, str], str]:
    return item.implied, item.first, repr(item.entity)


def first_of_families(links: Iterable[tuple[str, str]], days: Mapping[str, date]) -> dict[str, str]:
    """Map each document with copies to the first document of its family, by day and id.

    Args:
        links: pairs of near-duplicates, in either direction.
        days: publication days of the visible documents; links to other documents are ignored, so two families joined
            only by a later document stay separate.
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
