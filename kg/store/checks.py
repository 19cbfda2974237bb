"""Types for `liantu check`: a store lists its invariants and yields their violations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Breach:
    """One violation of an invariant."""

    invariant: str
    message: str


@dataclass(frozen=True, slots=True)
class Invariant:
    """A condition that must hold, described in one line."""

    name: str
    meaning: str


@runtime_checkable
class Checkable(Protocol):
    """A store that can check its own invariants."""

    def invariants(self) -> list[Invariant]:
        """Return the invariants in the order in which they are checked."""

    def breaches(self) -> Iterator[Breach]:
        """Yield all violations in one state of the store; stop early if the file is damaged."""
