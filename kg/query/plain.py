"""Answers as plain objects, for JSON."""

from __future__ import annotations

from dataclasses import Field, fields, is_dataclass
from datetime import date, datetime
from typing import Any

from kg.period import Period

_LONGEST_SHOWN = 80  # characters of a value in a `repr`


def plain(value: Any) -> Any:
    """Return frozen records as what JSON knows: objects, lists, strings and numbers.

    A field that was renamed keeps its name in JSON: `field(metadata={"json": "its old name"})`.
    """
    if isinstance(value, Period):
        return {"start": plain(value.start), "end": plain(value.end), "precision": value.precision.value}
    if is_dataclass(value) and not isinstance(value, type):
        return {json_name(field): plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def _short(value: Any) -> str:
    if isinstance(value, (tuple, list, dict)):
        return f"<{len(value)}>"
    if is_dataclass(value):
        record: Any = value
        return repr(record.name) if hasattr(record, "name") else Answer.__repr__(record)
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def json_name(of: Field[Any]) -> str:
    """Return what a field is called in JSON."""
    name: str = of.metadata.get("json", of.name)
    return name


class Answer:
    """Base class of typed answers."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Give each answer the short `repr`, which its dataclass then keeps: in full a chain is 300,000 characters."""
        cls.__repr__ = Answer.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """Return the answer in one line: names, and how many there are of anything else; `to_dict()` has it in full."""
        found: Any = self  # a dataclass
        shown = ", ".join(f"{each.name}={_short(getattr(self, each.name))}" for each in fields(found))
        return f"{type(self).__name__}({shown})"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain objects: what `--json` prints and the service sends."""
        found: dict[str, Any] = plain(self)
        return found
