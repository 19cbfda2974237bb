"""The vocabulary of financial statements: what a line is called in questions and in rows, and what is computed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from kg.text.lexicon import read_table

if TYPE_CHECKING:
    from kg.messages.words import Lang

_CAPTION = re.compile(r"^.*(?:activities:?|:)\s+(?=[A-Z(])")  # a caption that the PDF put on the row's line
_NOTE_REFERENCE = re.compile(
    r"\s*\((?:note|see|in |a\)|b\)|1\)|2\)|亏损|损失|减少|净亏损)[^)]*\)?|[:;.…]+", re.IGNORECASE
)
_NUMBERED = re.compile(
    r"^(?:[一二三四五六七八九十]+[、.]|\(?[一二三四五六七八九十\d]{1,2}[)、.])\s*|^(?:其中|加|减)[:：]\s*|(?<=\S)\s+[一二三四五六七八九十]+、.*$"
)
_PER_SHARE = re.compile(
    r"per (?:common |diluted |basic )?share|per diluted|shares outstanding|weighted.average", re.IGNORECASE
)
_SIGNED = re.compile(  # (used in) provided by, (loss)/income, income (loss)
    r"\s*/?\((?:loss(?:es)?|income|earnings|used(?: in| for)?|provided(?: by)?|expense|benefit(?: from)?"
    r"|provision(?: for)?|increase|decrease|deficit|gains?)\)\s*/?\s*",
    re.IGNORECASE,
)
_UNPAID = re.compile(
    r"accrued but|unpaid|not yet paid|in accounts payable|non.?cash|funded by|incurred but", re.IGNORECASE
)
_SHARES = re.compile(r"\bshares\b|weighted.average", re.IGNORECASE)
_NAME = re.compile(r"[A-Z]\w+")
_FULLWIDTH = str.maketrans("（）：，", "():,")
_VOCABULARIES = ("plain", "kinds")


@dataclass(frozen=True, slots=True)
class Concept:
    """A line of a statement, or what is computed from lines; `label` is its Chinese name, `english` its English one.

    `rows` are patterns of its row, the surest first; each comes as a whole label and as a label's beginning.
    Where `several` rows of one table fit it alike it has no value (none) or their sum: costs of products, of services.
    """

    name: str
    label: str
    english: str
    statement: str
    asks: re.Pattern[str]
    rows: tuple[re.Pattern[str], ...]
    formula: str
    unit: str
    positive: bool
    several: str
    under: re.Pattern[str] | None = None
    parts: re.Pattern[str] | None = None

    def fits(self, label: str, head: str = "") -> int | None:
        """Return how surely a row's label, below a heading, names this concept, 0 the surest; None if it does not.

        >>> concepts()["Assets"].fits("Total assets"), concepts()["Assets"].fits("Total current assets")
        (0, None)
        >>> concepts()["EarningsPerShareDiluted"].fits("Diluted", "Weighted average shares outstanding")
        """
        if self.under and self.under.match(f"{head} | {label}"):
            return 0
        read = _read_label(label)
        if self.unit == "share" and not read.per_share and _SHARES.search(head):
            return None
        if self.unit not in {"share", "count"} and read.per_share:
            return None
        if self.statement == "cash" and read.unpaid:
            return None
        return next((n for n, pattern in enumerate(self.rows) if any(map(pattern.match, read.spellings))), None)


class _Label(NamedTuple):
    """A row's label, and what rules a concept out."""

    spellings: tuple[str, ...]
    per_share: bool
    unpaid: bool


@lru_cache(maxsize=4096)
def _read_label(label: str) -> _Label:
    plain = plain_label(label)
    spellings = tuple(dict.fromkeys((plain, _SIGNED.sub(" ", plain).strip())))
    return _Label(spellings, bool(_PER_SHARE.search(label)), bool(_UNPAID.search(label)))


def plain_label(label: str) -> str:
    """Return a row's label without caption, number and references to notes.

    >>> plain_label("Investing Activities: Capital expenditures (Note 4)")
    'Capital expenditures'
    >>> plain_label("三、营业利润（亏损以负号填列）")
    '营业利润'
    """
    plain = _NUMBERED.sub("", _NUMBERED.sub("", label.translate(_FULLWIDTH).strip()))
    return _NOTE_REFERENCE.sub("", _CAPTION.sub("", plain)).strip()


@cache
def concepts() -> dict[str, Concept]:
    """Read the vocabulary, once."""
    table = read_table(resources.files(__package__).joinpath("concepts.yaml"))["lines"]
    found = {}
    for name, row in table.items():
        begins = row.get("rows") or ([row["is"]] if "is" in row else [])
        ends = (
            [rf"\W*(?:{each})(?!\w)\W*$" for each in begins],
            [rf"\W*(?:{each})(?![\w\u4e00-\u9fff])" for each in begins],
        )
        patterns = [re.compile(each, re.IGNORECASE) for pair in zip(*ends, strict=True) for each in pair]
        asks = row.get("asks") or row["is"]
        found[name] = Concept(
            name=name,
            label=row["zh"],
            english=row.get("en") or _spelled(name),
            statement=row.get("in", ""),
            asks=re.compile(rf"(?<![A-Za-z])(?:{asks})(?![A-Za-z])", re.IGNORECASE),
            rows=tuple(patterns),
            formula=row.get("formula", ""),
            unit=row.get("unit", "amount"),
            positive=row.get("positive", False),
            several=row.get("several", ""),
            **{key: re.compile(row[key], re.IGNORECASE) for key in ("under", "parts") if key in row},
        )
    return found


def _spelled(name: str) -> str:
    """Return the name of a concept as words: EBITDA margin."""
    words = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z]+|[A-Z]+", name)
    return " ".join(each if each.isupper() and len(each) > 1 else each.lower() for each in words)


def in_words(text: str, lang: Lang) -> str:
    """Return a name or formula with the names of its lines in a language.

    >>> in_words("365 * average(Inventories) / CostOfRevenue", "en"), in_words("GrossMargin", "zh")
    ('365 * average(inventories) / cost of revenue', '毛利率')
    """

    def name(match: re.Match[str]) -> str:
        concept = concepts().get(match[0])
        return match[0] if concept is None else concept.label if lang == "zh" else concept.english

    return _NAME.sub(name, text)


@dataclass(frozen=True, slots=True)
class NamedConcept:
    """A concept where a text names it."""

    concept: Concept
    start: int
    end: int


def named_concepts(text: str) -> list[NamedConcept]:
    """Return the concepts that a text names, in order; of overlapping names the longest.

    >>> [each.concept.name for each in named_concepts("net profit margin and total current assets")]
    ['NetMargin', 'AssetsCurrent']
    """
    found = [
        NamedConcept(concept, *match.span()) for concept in concepts().values() for match in concept.asks.finditer(text)
    ]
    kept: list[NamedConcept] = []
    for each in sorted(found, key=lambda row: (row.start - row.end, row.start)):
        if each.end > each.start and all(each.end <= other.start or each.start >= other.end for other in kept):
            kept.append(each)
    return sorted(kept, key=lambda row: row.start)


@cache
def question_patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns of questions.yaml by name: how a question says what is done with a value."""
    table = read_table(resources.files(__package__).joinpath("questions.yaml"))
    return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in table.items() if name not in _VOCABULARIES}


@cache
def question_words(name: str) -> frozenset[str]:
    """Return the words of a vocabulary of questions.yaml: plain, kinds."""
    return frozenset(read_table(resources.files(__package__).joinpath("questions.yaml"))[name].split())
