"""What was read of the filings that were asked about last, kept for further questions; thread-safe."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from kg.query.filings.page_table import PageTable
from kg.query.filings.values.statements import FilingStatements

if TYPE_CHECKING:
    from kg.filing import Filing
    from kg.model import Document

_KEPT = 64  # filings held ready


class PageTables:
    """The pages and statements of filings by document; a document's id is that of its text."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[str, PageTable] = OrderedDict()
        self._statements: dict[str, FilingStatements] = {}

    def of(self, document: Document) -> PageTable:
        """Return the table of a document."""
        found = self.known(document.id)
        if found is None:
            found = PageTable.of(document)
            with self._lock:
                self._kept[document.id] = found
                while len(self._kept) > _KEPT:
                    oldest, _ = self._kept.popitem(last=False)
                    self._statements.pop(oldest, None)
        return found

    def known(self, document_id: str) -> PageTable | None:
        """Return the table of a document that was asked about before, else None."""
        with self._lock:
            if document_id in self._kept:
                self._kept.move_to_end(document_id)
            return self._kept.get(document_id)

    def statements(self, document_id: str, table: PageTable, filing: Filing) -> FilingStatements:
        """Return the statements of a filing, read once."""
        found = self._statements.get(document_id)
        if found is None:
            found = FilingStatements(document_id, table, filing)
            with self._lock:
                self._statements[document_id] = found
        return found
