"""What a question is: its checked parameters, its answer, the answer as text, as JSON and as a picture.

A question is one class; Python, HTTP, MCP, the command line and the documentation are made from it. Texts have two
languages, `中文 · English`; the docstring is the summary.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypedDict

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from kg.errors import QuestionError
from kg.model import Kind, Modality
from kg.query.plain import plain
from kg.relations import vocabulary
from kg.settings import market_day

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from kg.query.pictures import Picture
    from kg.query.session import QuerySession

SIGNS = {"up": 1, "down": -1}
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
    names = {sign: name for name, sign in SIGNS.items()}
    return names.get(value, value) if isinstance(value, int) else value


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


def _list(value: object) -> object:
    """Read one value as a list of one."""
    return [value] if isinstance(value, str) else value


Relation = Annotated[
    str, StringConstraints(max_length=100), Field(json_schema_extra={"enum": [*vocabulary().relations]})
]
Relations = Annotated[
    list[Relation],
    BeforeValidator(_list),
    Field(max_length=100, description="只要这些关系 · only these relations", examples=[["supplies", "uses"]]),
]
Modalities = Annotated[
    list[Modality], BeforeValidator(_list), Field(max_length=10, description="只要这些语气 · only these modalities")
]
Kinds = Annotated[
    list[Kind], BeforeValidator(_list), Field(max_length=20, description="另一端的类别 · kind of the other end")
]
FactIds = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]], BeforeValidator(_list)
]
Confidence = Annotated[
    float | None,
    Field(ge=0, le=1, allow_inf_nan=False, description="只用把握不低于此值的事实 · least confidence of facts used"),
]


class WrongParameter(QuestionError):
    """A parameter of a question outside its limits."""

    def __init__(self, parameter: str, cause: str) -> None:
        self.parameter = parameter
        super().__init__("{parameter}: {cause}", parameter=parameter, cause=cause)


class DatedQuestion(BaseModel):
    """A question on what may be seen on a day; unknown parameters are refused.

    Class attributes of a question:
        key: its name in Python, HTTP, MCP and in `ask`; the command has `-` for `_`.
        answers: the type of its answer.
        version: the number of the form of its JSON; tests/kg/service/wire.json pins the form.
        by_model: a language model writes the answer; `answer` then returns what asks it, to be called with the model
            after the session is closed.
        by_vectors: whether passages are searched by vectors, which needs an encoder.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: ClassVar[str] = ""
    answers: ClassVar[Any] = None
    version: ClassVar[int] = 1
    by_model: ClassVar[bool] = False
    by_vectors: ClassVar[bool] = False

    as_of: Day = None
    known_at: Instant = None

    @classmethod
    def summary(cls) -> str:
        """Return what the question is for, in both languages."""
        return (cls.__doc__ or "").partition("\n")[0].removesuffix(".")

    @classmethod
    def is_drawn(cls) -> bool:
        """Whether the question has a picture."""
        return cls.picture is not DatedQuestion.picture

    @classmethod
    def form(cls) -> str:
        """Return the name and version of the form of its JSON, as HTTP and MCP send it: `chain/1`."""
        return f"{cls.key}/{cls.version}"

    @classmethod
    def asked(cls, *about: object, **named: object) -> Self:
        """Return the question with these parameters; those without a default may be given by position.

        Raises:
            TypeError: for a parameter that the question does not have, or lacks.
            WrongParameter: for one outside its limits.
        """
        required = [name for name, field in cls.model_fields.items() if field.is_required()]
        if len(about) > len(required):
            raise TypeError(f"{cls.key}() takes {len(required)} positional arguments but {len(about)} were given")
        given = {**dict(zip(required, about, strict=False)), **named}
        if len(given) < len(about) + len(named):
            raise TypeError(f"{cls.key}() got multiple values for an argument")
        for name in given.keys() - cls.model_fields.keys():
            near = get_close_matches(name, sorted(cls.model_fields), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{cls.key}() got an unexpected keyword argument {name!r}{hint}")
        if missing := [name for name in required if name not in given]:
            raise TypeError(f"{cls.key}() missing required arguments: {', '.join(missing)}")
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            first = error.errors()[0]
            raise WrongParameter(".".join(map(str, first["loc"])) or cls.key, first["msg"]) from None

    def view(self) -> dict[str, Any]:
        """Return what the question may see, as options of `KnowledgeBase.session`."""
        options = ("as_of", "known_at", "min_confidence", "weak")
        return {name: getattr(self, name) for name in options if name in type(self).model_fields}

    def answer(self, session: QuerySession) -> Any:
        """Return the answer."""
        raise NotImplementedError

    @classmethod
    def text(cls, session: QuerySession, answer: Any) -> Iterable[str]:  # noqa: ARG003 -- for those that override it
        """Yield the lines of an answer on a terminal; by default those of its JSON."""
        return [json.dumps(cls.to_json(answer), ensure_ascii=False, indent=2)]

    def picture(self, session: QuerySession) -> Picture:
        """Return what is drawn of the answer, of a question that `is_drawn`."""
        raise NotImplementedError

    @staticmethod
    def to_json(answer: Any) -> Any:
        """Return an answer as it is sent and printed with `--json`."""
        return answer.to_dict() if hasattr(answer, "to_dict") else plain(answer)

    @staticmethod
    def is_found(answer: Any) -> bool:  # noqa: ARG004 -- for those that override it
        """Whether there is an answer; the exit code of the command says so."""
        return True


class SureQuestion(DatedQuestion):
    """A question that facts support."""

    min_confidence: Confidence = None
    weak: Annotated[
        bool | None, Field(description="也列出把握较弱的事实，有标记 · also facts that are weak, marked as such")
    ] = None
