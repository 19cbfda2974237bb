"""Read a long filing by the plain text of its pages, and describe any filing by its cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from extraction.documents.assembly import assemble
from extraction.documents.encoding import MAX_CHARACTERS
from extraction.documents.filings.cover import published_on, read_cover, with_unit
from extraction.documents.filings.pages import is_plain, pieces_of
from extraction.documents.metadata import Metadata, build
from kg.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from extraction.documents.metadata import SourceFile
    from kg.filing import Filing
    from kg.model import Document

OPENING = 12  # pages that the cover is looked for in


class FilingReader:
    """Identify a document by its opening pages.

    Args:
        source: the file.
        text_of: returns the text of a page by its index.
        count: number of pages.
        numbered: whether the format has pages; else they are stretches of text.
    """

    def __init__(self, source: SourceFile, text_of: Callable[[int], str], count: int, *, numbered: bool = True) -> None:
        self._source, self._text_of, self._count, self._numbered = source, text_of, count, numbered
        self._opening = [text_of(number) for number in range(min(count, OPENING))]
        self.filing = read_cover(self._opening)

    @property
    def plain(self) -> bool:
        """Whether the document is a filing to be read by its plain text."""
        return is_plain(self.filing, self._count)

    def layers(self) -> list[Metadata]:
        """Return the metadata of the cover, for a document that is laid out."""
        return [described(with_unit(self.filing, self._opening), self._opening)] if self.filing else []

    def read(self, created: date | None) -> Document:
        """Read the whole filing.

        Args:
            created: when the file was made, which counts where the filing states no day.

        Raises:
            DocumentError: without a publication day, or too long.
        """
        assert self.filing is not None
        rest = range(len(self._opening), self._count)
        pages = list(self._opening)
        characters = sum(map(len, pages))
        for number in rest:
            pages.append(self._text_of(number))
            characters += len(pages[-1])
            if characters > MAX_CHARACTERS:
                cause = f"more than {MAX_CHARACTERS:,} characters"
                raise DocumentError(self._source.name, cause, "split it into single reports")
        known = described(with_unit(self.filing, pages), pages)
        ends = self.filing.ends
        late = created if created and (ends is None or created > ends) else None
        if not (self._source.published_on or known.published_on or late):
            cause = "no publication date in its metadata, first page or file name"
            raise DocumentError(self._source.name, cause, "pass --date YYYY-MM-DD")
        body = assemble(pieces_of(pages), page_count=self._count if self._numbered else 0)
        return build(self._source, body, [known, Metadata(published_on=late)])


def described(filing: Filing, pages: Sequence[str]) -> Metadata:
    """Return the metadata of a filing; its title is made from its cover."""
    return Metadata(
        title=filing.title,
        published_on=published_on(filing, pages),
        publisher=filing.company,
        codes=filing.codes,
        tags=filing.tags,
        kind=filing.form,
    )
