"""Passages by words out of a SQLite base: FTS5 finds, `kg.store.ranking` scores what the view may see."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from kg.store import codec
from kg.store import statements as sql
from kg.store.ranking import bm25, strongest
from kg.store.schema import PLACE_BITS
from kg.store.words import terms

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

    from kg.model import Chunk
    from kg.store.schema import Sight

Lengths = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


def search(connection: sqlite3.Connection, lengths: Lengths, query: str, *, limit: int) -> list[tuple[Chunk, float]]:
    """Return the best passages among those that `lengths` lists."""
    wanted = sorted(set(terms(query)))
    if not wanted or limit <= 0:
        return []
    keys, words = lengths
    scores = bm25(words, [_posting(connection, keys, term) for term in wanted])
    by_key = {int(keys[place]): float(scores[place]) for place in strongest(scores, limit)}
    rows = connection.execute(sql.FOUND, {"bits": PLACE_BITS, "keys": json.dumps(list(by_key))}).fetchall()
    best = sorted(rows, key=lambda row: (-by_key[row[0]], row[1]))[:limit]
    return [(codec.chunk_in(row[1], row[2], row[3]), by_key[row[0]]) for row in best]


def visible_lengths(connection: sqlite3.Connection, sight: Sight) -> Lengths:
    """Return the sorted keys of the visible passages and how many words each has."""
    table = _table(connection.execute(sql.LENGTHS, (sight.below << PLACE_BITS,)).fetchall())
    if sight.known is not None:
        documents = _table(connection.execute(sql.VISIBLE_DOCUMENTS, sight.parameters).fetchall())
        table = table[np.isin(table[:, 0] >> PLACE_BITS, documents[:, 0])]
    return table[:, 0].copy(), table[:, 1].copy()


def _posting(
    connection: sqlite3.Connection, keys: NDArray[np.int64], term: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where a term stands, as positions in `keys`, and how often; passages out of view are dropped."""
    table = _table(connection.execute(sql.POSTING, (term,)).fetchall())
    places = np.searchsorted(keys, table[:, 0])
    inside = places < len(keys)
    inside[inside] = keys[places[inside]] == table[inside, 0]
    return places[inside].astype(np.int64), table[inside, 1]


def _table(rows: list[Any]) -> NDArray[np.int64]:
    return np.array(rows, dtype=np.int64).reshape(-1, 2)
