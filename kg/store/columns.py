"""Columns of a whole store, from which the graph of any view is computed without further queries.

Rows cover every fact, whatever its day; kg/graph/view_columns.py computes which facts a view sees, which of them are
superseded and how many witnesses each has. A store that can provide the table exposes it as a view's `source`; for
other stores the graph is compiled from `View.facts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


OPEN_START = int(np.iinfo(np.int32).min)
OPEN_END = int(np.iinfo(np.int32).max)
NEVER = int(np.iinfo(np.int64).min)  # no recording time: visible to every view


class Texts(Sequence[str]):
    """Strings of any length in one UTF-8 buffer; `rows` selects and orders a subset."""

    def __init__(
        self, content: NDArray[np.uint8], ends: NDArray[np.int64], rows: NDArray[np.int32] | None = None
    ) -> None:
        self.content, self.ends, self.rows = content, ends, rows

    @staticmethod
    def of(texts: Iterable[str]) -> Texts:
        """Pack strings into one buffer."""
        encoded = [text.encode() for text in texts]
        ends = np.cumsum(np.array([0, *map(len, encoded)], dtype=np.int64))
        return Texts(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends)

    def picked(self, rows: NDArray[np.int32]) -> Texts:
        """Return the strings of these rows, in that order."""
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


@dataclass(frozen=True, slots=True)
class FactTable:
    """The columns. Facts have one row per id, sorted by (subject, relation, id); evidence is grouped by fact.

    Attributes:
        document_day: ordinal of the publication day; documents are sorted by (day, id), shape (documents,).
        document_read: recording time in microseconds since 1970, or `NEVER`.
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
        seen_in: documents, grouped by profile.
        fact_id: bytes.
        source: subjects.
        target: objects.
        relation: positions in the vocabulary, −1 for a relation it lacks.
        sign: +1, −1, 0.
        negative: 1 for a denial.
        modality: position in `kg.model.Modality`.
        stated: 1 where a period is stated; otherwise `start` and `end` have no meaning.
        start: its first day, or `OPEN_START`.
        end: the day after its last, or `OPEN_END`.
        cause: stated direction of the cause.
        effect: stated direction of the effect.
        place: facts that can supersede one another (rules/superseding.py) share a number; −1 for a fact without rivals.
        by_target: fact rows sorted by (object, relation, id).
        by_ends: fact rows sorted by (subject, object, relation, id).
        by_id: fact rows sorted by id.
        evidence_ends: where each fact's evidence ends; shape (facts + 1,).
        evidence_document: documents, shape (evidence,).
        evidence_read: position in `instants`.
        evidence_sure: position in `confidences`.
        evidence_speaker: number of the speaker, 0 for an unnamed one.
        instants: the distinct recording times, microseconds since 1970.
        confidences: the distinct confidences.
        denied: with `denial`, pairs of fact rows: a fact and an asserted denial of it.
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
    by_ends: NDArray[np.int32]
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
    """Identify the content of a store: equal states mean equal content."""

    revision: int
    stamp: str


@dataclass(frozen=True, slots=True)
class Touched:
    """Ids of what may differ in some view since an earlier state; some may no longer exist."""

    facts: frozenset[str]
    entities: frozenset[str]
