"""All that a base holds for walking, as columns: from it the graph of any view is worked out without asking again.

Rows are whole-base: every fact, whatever its day; which of them a view sees, which are closed in it and how many
witnesses each has there is worked out by kg/graph/view_columns.py. A store that can give a table says so by a view's
`source`; for others the graph is compiled from `View.facts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, overload, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray

    from kg.period import Period
    from kg.relations import Vocabulary

OPEN_START = int(np.iinfo(np.int32).min)
OPEN_END = int(np.iinfo(np.int32).max)
NEVER = int(np.iinfo(np.int64).min)  # an instant that nobody noted: seen by every view


class Texts(Sequence[str]):
    """Strings of any length as one run of UTF-8 bytes; `rows` picks and orders some of them."""

    def __init__(
        self, content: NDArray[np.uint8], ends: NDArray[np.int64], rows: NDArray[np.int32] | None = None
    ) -> None:
        self.content, self.ends, self.rows = content, ends, rows

    @staticmethod
    def of(texts: Iterable[str]) -> Texts:
        """Lay strings out."""
        encoded = [text.encode() for text in texts]
        ends = np.cumsum(np.array([0, *map(len, encoded)], dtype=np.int64))
        return Texts(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends)

    def picked(self, rows: NDArray[np.int32]) -> Texts:
        """Return the strings of these rows, in their order."""
        return Texts(self.content, self.ends, rows if self.rows is None else self.rows[rows])

    def __len__(self) -> int:
        return len(self.ends) - 1 if self.rows is None else len(self.rows)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        row = place if self.rows is None else int(self.rows[place])
        return self.content[self.ends[row] : self.ends[row + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        content, ends = self.content.tobytes(), self.ends.tolist()
        rows = range(len(self)) if self.rows is None else self.rows.tolist()
        return (content[ends[row] : ends[row + 1]].decode() for row in rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and not isinstance(other, str) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.content.nbytes + self.ends.nbytes + (0 if self.rows is None else self.rows.nbytes)


@dataclass(frozen=True, slots=True)
class FactTable:
    """The columns. Facts are one row an id, sorted by (subject, relation, id); evidence by fact.

    Attributes:
        document_day: ordinal of the publication day; documents are sorted by (day, id), shape (documents,).
        document_read: microseconds since 1970 at which it was read, or `NEVER`.
        copy_one: with `copy_other`, pairs of near-duplicates as document rows.
        copy_other: see `copy_one`.
        entity_texts: bytes of all entity ids, sorted by id.
        entity_ends: where each id ends; shape (entities + 1,).
        profile_entity: the entity each profile describes, sorted; shape (profiles,).
        profile_implied: 1 where the entity was only used, not described.
        profile_kind: position in `kg.model.Kind`.
        profile_about: the entity it is about, or −1.
        profile_rank: order of the profiles of one entity that begin on the same day.
        profile_ends: where each profile's rows of `seen_in` end; shape (profiles + 1,).
        seen_in: documents by profile.
        fact_id: bytes.
        source: subjects.
        target: objects.
        relation: positions in the vocabulary, −1 for a relation it lacks.
        sign: +1, −1, 0.
        negative: 1 for a denial.
        modality: position in `kg.model.Modality`.
        stated: 1 where a period is stated; only then do `start` and `end` count.
        start: its first day, or `OPEN_START`.
        end: the day after its last, or `OPEN_END`.
        cause: stated direction of the cause.
        effect: stated direction of the effect.
        place: facts that compete for one place (rules/superseding.py) share a number; −1 for a fact without rivals.
        by_target: fact rows sorted by (object, relation, id).
        by_id: fact rows sorted by id.
        evidence_ends: where each fact's evidence ends; shape (facts + 1,).
        evidence_document: documents, shape (evidence,).
        evidence_read: position in `instants`.
        evidence_sure: position in `confidences`.
        evidence_speaker: number of the speaker, 0 for an unnamed one.
        instants: the distinct instants of reading, microseconds since 1970.
        confidences: the distinct confidences.
        denied: with `denial`, pairs of fact rows: an asserted denial and a fact that it speaks of.
        denial: see `denied`.
    """

    document_day: NDArray[np.int32]
    document_read: NDArray[np.int64]
    copy_one: NDArray[np.int32]
    copy_other: NDArray[np.int32]
    entity_texts: NDArray[np.uint8]
    entity_ends: NDArray[np.int64]
    profile_entity: NDArray[np.int32]
    profile_implied: NDArray[np.int8]
    profile_kind: NDArray[np.int8]
    profile_about: NDArray[np.int32]
    profile_rank: NDArray[np.int32]
    profile_ends: NDArray[np.int64]
    seen_in: NDArray[np.int32]
    fact_id: NDArray[np.bytes_]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    relation: NDArray[np.int16]
    sign: NDArray[np.int8]
    negative: NDArray[np.int8]
    modality: NDArray[np.int8]
    stated: NDArray[np.int8]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    cause: NDArray[np.int8]
    effect: NDArray[np.int8]
    place: NDArray[np.int32]
    by_target: NDArray[np.int32]
    by_id: NDArray[np.int32]
    evidence_ends: NDArray[np.int64]
    evidence_document: NDArray[np.int32]
    evidence_read: NDArray[np.int32]
    evidence_sure: NDArray[np.int32]
    evidence_speaker: NDArray[np.int32]
    instants: NDArray[np.int64]
    confidences: NDArray[np.float64]
    denied: NDArray[np.int32]
    denial: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class State:
    """Which content a base has: equal states, equal content."""

    revision: int
    stamp: str


@dataclass(frozen=True, slots=True)
class Touched:
    """What may look different in some view since an earlier state, by id; some of it may be gone."""

    facts: frozenset[str]
    entities: frozenset[str]


class Reader(Protocol):
    """One state of a base, for as long as it is open."""

    def state(self) -> State:
        """Return the state."""

    def table(self, words: Vocabulary) -> FactTable:
        """Read all columns."""

    def touched(self, since: State, words: Vocabulary) -> Touched | None:
        """Return what was touched after an earlier state; None when nobody knows any more."""


@runtime_checkable
class TableSource(Protocol):
    """A base that can give its table."""

    @property
    def path(self) -> Path:
        """Where the base lies; what is compiled from it is kept beside."""

    @property
    def period(self) -> Period | None:
        """What the view that gave this source keeps to."""

    @property
    def judged(self) -> frozenset[str]:
        """Entities that judgements make something else of than the table says (kg/store/rules/identities.py)."""

    @property
    def judged_facts(self) -> frozenset[str]:
        """Facts that touch one of them, as they are called now, and facts that compete with these."""

    def reading(self) -> AbstractContextManager[Reader]:
        """Open the base as it is now."""
