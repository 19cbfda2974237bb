"""Passages by words, by vectors, and by the graph on two levels: what a query names, and what it says of relations.

The entity level starts at the named entities and takes their strongest edges. The relation level takes the edges whose
relation or ends the other words of the query speak of, wherever they are (the division is that of LightRAG, Guo et al.
2024, arXiv:2410.05779). A passage ranks by the edges that quote it; ranks are fused by reciprocal rank (Cormack et al.
2009).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal

import rjieba

from kg.query.answers import Passage
from kg.query.ask.names import find_names
from kg.query.grounding.vectors import NoVectors
from kg.query.passages import informative_words, passages
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kg.model import Chunk, Entity
    from kg.query.answers import Link
    from kg.query.session import QuerySession, Step

Mode = Literal["words", "vectors", "local", "global", "hybrid", "mix", "fused"]
MODES: tuple[Mode, ...] = ("words", "vectors", "local", "global", "hybrid", "mix", "fused")
_EDGES = 40  # strongest edges that one level contributes
_ENDS = 200  # entities whose name holds a keyword
_PER_NODE = 30
_CONSTANT = 60  # of reciprocal rank fusion, as published
_POOL = 3  # times as many passages as are wanted, of each way that is fused
_LEVELS: Mapping[Mode, Mapping[str, float]] = {
    "vectors": {"vectors": 1.0},
    "local": {"local": 1.0},
    "global": {"global": 1.0},
    "hybrid": {"local": 1.0, "global": 1.0},
    "mix": {"local": 1.0, "global": 1.0, "words": 1.0},
}
_FUSED = {"words": 1.0, "vectors": 0.5}
"""Weights of `fused`: docs/service.md has what they were chosen by."""


@dataclass(frozen=True, slots=True)
class Keywords:
    """A query split for retrieval: the entities it names, its other words, and the relations these speak of."""

    entities: tuple[Entity, ...]
    words: tuple[str, ...]
    relations: tuple[str, ...]


def dual_level(session: QuerySession, query: str, *, mode: Mode = "mix", limit: int = 10) -> list[Passage]:
    """Return up to `limit` passages, best first.

    Args:
        session: facts below its confidence lead to no passage.
        query: words, names or a question.
        mode: `words` is search by words, `vectors` by vectors, `local` the entity level, `global` the relation level,
            `hybrid` both levels, `mix` both with words, `fused` words with vectors, where there is an index.
        limit: the most passages.

    Raises:
        NoVectors: for `vectors` on a base without an index of them.
        OtherModel: when another encoder made the index.
    """
    if mode == "words":
        return passages(session.view, query, limit=limit)
    keywords = cache(lambda: keywords_of(session, query))
    pool = _POOL * limit
    finders = {
        "local": lambda: _quoted(session, _entity_level(session, keywords())),
        "global": lambda: _quoted(session, _relation_level(session, keywords())),
        "words": lambda: passages(session.view, query, limit=pool),
        "vectors": lambda: _near(session, query, limit=pool),
    }
    weights = _LEVELS.get(mode, _FUSED if session.vectors else {"words": 1.0})
    scores: dict[str, float] = defaultdict(float)
    found: dict[str, Passage] = {}
    for level, weight in weights.items():
        for rank, passage in enumerate(finders[level]()):
            scores[passage.chunk.id] += weight / (_CONSTANT + rank)
            found.setdefault(passage.chunk.id, passage)
    best = sorted(found, key=lambda chunk: (-scores[chunk], chunk))[: max(limit, 0)]
    return [replace(found[chunk], score=round(scores[chunk], 4)) for chunk in best]


def _near(session: QuerySession, query: str, *, limit: int) -> list[Passage]:
    """Return the passages whose vectors are nearest to that of a query."""
    if session.vectors is None:
        raise NoVectors
    near = session.vectors.nearest(session.view, query, limit)
    heads = {head.id: head for head in session.view.documents({chunk.document for chunk, _ in near})}
    return [
        Passage(chunk, head.title, head.publisher, head.published_on, round(score, 4))
        for chunk, score in near
        if (head := heads.get(chunk.document))
    ]


def keywords_of(session: QuerySession, query: str) -> Keywords:
    """Split a query into both levels: names by the same reader as questions, relations by their wordings."""
    names = find_names(session, query).names
    rest = query
    for named in sorted(names, key=lambda each: -each.start):
        rest = f"{rest[: named.start]} {rest[named.end :]}"
    words = tuple(dict.fromkeys(word for word in rjieba.cut(rest) if informative_words(word)))
    relations = tuple(name for name, wordings in _wordings().items() if any(wording in rest for wording in wordings))
    return Keywords(tuple(dict.fromkeys(named.entity for named in names)), words, relations)


@cache
def _wordings() -> dict[str, tuple[str, ...]]:
    """Return the words that name each relation in a query, either way round."""
    found = {}
    for name, relation in vocabulary().relations.items():
        phrases = (*relation.wording.values(), *relation.inverse.values())
        parts = (part for phrase in phrases for part in phrase.replace("是…的", "").replace("被…", "").split("…"))
        found[name] = tuple(dict.fromkeys(part for part in parts if len(part.strip()) > 1))
    return found


def _entity_level(session: QuerySession, keywords: Keywords) -> list[Link]:
    """Return the edges of the named entities."""
    rows = [row for entity in keywords.entities if (row := session.index(entity.id)) is not None]
    return _strongest(session, _edges_of(session, rows), keywords)


def _relation_level(session: QuerySession, keywords: Keywords) -> list[Link]:
    """Return the edges that the query's other words speak of, by relation or by the name of an end."""
    ends: dict[str, None] = {}
    for word in keywords.words:
        if len(word) > 1:
            ends |= dict.fromkeys(identity for _, identity in session.view.names(containing=word))
    rows = [row for identity in list(ends)[:_ENDS] if (row := session.index(identity)) is not None]
    if keywords.relations:  # a relation alone is no place to start; at what is named it is
        rows += [row for entity in keywords.entities if (row := session.index(entity.id)) is not None]
    steps = _edges_of(session, list(dict.fromkeys(rows)), keywords.relations)
    return _strongest(session, steps, keywords)


def _edges_of(session: QuerySession, rows: Sequence[int], relations: Sequence[str] = ()) -> list[Step]:
    wanted = relations or tuple(session.words.relations)
    both = [session.expand(rows, wanted, direction, limit=_PER_NODE) for direction in ("out", "in")]
    return [step for steps in both for step in steps]


def _strongest(session: QuerySession, steps: Iterable[Step], keywords: Keywords) -> list[Link]:
    """Return the links of steps, those whose ends hold most of the query's names and words first, then by weight.

    An edge of a relation that the query speaks of counts double.
    """
    texts = {*keywords.words, *(entity.name for entity in keywords.entities)}

    def order(link: Link) -> tuple[int, float, str, str, str]:
        ends = f"{session.name(link.source)} {session.name(link.target)}"
        fit = sum(len(text) for text in texts if text in ends) * (2 if link.relation in keywords.relations else 1)
        return -fit, -link.weight, link.source, link.target, link.relation

    return sorted(session.links(steps), key=order)[:_EDGES]


def _quoted(session: QuerySession, links: Sequence[Link]) -> list[Passage]:
    """Return the passages that hold the quotes of links, in the order of the links."""
    held: dict[str, list[Chunk]] = {}
    found: dict[str, Passage] = {}
    for link in links:
        for cited in link.citations:
            if cited.document not in held:
                held[cited.document] = session.view.chunks(cited.document)
            chunk = next((each for each in held[cited.document] if each.start <= cited.start < each.end), None)
            if chunk:
                passage = Passage(chunk, cited.title, cited.publisher, cited.published_on, link.weight)
                found.setdefault(chunk.id, passage)
    return list(found.values())
