"""Read files of an existing graph row by row: JSONL, CSV, and the layouts of `ickg25` and `chainkg`."""

from __future__ import annotations

import csv
import json
from collections import Counter
from functools import cache
from importlib import resources
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from kg.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_LONGEST = 1_000_000  # characters of one row
_REQUIRED = ("subject", "relation", "object", "published_on")


class SourceRow(NamedTuple):
    """A row of a file: file and line, its text, and its fields or the reason why it has none."""

    where: str
    text: str
    fields: Mapping[str, Any] | str


def read_jsonl(path: Path, _: Counter[str], __: str) -> Iterator[SourceRow]:
    """Read a file of JSON objects, one per line; docs/store.md lists the fields."""
    for number, line in numbered_lines(path):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            yield SourceRow(f"{path}:{number}", line, "not valid JSON")
        else:
            yield SourceRow(f"{path}:{number}", line, fields if isinstance(fields, dict) else "not a JSON object")


def read_csv(path: Path, _: Counter[str], __: str) -> Iterator[SourceRow]:
    """Read a CSV file whose header names the same fields as JSONL.

    Raises:
        DocumentError: when the header lacks a field or names one twice.
    """
    record: list[tuple[int, str]] = []  # the lines of the current row

    def lines() -> Iterator[str]:
        for each in numbered_lines(path):
            record.append(each)
            yield each[1] + "\n"

    reader = csv.reader(lines())
    header = next(reader, [])
    if missing := [name for name in _REQUIRED if name not in header]:
        raise DocumentError(str(path), f"no column {', '.join(missing)}", "name the columns in the header line")
    if twice := [name for name, times in Counter(header).items() if times > 1]:
        advice = "give each column a unique name in the header line"
        raise DocumentError(str(path), f"duplicate columns {', '.join(twice)}", advice)
    while True:
        record.clear()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield SourceRow(f"{path}:{reader.line_num}", "", f"not valid CSV: {error}")
            continue
        fields = dict(zip(header, cells, strict=False))
        same = len(cells) == len(header)
        fault = f"{len(cells)} cells, but the header has {len(header)}"
        yield SourceRow(f"{path}:{record[0][0]}", "\n".join(line for _, line in record), fields if same else fault)


def read_ickg25(folder: Path, left_out: Counter[str], _: str) -> Iterator[SourceRow]:
    """Read dated quadruples of ids: `train.txt`, `valid.txt` and `test.txt`, with their three name tables."""
    names = _numbered(folder / "entity2id.txt", "\t")
    relations = _numbered(folder / "relation2id.txt", "\t")
    days = dict(_pairs(folder / "time2id.txt", ","))
    for path in sorted(folder / name for name in ("train.txt", "valid.txt", "test.txt")):
        for number, line in numbered_lines(path) if path.exists() else ():
            cells = line.split()
            try:
                head, relation, tail = names[cells[0]], relations[cells[1]], names[cells[2]]
                day = days[cells[3]]
            except (IndexError, KeyError):
                yield SourceRow(f"{path}:{number}", line, "not four known ids")
                continue
            fields = _mapped(("ickg25", head, relation, tail, day), left_out)
            if fields:
                yield SourceRow(f"{path}:{number}", f"{head}\t{relation}\t{tail}\t{day}", fields)


_CHAINKG = (
    ("company_industry.json", "company_code", "industry_name"),
    ("company_product.jsonl", "company_code", "product_name"),
    ("industry_industry.json", "from_industry", "to_industry"),
    ("product_product.jsonl", "from_entity", "to_entity"),
)


def read_chainkg(folder: Path, left_out: Counter[str], day: str) -> Iterator[SourceRow]:
    """Read the edge files of ChainKG; it has no dates, so all rows are dated `day`.

    Raises:
        DocumentError: when there is no day or no file.
    """
    if not day:
        raise DocumentError(str(folder), "this layout has no dates", "set the publication day with --date")
    present = [each for each in _CHAINKG if (folder / each[0]).exists()]
    if not present:
        raise DocumentError(str(folder), f"has no {_CHAINKG[0][0]}", "check that --format matches the layout")
    for name, head, tail in present:
        path = folder / name
        for number, line in numbered_lines(path):
            try:
                edge = json.loads(line)
                ends, relation = (str(edge[head]), str(edge[tail])), str(edge["rel"])
            except (ValueError, KeyError, TypeError, RecursionError):
                yield SourceRow(f"{path}:{number}", line, f"not an object with {head}, {tail} and rel")
                continue
            fields = _mapped(("chainkg", ends[0], relation, ends[1], day), left_out)
            if fields:
                yield SourceRow(f"{path}:{number}", line, fields)


FORMATS: Mapping[str, Callable[[Path, Counter[str], str], Iterator[SourceRow]]] = {
    "jsonl": read_jsonl,
    "csv": read_csv,
    "ickg25": read_ickg25,
    "chainkg": read_chainkg,
}


def _mapped(quad: tuple[str, str, str, str, str], left_out: Counter[str]) -> dict[str, str] | None:
    """Map a foreign row to the vocabulary (kg/interop/formats.yaml); count it and return None if unmapped."""
    name, head, relation, tail, day = quad
    mapping = _relations()[name].get(relation)
    if mapping is None:
        left_out[relation] += 1
        return None
    ends = ("object", "subject") if mapping.get("turned") else ("subject", "object")
    row = {"relation": mapping["relation"], "published_on": day, "source": name}
    for side, text, kind in zip(ends, (head, tail), (mapping["head"], mapping["tail"]), strict=True):
        row |= {side: text, f"{side}_kind": kind}
    return row


@cache
def _relations() -> dict[str, dict[str, dict[str, Any]]]:
    text = resources.files(__package__).joinpath("../formats.yaml").read_text(encoding="utf-8")
    found: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(text)
    return found


def whole_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield non-empty lines of any length with their numbers: a document is one line of a dump."""
    return numbered_lines(path, longest=-1)


def numbered_lines(path: Path, *, longest: int = _LONGEST) -> Iterator[tuple[int, str]]:
    """Yield non-empty lines with their numbers; the rest of an overlong line is dropped, so the line is refused later.

    Raises:
        DocumentError: when the file cannot be read or is not UTF-8, after the lines before have been yielded.
    """
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
            for number in count(1):
                line = end = file.readline(longest)
                while end and not end.endswith("\n"):
                    end = file.readline(longest)
                if not line:
                    return
                line = line.removesuffix("\n")
                line.encode()
                if line:
                    yield number, line
    except OSError as error:
        raise DocumentError(str(path), f"cannot be read: {error.strerror}", "check the path") from error
    except UnicodeEncodeError as error:  # a byte that is not UTF-8 has become a lone surrogate
        raise DocumentError(
            f"{path}:{number}", "not UTF-8", "convert it to UTF-8; earlier rows are imported"
        ) from error


def _pairs(path: Path, separator: str) -> Iterator[tuple[str, str]]:
    for number, line in numbered_lines(path):
        one, found, other = line.rpartition(separator)
        if not found:
            raise DocumentError(f"{path}:{number}", "not a name and an id", "check that --format matches the layout")
        yield one, other


def _numbered(path: Path, separator: str) -> dict[str, str]:
    return {number.strip(): name for name, number in _pairs(path, separator)}
