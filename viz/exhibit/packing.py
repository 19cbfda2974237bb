"""Pack facts with all that a browser needs to show them as of any day: ends, documents, supersessions, rivals.

A part is plain JSON with its own tables of entities and documents, so parts can be loaded in any order. What depends on
the as-of day is packed as a history (`[[day, what holds from then on], …]`), computed here by the rules of
kg/store/rules, so that the browser shows the view of a day without rules of its own and without look-ahead. Days are
numbers since 1970-01-01.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from kg.model import Polarity
from kg.relations import vocabulary
from kg.store.rules.contradiction import contradict, rivals_share_one_end
from kg.store.rules.merging import first_of_families
from kg.store.rules.superseding import superseded

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kg.model import Entity, Evidence, Fact
    from kg.relations import Vocabulary
    from kg.store.port import DocumentHead, Store, View

Part = dict[str, Any]
_EPOCH: Final = date(1970, 1, 1).toordinal()
_ID_DIGITS: Final = 12  # of a fact's 32: enough to tell a million facts apart
_MOST_RIVALS: Final = 8
_MOST_ALIASES: Final = 6
_LISTED: Final = "sec:"


def day_number(day: date) -> int:
    """Return a day as a number since 1970-01-01."""
    return day.toordinal() - _EPOCH


def short_id(fact_id: str) -> str:
    """Return the beginning of a fact's id, without its prefix."""
    return fact_id.removeprefix("fact:")[:_ID_DIGITS]


class Packing:
    """Packs the facts of one view of the latest day."""

    def __init__(self, store: Store, view: View) -> None:
        self._store, self._view = store, view
        self._names: dict[str, list[tuple[int, str]]] = {}
        self._copies: dict[str, tuple[str, ...]] = {}
        self.words: Vocabulary = vocabulary()
        self._relations = {name: index for index, name in enumerate(self.words.relations)}

    @cached_property
    def heads(self) -> dict[str, DocumentHead]:
        """All documents by id, by day."""
        return {head.id: head for head in self._view.documents()}

    @cached_property
    def days(self) -> list[date]:
        """The publication days, in order."""
        return sorted({head.published_on for head in self.heads.values()})

    def renamed(self, entities: Iterable[Entity]) -> dict[str, list[tuple[int, str]]]:
        """Return, for those of some entities whose name changed, the name from each day on.

        Only a listed company can: the id of any other entity is its name.
        """
        asked = {entity.id for entity in entities if entity.aliases and entity.id.startswith(_LISTED)}
        unknown = sorted(asked - self._names.keys())
        if unknown:
            first, last = 0, len(self.days) - 1
            self._names |= {identity: [] for identity in unknown}
            begin, end = self._named(unknown, first), self._named(unknown, last)
            for identity in unknown:
                if identity in begin:
                    self._names[identity].append((day_number(self.days[first]), begin[identity]))
            self._narrow(unknown, first, last, names=(begin, end))
        return {identity: self._names[identity] for identity in asked if len(self._names[identity]) > 1}

    def _named(self, ids: Collection[str], place: int) -> dict[str, str]:
        view = self._view.until(self.days[place])
        return {entity.id: entity.name for entity in view.entities(ids=ids)}

    def _narrow(
        self, ids: Collection[str], first: int, last: int, *, names: tuple[dict[str, str], dict[str, str]]
    ) -> None:
        """Find the days on which names change between two days, oldest first, by bisection.

        A name that is the same on both days is taken as unchanged: it was known before, so nothing shows too early.
        """
        begin, end = names
        changed = [identity for identity in ids if begin.get(identity) != end.get(identity)]
        if not changed:
            return
        if last - first == 1:
            for identity in changed:
                if identity in end:
                    self._names[identity].append((day_number(self.days[last]), end[identity]))
            return
        middle = (first + last) // 2
        half = self._named(changed, middle)
        self._narrow(changed, first, middle, names=(begin, half))
        self._narrow(changed, middle, last, names=(half, end))

    def copies(self, documents: Iterable[str]) -> dict[str, list[tuple[int, str]]]:
        """Return, for documents with copies, from each day on the document that counts for all of them."""
        links: list[tuple[str, str]] = []
        pending, met = sorted(documents), set[str]()
        while pending:
            document = pending.pop()
            if document in met:
                continue
            met.add(document)
            if document not in self._copies:
                reading = self._store.reading(document)
                self._copies[document] = reading.copies if reading else ()
            for other in self._copies[document]:
                if other in self.heads:
                    links.append((document, other))
                    pending.append(other)
        days = {end: self.heads[end].published_on for link in links for end in link}
        found: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for day in sorted(set(days.values())):
            visible = {document: other for document, other in days.items() if other <= day}
            for document, head in first_of_families(links, visible).items():
                if [each for _, each in found[document][-1:]] != [head]:
                    found[document].append((day_number(day), head))
        return {document: heads for document, heads in found.items() if heads != [(heads[0][0], document)]}

    def around(self, ids: Collection[str]) -> list[Fact]:
        """Return the facts with one of these ends, in id order."""
        found: dict[str, Fact] = {}
        for entity in sorted(ids):
            for fact in (*self._view.facts(subject=entity), *self._view.facts(object=entity)):
                found[fact.id] = fact
        return [found[identity] for identity in sorted(found)]

    def complete(self, facts: Iterable[Fact]) -> list[Fact]:
        """Return facts with all that may close or contradict them, in id order."""
        given = list(facts)
        found = {fact.id: fact for fact in self.with_rivals(given)}
        triples = {(fact.subject, fact.relation, fact.object) for fact in given}
        if triples:
            found |= {fact.id: fact for fact in self._view.facts(triples=triples)}
        return [found[identity] for identity in sorted(found)]

    def with_rivals(self, facts: Sequence[Fact]) -> list[Fact]:
        """Return all facts between some ends with those that compete with them from other ends, in id order."""
        found = {fact.id: fact for fact in facts}
        alone = {(f.subject, f.relation) for f in facts if rivals_share_one_end(f.relation, self.words)}
        for subject, relation in sorted(alone):
            found |= {fact.id: fact for fact in self._view.facts(subject=subject, relation=relation)}
        return [found[identity] for identity in sorted(found)]

    def part(self, facts: Sequence[Fact], *, histories: FactHistories | None = None) -> Part:
        """Pack facts; `histories` are those of all facts that may close or contradict them."""
        histories = histories or FactHistories(self.complete(facts), self.words)
        ends = sorted({end for fact in facts for end in (fact.subject, fact.object)})
        documents = sorted({item.document for fact in facts for item in fact.evidence if item.document in self.heads})
        place = {name: index for index, name in enumerate(ends)}
        rows = {name: index for index, name in enumerate(documents)}
        speakers = sorted({item.speaker for fact in facts for item in fact.evidence})
        said = {name: index for index, name in enumerate(speakers)}
        return {
            "entities": self.entities(ends),
            "documents": self._documents(documents),
            "copies": self.copies({item.document for fact in facts for item in fact.evidence if item.witness}),
            "speakers": speakers,
            "facts": [self._fact(fact, place, histories) for fact in facts],
            "evidence": [
                [_evidence(item, rows, said) for item in fact.evidence if item.document in rows] for fact in facts
            ],
        }

    def entities(self, ids: Sequence[str]) -> Part:
        """Pack what is shown of entities, in the order of the ids."""
        known = {entity.id: entity for entity in self._view.entities(ids=ids)}

        def of(identity: str) -> tuple[str, str, str, str]:
            entity = known.get(identity)
            if entity is None:
                return identity.partition(":")[2], identity.partition(":")[0], "", ""
            names = [alias.name for alias in entity.aliases if alias.name != entity.name]
            aliases = "、".join(dict.fromkeys(names[:_MOST_ALIASES]))
            return entity.name, entity.kind.value, entity.codes[0] if entity.codes else "", aliases

        columns = list(zip(*(of(identity) for identity in ids), strict=True)) or [(), (), (), ()]
        about = {identity: known[identity].about for identity in ids if identity in known and known[identity].about}
        return {
            "id": ids,
            "name": columns[0],
            "kind": columns[1],
            "code": columns[2],
            "aliases": columns[3],
            "about": about,
            "renamed": self.renamed(known.values()),
        }

    def _documents(self, ids: Sequence[str]) -> Part:
        heads = [self.heads[identity] for identity in ids]
        return {
            "id": ids,
            "title": [head.title for head in heads],
            "publisher": [head.publisher for head in heads],
            "day": [day_number(head.published_on) for head in heads],
            "url": [head.url for head in heads],
            "pages": {head.id: head.pages for head in heads if len(head.pages) > 1},
        }

    def _fact(self, fact: Fact, place: Mapping[str, int], histories: FactHistories) -> list[Any]:
        value, valid = fact.value, fact.valid
        measure = None
        if value:
            measure = [value.number, value.unit, value.scale, value.change, value.basis, value.high]
        # trailing empty columns are left out
        row: list[Any] = [
            short_id(fact.id),
            place[fact.subject],
            self._relations.get(fact.relation, -1),
            place[fact.object],
            fact.sign,
            int(fact.polarity is Polarity.NEGATIVE),
            fact.modality.value[0],
            measure,
            None if valid is None else [str(valid), *(edge and day_number(edge) for edge in (valid.start, valid.end))],
            dict(fact.qualifiers) or None,
            histories.supersessions.get(fact.id),
            histories.rivals.get(fact.id),
        ]
        while row[-1] is None:
            row.pop()
        return row


def _evidence(item: Evidence, rows: Mapping[str, int], said: Mapping[str, int]) -> list[Any]:
    return [rows[item.document], item.start, item.end, said[item.speaker], round(item.confidence, 3)]


class FactHistories:
    """Which facts are closed from which day on, and which contradict each other, in complete groups of facts.

    Attributes:
        supersessions: for each fact that is ever superseded `[[day, id of the closing fact or ""], …]`.
        rivals: for each fact the ids of those that cannot hold together with it, while both are visible and live.
    """

    def __init__(self, facts: Iterable[Fact], words: Vocabulary) -> None:
        self.supersessions: dict[str, list[tuple[int, str]]] = {}
        self.rivals: dict[str, list[str]] = {}
        groups: dict[tuple[str, ...], list[Fact]] = defaultdict(list)
        for fact in facts:
            if fact.relation in words.relations:
                one_end = rivals_share_one_end(fact.relation, words)
                groups[fact.subject, fact.relation, "" if one_end else fact.object].append(fact)
        for group in groups.values():
            if len(group) > 1:
                self._replay(group, words)
                self._compare(group, words)

    def _replay(self, group: Sequence[Fact], words: Vocabulary) -> None:
        # what nothing closes in the end may have been closed for a while, by what was restated later
        restated = any(len(fact.evidence) > 1 for fact in group)
        if not (restated or superseded(group, words)):
            return
        for day in sorted({item.published_on for fact in group for item in fact.evidence}):
            closed = superseded(_visible(group, day), words)
            for fact in group:
                past = self.supersessions.get(fact.id, [])
                by = short_id(closed[fact.id]) if fact.id in closed else ""
                if by != (past[-1][1] if past else ""):
                    self.supersessions.setdefault(fact.id, []).append((day_number(day), by))

    def _compare(self, group: Sequence[Fact], words: Vocabulary) -> None:
        for fact in group:
            others = (other for other in group if _may_contradict(fact, other, words))
            found = [short_id(other.id) for other, _ in zip(others, range(_MOST_RIVALS), strict=False)]
            if found:
                self.rivals[fact.id] = found


def _may_contradict(one: Fact, other: Fact, words: Vocabulary) -> bool:
    """Return whether two facts contradict each other on the last day or on the day of the later one."""
    if contradict(one, other, words):
        return True
    return contradict(one.with_evidence(one.evidence[:1]), other.with_evidence(other.evidence[:1]), words)


def _visible(group: Sequence[Fact], day: date) -> Iterator[Fact]:
    for fact in group:
        kept = tuple(item for item in fact.evidence if item.published_on <= day)
        if len(kept) == len(fact.evidence):
            yield fact
        elif kept:
            yield fact.with_evidence(kept)
