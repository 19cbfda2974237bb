"""Import the facts of an existing graph into a store; invalid rows are reported one by one and skipped."""

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

WORTH_A_PROCESS = 8_000_000  # bytes; below, starting a process (0.5 s) does not pay


@dataclass(slots=True)
class Tally:
    """Counts of an import, in rows except for `documents`; `known` rows were already stored."""

    documents: int = 0
    written: int = 0
    known: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Import:
    """One import run: layout, claim reader, recording time and default day."""

    layout: str
    claims: Claims
    recorded_at: datetime
    day: str = ""

    def run(self, path: Path, store: Store, *, refuse: Callable[[RefusedRow], None]) -> tuple[Tally, LeftOut]:
        """Import a file or folder; each invalid row goes to `refuse`.

        Raises:
            DocumentError: when the file is unreadable or has another layout; earlier rows are stored.
            StoreError: when the store fails; stored rows are kept and a second run continues from there.
        """
        tally, left_out = Tally(), LeftOut()
        source = _Source(self, path)
        in_process = _size(path) >= WORTH_A_PROCESS and (os.cpu_count() or 1) > 1
        items = read_ahead(source, left_out, name=str(path)) if in_process else source.items(left_out)

        def accepted() -> Iterator[RowBatch]:
            for item in items:
                if isinstance(item, RefusedRow):
                    tally.refused += 1
                    refuse(item)
                else:
                    yield item

        with no_cycles(), store.writer() as writer:
            for sheet, new in load(writer, accepted()):
                tally.documents += new
                tally.written += len(sheet.rows) if new else 0
                tally.known += 0 if new else len(sheet.rows)
        return tally, left_out


@dataclass(frozen=True, slots=True)
class _Source:
    """A file or folder as a source of sheets, in this or another process."""

    job: Import
    path: Path

    def items(self, left_out: LeftOut) -> Iterator[RowBatch | RefusedRow]:
        """Yield sheets and refused rows; count unmapped relations in `left_out`."""
        rows = FORMATS[self.job.layout](self.path, left_out, self.job.day)
        return Sheets(self.job.claims, name=self.path.name, recorded_at=self.job.recorded_at).of(rows)


def _size(path: Path) -> int:
    """Return the size in bytes of a file, or of the files in a folder."""
    return sum(each.stat().st_size for each in (path.iterdir() if path.is_dir() else (path,)) if each.is_file())
