"""What is built for whole views (indexes of names, statistics) and filings, kept for the sessions that follow."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from kg.query.filings.page_table import PageTable
from kg.query.filings.values.statements import FilingStatements
from kg.query.sentences.nearest import SentenceIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from kg.filing import Filing
    from kg.model import Document
    from kg.query.session import QuerySession

_Built = TypeVar("_Built")
_KEPT_VIEWS = 4  # of each builder
_KEPT_FILINGS = 64  # filings held ready


class SessionCache:
    """Keeps what was built for the last views, and the tables of the last filings; thread-safe, one build at a time."""

    def __init__(self) -> None:
        self._lock, self._locks = Lock(), defaultdict[object, Lock](Lock)
        self._found = defaultdict[object, OrderedDict[object, Any]](OrderedDict)
        self.tables, self.sentences = PageTables(), SentenceIndex()

    def of(self, session: QuerySession, state: str, build: Callable[[QuerySession], _Built], *more: Hashable) -> _Built:
        """Return what `build` makes of a session's view; `state` is that of the store before the session was opened.

        `more` is what else the result depends on.
        """
        key = (state, session.view.as_of, session.view.known_at, *more)
        with self._lock:
            lock, found = self._locks[build], self._found[build]
        with lock:
            if key not in found:
                found[key] = build(session)
                if len(found) > _KEPT_VIEWS:
                    found.popitem(last=False)
            found.move_to_end(key)
            built: _Built = found[key]
            return built


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
                while len(self._kept) > _KEPT_FILINGS:
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
