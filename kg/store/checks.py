"""What `liantu check` looks for: a store lists its invariants, each a small function that yields what breaks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Breach:
    """One thing that is not as it must be."""

    invariant: str
    message: str


@dataclass(frozen=True, slots=True)
class Invariant:
    """What must hold, in one line."""

    name: str
    meaning: str


@runtime_checkable
class Checkable(Protocol):
    """A store that can look itself over."""

    def invariants(self) -> list[Invariant]:
        """Return what must hold, in the order in which it is looked at."""

    def breaches(self) -> Iterator[Breach]:
        """Go through all that is broken, in one state of the base; damaged pages end the search."""
