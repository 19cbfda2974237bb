"""Data frames of answers: fixed, typed columns, the same when there is no row. docs/service.md describes them."""

from __future__ import annotations

from datetime import date, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from kg.errors import ExtraMissing
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kg.model import Community
    from kg.query.session import QuerySession

ColumnKind = Literal["text", "number", "whole", "flag", "day", "instant"]
_EDGES = (
    "source source_name source_kind source_code relation wording target target_name target_kind target_code sign:whole "
    "polarity modality value:number value_high:number unit scale change basis product valid valid_from:day "
    "valid_to:day confidence:number weight:number independent_sources:whole contested:flag first_day:day last_day:day "
    "recorded_at:instant published_on:day document title publisher speaker quote qualifiers facts"
)
_NODES = "id name kind code codes layer:whole score:number direction:whole"
_THEMES = "as_of:day theme title level:whole parent size:whole member member_name member_kind member_code"
_PASSAGES = "document title publisher published_on:day page:whole start:whole end:whole score:number heading text"
_ENTITIES = "id kind name codes matched degree:whole"


def _columns(spelled: str) -> dict[str, ColumnKind]:
    parts = (name.partition(":") for name in spelled.split())
    return {name: kind or "text" for name, _, kind in parts}  # type: ignore[misc] # the texts above are checked by tests


COLUMNS: Mapping[str, Mapping[str, ColumnKind]] = {
    "edges": _columns(_EDGES),
    "nodes": _columns(_NODES),
    "themes": _columns(_THEMES),
    "passages": _columns(_PASSAGES),
    "entities": _columns(_ENTITIES),
}
_WAYS: Mapping[str, Literal["in", "out"]] = {"subject": "out", "object": "in"}
STEPS: Mapping[str, tuple[str, Literal["in", "out", "both"]]] = {
    name: (relation.name, "both" if len({*relation.frames.values()}) < len(relation.frames) else _WAYS[end])
    for relation in vocabulary().relations.values()
    for end, name in relation.frames.items()
}
"""Steps from an entity by name: the relation, and whether the entity is its object (`in`) or its subject (`out`)."""

_PANDAS: Mapping[ColumnKind, str] = {
    "text": "object",
    "number": "float64",
    "whole": "Int64",
    "flag": "boolean",
    "day": "datetime64[us]",
    "instant": "datetime64[us, UTC]",
}


def pandas_frame(columns: Mapping[str, ColumnKind], rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a frame of pandas with exactly these columns.

    Raises:
        ExtraMissing: when pandas is not installed.
    """
    pandas = extra("pandas")
    series = {}
    for name, kind in columns.items():
        cells = [row.get(name, "" if kind == "text" else None) for row in rows]
        found = pandas.Series(cells, dtype="object" if kind in {"day", "instant"} else _PANDAS[kind])
        if kind in {"day", "instant"}:
            found = pandas.to_datetime(found, utc=kind == "instant", format="ISO8601").astype(_PANDAS[kind])
        series[name] = found
    return pandas.DataFrame(series)


def arrow_table(columns: Mapping[str, ColumnKind], rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a table of Arrow with exactly these columns.

    Raises:
        ExtraMissing: when pyarrow is not installed.
    """
    arrow = extra("pyarrow")
    kinds = {
        "text": arrow.string(),
        "number": arrow.float64(),
        "whole": arrow.int64(),
        "flag": arrow.bool_(),
        "day": arrow.date32(),
        "instant": arrow.timestamp("us", "UTC"),
    }
    read = {"day": date.fromisoformat, "instant": datetime.fromisoformat}
    arrays = {}
    for name, kind in columns.items():
        cells = [row.get(name, "" if kind == "text" else None) for row in rows]
        made = [read[kind](cell) if cell and kind in read else cell for cell in cells]
        arrays[name] = arrow.array(made, kinds[kind])
    return arrow.table(arrays)


def theme_rows(session: QuerySession, as_of: date, themes: Iterable[Community]) -> list[dict[str, Any]]:
    """Return one row for each member of each theme, themes in their order, members by id."""
    rows = []
    for theme in themes:
        shared = {
            "as_of": as_of.isoformat(),
            "theme": theme.id,
            "title": theme.summary.title if theme.summary else "",
            "level": theme.level,
            "parent": theme.parent,
            "size": len(theme.members),
        }
        for ref in session.refs(sorted(theme.members)):
            member = {"member": ref.id, "member_name": ref.name, "member_kind": ref.kind, "member_code": ref.code}
            rows.append({**shared, **member})
    return rows


def extra(module: str) -> Any:
    """Import what an extra brings.

    Raises:
        ExtraMissing: when it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        raise ExtraMissing(missing, "notebooks") from missing
