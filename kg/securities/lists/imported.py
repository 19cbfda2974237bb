"""The securities master that a user has imported into a knowledge base: one CSV file beside it.

`liantu securities import` writes it in the documented schema of `kg.securities.lists.imports`, so that it can be read,
edited and carried elsewhere; whoever opens the base reads names with it.
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
    """Where the imported master of a base lies: `kb.liantu` has `kb.liantu.securities.csv`."""
    return kb.with_name(f"{kb.name}.securities.csv")


def master_for(kb: Path, given: Path | None = None) -> Path | None:
    """The master to read names with: the one that was asked for, else the base's own, else None for the shipped one."""
    if given is not None:
        return given
    beside = place_beside(kb)
    return beside if beside.is_file() else None


def add_to_base(kb: Path, rows: MasterRows) -> Path:
    """Lay imported rows over what was imported before, and write them beside the base at once or not at all.

    Raises:
        OSError: the folder cannot be written to.
    """
    target = place_beside(kb)
    known = read_csv(target) if target.is_file() else MasterRows()
    known.lay_over(rows)
    fresh = target.with_name(f"{target.name}.new")
    with fresh.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(_lines(known))
    fresh.replace(target)
    return target


def _lines(rows: MasterRows) -> Iterator[tuple[str, ...]]:
    """Rows of the CSV in order of code: each name with its period, the listing's days on the first."""
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
