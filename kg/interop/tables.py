"""Files of an existing graph, row by row: JSONL, CSV, and the layouts of `ickg25` and `chainkg` as they are."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import yaml

from kg.errors import DocumentError
from kg.interop.claims import NEEDED
from kg.interop.rows import row_in, row_of
from kg.interop.sheets import Written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_LONGEST = 1_000_000  # characters of one row


@dataclass(slots=True)
class LeftOut:
    """Relations of another graph that ours has no word for, with how many rows say them."""

    counts: Counter[str] = field(default_factory=Counter)


def read_jsonl(path: Path, _: LeftOut, __: str) -> Iterator[Written]:
    """Read a file of JSON objects, one a line; docs/store.md lists the fields."""
    file = f"{path}:"
    for number, line in numbered_lines(path):
        where = file + str(number)
        try:
            yield Written(where, line, row_in(line))
        except (ValueError, RecursionError):
            yield Written(where, line, fault="not valid JSON")
        except TypeError:
            yield Written(where, line, fault="not a JSON object")


def read_csv(path: Path, _: LeftOut, __: str) -> Iterator[Written]:
    """Read a CSV file whose first line names the fields; they are those of JSONL."""
    taken: list[str] = []
    numbers: list[int] = []

    def lines() -> Iterator[str]:
        for number, line in numbered_lines(path):
            taken.append(line)
            numbers.append(number)
            yield line + "\n"

    reader = csv.reader(lines())
    header = next(reader, [])
    if missing := [name for name in NEEDED if name not in header]:
        raise DocumentError(str(path), f"no column {', '.join(missing)}", "name the columns in the first line")
    while True:
        taken.clear()
        numbers.clear()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Written(f"{path}:{reader.line_num}", "", fault=f"not valid CSV: {error}")
            continue
        text = "\n".join(taken)
        where = f"{path}:{numbers[0] if numbers else reader.line_num}"
        if len(cells) == len(header):
            yield Written(where, text, row_of(dict(zip(header, cells, strict=True))))
        elif cells:
            fault = f"{len(cells)} cells where the first line names {len(header)}"
            yield Written(where, text, fault=fault)


def read_ickg25(folder: Path, left_out: LeftOut, _: str) -> Iterator[Written]:
    """Read dated quadruples of ids: `train.txt`, `valid.txt` and `test.txt` with their three tables of names."""
    names = _numbered(folder / "entity2id.txt", "\t")
    relations = _numbered(folder / "relation2id.txt", "\t")
    days = dict(_pairs(folder / "time2id.txt", ","))
    for path in sorted(folder / name for name in ("train.txt", "valid.txt", "test.txt")):
        for number, line in numbered_lines(path) if path.exists() else ():
            where, cells = f"{path}:{number}", line.split()
            try:
                head, relation, tail = names[cells[0]], relations[cells[1]], names[cells[2]]
                day = days[cells[3]]
            except (IndexError, KeyError):
                yield Written(where, line, fault="not four known ids")
                continue
            quad = ("ickg25", head, relation, tail, day)
            yield from _said(where, f"{head}\t{relation}\t{tail}\t{day}", quad, left_out)


def read_chainkg(folder: Path, left_out: LeftOut, day: str) -> Iterator[Written]:
    """Read the edge files of ChainKG; it states no days, so all its rows are of `day`."""
    if not day:
        raise DocumentError(str(folder), "this layout states no days", "give the day it was published with --date")
    for name, head, tail in _CHAINKG:
        path = folder / name
        for number, line in numbered_lines(path) if path.exists() else ():
            where = f"{path}:{number}"
            try:
                row = json.loads(line)
                ends, relation = (str(row[head]), str(row[tail])), str(row["rel"])
            except (ValueError, KeyError, TypeError, RecursionError):
                yield Written(where, line, fault=f"not an object with {head}, {tail} and rel")
                continue
            yield from _said(where, line, ("chainkg", ends[0], relation, ends[1], day), left_out)


_CHAINKG = (
    ("company_industry.json", "company_code", "industry_name"),
    ("company_product.jsonl", "company_code", "product_name"),
    ("industry_industry.json", "from_industry", "to_industry"),
    ("product_product.jsonl", "from_entity", "to_entity"),
)

FORMATS: Mapping[str, Callable[[Path, LeftOut, str], Iterator[Written]]] = {
    "jsonl": read_jsonl,
    "csv": read_csv,
    "ickg25": read_ickg25,
    "chainkg": read_chainkg,
}


def _said(where: str, text: str, quad: tuple[str, str, str, str, str], left_out: LeftOut) -> Iterator[Written]:
    """Yield a row of another graph in our words (kg/interop/formats.yaml)."""
    name, head, relation, tail, day = quad
    ours = _relations()[name].get(relation)
    if ours is None:
        left_out.counts[relation] += 1
        return
    ends = ("object", "subject") if ours.get("turned") else ("subject", "object")
    row = {"relation": ours["relation"], "published_on": day, "source": name}
    for side, text_, kind in zip(ends, (head, tail), (ours["head"], ours["tail"]), strict=True):
        row |= {side: text_, f"{side}_kind": kind}
    yield Written(where, text, row_of(row))


@cache
def _relations() -> dict[str, dict[str, dict[str, Any]]]:
    text = resources.files("kg.interop").joinpath("formats.yaml").read_text(encoding="utf-8")
    found: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(text)
    return found


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers; one too long to be a row is cut, and so refused."""
    try:
        with path.open(encoding="utf-8-sig", errors="strict", newline=None) as file:
            for number, line in enumerate(file, start=1):
                if text := line.strip("\r\n"):
                    yield number, text[:_LONGEST]
    except OSError as error:
        raise DocumentError(str(path), f"cannot be read: {error.strerror}", "check the path") from error
    except UnicodeDecodeError as error:
        raise DocumentError(str(path), "not UTF-8", "convert it; rows before are imported") from error


def _pairs(path: Path, separator: str) -> Iterator[tuple[str, str]]:
    for number, line in numbered_lines(path):
        one, found, other = line.rpartition(separator)
        if not found:
            raise DocumentError(f"{path}:{number}", "not a name and an id", "is this the layout that --format names?")
        yield one, other


def _numbered(path: Path, separator: str) -> dict[str, str]:
    return {number.strip(): name for name, number in _pairs(path, separator)}
