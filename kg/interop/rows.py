"""The fields of one row of an existing graph, from a line of JSON or from cells; docs/store.md lists them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping


class Row(msgspec.Struct, gc=False):
    """A row as it was written: nothing is checked yet, a field that is not stated is None."""

    subject: Any = None
    subject_kind: Any = None
    relation: Any = None
    object: Any = None
    object_kind: Any = None
    published_on: Any = None
    source: Any = None
    speaker: Any = None
    valid: Any = None
    sign: Any = None
    polarity: Any = None
    modality: Any = None
    value: Any = None
    high: Any = None
    unit: Any = None
    scale: Any = None
    change: Any = None
    basis: Any = None
    qualifiers: Any = None
    confidence: Any = None


_decode = msgspec.json.Decoder(Row).decode


def row_of(fields: Mapping[str, Any]) -> Row:
    """Return a row of named fields; names that no row has are passed over."""
    return Row(**{name: value for name, value in fields.items() if name in Row.__struct_fields__})


def row_in(line: str) -> Row:
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
