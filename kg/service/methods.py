"""The questions as methods of `KnowledgeBase`; for type checkers methods.pyi, which tests/kg/service/stub.py writes."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from kg.query.questions import questions

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg.query.questions.parameters import DatedQuestion


class QuestionMethods:
    """One method for each question; parameters without a default may be given by position."""


def _method(question: type[DatedQuestion]) -> Callable[..., Any]:
    def answer(self: Any, *about: object, **named: object) -> Any:
        return self.asked(question.key, *about, **named)

    parameters = [Parameter("self", Parameter.POSITIONAL_ONLY)]
    for name, field in sorted(question.model_fields.items(), key=lambda each: not each[1].is_required()):
        kind = Parameter.POSITIONAL_OR_KEYWORD if field.is_required() else Parameter.KEYWORD_ONLY
        default = Parameter.empty if field.is_required() else field.default
        parameters.append(Parameter(name, kind, default=default, annotation=field.annotation))
    found: Any = answer
    found.__signature__ = Signature(parameters, return_annotation=question.answers)
    found.__name__, found.__qualname__ = question.key, f"KnowledgeBase.{question.key}"
    found.__doc__ = question.__doc__
    return answer


for _key, _question in questions().items():
    setattr(QuestionMethods, _key, _method(_question))
