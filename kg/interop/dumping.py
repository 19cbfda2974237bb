"""Dump the logical content of a store as sorted JSON lines; equal content gives equal bytes in every store.

Documents are sorted by day and id, each followed by its passages, mentions, described entities and facts; then come
judgements, weekly runs, and an end line with the line count, which reveals a truncated dump. The recording times of
documents and runs are omitted; those of judgements are content and kept. docs/store.md lists the fields of every line.
"""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any

from kg.errors import StoreError
from kg.model import BlockKind
from kg.store import codec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.model import Document, Fact, Reading
    from kg.store.port import Store

FORMAT = 2  # format 1 has no end line


class StoreChanged(StoreError):
    """A knowledge base was written to during a dump."""

    def __init__(self) -> None:
        super().__init__("the knowledge base changed during the dump; dump it again when no process is writing")


def dump(store: Store) -> Iterator[str]:
    """Yield the lines of a dump, with newlines.

    Raises:
        StoreChanged: instead of the end line, when the lines may come from different states.
    """
    revision = store.revision()
    yield _line("base", format=FORMAT)
    count = 1
    for line in chain(_documents(store), last_lines(store)):
        yield line
        count += 1
    if store.revision() != revision:
        raise StoreChanged
    yield _line("end", lines=count)


def _documents(store: Store) -> Iterator[str]:
    for head in list(store.view().documents()):
        reading = store.reading(head.id)
        if reading is not None:  # removed during the dump
            yield from document_lines(reading)


def last_lines(store: Store) -> Iterator[str]:
    """Yield the lines of judgements and runs."""
    view = store.view()
    for judgement in sorted(view.judgements(), key=lambda item: (item.recorded_at, item.id)):
        yield _line("judgement", id=judgement.id, record=json.loads(codec.judgement_out(judgement)))
    for run in view.runs():
        yield _line("run", record=json.loads(codec.run_out(run)))


def document_lines(reading: Reading) -> Iterator[str]:
    """Yield the lines of one document."""
    yield _line("document", **_document(reading.document, reading))
    for chunk in reading.chunks:
        yield _line("chunk", id=chunk.id, record=json.loads(codec.chunk_out(chunk)))
    for mention in reading.mentions:
        yield _line("mention", record=json.loads(codec.mention_out(mention)))
    for entity in reading.entities:
        kind, name, aliases, codes, about = json.loads(codec.entity_out(entity))
        yield _line("entity", id=entity.id, kind=kind, name=name, aliases=aliases, codes=codes, about=about)
    for fact in reading.facts:
        yield _line("fact", **_fact(fact))


def _document(document: Document, reading: Reading) -> dict[str, Any]:
    return {
        "id": document.id,
        "title": document.title,
        "published_on": document.published_on.isoformat(),
        "kind": document.kind,
        "publisher": document.publisher,
        "authors": document.authors,
        "url": document.url,
        "language": document.language,
        "codes": document.codes,
        "tags": document.tags,
        "path": document.path,
        "signature": document.signature.hex(),
        "copies": reading.copies,
        "problems": [[item.kind, item.message, item.start, item.end] for item in reading.problems],
        "pages": document.pages,
        "blocks": [[b.start, b.end, BlockKind(b.kind).value, b.level, b.html] for b in document.blocks],
        "removed": [[item.start, item.end, item.reason] for item in document.removed],
        "text": document.text,
    }


def _fact(fact: Fact) -> dict[str, Any]:
    evidence = [[item.start, item.end, item.speaker, item.confidence, item.extractor] for item in fact.evidence]
    ends = {"subject": fact.subject, "relation": fact.relation, "object": fact.object}
    return {"id": fact.id, **ends, "claim": json.loads(codec.claim_out(fact)), "evidence": evidence}


def _line(type_: str, **fields: Any) -> str:
    return codec.dump({"type": type_, **fields}) + "\n"
