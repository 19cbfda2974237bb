"""The communities of the newest run that a view may see."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kg.errors import QuestionError
from kg.query.answers import Node, ThemeAnswer
from kg.query.biography import biography
from kg.query.lens import Lens, subgraph

if TYPE_CHECKING:
    from kg.model import Community
    from kg.store.port import View

_STEPS_EACH = 12


class NoRun(QuestionError):
    """Themes were asked for before any weekly run."""

    def __init__(self) -> None:
        super().__init__("还没有主题：请先运行 `liantu weekly`")


class UnknownTheme(QuestionError):
    """A theme id that the run does not hold."""

    def __init__(self, theme_id: str) -> None:
        super().__init__(f"没有主题 {theme_id}；`liantu themes` 列出全部")


def themes(view: View, *, level: int = 0) -> tuple[Community, ...]:
    """Return the communities of one level, largest first.

    Raises:
        NoRun: before the first weekly run.
    """
    run = view.run()
    if run is None:
        raise NoRun
    return tuple(sorted((c for c in run.communities if c.level == level), key=lambda c: (-len(c.members), c.id)))


def theme(view: View | Lens, theme_id: str) -> ThemeAnswer:
    """Return one community with the links among its members and its life; a unique beginning of the id will do.

    Raises:
        NoRun: before the first weekly run.
        UnknownTheme: when no community, or more than one, has this id.
    """
    lens = view if isinstance(view, Lens) else Lens(view)
    run = lens.view.run()
    if run is None:
        raise NoRun
    wanted = theme_id if theme_id.startswith("theme:") else f"theme:{theme_id}"
    found = [community for community in run.communities if community.id.startswith(wanted)]
    if len(found) != 1:
        raise UnknownTheme(theme_id)
    told = biography(lens, found[0].id)
    return replace(theme_of(lens, found[0]), as_of=run.as_of, biography=told)


def theme_of(lens: Lens, community: Community) -> ThemeAnswer:
    """Return the picture of a community that is known already."""
    rows = {index for member in community.members if (index := lens.index(member)) is not None}
    relations = lens.words.of_family("structure", "chain", "causal")
    steps = [step for step in lens.expand(sorted(rows), relations, "out", limit=_STEPS_EACH) if step.target in rows]
    strength = dict.fromkeys(rows, 0.0)
    for step in steps:
        strength[step.source] += step.weight
        strength[step.target] += step.weight
    lens.meet(rows)
    # A member that only numbers hold has no line to stand on; the summary tells of it.
    nodes = [Node(lens.entity(index), 0, round(strength[index], 4)) for index in sorted(rows) if strength[index]]
    return ThemeAnswer(community, subgraph(nodes, lens.links(steps)))
