"""Parse the fields of one row of an imported graph from a JSON line or from cells; docs/store.md lists them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class SourceRow(msgspec.Struct, gc=False):
    """An unchecked row; missing fields are None."""

    subject: Any = None
    object: Any = None
    value: Any = None
    high: Any = None
    confidence: Any = None
    # The fields below are shared by many rows (kg/interop/rows/claims.py).
    relation: Any = None
    subject_kind: Any = None
    object_kind: Any = None
    published_on: Any = None
    source: Any = None
    speaker: Any = None
    sign: Any = None
    polarity: Any = None
    modality: Any = None
    valid: Any = None
    unit: Any = None
    scale: Any = None
    change: Any = None
    basis: Any = None
    qualifiers: Any = None


OWN = 5  # leading fields that are specific to one row
_decoder = msgspec.json.Decoder(SourceRow)
_decode, _decode_lines = _decoder.decode, _decoder.decode_lines


class Fault(str):
    """The fault message of a line that is not a row."""

    __slots__ = ()


def row_of(fields: Mapping[str, Any]) -> SourceRow:
    """Return a row of named fields; unknown names are ignored."""
    return SourceRow(**{name: value for name, value in fields.items() if name in SourceRow.__struct_fields__})


def row_in(line: str) -> SourceRow:
    """Parse a line of JSON.

    Raises:
        ValueError: when it is not valid JSON.
        RecursionError: when it is nested too deeply.
        TypeError: when it is valid but not an object.
    """
    try:
        return _decode(line)
    except msgspec.MsgspecError:  # also accept what only Python's parser does: NaN, a lone surrogate
        fields = json.loads(line)
    if not isinstance(fields, dict):
        raise TypeError(line)
    return row_of(fields)


def rows_in(lines: list[str]) -> Sequence[SourceRow | Fault]:
    """Parse lines of JSON; each gives a row or a fault."""
    text = "\n".join(lines)
    # If every line break separates two objects and there are as many values as lines, each line holds one value.
    if text.count("}\n{") == len(lines) - 1 and text.startswith("{") and text.endswith("}"):
        try:
            rows = _decode_lines(text)
        except (msgspec.MsgspecError, RecursionError):
            rows = []
        if len(rows) == len(lines):
            return rows
    return list(map(_row_or_fault, lines))


def _row_or_fault(line: str) -> SourceRow | Fault:
    try:
        return row_in(line)
    except (ValueError, RecursionError):
        return Fault("not valid JSON")
    except TypeError:
        return Fault("not a JSON object")
