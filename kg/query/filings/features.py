"""Features of a filing's pages for a question: words, statements, rows of indicators, topics, headings, sections."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from kg.query.filings.lexicon import STATEMENTS, lexicon, words_of
from kg.query.filings.page_table import LOOKS
from kg.store.word_search import LENGTH_SHARE, SATURATION

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from kg.query.filings.page_table import PageTable
    from kg.query.filings.task import FilingTask

_FIRST_PAGES = 3  # where a short notice says all
_WINDOW = 8  # lines that an answer may be spread over
_AMOUNT = re.compile(
    r"how much|ratio|margin|percent|amount|rate|%|what (?:is|was) the|number of|increase|decrease|多少", re.IGNORECASE
)
_PRIMARY = STATEMENTS[:3]
_AT = {name: number for number, name in enumerate(LOOKS)}
_GROUPS = ({"7", "7A"}, {"8", "15"}, {"1", "2"}, {"1A"})

ASKED = (
    *("words", "words_rank", "words_level", "expanded", "expanded_rank", "coverage", "best_window", "best_row"),
    *("in_top", "in_section", "statement", "statement_rank", "statement_best", "statement_head"),
    *("indicator_share", "indicator_count", "indicator_statement", "years", "latest_year", "topic", "topic_relative"),
    *("item_7", "item_8", "item_1", "item_1a", "item_none", "no_statement", "amount", "amount_rows", "first_page"),
)
FEATURES = (*LOOKS, *ASKED)


def page_features(table: PageTable, task: FilingTask, names: Collection[str] = ()) -> NDArray[np.float32]:
    """Return the features of all pages, shape (pages, len(FEATURES)).

    Args:
        table: the filing.
        task: the question.
        names: words of the company's name, which every page of its filings has.
    """
    count = len(table)
    years = {str(year) for year in (*task.years, *task.fiscal_years)}
    own = [word for word in task.words if word not in names and word not in years]
    further = [word for word in task.further if word not in names and word not in own]
    lines = {word: table.lines_with(word) for word in (*own, *further)}
    weight = _weights(table, lines)
    plain = _bm25(table, lines, weight, own)
    expanded = plain + _bm25(table, lines, weight, further)
    total = sum(weight[word] for word in own) or 1.0
    statements = statement_looks(table)
    wanted = np.array(task.wanted[: len(_PRIMARY)], np.float32)
    ranks = np.stack([_reciprocal_rank(statements[:, each]) for each in range(len(_PRIMARY))], 1)
    heads = table.looks[:, [_AT[f"head_{name}"] for name in _PRIMARY]]
    amount = float(bool(_AMOUNT.search(task.question)) or any(task.wanted))
    columns = {
        "words": plain / (plain.max(initial=0.0) or 1.0),
        "words_rank": _reciprocal_rank(plain),
        "words_level": plain / 30,
        "expanded": expanded / (expanded.max(initial=0.0) or 1.0),
        "expanded_rank": _reciprocal_rank(expanded),
        **_overlaps(table, lines, weight, own, total),
        "in_section": np.array([_share(section, own, weight, total) for section in table.sections]),
        "statement": statements @ wanted / max(1.0, float(wanted.sum())),
        "statement_rank": (ranks * wanted).max(1, initial=0.0),
        "statement_best": ((ranks == 1) * wanted).max(1, initial=0.0),
        "statement_head": heads @ wanted,
        **_indicators(table, task, statements),
        **_years(table, task),
        **_topics(table, task),
        **_sections(table),
        "no_statement": np.full(count, float(not any(task.wanted))),
        "amount": np.full(count, amount),
        "amount_rows": amount * table.looks[:, _AT["row_share"]],
        "first_page": (np.arange(count) < _FIRST_PAGES).astype(np.float32),
    }
    asked = np.stack([np.asarray(columns[name], np.float32) for name in ASKED], 1)
    return np.hstack([table.looks, asked]) if count else np.zeros((0, len(FEATURES)), np.float32)


def word_scores(table: PageTable, words: Sequence[str]) -> NDArray[np.float32]:
    """Return the BM25 of each page for some words, the mode that looks at nothing else."""
    lines = {word: table.lines_with(word) for word in words}
    return _bm25(table, lines, _weights(table, lines), words)


def _weights(table: PageTable, lines: dict[str, NDArray[np.int32]]) -> dict[str, float]:
    """Return Lucene's inverse page frequency of each word within the filing."""
    pages = {word: len(np.unique(table.line_page[found])) for word, found in lines.items()}
    count = len(table)
    return {word: float(np.log1p((count - held + 0.5) / (held + 0.5))) if held else 0.0 for word, held in pages.items()}


def _bm25(
    table: PageTable, lines: dict[str, NDArray[np.int32]], weight: dict[str, float], words: Iterable[str]
) -> NDArray[np.float32]:
    scores = np.zeros(len(table), np.float32)
    norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * table.lengths / max(1.0, float(table.lengths.mean() or 1)))
    for word in words:
        if len(found := lines[word]):
            times = np.bincount(table.line_page[found], minlength=len(table)).astype(np.float32)
            scores += weight[word] * times * (SATURATION + 1) / (times + norm)
    return scores


def _overlaps(
    table: PageTable, lines: dict[str, NDArray[np.int32]], weight: dict[str, float], own: Sequence[str], total: float
) -> dict[str, NDArray[np.float32]]:
    """Return the share of the question's words, by weight, on a page, in its opening lines, a row, and eight lines."""
    count, height = len(table), len(table.line_page)
    by_line = np.zeros(height, np.float32)
    by_window = np.zeros(height, np.float32)
    coverage, top = np.zeros(count, np.float32), np.zeros(count, np.float32)
    for word in own:
        found, heavy = lines[word], weight[word] / total
        if not len(found):
            continue
        by_line[found] += heavy
        near = np.zeros(height + _WINDOW, bool)
        for back in range(_WINDOW):
            near[np.maximum(found - back, 0)] = True
        by_window[near[:height]] += heavy
        coverage[np.unique(table.line_page[found])] += heavy
        top[np.unique(table.line_page[found[table.is_top[found]]])] += heavy
    window, row = np.zeros(count, np.float32), np.zeros(count, np.float32)
    np.maximum.at(window, table.line_page, by_window)
    np.maximum.at(row, table.line_page[table.is_row], by_line[table.is_row])
    return {"coverage": coverage, "best_window": window, "best_row": row, "in_top": top}


def _share(section: Sequence[str], own: Sequence[str], weight: dict[str, float], total: float) -> float:
    held = {word for heading in section for word in words_of(heading)}
    return sum(weight[word] for word in own if word in held) / total


def statement_looks(table: PageTable) -> NDArray[np.float32]:
    """Return how much each page looks like each primary statement: heading and rows, less commentary."""
    looks = {name: table.looks[:, number] for name, number in _AT.items()}
    scores = [
        looks[f"head_{name}"] * (0.6 + 0.4 * looks["notes"]) * np.minimum(1, 2 * looks[f"rows_{name}"])
        + 0.5 * looks[f"rows_{name}"]
        - 0.5 * looks["parent"]
        - 0.3 * looks["contents"]
        for name in _PRIMARY
    ]
    stacked: NDArray[np.float32] = np.stack(scores, 1).astype(np.float32)
    return stacked


def _reciprocal_rank(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    ranks = np.empty(len(scores), np.float32)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return np.reciprocal(ranks)


def _indicators(table: PageTable, task: FilingTask, statements: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
    """Return which rows of the asked indicators a page has, and whether it is their statement."""
    count = len(table)
    asked = max(1, len(task.indicators))
    held, fitting = np.zeros(count, np.float32), np.zeros(count, np.float32)
    for number, indicator in enumerate(lexicon().indicators):
        if indicator.name in task.indicators:
            has = table.indicators[:, number]
            held += has
            fitting += has * statements[:, _PRIMARY.index(indicator.statement)]
    return {
        "indicator_share": (held / asked).astype(np.float32),
        "indicator_count": (np.minimum(5, held) / 5).astype(np.float32),
        "indicator_statement": (fitting / asked).astype(np.float32),
    }


def _years(table: PageTable, task: FilingTask) -> dict[str, NDArray[np.float32]]:
    asked = {*task.years, *task.fiscal_years}
    share = [len(asked & years) / max(1, len(asked)) for years in table.years]
    latest = [float(task.year in years) if asked else 0.0 for years in table.years]
    return {"years": np.array(share, np.float32), "latest_year": np.array(latest, np.float32)}


def _topics(table: PageTable, task: FilingTask) -> dict[str, NDArray[np.float32]]:
    columns = [table.looks[:, _AT[f"about_{name}"]] for name in task.topics]
    if not columns:
        none = np.zeros(len(table), np.float32)
        return {"topic": none, "topic_relative": none}
    relative = [column / (column.max(initial=0.0) or 1.0) for column in columns]
    share = np.float32(len(columns))
    return {"topic": np.stack(columns).sum(0) / share, "topic_relative": np.stack(relative).sum(0) / share}


def _sections(table: PageTable) -> dict[str, NDArray[np.float32]]:
    held = defaultdict[str, list[float]](list)
    for item in table.items:
        for name, group in zip(("item_7", "item_8", "item_1", "item_1a"), _GROUPS, strict=True):
            held[name].append(float(item in group))
        held["item_none"].append(float(not any(item in group for group in _GROUPS)))
    return {name: np.array(held[name], np.float32) for name in ("item_7", "item_8", "item_1", "item_1a", "item_none")}
