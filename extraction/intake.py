"""Which documents of the files are new to a base, and which of the base the files no longer hold.

A file is known by its path: what was read from it before and is not in it any more is outdated, be it one document or
lines of a JSONL. Documents are told apart by the hash of their bytes, so a file that only moved is not read again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from extraction.readers.dispatch import read_file
from kg.errors import DocumentError
from kg.ids import document_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import date
    from pathlib import Path

    from kg.model import Document, Reading
    from kg.store.port import Store


@dataclass(slots=True)
class Change:
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
        known: how many documents were there already.
        refused: what could not be read.
    """

    def __init__(self, store: Store, today: date, published_on: date | None) -> None:
        self._store, self._today, self._published_on = store, today, published_on
        self._seen: dict[str, Path] = {}
        self.changes: dict[str, Change] = {}
        self.emptied: list[Change] = []
        self.outgoing: set[str] = set()
        self.known = 0
        self.refused: list[DocumentError] = []

    def fresh(self, files: Iterable[Path], done: Callable[[], None]) -> Iterator[Document]:
        """Yield the documents that are new; `done` is called after each file."""
        moved: list[Path] = []
        for file in files:
            before = self._store.documents_at(str(file))
            yield from self._changed(file, before, moved) if before else self._new(self._items(file), file)
            done()
        for file in moved:  # what one file held before another one of this run holds now
            yield from self._new(self._items(file), file)

    def _new(self, items: Iterable[Document | DocumentError | str], file: Path) -> Iterator[Document]:
        for item in items:
            if isinstance(item, DocumentError):
                self.refused.append(item)
                continue
            identity = item if isinstance(item, str) else item.id
            if isinstance(item, str) or identity in self._seen or self._has(identity):
                self.known += 1
                self._seen.setdefault(identity, file)
            else:
                self._seen[identity] = file
                yield item

    def _changed(self, file: Path, before: list[str], moved: list[Path]) -> Iterator[Document]:
        items = list(self._items(file))
        present = {item if isinstance(item, str) else item.id for item in items if not isinstance(item, DocumentError)}
        # A file that cannot be read at all has lost nothing yet: what was read from it before stays.
        outdated = [identity for identity in before if identity not in present] if present else []
        self.outgoing.update(outdated)
        moved += [self._seen.pop(identity) for identity in outdated if identity in self._seen]
        fresh = list(self._new(items, file))
        if outdated:
            change = Change(outdated, len(fresh))
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

    def _has(self, identity: str) -> bool:
        return identity not in self.outgoing and self._store.has_document(identity)
