"""The frozen records that the whole house speaks in; DESIGN §3 is their prose."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date, datetime

    from kg.period import Period


class Kind(StrEnum):
    """Kinds of entity; relations.yaml gives each its prose."""

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
    """Whether the source says that it is so or that it is not."""

    POSITIVE = "positive"
    NEGATIVE = "negative"


class Modality(StrEnum):
    """How certain the source is; each is a different fact (DESIGN §1.4)."""

    ASSERTED = "asserted"
    PLANNED = "planned"
    FORECAST = "forecast"
    CONDITIONAL = "conditional"
    RUMOURED = "rumoured"


class BlockKind(StrEnum):
    """What a stretch of a document is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of `Document.text`; `level` is a heading's depth (1 is the top) or a list item's indent.

    `html` is a table's original form for reading; it is untrusted and escaped wherever it is shown.
    """

    start: int
    end: int
    kind: BlockKind
    level: int = 0
    html: str = ""


@dataclass(frozen=True, slots=True)
class Removed:
    """A stretch of `Document.text` that no reader of facts should see, and why."""

    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Document:
    """One dated source; `text` is the stored text that every offset points into.

    `pages` holds the offset at which each page begins (empty where the format has no pages); `blocks` are in order,
    do not overlap, and leave out what `removed` names. `signature` finds near-duplicates.
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

    def page_of(self, offset: int) -> int | None:
        """Return the 1-based page that holds `offset`, or None where the format has no pages."""
        if not self.pages:
            return None
        return sum(1 for begin in self.pages if begin <= offset) or 1


class ChunkKind(StrEnum):
    """What a chunk holds."""

    TEXT = "text"
    TABLE = "table"


class ValueClass(StrEnum):
    """What a passage is worth to a reader; extraction/facts/passage_class.py tells them apart."""

    CAUSAL = "causal"
    FORECAST = "forecast"
    MEASURED = "measured"
    PLAIN = "plain"
    BARE_NUMBERS = "bare_numbers"
    REPEATED = "repeated"
    BOILERPLATE = "boilerplate"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: `text == document.text[start:end]`; `search_text` is what the indexes see (a table's skeleton)."""

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
    """The judgement on a mention; a doubtful one is never guessed."""

    LINKED = "linked"
    AMBIGUOUS = "ambiguous"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One entity that a mention may mean, with the named features that make up its score."""

    entity: str
    score: float
    features: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in the text, `document.text[start:end] == text`, and what it was judged to mean."""

    start: int
    end: int
    text: str
    kind: Kind
    status: MentionStatus
    entity: str = ""
    score: float = 0.0
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Alias:
    """A name an entity bears or bore, from when to when, and who says so."""

    name: str
    period: Period | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Entity:
    """A node. `about` anchors one entity to another by definition, not by a source's claim.

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

    `change` says what kind of number it is: "" for a level, yoy / qoq / share / cagr / ytd / wow / change for changes.
    """

    number: float
    unit: str
    scale: str = ""
    change: str = ""
    basis: str = ""
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The exact characters a fact was read from: `quote == document.text[start:end]`, always.

    `witness` is the first visible document of a family of near-duplicates (copies are one witness); a view fills it in.
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
    """One immutable claim with all its witnesses; the id hashes what it claims, never who says it.

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
        """The day the first witness said it."""
        return min(item.published_on for item in self.evidence)

    @property
    def last_published_on(self) -> date:
        """The day the latest witness said it."""
        return max(item.published_on for item in self.evidence)

    @property
    def confidence(self) -> float:
        """The best witness's confidence, 0 … 1."""
        return max(item.confidence for item in self.evidence)

    @property
    def witnesses(self) -> int:
        """How many independent sources say it; copies of one report are one."""
        return len({item.witness or item.document for item in self.evidence})

    @property
    def speakers(self) -> tuple[str, ...]:
        """Who says it, sorted."""
        return tuple(sorted({item.speaker for item in self.evidence if item.speaker}))

    def qualifier(self, name: str) -> str:
        """Return one qualifier, or "" when it is not stated."""
        return dict(self.qualifiers).get(name, "")

    def with_evidence(self, evidence: Iterable[Evidence]) -> Fact:
        """Return the same claim with exactly these witnesses, in a stable order."""
        return replace(
            self, evidence=tuple(sorted(evidence, key=lambda e: (e.published_on, e.document, e.start, e.end)))
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault in the data, as a value with a position; faults in the program are exceptions."""

    kind: str
    message: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one document yields; a store writes it whole or not at all.

    `copies` are the ids of stored documents that say nearly the same: a family of copies is one witness. `recorded_at`
    is when it was read; without it the earliest instant of its evidence counts.
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
    """One line of a summary with the ids of the facts it rests on."""

    text: str
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """What a community is about; keyed by the hash of its facts, so an unchanged one is never paid for twice."""

    id: str
    title: str
    lines: tuple[SummaryLine, ...] = ()
    period: Period | None = None


@dataclass(frozen=True, slots=True)
class Community:
    """A group of entities found in one weekly run; level 0 is the coarsest.

    `changes` says what is new since the run before; it is made anew every week, the summary only when its facts change.
    """

    id: str
    level: int
    parent: str
    members: tuple[str, ...]
    summary: Summary | None = None
    changes: tuple[SummaryLine, ...] = ()


class LifecycleEvent(StrEnum):
    """What can happen to a theme from one run to the next."""

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
    """One turn in a theme's life, with its evidence.

    `others` are the themes it came from, merged with, split into or was scattered over; `joined` and `left` are entity
    ids; `facts` those that brought it about, the strongest first. `name` is what the theme was called that week.
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
    """One weekly job: what it saw, what it published, and what had happened to the themes since the run before."""

    id: str
    as_of: date
    parameters: Mapping[str, str] = field(default_factory=dict)
    quality: Mapping[str, float] = field(default_factory=dict)
    communities: tuple[Community, ...] = ()
    events: tuple[ThemeEvent, ...] = ()
    recorded_at: datetime | None = None  # when it was published, in UTC; None: nobody said, and every view sees it
