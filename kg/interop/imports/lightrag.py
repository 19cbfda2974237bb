"""Read a LightRAG store: its working folder, or the JSON file of a custom knowledge graph."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

import networkx as nx

from kg.errors import DocumentError
from kg.interop.exports.content import MEASURES, folded_name
from kg.interop.exports.lightrag import TYPED
from kg.interop.imports.foreign import ForeignGraph, ForeignLink, ForeignText, day_in, day_named, grouped
from kg.model import Fact, Modality, Polarity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date
    from pathlib import Path

Record = dict[str, Any]
_SEPARATOR = "<SEP>"
_HEADING = re.compile(r"［\d{4}-\d\d-\d\d [^］\n]*］\n")  # the first line of a passage that Liantu exported
EXTRACTOR = "import/lightrag"


def read_lightrag(path: Path, given: date | None) -> ForeignGraph:
    """Return the graph of a store with the default (file) back ends.

    A document's day is the one that begins its file name, else `given`, else the day on which it was indexed.

    Raises:
        DocumentError: when a file is missing or cannot be read.
    """
    return _custom(path, given) if path.is_file() else _store(path, given)


def _custom(path: Path, given: date | None) -> ForeignGraph:
    found = _json(path)
    try:
        chunks = {str(each["source_id"]): each for each in found["chunks"]}
        types = {str(each["entity_name"]): str(each.get("entity_type") or "") for each in found["entities"]}
        edges = [(str(each["src_id"]), str(each["tgt_id"]), each) for each in found["relationships"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise _not_lightrag(path, f"has no {error}") from error
    return ForeignGraph(EXTRACTOR, tuple(_documents(chunks, {}, {}, given=given)), types, tuple(_links(edges)))


def _store(folder: Path, given: date | None) -> ForeignGraph:
    chunks = _json(folder / "kv_store_text_chunks.json")
    texts, states = (
        _json(folder / name) if (folder / name).is_file() else {}
        for name in ("kv_store_full_docs.json", "kv_store_doc_status.json")
    )
    path = folder / "graph_chunk_entity_relation.graphml"
    try:
        graph = nx.read_graphml(path)
    except (OSError, ParseError, nx.NetworkXError) as error:
        raise _not_lightrag(path, f"cannot be read: {error}") from error
    types = {str(name): str(data.get("entity_type") or "") for name, data in graph.nodes(data=True)}
    edges = sorted((str(one), str(other), data) for one, other, data in graph.edges(data=True))
    documents = tuple(_documents(chunks, texts, states, given=given))
    return ForeignGraph(EXTRACTOR, documents, types, tuple(_links(edges)))


def _documents(chunks: Record, texts: Record, states: Record, *, given: date | None) -> Iterator[ForeignText]:
    """Yield documents by their passages; those of a custom graph belong together by their file name."""

    def home(chunk: Record) -> str:
        identity = str(chunk.get("full_doc_id") or "")
        return identity if identity in texts else str(chunk.get("file_path") or identity)

    ordered = sorted(
        chunks.items(), key=lambda item: (home(item[1]), int(item[1].get("chunk_order_index") or 0), item[0])
    )
    passages = grouped((home(chunk), name, _HEADING.sub("", str(chunk["content"]), count=1)) for name, chunk in ordered)
    for identity, parts in passages.items():
        state = states.get(identity) or {}
        name = str(state.get("file_path") or (texts.get(identity) or {}).get("file_path") or identity)
        day = day_named(name) or given or day_in(str(state.get("created_at") or ""))
        yield ForeignText(name, str((texts.get(identity) or {}).get("content") or ""), day, parts)


def _links(edges: Iterable[tuple[str, str, Record]]) -> Iterator[ForeignLink]:
    for one, other, data in edges:
        passages = tuple(str(data.get("source_id") or "").split(_SEPARATOR))
        typed = list(
            filter(None, (TYPED.fullmatch(word.strip()) for word in str(data.get("keywords") or "").split(",")))
        )
        stated = [(ends, found) for found in typed if (ends := _ends(found, one, other))]
        for (source, target), found in stated:
            if found["relation"] != MEASURES:  # of two entities, stated by no document
                yield ForeignLink(source, target, passages, _claim(found), confidence=float(found["confidence"]))
        if not stated:
            yield ForeignLink(one, other, passages, Fact("", "", "", ""))


def _ends(found: re.Match[str], one: str, other: str) -> tuple[str, str] | None:
    """Return the two names of an edge in the order that its keyword states: LightRAG keeps none."""
    stated = folded_name(found["source"]), folded_name(found["target"])
    names = tuple(folded_name(name.replace(",", "，")) for name in (one, other))
    return (one, other) if stated == names else (other, one) if stated == names[::-1] else None


def _claim(found: re.Match[str]) -> Fact:
    return Fact(
        *("", "", found["relation"], ""),
        sign=int(found["sign"] or 0),
        polarity=Polarity.NEGATIVE if found["denied"] else Polarity.POSITIVE,
        modality=Modality(found["modality"] or "asserted"),
    )


def _json(path: Path) -> Record:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _not_lightrag(path, f"cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise _not_lightrag(path, "holds no object")
    return found


def _not_lightrag(path: Path, cause: str) -> DocumentError:
    advice = "name the working folder of a LightRAG store with file back ends, or a custom_kg JSON file"
    return DocumentError(str(path), cause.splitlines()[0], advice)
