"""Clocks of a view as integers for store queries, and a cache for results of views.

A document's key is `day << 21 | number`, day being `date.toordinal()`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from kg.store.port import View

DAY_BITS = 21
DAY_ROOM = 1 << DAY_BITS
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
T = TypeVar("T")


def first_key(day: date) -> int:
    """Return the smallest key a document of `day` can have."""
    return day.toordinal() << DAY_BITS


def bound(day: date | None) -> int:
    """Return the exclusive upper bound of the keys of documents published on or before `day`."""
    return (date.max.toordinal() if day is None else day.toordinal()) + 1 << DAY_BITS


def day_of(document: int) -> date:
    """Return the publication day encoded in a document's key."""
    return date.fromordinal(document >> DAY_BITS)


@dataclass(frozen=True, slots=True)
class Visibility:
    """Visibility limits for SQL: document keys below a bound, recorded no later than an instant (None: no limit)."""

    below: int
    known: int | None

    @property
    def parameters(self) -> dict[str, int | None]:
        """The values of the named parameters in the SQL statements."""
        return {"below": self.below, "known": self.known}


def visibility_of(as_of: date | None, known_at: datetime | None) -> Visibility:
    """Return the visibility limits of a view; `known_at` is in UTC."""
    return Visibility(bound(as_of), None if known_at is None else microseconds(known_at))


def microseconds(instant: datetime) -> int:
    """Return an instant in UTC as whole microseconds since 1970."""
    return (instant - _EPOCH) // timedelta(microseconds=1)


@lru_cache(maxsize=4096)
def instant_of(count: int) -> datetime:
    """Return the instant for a number of microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=count)


class ViewCache(Generic[T]):
    """A thread-safe LRU cache of results for the last few views; the key contains the store's state."""

    def __init__(self, capacity: int = 4) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[Hashable, T] = OrderedDict()
        self._guard = threading.Lock()

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the cached result for a view of one state, computing it if missing."""
        found = self.known(key)
        return self.put(key, make()) if found is None else found

    def known(self, key: Hashable) -> T | None:
        """Return the cached result, if there is one."""
        with self._guard:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def put(self, key: Hashable, made: T) -> T:
        """Keep a result and return it."""
        with self._guard:
            self._entries[key] = made
            self._entries.move_to_end(key)
            while len(self._entries) > self._capacity:
                self._entries.popitem(last=False)
        return made

    def clear(self) -> None:
        """Forget all results."""
        with self._guard:
            self._entries.clear()


def is_before_all(view: View) -> bool:
    """Whether a view shows a day or an instant before the first document, where answers are empty."""
    dated = view.as_of is not None or view.known_at is not None
    return dated and not any(True for _ in view.documents())
