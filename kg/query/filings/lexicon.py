"""The words of questions about filings and of their pages, read from lexicon.yaml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from kg.store.word_search import terms
from kg.text.lexicon import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

STATEMENTS = ("balance", "income", "cash", "equity")
_WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)?|[\u4e00-\u9fff]+")
_FLAGS = re.IGNORECASE
_SHORT = 3  # letters; a shorter word has no plural


@dataclass(frozen=True, slots=True)
class Indicator:
    """A line of a primary statement; `rows` matches the beginning of its row."""

    name: str
    statement: str
    asks: re.Pattern[str]
    rows: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class PageTopic:
    """What a question may be about; `text` are the words of pages about it, matched in their text in small letters."""

    name: str
    asks: re.Pattern[str]
    text: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class PrimaryStatement:
    """A primary statement: in questions, as heading, by its rows, and words to look for."""

    name: str
    asks: re.Pattern[str]
    head: re.Pattern[str]
    rows: re.Pattern[str]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilingLexicon:
    """All tables."""

    indicators: tuple[Indicator, ...]
    statements: tuple[PrimaryStatement, ...]
    topics: tuple[PageTopic, ...]
    synonyms: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]
    forms: tuple[tuple[str, re.Pattern[str]], ...]
    operations: tuple[tuple[str, re.Pattern[str]], ...]
    empty: frozenset[str]


@cache
def lexicon() -> FilingLexicon:
    """Read the tables, once."""
    table = read_table(resources.files(__package__).joinpath("lexicon.yaml"))
    return FilingLexicon(
        indicators=tuple(
            Indicator(name, row["statement"], _asked(row), _begins(row["rows"]))
            for name, row in table["indicators"].items()
        ),
        statements=tuple(
            PrimaryStatement(
                name, _asked(row), re.compile(row["head"], _FLAGS), _begins(row["rows"]), tuple(words_of(row["words"]))
            )
            for name, row in table["statements"].items()
        ),
        topics=tuple(
            PageTopic(name, re.compile(row["asks"], _FLAGS), re.compile(row["text"]))
            for name, row in table["topics"].items()
        ),
        synonyms=tuple((_asked(row), tuple(words_of(row["words"]))) for row in table["synonyms"]),
        forms=tuple((row["form"], re.compile(row["asks"], _FLAGS)) for row in table["forms"]),
        operations=tuple((row["name"], re.compile(row["asks"], _FLAGS)) for row in table["operations"]),
        empty=frozenset(words_of(table["empty"])),
    )


def words_of(text: str) -> list[str]:
    """Split a text into folded words, plurals reduced: Latin ones at their letters, Chinese ones by dictionary.

    >>> words_of("Total Assets of 3M: 36,500"), words_of("资产总计")
    (['total', 'asset', 'of', '3', 'm', '36', '500'], ['资产', '总计'])
    """
    found: list[str] = []
    for word in _WORD.findall(text.casefold().replace("&", " and ")):
        if word[0] >= "\u4e00":
            found += terms(word)
        elif len(word) > _SHORT and word.endswith("s") and not word.endswith("ss"):
            found.append(word[:-1])
        else:
            found.append(word)
    return found


def _asked(row: Mapping[str, str]) -> re.Pattern[str]:
    """Compile what a question says; Latin words are matched as a whole."""
    return re.compile(rf"(?<![A-Za-z])(?:{row['asks']})(?![A-Za-z])", _FLAGS)


def _begins(rows: str) -> re.Pattern[str]:
    return re.compile(rf"\W*(?:{rows})", _FLAGS)
