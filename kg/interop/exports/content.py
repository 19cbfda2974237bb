"""What an export reads of a base: one view, in a stable order, and facts grouped to edges."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from kg.ids import chunk_id, normal_name
from kg.messages.words import listed, noted, word
from kg.model import Chunk, Entity, Modality, Polarity
from kg.query.session import QuerySession, claimed
from kg.query.wording import claim_text
from kg.relations import vocabulary
from kg.store.rules.validated import bare_entity

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator
    from datetime import date, datetime

    from kg.messages.words import Lang
    from kg.model import Community, Document, Evidence, Fact
    from kg.store.port import DocumentHead, View

MEASURES = "measures"  # the edge from an indicator to what it measures, which no document states
MOST_SENTENCES = 12  # facts that one description words
_PIECE = 1200  # characters of a text unit, for documents that were stored without passages
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_QUOTES = str.maketrans("", "", "\"'“”‘’「」《》")
_TAG = re.compile(r"<[^>]*>")


class EdgeKey(NamedTuple):
    """What the facts of one edge share; facts of another sign, polarity or certainty are another edge."""

    subject: str
    relation: str
    object: str
    sign: int
    polarity: Polarity
    modality: Modality


class Known(NamedTuple):
    """The first and last publication day of something, and the instant from which the base had it."""

    first: date
    last: date
    known_from: datetime

    def merged(self, other: Known) -> Known:
        """Return the span of both."""
        return Known(min(self.first, other.first), max(self.last, other.last), min(self.known_from, other.known_from))


@dataclass(frozen=True, slots=True)
class FactEdge:
    """All facts of one `EdgeKey`, in id order."""

    key: EdgeKey
    facts: tuple[Fact, ...]

    @property
    def is_live(self) -> bool:
        """Whether any of its facts is not superseded."""
        return any(not fact.superseded_by for fact in self.facts)

    @property
    def sources(self) -> int:
        """Number of independent sources of all its facts."""
        return len({item.witness or item.document for fact in self.facts for item in fact.evidence})


class ExportContent:
    """One view of a base, read as often as a format needs it; the same view gives the same rows in the same order.

    Attributes:
        view: a view of one state of the base (`Store.reader`).
        words: the vocabulary.
        lang: the language of captions and descriptions.
    """

    def __init__(self, view: View, *, min_confidence: float = 0.0, lang: Lang = "zh") -> None:
        self.view, self.lang, self._everything = view, lang, not min_confidence
        self.words = vocabulary()
        self._session = QuerySession(view, min_confidence=min_confidence, lang=lang)

    def facts(self) -> Iterator[Fact]:
        """Yield the facts that support answers at the wanted confidence, in id order."""
        return (fact for fact in self.view.facts() if self._everything or claimed(fact) in self._sure)

    @cached_property
    def _sure(self) -> set[Hashable]:
        return self._session.sure_claims(self.view.facts())

    def certainty(self, facts: Iterable[Fact]) -> float:
        """Return the probability that one document at least was read right of facts that claim the same."""
        return self._session.certainty(facts)

    def counts(self) -> dict[str, int]:
        """Return how many documents, entities and facts an export has."""
        facts = sum(1 for _ in self.facts())
        return {"documents": len(self.documents()), "entities": len(self.entities), "facts": facts}

    @cached_property
    def touched(self) -> dict[str, Known]:
        """When each entity first and last took part in a fact."""
        found: dict[str, Known] = {}
        for fact in self.facts():
            seen = known(fact)
            for end in (fact.subject, fact.object):
                found[end] = found[end].merged(seen) if end in found else seen
        return found

    @cached_property
    def entities(self) -> dict[str, Entity]:
        """The entities of facts and themes by id, in id order, at confidence 0 all that are visible.

        An end of a fact that no document describes goes by its id.
        """
        wanted = {*self.touched, *(member for _, theme in self.themes() for member in theme.members)}
        every = self.view.entities()
        described = {entity.id: entity for entity in every if self._everything or entity.id in wanted}
        missing = {end: bare_entity(end) for end in self.touched.keys() - described.keys()}
        return dict(sorted((described | missing).items()))

    @cached_property
    def titles(self) -> dict[str, str]:
        """One name per entity, for formats that know entities by name alone: 锂（产品）, 锂（行业）.

        A listed company keeps its plain name.
        """
        counts = Counter(folded_name(entity.name) for entity in self.entities.values())
        titles, taken = {}, set()
        for entity in sorted(self.entities.values(), key=lambda each: (not each.codes, each.id)):
            name, folded = plain(entity.name).strip(), folded_name(entity.name)
            shared = counts[folded] > 1 and (not entity.codes or folded in taken)
            if shared or not folded or folded.isdecimal():
                name += noted(self.kind(entity), self.lang)
            if folded_name(name) in taken:
                name = f"{name} {entity.id}"
            taken.add(folded_name(name))
            titles[entity.id] = name
        return titles

    def edges(self) -> list[FactEdge]:
        """Return the facts grouped to edges, in the order of their keys."""
        groups: dict[EdgeKey, list[Fact]] = defaultdict(list)
        for fact in self.facts():
            groups[edge_key(fact)].append(fact)
        return [FactEdge(key, tuple(facts)) for key, facts in sorted(groups.items())]

    @cached_property
    def around(self) -> dict[str, list[FactEdge]]:
        """The live edges at each entity, those with most sources first; measured edges come last."""
        around: dict[str, list[FactEdge]] = defaultdict(list)
        measured = set(self.words.of_family("measured"))
        live = (edge for edge in self.edges() if edge.is_live)
        for edge in sorted(live, key=lambda each: (each.key.relation in measured, -each.sources, each.key)):
            for end in dict.fromkeys((edge.key.subject, edge.key.object)):
                around[end].append(edge)
        return around

    def measures(self) -> Iterator[tuple[str, str]]:
        """Yield each indicator with what it measures: the price of a product, the margin of a company."""
        return ((each.id, each.about) for each in self.entities.values() if each.about in self.entities)

    def documents(self) -> list[DocumentHead]:
        """Return the documents by day and id."""
        return list(self._heads.values())

    @cached_property
    def _heads(self) -> dict[str, DocumentHead]:
        return {head.id: head for head in self.view.documents()}

    def themes(self) -> list[tuple[date, Community]]:
        """Return the themes of the newest visible week with its day, the coarsest level first, ordered by id."""
        run = self.view.run()
        if run is None:
            return []
        return [(run.as_of, item) for item in sorted(run.communities, key=lambda each: (each.level, each.id))]

    def passages(self, document: Document) -> list[Chunk]:
        """Return the passages of a document; one stored without any (an imported graph) is cut at line ends."""
        return self.view.chunks(document.id) or list(_pieces(document))

    def text(self, fact: Fact) -> str:
        """Return a fact as a sentence."""
        return plain(claim_text(self._session, fact))

    def description(self, identity: str) -> str:
        """Return an entity as a text: kind, codes, other names, what it measures, then its best witnessed facts."""
        entity = self.entities[identity]
        names = (alias.name for alias in entity.aliases if alias.name != entity.name)
        about = [word("export.measures", self.lang, thing=self.name(entity.about))] if entity.about else []
        who = listed([self.kind(entity), *entity.codes, *dict.fromkeys(names), *about], self.lang)
        facts = [self.text(edge.facts[0]) for edge in self.around.get(identity, ())[:MOST_SENTENCES]]
        return plain(word("sentences", self.lang).join([who, *facts]))

    def sourced(self, fact: Fact) -> str:
        """Return a fact as a sentence with its sign and its best source: who, when, where, in which words."""
        source = word("sentences", self.lang).join([*self.sign(fact.sign), self.quoted(fact)])
        return f"{self.text(fact)}{noted(source, self.lang)}"

    def sign(self, sign: int) -> list[str]:
        """Return the word for a sign: 同向, 反向, or none."""
        return [word(f"export.sign.{'up' if sign > 0 else 'down'}", self.lang)] if sign else []

    def quoted(self, fact: Fact) -> str:
        """Return the best source of a fact: the quote and where it stands."""
        best = best_evidence((fact,))
        who = [best.speaker] if best.speaker and best.speaker != self._heads[best.document].publisher else []
        where = listed([*who, self.source(best.document)], self.lang)
        return plain(f"{where}{word('colon', self.lang)}{word('quoted', self.lang, text=best.quote)}")

    def source(self, document: str) -> str:
        """Return a document's day, publisher and title, as one name without a slash: LightRAG keeps file names."""
        head = self._heads[document]
        return plain(" ".join(filter(None, (str(head.published_on), head.publisher, head.title)))).replace("/", "／")

    def name(self, entity_id: str) -> str:
        """Return the name of an entity, also of one that no fact of the export has."""
        known = self.entities.get(entity_id)
        return known.name if known else self._session.name(entity_id)

    def wording(self, relation: str, *, inverse: bool = False) -> str:
        """Return the wording of a relation in the language of the export."""
        known = self.words.relations.get(relation)
        return relation if known is None else (known.inverse if inverse else known.wording)[self.lang]

    def kind(self, entity: Entity) -> str:
        """Return the name of an entity's kind in the language of the export."""
        return self.words.kinds[entity.kind][self.lang]

    def caption(self, key: EdgeKey) -> str:
        """Return the label of an edge in a drawing: 影响 −（预测）."""
        sign = {1: " +", -1: " −"}.get(key.sign, "")
        certainty = "" if key.modality is Modality.ASSERTED else word(f"modality.{key.modality}", self.lang)
        denied = word("denied", self.lang) if key.polarity is Polarity.NEGATIVE else ""
        return f"{self.wording(key.relation)}{sign}{certainty}{denied}"


def edge_key(fact: Fact) -> EdgeKey:
    """Return the key of the edge that a fact belongs to."""
    return EdgeKey(fact.subject, fact.relation, fact.object, fact.sign, fact.polarity, fact.modality)


def known(fact: Fact) -> Known:
    """Return when a fact was published and recorded."""
    return Known(fact.published_on, fact.last_published_on, min(item.recorded_at for item in fact.evidence))


def best_evidence(facts: Iterable[Fact]) -> Evidence:
    """Return the surest evidence of some facts, the newest of equals."""
    return min(
        (item for fact in facts for item in fact.evidence),
        key=lambda item: (-item.confidence, -item.published_on.toordinal(), item.document, item.start),
    )


def plain(text: str) -> str:
    r"""Drop the control characters that no text format can hold (XML 1.0 §2.2).

    >>> plain("锂\x00电\n池")
    '锂电\n池'
    """
    return _CONTROL.sub("", text)


def folded_name(name: str) -> str:
    """Fold a name harder than any target does, so that two titles never become one there."""
    return normal_name(_TAG.sub("", plain(name)).translate(_QUOTES))


def _pieces(document: Document) -> Iterator[Chunk]:
    start = 0
    while start < len(document.text):
        end = min(start + _PIECE, len(document.text))
        line_end = document.text.rfind("\n", start + 1, end) + 1
        end = line_end if 0 < line_end < end < len(document.text) else end
        identity = chunk_id(document.id, start, end)
        yield Chunk(identity, document.id, start, end, document.text[start:end], page=document.page_of(start))
        start = end
