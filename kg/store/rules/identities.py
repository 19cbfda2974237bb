"""Apply judgements on entity identity at read time, so that revoking one restores the previous state exactly.

Stored documents are never rewritten. A view reads a document as if its names had been linked the way the visible
judgements decide: mentions, profiles and ends of facts get new entities, facts with new ends get new ids, and
everything else (merging of facts, superseding, names) is computed from that.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kg.errors import JudgementRefused
from kg.ids import fact_id, judgement_id, normal_name
from kg.judgement import OF_FACTS, Verdict
from kg.model import Alias, Entity, MentionStatus
from kg.store.rules.merging import unite
from kg.store.rules.validated import Profile, bare_entity, utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import date

    from kg.judgement import Judgement
    from kg.model import Evidence, Fact, Kind, Mention, Run
    from kg.relations import Vocabulary
    from kg.store.port import View
    from kg.store.rules.validated import Prepared

Moves = dict[str, dict[str, str]]  # entity → folded name → the entity that the name means instead


def in_force(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Return the judgements that no visible one revokes, revocations left out, ordered by recording time."""
    known = sorted(judgements, key=lambda item: (item.recorded_at, item.id))
    revoked = {item.subject for item in known if item.verdict is Verdict.REVOKE}
    return [item for item in known if item.verdict is not Verdict.REVOKE and item.id not in revoked]


def examined(judgement: Judgement, view: View) -> Judgement:
    """Validate a judgement and return it in UTC with its id; `view` must see the whole store.

    A judgement with an id comes from another store and is kept unchanged, even if this store lacks its entities.

    Raises:
        JudgementRefused: it refers to something unknown, merges two kinds, or has no effect.
    """
    if judgement.id:
        if judgement.id != judgement_id(judgement):
            raise JudgementRefused(f"{judgement.id} does not match the content of the judgement")
        return judgement
    checks = {Verdict.MERGE: _check_merge, Verdict.SPLIT: _check_split, Verdict.REVOKE: _check_revocation}
    checks |= dict.fromkeys(OF_FACTS, _check_fact)
    if not judgement.by.strip() or not judgement.why.strip():
        raise JudgementRefused("a judgement needs an author and a reason")
    if judgement.score is not None and not 0 <= judgement.score <= 1:  # also refuses NaN, which JSON cannot represent
        raise JudgementRefused(f"a score of {judgement.score} is outside 0 to 1")
    checks[judgement.verdict](judgement, view)
    timed = replace(
        judgement, recorded_at=utc(judgement.recorded_at), documents=tuple(sorted(set(judgement.documents)))
    )
    return replace(timed, id=judgement_id(timed))


def _check_merge(judgement: Judgement, view: View) -> None:
    one, other = _existing(judgement.subject, view), _existing(judgement.object, view)
    if one.kind is not other.kind:
        raise JudgementRefused(
            f"{judgement.subject} is a {one.kind} and {judgement.object} a {other.kind}: "
            "different kinds cannot be merged"
        )
    if one.id == other.id:
        raise JudgementRefused(f"{judgement.subject} and {judgement.object} are already one entity")


def _check_split(judgement: Judgement, view: View) -> None:
    whole = _existing(judgement.subject, view)
    other = view.entity(judgement.object)
    kind = other.kind if other else _kind_of(judgement.object)
    if kind is not whole.kind:
        raise JudgementRefused(f"{judgement.subject} is a {whole.kind} and {judgement.object} a {kind}")
    if judgement.object == judgement.subject:
        raise JudgementRefused(f"{judgement.subject} cannot be split from itself; choose another id")
    if other and other.id == whole.id:
        raise JudgementRefused(f"{judgement.object} is merged into {whole.id}; revoke that merge first")
    for document in judgement.documents:
        if view.document(document) is None:
            raise JudgementRefused(f"{document}: no such document in the knowledge base")
    names = {normal_name(name) for name in (whole.name, *(alias.name for alias in whole.aliases))}
    if normal_name(judgement.name) not in names:
        raise JudgementRefused(f"{judgement.subject} is not called {judgement.name}")


def _check_revocation(judgement: Judgement, view: View) -> None:
    known = {item.id: item for item in view.judgements()}
    target = known.get(judgement.subject)
    if target is None:
        raise JudgementRefused(f"{judgement.subject}: no such judgement; `liantu entity list` shows them")
    if target.verdict is Verdict.REVOKE:
        raise JudgementRefused(f"{judgement.subject} is a revocation; make a new judgement instead")
    if target.id not in {item.id for item in in_force(known.values())}:
        raise JudgementRefused(f"{judgement.subject} is already revoked")
    if judgement.published_on < target.published_on:
        raise JudgementRefused(
            f"{judgement.subject} takes effect on {target.published_on}; revoke it on that day or later"
        )


def _check_fact(judgement: Judgement, view: View) -> None:
    if next(view.facts(ids=[judgement.subject]), None) is None:
        raise JudgementRefused(f"{judgement.subject}: no such fact in the knowledge base")


def _existing(entity_id: str, view: View) -> Entity:
    found = view.entity(entity_id)
    if found is None:
        raise JudgementRefused(f"{entity_id}: no such entity in the knowledge base")
    return found


def _kind_of(entity_id: str) -> Kind:
    try:
        return bare_entity(entity_id).kind
    except ValueError:
        raise JudgementRefused(f"{entity_id}: not an id like product:碳酸锂") from None


@dataclass(frozen=True, slots=True)
class Identities:
    """The judgements of one view, prepared for application.

    Attributes:
        touched: every entity id that a judgement in force refers to; all others are as in the documents.
    """

    touched: frozenset[str]
    _merged: Mapping[str, str]
    _splits: tuple[Judgement, ...]
    _vocabulary: Vocabulary

    @staticmethod
    def of(judgements: Iterable[Judgement], vocabulary: Vocabulary) -> Identities:
        """Combine the visible judgements."""
        valid = [item for item in in_force(judgements) if item.verdict not in OF_FACTS]
        merged = _roots((item.subject, item.object) for item in valid if item.verdict is Verdict.MERGE)
        # The latest split of a name takes precedence, so splits are checked newest first.
        splits = tuple(item for item in reversed(valid) if item.verdict is Verdict.SPLIT)
        touched = frozenset(end for item in valid for end in (item.subject, item.object))
        return Identities(touched, merged, splits, vocabulary)

    def who(self, entity_id: str) -> str:
        """Return the current id of an entity."""
        return self._merged.get(entity_id, entity_id)

    def applied(self, reading: Prepared) -> Prepared:
        """Return a document with the judgements applied to its mentions, facts and profiles."""
        if not self.touched:
            return reading
        moves = self.moves_in(reading)
        mentions = tuple(self.mention(item, moves) for item in reading.mentions)
        facts = self._facts(reading, moves)
        moved = replace(reading, mentions=mentions, facts=facts)
        return replace(moved, profiles=tuple(self._profiles(reading, moves, moved)))

    def mention(self, mention: Mention, moves: Moves) -> Mention:
        """Return a mention with its current entity; `moves` are those of its document."""
        if not mention.entity:
            return mention
        current = self.who(_linked_entity(mention, moves))
        return mention if current == mention.entity else replace(mention, entity=current)

    def moves(self, document: str, day: date, entities: Iterable[str]) -> Moves:
        """Return which names of which entities mean another entity in one document."""
        found: Moves = {}
        for split in self._splits:
            if split.documents and document not in split.documents:
                continue
            if split.period is not None and not split.period.contains(day):
                continue
            for entity in entities:
                if self.who(entity) == self.who(split.subject):
                    found.setdefault(entity, {}).setdefault(normal_name(split.name), split.object)
        return found

    def run(self, run: Run) -> Run:
        """Return a weekly run whose communities contain the current entity ids."""
        if not self.touched:
            return run
        communities = tuple(
            replace(item, members=tuple(dict.fromkeys(map(self.who, item.members)))) for item in run.communities
        )
        return replace(run, communities=communities)

    def moves_in(self, reading: Prepared) -> Moves:
        """Return which names of which entities mean another entity in a stored document."""
        if not self._splits:
            return {}
        present = dict.fromkeys(profile.entity.id for profile in reading.profiles)
        return self.moves(reading.document.id, reading.document.published_on, present)

    def _facts(self, reading: Prepared, moves: Moves) -> tuple[Fact, ...]:
        moved: dict[str, list[Fact]] = defaultdict(list)
        for fact in reading.facts:
            for claim in self.claims(fact, reading, moves):
                moved[claim.id].append(claim)
        return tuple(unite(moved[identity]) for identity in sorted(moved))

    def claims(self, fact: Fact, reading: Prepared, moves: Moves) -> Iterator[Fact]:
        """Yield the current claims of a stored fact; it is split if its evidence refers to different entities."""
        parts: dict[tuple[str, str], list[Evidence]] = defaultdict(list)
        for item in fact.evidence:
            subject, object_ = (
                self.who(_entity_in_evidence(end, item, reading, moves)) for end in (fact.subject, fact.object)
            )
            parts[subject, object_].append(item)
        for (subject, object_), evidence in parts.items():
            if (subject, object_) == (fact.subject, fact.object):
                yield fact.with_evidence(evidence)
            elif subject != object_:  # a fact between two merged entities is dropped
                yield self._claim(replace(fact, subject=subject, object=object_), evidence)

    def _claim(self, fact: Fact, evidence: list[Evidence]) -> Fact:
        entry = self._vocabulary.relations.get(fact.relation)
        if entry and entry.symmetric and fact.subject > fact.object:
            fact = replace(fact, subject=fact.object, object=fact.subject)
        return replace(fact, id=fact_id(fact)).with_evidence(evidence)

    def _profiles(self, reading: Prepared, moves: Moves, moved: Prepared) -> Iterator[Profile]:
        """Yield the current profiles of a document; `moved` is the document with its mentions and facts updated."""
        described: set[str] = set()
        mentioned = {item.entity for item in _linked(reading)}
        named = {item.entity: Entity(item.entity, item.kind, item.text) for item in reversed(_linked(moved))}
        used = {*named, *(end for fact in moved.facts for end in (fact.subject, fact.object))}
        for profile in reading.profiles:
            entity = profile.entity
            taken = moves.get(entity.id, {})
            remaining = _without(entity, taken)
            # If all its names in this document mean other entities, it does not occur there.
            absent = remaining is None or (bool(taken) and entity.id in mentioned and self.who(entity.id) not in used)
            if remaining and not absent:
                yield self._with_current_ids(Profile(remaining, profile.implied))
                described.add(self.who(entity.id))
            for other in sorted({taken[name] for name in map(normal_name, _names(entity)) if name in taken}):
                name = next(name for name in _names(entity) if taken.get(normal_name(name)) == other)
                yield self._with_current_ids(Profile(Entity(other, entity.kind, name), profile.implied))
                described.add(self.who(other))
        for identity in sorted((used & self.touched) - described):
            yield Profile(named.get(identity) or bare_entity(identity), implied=True)

    def _with_current_ids(self, profile: Profile) -> Profile:
        """Return a profile with current ids; one that was merged into another entity does not determine its name."""
        entity = profile.entity
        identity, about = self.who(entity.id), self.who(entity.about)
        if (identity, about) == (entity.id, entity.about):
            return profile
        renamed = replace(entity, id=identity, about="" if about == identity else about)
        return Profile(renamed, profile.implied or identity != entity.id)


def _roots(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Map each merged entity to the representative of its class; merges may be chained in any order."""
    head: dict[str, str] = {}

    def root(entity: str) -> str:
        while entity in head:
            entity = head[entity]
        return entity

    for one, other in pairs:
        if root(one) != root(other):
            head[root(one)] = root(other)
    return {entity: root(entity) for entity in head}


def _linked(reading: Prepared) -> list[Mention]:
    return [item for item in reading.mentions if item.status is MentionStatus.LINKED]


def _linked_entity(mention: Mention, moves: Moves) -> str:
    if mention.status is not MentionStatus.LINKED:
        return mention.entity
    return moves.get(mention.entity, {}).get(normal_name(mention.text), mention.entity)


def _entity_in_evidence(entity: str, item: Evidence, reading: Prepared, moves: Moves) -> str:
    """Return the entity that a piece of evidence refers to; the old one if its names there are ambiguous."""
    taken = moves.get(entity)
    if not taken:
        return entity
    named = [m for m in _linked(reading) if m.entity == entity]
    inside = [m for m in named if m.start < item.end and item.start < m.end]
    names = {normal_name(m.text) for m in inside or named} or {
        normal_name(profile.entity.name) for profile in reading.profiles if profile.entity.id == entity
    }
    candidates = {taken.get(name, entity) for name in names}
    return candidates.pop() if len(candidates) == 1 else entity


def _names(entity: Entity) -> list[str]:
    return [entity.name, *(alias.name for alias in entity.aliases)]


def _without(entity: Entity, taken: Mapping[str, str]) -> Entity | None:
    """Return an entity without the names that mean other entities, or None if no name is left."""
    if not taken:
        return entity
    aliases: tuple[Alias, ...] = tuple(alias for alias in entity.aliases if normal_name(alias.name) not in taken)
    if normal_name(entity.name) not in taken:
        return replace(entity, aliases=aliases)
    if not aliases:
        return None
    return replace(entity, name=aliases[0].name, aliases=aliases[1:])
