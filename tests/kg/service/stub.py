"""The methods of the questions for type checkers.

Refresh kg/service/methods.pyi with `python -m tests.kg.service.stub` after an intended change of a question.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from kg.query.questions.parameters import SIGNS, DatedQuestion, SureQuestion, ViewClocks, ViewOptions
from kg.query.questions.registry import questions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

HOME = Path(__file__).resolve().parents[3] / "kg" / "service" / "methods.pyi"
HEAD = """# ruff: noqa: A002
# Written by `python -m tests.kg.service.stub`.
from collections.abc import Sequence
from datetime import date
from typing import Any, Literal, Unpack

"""

SHARED = """    def answer(self, question: DatedQuestion) -> Any: ...
    def asked(self, key: str, *about: object, **options: object) -> Any: ...
"""


def made() -> str:
    """Return the file."""
    found = questions().values()
    types = {DatedQuestion, ViewClocks, ViewOptions, *(each for question in found for each in _named(question.answers))}
    homes = {
        home: sorted(each.__name__ for each in types if each.__module__ == home)
        for home in {each.__module__ for each in types}
    }
    imports = [f"from {home} import {', '.join(names)}\n" for home, names in homes.items()]
    body = "".join(f"    {line}\n" for question in found for line in _method(question))
    return f"{HEAD}{''.join(sorted(imports))}\nclass QuestionMethods:\n{SHARED}{body}"


def _method(question: type[DatedQuestion]) -> Iterator[str]:
    own = {name: each for name, each in question.model_fields.items() if name not in SureQuestion.model_fields}
    about = [f"{name}: {_type(each.annotation)}" for name, each in own.items() if each.is_required()]
    more = [
        f"{name}: {_type(each.annotation)} = {_default(each)}" for name, each in own.items() if not each.is_required()
    ]
    options = "ViewOptions" if issubclass(question, SureQuestion) else "ViewClocks"
    yield f"def {question.key}("
    for each in ["self", *about, *(["*", *more] if more else []), f"**options: Unpack[{options}]"]:
        yield f"    {each},"
    yield f") -> {_answer(question.answers)}: ..."


def _type(annotation: Any) -> str:
    """Return what a program may give for a field."""
    if get_origin(annotation) is list:
        return "Sequence[str] | str"
    if get_origin(annotation) is Literal:
        names = get_args(annotation)
        return f"Literal{[*names, *((1, -1) if {*names} == {*SIGNS} else ())]!r}".replace("'", '"')
    if get_args(annotation):
        return " | ".join(map(_type, get_args(annotation)))
    if annotation is date:
        return "date | str"
    return "None" if annotation is type(None) else annotation.__name__


def _default(field: FieldInfo) -> str:
    return "..." if field.default == [] else repr(field.default).replace("'", '"')


def _named(annotation: Any) -> Iterator[type]:
    if get_origin(annotation):
        yield from _named(get_args(annotation)[0])
    else:
        yield annotation


def _answer(annotation: Any) -> str:
    names = ", ".join(each.__name__ for each in _named(annotation))
    return {list: f"list[{names}]", tuple: f"tuple[{names}, ...]"}.get(get_origin(annotation), names)


if __name__ == "__main__":
    HOME.write_text(made(), encoding="utf-8")
