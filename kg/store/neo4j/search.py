"""Search passages of a Neo4j base by words: the full-text index selects, `kg.store.word_search` scores.

The server's own scores count every passage in the index, also those of next year, so they are not used.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from kg.store import codec
from kg.store.neo4j import statements as cypher
from kg.store.word_search import bm25, strongest, terms

if TYPE_CHECKING:
    from kg.model import Chunk
    from kg.store.neo4j.connection import Moment
    from kg.store.neo4j.facts import Neo4jSight

# What Lucene's CJKAnalyzer keeps as it is (as bigrams, or as one token); its English stop words, 33 of at most five
# letters and `their`, are indexed under another name, so that a search for them finds what it finds in every store.
_KEPT = re.compile(r"[㐀-䶵一-鿿]{1,60}|[a-z0-9]{6,60}|[0-9]{1,60}")


def indexed(term: str) -> str:
    """Return what the full-text index knows a word by.

    >>> indexed("碳酸锂"), indexed("2024"), indexed("nvidia"), indexed("the")
    ('碳酸锂', '2024', 'nvidia', 'x746865')
    """
    return term if _KEPT.fullmatch(term) else f"x{term.encode().hex()}"


def search(moment: Moment, sight: Neo4jSight, query: str, *, limit: int) -> list[tuple[Chunk, float]]:
    """Return the best of the visible passages."""
    wanted = sorted(set(terms(query)))
    if not wanted or limit <= 0:
        return []
    # A quoted word of several bigrams is searched as a phrase; no term holds a quotation mark (word_search.py).
    queries = [f'"{indexed(term)}"' for term in wanted]
    rows = moment.rows(cypher.POSTINGS, terms=wanted, queries=queries, **sight.parameters)
    if not rows:
        return []
    count, words = moment.rows(cypher.LENGTHS, **sight.parameters)[0]
    length = {key: size for _, key, _, size in rows}
    place = {key: position for position, key in enumerate(length)}
    lengths = np.zeros(count, dtype=np.int64)
    lengths[: len(length)] = list(length.values())
    lengths[-1] += words - lengths.sum()  # passages without a hit count by their number and their sum only
    by_term: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, key, often, _ in rows:
        by_term[number].append((place[key], often))
    tables = [np.array(by_term[number], dtype=np.int64).reshape(-1, 2) for number in range(len(wanted))]
    scores = bm25(lengths, [(table[:, 0], table[:, 1]) for table in tables])
    keys = list(length)
    by_key = {keys[position]: float(scores[position]) for position in strongest(scores, limit)}
    found = moment.rows(cypher.FOUND, keys=list(by_key))
    best = sorted(found, key=lambda row: (-by_key[row[0]], row[1]))[:limit]
    return [(codec.chunk_in(row[1], row[2], row[3]), by_key[row[0]]) for row in best]
