"""Answers as plain objects, for JSON."""

from __future__ import annotations

from dataclasses import Field, fields, is_dataclass
from datetime import date, datetime
from typing import Any

from kg.period import Period


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


def json_name(of: Field[Any]) -> str:
    """Return what a field is called in JSON."""
    name: str = of.metadata.get("json", of.name)
    return name


class Answer:
    """Base class of typed answers."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain objects: what `--json` prints and the service sends."""
        found: dict[str, Any] = plain(self)
        return found
