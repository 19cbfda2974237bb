"""Score who gains and who pays: moves of a factor with the winners and losers that a reader lists, beside `impact`.

    python -m benchmarks.gains --kb KB                  the 20 moves of LIANTU_DATA/demo_reading.md
    python -m benchmarks.gains --kb KB moves.jsonl      one move a line: {"factor", "direction", "gains", "pays"}

A party is right where it is shown with its sign, wrong where it is shown with the other one only. A listed name, or one
of several parted by |, matches a shown one that contains it. What is shown and not listed is counted as unjudged;
`--show` prints every party.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kg.errors import QuestionError
from kg.service.base import open_kb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.query.answers import Party
    from kg.service.base import KnowledgeBase

DATA = Path(os.environ.get("LIANTU_DATA", "../shared/data"))
_ASIDE = re.compile(r"[()（）]|2023: |from 2024.*?(?=;|$)|part passed on|passes it on|buyers of|buyers")
_MOVE = re.compile("up|down|[管降升]")
_GROUP = re.compile("企业$|有海外产能者|集团$|-W$")
_BARE = re.compile("碳酸锂|六氟磷酸锂|石墨化|硅料|EVA粒子|生猪|存储|豆粕|玉米|纯碱|天然气")


class Move(NamedTuple):
    """A move of a factor, under one or more names, and the sign of each party."""

    name: str
    factors: tuple[tuple[str, int], ...]
    parties: dict[str, int]


def moves_in(path: Path) -> Iterator[Move]:
    """Yield the moves of a file: the table of a reading, or JSON lines."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if path.suffix == ".jsonl":
            row = json.loads(line)
            parties = {name: sign for key, sign in (("gains", 1), ("pays", -1)) for name in row[key]}
            yield Move(f"{row['factor']} {row['direction']:+d}", ((row["factor"], row["direction"]),), parties)
            continue
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 4 and cells[0] not in {"factor", "---"} and _MOVE.search(cells[0]):
            yield _row(cells)


def _row(cells: list[str]) -> Move:
    sign = -1 if cells[0].endswith("down") else 1
    names = cells[0].removesuffix("up").removesuffix("down").strip().split("/")
    priced = [f"{name}价格" if _BARE.fullmatch(name) else name for name in names]
    parties: dict[str, int] = {}
    for value, cell in ((1, cells[1]), (-1, cells[2])):
        for party in re.split(r"[,;，]\s*", _ASIDE.sub("", cell)):
            name = party.strip()
            if name and name != "–":
                parties[_GROUP.sub("", name) or name] = value
    return Move(cells[0], tuple((name, sign) for name in priced), parties)


def shown(base: KnowledgeBase, move: Move) -> dict[str, Party]:
    """Return the parties that `impact` shows for a move, under all its names."""
    found: dict[str, Party] = {}
    for factor, direction in move.factors:
        try:
            answer = base.impact(factor, direction="up" if direction > 0 else "down")
        except QuestionError:
            continue
        for party in answer.parties:
            found.setdefault(party.entity.name, party)
    return found


def score(base: KnowledgeBase, path: Path, *, show: bool) -> Counter[str]:
    """Count right, wrong and missing parties, by basis, and what is shown beside them."""
    total: Counter[str] = Counter()
    for move in moves_in(path):
        parties = shown(base, move)
        judged: set[str] = set()
        for name, sign in move.parties.items():
            names = name.split("|")
            near = {each: party for each, party in parties.items() if any(one in each for one in names)}
            exact = {one: parties[one] for one in names if one in parties} or near
            right = [each for each, party in near.items() if party.sign == sign]
            verdict = "right" if right else "wrong" if exact else "missing"
            judged |= set(right) if right else set(exact)
            total[verdict] += 1
            if verdict != "missing":
                total[f"{verdict} {parties[(right or [*exact])[0]].basis}"] += 1
            if show and verdict != "right":
                seen = parties[next(iter(exact))] if exact else None
                print(f"{verdict:8} {move.name}: {name} {sign:+d} {_reason(seen) if seen else ''}")
        rest = [party for each, party in parties.items() if each not in judged]
        total["unjudged"] += len(rest)
        total["moves answered"] += bool(parties)
        total["moves"] += 1
        for party in rest if show else ():
            print(f"unjudged {move.name}: {party.entity.name} {party.sign:+d} {_reason(party)}")
    return total


def _reason(party: Party) -> str:
    quote = party.citations[0].quote.replace("\n", " ")[:90] if party.citations else ""
    return f"[{party.basis}] {party.reason} | {quote}"


def main(arguments: list[str]) -> None:
    """Score and print one line a count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, required=True)
    parser.add_argument("--show", action="store_true", help="print every party that is not right")
    parser.add_argument("file", nargs="?", type=Path, default=DATA / "demo_reading.md")
    given = parser.parse_args(arguments)
    if not given.file.is_file():
        parser.error(f"no {given.file}; LIANTU_DATA names the folder of the data")
    with open_kb(given.kb) as base:
        total = score(base, given.file, show=given.show)
    for name, count in sorted(total.items()):
        print(f"{name:20} {count}")


if __name__ == "__main__":
    main(sys.argv[1:])
