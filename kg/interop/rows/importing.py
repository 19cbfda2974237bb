"""Facts of an existing graph into a store: what cannot be taken in is said row by row, and nothing else is lost."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.interop.rows.files import FORMATS, LeftOut
from kg.interop.rows.prefetch import no_cycles, read_ahead
from kg.interop.rows.sheets import RefusedRow, Sheets
from kg.store.bulk.row_batch import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from kg.interop.rows.claims import Claims
    from kg.store.bulk.row_batch import RowBatch
    from kg.store.port import Store

WORTH_A_PROCESS = 8_000_000  # bytes: a process takes half a second to start


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

    def run(self, path: Path, store: Store, *, refuse: Callable[[RefusedRow], None]) -> tuple[Tally, LeftOut]:
        """Import a file or folder; each row that cannot be taken in goes to `refuse`.

        Raises:
            DocumentError: when the file cannot be read or is of another layout; what came before is in the store.
            StoreError: when the store cannot take it; what it took so far stays, and a second run goes on from there.
        """
        tally, left_out = Tally(), LeftOut()
        source = _Source(self, path)
        apart = _size(path) >= WORTH_A_PROCESS and (os.cpu_count() or 1) > 1
        items = read_ahead(source, left_out, name=str(path)) if apart else source.items(left_out)

        def taken() -> Iterator[RowBatch]:
            for item in items:
                if isinstance(item, RefusedRow):
                    tally.refused += 1
                    refuse(item)
                else:
                    yield item

        with no_cycles(), store.writer() as writer:
            for sheet, new in load(writer, taken()):
                tally.documents += new
                tally.written += len(sheet.rows) if new else 0
                tally.known += 0 if new else len(sheet.rows)
        return tally, left_out


@dataclass(frozen=True, slots=True)
class _Source:
    """A file or folder as sheets, here or in another process."""

    job: Import
    path: Path

    def items(self, left_out: LeftOut) -> Iterator[RowBatch | RefusedRow]:
        """Yield the sheets and the rows refused, and count what is left out."""
        rows = FORMATS[self.job.layout](self.path, left_out, self.job.day)
        return Sheets(self.job.claims, name=self.path.name, recorded_at=self.job.recorded_at).of(rows)


def _size(path: Path) -> int:
    """Return the bytes of a file, or of those in a folder."""
    return sum(each.stat().st_size for each in (path.iterdir() if path.is_dir() else (path,)) if each.is_file())
