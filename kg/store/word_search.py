"""BM25 over the passages of one view.

SQLite's own bm25() counts every passage in the file, so a document of next year would change today's scores. Stores
therefore provide postings of visible passages only, and the scores are computed here for all stores.
Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with Lucene's idf, which is
never negative.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import TYPE_CHECKING

import numpy as np
import rjieba

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


_LETTERS = re.compile(r"[^\W_]+")


def terms(text: str) -> list[str]:
    """Split a text into folded words, including shorter words inside long ones: 碳酸锂价格 → 碳酸, 碳酸锂, 价格.

    A term has letters and digits only, so that it contains no query syntax and no tokenizer splits it.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    found: list[str] = []
    for word in rjieba.cut_for_search(folded):
        if word.isalnum():
            found.append(word)
        else:
            found += _LETTERS.findall(word)
    return found


SATURATION = 1.2
LENGTH_SHARE = 0.75


def bm25(
    lengths: NDArray[np.int64], postings: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> NDArray[np.float64]:
    """Score every passage of a view.

    Args:
        lengths: words of each visible passage, shape (n,).
        postings: for each distinct query word the positions in `lengths` of passages that contain it, and its counts.

    Returns:
        Scores, shape (n,); 0 where no word matches.
    """
    count = len(lengths)
    scores = np.zeros(count)
    if count == 0:
        return scores
    mean = max(float(lengths.sum()) / count, 1.0)
    norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths / mean)
    for places, counts in postings:
        idf = math.log1p((count - len(places) + 0.5) / (len(places) + 0.5))
        scores[places] += idf * counts * (SATURATION + 1) / (counts + norm[places])
    return scores


def strongest(scores: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Return the positions of the `limit` best scores above 0, unordered, including ties with the last."""
    hits: NDArray[np.int64] = np.flatnonzero(scores > 0)
    if limit <= 0:
        return hits[:0]
    if len(hits) <= limit:
        return hits
    threshold = np.partition(scores[hits], len(hits) - limit)[len(hits) - limit]
    best: NDArray[np.int64] = hits[scores[hits] >= threshold]
    return best
