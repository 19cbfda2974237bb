"""Files of an existing graph, row by row: JSONL, CSV, and the layouts of `ickg25` and `chainkg` as they are."""

from __future__ import annotations

import csv
import json
from codecs import getincrementaldecoder
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from io import IncrementalNewlineDecoder
from typing import TYPE_CHECKING, Any

import yaml

from kg.errors import DocumentError
from kg.interop.rows.claims import NEEDED
from kg.interop.rows.fields import Fault, SourceRow, row_of, rows_in
from kg.interop.rows.sheets import RowBlock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

_LONGEST = 1_000_000  # characters of one row
_PIECE = 262_144  # bytes of a file read at once
_TOGETHER = 1_000  # rows of a block, where rows do not come as lines


@dataclass(slots=True)
class LeftOut:
    """Relations of another graph that ours has no word for, with how many rows say them."""

    counts: Counter[str] = field(default_factory=Counter)


def read_jsonl(path: Path, _: LeftOut, __: str) -> Iterator[RowBlock]:
    """Read a file of JSON objects, one a line; docs/store.md lists the fields."""
    for numbers, lines in blocks_of_lines(path):
        yield RowBlock(str(path), numbers, lines, rows_in(lines))


def read_csv(path: Path, _: LeftOut, __: str) -> Iterator[RowBlock]:
    """Read a CSV file whose first line names the fields; they are those of JSONL."""
    yield from _blocks(path, _csv_rows(path))


def _csv_rows(path: Path) -> Iterator[_Written]:
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
    if twice := [name for name, count in Counter(header).items() if count > 1]:
        raise DocumentError(str(path), f"two columns {', '.join(twice)}", "give each its own name in the first line")
    while True:
        taken.clear()
        numbers.clear()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield reader.line_num, "", Fault(f"not valid CSV: {error}")
            continue
        text = "\n".join(taken)
        number = numbers[0] if numbers else reader.line_num
        if len(cells) == len(header):
            yield number, text, row_of(dict(zip(header, cells, strict=True)))
        elif cells:
            yield number, text, Fault(f"{len(cells)} cells where the first line names {len(header)}")


def read_ickg25(folder: Path, left_out: LeftOut, _: str) -> Iterator[RowBlock]:
    """Read dated quadruples of ids: `train.txt`, `valid.txt` and `test.txt` with their three tables of names."""
    names = _numbered(folder / "entity2id.txt", "\t")
    relations = _numbered(folder / "relation2id.txt", "\t")
    days = dict(_pairs(folder / "time2id.txt", ","))

    def rows(path: Path) -> Iterator[_Written]:
        for number, line in numbered_lines(path):
            cells = line.split()
            try:
                head, relation, tail = names[cells[0]], relations[cells[1]], names[cells[2]]
                day = days[cells[3]]
            except (IndexError, KeyError):
                yield number, line, Fault("not four known ids")
                continue
            row = _said(("ickg25", head, relation, tail, day), left_out)
            if row is not None:
                yield number, f"{head}\t{relation}\t{tail}\t{day}", row

    for path in sorted(folder / name for name in ("train.txt", "valid.txt", "test.txt")):
        if path.exists():
            yield from _blocks(path, rows(path))


def read_chainkg(folder: Path, left_out: LeftOut, day: str) -> Iterator[RowBlock]:
    """Read the edge files of ChainKG; it states no days, so all its rows are of `day`."""
    if not day:
        raise DocumentError(str(folder), "this layout states no days", "give the day it was published with --date")

    def rows(path: Path, head: str, tail: str) -> Iterator[_Written]:
        for number, line in numbered_lines(path):
            try:
                fields = json.loads(line)
                ends, relation = (str(fields[head]), str(fields[tail])), str(fields["rel"])
            except (ValueError, KeyError, TypeError, RecursionError):
                yield number, line, Fault(f"not an object with {head}, {tail} and rel")
                continue
            row = _said(("chainkg", ends[0], relation, ends[1], day), left_out)
            if row is not None:
                yield number, line, row

    there = [each for each in _CHAINKG if (folder / each[0]).exists()]
    if not there:
        raise DocumentError(str(folder), f"has no {_CHAINKG[0][0]}", "is this the layout that --format names?")
    for name, head, tail in there:
        yield from _blocks(folder / name, rows(folder / name, head, tail))


_CHAINKG = (
    ("company_industry.json", "company_code", "industry_name"),
    ("company_product.jsonl", "company_code", "product_name"),
    ("industry_industry.json", "from_industry", "to_industry"),
    ("product_product.jsonl", "from_entity", "to_entity"),
)

FORMATS: Mapping[str, Callable[[Path, LeftOut, str], Iterator[RowBlock]]] = {
    "jsonl": read_jsonl,
    "csv": read_csv,
    "ickg25": read_ickg25,
    "chainkg": read_chainkg,
}
_Written = tuple[int, str, SourceRow | Fault]  # the number of its line, its very words, its fields


def _blocks(path: Path, rows: Iterator[_Written]) -> Iterator[RowBlock]:
    """Put rows of a file together; what comes before a fault of the file is handed on before the fault."""
    waiting: list[_Written] = []
    fault: DocumentError | None = None
    try:
        for row in rows:
            waiting.append(row)
            if len(waiting) == _TOGETHER:
                yield _block(path, waiting)
                waiting = []
    except DocumentError as error:
        fault = error
    if waiting:
        yield _block(path, waiting)
    if fault:
        raise fault


def _block(path: Path, rows: list[_Written]) -> RowBlock:
    numbers, lines, found = zip(*rows, strict=True)
    return RowBlock(str(path), numbers, lines, found)


def _said(quad: tuple[str, str, str, str, str], left_out: LeftOut) -> SourceRow | None:
    """Return a row of another graph in our words (kg/interop/formats.yaml); None, and counted, where we have none."""
    name, head, relation, tail, day = quad
    ours = _relations()[name].get(relation)
    if ours is None:
        left_out.counts[relation] += 1
        return None
    ends = ("object", "subject") if ours.get("turned") else ("subject", "object")
    row = {"relation": ours["relation"], "published_on": day, "source": name}
    for side, text_, kind in zip(ends, (head, tail), (ours["head"], ours["tail"]), strict=True):
        row |= {side: text_, f"{side}_kind": kind}
    return row_of(row)


@cache
def _relations() -> dict[str, dict[str, dict[str, Any]]]:
    text = resources.files("kg.interop").joinpath("formats.yaml").read_text(encoding="utf-8")
    found: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(text)
    return found


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers; one too long to be a row is cut, and so refused."""
    for numbers, lines in blocks_of_lines(path):
        yield from zip(numbers, lines, strict=True)


def blocks_of_lines(path: Path) -> Iterator[tuple[Sequence[int], list[str]]]:
    """Yield the same, many lines at a time; of a longer line no more is held in memory than is handed on."""
    number, rest = 1, ""
    for text in _texts(path):
        lines = (rest + text).split("\n")
        rest = lines.pop()[:_LONGEST]
        if lines:
            yield from _not_empty(number, lines)
        number += len(lines)
    yield from _not_empty(number, [rest])


def _not_empty(number: int, lines: list[str]) -> Iterator[tuple[Sequence[int], list[str]]]:
    numbers: Sequence[int] = range(number, number + len(lines))
    if "" in lines:
        numbers = [number for number, line in zip(numbers, lines, strict=True) if line]
        lines = [line for line in lines if line]
    if max(map(len, lines), default=0) > _LONGEST:
        lines = [line[:_LONGEST] for line in lines]
    if lines:
        yield numbers, lines


def _texts(path: Path) -> Iterator[str]:
    """Yield the text of a file piece by piece, every end of a line as one character."""
    decode, fold = getincrementaldecoder("utf-8-sig")().decode, IncrementalNewlineDecoder(None, translate=True).decode
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield fold(decode(piece))
            yield fold(decode(b"", final=True), final=True)
    except OSError as error:
        raise DocumentError(str(path), f"cannot be read: {error.strerror}", "check the path") from error
    except UnicodeDecodeError as error:
        yield fold(error.object[: error.start].decode())
        raise DocumentError(str(path), "not UTF-8", "convert it; rows before are imported") from error


def _pairs(path: Path, separator: str) -> Iterator[tuple[str, str]]:
    for number, line in numbered_lines(path):
        one, found, other = line.rpartition(separator)
        if not found:
            raise DocumentError(f"{path}:{number}", "not a name and an id", "is this the layout that --format names?")
        yield one, other


def _numbered(path: Path, separator: str) -> dict[str, str]:
    return {number.strip(): name for name, number in _pairs(path, separator)}
