"""The fields of one row of an existing graph, from a line of JSON or from cells; docs/store.md lists them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class SourceRow(msgspec.Struct, gc=False):
    """A row as it was written: nothing is checked yet, a field that is not stated is None."""

    subject: Any = None
    object: Any = None
    value: Any = None
    high: Any = None
    confidence: Any = None
    # What follows is what many rows share (kg/interop/rows/claims.py).
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


OWN = 5  # fields that no other row is expected to share
_decoder = msgspec.json.Decoder(SourceRow)
_decode, _decode_lines = _decoder.decode, _decoder.decode_lines


class Fault(str):
    """What is wrong with a line that is no row."""

    __slots__ = ()


def row_of(fields: Mapping[str, Any]) -> SourceRow:
    """Return a row of named fields; names that no row has are passed over."""
    return SourceRow(**{name: value for name, value in fields.items() if name in SourceRow.__struct_fields__})


def row_in(line: str) -> SourceRow:
    """Read a line of JSON.

    Raises:
        ValueError: when it is not valid JSON.
        RecursionError: when it is nested too deeply.
        TypeError: when it is valid, but no object.
    """
    try:
        return _decode(line)
    except msgspec.MsgspecError:  # what Python's own reader takes as well (NaN, a lone surrogate) is no fault
        fields = json.loads(line)
    if not isinstance(fields, dict):
        raise TypeError(line)
    return row_of(fields)


def rows_in(lines: list[str]) -> Sequence[SourceRow | Fault]:
    """Read lines of JSON, each a row or a fault of its own."""
    text = "\n".join(lines)
    # Then no value goes on in the next line, and as many values as lines are one a line.
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
