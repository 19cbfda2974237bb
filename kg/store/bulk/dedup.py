"""What many rows state: which of them state one fact in the same words, and which facts were written before."""

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
    """What transactions wrote of facts, while there is no index over their ids: what these begin with, sorted."""

    heads: NDArray[np.uint64]
    keys: NDArray[np.int64]

    @staticmethod
    def of(heads: NDArray[np.uint64], first: int) -> Filed:
        """Take facts in the order of their keys."""
        order = np.argsort(heads)
        return Filed(heads[order], order + first)

    def with_those_before(self, before: list[Filed]) -> list[Filed]:
        """Put this behind others, and those together that are not much longer than what follows them: few stay."""
        if not len(self.heads):
            return before
        whole = self
        while before and len(before[-1].heads) < 2 * len(whole.heads):
            heads = np.concatenate((before[-1].heads, whole.heads))
            order = np.argsort(heads, kind="stable")  # two sorted runs are merged
            whole = Filed(heads[order], np.concatenate((before[-1].keys, whole.keys))[order])
            before = before[:-1]
        return [*before, whole]

    def alike(self, heads: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return positions of `heads` that facts written begin with, and these facts' keys, pair by pair."""
        low = np.searchsorted(self.heads, heads)
        there = np.flatnonzero(self.heads[np.minimum(low, len(self.heads) - 1)] == heads)
        low, high = low[there], np.searchsorted(self.heads, heads[there], "right")
        pairs = [
            (place, key)
            for place, first, last in zip(there.tolist(), low.tolist(), high.tolist(), strict=True)
            for key in self.keys[first:last].tolist()
        ]
        both = np.array(pairs, np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]


@dataclass(frozen=True, slots=True)
class Stated:
    """What the rows of several sheets state, one after another.

    Attributes:
        heads: the first 8 bytes of the digests.
        facts: the ids; `claims` how they are worded: by the first row of a sheet that states the fact.
        places: how many rows of the sheet stated the fact before.
        leader: for each row the first row of the same fact in the same words.
    """

    heads: NDArray[np.uint64]
    facts: list[str]
    claims: list[str]
    places: list[int]
    leader: NDArray[np.int64]

    @staticmethod
    def of(sheets: Sequence[RowBatch]) -> Stated:
        """Look at the rows of sheets."""
        digests = b"".join(sheet.rows.digests for sheet in sheets)
        heads = np.frombuffer(digests, ">u8")[::2].astype(np.uint64)
        order = np.argsort(heads)
        ordered = heads[order]
        twice = np.zeros(len(order) + 1, bool)
        twice[1:-1] = ordered[1:] == ordered[:-1]
        said = Stated(
            heads,
            fact_ids(digests),
            list(chain.from_iterable(sheet.rows.claims for sheet in sheets)),
            [0] * len(order),
            np.arange(len(order)),
        )
        owner = np.repeat(np.arange(len(sheets)), [len(sheet.rows) for sheet in sheets])
        said._join(np.sort(order[twice[1:] | twice[:-1]]).tolist(), owner)
        return said

    def _join(self, rows: list[int], owner: NDArray[np.int64]) -> None:
        """Settle rows, in their order, whose facts others may state too."""
        worded: dict[tuple[int, str], tuple[str, int]] = {}
        leaders: dict[tuple[str, str], int] = {}
        for row in rows:
            fact, sheet = self.facts[row], int(owner[row])
            claim, place = worded.get((sheet, fact), (self.claims[row], 0))
            worded[sheet, fact] = claim, place + 1
            self.claims[row], self.places[row] = claim, place
            self.leader[row] = leaders.setdefault((fact, claim), row)
