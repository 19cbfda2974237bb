"""Read files of an existing graph row by row: JSONL, CSV, and the layouts of `ickg25` and `chainkg`."""

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
_BLOCK_ROWS = 1_000  # rows per block, for formats that are not read as lines


@dataclass(slots=True)
class LeftOut:
    """Row counts of foreign relations that have no counterpart in the vocabulary."""

    counts: Counter[str] = field(default_factory=Counter)


def read_jsonl(path: Path, _: LeftOut, __: str) -> Iterator[RowBlock]:
    """Read a file of JSON objects, one per line; docs/store.md lists the fields."""
    for numbers, lines in blocks_of_lines(path):
        yield RowBlock(str(path), numbers, lines, rows_in(lines))


def read_csv(path: Path, _: LeftOut, __: str) -> Iterator[RowBlock]:
    """Read a CSV file whose header names the same fields as JSONL."""
    yield from _blocks(path, _csv_rows(path))


def _csv_rows(path: Path) -> Iterator[_NumberedRow]:
    row_lines: list[str] = []
    numbers: list[int] = []

    def lines() -> Iterator[str]:
        for number, line in numbered_lines(path):
            row_lines.append(line)
            numbers.append(number)
            yield line + "\n"

    reader = csv.reader(lines())
    header = next(reader, [])
    if missing := [name for name in NEEDED if name not in header]:
        raise DocumentError(str(path), f"no column {', '.join(missing)}", "name the columns in the header line")
    if duplicates := [name for name, count in Counter(header).items() if count > 1]:
        raise DocumentError(
            str(path), f"duplicate columns {', '.join(duplicates)}", "give each column a unique name in the header line"
        )
    while True:
        row_lines.clear()
        numbers.clear()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield reader.line_num, "", Fault(f"not valid CSV: {error}")
            continue
        text = "\n".join(row_lines)
        number = numbers[0] if numbers else reader.line_num
        if len(cells) == len(header):
            yield number, text, row_of(dict(zip(header, cells, strict=True)))
        elif cells:
            yield number, text, Fault(f"{len(cells)} cells, but the header has {len(header)}")


def read_ickg25(folder: Path, left_out: LeftOut, _: str) -> Iterator[RowBlock]:
    """Read dated quadruples of ids: `train.txt`, `valid.txt` and `test.txt`, with their three name tables."""
    names = _numbered(folder / "entity2id.txt", "\t")
    relations = _numbered(folder / "relation2id.txt", "\t")
    days = dict(_pairs(folder / "time2id.txt", ","))

    def rows(path: Path) -> Iterator[_NumberedRow]:
        for number, line in numbered_lines(path):
            cells = line.split()
            try:
                head, relation, tail = names[cells[0]], relations[cells[1]], names[cells[2]]
                day = days[cells[3]]
            except (IndexError, KeyError):
                yield number, line, Fault("not four known ids")
                continue
            row = _mapped_row(("ickg25", head, relation, tail, day), left_out)
            if row is not None:
                yield number, f"{head}\t{relation}\t{tail}\t{day}", row

    for path in sorted(folder / name for name in ("train.txt", "valid.txt", "test.txt")):
        if path.exists():
            yield from _blocks(path, rows(path))


def read_chainkg(folder: Path, left_out: LeftOut, day: str) -> Iterator[RowBlock]:
    """Read the edge files of ChainKG; it has no dates, so all rows are dated `day`."""
    if not day:
        raise DocumentError(str(folder), "this layout has no dates", "set the publication day with --date")

    def rows(path: Path, head: str, tail: str) -> Iterator[_NumberedRow]:
        for number, line in numbered_lines(path):
            try:
                fields = json.loads(line)
                ends, relation = (str(fields[head]), str(fields[tail])), str(fields["rel"])
            except (ValueError, KeyError, TypeError, RecursionError):
                yield number, line, Fault(f"not an object with {head}, {tail} and rel")
                continue
            row = _mapped_row(("chainkg", ends[0], relation, ends[1], day), left_out)
            if row is not None:
                yield number, line, row

    present = [each for each in _CHAINKG if (folder / each[0]).exists()]
    if not present:
        raise DocumentError(str(folder), f"has no {_CHAINKG[0][0]}", "check that --format matches the layout")
    for name, head, tail in present:
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
_NumberedRow = tuple[int, str, SourceRow | Fault]  # line number, source text, fields


def _blocks(path: Path, rows: Iterator[_NumberedRow]) -> Iterator[RowBlock]:
    """Group the rows of a file into blocks; rows before a file error are yielded before it is raised."""
    pending: list[_NumberedRow] = []
    fault: DocumentError | None = None
    try:
        for row in rows:
            pending.append(row)
            if len(pending) == _BLOCK_ROWS:
                yield _block(path, pending)
                pending = []
    except DocumentError as error:
        fault = error
    if pending:
        yield _block(path, pending)
    if fault:
        raise fault


def _block(path: Path, rows: list[_NumberedRow]) -> RowBlock:
    numbers, lines, found = zip(*rows, strict=True)
    return RowBlock(str(path), numbers, lines, found)


def _mapped_row(quad: tuple[str, str, str, str, str], left_out: LeftOut) -> SourceRow | None:
    """Map a foreign row to the vocabulary (kg/interop/formats.yaml); count it and return None if unmapped."""
    name, head, relation, tail, day = quad
    mapping = _relations()[name].get(relation)
    if mapping is None:
        left_out.counts[relation] += 1
        return None
    ends = ("object", "subject") if mapping.get("turned") else ("subject", "object")
    row = {"relation": mapping["relation"], "published_on": day, "source": name}
    for side, text, kind in zip(ends, (head, tail), (mapping["head"], mapping["tail"]), strict=True):
        row |= {side: text, f"{side}_kind": kind}
    return row_of(row)


@cache
def _relations() -> dict[str, dict[str, dict[str, Any]]]:
    text = resources.files(__package__).joinpath("../formats.yaml").read_text(encoding="utf-8")
    found: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(text)
    return found


def whole_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield non-empty lines of any length with their numbers: a document is one line of a dump."""
    number, parts = 1, list[str]()
    for text in _texts(path):
        first, *others = text.split("\n")
        parts.append(first)
        for line in others:
            if whole := "".join(parts):
                yield number, whole
            number, parts = number + 1, [line]
    if whole := "".join(parts):
        yield number, whole


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield non-empty lines with their numbers; overlong lines are truncated and so refused later."""
    for numbers, lines in blocks_of_lines(path):
        yield from zip(numbers, lines, strict=True)


def blocks_of_lines(path: Path) -> Iterator[tuple[Sequence[int], list[str]]]:
    """Yield the same in blocks of lines; an overlong line is never held in memory as a whole."""
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
    """Yield the decoded text of a file in pieces, with newlines normalised."""
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
        raise DocumentError(str(path), "not UTF-8", "convert it to UTF-8; earlier rows are imported") from error


def _pairs(path: Path, separator: str) -> Iterator[tuple[str, str]]:
    for number, line in numbered_lines(path):
        one, found, other = line.rpartition(separator)
        if not found:
            raise DocumentError(f"{path}:{number}", "not a name and an id", "check that --format matches the layout")
        yield one, other


def _numbered(path: Path, separator: str) -> dict[str, str]:
    return {number.strip(): name for name, number in _pairs(path, separator)}
