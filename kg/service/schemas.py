"""Answers as JSON Schema, derived from the typed answers, and the OpenAPI description in one language."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from functools import cache
from importlib.resources import files
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from fastapi.openapi.utils import get_openapi

from kg import model, period
from kg.messages.words import BOTH, in_language
from kg.period import Period, Precision
from kg.query import answers
from kg.query.answers import AskAnswer
from kg.query.plain import json_name
from kg.query.questions.registry import questions

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import FastAPI

    from kg.messages.words import Lang

_HOMES = (model.__name__, period.__name__, f"{answers.__package__}.")
"""Where the records of answers are: annotations name them without importing them."""

_SIMPLE: Mapping[object, Mapping[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    date: {"type": "string", "format": "date"},
    datetime: {"type": "string", "format": "date-time"},
}
_PERIOD = {
    "type": "object",
    "description": "从 start 起到 end 前一天 · from start to the day before end",
    "required": ["start", "end", "precision"],
    "properties": {
        "start": {"type": ["string", "null"], "format": "date"},
        "end": {"type": ["string", "null"], "format": "date"},
        "precision": {"enum": [each.value for each in Precision]},
    },
}
PROBLEM = "Problem"
_PROBLEM = {
    "type": "object",
    "description": "出错说明（RFC 9457） · problem details (RFC 9457)",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "哪里错了，怎么办 · what is wrong and what to do"},
        "suggestions": {"type": "array", "items": {"type": "string"}, "description": "相近的名称 · similar names"},
        "errors": {"type": "array", "items": {"type": "object"}, "description": "有误的参数 · the wrong parameters"},
    },
}


class AnswerSchemas:
    """Collects the schemas of answers as components; records are referred to by the names of their classes."""

    def __init__(self) -> None:
        self.components: dict[str, Any] = {PROBLEM: _PROBLEM}

    def of(self, annotation: Any) -> dict[str, Any]:
        """Return the schema of an annotation, adding the records it names."""
        if annotation in _SIMPLE:
            return dict(_SIMPLE[annotation])
        if isinstance(annotation, type):
            return self._of_class(annotation)
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin in (Union, UnionType):
            return {"anyOf": [self.of(each) for each in arguments]}
        if origin in (dict, Mapping):
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        if origin is tuple and arguments[-1] is not Ellipsis:
            items = [self.of(each) for each in arguments]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        return {"type": "array", "items": self.of(arguments[0])}

    def _of_class(self, kind: type) -> dict[str, Any]:
        name = kind.__name__
        if name not in self.components:
            self.components[name] = {}  # a record may contain itself
            self.components[name] = self._described(kind)
        return {"$ref": f"#/components/schemas/{name}"}

    def _described(self, kind: type) -> dict[str, Any]:
        if kind is Period:
            return _PERIOD
        if kind is AskAnswer:
            return self._ask()
        if issubclass(kind, Enum):
            return {"type": "string", "enum": [each.value for each in kind]}
        assert is_dataclass(kind), f"{kind} has no schema"
        hints = get_type_hints(kind, localns=_records())
        names = {json_name(field): field.name for field in fields(kind)}
        english = (kind.__doc__ or kind.__name__).partition("\n")[0]
        return {
            "type": "object",
            "description": f"{_in_chinese().get(kind.__name__, kind.__name__)}{BOTH}{english}",
            "required": [*names],
            "additionalProperties": False,
            "properties": {name: self.of(hints[own]) for name, own in names.items()},
        }

    def _ask(self) -> dict[str, Any]:
        text = files(__package__).joinpath("../query/ask/schema.json").read_text(encoding="utf-8")
        schema: dict[str, Any] = json.loads(text.replace("#/$defs/", "#/components/schemas/Ask_"))
        self.components |= {f"Ask_{name}": each for name, each in schema.pop("$defs").items()}
        del schema["$schema"]
        return schema | {"description": f"{_in_chinese()['AskAnswer']}{BOTH}The answer to a question in words."}


def described(app: FastAPI, schemas: AnswerSchemas) -> Callable[[Lang], dict[str, Any]]:
    """Return what gives the OpenAPI description of an app in Chinese or English."""

    @cache
    def openapi(lang: Lang) -> dict[str, Any]:
        found = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
            openapi_version="3.1.0",
        )
        found.setdefault("components", {}).setdefault("schemas", {}).update(schemas.components)
        localised: dict[str, Any] = in_language(found, lang)
        return localised

    return openapi


@cache
def examples() -> dict[str, Any]:
    """Return a question and its shortened answer for each method, made from tests/kg/query/world.py."""
    found: dict[str, Any] = json.loads(files(__package__).joinpath("examples.json").read_text(encoding="utf-8"))
    return found


@cache
def _records() -> dict[str, Any]:
    """Return the classes and aliases that the annotations of records name."""
    questions()  # imports the modules
    homes = [vars(home) for name, home in sorted(sys.modules.items()) if name.startswith(_HOMES)]
    named = {name: each for home in homes for name, each in home.items() if get_origin(each) is Literal}
    classes = {name: each for home in homes for name, each in home.items() if isinstance(each, type)}
    return {**named, **classes, "date": date, "datetime": datetime, "Mapping": Mapping}


@cache
def _in_chinese() -> dict[str, str]:
    text = files(__package__).joinpath("records.zh.json").read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)
    return found
