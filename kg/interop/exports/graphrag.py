"""The tables of a GraphRAG 3 index, so that `graphrag query` (local, global, drift, basic) runs on them.

GraphRAG makes random ids; these are derived from Liantu's, so that equal content gives equal files. Columns that
GraphRAG does not know (`liantu_…`) are ignored there and read back by `liantu import --format graphrag`.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections import defaultdict
from datetime import timedelta
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from kg.interop.exports.content import MEASURES, MOST_SENTENCES, best_evidence, known
from kg.interop.exports.tables import columns_of, write_table
from kg.messages.words import listed, word
from kg.model import Modality, Polarity
from kg.store import codec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date
    from pathlib import Path

    from kg.interop.exports.content import ExportContent, FactEdge
    from kg.interop.exports.tables import ColumnType
    from kg.model import Chunk, Community, Document, Evidence, Fact

_SPACE = UUID("6c1f7b1e-6f0c-5d0b-9c8f-3f2f3c0a7a10")
_DAY = timedelta(days=1)
_SETTINGS = """\
# Written by `liantu export graphrag`. The tables in output/ are complete; only the embeddings are missing:
#   export GRAPHRAG_API_KEY=…
#   graphrag index --root .                        embeds every text; the completion model is only checked
#   graphrag query --root . --method local "…"     or global, drift, basic
completion_models:
  default_completion_model:
    model_provider: openai
    model: gpt-4.1
    api_key: ${GRAPHRAG_API_KEY}
embedding_models:
  default_embedding_model:
    model_provider: openai
    model: text-embedding-3-large
    api_key: ${GRAPHRAG_API_KEY}
workflows: [generate_text_embeddings]
vector_store:
  type: lancedb
  db_uri: output/lancedb
  vector_size: 3072  # of the embedding model above
"""
Record = dict[str, Any]


def write_graphrag(content: ExportContent, folder: Path) -> None:
    """Write `settings.yaml` and the seven tables in `output/`."""
    (folder / "settings.yaml").write_text(_SETTINGS, encoding="utf-8")
    (folder / "output").mkdir()
    index = _Index(content)
    for name, records in index.tables().items():
        columns = _COLUMNS[name]
        rows = (tuple(map(record.get, columns)) for record in records)
        write_table(columns, rows, folder / "output" / f"{name}.parquet")


class _Index:
    """The rows of the seven tables and how they refer to one another."""

    def __init__(self, content: ExportContent) -> None:
        self._content, self._titles = content, content.titles
        self._edges = [edge for edge in content.edges() if edge.is_live]
        self._degrees: dict[str, set[str]] = defaultdict(set)
        self._units_of: dict[str, set[str]] = defaultdict(set)  # of entities, edges and facts, by their ids here
        self._held: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))  # the other way round
        self._leaving: dict[str, list[FactEdge]] = defaultdict(list)
        for edge in self._edges:
            self._leaving[edge.key.subject].append(edge)
            self._degrees[edge.key.subject].add(edge.key.object)
            self._degrees[edge.key.object].add(edge.key.subject)
        for edge in self._edges:
            self._refer("relationship_ids", self._edge_id(edge), edge.facts)
            for end in (edge.key.subject, edge.key.object):
                self._refer("entity_ids", _id(end), edge.facts)
        self._measures = list(content.measures())
        for one, other in self._measures:
            self._degrees[one].add(other)
            self._degrees[other].add(one)
        for fact in self._facts:
            self._refer("covariate_ids", _id(fact.id), (fact,), every=False)

    @cached_property
    def _facts(self) -> list[Fact]:
        return list(self._content.facts())

    @cached_property
    def _largest(self) -> int:
        return max(len(item.members) for _, item in self._content.themes())

    @cached_property
    def _documents(self) -> list[tuple[Document, list[Chunk]]]:
        heads = ((head.id, self._content.view.document(head.id)) for head in self._content.documents())
        return [(document, self._content.passages(document)) for _, document in heads if document]

    @cached_property
    def _units(self) -> dict[str, list[tuple[int, str]]]:
        """Where the text units of each document begin, with their ids."""
        return {
            document.id: [(chunk.start, _hash(chunk.id)) for chunk in chunks] for document, chunks in self._documents
        }

    def _unit(self, item: Evidence) -> str:
        """Return the text unit that holds a quote, or the nearest one before it; "" in a document without text."""
        units = self._units.get(item.document)
        return units[max(bisect_right(units, item.start, key=itemgetter(0)) - 1, 0)][1] if units else ""

    def _refer(self, table: str, identity: str, facts: Iterable[Fact], *, every: bool = True) -> None:
        for fact in facts:
            for item in fact.evidence if every else (best_evidence((fact,)),):
                if unit := self._unit(item):
                    self._units_of[identity].add(unit)
                    self._held[unit][table].add(identity)

    def tables(self) -> dict[str, list[Record]]:
        """Return the records of every table by its name."""
        communities = self._communities()
        return {
            "entities": [self._entity(number, identity) for number, identity in enumerate(self._content.entities)],
            "relationships": [
                *(self._relationship(number, edge) for number, edge in enumerate(self._edges)),
                *(self._measure(number, *each) for number, each in enumerate(self._measures, len(self._edges))),
            ],
            "covariates": [self._covariate(number, fact) for number, fact in enumerate(self._facts)],
            "text_units": self._text_units(),
            "documents": [self._document(*each) for each in enumerate(self._documents)],
            "communities": [community for community, _ in communities],
            "community_reports": [report for _, report in communities],
        }

    def _entity(self, number: int, identity: str) -> Record:
        entity, units = self._content.entities[identity], sorted(self._units_of[_id(identity)])
        return {
            "id": _id(identity),
            "human_readable_id": number,
            "title": self._titles[identity],
            "type": entity.kind.value.upper(),
            "description": self._content.description(identity),
            "text_unit_ids": units,
            "frequency": len(units),
            "degree": len(self._degrees[identity]),
            "liantu_id": identity,
        }

    def _edge_id(self, edge: FactEdge) -> str:
        return _id("edge", *map(str, edge.key))

    def _relationship(self, number: int, edge: FactEdge) -> Record:
        identity = self._edge_id(edge)
        newest = sorted(edge.facts, key=lambda fact: (-fact.last_published_on.toordinal(), fact.id))
        sentences = map(self._content.sourced, newest[:MOST_SENTENCES])
        return self._between(number, identity, edge.key.subject, edge.key.object) | {
            "description": word("sentences", self._content.lang).join(sentences),
            "weight": self._content.certainty(edge.facts),
            "text_unit_ids": sorted(self._units_of[identity]),
            "liantu_relation": edge.key.relation,
            "liantu_sign": edge.key.sign,
            "liantu_sources": edge.sources,
        }

    def _measure(self, number: int, indicator: str, thing: str) -> Record:
        """Return the relationship of an indicator to what it measures, which no document states."""
        measures = word("export.measures", self._content.lang, thing=self._content.name(thing))
        return self._between(number, _id(MEASURES, indicator, thing), indicator, thing) | {
            "description": f"{self._content.name(indicator)} {measures}",
            "weight": 1.0,
            "text_unit_ids": sorted(self._units_of[_id(indicator)]),
            "liantu_relation": MEASURES,
        }

    def _between(self, number: int, identity: str, source: str, target: str) -> Record:
        return {
            "id": identity,
            "human_readable_id": number,
            "source": self._titles[source],
            "target": self._titles[target],
            "combined_degree": len(self._degrees[source]) + len(self._degrees[target]),
        }

    def _covariate(self, number: int, fact: Fact) -> Record:
        best, clocks = best_evidence((fact,)), known(fact)
        valid = fact.valid
        return {
            "id": _id(fact.id),
            "human_readable_id": number,
            "covariate_type": "claim",
            "type": fact.relation.upper(),
            "description": self._content.sourced(fact),
            "subject_id": self._titles[fact.subject],
            "object_id": self._titles[fact.object],
            "status": _status(fact),
            "start_date": valid.start.isoformat() if valid and valid.start else None,
            "end_date": (valid.end - _DAY).isoformat() if valid and valid.end else None,  # the last day, as theirs
            "source_text": best.quote,
            "text_unit_id": self._unit(best) or None,
            "liantu_id": fact.id,
            "liantu_claim": codec.claim_out(fact),
            "liantu_sign": fact.sign,
            "liantu_polarity": fact.polarity.value,
            "liantu_modality": fact.modality.value,
            "liantu_confidence": best.confidence,
            "liantu_published_on": clocks.first,
            "liantu_known_from": clocks.known_from,
            "liantu_speaker": best.speaker or None,
        }

    def _text_units(self) -> list[Record]:
        pairs = ((document, chunk) for document, chunks in self._documents for chunk in chunks)
        return [
            {
                "id": _hash(chunk.id),
                "human_readable_id": number,
                "text": f"{document.title}（{document.published_on}）\n{chunk.text}",
                "n_tokens": _tokens(document.title) + _tokens(chunk.text),
                "document_id": _hash(document.id),
                **{
                    name: sorted(self._held[_hash(chunk.id)][name])
                    for name in ("entity_ids", "relationship_ids", "covariate_ids")
                },
            }
            for number, (document, chunk) in enumerate(pairs)
        ]

    def _document(self, number: int, pair: tuple[Document, list[Chunk]]) -> Record:
        document, chunks = pair
        source = {"liantu_id": document.id, "publisher": document.publisher, "url": document.url}
        return {
            "id": _hash(document.id),
            "human_readable_id": number,
            "title": document.title,
            "text": document.text,
            "text_unit_ids": [_hash(chunk.id) for chunk in chunks],
            "creation_date": f"{document.published_on} 00:00:00 +0000",
            "raw_data": json.dumps(source, ensure_ascii=False, sort_keys=True),
        }

    def _communities(self) -> list[tuple[Record, Record]]:
        themes = self._content.themes()
        numbers = {item.id: number for number, (_, item) in enumerate(themes)}
        children: dict[str, list[int]] = defaultdict(list)
        for _, item in themes:
            children[item.parent].append(numbers[item.id])
        return [self._community(day, item, numbers, children[item.id]) for day, item in themes]

    def _community(
        self, day: date, item: Community, numbers: Mapping[str, int], children: list[int]
    ) -> tuple[Record, Record]:
        number, members = numbers[item.id], [each for each in item.members if each in self._content.entities]
        inside = set(members)
        edges = [edge for each in members for edge in self._leaving[each] if edge.key.object in inside]
        named = (self._titles[each] for each in members[:3])
        name = item.summary.title if item.summary else listed(named, self._content.lang)
        shared: Record = {
            "human_readable_id": number,
            "community": number,
            "level": item.level,
            "parent": numbers.get(item.parent, -1),
            "children": children,
            "title": f"{name}（{number}）",  # GraphRAG takes communities of one title for one
            "period": day.isoformat(),
            "size": len(members),
        }
        community = {
            "id": _id(item.id),
            "entity_ids": [_id(each) for each in members],
            "relationship_ids": sorted(map(self._edge_id, edges)),
            "text_unit_ids": sorted({unit for edge in edges for unit in self._units_of[self._edge_id(edge)]}),
            "liantu_id": item.id,
        }
        return shared | community, shared | self._report(item, name)

    def _report(self, item: Community, name: str) -> Record:
        """Return the report of a theme: its first line, then every other as a finding that quotes explain."""
        lines = (*(item.summary.lines if item.summary else ()), *item.changes)
        wanted = {fact for line in lines for fact in line.facts}
        facts = {fact.id: fact for fact in self._content.view.facts(ids=wanted)} if wanted else {}
        quotes = {identity: self._content.quoted(fact) for identity, fact in facts.items()}
        between = word("sentences", self._content.lang)
        quoted_lines = [
            (line.text, between.join(quotes[each] for each in line.facts if each in quotes)) for line in lines
        ]
        summary, explained = quoted_lines[0] if quoted_lines else (name, "")
        findings = [{"summary": line, "explanation": quoted} for line, quoted in quoted_lines[1:]]
        parts = (f"# {name}", summary, explained, *(f"## {line}\n\n{quoted}" for line, quoted in quoted_lines[1:]))
        content = "\n\n".join(filter(None, parts))
        return {
            "id": _hash(item.id + content),
            "summary": summary,
            "full_content": content,
            "rank": round(10 * len(item.members) / self._largest, 1),
            "rating_explanation": word("export.rank", self._content.lang),
            "findings": findings,
            "full_content_json": json.dumps(
                {"title": name, "summary": summary, "findings": findings}, ensure_ascii=False
            ),
        }


def _status(fact: Fact) -> str:
    """Return GraphRAG's status of a claim: TRUE, FALSE, or SUSPECTED for what is not asserted."""
    if fact.polarity is Polarity.NEGATIVE:
        return "FALSE"
    return "TRUE" if fact.modality is Modality.ASSERTED else "SUSPECTED"


def _id(*parts: str) -> str:
    return str(uuid5(_SPACE, "\x1f".join(parts)))


def _hash(text: str) -> str:
    return hashlib.sha512(text.encode()).hexdigest()


def _tokens(text: str) -> int:
    """Estimate the tokens of a text: one per Chinese character, one per four others."""
    chinese = sum(char > "\u2e7f" for char in text)
    return chinese + (len(text) - chinese + 3) // 4


# The columns of `graphrag.data_model.schemas` in their order, then Liantu's own.
_COLUMNS: Mapping[str, Mapping[str, ColumnType]] = {
    "entities": columns_of(
        "id human_readable_id:whole title type description text_unit_ids:texts frequency:whole degree:whole liantu_id"
    ),
    "relationships": columns_of(
        "id human_readable_id:whole source target description weight:number combined_degree:whole text_unit_ids:texts",
        "liantu_relation liantu_sign:whole liantu_sources:whole",
    ),
    "communities": columns_of(
        "id human_readable_id:whole community:whole level:whole parent:whole children:wholes title entity_ids:texts",
        "relationship_ids:texts text_unit_ids:texts period size:whole liantu_id",
    ),
    "community_reports": columns_of(
        "id human_readable_id:whole community:whole level:whole parent:whole children:wholes title summary",
        "full_content rank:number rating_explanation findings:findings full_content_json period size:whole",
    ),
    "covariates": columns_of(
        "id human_readable_id:whole covariate_type type description subject_id object_id status start_date end_date",
        "source_text text_unit_id liantu_id liantu_claim liantu_sign:whole liantu_polarity liantu_modality",
        "liantu_confidence:number liantu_published_on:day liantu_known_from:instant liantu_speaker",
    ),
    "text_units": columns_of(
        "id human_readable_id:whole text n_tokens:whole document_id",
        "entity_ids:texts relationship_ids:texts covariate_ids:texts",
    ),
    "documents": columns_of("id human_readable_id:whole title text text_unit_ids:texts creation_date raw_data"),
}
