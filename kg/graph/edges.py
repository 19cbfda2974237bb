"""The arrays that a snapshot is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, overload

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Ids(Sequence[str]):
    """Ids as one array of bytes: a million facts in 37 MB, where strings would take three times that."""

    def __init__(self, ids: Sequence[str]) -> None:
        self.array = np.array([identity.encode() for identity in ids], dtype=np.bytes_)

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [item.decode() for item in self.array[index].tolist()]
        return bytes(self.array[index]).decode()


@dataclass(frozen=True, slots=True)
class Edges:
    """Some edges, one row each; `source` and `target` are the fact's subject and object, whichever way one walks.

    Attributes:
        source: nodes, positions in `Snapshot.entity_ids`.
        target: nodes.
        relation: positions in `Snapshot.relation_names`.
        sign: +1, −1 or 0.
        weight: how much the fact counts, above 0 (kg/graph/weights.py).
        start: first day of the effective validity as `date.toordinal()`; int32's least where it is open.
        end: the day after its last; int32's greatest where it is open.
        cause: the direction of the cause that an `affects` fact states: 1 up, −1 down, 0 none.
        effect: the same of its effect.
        fact: positions in `Snapshot.fact_ids`.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    relation: NDArray[np.int16]
    sign: NDArray[np.int8]
    weight: NDArray[np.float32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    cause: NDArray[np.int8]
    effect: NDArray[np.int8]
    fact: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.fact)

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Edges:
        """Return these rows only."""
        return Edges(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Buckets:
    """Where the edges of a node and relation lie: `keys` is sorted, node × number of relations + relation."""

    keys: NDArray[np.integer]
    rows: NDArray[np.int32] | None  # None: the edges lie in the order of the keys

    def strongest(self, wanted: NDArray[np.int64], limit: int) -> NDArray[np.integer]:
        """Return the rows of the first `limit` edges of each bucket."""
        first, last = self.bounds(wanted)
        counts = np.minimum(last - first, max(limit, 0))
        places = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return places if self.rows is None else self.rows[places]

    def bounds(self, wanted: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return where each bucket begins and ends."""
        # In the keys' own type: with a wider one NumPy would copy all keys at every call. The greatest is never a key.
        sought = np.minimum(wanted, np.iinfo(self.keys.dtype).max).astype(self.keys.dtype)
        return np.searchsorted(self.keys, sought, side="left"), np.searchsorted(self.keys, sought, side="right")
