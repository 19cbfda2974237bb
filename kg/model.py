"""Immutable records shared by all packages, described in DESIGN §3."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date, datetime

    from kg.period import Period


class Kind(StrEnum):
    """Kinds of entity, described in relations.yaml."""

    COMPANY = "company"
    INSTITUTION = "institution"
    PERSON = "person"
    PRODUCT = "product"
    BUSINESS = "business"
    INDUSTRY = "industry"
    THEME = "theme"
    INDICATOR = "indicator"
    EVENT = "event"
    POLICY = "policy"
    REGION = "region"


class Polarity(StrEnum):
    """Whether the source affirms or denies the fact."""

    POSITIVE = "positive"
    NEGATIVE = "negative"


class Modality(StrEnum):
    """Certainty of the source; part of a fact's identity (DESIGN §1.4)."""

    ASSERTED = "asserted"
    PLANNED = "planned"
    FORECAST = "forecast"
    CONDITIONAL = "conditional"
    RUMOURED = "rumoured"


class BlockKind(StrEnum):
    """Type of a text block."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Block:
    """A span of `Document.text`; `level` is the depth of a heading (1 is the top) or the indent of a list item.

    `html` is the original form of a table; it is untrusted and always escaped for display.
    """

    start: int
    end: int
    kind: BlockKind
    level: int = 0
    html: str = ""


@dataclass(frozen=True, slots=True)
class Removed:
    """A span of `Document.text` excluded from extraction, with the reason."""

    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Document:
    """One dated source; `text` is the stored text that all offsets refer to.

    `pages` holds the start offset of each page (empty if the format has no pages); `blocks` are ordered, do not overlap
    and exclude `removed` spans. `signature` finds near-duplicates. `legibility` is the mean confidence of each page's
    characters if some were read by OCR; stores keep it only in the confidence of the facts.
    """

    id: str
    title: str
    published_on: date
    text: str
    kind: str = "report"
    publisher: str = ""
    authors: tuple[str, ...] = ()
    url: str = ""
    language: str = "zh"
    codes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str = ""
    pages: tuple[int, ...] = ()
    blocks: tuple[Block, ...] = ()
    removed: tuple[Removed, ...] = ()
    signature: bytes = b""
    legibility: tuple[float, ...] = ()

    def legibility_at(self, offset: int) -> float:
        """Return how sure the characters around an offset are: 1 unless its page was read by OCR."""
        return self.legibility[(self.page_of(offset) or 1) - 1] if self.legibility else 1.0

    def page_of(self, offset: int) -> int | None:
        """Return the 1-based page of an offset, or None if the format has no pages."""
        if not self.pages:
            return None
        return bisect_right(self.pages, offset) or 1


class ChunkKind(StrEnum):
    """Content type of a chunk."""

    TEXT = "text"
    TABLE = "table"


class ValueClass(StrEnum):
    """Value of a passage to a reader; assigned by extraction/facts/passage_class.py."""

    CAUSAL = "causal"
    FORECAST = "forecast"
    MEASURED = "measured"
    PLAIN = "plain"
    BARE_NUMBERS = "bare_numbers"
    REPEATED = "repeated"
    BOILERPLATE = "boilerplate"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: `text == document.text[start:end]`; `search_text` is the indexed text (the skeleton of a table)."""

    id: str
    document: str
    start: int
    end: int
    text: str
    heading: tuple[str, ...] = ()
    page: int | None = None
    kind: ChunkKind = ChunkKind.TEXT
    meta: str = ""
    search_text: str = ""
    html: str = ""
    value_class: ValueClass = ValueClass.PLAIN


class MentionStatus(StrEnum):
    """Result of linking a mention."""

    LINKED = "linked"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in the text (`document.text[start:end] == text`) with its linking result."""

    start: int
    end: int
    text: str
    kind: Kind
    status: MentionStatus
    entity: str = ""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Alias:
    """A past or present name of an entity, with its period and source."""

    name: str
    period: Period | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Entity:
    """A node. `about` relates an entity to another by definition, not by a claim of a source.

    The indicator 碳酸锂价格 is about the product 碳酸锂, the product 碳酸锂 about the industry 锂 of the gazetteer.
    """

    id: str
    kind: Kind
    name: str
    aliases: tuple[Alias, ...] = ()
    codes: tuple[str, ...] = ()
    about: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """A measured value in its base unit: 9.45 亿元 is 945000000.0 元 with scale 亿.

    `change` is the type of number: "" for a level, or yoy / qoq / share / cagr / ytd / wow / change.
    """

    number: float
    unit: str
    scale: str = ""
    change: str = ""
    basis: str = ""
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The exact source text of a fact; `quote == document.text[start:end]` always holds.

    `witness` is the first visible document of a family of near-duplicates (copies count once), set by a view.
    """

    document: str
    start: int
    end: int
    quote: str
    published_on: date
    recorded_at: datetime
    speaker: str = ""
    witness: str = ""
    confidence: float = 1.0
    extractor: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One immutable claim with all its evidence; the id hashes the claim, not its sources.

    `qualifiers` are sorted pairs (product, revenue_share, rank, cause_direction …); `valid` is the *stated* period.
    """

    id: str
    subject: str
    relation: str
    object: str
    sign: int = 0
    polarity: Polarity = Polarity.POSITIVE
    modality: Modality = Modality.ASSERTED
    valid: Period | None = None
    value: Value | None = None
    qualifiers: tuple[tuple[str, str], ...] = ()
    evidence: tuple[Evidence, ...] = ()
    superseded_by: str = ""

    @property
    def published_on(self) -> date:
        """Day of first publication."""
        return min(item.published_on for item in self.evidence)

    @property
    def last_published_on(self) -> date:
        """Day of latest publication."""
        return max(item.published_on for item in self.evidence)

    @property
    def confidence(self) -> float:
        """Highest confidence of the evidence, 0 … 1."""
        return max(item.confidence for item in self.evidence)

    @property
    def witnesses(self) -> int:
        """Number of independent sources; copies of one report count once."""
        return len({item.witness or item.document for item in self.evidence})

    @property
    def speakers(self) -> tuple[str, ...]:
        """The sorted speakers."""
        return tuple(sorted({item.speaker for item in self.evidence if item.speaker}))

    def qualifier(self, name: str) -> str:
        """Return a qualifier, or "" if it is not stated."""
        return dict(self.qualifiers).get(name, "")

    def with_evidence(self, evidence: Iterable[Evidence]) -> Fact:
        """Return the same claim with exactly this evidence, in a stable order."""
        return replace(
            self, evidence=tuple(sorted(evidence, key=lambda e: (e.published_on, e.document, e.start, e.end)))
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """A data error with its position; program errors are exceptions."""

    kind: str
    message: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything extracted from one document; stores write it atomically.

    `copies` are the ids of stored near-duplicates; a family of copies counts as one source. `recorded_at` is the time
    of reading, by default the earliest `recorded_at` of the evidence.
    """

    document: Document
    chunks: tuple[Chunk, ...] = ()
    mentions: tuple[Mention, ...] = ()
    entities: tuple[Entity, ...] = ()
    facts: tuple[Fact, ...] = ()
    problems: tuple[Problem, ...] = ()
    copies: tuple[str, ...] = ()
    recorded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One line of a summary with the ids of its supporting facts."""

    text: str
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of a community; its id hashes the facts, so that an unchanged summary is reused."""

    id: str
    title: str
    lines: tuple[SummaryLine, ...] = ()
    period: Period | None = None


@dataclass(frozen=True, slots=True)
class Community:
    """A group of entities from one weekly run; level 0 is the coarsest.

    `changes` lists what is new since the previous run; it is rewritten weekly, the summary only when its facts change.
    """

    id: str
    level: int
    parent: str
    members: tuple[str, ...]
    summary: Summary | None = None
    changes: tuple[SummaryLine, ...] = ()


class LifecycleEvent(StrEnum):
    """Change of a theme between two runs."""

    BORN = "born"
    GROWN = "grown"
    SHRUNK = "shrunk"
    SPLIT = "split"
    MERGED = "merged"
    RENAMED = "renamed"
    DORMANT = "dormant"
    REVIVED = "revived"
    DIED = "died"


@dataclass(frozen=True, slots=True)
class ThemeEvent:
    """One event in the lifecycle of a theme, with its evidence.

    `others` are the themes it came from, merged with, split into or dissolved into; `joined` and `left` are entity ids;
    `facts` are the supporting facts, strongest first. `name` is the name of the theme in that week.
    """

    turn: LifecycleEvent
    theme: str
    level: int
    name: str
    size: int
    others: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """One weekly run: its day, parameters, communities, and theme events since the previous run."""

    id: str
    as_of: date
    parameters: Mapping[str, str] = field(default_factory=dict)
    quality: Mapping[str, float] = field(default_factory=dict)
    communities: tuple[Community, ...] = ()
    events: tuple[ThemeEvent, ...] = ()
    recorded_at: datetime | None = None  # publication time in UTC; None: unknown, visible in every view
