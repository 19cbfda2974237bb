"""Passages that answer a query by their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.query.answers import Citation, Passage

if TYPE_CHECKING:
    from kg.store.port import View

_QUOTE = 160
_QUERY = 1000  # characters of a query that are looked for


def passages(view: View, query: str, *, limit: int = 10) -> list[Passage]:
    """Return up to `limit` passages, best first (BM25 over words)."""
    found = view.search(query[:_QUERY], limit)
    documents = {name: view.document(name) for name in {chunk.document for chunk, _ in found}}
    return [
        Passage(chunk, document.title, document.publisher, document.published_on, round(score, 4))
        for chunk, score in found
        if (document := documents[chunk.document])
    ]


def citation_of(passage: Passage) -> Citation:
    """Return a passage's first lines as a citation; the quote is the stored text."""
    chunk = passage.chunk
    quote = chunk.text[:_QUOTE]
    return Citation(
        fact="",
        document=chunk.document,
        title=passage.title,
        publisher=passage.publisher,
        speaker=passage.publisher,
        published_on=passage.published_on,
        page=chunk.page,
        start=chunk.start,
        end=chunk.start + len(quote),
        quote=quote,
    )
