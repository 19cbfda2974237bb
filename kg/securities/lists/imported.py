"""The user's imported securities master, a CSV file beside the knowledge base.

`liantu securities import` writes it in the schema of `kg.securities.lists.imports`, so it can be read, edited and
copied; every command that opens the base uses it.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from kg.securities.lists.imports import read_csv
from kg.securities.records import Listing, MasterRows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from pathlib import Path

COLUMNS = ("code", "name", "kind", "start", "end", "full", "english", "listed", "delisted", "issuer")


def place_beside(kb: Path) -> Path:
    """Return the path of a base's imported master: `kb.liantu.securities.csv` for `kb.liantu`."""
    return kb.with_name(f"{kb.name}.securities.csv")


def master_for(kb: Path, given: Path | None = None) -> Path | None:
    """Return the master file to use: the given one, else that of the base, else None for the shipped master."""
    if given is not None:
        return given
    beside = place_beside(kb)
    return beside if beside.is_file() else None


def add_to_base(kb: Path, rows: MasterRows) -> Path:
    """Merge imported rows into the earlier ones and write the file beside the base atomically.

    Raises:
        OSError: the folder is not writable.
    """
    target = place_beside(kb)
    known = read_csv(target) if target.is_file() else MasterRows()
    known.lay_over(rows)
    temporary = target.with_name(f"{target.name}.new")
    with temporary.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(_lines(known))
    temporary.replace(target)
    return target


def _lines(rows: MasterRows) -> Iterator[tuple[str, ...]]:
    """Yield the CSV rows sorted by code: each name with its period and the days of its listing."""
    for code in sorted({*rows.names, *rows.listings}):
        listing = rows.listings.get(code, Listing(code, code.rpartition(".")[2]))
        about = (_day(listing.start), _day(listing.end), rows.primaries.get(code, ""))
        names = sorted(
            set(rows.names.get(code, ())), key=lambda name: (name.kind, _day(name.start), _day(name.end), name.text)
        )
        for name in names:
            yield (code, name.text, name.kind, _day(name.start), _day(name.end), "", "", *about)
        if not names:
            yield (code, "", "", "", "", "", "", *about)


def _day(day: date | None) -> str:
    return day.isoformat() if day else ""
