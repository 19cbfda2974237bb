"""The form of each answer in JSON: its version, and the names and types in every record.

After an intended change raise `version` of the questions it touches, and refresh tests/kg/service/wire.json with
`python -m tests.kg.service.wire`; a field that is only renamed in Python keeps its name: kg/query/plain.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kg.query.questions.registry import questions
from kg.service.schemas import AnswerSchemas

HOME = Path(__file__).with_suffix(".json")


def made() -> dict[str, Any]:
    """Return the forms."""
    schemas = AnswerSchemas()
    forms = {each.form(): _kind(schemas.of(each.answers)) for each in questions().values()}
    records = {
        name: {field: _kind(each) for field, each in schema.get("properties", {}).items()} or _kind(schema)
        for name, schema in sorted(schemas.components.items())
    }
    return {"answers": forms, "records": records}


def _kind(schema: dict[str, Any]) -> str:
    """Return a schema without its descriptions as one word.

    >>> _kind({"type": "array", "items": {"$ref": "#/components/schemas/Link"}})
    '[Link]'
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        return json.dumps(schema.get("enum", schema.get("const")), ensure_ascii=False)
    if "prefixItems" in schema:
        return f"({', '.join(map(_kind, schema['prefixItems']))})"
    if "items" in schema:
        return f"[{_kind(schema['items'])}]"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"{{{_kind(schema['additionalProperties'])}}}"
    kind = schema.get("type", "any")
    return " | ".join(kind) if isinstance(kind, list) else schema.get("format", kind)


if __name__ == "__main__":
    HOME.write_text(json.dumps(made(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
