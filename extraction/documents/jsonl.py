"""Read JSONL files, one document per line; a bad line is yielded as an error and reading continues."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from extraction.documents.encoding import MAX_CHARACTERS, MAX_LINES_CHARACTERS, decode, normalise
from extraction.documents.metadata import Metadata, SourceFile, build, codes_of_title, from_mapping
from extraction.documents.text import carve_plain
from kg.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from extraction.documents.assembly import Body
    from kg.model import Document

_TEXT_KEYS = ("text", "content", "body", "正文")


def read_jsonl(source: SourceFile) -> Iterator[Document | DocumentError]:
    """Read every line of a JSONL file, skipping blank lines.

    Raises:
        DocumentError: the whole file is undecodable or empty.
    """
    for number, line in enumerate(decode(source.data, source.name, MAX_LINES_CHARACTERS).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield _read_line(source, line, number)
        except DocumentError as fault:
            yield fault


def _read_line(source: SourceFile, line: str, number: int) -> Document:
    where = f"{source.name}:{number}"
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise DocumentError(where, f"line {number} is not JSON ({fault})"[:200], "fix or remove the line") from fault
    if not isinstance(record, dict):
        raise DocumentError(where, f"line {number} is not an object", 'write {"title": …, "date": …, "text": …}')
    line_path = source.path.with_name(f"{source.path.name}:{number}")
    return read_record(record, SourceFile(line_path, b"", source.today, source.published_on))


def read_record(record: Mapping[str, Any], source: SourceFile) -> Document:
    """Read one object with a text, a date and other metadata; `kept_places` maps offsets of the text to the input.

    Raises:
        DocumentError: no usable text, or no publication day.
    """
    text = text_of(record)
    if not text or "\0" in text:
        raise DocumentError(source.name, "no usable text", 'add a "text" or "content" string')
    if len(text) > MAX_CHARACTERS:
        raise DocumentError(source.name, f"more than {MAX_CHARACTERS:,} characters", "split it into single documents")
    canonical = json.dumps(record, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()
    declared = from_mapping(record, source.today)
    layers = [declared, Metadata(codes=codes_of_title(declared.title))]
    return build(source, _carve(text), layers, content=canonical)


def text_of(record: Mapping[str, Any]) -> str:
    """Return a record's text under any of its usual keys, "" if there is none."""
    return next((value for key in _TEXT_KEYS if isinstance(value := record.get(key), str) and value.strip()), "")


def with_line_ends(text: str) -> str:
    """Return a text with LF newlines and unchanged offsets."""
    return text.replace("\r\n", " \n").replace("\r", "\n")


def _carve(text: str) -> Body:
    """Find the blocks; skip cleaning if it would leave nothing, as for a record of one stock phrase."""
    plain = normalise(with_line_ends(text))
    body = carve_plain(plain)
    return body if body.blocks else carve_plain(plain, cleaned=False)
