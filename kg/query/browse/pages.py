"""The text of a document, a page or a stretch at a time, with the names found in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.errors import QuestionError, UnknownDocument
from kg.query.plain import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from kg.model import Document
    from kg.store.port import View

_LONGEST = 20_000  # characters sent at once


class UnknownPage(QuestionError):
    """A page or place that a document does not have."""

    def __init__(self, document_id: str, pages: int, length: int) -> None:
        has = f"it has {pages} pages" if pages else f"it has no pages but {length} characters (give start)"
        super().__init__("{name}: no such page or place; {has}", name=document_id, has=has)


@dataclass(frozen=True, slots=True)
class NameSpan:
    """A name in a text; offsets count characters of the whole document."""

    start: int
    end: int
    entity: str


@dataclass(frozen=True, slots=True)
class FactSpan:
    """The sentence that a fact was read from, anywhere in the document."""

    start: int
    end: int
    page: int | None
    fact: str


@dataclass(frozen=True, slots=True)
class DocumentPart(Answer):
    """A stretch of a document; `next_start` is where the text goes on, None at its end.

    `highlights` are the sentences of the facts that were asked for, in text order.
    """

    id: str
    title: str
    publisher: str
    authors: tuple[str, ...]
    published_on: date
    url: str
    pages: int
    page: int | None
    start: int
    end: int
    next_start: int | None
    text: str
    spans: tuple[NameSpan, ...]
    highlights: tuple[FactSpan, ...] = ()


def part_of(
    view: View, document_id: str, *, page: int | None = None, start: int = 0, facts: Sequence[str] = ()
) -> DocumentPart:
    """Return a page of a document, or its text from `start` on; at most 20,000 characters.

    Raises:
        UnknownDocument: when the view has no document with this id.
        UnknownPage: when it has no such page or place.
    """
    document = view.document(document_id)
    if document is None:
        raise UnknownDocument(document_id)
    begin, last = _bounds(document, page, start)
    end = min(last, begin + _LONGEST)
    spans = tuple(
        NameSpan(mention.start, mention.end, mention.entity)
        for mention in view.mentions(document_id)
        if mention.entity and begin <= mention.start and mention.end <= end
    )
    return DocumentPart(
        id=document.id,
        title=document.title,
        publisher=document.publisher,
        authors=document.authors,
        published_on=document.published_on,
        url=document.url,
        pages=len(document.pages),
        page=document.page_of(begin),
        start=begin,
        end=end,
        next_start=end if end < len(document.text) else None,
        text=document.text[begin:end],
        spans=spans,
        highlights=tuple(_highlights(view, document, facts)),
    )


def _highlights(view: View, document: Document, facts: Sequence[str]) -> list[FactSpan]:
    return sorted(
        (
            FactSpan(item.start, item.end, document.page_of(item.start), fact.id)
            for fact in (view.facts(ids=facts) if facts else ())
            for item in fact.evidence
            if item.document == document.id
        ),
        key=lambda span: (span.start, span.end, span.fact),
    )


def _bounds(document: Document, page: int | None, start: int) -> tuple[int, int]:
    """Return where a page, or what follows `start`, begins and ends."""
    length, pages = len(document.text), document.pages
    if page is None:
        if start > length:
            raise UnknownPage(document.id, len(pages), length)
        return start, length
    if not 1 <= page <= len(pages):
        raise UnknownPage(document.id, len(pages), length)
    return pages[page - 1], pages[page] if page < len(pages) else length
