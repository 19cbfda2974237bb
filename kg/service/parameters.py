"""Parameters of the questions: how they are read, and their limits; HTTP, MCP, commands and Python share them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, TypeVar, cast

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from kg.errors import QuestionError
from kg.model import Kind, Modality
from kg.relations import vocabulary
from kg.settings import market_day

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kg.service.base import KnowledgeBase

_Method = TypeVar("_Method", bound="Callable[..., Any]")
_SIGNS = {1: "up", -1: "down"}
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
LONGEST_NAME, _LONGEST_QUESTION = 200, 1000


class ViewClocks(TypedDict, total=False):
    """What a question may see: published by the end of `as_of`, read by the instant `known_at` (with a time zone).

    A day is a date or ISO text; of an instant (`pandas.Timestamp`) it is the day in the market.
    """

    as_of: date | str | None
    known_at: datetime | str | None


class ViewOptions(ViewClocks, total=False):
    """`ViewClocks`, the least confidence of the facts that support the answer, and whether weak ones are shown."""

    min_confidence: float | None
    weak: bool | None


def read_day(value: object) -> object:
    """Read an ISO day; pydantic alone would take a number for a Unix time. Of an instant, the day in the market."""
    if isinstance(value, datetime):
        return market_day(value)
    return date.fromisoformat(value) if isinstance(value, str) else value


def _instant(value: object) -> object:
    """Read an ISO instant; pydantic alone would take a number for a Unix time.

    An instant outside the calendar in UTC is replaced by the calendar's first or last, which shows the same.
    """
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    if not isinstance(found, datetime) or found.tzinfo is None:
        return found
    try:
        return found.astimezone(UTC)
    except OverflowError:
        return _FIRST if found.year == date.min.year else _LAST


def _direction(value: object) -> object:
    """Read a direction, which programs may also give as a sign."""
    return _SIGNS.get(value, value) if isinstance(value, int) else value


def name_field(description: str, *examples: str) -> Any:
    """Return the limits of a name."""
    return Field(min_length=1, max_length=LONGEST_NAME, description=description, examples=list(examples))


Text = StringConstraints(strip_whitespace=True)
Name = Annotated[str, Text, name_field("名称、简称或证券代码 · a name, alias or securities code", "光伏", "600438.SH")]
Theme = Annotated[str, Text, name_field("主题编号或其开头 · the id of a theme, or its beginning")]
Identifier = Annotated[str, Text, name_field("文档编号 · the id of a document")]
Words = Annotated[
    str,
    Text,
    Field(
        min_length=1,
        max_length=_LONGEST_QUESTION,
        description="问题或关键词 · a question or keywords",
        examples=["光伏产业链上下游有哪些公司？"],
    ),
]
Direction = Annotated[
    Literal["up", "down"], BeforeValidator(_direction), Field(description="上升或下降 · rise or fall")
]
Day = Annotated[
    date | None,
    BeforeValidator(read_day),
    Field(description="只看这一天（含）以前发表的内容 · hides what was published later", examples=["2025-06-30"]),
]
Instant = Annotated[
    AwareDatetime | None,
    BeforeValidator(_instant),
    Field(
        description="只看这一时刻（含时区）以前读入的内容 · hides what was read later; with a time zone",
        examples=["2025-06-30T18:00:00+08:00"],
    ),
]
Relation = Annotated[
    str, StringConstraints(max_length=100), Field(json_schema_extra={"enum": [*vocabulary().relations]})
]
Relations = Annotated[
    list[Relation],
    Field(max_length=100, description="只要这些关系 · only these relations", examples=[["supplies", "uses"]]),
]
Modalities = Annotated[list[Modality], Field(max_length=10, description="只要这些语气 · only these modalities")]
Kinds = Annotated[list[Kind], Field(max_length=20, description="另一端的类别 · kind of the other end")]
FactIds = list[Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]]
Confidence = Annotated[
    float | None,
    Field(ge=0, le=1, allow_inf_nan=False, description="只用把握不低于此值的事实 · least confidence of facts used"),
]


class DatedQuestion(BaseModel):
    """What every question takes; unknown parameters are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    as_of: Day = None
    known_at: Instant = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the method of `KnowledgeBase`."""
        return self.model_dump()


class SureQuestion(DatedQuestion):
    """A question that facts support."""

    min_confidence: Confidence = None
    weak: Annotated[
        bool | None, Field(description="也列出把握较弱的事实，有标记 · also facts that are weak, marked as such")
    ] = None


class WrongParameter(QuestionError):
    """A parameter of a question outside its limits."""

    def __init__(self, parameter: str, cause: str) -> None:
        self.parameter = parameter
        super().__init__("{parameter}: {cause}", parameter=parameter, cause=cause)


def check(model: type[DatedQuestion], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given parameters as the model of a question reads them.

    Raises:
        WrongParameter: when one is outside its limits.
    """
    try:
        question = model.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise WrongParameter(".".join(map(str, first["loc"])) or "wanted", first["msg"]) from None
    return {name: getattr(question, name) for name in given}


def _conditions(wanted: object, model: type[DatedQuestion]) -> dict[str, Any]:
    """Return the conditions of a filter by the names of their parameters."""
    found = {each.name: getattr(wanted, each.name) for each in fields(wanted)} if is_dataclass(wanted) else {}
    singular = {
        name.removesuffix("s") if name not in model.model_fields else name: each for name, each in found.items()
    }
    return {name: each for name, each in singular.items() if name in model.model_fields}


def checked(model: type[DatedQuestion]) -> Callable[[_Method], _Method]:
    """Decorate a method of `KnowledgeBase`: every door calls it, so that its parameters are checked here for all."""

    def decorate(method: _Method) -> _Method:
        form = signature(method)
        own = {name for name, each in form.parameters.items() if each.kind != Parameter.VAR_KEYWORD} - {"self"}
        options = {*DatedQuestion.model_fields, *SureQuestion.model_fields} & model.model_fields.keys()

        @wraps(method)
        def answer(base: KnowledgeBase, /, *args: Any, **named: Any) -> Any:
            for name in named.keys() - own - options:
                near = get_close_matches(name, sorted(own | options), 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise TypeError(f"{method.__name__}() got an unexpected keyword argument {name!r}{hint}")
            bound = form.bind(base, *args, **named).arguments
            given = {**bound.pop("options", {}), **bound}
            known = {name: value for name, value in given.items() if name in model.model_fields}
            try:
                read = check(model, {**_conditions(given.get("wanted"), model), **known})
                return method(given.pop("self"), **{**given, **{name: read[name] for name in known}})
            except WrongParameter as error:
                error.lang = base.lang
                raise

        return cast("_Method", answer)

    return decorate
