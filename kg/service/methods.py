"""The questions as methods of `KnowledgeBase`; for type checkers methods.pyi, which tests/kg/service/stub.py writes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from kg.errors import KgError
from kg.query.grounding.prose import NoModel
from kg.query.questions.registry import question, questions

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Unpack

    from kg.llm.port import Model
    from kg.messages.words import Lang
    from kg.query.questions.parameters import DatedQuestion, ViewOptions
    from kg.query.session import QuerySession


class QuestionMethods(ABC):
    """One method for each question; parameters without a default may be given by position."""

    lang: Lang
    model: Model | None

    @abstractmethod
    def session(self, **options: Unpack[ViewOptions]) -> AbstractContextManager[QuerySession]:
        """Open a session."""

    def answer(self, question: DatedQuestion) -> Any:
        """Return the answer to a question.

        Raises:
            NoModel: when a model has to write it, and the base was opened without one.
        """
        with self.session(**question.view()) as session:  # type: ignore[arg-type] # the options of ViewOptions
            if question.by_model and self.model is None:
                raise NoModel
            found = question.answer(session)
        return found(self.model) if question.by_model else found

    def asked(self, key: str, *about: object, **options: object) -> Any:
        """Return the answer to the question with a key, its parameters checked; what each method of a question does."""
        try:
            return self.answer(question(key).asked(*about, **options))
        except KgError as error:
            error.lang = self.lang
            raise


def _method(asked: type[DatedQuestion]) -> Callable[..., Any]:
    def answer(self: Any, *about: object, **named: object) -> Any:
        return self.asked(asked.key, *about, **named)

    parameters = [Parameter("self", Parameter.POSITIONAL_ONLY)]
    for name, field in sorted(asked.model_fields.items(), key=lambda each: not each[1].is_required()):
        kind = Parameter.POSITIONAL_OR_KEYWORD if field.is_required() else Parameter.KEYWORD_ONLY
        default = Parameter.empty if field.is_required() else field.default
        parameters.append(Parameter(name, kind, default=default, annotation=field.annotation))
    found: Any = answer
    found.__signature__ = Signature(parameters, return_annotation=asked.answers)
    found.__name__, found.__qualname__ = asked.key, f"KnowledgeBase.{asked.key}"
    found.__doc__ = asked.__doc__
    return answer


for _key, _question in questions().items():
    setattr(QuestionMethods, _key, _method(_question))
