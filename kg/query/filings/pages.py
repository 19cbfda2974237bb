"""Find the pages of filings that answer a question: documents, then pages, then the lines to quote."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kg.query.filings.documents import rank_filings
from kg.query.filings.features import page_features
from kg.query.filings.lexicon import words_of
from kg.query.filings.ranker import PageRanker
from kg.query.filings.task import read_task
from kg.query.plain import Answer
from kg.store.word_search import terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from numpy.typing import NDArray

    from kg.query.filings.documents import FilingIndex, ScoredFiling
    from kg.query.filings.page_table import PageTable
    from kg.query.filings.task import FilingTask
    from kg.query.session import QuerySession
    from kg.store.port import View

_PASSAGES = 300  # passages by words that say which documents a question is about
_READ = 3  # filings whose pages are compared
_DEEP = 50  # pages of one filing that may be found
_FILINGS = 10  # filings that an answer lists
_QUOTE, _QUOTED_LINES = 400, 8
_DOCUMENT_WEIGHT = 3.0  # what one point of a filing's score is worth beside the score of a page


@dataclass(frozen=True, slots=True)
class FoundFiling:
    """A filing that may answer, best first; the fields are those of `kg.filing.Filing`."""

    document: str
    title: str
    company: str
    form: str
    fiscal_year: int
    fiscal_quarter: int
    period_end: date | None
    published_on: date
    currency: str
    scale: int
    score: float


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that may answer, by its number in the PDF, with the lines to quote: `quote` is `text[start:end]`.

    In a format without pages it is a stretch of 3,000 characters, and `page` is None.
    """

    document: str
    title: str
    published_on: date
    page: int | None
    section: tuple[str, ...]
    score: float
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class FilingPagesAnswer(Answer):
    """What a question about filings was understood as, the filings that fit, and the best pages of the first ones.

    `missing` lists what the question leaves open: company, year. Without a year the newest filing answers.
    """

    question: str
    companies: tuple[str, ...]
    form: str
    fiscal_years: tuple[int, ...]
    quarters: tuple[int, ...]
    indicators: tuple[str, ...]
    topics: tuple[str, ...]
    operation: str
    missing: tuple[str, ...]
    filings: tuple[FoundFiling, ...]
    pages: tuple[FoundPage, ...]


def filing_pages(session: QuerySession, question: str, *, limit: int = 5) -> FilingPagesAnswer:
    """Return the pages that answer a question about filings, best first; none where the base has no filings."""
    index, task = session.filings, read_task(question)
    companies = index.companies(question)
    content = content_scores(session.view, index, task, companies=companies)
    ranked = rank_filings(index, task, companies=companies, content=content)
    names = index.words_of(companies)
    own = [word for word in (*task.words, *task.further) if word not in names]
    pages = rank_pages(session, task, ranked[:_READ], names=names)
    missing = {"company": bool(companies), "year": bool(task.years or task.fiscal_years or task.day)}
    return FilingPagesAnswer(
        question=question,
        companies=tuple(index.name_of(group) for group in companies),
        form=task.form,
        fiscal_years=task.fiscal_years or task.years,
        quarters=task.quarters,
        indicators=task.indicators,
        topics=task.topics,
        operation=task.operation,
        missing=tuple(name for name, found in missing.items() if not found) if index else (),
        filings=tuple(map(_found, ranked[:_FILINGS])),
        pages=tuple(each.found(own) for each in pages[:limit]),
    )


def is_about_filings(session: QuerySession, question: str) -> bool:
    """Return whether a question is one about filings: it names a company that has some, and a form or a fiscal period.

    A Chinese question has to name the form: what a company earned is in notes as well. A year that is not called
    fiscal needs an indicator or a topic of filings.
    """
    if not session.filings or not session.filings.companies(question):
        return False
    task = read_task(question)
    if task.form:
        return task.form != "公告"
    fiscal = bool(task.fiscal_years or task.quarters)
    return question.isascii() and (fiscal or bool(task.years and (task.indicators or task.topics)))


def content_scores(
    view: View, index: FilingIndex, task: FilingTask, *, companies: Mapping[int, float]
) -> dict[str, float]:
    """Return how well the best passage of each document matches the question's words, 0 … 1."""
    words = _search_words(task, index.words_of(companies))
    found = view.search(" ".join(words), _PASSAGES) if words and index else []
    best = max((score for _, score in found), default=0.0)
    scores: dict[str, float] = defaultdict(float)
    for chunk, score in found:
        scores[chunk.document] = max(scores[chunk.document], score / best)
    return scores


def _search_words(task: FilingTask, names: set[str]) -> list[str]:
    """Return the words to look for in the store, whose index keeps plurals; numbers say nothing of a topic."""
    kept = {word for word in task.words if word not in names and len(word) > 1 and not word.isdecimal()}
    return [word for word in dict.fromkeys(terms(task.question)) if (own := words_of(word)) and kept.issuperset(own)]


def rank_pages(
    session: QuerySession,
    task: FilingTask,
    filings: Sequence[ScoredFiling],
    *,
    names: set[str],
    ranker: PageRanker | None = None,
) -> list[RankedPage]:
    """Return the best pages of some filings by the score of the page and of its filing.

    Args:
        session: reads the filings.
        task: the question.
        filings: those whose pages are compared, best first.
        names: words of the company's name.
        ranker: weights instead of the shipped ones.
    """
    ranker = ranker or PageRanker.shipped()
    found = []
    for each in filings:
        table = session.page_table(each.filing.document)
        if table is None:  # removed while the question is answered
            continue
        scores = ranker.score(page_features(table, task, names))
        lead = _DOCUMENT_WEIGHT * (each.score - filings[0].score)
        best = np.argsort(-scores, kind="stable")[:_DEEP]
        found += [RankedPage(float(scores[page]) + lead, each, table, int(page)) for page in best]
    return sorted(found, key=lambda row: (-row.score, row.filing.filing.document, row.page))


@dataclass(frozen=True, slots=True)
class RankedPage:
    """A page by its index in the table of its filing."""

    score: float
    filing: ScoredFiling
    table: PageTable
    page: int

    def found(self, words: Sequence[str]) -> FoundPage:
        """Return the page with the lines that hold most of some words."""
        filing = self.filing.filing
        start, end = quoted_lines(self.table, self.page, words)
        return FoundPage(
            document=filing.document,
            title=filing.title,
            published_on=filing.published_on,
            page=self.table.numbers[self.page],
            section=self.table.sections[self.page],
            score=round(self.score, 4),
            start=start,
            end=end,
            quote=self.table.text[start:end],
        )


def quoted_lines(table: PageTable, page: int, words: Sequence[str]) -> tuple[int, int]:
    """Return where the lines of a page begin and end that hold most of some words, at most eight lines."""
    own: NDArray[np.int64] = np.flatnonzero(table.line_page == page)
    if not len(own):
        start, end = (int(each) for each in table.spans[page])
        return start, min(end, start + _QUOTE)
    held = np.zeros(len(own), np.float32)
    for word in words:
        found = table.lines_with(word)
        on_page = found[(found >= own[0]) & (found <= own[-1])] - own[0]
        held[on_page] += 1 / max(1, len(on_page))  # a word that every line has says little
    sums = np.convolve(held, np.ones(_QUOTED_LINES, np.float32))[_QUOTED_LINES - 1 :]
    first = int(np.argmax(sums))
    first += int(np.argmax(held[first : first + _QUOTED_LINES] > 0))
    start = int(table.places[own[first], 0])
    ends = table.places[own[first : first + _QUOTED_LINES], 1]
    fitting = ends[ends - start <= _QUOTE]
    return start, int(fitting[-1]) if len(fitting) else min(start + _QUOTE, int(ends[0]))


def _found(each: ScoredFiling) -> FoundFiling:
    filing = each.filing.filing
    return FoundFiling(
        document=each.filing.document,
        title=each.filing.title,
        company=filing.company,
        form=filing.form,
        fiscal_year=filing.year,
        fiscal_quarter=filing.quarter,
        period_end=filing.ends,
        published_on=each.filing.published_on,
        currency=filing.currency,
        scale=filing.scale,
        score=round(each.score, 4),
    )
