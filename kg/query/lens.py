"""What every question works with: a view, the snapshot compiled from it, and the making of links with their citations."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kg.graph.snapshot import Snapshot
from kg.model import Entity, Polarity
from kg.query.answers import Citation, Link, Node, Subgraph
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from kg.graph.snapshot import Edges
    from kg.model import Document, Fact
    from kg.relations import Lang, Vocabulary
    from kg.store.port import View

_CITATIONS_PER_LINK = 5
_MOST_NODES = 300


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of a walk as snapshot rows: `forward` when walked from subject to object."""

    source: int
    target: int
    relation: str
    sign: int
    weight: float
    fact: int
    cause: int
    effect: int


class Lens:
    """A view made ready for questions; build one and ask it as often as wanted."""

    def __init__(self, view: View, *, lang: Lang = "zh") -> None:
        self.view, self.lang = view, lang
        self.words: Vocabulary = vocabulary()
        self._documents: dict[str, Document | None] = {}

    @cached_property
    def snapshot(self) -> Snapshot:
        """The graph of the view."""
        return Snapshot.compile(self.view, self.words)

    def entity(self, index: int) -> Entity:
        """Return the entity of a snapshot row."""
        entity_id = self.snapshot.entity_ids[index]
        entity = self.view.entity(entity_id)
        assert entity is not None, entity_id  # a snapshot holds only entities of its own view
        return entity

    def index(self, entity_id: str) -> int | None:
        """Return the snapshot row of an entity, or None when no fact touches it."""
        return self.snapshot.index_of(entity_id)

    def expand(self, frontier: Sequence[int], relations: Sequence[str], direction: str, limit: int) -> list[Step]:
        """Return the strongest edges of each node of the frontier, as steps (DESIGN §6)."""
        if not len(frontier):
            return []
        edges = self.snapshot.expand(np.asarray(frontier, dtype=np.int64), relations, direction, limit_per_node=limit)
        return self._steps(edges)

    def _steps(self, edges: Edges) -> list[Step]:
        names = self.snapshot.relation_names
        columns = (
            edges.source,
            edges.target,
            edges.relation,
            edges.sign,
            edges.weight,
            edges.fact,
            edges.cause,
            edges.effect,
        )
        return [
            Step(int(s), int(t), names[int(r)], int(g), float(w), int(f), int(c), int(e))
            for s, t, r, g, w, f, c, e in zip(*columns, strict=True)
        ]

    def links(self, steps: Iterable[Step]) -> list[Link]:
        """Turn steps into links: the facts of one relation and sign between two entities, with their evidence."""
        weights: dict[tuple[str, str, str, int], float] = defaultdict(float)
        members: dict[tuple[str, str, str, int], list[str]] = defaultdict(list)
        for step in sorted(set(steps), key=lambda step: step.fact):
            ends = (self.snapshot.entity_ids[step.source], self.snapshot.entity_ids[step.target])
            key = (*ends, step.relation, step.sign)
            weights[key] += step.weight
            members[key].append(self.snapshot.fact_ids[step.fact])
        facts = {fact.id: fact for fact in self.view.facts(ids={fact for ids in members.values() for fact in ids})}
        return [
            self.link([facts[fact] for fact in sorted(set(ids))], weights[key]) for key, ids in sorted(members.items())
        ]

    def link(self, facts: Sequence[Fact], weight: float) -> Link:
        """Build one link from facts of the same ends, relation and sign."""
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
            contested=self._contested(first),
        )

    def _contested(self, fact: Fact) -> bool:
        """Whether another live fact between the same ends says the opposite."""
        for other in self.view.facts(subject=fact.subject, object=fact.object, relation=fact.relation):
            opposed = other.sign == -fact.sign != 0 or (other.polarity == Polarity.NEGATIVE) != (
                fact.polarity == Polarity.NEGATIVE
            )
            if opposed and not other.superseded_by:
                return True
        return False

    def citations(self, facts: Iterable[Fact], limit: int) -> list[Citation]:
        """Return the witnesses of facts, newest first, one a document and quote."""
        found: dict[tuple[str, int], Citation] = {}
        for fact in facts:
            for item in fact.evidence:
                document = self._document(item.document)
                if document and (item.document, item.start) not in found:
                    found[item.document, item.start] = Citation(
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
                    )
        return sorted(found.values(), key=lambda c: (-c.published_on.toordinal(), c.document, c.start))[:limit]

    def _document(self, document_id: str) -> Document | None:
        if document_id not in self._documents:
            self._documents[document_id] = self.view.document(document_id)
        return self._documents[document_id]


def subgraph(lens: Lens, nodes: Collection[Node], links: Sequence[Link]) -> Subgraph:
    """Return nodes and links cut to what a picture holds, the strongest first."""
    ranked = sorted(nodes, key=lambda node: (-node.score, node.entity.id))
    kept = ranked[:_MOST_NODES]
    ids = {node.entity.id for node in kept}
    inside = tuple(link for link in links if link.source in ids and link.target in ids)
    return Subgraph(
        tuple(sorted(kept, key=lambda n: (n.layer, -n.score, n.entity.id))), inside, len(ranked) - len(kept)
    )
