"""Search for entities while a user types: by name, code or pinyin, best match first, else by similar names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kg.ids import normal_name
from kg.query.plain import Answer
from kg.query.resolve import candidates, degree_of, near_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kg.query.session import QuerySession

_RANKED = 400  # matches that are ordered by their number of facts
_SECURITY = "sec:"
_EXACT, _BEGINS, _INITIALS, _CONTAINS = range(4)


@dataclass(frozen=True, slots=True)
class EntityMatch(Answer):
    """An entity found by a search, the name or code that matched, and how many edges touch it."""

    id: str
    kind: str
    name: str
    codes: tuple[str, ...]
    matched: str
    degree: int


class NameIndex:
    """All names of one view."""

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self._names = [(normal_name(name), name, entity) for name, entity in names]
        codes = sorted({entity for _, _, entity in self._names if entity.startswith(_SECURITY)})
        self._codes = [(normal_name(code), code, entity) for entity in codes for code in [entity[len(_SECURITY) :]]]

    @cached_property
    def _pinyin(self) -> list[tuple[str, str, str, str]]:
        """First letters and syllables of Chinese names: 通威股份 → twgf, tongweigufen."""
        from pypinyin import lazy_pinyin  # noqa: PLC0415 -- takes 0.2 s, which most questions do not need

        chinese = ((name, entity) for _, name, entity in self._names if not name.isascii())
        spelled = ((lazy_pinyin(name), name, entity) for name, entity in chinese)
        return [
            ("".join(each[:1] for each in syllables).casefold(), "".join(syllables).casefold(), name, entity)
            for syllables, name, entity in spelled
        ]

    def matches(self, text: str) -> dict[str, tuple[int, int, str]]:
        """Return the entities that match, each with its best rank, the length of the name and the name."""
        wanted, best = normal_name(text), dict[str, tuple[int, int, str]]()
        for rank, name, entity in self._found(wanted):
            found = (rank, len(name), name)
            if entity not in best or found < best[entity]:
                best[entity] = found
        return best

    def _found(self, wanted: str) -> Iterator[tuple[int, str, str]]:
        for folded, name, entity in self._names:
            if wanted in folded:
                yield _EXACT if folded == wanted else _BEGINS if folded.startswith(wanted) else _CONTAINS, name, entity
        for folded, code, entity in self._codes if wanted[:1].isascii() else ():
            if folded.startswith(wanted):
                yield _EXACT if wanted in (folded, folded.partition(".")[0]) else _BEGINS, code, entity
        if wanted.isascii() and wanted.isalpha():
            for initials, syllables, name, entity in self._pinyin:
                if initials.startswith(wanted) or syllables.startswith(wanted):
                    yield _BEGINS if initials == wanted else _INITIALS, name, entity


def search(session: QuerySession, index: NameIndex, text: str, *, limit: int) -> list[EntityMatch]:
    """Return the entities that a text may mean: exact first, then beginnings, pinyin and parts of names.

    Where nothing matches, those with similar names. Equal matches are ordered by the number of edges.
    """
    best = index.matches(text) if normal_name(text) else {}
    best |= {entity.id: (_EXACT, 0, text.strip()) for entity in candidates(session, text) if entity.id not in best}
    if not best:
        similar = [(name, entity) for name in near_names(session, text) for entity in session.view.named(name)]
        best = {entity.id: (_CONTAINS, place, name) for place, (name, entity) in reversed(list(enumerate(similar)))}
    nearest = sorted(best, key=lambda entity: (best[entity], entity))[:_RANKED]
    ranked = sorted(
        (best[entity.id][0], -degree_of(session, entity), best[entity.id][1], entity.id, entity)
        for entity in session.view.entities(ids=nearest)
    )
    return [
        EntityMatch(entity.id, entity.kind.value, entity.name, entity.codes, best[entity.id][2], -fewer)
        for _, fewer, _, _, entity in ranked[:limit]
    ]
