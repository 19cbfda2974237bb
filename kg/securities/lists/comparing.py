"""Compare two securities lists by code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from kg.securities.records import MasterRows

ChangeKind = Literal["added", "removed", "renamed"]


class CodeDifference(NamedTuple):
    """A code that is in only one list, or has different current names."""

    code: str
    kind: ChangeKind
    before: tuple[str, ...]
    after: tuple[str, ...]


def compare(before: MasterRows, after: MasterRows) -> list[CodeDifference]:
    """Return the changes between two lists, sorted by code; former names are ignored."""
    changes = []
    for code in sorted({*before.listings, *before.names, *after.listings, *after.names}):
        old, new = _current(before, code), _current(after, code)
        if code not in before.listings and code not in before.names:
            changes.append(CodeDifference(code, "added", old, new))
        elif code not in after.listings and code not in after.names:
            changes.append(CodeDifference(code, "removed", old, new))
        elif old != new:
            changes.append(CodeDifference(code, "renamed", old, new))
    return changes


def _current(rows: MasterRows, code: str) -> tuple[str, ...]:
    """Return the current short names of a code."""
    return tuple(
        dict.fromkeys(each.text for each in rows.names.get(code, ()) if each.kind == "short" and each.end is None)
    )
