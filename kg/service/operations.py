"""The questions as the service offers them: parameters with limits, and what answers; one table for HTTP and MCP."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from kg.model import Community
from kg.period import Period
from kg.query.answers import (
    AskAnswer,
    ChainAnswer,
    ImpactAnswer,
    Passage,
    ProfileAnswer,
    RelateAnswer,
    ThemeAnswer,
)
from kg.query.browse.diff import DiffAnswer
from kg.query.browse.facts import FactFilter, FactsAnswer
from kg.query.browse.neighbours import NeighbourFilter, NeighboursAnswer
from kg.query.browse.pages import DocumentPart
from kg.query.browse.search import EntityMatch
from kg.query.browse.stats import BaseStats
from kg.query.filings.outline import OutlineAnswer
from kg.query.filings.pages import FilingPagesAnswer
from kg.query.grounding.context import ContextAnswer
from kg.query.grounding.dual_level import Mode  # noqa: TC001 -- pydantic reads it
from kg.query.grounding.prose import PROSE_TOKENS, ProseAnswer
from kg.query.history import HistoryAnswer
from kg.query.plain import Answer, plain
from kg.query.resolve import ResolveAnswer
from kg.service.parameters import (
    LONGEST_NAME,
    DatedQuestion,
    Day,
    Direction,
    FactIds,
    Identifier,
    Kinds,
    Modalities,
    Name,
    Relations,
    SureQuestion,
    Text,
    Theme,
    Words,
    name_field,
    read_day,
)

if TYPE_CHECKING:
    from typing import Self

    from kg.messages.words import Lang
    from kg.service.base import KnowledgeBase

BOTH = " · "  # between the Chinese and the English text of a description


class ChainQuestion(SureQuestion):
    """Parameters of `chain`."""

    topic: Name
    depth: Annotated[int, Field(ge=1, le=4, description="上下游各走几级 · steps up and down the chain")] = 2


class DirectedQuestion(SureQuestion):
    """A question on a rise or a fall."""

    direction: Direction = "up"


class ImpactQuestion(DirectedQuestion):
    """Parameters of `impact`."""

    factor: Name


class CausesQuestion(DirectedQuestion):
    """Parameters of `causes`."""

    effect: Name


class HistoryQuestion(SureQuestion):
    """Parameters of `history`."""

    factor: Name
    subject: Name


class DiffQuestion(SureQuestion):
    """Parameters of `diff`."""

    since: Annotated[
        date,
        BeforeValidator(read_day),
        Field(description="与这一天相比 · compares with this day", examples=["2025-01-01"]),
    ]
    name: Annotated[str, Text, Field(max_length=LONGEST_NAME, description="只看一个实体 · only one entity")] = ""
    limit: Annotated[int, Field(ge=1, le=500, description="最多几处变化 · most changes")] = 50


class NeighboursQuestion(SureQuestion):
    """Parameters of `neighbours`."""

    name: Name
    relation: Relations = Field(default=[])
    direction: Annotated[
        Literal["out", "in", "both"], Field(description="该实体为主语、宾语或两者 · as subject, as object or both")
    ] = "both"
    modality: Modalities = Field(default=[])
    limit: Annotated[int, Field(ge=1, le=300, description="最多几个相邻实体 · most neighbours")] = 30

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the method of `KnowledgeBase`."""
        found = super().arguments()
        relations, modalities = tuple(found.pop("relation")), tuple(found.pop("modality"))
        limits = {name: found.pop(name) for name in ("direction", "limit")}
        return {**found, "wanted": NeighbourFilter(relations=relations, modalities=modalities, **limits)}


class FactsQuestion(SureQuestion):
    """Parameters of `facts`."""

    name: Annotated[str, Text, Field(max_length=LONGEST_NAME, description="一端的实体 · an entity at an end")] = ""
    relation: Relations = Field(default=[])
    kind: Kinds = Field(default=[])
    valid_from: Annotated[Day, Field(description="有效期在这一天或以后 · valid on this day or later")] = None
    valid_to: Annotated[Day, Field(description="有效期在这一天或以前 · valid on this day or earlier")] = None
    publisher: Annotated[str, Text, Field(max_length=LONGEST_NAME, description="发布者 · publisher")] = ""
    published_from: Annotated[Day, Field(description="在这一天或以后发表 · published on this day or later")] = None
    published_to: Annotated[Day, Field(description="在这一天或以前发表 · published on this day or earlier")] = None
    id: Annotated[FactIds, Field(max_length=100, description="事实编号 · ids of facts")] = Field(default=[])
    superseded: Annotated[bool, Field(description="与 name 同用：含已被取代的 · with name: also superseded facts")] = (
        False
    )
    after: Annotated[str, Field(max_length=LONGEST_NAME, description="上一页的 next · `next` of the page before")] = ""
    limit: Annotated[int, Field(ge=1, le=1000, description="一页几条 · facts of a page")] = 50

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.valid_from and self.valid_to and self.valid_from > self.valid_to:
            raise ValueError("valid_from is after valid_to")
        if self.published_from and self.published_to and self.published_from > self.published_to:
            raise ValueError("published_from is after published_to")
        return self

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the method of `KnowledgeBase`."""
        end = self.valid_to and (self.valid_to + timedelta(days=1) if self.valid_to < date.max else None)
        wanted = FactFilter(
            name=self.name,
            relations=tuple(self.relation),
            kinds=tuple(kind.value for kind in self.kind),
            during=Period(self.valid_from, end) if self.valid_from or end else None,
            publisher=self.publisher,
            published=(self.published_from, self.published_to) if self.published_from or self.published_to else None,
            ids=tuple(self.id),
            superseded=self.superseded,
        )
        kept = ("as_of", "known_at", "min_confidence", "weak", "after", "limit")
        return {"wanted": wanted, **{name: getattr(self, name) for name in kept}}


class StatsQuestion(SureQuestion):
    """Parameters of `stats`."""


class ResolveQuestion(DatedQuestion):
    """Parameters of `resolve`."""

    name: Name


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
    mode: Annotated[Mode, Field(description="按词、按向量或经图谱 · by words, by vectors, or by the graph")] = "words"


class FilingPagesQuestion(DatedQuestion):
    """Parameters of `filing_pages`."""

    question: Words
    limit: Annotated[int, Field(ge=1, le=50, description="最多几页 · most pages")] = 5


class FilingOutlineQuestion(DatedQuestion):
    """Parameters of `filing_outline`."""

    document_id: Identifier


class AskQuestion(SureQuestion):
    """Parameters of `ask`."""

    question: Words


class ContextQuestion(SureQuestion):
    """Parameters of `context`."""

    question: Words
    budget_tokens: Annotated[
        int, Field(ge=100, le=32_000, description="最多多少个词元（按上限估计） · most tokens, an upper estimate")
    ] = 2000


class ProseQuestion(SureQuestion):
    """Parameters of `prose`."""

    question: Words
    budget_tokens: Annotated[
        int,
        Field(
            ge=100,
            le=32_000,
            description="材料最多多少个词元（按上限估计） · most tokens of material, an upper estimate",
        ),
    ] = PROSE_TOKENS


class EntitiesQuestion(DatedQuestion):
    """Parameters of `entities`."""

    q: Annotated[str, Text, name_field("名称、代码或拼音首字母 · a name, code or pinyin initials", "twgf")]
    limit: Annotated[int, Field(ge=1, le=100, description="最多几个 · most entities")] = 10


class DocumentPlace(DatedQuestion):
    """Which part of a document."""

    page: Annotated[int | None, Field(ge=1, le=1_000_000, description="第几页，从 1 起 · page, from 1")] = None
    start: Annotated[int, Field(ge=0, le=100_000_000, description="从第几个字符起 · first character")] = 0
    fact: Annotated[FactIds, Field(max_length=50, description="标出这些事实的原句 · highlights their sentences")] = (
        Field(default=[])
    )

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the method of `KnowledgeBase`."""
        found = super().arguments()
        return {"facts": found.pop("fact"), **found}


class DocumentQuestion(DocumentPlace):
    """Parameters of `document`."""

    document_id: Identifier


@dataclass(frozen=True, slots=True)
class ServiceMethod:
    """One method of `KnowledgeBase`: its name, what it is for, its parameters and the type of its answer.

    One that a language model answers (`by_model`) waits for a model, not for the base.
    """

    name: str
    summary: str
    parameters: type[DatedQuestion]
    answers: Any
    by_model: bool = False

    def answer(self, kb: KnowledgeBase, question: DatedQuestion) -> Any:
        """Answer a validated question as plain objects, the same as `--json` prints."""
        found = getattr(kb, self.name)(**question.arguments())
        return found.to_dict() if isinstance(found, Answer) else plain(found)


DOCUMENT = ServiceMethod(
    "document", "文档原文，附其中的名称 · the text of a document, with names", DocumentQuestion, DocumentPart
)
OPERATIONS = (
    ServiceMethod(
        "chain", "产业链上中下游与公司 · upstream, midstream and downstream of a topic", ChainQuestion, ChainAnswer
    ),
    ServiceMethod("impact", "一个因素的变动会传导到哪里 · what a rise or fall leads to", ImpactQuestion, ImpactAnswer),
    ServiceMethod("causes", "什么引起一个结果 · what makes an effect rise or fall", CausesQuestion, ImpactAnswer),
    ServiceMethod(
        "relate", "两个实体间最可信的路径 · the most credible paths between two entities", RelateQuestion, RelateAnswer
    ),
    ServiceMethod(
        "history",
        "一个因素历来怎样影响一个对象 · how a factor affected a subject before",
        HistoryQuestion,
        HistoryAnswer,
    ),
    ServiceMethod(
        "diff", "两天之间的变化 · links that appeared, vanished, turned or were contradicted", DiffQuestion, DiffAnswer
    ),
    ServiceMethod(
        "neighbours", "展开一个实体的邻居 · the strongest neighbours of an entity", NeighboursQuestion, NeighboursAnswer
    ),
    ServiceMethod("facts", "按条件列出事实，可翻页 · facts by filter, paged", FactsQuestion, FactsAnswer),
    ServiceMethod(
        "profile", "名称、代码与各类事实 · names, codes and facts of one entity", ProfileQuestion, ProfileAnswer
    ),
    ServiceMethod("themes", "最新一期的主题 · the themes of the newest week", ThemesQuestion, list[Community]),
    ServiceMethod("theme", "一个主题的摘要与历史 · one theme with its summary and history", ThemeQuestion, ThemeAnswer),
    ServiceMethod("passages", "最匹配的原文段落 · the passages that match best", PassagesQuestion, list[Passage]),
    ServiceMethod(
        "filing_pages",
        "年报、季报、公告中能回答问题的页 · the pages of filings that answer a question",
        FilingPagesQuestion,
        FilingPagesAnswer,
    ),
    ServiceMethod(
        "filing_outline",
        "一份文档的章节与页码 · the sections of a document with their pages",
        FilingOutlineQuestion,
        OutlineAnswer,
    ),
    ServiceMethod(
        "ask", "用一句话提问，回答附出处 · a question in words, answered with citations", AskQuestion, AskAnswer
    ),
    ServiceMethod(
        "context", "供模型作答的事实与原文，附出处 · facts and passages for a model", ContextQuestion, ContextAnswer
    ),
    ServiceMethod(
        "prose",
        "语言模型作答，逐句核对出处 · an answer by a language model, each sentence checked",
        ProseQuestion,
        ProseAnswer,
        by_model=True,
    ),
    ServiceMethod(
        "resolve", "一个名称指谁，为什么 · which entities a name may mean, and why", ResolveQuestion, ResolveAnswer
    ),
    ServiceMethod("stats", "库里有什么 · what the base holds", StatsQuestion, BaseStats),
    ServiceMethod(
        "entities",
        "按名称、代码或拼音首字母查找 · search by name, code or pinyin initials",
        EntitiesQuestion,
        list[EntityMatch],
    ),
)


def in_language(value: Any, lang: Lang) -> Any:
    """Return a description with only one language of the texts that have two.

    >>> in_language({"summary": "产业链 · chain", "enum": ["a"]}, "en")
    {'summary': 'chain', 'enum': ['a']}
    """
    if isinstance(value, dict):
        return {key: in_language(each, lang) for key, each in value.items()}
    if isinstance(value, list):
        return [in_language(each, lang) for each in value]
    if isinstance(value, str) and BOTH in value:
        chinese, _, english = value.partition(BOTH)
        return chinese if lang == "zh" else english
    return value


METHODS = {operation.name: operation for operation in (*OPERATIONS, DOCUMENT)}


class BatchPart(BaseModel):
    """批量中的一问 · One question of a batch."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: Annotated[
        str, Field(json_schema_extra={"enum": [*METHODS]}, description="方法 · method", examples=["profile"])
    ]
    parameters: Annotated[
        dict[str, Any],
        Field(description="与 GET 相同的参数 · the parameters of the GET", examples=[{"name": "600438.SH"}]),
    ] = {}

    @field_validator("method")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in METHODS:
            raise ValueError(f"no such method; there are {', '.join(METHODS)}")
        return value


class Batch(BaseModel):
    """几个问题，各自回答或拒绝 · Several questions; each is answered, or refused, on its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests: Annotated[list[BatchPart], Field(min_length=1, max_length=20)]
