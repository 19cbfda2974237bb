"""The sections of a document with their pages, from the headings that it is stored with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.errors import UnknownDocument
from kg.model import BlockKind
from kg.query.plain import Answer

if TYPE_CHECKING:
    from kg.model import Document
    from kg.store.port import View


@dataclass(frozen=True, slots=True)
class OutlineSection(Answer):
    """A heading, its depth from 1, and the pages from it to the next heading of its depth; None without pages."""

    level: int
    title: str
    page: int | None
    last_page: int | None
    start: int


@dataclass(frozen=True, slots=True)
class OutlineAnswer(Answer):
    """The sections of a document in order."""

    document: str
    title: str
    pages: int
    sections: tuple[OutlineSection, ...]


def outline_of(document: Document) -> OutlineAnswer:
    """Return the sections of a document; a heading that only repeats the one before (continued) is left out."""
    heads = [block for block in document.blocks if block.kind is BlockKind.HEADING]
    titles = [" ".join(document.text[block.start : block.end].split()) for block in heads]
    kept = [n for n in range(len(heads)) if not n or titles[n].casefold() != titles[n - 1].casefold()]
    sections = []
    for place, number in enumerate(kept):
        block = heads[number]
        after = next((heads[n] for n in kept[place + 1 :] if heads[n].level <= block.level), None)
        page = document.page_of(block.start)
        last = document.page_of(after.start if after else max(0, len(document.text) - 1))
        sections.append(OutlineSection(block.level, titles[number], page, last, block.start))
    return OutlineAnswer(document.id, document.title, len(document.pages), tuple(sections))


def stored_outline(view: View, document_id: str) -> OutlineAnswer:
    """Return the outline of a stored document.

    Raises:
        UnknownDocument: when the view has no document with this id.
    """
    document = view.document(document_id)
    if document is None:
        raise UnknownDocument(document_id)
    return outline_of(document)
