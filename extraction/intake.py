"""Find new documents in the input files, and stored documents that the files no longer contain.

A file is identified by its path: a document read from it before and missing from it now is outdated, whether the file
is one document or JSONL. A document is identified by the hash of its bytes: if found under another path, it is reread
only if the path changes its metadata, as a date in the file name does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from extraction.documents.open_file import check, load
from extraction.documents.pdf.reader import PARTIAL
from kg.errors import DocumentError
from kg.ids import document_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from extraction.reading import FileReader
    from kg.model import Document, Reading
    from kg.store.port import Store

_PATH_METADATA = ("title", "published_on", "publisher", "codes")  # fields that a path may determine


@dataclass(slots=True)
class FileChange:
    """A file whose bytes changed: documents to remove, and readings to add once all of them are extracted."""

    outdated: list[str]
    expected: int  # less by one for each that extraction refuses
    readings: list[Reading] = field(default_factory=list)

    @property
    def ready(self) -> bool:
        """Whether all new documents of the file have been extracted."""
        return len(self.readings) >= self.expected


class Intake:
    """Scans the input files once.

    Attributes:
        changes: maps each new document of a changed file to the change that it is part of.
        emptied: changes that add nothing: lines were deleted from a JSONL file.
        outgoing: documents that a change removes; if one turns up in another file, it is treated as new.
        moved: maps a document to its new path, if only the path has changed.
        known: number of documents that were stored already.
        refused: errors of unreadable documents.
    """

    def __init__(self, store: Store, reader: FileReader) -> None:
        self._store, self._reader = store, reader
        self._seen: dict[str, Path] = {}
        self.changes: dict[str, FileChange] = {}
        self.emptied: list[FileChange] = []
        self.outgoing: set[str] = set()
        self.moved: dict[str, str] = {}
        self.known = 0
        self.refused: list[DocumentError] = []

    def fresh(self, files: Iterable[Path], done: Callable[[], None]) -> Iterator[Document]:
        """Yield the new documents; `done` is called after each file."""
        reread: list[Path] = []
        for file in files:
            yield from self._documents(file, reread)
            done()
        for file in reread:  # it contains a document that a later file of this run has lost
            yield from self._new(self._items(file), file, {})

    def _documents(self, file: Path, reread: list[Path]) -> Iterator[Document]:
        try:
            check(file)
        except DocumentError as fault:
            self.refused.append(fault)
            return
        before = self._store.documents_at(str(file))
        yield from self._changed(file, before, reread) if before else self._new(self._items(file), file, {})

    def _new(
        self, items: Iterable[Document | DocumentError | str], file: Path, before: dict[str, str]
    ) -> Iterator[Document]:
        for item in items:
            if isinstance(item, DocumentError):
                self.refused.append(item)
                continue
            identity = item if isinstance(item, str) else item.id
            first = identity not in self._seen
            self._seen.setdefault(identity, file)
            if first and not isinstance(item, str) and not self._has(identity):
                yield item
            elif first and (found := self._relocated(item, file, before)):
                self.outgoing.add(identity)
                self.changes[identity] = FileChange([identity], 1)
                yield found
            else:
                self.known += 1

    def _relocated(self, item: Document | str, file: Path, before: dict[str, str]) -> Document | None:
        """Return a stored document to reread because its new path changes its metadata, else None."""
        identity = item if isinstance(item, str) else item.id
        path = str(file) if isinstance(item, str) else item.path
        old_path = before.get(identity)
        if old_path == path:
            return None
        kept = self._store.view().document(identity)
        if kept is None or (old_path is None and _exists(kept.path)):
            return None
        found = self._read(file) if isinstance(item, str) else item
        if found is None or all(getattr(found, name) == getattr(kept, name) for name in _PATH_METADATA):
            self.moved[identity] = path
            return None
        return found

    def _changed(self, file: Path, before: dict[str, str], reread: list[Path]) -> Iterator[Document]:
        items = list(self._items(file))
        present = {item if isinstance(item, str) else item.id for item in items if not isinstance(item, DocumentError)}
        # Documents of a file that cannot be read at all, or not to its end, are kept.
        whole = not any(isinstance(item, DocumentError) and item.source == str(file) for item in items)
        outdated = [identity for identity in before if identity not in present] if present and whole else []
        self.outgoing.update(outdated)
        reread += [self._seen.pop(identity) for identity in outdated if identity in self._seen]
        fresh = list(self._new(items, file, before))
        if outdated:
            change = FileChange(outdated, len(fresh))
            self.changes.update((document.id, change) for document in fresh)
            self.emptied += [] if fresh else [change]
        yield from fresh

    def _items(self, file: Path) -> Iterable[Document | DocumentError | str]:
        """Read a file, or return only the document id if its bytes are stored already."""
        if file.suffix.lower() != ".jsonl":
            try:
                known = document_id(load(file))
            except DocumentError as fault:
                return [fault]
            if self._has(known) and not self._is_partial(known):
                return [known]
        return self._reader.read(file)

    def _is_partial(self, identity: str) -> bool:
        """Return whether the last pages of a stored document are missing; if so, it is to be replaced."""
        stored = self._store.view().document(identity)
        if stored is None or PARTIAL not in stored.tags:
            return False
        self.outgoing.add(identity)
        return True

    def _read(self, file: Path) -> Document | None:
        return next((each for each in self._reader.read(file) if not isinstance(each, DocumentError)), None)

    def _has(self, identity: str) -> bool:
        return identity not in self.outgoing and self._store.has_document(identity)


def _exists(path: str) -> bool:
    """Whether the file of a document path still exists; PATH:7 is line 7 of PATH."""
    file, colon, line = path.rpartition(":")
    return not path or Path(path).exists() or bool(colon and line.isdigit() and Path(file).exists())
