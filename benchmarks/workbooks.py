"""Two readers of workbooks, openpyxl and calamine: processor time, memory, and what is lost of the values.

    pip install python-calamine openpyxl; python -m benchmarks.workbooks

One process for each reader and book, with at most 8 GB of addresses and 60 seconds: a reader may end with a crash.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

_SHEET, _YEARS = 6000, 39  # rows and columns of figures of the large book
_MEMORY, _SECONDS = 8 << 30, 60


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="liantu-workbooks-") as folder:
        print("| workbook | KB | reader | cells | shown in percent | seconds | MB |\n|---|---|---|---|---|---|---|")
        for path in _books(Path(folder)):
            for reader in ("openpyxl", "calamine"):
                command = [sys.executable, "-m", "benchmarks.workbooks", reader, str(path)]
                try:
                    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
                    found = done.stdout.strip() or f"ended by itself: {done.stderr.splitlines()[0]} | | | "
                except subprocess.TimeoutExpired:
                    found = f"stopped after {_SECONDS} s | | | "
                print(f"| {path.stem} | {path.stat().st_size / 1000:,.0f} | {reader} | {found} |", flush=True)


def _books(folder: Path) -> tuple[Path, ...]:
    """Write a table as a broker keeps it, and a book of two cells, the first and the last of a sheet."""
    import openpyxl  # noqa: PLC0415 -- an extra

    figures, book = Random(5), openpyxl.Workbook(write_only=True)  # noqa: S311 -- made-up figures
    sheet = book.create_sheet("盈利预测")
    for row in range(_SHEET):
        cells = [openpyxl.cell.WriteOnlyCell(sheet, figures.random()) for _ in range(_YEARS)]
        for cell in cells[::3]:
            cell.number_format = "0.0%"
        sheet.append([f"公司{row}", *cells])
    large, far = folder / "6,000 rows.xlsx", folder / "two cells far apart.xlsx"
    book.save(large)
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = 1, 2
    book.save(far)
    return large, far


def _read(reader: str, path: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    began = time.process_time()
    cells, percent = _openpyxl(path) if reader == "openpyxl" else _calamine(path)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{cells:,} | {percent:,} | {time.process_time() - began:.2f} | {memory}")


def _openpyxl(path: str) -> tuple[int, int]:
    """Read a book as kg's reader does: row by row, 20,000 at most."""
    import openpyxl  # noqa: PLC0415 -- an extra

    book: Any = openpyxl.load_workbook(path, data_only=True, read_only=True)
    rows = (row for sheet in book.worksheets for row in sheet.iter_rows(max_col=100, max_row=20_000))
    formats = [cell.number_format for row in rows for cell in row if cell.value is not None]
    return len(formats), sum("%" in each for each in formats)


def _calamine(path: str) -> tuple[int, int]:
    import python_calamine  # type: ignore[import-not-found] # noqa: PLC0415 -- not kept

    book = python_calamine.load_workbook(path)
    sheets = (book.get_sheet_by_name(name) for name in book.sheet_names)
    return sum(value != "" for sheet in sheets for row in sheet.iter_rows() for value in row), 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _read(*sys.argv[1:])
    else:
        main()
