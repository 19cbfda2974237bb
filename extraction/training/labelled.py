"""Files of labelled JSON lines, of whatever kind: one line read at a time, each fault with its place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kg.errors import DocumentError

if TYPE_CHECKING:
    from pathlib import Path


def labelled_lines(path: Path) -> list[tuple[str, Any]]:
    """Return (place, value) of every line that is not blank.

    Raises:
        DocumentError: with the file or line, what is wrong with it, and what to do.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DocumentError(str(path), f"cannot be read: {error}", "give a UTF-8 file of JSON lines") from error
    return [
        (f"{path}:{number}", _value(line, f"{path}:{number}")) for number, line in enumerate(lines, 1) if line.strip()
    ]


def holds(path: Path, key: str) -> bool:
    """Whether the first labelled line of a file is an object with this key: what kind of labels it holds."""
    try:
        with path.open(encoding="utf-8") as lines:
            record = json.loads(next((line for line in lines if line.strip()), "{}"))
    except ValueError:  # whoever reads the file says what is wrong with it
        return False
    return isinstance(record, dict) and key in record


def _value(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise DocumentError(where, f"not JSON: {error.msg}", "write one JSON object a line") from error
