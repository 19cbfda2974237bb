"""The arrays of a snapshot: ids, kinds, edges and buckets of edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Passes = Callable[[NDArray[np.integer]], NDArray[np.bool_]]

_KINDS = tuple(Kind)
_GROWTH = 4
_NONE = np.zeros(1, dtype=np.int64)
_AT_ONCE = 4096  # edges; filtering this many at once is cheaper than filtering in two steps
_PER_BUCKET = 8  # edges that are read in the time of a search for one bucket
_MAX_KEY = {np.dtype(kind).char: int(np.iinfo(kind).max) for kind in (np.int32, np.int64, np.intc, np.longlong)}


class Ids(Sequence[str]):
    """Ids as one byte array plus a few later ones; a million take 37 MB, a third of what strings would take."""

    def __init__(self, array: NDArray[np.bytes_], later: Sequence[str] = ()) -> None:
        self.array, self.later = array, later

    @staticmethod
    def of(ids: Sequence[str]) -> Ids:
        """Build from strings."""
        return Ids(np.array([identity.encode() for identity in ids], dtype=np.bytes_))

    def __len__(self) -> int:
        return len(self.array) + len(self.later)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return self.at(np.arange(len(self), dtype=np.int64)[index])
        place = range(len(self))[index]
        if place >= len(self.array):
            return self.later[place - len(self.array)]
        return bytes(self.array[place]).decode()

    def at(self, places: NDArray[np.integer]) -> list[str]:
        """Return the ids at these positions."""
        if not self.later:
            return [identity.decode() for identity in self.array[places].tolist()]
        return [self[place] for place in places.tolist()]


class Kinds(Sequence[Kind]):
    """The kind of each node, one byte each."""

    def __init__(self, codes: NDArray[np.int8]) -> None:
        self.codes = codes

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> Kind: ...

    @overload
    def __getitem__(self, index: slice) -> list[Kind]: ...

    def __getitem__(self, index: int | slice) -> Kind | list[Kind]:
        if isinstance(index, slice):
            return [_KINDS[code] for code in self.codes[index].tolist()]
        return _KINDS[int(self.codes[index])]

    def __iter__(self) -> Iterator[Kind]:
        return (_KINDS[code] for code in self.codes.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Edges:
    """Some edges, one row each; `source` and `target` are always the fact's subject and object.

    Attributes:
        source: nodes, positions in `Snapshot.entity_ids`.
        target: nodes.
        relation: positions in `Snapshot.relation_names`.
        sign: +1, −1 or 0.
        weight: weight of the fact, above 0 (kg/graph/weights.py).
        start: first day of the effective validity as `date.toordinal()`; the int32 minimum where it is open.
        end: the day after the last day; the int32 maximum where it is open.
        published: day of the first visible document that states the fact.
        cause: direction of the cause of an `affects` fact: 1 up, −1 down, 0 none.
        effect: direction of its effect, likewise.
        fact: positions in `Snapshot.fact_ids`.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    relation: NDArray[np.int16]
    sign: NDArray[np.int8]
    weight: NDArray[np.float32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    published: NDArray[np.int32]
    cause: NDArray[np.int8]
    effect: NDArray[np.int8]
    fact: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.fact)

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Edges:
        """Return the edges of these rows."""
        places = rows.nonzero()[0] if rows.dtype == np.bool_ else rows
        return Edges(*[column.take(places) for column in _columns(self)])

    def joined(self, other: Edges) -> Edges:
        """Return these edges followed by the others."""
        return Edges(*[np.concatenate([getattr(self, name), getattr(other, name)]) for name in Edges.__slots__])


_columns = attrgetter(*Edges.__slots__)


@dataclass(frozen=True, slots=True)
class EdgeRows:
    """All edges of a graph as records of 36 bytes, so that a traversal reads contiguous memory.

    Attributes:
        records: shape (edges,), with the fields of `Edges`.
        columns: strided column views of the same memory.
    """

    records: NDArray[np.void]
    columns: Edges

    @staticmethod
    def of(edges: Edges) -> EdgeRows:
        """Convert columns to records."""
        records = np.zeros(len(edges), dtype=_RECORD)
        for name in Edges.__slots__:
            records[name] = getattr(edges, name)
        return EdgeRows.mapped(records)

    @staticmethod
    def mapped(data: NDArray[np.void]) -> EdgeRows:
        """Wrap memory-mapped records."""
        records = data.view(_RECORD)
        return EdgeRows(records, _fields(records))

    def take(self, rows: NDArray[np.integer]) -> Edges:
        """Return the edges of these rows."""
        return _LazyEdges(self.records.take(rows))


class _LazyEdges(Edges):
    """Edges whose columns are built on first use: building all eleven takes a fifth of a short traversal."""

    __slots__ = ("_records",)

    def __init__(self, records: NDArray[np.void]) -> None:
        object.__setattr__(self, "_records", records)

    def __getattr__(self, name: str) -> NDArray[Any]:
        """Build and keep a column on first use."""
        if name not in Edges.__slots__:
            raise AttributeError(name)
        column = self._records[name]
        object.__setattr__(self, name, column)
        return column

    def __len__(self) -> int:
        return len(self._records)

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Edges:
        return _LazyEdges(self._records[rows])


def _fields(records: NDArray[np.void]) -> Edges:
    return Edges(*[records[name] for name in Edges.__slots__])


_TYPES = {"relation": np.int16, "sign": np.int8, "weight": np.float32, "cause": np.int8, "effect": np.int8}
_RECORD = np.dtype([(name, _TYPES.get(name, np.int32)) for name in Edges.__slots__], align=True)


@dataclass(frozen=True, slots=True)
class Buckets:
    """Index of edges by node and relation: `keys` is sorted, node × number of relations + relation."""

    keys: NDArray[np.integer]
    rows: NDArray[np.int32] | None  # None: the edges are in the order of the keys

    def strongest(self, wanted: NDArray[np.int64], limit: int, passes: Passes | None = None) -> NDArray[np.integer]:
        """Return the rows of the first `limit` edges of each bucket, or of those that pass the filter.

        Args:
            wanted: sorted keys; the key of each bucket is followed by the next greater key.
            limit: edges per bucket.
            passes: filter on rows.
        """
        first, last = self.bounds(wanted)
        if passes is None:
            last = np.minimum(last, first + max(limit, 0))
            return self._window(last, counts := last - first, counts.cumsum())
        return self._filter(first, last, limit, passes=passes)

    def strongest_at(
        self, nodes: NDArray[np.int64], wanted: NDArray[np.bool_], limit: int, *, passes: Passes | None = None
    ) -> NDArray[np.integer] | None:
        """Return what `strongest` does for the wanted relations of nodes, or None where that would take longer.

        Reads all edges of the nodes once; looking for each bucket costs more where nodes have few edges per relation.

        Args:
            nodes: sorted and unique.
            wanted: mask of relations, shape (relations,).
            limit: edges per bucket.
            passes: filter on rows.
        """
        width = len(wanted)
        first, last = self.bounds(np.stack([nodes, nodes + 1], axis=1).ravel() * width)
        counts = last - first
        if counts.sum() > _PER_BUCKET * np.count_nonzero(wanted) * len(nodes):
            return None
        places: NDArray[np.integer] = np.repeat(last - counts.cumsum(), counts)
        places += np.arange(len(places))
        key = self.keys[places]
        kept = wanted[key - np.repeat(nodes * width, counts)]
        key, places = key[kept], places[kept]
        rows = places if self.rows is None else self.rows[places]
        if passes is not None:
            passed = passes(rows)
            key, rows = key[passed], rows[passed]
        place = np.arange(len(key))
        begins = np.flatnonzero(np.diff(key, prepend=-1))
        strongest: NDArray[np.integer] = rows[place - np.repeat(begins, np.diff(begins, append=len(key))) < limit]
        return strongest

    def _window(self, last: NDArray[np.intp], counts: NDArray[np.intp], ends: NDArray[np.intp]) -> NDArray[np.integer]:
        """Return the rows of each bucket up to `last`; `ends` are cumulative counts."""
        places: NDArray[np.integer] = (last - ends).repeat(counts)
        places += np.arange(len(places))
        return places if self.rows is None else self.rows.take(places)

    def _filter(
        self, first: NDArray[np.intp], last: NDArray[np.intp], limit: int, *, passes: Passes
    ) -> NDArray[np.integer]:
        """Return the first edges of each bucket that pass the filter."""
        sizes = last - first
        ends = sizes.cumsum()
        if len(ends) and ends[-1] > _AT_ONCE:
            return self._search_in_steps(first, last, limit, passes=passes)
        every = self._window(last, sizes, ends)
        passed_rows = passes(every)
        rows: NDArray[np.integer] = every[passed_rows]
        if len(rows) <= limit or int(np.maximum.reduce(sizes, initial=0)) <= limit:
            return rows  # nothing to cut off: most nodes have few edges per relation
        passed = np.concatenate((_NONE, passed_rows.cumsum()))
        passed_rows &= passed[1:] - passed[ends - sizes].repeat(sizes) <= limit
        strongest: NDArray[np.integer] = every[passed_rows]
        return strongest

    def _search_in_steps(
        self, first: NDArray[np.intp], last: NDArray[np.intp], limit: int, *, passes: Passes
    ) -> NDArray[np.integer]:
        """Filter a few edges of each bucket, then ever wider windows of the buckets that still lack edges."""
        open_ = np.flatnonzero((last > first) & (limit > 0))
        first, found = first.copy(), np.zeros(len(first), dtype=np.int64)
        width = 2 * limit
        kept: list[NDArray[np.integer]] = []
        owners: list[NDArray[np.intp]] = []
        while len(open_):
            counts = np.minimum(last[open_] - first[open_], width)
            rows = self._window(first[open_] + counts, counts, counts.cumsum())
            owner = np.repeat(open_, counts)
            passed_rows = passes(rows)
            rows, owner = rows[passed_rows], owner[passed_rows]
            begins = np.searchsorted(owner, open_)
            within = np.arange(len(owner)) - np.repeat(begins, np.diff(np.append(begins, len(owner))))
            chosen = within < limit - found[owner]
            kept.append(rows[chosen])
            owners.append(owner[chosen])
            found += np.bincount(owner[chosen], minlength=len(found))
            first[open_] += counts
            open_ = open_[(found[open_] < limit) & (first[open_] < last[open_])]
            width *= _GROWTH
        if len(kept) == 1:
            return kept[0]
        if not kept:
            return self._window(last[:0], last[:0], last[:0])
        return np.concatenate(kept)[np.argsort(np.concatenate(owners), kind="stable")]

    def bounds(self, wanted: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the first and last position of each bucket."""
        # Use the dtype of the keys: a wider one makes NumPy copy all keys. The maximum of the dtype is never a key.
        max_key = _MAX_KEY[self.keys.dtype.char]
        if len(wanted) and wanted[-1] > max_key:
            wanted = np.minimum(wanted, max_key)
        found = self.keys.searchsorted(wanted.astype(self.keys.dtype))
        return found[::2], found[1::2]
