"""JSONL: a document a line; a bad line is one fault and the rest goes on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from extraction.documents.encoding import decode, normalise
from extraction.documents.metadata import Metadata, build, codes_of_title, from_mapping
from extraction.documents.source import SourceFile
from extraction.documents.text import carve_plain
from kg.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from extraction.documents.assembly import Body
    from kg.model import Document

_TEXT_KEYS = ("text", "content", "body", "正文")


def read_jsonl(source: SourceFile) -> Iterator[Document | DocumentError]:
    """Read every line of a JSONL file; blank lines are skipped.

    Raises:
        DocumentError: the file as a whole is undecodable or empty.
    """
    for number, line in enumerate(decode(source.data, source.name).split("\n"), start=1):
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
        raise DocumentError(where, f"line {number} is not JSON ({fault})"[:200], "mend or remove the line") from fault
    if not isinstance(record, dict):
        raise DocumentError(where, f"line {number} is not an object", 'write {"title": …, "date": …, "text": …}')
    of_line = source.path.with_name(f"{source.path.name}:{number}")
    return read_record(record, SourceFile(of_line, b"", source.today, source.published_on))


def read_record(record: Mapping[str, Any], source: SourceFile) -> Document:
    """Read one object with a text, a date and what else is known; offsets into its text stay what they are.

    Raises:
        DocumentError: no usable text, no publication day, or nothing in the text that is not boilerplate.
    """
    text = text_of(record)
    if not text or "\0" in text:
        raise DocumentError(source.name, "no usable text", 'give it a "text" or "content" string')
    canonical = json.dumps(record, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()
    given = from_mapping(record, source.today)
    layers = [given, Metadata(codes=codes_of_title(given.title))]
    return build(source, _carve(text), layers, content=canonical)


def text_of(record: Mapping[str, Any]) -> str:
    """Return the text of a record, under any of its usual names; "" when there is none."""
    return next((value for key in _TEXT_KEYS if isinstance(value := record.get(key), str) and value.strip()), "")


def _carve(text: str) -> Body:
    """Find the blocks; a record that is one stock phrase was given to be read, so that is kept."""
    plain = normalise(text.replace("\r\n", " \n"))
    body = carve_plain(plain)
    return body if body.blocks else carve_plain(plain, cleaned=False)
