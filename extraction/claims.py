"""The seam between what is in a document and who reads claims out of it.

A reader gets the whole annotated document and yields claims with the sentence that states them; the pipeline holds a
list of readers and knows none of them by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from extraction.annotated import Annotated

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from extraction.annotated import Claim, Ref
    from extraction.models.units import Line
    from kg.model import Document


class AnnotatedDocument(Struct, frozen=True):
    """A document cut into lines, each with its names, and its sentences with their surroundings.

    `lines` are its sentences, headings and rows of tables in order, and `names` what is named in each; `sentences`
    are those that are neither, `by_line` where each of them stands. `company` is whom the report is about.
    """

    document: Document
    lines: Sequence[Line]
    names: Sequence[Sequence[Ref]]
    sentences: Sequence[Annotated]
    by_line: Mapping[int, Annotated]
    title: str = ""
    title_names: Sequence[Ref] = ()
    company: Ref | None = None

    def text_of(self, line: int) -> str:
        """Return the text of a line; -1 is the document's title."""
        return self.lines[line].sentence.text if line >= 0 else self.title

    def sentence(self, line: int) -> Annotated:
        """Return a line as a sentence; a heading or a row has no surroundings of its own."""
        known = self.by_line.get(line)
        return known if known is not None else Annotated(self.lines[line].sentence, tuple(self.names[line]), (), ())


class ClaimReader(Protocol):
    """Reads claims out of an annotated document; keeps nothing from one document to the next."""

    def read(self, document: AnnotatedDocument) -> Iterable[tuple[Claim, Annotated]]:
        """Yield the claims of a document, each with the sentence that states it."""
        ...
