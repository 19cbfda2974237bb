"""The graph as a LightRAG custom knowledge graph: `rag.insert_custom_kg(json.load(open("custom_kg.json")))`.

LightRAG keeps one undirected edge per pair of names, with free text. One edge holds all facts of a pair: its
ends are those of the best witnessed fact, its keywords name every relation with its sign, and its description words
every fact with direction, period, certainty and source.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from kg.interop.exports.content import MEASURES, MOST_SENTENCES, best_evidence, plain
from kg.messages.words import word
from kg.model import Modality, Polarity

if TYPE_CHECKING:
    from pathlib import Path

    from kg.interop.exports.content import ExportContent, FactEdge
    from kg.model import Chunk, Evidence

_SEPARATOR = "<SEP>"  # LightRAG's own, between descriptions that it merges
# One keyword of every edge states its facts and is read back on import: 硅料供给→硅料价格 [affects -1 forecast 0.82]
TYPED = re.compile(
    r"(?P<source>.+)→(?P<target>.+) \[(?P<relation>\w+)(?: (?P<sign>[+-]1))?(?: (?P<modality>"
    + "|".join(Modality)
    + r"))?(?P<denied> denied)? (?P<confidence>[01]\.\d\d)\]",
    re.DOTALL,
)


def write_lightrag(content: ExportContent, path: Path) -> None:
    """Write the JSON file for `LightRAG.ainsert_custom_kg`."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        json.dump(custom_kg(content), file, ensure_ascii=False, indent=1)
        file.write("\n")


def custom_kg(content: ExportContent) -> dict[str, list[dict[str, Any]]]:
    """Return chunks, entities and relationships as `ainsert_custom_kg` takes them."""
    passages = _Passages(content)
    pairs: dict[tuple[str, str], list[FactEdge]] = defaultdict(list)
    for edge in content.edges():
        if edge.is_live and edge.key.subject != edge.key.object:
            pairs[_pair(edge.key.subject, edge.key.object)].append(edge)
    measures = dict.fromkeys(content.measures())
    ends = dict.fromkeys(end for pair in (*pairs, *measures) for end in pair)
    return {
        "chunks": passages.chunks(),
        "entities": [_entity(content, passages, end) for end in content.entities if end in ends],
        "relationships": [
            *(_relationship(content, passages, edges) for _, edges in sorted(pairs.items())),
            *(_measure(content, passages, each) for each in measures if _pair(*each) not in pairs),
        ],
    }


def _pair(one: str, other: str) -> tuple[str, str]:
    return min(one, other), max(one, other)


class _Passages:
    """The passages of a base, and which of them holds a quote."""

    def __init__(self, content: ExportContent) -> None:
        documents = filter(None, (content.view.document(head.id) for head in content.documents()))
        self._chunks = {document.id: content.passages(document) for document in documents}
        self._content, self._source = content, content.source

    def chunks(self) -> list[dict[str, Any]]:
        """Return every passage under its source; the first line makes texts of equal words different texts."""
        return [
            {
                "content": f"［{self._source(document)}］\n{plain(chunk.text)}",
                "source_id": chunk.id,
                "chunk_order_index": number,
                "file_path": self._source(document),
            }
            for document, chunks in self._chunks.items()
            for number, chunk in enumerate(chunks)
        ]

    def of(self, identity: str) -> dict[str, str]:
        """Return the passage of the best witnessed fact of an entity, as `at` does."""
        edges = self._content.around.get(identity)
        return self.at(best_evidence(edges[0].facts)) if edges else {"source_id": "", "file_path": ""}

    def at(self, item: Evidence) -> dict[str, str]:
        """Return the passage that holds a quote as `source_id` and `file_path`."""
        chunks: list[Chunk] = self._chunks[item.document]
        place = max(bisect_right(chunks, item.start, key=attrgetter("start")) - 1, 0)
        return {"source_id": chunks[place].id if chunks else "", "file_path": self._source(item.document)}


def _entity(content: ExportContent, passages: _Passages, identity: str) -> dict[str, Any]:
    return {
        "entity_name": content.titles[identity],
        "entity_type": content.entities[identity].kind.value,
        "description": content.description(identity),
        **passages.of(identity),
    }


def _relationship(content: ExportContent, passages: _Passages, edges: list[FactEdge]) -> dict[str, Any]:
    edges = sorted(edges, key=lambda edge: (-edge.sources, edge.key))
    first = edges[0].key
    facts = [fact for edge in edges for fact in edge.facts if not fact.superseded_by]
    newest = sorted(facts, key=lambda fact: (-fact.last_published_on.toordinal(), fact.id))[:MOST_SENTENCES]
    keywords = [each for edge in edges for each in _keywords(content, edge)]
    return {
        "src_id": content.titles[first.subject],
        "tgt_id": content.titles[first.object],
        "description": _SEPARATOR.join(map(content.sourced, newest)),
        "keywords": ",".join(dict.fromkeys(keywords)),
        "weight": content.certainty(facts),
        **passages.at(best_evidence(facts)),
    }


def _measure(content: ExportContent, passages: _Passages, ends: tuple[str, str]) -> dict[str, Any]:
    """Return the relationship of an indicator to what it measures, which no document states."""
    one, other = (content.titles[end] for end in ends)
    measures = word("export.measures", content.lang, thing=other)
    typed = f"{one}→{other}".replace(",", "，") + f" [{MEASURES} 1.00]"
    return {
        "src_id": one,
        "tgt_id": other,
        "description": f"{one} {measures}",
        "keywords": f"{measures},{typed}".replace(", ", "，"),
        "weight": 1.0,
        **passages.of(ends[0]),
    }


def _keywords(content: ExportContent, edge: FactEdge) -> list[str]:
    """Return the words that relation-level retrieval looks for: 影响 −, 反向, affects, and what `TYPED` reads."""
    key = edge.key
    sign = f" {key.sign:+d}" if key.sign else ""
    modality = "" if key.modality is Modality.ASSERTED else f" {key.modality}"
    denied = " denied" if key.polarity is Polarity.NEGATIVE else ""
    ends = f"{content.titles[key.subject]}→{content.titles[key.object]}".replace(",", "，")
    confidence = max(fact.confidence for fact in edge.facts)
    typed = f"{ends} [{key.relation}{sign}{modality}{denied} {confidence:.2f}]"
    return [content.caption(key), *content.sign(key.sign), typed]
