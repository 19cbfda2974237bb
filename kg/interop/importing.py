"""Facts of an existing graph into a store: what cannot be taken in is said row by row, and nothing else is lost."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.interop.sheets import Refused, Sheets
from kg.interop.tables import FORMATS, LeftOut
from kg.store.sheet import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from kg.interop.claims import Claims
    from kg.store.port import Store
    from kg.store.sheet import Sheet


@dataclass(slots=True)
class Tally:
    """What an import did, in rows but for `documents`; `known` were there already."""

    documents: int = 0
    written: int = 0
    known: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Import:
    """One run: which layout, into which claims, read when."""

    layout: str
    claims: Claims
    recorded_at: datetime
    day: str = ""

    def run(self, path: Path, store: Store, *, refuse: Callable[[Refused], None]) -> tuple[Tally, LeftOut]:
        """Import a file or folder; each row that cannot be taken in goes to `refuse`.

        Raises:
            DocumentError: when the file cannot be read or is of another layout; what came before is in the store.
            StoreError: when the store cannot take it; what it took so far stays, and a second run goes on from there.
        """
        tally, left_out = Tally(), LeftOut()
        rows = FORMATS[self.layout](path, left_out, self.day)
        sheets = Sheets(self.claims, name=path.name, recorded_at=self.recorded_at)

        def taken() -> Iterator[Sheet]:
            for item in sheets.of(rows):
                if isinstance(item, Refused):
                    tally.refused += 1
                    refuse(item)
                else:
                    yield item

        with _no_cycles(), store.writer() as writer:
            for sheet, new in load(writer, taken()):
                tally.documents += new
                tally.written += len(sheet.rows) if new else 0
                tally.known += 0 if new else len(sheet.rows)
        return tally, left_out


@contextmanager
def _no_cycles() -> Iterator[None]:
    """Look for no cycles of garbage meanwhile: rows form none, and looking takes a third of the time."""
    looked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked:
            gc.enable()
