"""The questions as the service offers them: parameters with limits, and what answers; one table for HTTP and MCP."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from kg.query.plain import Answer, plain

if TYPE_CHECKING:
    from kg.service.base import KnowledgeBase

_DIRECTIONS = {"up": 1, "down": -1}
_LONGEST_NAME, _LONGEST_QUESTION = 200, 1000


def _day(value: object) -> object:
    """Read an ISO day; pydantic alone would take a number for a Unix time."""
    return date.fromisoformat(value) if isinstance(value, str) else value


def _name(description: str, *examples: str) -> Any:
    return Field(min_length=1, max_length=_LONGEST_NAME, description=description, examples=list(examples))


_Text = StringConstraints(strip_whitespace=True)
Name = Annotated[str, _Text, _name("名称、简称或证券代码 · a name, alias or securities code", "光伏", "600438.SH")]
Theme = Annotated[str, _Text, _name("主题编号或其开头 · the id of a theme, or its beginning")]
Identifier = Annotated[str, _Text, _name("文档编号 · the id of a document")]
Words = Annotated[
    str,
    _Text,
    Field(
        min_length=1,
        max_length=_LONGEST_QUESTION,
        description="问题或关键词 · a question or keywords",
        examples=["光伏产业链上下游有哪些公司？"],
    ),
]
Direction = Annotated[Literal["up", "down"], Field(description="上升或下降 · rise or fall")]
Day = Annotated[
    date | None,
    BeforeValidator(_day),
    Field(description="只看这一天（含）以前发表的内容 · hides what was published later", examples=["2025-06-30"]),
]
Confidence = Annotated[
    float | None,
    Field(ge=0, le=1, allow_inf_nan=False, description="只用把握不低于此值的事实 · least confidence of facts used"),
]


class DatedQuestion(BaseModel):
    """What every question takes; unknown parameters are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    as_of: Day = None


class SureQuestion(DatedQuestion):
    """A question that facts support."""

    min_confidence: Confidence = None


class ChainQuestion(SureQuestion):
    """Parameters of `chain`."""

    topic: Name
    depth: Annotated[int, Field(ge=1, le=4, description="上下游各走几级 · steps up and down the chain")] = 2


class ImpactQuestion(SureQuestion):
    """Parameters of `impact`."""

    factor: Name
    direction: Direction = "up"


class CausesQuestion(SureQuestion):
    """Parameters of `causes`."""

    effect: Name
    direction: Direction = "up"


class RelateQuestion(SureQuestion):
    """Parameters of `relate`."""

    first: Name
    second: Name


class ProfileQuestion(SureQuestion):
    """Parameters of `profile`."""

    name: Name


class ThemesQuestion(DatedQuestion):
    """Parameters of `themes`."""

    level: Annotated[int, Field(ge=0, le=3, description="层级，0 最粗 · level, 0 is the coarsest")] = 0


class ThemeQuestion(SureQuestion):
    """Parameters of `theme`."""

    theme_id: Theme


class PassagesQuestion(DatedQuestion):
    """Parameters of `passages`."""

    query: Words
    limit: Annotated[int, Field(ge=1, le=100, description="最多几段 · most passages")] = 10


class AskQuestion(SureQuestion):
    """Parameters of `ask`."""

    question: Words


class EntitiesQuestion(DatedQuestion):
    """Parameters of `entities`."""

    q: Annotated[str, _Text, _name("名称、代码或拼音首字母 · a name, code or pinyin initials", "twgf")]
    limit: Annotated[int, Field(ge=1, le=100, description="最多几个 · most entities")] = 10


class DocumentPlace(DatedQuestion):
    """Which part of a document."""

    page: Annotated[int | None, Field(ge=1, le=1_000_000, description="第几页，从 1 起 · page, from 1")] = None
    start: Annotated[int, Field(ge=0, le=100_000_000, description="从第几个字符起 · first character")] = 0


class DocumentQuestion(DocumentPlace):
    """Parameters of `document`."""

    document_id: Identifier


@dataclass(frozen=True, slots=True)
class ServiceMethod:
    """One method of `KnowledgeBase`: its name, what it is for, and its parameters."""

    name: str
    summary: str
    parameters: type[DatedQuestion]

    def answer(self, kb: KnowledgeBase, question: DatedQuestion) -> Any:
        """Answer a validated question as plain objects, the same as `--json` prints."""
        given = question.model_dump()
        if "direction" in given:
            given["direction"] = _DIRECTIONS[given["direction"]]
        found = getattr(kb, self.name)(**given)
        return found.to_dict() if isinstance(found, Answer) else plain(found)


DOCUMENT = ServiceMethod("document", "文档原文，附其中的名称 · the text of a document, with names", DocumentQuestion)
OPERATIONS = (
    ServiceMethod("chain", "产业链上中下游与公司 · upstream, midstream and downstream of a topic", ChainQuestion),
    ServiceMethod("impact", "一个因素的变动会传导到哪里 · what a rise or fall leads to", ImpactQuestion),
    ServiceMethod("causes", "什么引起一个结果 · what makes an effect rise or fall", CausesQuestion),
    ServiceMethod("relate", "两个实体间最可信的路径 · the most credible paths between two entities", RelateQuestion),
    ServiceMethod("profile", "名称、代码与各类事实 · names, codes and facts of one entity", ProfileQuestion),
    ServiceMethod("themes", "最新一期的主题 · the themes of the newest week", ThemesQuestion),
    ServiceMethod("theme", "一个主题的摘要与历史 · one theme with its summary and history", ThemeQuestion),
    ServiceMethod("passages", "最匹配的原文段落 · the passages that match best", PassagesQuestion),
    ServiceMethod("ask", "用一句话提问，回答附出处 · a question in words, answered with citations", AskQuestion),
    ServiceMethod(
        "entities", "按名称、代码或拼音首字母查找 · search by name, code or pinyin initials", EntitiesQuestion
    ),
)
