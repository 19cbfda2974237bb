"""Distinguish people of one name by the company that a document connects them with.

张伟 of one company is not 张伟 of another: where a post or a deed connects a person with one company, the person is
identified within it. Within one document a name is one person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from extraction.text.lexicon import phrases
from kg.ids import entity_id
from kg.model import Alias, Entity, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from extraction.sentence import AnnotatedSentence, Claim, EntityMention

_PHRASES = phrases("names/persons")
_POST, _OWN_POST, _DEED = _PHRASES["post"], _PHRASES["own_post"], _PHRASES["deed"]


def firms_of_persons(
    sentences: Iterable[AnnotatedSentence], claims: Sequence[tuple[Claim, AnnotatedSentence]]
) -> dict[str, EntityMention]:
    """Return the company of each person of a document that has one, by the person's id."""
    found: dict[str, EntityMention] = {}
    for sentence in sentences:
        for person in sentence.refs:
            if person.kind == Kind.PERSON and (firm := _stated_firm(sentence, person)) is not None:
                found.setdefault(person.entity, firm)
    for claim, _ in claims:
        for person, other in ((claim.subject, claim.object), (claim.object, claim.subject)):
            if person.kind == Kind.PERSON and other.kind == Kind.COMPANY:
                found.setdefault(person.entity, other)
    return found


def within_firm(ref: EntityMention, firms: Mapping[str, EntityMention]) -> EntityMention:
    """Return a person as the one of the company, any other mention as it is."""
    firm = firms.get(ref.entity)
    if firm is None or ref.kind != Kind.PERSON:
        return ref
    name = f"{ref.name}（{firm.name}）"
    return structs.replace(ref, entity=f"{entity_id(Kind.PERSON, ref.name)}@{firm.entity.partition(':')[2]}", name=name)


def claim_within_firms(claim: Claim, firms: Mapping[str, EntityMention]) -> Claim:
    """Return a claim with its persons identified."""
    if Kind.PERSON not in (claim.subject.kind, claim.object.kind):
        return claim
    named = tuple((start, end, within_firm(ref, firms)) for start, end, ref in claim.named)
    subject, object_ = within_firm(claim.subject, firms), within_firm(claim.object, firms)
    return structs.replace(claim, subject=subject, object=object_, named=named)


def entities_of_persons(refs: Iterable[EntityMention]) -> dict[str, Entity]:
    """Return the persons that are identified within a company, with their plain name as an alias."""
    return {
        ref.entity: Entity(ref.entity, Kind.PERSON, ref.name, (Alias(ref.name.partition("（")[0]),))
        for ref in refs
        if ref.kind == Kind.PERSON and "@" in ref.entity
    }


def _stated_firm(sentence: AnnotatedSentence, person: EntityMention) -> EntityMention | None:
    """Return the company that a sentence connects a person with: 甲公司董事长张伟, 张伟减持甲公司."""
    firms = [ref for ref in sentence.refs if ref.kind == Kind.COMPANY and ref.start >= 0]
    before = [ref for ref in firms if ref.end <= person.start]
    if before and _POST.fullmatch(sentence.text, before[-1].end, person.start):
        return before[-1]
    after = [ref for ref in firms if ref.start >= person.end]
    if after and _DEED.fullmatch(sentence.text, person.end, after[0].start):
        return after[0]
    own = sentence.subject
    if own is not None and own.kind == Kind.COMPANY and _OWN_POST.search(sentence.text, 0, person.start):
        return own
    return None
