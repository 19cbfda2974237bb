"""Deduplicate the facts of many rows: equal claims among the rows, and facts written before."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from kg.ids import fact_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kg.store.bulk.row_batch import RowBatch


@dataclass(frozen=True, slots=True)
class Filed:
    """Facts written by earlier transactions, by sorted id prefix; used while there is no index over fact ids."""

    heads: NDArray[np.uint64]
    keys: NDArray[np.int64]

    @staticmethod
    def of(heads: NDArray[np.uint64], first: int) -> Filed:
        """Return an index of facts given in key order, the first with key `first`."""
        order = np.argsort(heads)
        return Filed(heads[order], order + first)

    def with_those_before(self, before: list[Filed]) -> list[Filed]:
        """Append this run to earlier ones, merging runs of similar length so that few remain."""
        if not len(self.heads):
            return before
        merged = self
        while before and len(before[-1].heads) < 2 * len(merged.heads):
            heads = np.concatenate((before[-1].heads, merged.heads))
            order = np.argsort(heads, kind="stable")  # merges two sorted runs
            merged = Filed(heads[order], np.concatenate((before[-1].keys, merged.keys))[order])
            before = before[:-1]
        return [*before, merged]

    def alike(self, heads: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return pairs, as two arrays: a position in `heads` and the key of a written fact with that prefix."""
        low = np.searchsorted(self.heads, heads)
        matches = np.flatnonzero(self.heads[np.minimum(low, len(self.heads) - 1)] == heads)
        low, high = low[matches], np.searchsorted(self.heads, heads[matches], "right")
        pairs = [
            (place, key)
            for place, first, last in zip(matches.tolist(), low.tolist(), high.tolist(), strict=True)
            for key in self.keys[first:last].tolist()
        ]
        table = np.array(pairs, np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]


@dataclass(frozen=True, slots=True)
class Stated:
    """The facts that the rows of several row batches state, in order.

    Attributes:
        heads: the first 8 bytes of the fact ids' digests.
        facts: the fact ids.
        claims: the encoded claims, as worded in the first row of the batch that states the fact.
        places: number of earlier rows in the batch that state the fact.
        leader: for each row the first row with the same fact and wording.
    """

    heads: NDArray[np.uint64]
    facts: list[str]
    claims: list[str]
    places: list[int]
    leader: NDArray[np.int64]

    @staticmethod
    def of(row_batches: Sequence[RowBatch]) -> Stated:
        """Deduplicate the rows of row batches."""
        digests = b"".join(row_batch.rows.digests for row_batch in row_batches)
        heads = np.frombuffer(digests, ">u8")[::2].astype(np.uint64)
        order = np.argsort(heads)
        ordered = heads[order]
        equal = np.zeros(len(order) + 1, bool)
        equal[1:-1] = ordered[1:] == ordered[:-1]
        stated = Stated(
            heads,
            fact_ids(digests),
            list(chain.from_iterable(row_batch.rows.claims for row_batch in row_batches)),
            [0] * len(order),
            np.arange(len(order)),
        )
        owner = np.repeat(np.arange(len(row_batches)), [len(row_batch.rows) for row_batch in row_batches])
        stated._resolve_duplicates(np.sort(order[equal[1:] | equal[:-1]]).tolist(), owner)
        return stated

    def _resolve_duplicates(self, rows: list[int], owner: NDArray[np.int64]) -> None:
        """Set claims, places and leaders of rows whose facts other rows may state too, in row order."""
        wordings: dict[tuple[int, str], tuple[str, int]] = {}
        leaders: dict[tuple[str, str], int] = {}
        for row in rows:
            fact, row_batch = self.facts[row], int(owner[row])
            claim, place = wordings.get((row_batch, fact), (self.claims[row], 0))
            wordings[row_batch, fact] = claim, place + 1
            self.claims[row], self.places[row] = claim, place
            self.leader[row] = leaders.setdefault((fact, claim), row)
