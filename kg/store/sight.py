"""What a view may see, as numbers that stores compare: days and instants, and a cache for what views compute.

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
    from collections.abc import Callable

DAY_BITS = 21
DAY_ROOM = 1 << DAY_BITS
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KEPT = 4  # views
T = TypeVar("T")


def first_key(day: date) -> int:
    """Return the smallest key a document of `day` can have."""
    return day.toordinal() << DAY_BITS


def bound(day: date | None) -> int:
    """Return the key that every document published on or before `day` stays below."""
    return (date.max.toordinal() if day is None else day.toordinal()) + 1 << DAY_BITS


def day_of(document: int) -> date:
    """Return the publication day that a document's key tells."""
    return date.fromordinal(document >> DAY_BITS)


@dataclass(frozen=True, slots=True)
class Sight:
    """What a view may see, as SQL: documents below a key, read no later than an instant (None: ever)."""

    below: int
    known: int | None

    @property
    def parameters(self) -> dict[str, int | None]:
        """The values of the named parameters in the SQL statements."""
        return {"below": self.below, "known": self.known}


def sight_of(as_of: date | None, known_at: datetime | None) -> Sight:
    """Return what a view of these days may see; `known_at` is in UTC."""
    return Sight(bound(as_of), None if known_at is None else microseconds(known_at))


def microseconds(instant: datetime) -> int:
    """Return an instant in UTC as whole microseconds since 1970."""
    return (instant - _EPOCH) // timedelta(microseconds=1)


@lru_cache(maxsize=4096)
def instant_of(count: int) -> datetime:
    """Return the instant that `microseconds` stored."""
    return _EPOCH + timedelta(microseconds=count)


class ViewCache(Generic[T]):
    """Keep what was computed for the last few views; entries are valid while the base does not change."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[Sight, int], T] = OrderedDict()
        self._guard = threading.Lock()

    def __len__(self) -> int:
        """Count what is kept."""
        return len(self._found)

    def get(self, key: tuple[Sight, int], make: Callable[[], T]) -> T:
        """Return what is kept for a view of one state, or make it."""
        with self._guard:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        made = make()
        with self._guard:
            self._found[key] = made
            while len(self._found) > _KEPT:
                self._found.popitem(last=False)
        return made
