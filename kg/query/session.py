"""What every question works with: a view, the snapshot compiled from it, and links with their citations."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from math import prod
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from kg.graph.outlines import Outline, doubts_of
from kg.graph.snapshot import Snapshot
from kg.model import Entity, Modality
from kg.query.answers import Citation, EntityRef, Link, Node, Subgraph
from kg.query.filings.documents import FilingIndex
from kg.query.session_cache import SessionCache
from kg.query.walks.topics import Topics
from kg.relations import vocabulary
from kg.settings import Settings
from kg.store.rules.contradiction import contradicting, opposing, rivals_share_one_end
from kg.store.rules.superseding import SPEAKER_BOUND

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from kg.graph.edges import Edges
    from kg.graph.outlines import Doubts, Ends
    from kg.graph.snapshot import Direction
    from kg.messages.words import Lang
    from kg.model import Evidence, Fact
    from kg.query.filings.documents import ListedFiling
    from kg.query.filings.page_table import PageTable
    from kg.query.filings.values.statements import FilingStatements
    from kg.query.grounding.vectors import VectorSearch
    from kg.relations import Role, Vocabulary
    from kg.store.port import DocumentHead, Triple, View

_Built = TypeVar("_Built")
ANSWERED = Settings().answer_confidence  # facts below it are no part of answers; docs/quality.md has the precision
_CITATIONS_PER_LINK = 5
_MOST_NODES = 300


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of a walk as snapshot rows; `source` is the fact's subject, whichever way it is walked."""

    source: int
    target: int
    relation: str
    sign: int
    weight: float
    fact: int
    cause: int
    effect: int
    weak: bool = False


class QuerySession:
    """A view made ready for questions; build one and ask it as often as wanted.

    The usual `min_confidence` stands for the cut of each relation in relations.yaml; any other is the cut of all. Facts
    below the cut carry no answer; some are shown as weak where a question asks for them, unless `weak` is off. `below`
    counts those that were met and left out. `vectors` finds passages by vectors; None where the base has no index of
    them. `cache` keeps what is built for whole views and filings, for further sessions; with the state of the store.
    """

    def __init__(
        self,
        view: View,
        *,
        lang: Lang = "zh",
        min_confidence: float = ANSWERED,
        vectors: VectorSearch | None = None,
        weak: bool = True,
        cache: tuple[SessionCache, str] | None = None,
    ) -> None:
        self.view: View = view
        self._cache, self._state = cache or (SessionCache(), "")
        self.lang, self.min_confidence, self.vectors = lang, min_confidence, vectors
        self.weak = weak
        self._below: set[str] = set()
        self.words: Vocabulary = vocabulary()
        self._entities: dict[str, Entity | None] = {}
        self._documents: dict[str, DocumentHead] = {}
        self._facts: dict[Triple, list[Fact]] = {}
        self._outlines: dict[Ends, list[Outline]] = {}
        self._nodes: dict[str, int | None] = {}
        self._ids: dict[int, str] = {}

    def earlier(self, as_of: date) -> QuerySession:
        """Return a session on the same state of the base as of a day."""
        view = self.view.until(as_of)
        return QuerySession(
            view,
            lang=self.lang,
            min_confidence=self.min_confidence,
            vectors=self.vectors,
            weak=self.weak,
            cache=(self._cache, self._state),
        )

    def kept(self, build: Callable[[QuerySession], _Built], *more: Hashable) -> _Built:
        """Return what `build` makes of this view, made once for all sessions; `more` is what else it depends on."""
        return self._cache.of(self, self._state, build, *more)

    @cached_property
    def filings(self) -> FilingIndex:
        """The filings of the view by company."""
        return self.kept(_filing_index)

    def nearest_sentences(self, question: str, limit: int) -> list[tuple[str, int]]:
        """Return passage and place of the sentences of the view that are nearest to a question, best first."""
        return self._cache.sentences.nearest(self.view, question, limit)

    def page_table(self, document_id: str) -> PageTable | None:
        """Return the pages of a filing made ready for questions, None if the view does not know the document."""
        known = self._cache.tables.known(document_id)
        if known is None and (document := self.view.document(document_id)) is not None:
            known = self._cache.tables.of(document)
        return known

    def statements(self, listed: ListedFiling) -> FilingStatements | None:
        """Return the statements of a filing, None if the view does not know the document."""
        table = self.page_table(listed.document)
        return None if table is None else self._cache.tables.statements(listed.document, table, listed.filing)

    @cached_property
    def topics(self) -> Topics:
        """Which entities of the view are one topic."""
        return Topics(self)

    @cached_property
    def graph(self) -> Snapshot:
        """The compiled graph of the view."""
        return Snapshot.compile(self.view, self.words)

    def entity(self, index: int) -> Entity:
        """Return the entity of a snapshot row; one whose last document was just removed is called by its id."""
        entity_id = self.id_of(index)
        return self._entity(entity_id) or Entity(entity_id, self.graph.kinds[index], entity_id.split(":", 1)[-1])

    def meet(self, indices: Iterable[int]) -> None:
        """Read the entities of many snapshot rows at once, that will be asked for one by one."""
        self.meet_all(map(self.id_of, indices))

    def meet_all(self, entity_ids: Iterable[str] | None = None) -> None:
        """Read entities at once, that will be asked for one by one; None reads all of the view."""
        ids = None if entity_ids is None else {each for each in entity_ids if each not in self._entities}
        self._entities |= {} if ids == set() else {entity.id: entity for entity in self.view.entities(ids=ids)}

    def known(self, entity_id: str) -> Entity | None:
        """Return an entity, None if the view does not know it."""
        return self._entity(entity_id)

    def name(self, entity_id: str) -> str:
        """Return what an entity is called; one that the view no longer knows is called by its id."""
        known = self._entity(entity_id)
        return known.name if known else entity_id.split(":", 1)[-1]

    def _entity(self, entity_id: str) -> Entity | None:
        if entity_id not in self._entities:
            self._entities[entity_id] = self.view.entity(entity_id)
        return self._entities[entity_id]

    def id_of(self, index: int) -> str:
        """Return the entity id of a snapshot row."""
        known = self._ids.get(index)
        if known is None:
            known = self._ids[index] = self.graph.entity_ids[index]
            self._nodes[known] = index
        return known

    def index(self, entity_id: str) -> int | None:
        """Return the snapshot row of an entity, or None when no fact touches it."""
        if entity_id not in self._nodes:
            self._nodes[entity_id] = self.graph.index_of(entity_id)
        return self._nodes[entity_id]

    def expand(
        self, frontier: Sequence[int], relations: Sequence[str], direction: Direction, *, limit: int, weak: bool = False
    ) -> list[Step]:
        """Return the strongest edges of each node of the frontier, as steps (DESIGN §6); `weak` ones only if asked."""
        if not len(frontier):
            return []
        edges = self.graph.expand(np.asarray(frontier, dtype=np.int64), relations, direction, limit_per_node=limit)
        return self._confident(self.steps(edges), weak=weak)

    def _confident(self, steps: list[Step], *, weak: bool) -> list[Step]:
        """Drop the steps whose fact is below the confidence that an answer asks for, and mark the weak ones."""
        numbers = self._relation_numbers
        ends = {(step.source, numbers[step.relation], step.target) for step in steps}
        found = self.outlines_between(ends)
        outlines = [outline for each in ends for outline in found[each]]
        shown = {outline.claim for outline in self.sure(outlines, weak=weak)}
        sure = {outline.claim for outline in self.sure(outlines)} if weak else shown
        claims = [((step.source, numbers[step.relation], step.target), step.sign, True) for step in steps]
        return [
            replace(step, weak=claim not in sure) for step, claim in zip(steps, claims, strict=True) if claim in shown
        ]

    @cached_property
    def _relation_numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.graph.relation_names)}

    def outlines_between(self, wanted: Iterable[Ends]) -> Mapping[Ends, Sequence[Outline]]:
        """Return the outlines of all facts between some ends."""
        # subtracting the keys of a dictionary walks all of them, and this one grows with every question
        if missing := {ends for ends in wanted if ends not in self._outlines}:
            self._outlines |= {ends: [] for ends in missing}
            columns = self.graph.outlines
            for outline in self._read_outlines(missing) if columns is None else columns.between(missing):
                self._outlines[outline.ends].append(outline)
        return self._outlines

    def _read_outlines(self, wanted: set[Ends]) -> Iterator[Outline]:
        triples = {self.triple(ends): ends for ends in wanted}
        self.read_facts(triples.keys())
        return (Outline.of(fact, ends) for triple, ends in triples.items() for fact in self._facts[triple])

    def triple(self, ends: Ends) -> Triple:
        """Return the names of ends and relation."""
        source, relation, target = ends
        return self.id_of(source), self.graph.relation_names[relation], self.id_of(target)

    def outlines_at(self, entity_id: str) -> list[Outline]:
        """Return the outlines of all facts of an entity whose relations are in the vocabulary."""
        node, columns, numbers = self.index(entity_id), self.graph.outlines, self._relation_numbers
        if node is None:
            return []
        if columns is not None:
            return columns.at(node)
        ends = (self.view.facts(subject=entity_id), self.view.facts(object=entity_id))
        said = {fact.id: fact for facts in ends for fact in facts if fact.relation in numbers}
        placed = ((fact, self.index(fact.subject), self.index(fact.object)) for _, fact in sorted(said.items()))
        return [
            Outline.of(fact, (source, numbers[fact.relation], target))
            for fact, source, target in placed
            if source is not None and target is not None
        ]

    def sure(self, outlines: Iterable[Outline], *, weak: bool = False) -> list[Outline]:
        """Return the outlines of facts that are sure enough for an answer, and count the others.

        What several documents state of the same ends is as sure as that one of them at least was read right.
        """
        found, names = list(outlines), self.graph.relation_names
        given = ((outline.id, outline.claim, names[outline.ends[1]], outline.doubts) for outline in found)
        sure = self._sure_claims(given, weak=weak)
        return [outline for outline in found if outline.claim in sure]

    def facts_of(self, role: Role, subject: str | None = None, target: str | None = None) -> Iterator[Fact]:
        """Yield the facts whose relations have a role, at these ends."""
        for relation in self.words.of_role(role):
            yield from self.view.facts(subject=subject, object=target, relation=relation)

    def confident(self, facts: Iterable[Fact], *, weak: bool = False) -> list[Fact]:
        """Return the facts that are sure enough for an answer, and count the others, as `sure` does."""
        found = list(facts)
        sure = self.sure_claims(found, weak=weak)
        return [fact for fact in found if claimed(fact) in sure]

    def sure_claims(self, facts: Iterable[Fact], *, weak: bool = False) -> set[Hashable]:
        """Return the claims (`claimed`) of facts that are sure enough for an answer."""
        given = ((fact.id, claimed(fact), fact.relation, doubts_of(fact)) for fact in facts)
        return self._sure_claims(given, weak=weak)

    def _sure_claims(self, said: Iterable[tuple[str, Hashable, str, Doubts]], *, weak: bool) -> set[Hashable]:
        """Return the claims that are sure enough, and count the facts of the others."""
        doubts: dict[Hashable, list[tuple[object, float]]] = defaultdict(list)
        facts: dict[Hashable, list[str]] = defaultdict(list)
        cuts: dict[Hashable, float] = {}
        for fact, claim, relation, doubt in said:
            doubts[claim] += doubt
            facts[claim].append(fact)
            cuts[claim] = self.cut(relation, weak=weak)
        sure = {claim for claim, each in doubts.items() if _certainty(each) >= cuts[claim]}
        self._below.update(fact for claim, ids in facts.items() if claim not in sure for fact in ids)
        self._below.difference_update(fact for claim in sure for fact in facts[claim])
        return sure

    def cut(self, relation: str, *, weak: bool = False) -> float:
        """Return the least confidence of the facts of a relation that an answer rests on, or shows as `weak`."""
        known = self.words.relations.get(relation)
        if known is None or self.min_confidence != ANSWERED:
            return self.min_confidence
        return known.weak if weak and self.weak else known.cut

    def certainty(self, facts: Iterable[Fact]) -> float:
        """Return the probability, rounded, that at least one document of facts that claim the same was read right."""
        return round(_certainty(doubt for fact in facts for doubt in doubts_of(fact)), 4)

    @property
    def below(self) -> int:
        """How many facts were met and left out for their confidence."""
        return len(self._below)

    def steps(self, edges: Edges) -> list[Step]:
        """Return edges as steps."""
        names = self.graph.relation_names
        claims = edges.source, edges.target, edges.relation, edges.sign
        said = edges.weight, edges.fact, edges.cause, edges.effect
        return [
            Step(int(s), int(t), names[int(r)], int(g), float(w), int(f), int(c), int(e))
            for s, t, r, g, w, f, c, e in zip(*claims, *said, strict=True)
        ]

    def links(self, steps: Iterable[Step], *, topics: bool = False) -> list[Link]:
        """Turn steps into links: the facts of one relation and sign between two entities, with their evidence.

        With `topics`, the entities of a topic are one end.
        """
        end = self.topics.head if topics else int
        weights: dict[tuple[str, str, str, int], float] = defaultdict(float)
        members: dict[tuple[str, str, str, int], dict[str, Triple]] = defaultdict(dict)
        for step in sorted(set(steps), key=lambda step: step.fact):
            key = (self.id_of(end(step.source)), self.id_of(end(step.target)), step.relation, step.sign)
            weights[key] += step.weight
            triple = self.id_of(step.source), step.relation, self.id_of(step.target)
            members[key][self.graph.fact_ids[step.fact]] = triple
        self.read_facts({triple for found in members.values() for triple in found.values()})
        # A document removed while the question is answered takes its facts along.
        left: list[tuple[tuple[str, str, str, int], list[Fact]]] = []
        for key, walked in sorted(members.items()):
            triples = sorted(set(walked.values()))
            said = [fact for triple in triples for fact in self._facts[triple] if fact.id in walked]
            left += [(key, sorted(said, key=spoken))] if said else []
        self._read_heads(item for _, said in left for _, item in _cited(said, _CITATIONS_PER_LINK))
        return [replace(self.link(said, weights[key]), source=key[0], target=key[1]) for key, said in left]

    def picture(self, nodes: Collection[Node], steps: Iterable[Step], *, topics: bool = False) -> Subgraph:
        """Return nodes and the links of steps, cut to what a picture holds; links to what is cut off are not read."""
        kept = subgraph(nodes, ())
        end = self.topics.head if topics else int
        shown = {self.index(node.entity.id) for node in kept.nodes}
        links = self.links(
            (step for step in steps if end(step.source) in shown and end(step.target) in shown), topics=topics
        )
        return replace(kept, links=tuple(links))

    def link(self, facts: Sequence[Fact], weight: float) -> Link:
        """Build one link from facts of the same ends, relation and sign; the first fact speaks for it."""
        first = facts[0]
        return Link(
            source=first.subject,
            target=first.object,
            relation=first.relation,
            wording=self.words[first.relation].wording[self.lang],
            sign=first.sign,
            weight=round(weight, 4),
            facts=tuple(facts),
            citations=tuple(self.citations(facts, _CITATIONS_PER_LINK)),
            contested=bool(self.against(facts)),
            weak=self.certainty(facts) < self.cut(first.relation),
        )

    def against(self, facts: Sequence[Fact]) -> list[Fact]:
        """Return what cannot hold together with the facts of a link, of figures with the first, which is shown."""
        said = facts[:1] if facts[0].relation in SPEAKER_BOUND else facts
        found = {other.id: other for fact in said for other in self.opposing(fact)}
        return [found[each] for each in sorted(found)]

    def opposing(self, fact: Fact) -> list[Fact]:
        """Return the sure live facts that cannot hold with this one: of the other sign or value, or a denial."""
        if fact.relation not in self.words.relations or rivals_share_one_end(fact.relation, self.words):
            found = contradicting(self.view, fact, self.words)
        else:
            triple = fact.subject, fact.relation, fact.object
            self.read_facts({triple})
            found = opposing(fact, self._facts[triple], self.words)
        return [other for other in found if other.confidence >= self.cut(other.relation)]

    def read_facts(self, triples: Collection[Triple]) -> None:
        """Read all facts between some ends in one call, opposing ones included."""
        missing = {triple for triple in triples if triple not in self._facts}
        if missing:
            self._facts |= {triple: [] for triple in missing}
            ids = self._ids_between(missing)
            for fact in self.view.facts(triples=missing) if ids is None else self.view.facts(ids=ids):
                triple = fact.subject, fact.relation, fact.object
                if triple in missing:
                    self._facts[triple].append(fact)

    def _ids_between(self, triples: Iterable[Triple]) -> list[str] | None:
        """Return the ids of all facts between some ends, or None where the store has to look for them itself."""
        numbers = self._relation_numbers
        if self.graph.outlines is None or any(relation not in numbers for _, relation, _ in triples):
            return None
        nodes = ((self.index(first), numbers[relation], self.index(last)) for first, relation, last in triples)
        ends = [(one, relation, other) for one, relation, other in nodes if one is not None and other is not None]
        found = self.outlines_between(ends)
        return [outline.id for each in ends for outline in found[each]]

    def facts_between(self, triples: set[Triple]) -> list[Fact]:
        """Return all facts with these ends and relations, in id order of each."""
        self.read_facts(triples)
        return [fact for triple in sorted(triples) for fact in self._facts[triple]]

    def refs(self, ids: Sequence[str]) -> list[EntityRef]:
        """Return what is shown of entities, in the order of the ids; reads them in one call."""
        self.meet_all(ids)
        return [self._ref(identity) for identity in ids]

    def kind(self, entity_id: str) -> str:
        """Return the kind of an entity, "" for one that the view no longer knows."""
        known = self._entity(entity_id)
        return known.kind.value if known else ""

    def _ref(self, entity_id: str) -> EntityRef:
        entity, index = self._entity(entity_id), self.index(entity_id)
        code = entity.codes[0] if entity and entity.codes else ""
        degree = 0 if index is None else self.graph.degree(index)
        return EntityRef(entity_id, self.kind(entity_id), self.name(entity_id), code, degree)

    def citations(self, facts: Sequence[Fact], limit: int) -> list[Citation]:
        """Return the witnesses of facts: the newest of each in turn, then the next newest; no place twice."""
        cited = _cited(facts, limit)
        self._read_heads(item for _, item in cited)
        found = ((fact, item, self._documents.get(item.document)) for fact, item in cited)
        return [_citation(fact, item, document) for fact, item, document in found if document]

    def _read_heads(self, evidence: Iterable[Evidence]) -> None:
        missing = {item.document for item in evidence if item.document not in self._documents}
        if missing:
            self._documents |= {head.id: head for head in self.view.documents(missing)}


def _certainty(doubts: Iterable[tuple[object, float]]) -> float:
    least: dict[object, float] = {}
    for document, doubt in doubts:
        least[document] = min(least.get(document, 1.0), doubt)
    return 1 - prod(least.values())


def claimed(fact: Fact) -> tuple[str, str, str, int, str]:
    """Return what facts that claim the same share."""
    return fact.subject, fact.relation, fact.object, fact.sign, fact.polarity


def spoken(fact: Fact) -> tuple[bool, bool, int, int, float, str]:
    """Order the facts of a link: sure before weak, what is before what may be, the latest period, the latest said."""
    entry = vocabulary().relations.get(fact.relation)
    end = fact.valid.end if fact.valid and fact.relation in SPEAKER_BOUND else None
    doubt = entry is not None and fact.confidence < entry.cut, fact.modality is not Modality.ASSERTED
    days = -(end.toordinal() if end else 0), -fact.last_published_on.toordinal()
    return *doubt, *days, -fact.witnesses * fact.confidence, fact.id


def subgraph(nodes: Collection[Node], links: Sequence[Link]) -> Subgraph:
    """Return nodes and links cut to what a picture holds, the strongest first."""
    ranked = sorted(nodes, key=lambda node: (-node.score, node.entity.id))
    kept = ranked[:_MOST_NODES]
    ids = {node.entity.id for node in kept}
    inside = tuple(link for link in links if link.source in ids and link.target in ids)
    return Subgraph(
        tuple(sorted(kept, key=lambda n: (n.layer, -n.score, n.entity.id))), inside, len(ranked) - len(kept)
    )


def _cited(facts: Sequence[Fact], limit: int) -> list[tuple[Fact, Evidence]]:
    """Return the first `limit` places in the order of `QuerySession.citations`, each with its first fact."""
    newest = [sorted(fact.evidence, key=_newest) for fact in facts]
    found: dict[tuple[str, int], tuple[Fact, Evidence]] = {}
    for turn in zip_longest(*newest):
        for fact, item in zip(facts, turn, strict=True):
            if len(found) >= limit:
                return list(found.values())
            if item:
                found.setdefault((item.document, item.start), (fact, item))
    return list(found.values())


def _newest(item: Evidence) -> tuple[int, str, int]:
    return -item.published_on.toordinal(), item.document, item.start


def _citation(fact: Fact, item: Evidence, document: DocumentHead) -> Citation:
    return Citation(
        fact=fact.id,
        document=document.id,
        title=document.title,
        publisher=document.publisher,
        speaker=item.speaker,
        published_on=item.published_on,
        page=document.page_of(item.start),
        start=item.start,
        end=item.end,
        quote=item.quote,
        url=document.url,
    )


def _filing_index(session: QuerySession) -> FilingIndex:
    return FilingIndex(session.view.documents(), session.view)
