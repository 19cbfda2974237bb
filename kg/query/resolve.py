"""A name in a question becomes an entity of the view, or an error that names what is near."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process

from kg.errors import UnknownName
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg.model import Entity
    from kg.query.lens import Lens

_ENDINGS = ("产业链", "产业", "行业", "板块", "概念", "公司", "市场", "上市公司", "领域", "赛道")
_NEAR = 5
_NEAR_SCORE = 60
_LONGEST_NAME, _SHORTEST_NAME = 16, 2


def candidates(lens: Lens, text: str) -> list[Entity]:
    """Return the entities that bear the name, most connected first; an ending such as 产业链 may be left off."""
    name = text.strip()
    for spelling in (
        name,
        *(name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending) and name != ending),
    ):
        found = lens.view.named(spelling)
        if found:
            return sorted(found, key=lambda entity: (-_degree(lens, entity), entity.id))
    return []


def resolve(lens: Lens, text: str, *, kinds: Sequence[Kind] = ()) -> Entity:
    """Return the one entity meant, preferring `kinds` in their order.

    Raises:
        UnknownName: with the nearest names of the view.
    """
    found = candidates(lens, text)
    for kind in kinds:
        for entity in found:
            if entity.kind == kind:
                return entity
    if found:
        return found[0]
    raise UnknownName(text, near_names(lens, text))


def near_names(lens: Lens, text: str) -> list[str]:
    """Return up to five names of the view that look like `text`."""
    names = sorted({name for name, _ in lens.view.names()})
    return [
        name for name, _, _ in process.extract(text, names, scorer=fuzz.ratio, limit=_NEAR, score_cutoff=_NEAR_SCORE)
    ]


def names_in(lens: Lens, question: str) -> list[Entity]:
    """Return the entities named in a question, longest names first taken, in order of place."""
    taken: list[tuple[int, int, Entity]] = []
    for size in range(min(_LONGEST_NAME, len(question)), _SHORTEST_NAME - 1, -1):
        for start in range(len(question) - size + 1):
            end = start + size
            if any(start < stop and begin < end for begin, stop, _ in taken):
                continue
            found = lens.view.named(question[start:end])
            if found:
                best = min(found, key=lambda entity: (-_degree(lens, entity), entity.id))
                taken.append((start, end, best))
    return [entity for _, _, entity in sorted(taken, key=lambda item: item[0])]


def _degree(lens: Lens, entity: Entity) -> int:
    index = lens.index(entity.id)
    return 0 if index is None else lens.snapshot.degree(index)
