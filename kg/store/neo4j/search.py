"""Search passages of a Neo4j store by words: the full-text index selects, `kg.store.word_search` scores.

The server's own scores count every passage in the index, including later ones, so they are not used.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

from kg.store import codec
from kg.store.neo4j import statements as cypher
from kg.store.word_search import bm25, strongest, terms

if TYPE_CHECKING:
    from collections.abc import Collection

    from kg.model import Chunk
    from kg.store.neo4j.connection import Moment
    from kg.store.neo4j.facts import Neo4jSight

# Terms that Lucene's CJKAnalyzer keeps unchanged (as bigrams or one token). Others are encoded, among them its English
# stop words, 33 of at most five letters, so that searching for them gives the same results in every store.
_KEPT = re.compile(r"[㐀-䶵一-鿿]{1,60}|[a-z0-9]{6,60}|[0-9]{1,60}")


def indexed(term: str) -> str:
    """Return the form of a word in the full-text index.

    >>> indexed("碳酸锂"), indexed("2024"), indexed("nvidia"), indexed("the")
    ('碳酸锂', '2024', 'nvidia', 'x746865')
    """
    return term if _KEPT.fullmatch(term) else f"x{term.encode().hex()}"


def frequency(moment: Moment, visibility: Neo4jSight, words: Collection[str]) -> tuple[int, dict[str, int]]:
    """Return the number of visible passages, and in how many of them each word occurs."""
    wanted = sorted(words)
    queries = [f'"{indexed(term)}"' for term in wanted]
    rows = moment.rows(cypher.POSTINGS, terms=wanted, queries=queries, **visibility.parameters) if wanted else []
    counts = Counter(number for number, *_ in rows)
    return moment.rows(cypher.LENGTHS, **visibility.parameters)[0][0], {
        word: counts[k] for k, word in enumerate(wanted)
    }


def search(moment: Moment, visibility: Neo4jSight, query: str, *, limit: int) -> list[tuple[Chunk, float]]:
    """Return the best-matching visible passages."""
    wanted = sorted(set(terms(query)))
    if not wanted or limit <= 0:
        return []
    # A quoted word of several bigrams is a phrase query; terms contain no quotation marks (word_search.py).
    queries = [f'"{indexed(term)}"' for term in wanted]
    rows = moment.rows(cypher.POSTINGS, terms=wanted, queries=queries, **visibility.parameters)
    if not rows:
        return []
    count, words = moment.rows(cypher.LENGTHS, **visibility.parameters)[0]
    length = {key: size for _, key, _, size in rows}
    place = {key: position for position, key in enumerate(length)}
    lengths = np.zeros(count, dtype=np.int64)
    lengths[: len(length)] = list(length.values())
    lengths[-1] += words - lengths.sum()  # for passages without a hit only their number and total length matter
    by_term: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, key, count_in_passage, _ in rows:
        by_term[number].append((place[key], count_in_passage))
    tables = [np.array(by_term[number], dtype=np.int64).reshape(-1, 2) for number in range(len(wanted))]
    scores = bm25(lengths, [(table[:, 0], table[:, 1]) for table in tables])
    keys = list(length)
    by_key = {keys[position]: float(scores[position]) for position in strongest(scores, limit)}
    found = moment.rows(cypher.FOUND, keys=list(by_key))
    best = sorted(found, key=lambda row: (-by_key[row[0]], row[1]))[:limit]
    return [(codec.chunk_in(row[1], row[2], row[3]), by_key[row[0]]) for row in best]
