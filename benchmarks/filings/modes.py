"""All ways to rank the pages of filings side by side, by kind of question and by form; no company is trained on."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.filings.dataset import GoldQuestion, names_of
from benchmarks.filings.generated import generate
from benchmarks.filings.train import examples_of, fit
from kg.query.filings.documents import rank_filings
from kg.query.filings.features import word_scores
from kg.query.filings.lexicon import words_of
from kg.query.filings.pages import content_scores, rank_pages
from kg.query.filings.task import read_task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from kg.query.filings.documents import ScoredFiling
    from kg.query.filings.page_table import PageTable
    from kg.query.filings.ranker import PageRanker
    from kg.query.filings.task import FilingTask
    from kg.query.session import QuerySession
    from kg.service.base import KnowledgeBase

    _Ranking = list[tuple[str, int]]

_CUTS = (1, 5, 10)
_DEEP = 20
_GENERATED = 700
_ASKED, _SEED = 2_000, 7  # generated questions, other ones than those of the training
_SECTIONS, _PAGES_OF_SECTION = 3, 4


class AskedQuestion:
    """A question with everything that the modes need: its task, its filings in order, its own document."""

    def __init__(self, session: QuerySession, question: GoldQuestion, names: dict[str, str]) -> None:
        self.question, self.names, self.session = question, names, session
        self.task: FilingTask = read_task(question.text)
        index = session.filings
        companies = index.companies(question.text)
        self.company_words = index.words_of(companies)
        content = content_scores(session.view, index, self.task, companies=companies)
        self.ranked: list[ScoredFiling] = rank_filings(index, self.task, companies=companies, content=content)
        self.oracle = next((each for each in self.ranked if names[each.filing.document] == question.document), None)

    @property
    def table(self) -> PageTable | None:
        """The pages of the document that answers."""
        return self.session.page_table(self.oracle.filing.document) if self.oracle else None

    def recall(self, ranking: _Ranking) -> list[float]:
        """Return the share of gold pages among the first 1, 5 and 10, nDCG@10, average precision, reciprocal rank."""
        gold = self.question.pages
        hits = [page in gold for page in ranking]
        ranks = [place for place, hit in enumerate(hits, start=1) if hit]
        gain = sum(1 / np.log2(rank + 1) for rank in ranks if rank <= _CUTS[-1])
        best = sum(1 / np.log2(rank + 1) for rank in range(1, min(len(gold), _CUTS[-1]) + 1))
        precision = sum(number / rank for number, rank in enumerate(ranks, start=1)) / len(gold)
        shares = [len(gold & set(ranking[:cut])) / len(gold) for cut in _CUTS]
        return [*shares, float(gain / best), precision, 1 / ranks[0] if ranks else 0.0]

    def own_pages(self, scores: NDArray[np.float32]) -> _Ranking:
        """Return the pages of the answering document by some scores."""
        order = np.argsort(-scores, kind="stable")[:_DEEP]
        return [(self.question.document, int(page) + 1) for page in order]


def compare(kb: KnowledgeBase, questions: Sequence[GoldQuestion]) -> str:
    """Return a Markdown table of all modes, and the recall of documents."""
    names = names_of(kb)
    with kb.session() as session:
        asked = [AskedQuestion(session, question, names) for question in questions]
        rankers = _rankers(kb, asked, questions)
        rows: dict[str, Callable[[AskedQuestion], _Ranking]] = {
            "words, all documents": _flat,
            "words, oracle document": lambda each: _words(each, each.task.words),
            "words and synonyms, oracle document": lambda each: _words(each, (*each.task.words, *each.task.further)),
            "section first, oracle document": _sections,
            "page scorer, own document": lambda each: _scored(each, rankers, each.ranked[:3]),
            "page scorer, oracle document": lambda each: _scored(each, rankers, [each.oracle] if each.oracle else []),
        }
        recalls = {name: [each.recall(rank(each)) for each in asked] for name, rank in rows.items()}
    firsts = [[names[row.filing.document] for row in each.ranked[:5]] for each in asked]
    at = [
        np.mean([each.question.document in order[:cut] for each, order in zip(asked, firsts, strict=True)])
        for cut in (1, 5)
    ]
    head = f"document recall@1 {at[0]:.3f}, @5 {at[1]:.3f}; {len(asked)} questions, {len(names)} documents\n\n"
    made = _generated(kb, rankers, names)
    return head + _markdown(recalls, questions) + _failures(asked, rankers) + made


def _rankers(
    kb: KnowledgeBase, asked: Sequence[AskedQuestion], questions: Sequence[GoldQuestion]
) -> dict[int | None, PageRanker]:
    """Return for each company a scorer that was trained on all others."""
    examples = examples_of(kb, questions, _GENERATED)
    groups = {each.oracle.filing.group if each.oracle else None for each in asked}
    return {group: fit([each.example for each in examples if each.group != group]) for group in groups}


def _generated(kb: KnowledgeBase, rankers: dict[int | None, PageRanker], names: dict[str, str]) -> str:
    """Ask 2,000 questions that are made from the filings, each ranked by a scorer that never saw its company."""
    rng = Random(_SEED)  # noqa: S311 -- chooses questions
    found: list[list[float]] = []
    kinds: list[str] = []
    with kb.session() as session:
        listed = [each for each in session.filings.filings if each.filing.year and each.group in rankers]
        share = -(-_ASKED // (3 * len(listed)))
        for each in listed:
            table = session.page_table(each.document)
            assert table is not None
            for made in generate(table, each.filing, rng, counts=[share] * 3):
                if len(found) == _ASKED:
                    break
                page = (names[each.document], made.page + 1)
                asked = AskedQuestion(
                    session, GoldQuestion(made.text, page[0], frozenset({page}), made.kind, ""), names
                )
                ranked = _scored(asked, rankers, asked.ranked[:3])
                own = asked.ranked[0].filing
                found.append([own.group == each.group, own.filing.year == each.filing.year, *asked.recall(ranked)])
                kinds.append(made.kind)
    lines = [
        "\n\n| generated questions | company | year | R@1 | R@5 | R@10 | nDCG@10 | MAP | MRR |",
        "|" + " --- |" * 9,
    ]
    for kind in ("all", *dict.fromkeys(kinds)):
        rows = np.array([row for row, own in zip(found, kinds, strict=True) if kind in {"all", own}])
        lines.append(f"| {kind} ({len(rows)}) | " + " | ".join(f"{value:.2f}" for value in rows.mean(0)) + " |")
    return "\n".join(lines)


def _flat(asked: AskedQuestion) -> _Ranking:
    found = asked.session.view.search(asked.question.text, 60)
    pages = ((asked.names[chunk.document], chunk.page or 0) for chunk, _ in found)
    return list(dict.fromkeys(pages))


def _words(asked: AskedQuestion, words: Sequence[str]) -> _Ranking:
    kept = [word for word in words if word not in asked.company_words]
    return asked.own_pages(word_scores(asked.table, kept)) if asked.table is not None else []


def _sections(asked: AskedQuestion) -> _Ranking:
    """Rank the sections by their heading and best page, then the pages of the best ones."""
    table = asked.table
    if table is None:
        return []
    words = {word for word in asked.task.words if word not in asked.company_words}
    scores = word_scores(table, [*words, *asked.task.further])
    pages = defaultdict[tuple[str, ...], list[int]](list)
    for page, section in enumerate(table.sections):
        pages[section].append(page)
    weight = {
        section: max(scores[page] for page in held) + 2 * len(words & set(words_of(" ".join(section))))
        for section, held in pages.items()
    }
    best = sorted(pages, key=lambda section: -weight[section])[:_SECTIONS]
    order = [page for section in best for page in sorted(pages[section], key=lambda p: -scores[p])[:_PAGES_OF_SECTION]]
    return [(asked.question.document, page + 1) for page in order]


def _scored(asked: AskedQuestion, rankers: dict[int | None, PageRanker], filings: Sequence[ScoredFiling]) -> _Ranking:
    ranker = rankers[asked.oracle.filing.group if asked.oracle else None]
    found = rank_pages(asked.session, asked.task, filings, names=asked.company_words, ranker=ranker)
    return [(asked.names[each.filing.filing.document], each.page + 1) for each in found[:_DEEP]]


def _markdown(recalls: dict[str, list[list[float]]], questions: Sequence[GoldQuestion]) -> str:
    groups: dict[str, Callable[[GoldQuestion], bool]] = {}
    for kind in sorted({each.kind for each in questions}):
        groups[kind] = lambda each, kind=kind: each.kind == kind  # type: ignore[misc]
    for form in sorted({each.form for each in questions}):
        groups[form] = lambda each, form=form: each.form == form  # type: ignore[misc]
    counts = {name: sum(map(test, questions)) for name, test in groups.items()}
    heads = [
        "mode",
        *(f"R@{cut}" for cut in _CUTS),
        "nDCG@10",
        "MAP",
        "MRR",
        *(f"{name} ({count})" for name, count in counts.items()),
    ]
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    for name, found in recalls.items():
        values = np.array(found)
        cells = [f"{value:.2f}" for value in values.mean(0)]
        cells += [f"{values[[test(each) for each in questions], 1].mean():.2f}" for test in groups.values()]
        lines.append("| " + " | ".join([name, *cells]) + " |")
    return "\n".join(lines) + "\n"


def _failures(asked: Sequence[AskedQuestion], rankers: dict[int | None, PageRanker]) -> str:
    """List the questions of which a page is missed among the first five: pages only, no text."""
    lines = ["\nmissed (document · pages that answer · pages found in it · chosen document):"]
    for each in asked:
        found = _scored(each, rankers, each.ranked[:3])
        if each.recall(found)[1] < 1:
            gold = sorted(page for _, page in each.question.pages)
            own = [page for name, page in found[:5] if name == each.question.document]
            lines.append(f"  {each.question.document} · {gold} · {own} · {found[0][0] if found else '-'}")
    return "\n".join(lines)
