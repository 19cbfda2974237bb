"""The pages of one filing, made ready for many questions: words by line, sections, and what each page looks like."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from kg.model import BlockKind
from kg.query.filings.lexicon import STATEMENTS, lexicon, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from kg.model import Document

TOP = 9  # lines of a page that its heading is looked for in
_LINE = 160  # characters: a longer paragraph is cut at its sentences
_PAGE = 3_000  # characters of a page of a format without pages
_SENTENCE = re.compile(r"(?<=[.;:!?])\s+|(?<=[。；！？])")
_ITEM = re.compile(r"item\s+(\d{1,2}[abc]?)", re.IGNORECASE)
_YEARS = re.compile(r"\b((?:19|20)\d\d)\b")
_CONTENTS = re.compile(r"table of contents|index to|目\s*录", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_NOTES = re.compile(r"(?:accompanying|see|these).{0,20}notes|integral part|附注", re.IGNORECASE)
_PARENT = re.compile(
    r"parent company|condensed financial information|guarantor|schedule i\b|pro forma|母公司", re.IGNORECASE
)
_CONSOLIDATED = re.compile(r"consolidated|合并", re.IGNORECASE)
_ORDINAL = re.compile(r"^\s*(?:[一二三四五六七八九十]+、|[减加]：|其中：)\s*")
_FULL_PAGE, _FULL_ROWS, _MANY_ROWS = 6_000, 60, 10

LOOKS = (
    *("row_share", "rows", "digits", "length", "place", "contents", "notes", "parent", "consolidated"),
    *(f"head_{name}" for name in STATEMENTS),
    *(f"rows_{name}" for name in STATEMENTS),
    *(f"about_{topic.name}" for topic in lexicon().topics),
)
_AT = {name: number for number, name in enumerate(LOOKS)}


@dataclass(frozen=True, slots=True)
class PageTable:
    """A filing's pages as arrays.

    Attributes:
        numbers: the page number of each page, from 1; None in a format without pages.
        spans: first and last offset of each page in the text, shape (pages, 2).
        looks: features that no question changes, shape (pages, len(LOOKS)).
        indicators: which indicators have a row on the page, shape (pages, indicators).
        years: the years in the opening lines of each page.
        sections: the path of headings that each page begins in or opens.
        items: the number of the Item that each page belongs to (7A), "" elsewhere.
        line_page: the page of each line.
        is_row: whether a line is a row of a table.
        is_top: whether a line is one of the first of its page.
        places: first and last offset of each line in the text, shape (lines, 2).
        lengths: words of each page.
        text: the stored text.
    """

    numbers: tuple[int | None, ...]
    spans: NDArray[np.int64]
    looks: NDArray[np.float32]
    indicators: NDArray[np.bool_]
    years: tuple[frozenset[int], ...]
    sections: tuple[tuple[str, ...], ...]
    items: tuple[str, ...]
    line_page: NDArray[np.int32]
    is_row: NDArray[np.bool_]
    is_top: NDArray[np.bool_]
    places: NDArray[np.int64]
    lengths: NDArray[np.float32]
    text: str
    _words: dict[str, int]
    _lines: NDArray[np.int32]
    _starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    def lines_with(self, word: str) -> NDArray[np.int32]:
        """Return the lines that have a word."""
        number = self._words.get(word)
        return self._lines[:0] if number is None else self._lines[self._starts[number] : self._starts[number + 1]]

    @classmethod
    def of(cls, document: Document) -> PageTable:
        """Build the table of a document; a format without pages is cut into stretches of 3,000 characters."""
        starts = document.pages or tuple(range(0, max(1, len(document.text)), _PAGE))
        pages = [_PageText() for _ in starts]
        page, path, item = 0, {}, ""  # type: int, dict[int, str], str
        for block in document.blocks:
            while page + 1 < len(starts) and starts[page + 1] <= block.start:
                page += 1
                pages[page].open(path, item)
            text = document.text[block.start : block.end]
            if block.kind is BlockKind.HEADING:
                path = {level: title for level, title in path.items() if level < block.level} | {block.level: text}
                item = found[1].upper() if (found := _ITEM.search(text)) and block.level == 1 else item
                pages[page].open(path, item)
            pages[page].add(text, block.start, is_table=block.kind is BlockKind.TABLE)
        numbers = tuple(range(1, len(pages) + 1)) if document.pages else (None,) * len(pages)
        return _table(pages, starts, document.text, numbers)


class _PageText:
    """The lines of one page while they are collected."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, bool]] = []
        self.places: list[tuple[int, int]] = []
        self.section: tuple[str, ...] = ()
        self.item = ""

    def open(self, path: dict[int, str], item: str) -> None:
        self.section += tuple(path[level] for level in sorted(path) if path[level] not in self.section)
        self.item = item

    def add(self, text: str, start: int, *, is_table: bool) -> None:
        for begin, end in _lines_of(text, whole=is_table):
            self.lines.append((text[begin:end], is_table))
            self.places.append((start + begin, start + end))


def _lines_of(text: str, *, whole: bool) -> Iterator[tuple[int, int]]:
    """Yield where the lines of a block begin and end; a long paragraph is cut at its sentences."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        if whole or end - begin <= _LINE:
            yield begin, end
        else:
            cuts = [begin, *(match.end() for match in _SENTENCE.finditer(text, begin, end)), end]
            yield from ((one, other) for one, other in pairwise(cuts) if other > one)
        begin = end + 1


def _table(pages: Sequence[_PageText], starts: Sequence[int], text: str, numbers: tuple[int | None, ...]) -> PageTable:
    words: dict[str, int] = {}
    owners: list[int] = []
    tokens: list[int] = []
    line_page: list[int] = []
    rows: list[bool] = []
    tops: list[bool] = []
    lengths = np.zeros(len(pages), np.float32)
    for number, page in enumerate(pages):
        for place, (line, is_row) in enumerate(page.lines):
            found = {words.setdefault(word, len(words)) for word in words_of(line)}
            owners += [len(line_page)] * len(found)
            tokens += found
            lengths[number] += len(found)
            line_page.append(number)
            rows.append(is_row)
            tops.append(place < TOP)
    order = np.argsort(np.array(tokens, np.int32), kind="stable")
    counts = np.bincount(np.array(tokens, np.int64), minlength=len(words)) if tokens else np.zeros(0, np.int64)
    ends = (*starts[1:], len(text))
    places = [place for page in pages for place in page.places]
    return PageTable(
        numbers=numbers,
        spans=np.array(list(zip(starts, ends, strict=True)), np.int64).reshape(-1, 2),
        looks=np.array([_looks(page, number, len(pages)) for number, page in enumerate(pages)], np.float32),
        indicators=np.array([_indicators(page) for page in pages], bool).reshape(len(pages), -1),
        years=tuple(_years(page) for page in pages),
        sections=tuple(page.section for page in pages),
        items=tuple(page.item for page in pages),
        line_page=np.array(line_page, np.int32),
        is_row=np.array(rows, bool),
        is_top=np.array(tops, bool),
        places=np.array(places, np.int64).reshape(-1, 2),
        lengths=lengths,
        text=text,
        _words=words,
        _lines=np.array(owners, np.int32)[order],
        _starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
    )


def _looks(page: _PageText, number: int, count: int) -> list[float]:
    """Return the features of a page that no question changes, each about 0 … 1."""
    found = [0.0] * len(LOOKS)
    text = "\n".join(line for line, _ in page.lines)
    top = "\n".join(line for line, _ in page.lines[:TOP])
    edge = top + "\n".join(line for line, _ in page.lines[-5:])
    rows = [line for line, is_row in page.lines if is_row]
    words, folded = lexicon(), text.lower()
    found[:9] = [
        len(rows) / max(1, len(page.lines)),
        min(1.0, len(rows) / _FULL_ROWS),
        len(_DIGIT.findall(text)) / max(1, len(text)),
        min(1.0, len(text) / _FULL_PAGE),
        number / max(1, count - 1),
        float(bool(_CONTENTS.search(top)) and len(_ITEM.findall(text)) > 5),  # noqa: PLR2004 - a page of entries
        float(bool(_NOTES.search(edge))),
        float(bool(_PARENT.search(top))),
        float(bool(_CONSOLIDATED.search(top))),
    ]
    for statement in words.statements:
        found[_AT[f"head_{statement.name}"]] = float(bool(statement.head.search(top)))
        found[_AT[f"rows_{statement.name}"]] = min(_MANY_ROWS, _matching(statement.rows, rows)) / _MANY_ROWS
    for topic in words.topics:
        found[_AT[f"about_{topic.name}"]] = min(1.0, math.log1p(len(topic.text.findall(folded))) / 3)
    return found


def _matching(pattern: re.Pattern[str], rows: Iterable[str]) -> int:
    return sum(1 for row in rows if pattern.match(_ORDINAL.sub("", row)))


def _indicators(page: _PageText) -> list[bool]:
    rows = [line for line, is_row in page.lines if is_row]
    return [any(indicator.rows.match(row) for row in rows) for indicator in lexicon().indicators]


def _years(page: _PageText) -> frozenset[int]:
    return frozenset(int(year) for line, _ in page.lines[:14] for year in _YEARS.findall(line))
