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

from kg.interop.exports.content import best_evidence, plain
from kg.model import Modality, Polarity

if TYPE_CHECKING:
    from pathlib import Path

    from kg.interop.exports.content import ExportContent, FactEdge
    from kg.model import Chunk, Evidence, Fact
    from kg.store.port import DocumentHead

_MOST_SENTENCES = 12  # facts that one description words
_SEPARATOR = "<SEP>"  # LightRAG's own, between descriptions that it merges
_SIGNS = {1: "同向", -1: "反向"}
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
            pairs[min(edge.key.subject, edge.key.object), max(edge.key.subject, edge.key.object)].append(edge)
    around: dict[str, list[FactEdge]] = defaultdict(list)
    for pair, edges in pairs.items():
        edges.sort(key=lambda edge: (-edge.sources, edge.key))
        for end in pair:
            around[end] += edges
    return {
        "chunks": passages.chunks(),
        "entities": [_entity(content, passages, end, around[end]) for end in content.entities if end in around],
        "relationships": [_relationship(content, passages, edges) for _, edges in sorted(pairs.items())],
    }


class _Passages:
    """The passages of a base, and which of them holds a quote."""

    def __init__(self, content: ExportContent) -> None:
        self._heads = {head.id: head for head in content.documents()}
        documents = filter(None, map(content.view.document, self._heads))
        self._chunks = {document.id: content.passages(document) for document in documents}

    def chunks(self) -> list[dict[str, Any]]:
        """Return every passage under its source; the first line makes texts of equal words different texts."""
        return [
            {
                "content": f"［{self.source(document)}］\n{plain(chunk.text)}",
                "source_id": chunk.id,
                "chunk_order_index": number,
                "file_path": self.source(document),
            }
            for document, chunks in self._chunks.items()
            for number, chunk in enumerate(chunks)
        ]

    def source(self, document: str) -> str:
        """Return a document's day, publisher and title, as one name without a slash: LightRAG keeps file names."""
        head: DocumentHead = self._heads[document]
        return plain(" ".join(filter(None, (str(head.published_on), head.publisher, head.title)))).replace("/", "／")

    def at(self, item: Evidence) -> dict[str, str]:
        """Return the passage that holds a quote as `source_id` and `file_path`."""
        chunks: list[Chunk] = self._chunks[item.document]
        place = max(bisect_right(chunks, item.start, key=attrgetter("start")) - 1, 0)
        return {"source_id": chunks[place].id if chunks else "", "file_path": self.source(item.document)}


def _entity(content: ExportContent, passages: _Passages, identity: str, edges: list[FactEdge]) -> dict[str, Any]:
    entity = content.entities[identity]
    names = [alias.name for alias in entity.aliases if alias.name != entity.name]
    parts = [content.kind(entity), *entity.codes, *dict.fromkeys(names)]
    best = best_evidence(edges[0].facts)
    return {
        "entity_name": content.titles[identity],
        "entity_type": entity.kind.value,
        "description": "、".join(map(plain, parts)),
        **passages.at(best),
    }


def _relationship(content: ExportContent, passages: _Passages, edges: list[FactEdge]) -> dict[str, Any]:
    first = edges[0].key
    facts = [fact for edge in edges for fact in edge.facts if not fact.superseded_by]
    newest = sorted(facts, key=lambda fact: (-fact.last_published_on.toordinal(), fact.id))[:_MOST_SENTENCES]
    keywords = [word for edge in edges for word in _keywords(content, edge)]
    return {
        "src_id": content.titles[first.subject],
        "tgt_id": content.titles[first.object],
        "description": _SEPARATOR.join(_sentence(content, passages, fact) for fact in newest),
        "keywords": ",".join(dict.fromkeys(keywords)),
        "weight": content.certainty(facts),
        **passages.at(best_evidence(facts)),
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
    return [content.caption(key), *filter(None, [_SIGNS.get(key.sign)]), typed]


def _sentence(content: ExportContent, passages: _Passages, fact: Fact) -> str:
    best = best_evidence((fact,))
    direction = f"{content.titles[fact.subject]}→{content.titles[fact.object]}"
    sign = f"，{_SIGNS[fact.sign]}" if fact.sign else ""
    source = "，".join(filter(None, (best.speaker, passages.source(best.document))))
    return plain(f"{content.text(fact)}（{direction}{sign}；{source}：「{best.quote}」）")
