"""Which documents of the files are new to a base, and which of the base the files no longer hold.

A file is known by its path: what was read from it before and is not in it any more is outdated, be it one document or
lines of a JSONL. Documents are told apart by the hash of their bytes: one that lies elsewhere now is read again only
where its new path tells something else of it, as a day in a file's name does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from extraction.documents.open_file import read_file
from kg.errors import DocumentError
from kg.ids import document_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import date

    from kg.model import Document, Reading
    from kg.store.port import Store

_TOLD_BY_PATH = ("title", "published_on", "publisher", "codes")


@dataclass(slots=True)
class FileChange:
    """A file with other bytes than before: documents to take out and, once all are read, readings to put in."""

    outdated: list[str]
    awaited: int
    readings: list[Reading] = field(default_factory=list)

    @property
    def ready(self) -> bool:
        """Whether all its new documents have been read."""
        return len(self.readings) >= self.awaited


class Intake:
    """Goes through files once.

    Attributes:
        changes: by each new document of a changed file, the change that it is part of.
        emptied: changes that bring nothing new: lines were taken out of a JSONL.
        outgoing: documents that a change takes out; one of them that turns up in another file is read as new.
        moved: by document, where it lies now that it is not where it was and nothing else of it has changed.
        known: how many documents were there already.
        refused: what could not be read.
    """

    def __init__(self, store: Store, today: date, published_on: date | None) -> None:
        self._store, self._today, self._published_on = store, today, published_on
        self._seen: dict[str, Path] = {}
        self.changes: dict[str, FileChange] = {}
        self.emptied: list[FileChange] = []
        self.outgoing: set[str] = set()
        self.moved: dict[str, str] = {}
        self.known = 0
        self.refused: list[DocumentError] = []

    def fresh(self, files: Iterable[Path], done: Callable[[], None]) -> Iterator[Document]:
        """Yield the documents that are new; `done` is called after each file."""
        again: list[Path] = []
        for file in files:
            before = self._store.documents_at(str(file))
            yield from self._changed(file, before, again) if before else self._new(self._items(file), file, {})
            done()
        for file in again:  # what one file held before another one of this run holds now
            yield from self._new(self._items(file), file, {})

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
            elif first and (found := self._elsewhere(item, file, before)):
                self.outgoing.add(identity)
                self.changes[identity] = FileChange([identity], 1)
                yield found
            else:
                self.known += 1

    def _elsewhere(self, item: Document | str, file: Path, before: dict[str, str]) -> Document | None:
        """Return a known document that is to be read again, because its new path tells something else of it."""
        identity = item if isinstance(item, str) else item.id
        path = str(file) if isinstance(item, str) else item.path
        at = before.get(identity)
        if at == path:
            return None
        kept = self._store.view().document(identity)
        if kept is None or (at is None and _is_there(kept.path)):
            return None
        found = self._read(file) if isinstance(item, str) else item
        if found is None or all(getattr(found, name) == getattr(kept, name) for name in _TOLD_BY_PATH):
            self.moved[identity] = path
            return None
        return found

    def _changed(self, file: Path, before: dict[str, str], again: list[Path]) -> Iterator[Document]:
        items = list(self._items(file))
        present = {item if isinstance(item, str) else item.id for item in items if not isinstance(item, DocumentError)}
        # A file that cannot be read at all has lost nothing yet: what was read from it before stays.
        outdated = [identity for identity in before if identity not in present] if present else []
        self.outgoing.update(outdated)
        again += [self._seen.pop(identity) for identity in outdated if identity in self._seen]
        fresh = list(self._new(items, file, before))
        if outdated:
            change = FileChange(outdated, len(fresh))
            self.changes.update((document.id, change) for document in fresh)
            self.emptied += [] if fresh else [change]
        yield from fresh

    def _items(self, file: Path) -> Iterable[Document | DocumentError | str]:
        """Read a file, or, when its bytes are in the base already, only say which document it is."""
        if file.suffix.lower() != ".jsonl" and file.is_file():
            known = document_id(file.read_bytes())
            if self._has(known):
                return [known]
        return read_file(file, today=self._today, published_on=self._published_on)

    def _read(self, file: Path) -> Document | None:
        documents = read_file(file, today=self._today, published_on=self._published_on)
        return next((each for each in documents if not isinstance(each, DocumentError)), None)

    def _has(self, identity: str) -> bool:
        return identity not in self.outgoing and self._store.has_document(identity)


def _is_there(path: str) -> bool:
    """Whether a file is still where a document was read from; PATH:7 is a line of PATH."""
    file, colon, line = path.rpartition(":")
    return not path or Path(path).exists() or bool(colon and line.isdigit() and Path(file).exists())
