"""Questions about filings that are made from the filings themselves, with the pages that answer them.

Three kinds: what a note or Item reports, the amount of a row of a primary statement, and some words of a paragraph.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kg.query.filings.features import statement_looks
from kg.query.filings.lexicon import lexicon, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from kg.filing import Filing
    from kg.query.filings.page_table import PageTable

_HEADING = ("What does {c} report about {h} in FY{y}?", "How did {h} develop for {c} in {y}?", "{h} of {c} as of FY{y}")
_ROW = (
    "What is the FY{y} {h} for {c}?",
    "How much was {h} of {c} at the end of FY{y}?",
    "Did {c}'s {h} change in FY{y}?",
)
_LEAST_STATEMENT = 0.6
_NUMBERED = re.compile(r"^.*?(?:item|note)\s+\w+\W*|^\d+\W+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GeneratedQuestion:
    """A question with its kind and its page by index."""

    text: str
    kind: str
    page: int


def generate(table: PageTable, filing: Filing, rng: Random, *, counts: Sequence[int]) -> list[GeneratedQuestion]:
    """Return questions to one filing.

    Args:
        table: its pages.
        filing: its cover.
        rng: chooses headings, rows, paragraphs and wordings.
        counts: how many of each kind at most: headings, rows, paragraphs.
    """
    made = [list(each(table)) for each in (_headings, _rows, _paragraphs)]
    found = []
    for kind, candidates, most in zip(("heading", "row", "paragraph"), made, counts, strict=True):
        for page, words in rng.sample(candidates, min(most, len(candidates))):
            found.append(GeneratedQuestion(_worded(kind, words, filing, rng), kind, page))
    return found


def _worded(kind: str, words: str, filing: Filing, rng: Random) -> str:
    if kind == "paragraph":
        kept = [word for word in words_of(words) if word not in lexicon().empty]
        chosen = sorted(rng.sample(range(len(kept)), min(7, len(kept))))
        words = " ".join(kept[each] for each in chosen)
    form = rng.choice(_ROW if kind == "row" else _HEADING)
    return form.format(c=filing.company, y=filing.year, h=words if kind == "heading" else words.lower())


def _headings(table: PageTable) -> Iterator[tuple[int, str]]:
    opened = [
        (page, title)
        for page in range(1, len(table))
        for title in table.sections[page]
        if title not in table.sections[page - 1]
    ]
    times = Counter(title for _, title in opened)
    for page, title in opened:
        plain = _NUMBERED.sub("", title)
        if times[title] == 1 and len(words_of(plain)) > 1:
            yield page, plain


def _rows(table: PageTable) -> Iterator[tuple[int, str]]:
    looks = statement_looks(table)
    for statement in range(looks.shape[1]):
        page = int(np.argmax(looks[:, statement])) if len(table) else 0
        if len(table) and looks[page, statement] >= _LEAST_STATEMENT:
            for line in np.flatnonzero((table.line_page == page) & table.is_row):
                start, end = table.places[line]
                label = re.split(r"\s+[$(]*\d|\s+[—–]", table.text[start:end])[0]
                if 1 <= len(words_of(label)) <= 8:  # a name of a row
                    yield page, label


def _paragraphs(table: PageTable) -> Iterator[tuple[int, str]]:
    for line in np.flatnonzero(~table.is_row):
        start, end = table.places[line]
        text = table.text[start:end]
        if 100 < end - start < 400 and sum(char.isdigit() for char in text) < 15:  # words, not figures
            yield int(table.line_page[line]), text
