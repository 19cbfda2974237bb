"""Read the securities master shipped with Liantu."""

from __future__ import annotations

import csv
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kg.securities.errors import MasterFault
from kg.securities.records import NAME_KINDS, Listing, MasterRows, Name, NameKind

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).parent.parent / "data"
BEIJING_MOVE = date(2025, 10, 9)  # 北京证券交易所 2025-09 notice: all remaining codes move to 920xxx on that day


@cache
def parse_day(text: str) -> date | None:
    """Parse a day, month or year in the usual spellings; a month or year gives its first day, empty text None.

    >>> parse_day("2022-05"), parse_day("20250609"), parse_day("")
    (datetime.date(2022, 5, 1), datetime.date(2025, 6, 9), None)
    """
    digits = text.strip().replace("/", "-").replace(".", "-")
    if not digits:
        return None
    if digits.isdigit() and len(digits) == len("20250609"):
        digits = f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"
    parts = [int(part) for part in digits[: len("2025-06-09")].split("-")]
    return date(*[*parts, 1, 1][:3])


def read_table(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV with an optional leading comment line.

    Raises:
        MasterFault: a row with more or fewer columns than the header.
    """
    with path.open(encoding="utf-8", newline="") as lines:
        if not lines.readline().startswith("#"):
            lines.seek(0)
        rows = csv.reader(lines)
        header = next(rows)
        for row in rows:
            if len(row) != len(header):
                raise MasterFault(path.name, rows.line_num, f"{len(row)} columns, expected {len(header)}")
            yield dict(zip(header, row, strict=True))


def read_shipped() -> MasterRows:
    """Read all files in `data/`."""
    rows = MasterRows()
    _read_names(rows)
    _read_mainland(rows)
    _read_overseas(rows)
    for row in read_table(DATA / "listings.csv"):
        rows.primaries[row["listing"]] = row["primary"]
        for code in row.values():
            rows.listings.setdefault(code, Listing(code, code.rpartition(".")[2]))
    rows.words = {row["text"]: row["kind"] for row in read_table(DATA / "words.csv")}
    return rows


def _read_names(rows: MasterRows) -> None:
    kinds: dict[str, NameKind] = {kind: kind for kind in NAME_KINDS}
    for row in read_table(DATA / "names.csv"):
        start, end = parse_day(row["start"]), parse_day(row["end"])
        rows.add_name(row["code"], Name(row["name"], kinds[row["kind"]], start, end, row["source"]))


def _read_mainland(rows: MasterRows) -> None:
    for source in ("ashare.csv", "recent.csv"):
        for row in read_table(DATA / source):
            code, moved = row["code"], row.get("moved_to", "")
            start = parse_day(row["listed"])
            rows.listings[code] = Listing(code, code[-2:], start, BEIJING_MOVE if moved else None)
            if moved:
                rows.listings[moved] = Listing(moved, "BJ", BEIJING_MOVE)
                rows.primaries[code] = moved
            elif row.get("issuer"):
                rows.primaries[code] = row["issuer"]
            known = rows.names.get(code, ())
            if not any(name.text == row["name"] for name in known):
                later = min((name.start for name in known if name.kind == "short" and name.start), default=None)
                rows.add_name(code, Name(row["name"], "short", None, later, source))


def _read_overseas(rows: MasterRows) -> None:
    for row in read_table(DATA / "overseas.csv"):
        code = row["code"]
        rows.listings[code] = Listing(code, code.rpartition(".")[2])
        rows.add_name(code, Name(row["name"], "short", source="overseas.csv"))
        for text in (row["english"], *row["others"].split("|")):
            if text and text != row["name"]:
                rows.add_name(code, Name(text, "english" if text.isascii() else "colloquial", source="overseas.csv"))
