"""Pictures for the explorer, as JSON: what a question about entities answers, ready to draw."""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from kg.errors import UnknownName
from kg.model import Kind, Polarity
from kg.query.questions.registry import question
from kg.query.themes.biography import title_of
from kg.query.themes.listing import theme
from viz.exhibit.packing import short_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kg.query.answers import Link
    from kg.query.pictures import Picture
    from kg.query.session import QuerySession

VERSION: Final = 1
DEPTH: Final = 2


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer that an exhibit opens at.

    Attributes:
        view: the view of the explorer, `home` for none in particular.
        title: what the page is called.
        ids: what the answer is about.
        members: the entities that it shows; the facts between them belong to it.
        facts: the ids of further facts that it cites.
        pictures: its pictures by key (`picture_key`).
        query: further parameters of the address, such as `fall=1`.
    """

    view: str
    title: str = ""
    ids: tuple[str, ...] = ()
    members: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    query: str = ""

    @property
    def address(self) -> str:
        """The address of the answer within the pages."""
        path = "" if self.view == "home" else "/".join([self.view, *(quote(each, safe="") for each in self.ids)])
        return f"#/{path}" + (f"?{self.query}" if self.query else "")


def picture_key(view: str, ids: Sequence[str], direction: int = 1) -> str:
    """Return the key of a packed picture."""
    return " ".join([view, *ids, *(["down"] if direction < 0 else [])])


def shown_in(pictures: Mapping[str, Picture], view: str, *, query: str = "") -> Shown:
    """Return the answer that some pictures of one view are of; the first is the one that is opened."""
    members = {
        item.entity.id: item.entity.name
        for picture in pictures.values()
        for column in picture.columns
        for section in column.sections
        for item in section.items
    }
    facts = {fact.id for picture in pictures.values() for link in picture.links for fact in link.facts}
    first = next(iter(pictures.values()))
    title = " ↔ ".join(members.get(topic, topic) for topic in first.topics)
    return Shown(view, title, first.topics, frozenset(members), frozenset(facts), pictures, query)


def factor_shown(session: QuerySession, name: str, direction: int) -> Shown:
    """Return the answer to what moves a factor and what it moves, with that of the opposite move beside it.

    Raises:
        UnknownName: when the name is unknown in the view.
    """
    pictures = {}
    for sign in (direction, -direction):
        picture: Picture = question("impact").asked(name, direction=sign).picture(session)
        pictures[picture_key("factor", picture.topics, sign)] = picture
    return shown_in(pictures, "factor", query="fall=1" if next(iter(pictures)).endswith(" down") else "")


def theme_shown(session: QuerySession, theme_id: str) -> Shown:
    """Return a theme: summary, life, members and the links between them.

    Raises:
        QuestionError: when there is no such theme.
    """
    answer = theme(session, theme_id)
    community, life = answer.community, answer.biography
    lines = (*(community.summary.lines if community.summary else ()), *community.changes)
    cited = [*(line.facts for line in lines), *(each.facts for each in (life.episodes if life else ()))]
    facts = frozenset(fact for each in cited for fact in each)
    return Shown("theme", title_of(community), (community.id,), frozenset(community.members), facts)


def view_shown(
    session: QuerySession, view: str, ids: Sequence[str], *, depth: int = DEPTH, direction: int = 1, query: str = ""
) -> Shown:
    """Return what a view of the explorer shows, for a file of its own.

    Raises:
        QuestionError: when there is no such theme.
    """
    if view == "theme":
        return replace(theme_shown(session, ids[0]), query=query)
    if view == "common":
        parts = [view_shown(session, _view_of(session, each), [each], depth=depth) for each in ids]
        title, pictures = " ↔ ".join(each.title for each in parts), ChainMap(*(dict(each.pictures) for each in parts))
        members = frozenset[str]().union(*(each.members for each in parts))
        facts = frozenset[str]().union(*(each.facts for each in parts))
        return Shown(view, title, tuple(ids), members, facts, pictures, query)
    title = " ↔ ".join(session.name(each) for each in ids)
    found: dict[str, Picture] = {}
    for sign in (direction, -direction) if view == "factor" else (1,) if view in ("chain", "path") else ():
        picture = picture_of(session, view, ids, depth=depth, direction=sign)
        found |= {picture_key(view, ids, sign): picture} if picture else {}
    shown = shown_in(found, view) if found else Shown(view)
    return replace(shown, title=title, ids=tuple(ids), query=query)


def _view_of(session: QuerySession, identity: str) -> str:
    """Return the view that shows all members of a theme, a chain or the links of a company."""
    entity = session.view.entity(identity)
    if entity is None:
        return "theme"
    return "chain" if entity.kind in (Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME) else "company"


def picture_of(
    session: QuerySession, view: str, ids: Sequence[str], *, depth: int = DEPTH, direction: int = 1
) -> Picture | None:
    """Return the picture of a view of the explorer, None if the view of the day does not know the ids.

    Args:
        session: what is asked.
        view: chain, factor or path.
        ids: what it is about; two for a path.
        depth: steps each way, of a chain.
        direction: +1 or −1, how a factor moves.
    """
    key, options = {
        "chain": ("chain", {"depth": depth}),
        "factor": ("impact", {"direction": direction}),
        "path": ("relate", {}),
    }[view]
    try:
        return question(key).asked(*ids[: 2 if view == "path" else 1], **options).picture(session)
    except UnknownName:
        return None


def wire(picture: Picture) -> dict[str, Any]:
    """Return a picture as JSON; nodes are numbers of a list of ids, so that it is short."""
    nodes = [item.entity.id for column in picture.columns for section in column.sections for item in section.items]
    ids = list(dict.fromkeys(nodes))
    place = {identity: number for number, identity in enumerate(ids)}
    columns = [
        [
            column.step,
            column.title,
            [
                [
                    section.id,
                    section.title,
                    [
                        [place[item.entity.id], item.move, item.basis, int(item.topic), int(item.inset), int(item.weak)]
                        for item in section.items
                    ],
                ]
                for section in column.sections
            ],
        ]
        for column in picture.columns
    ]
    return {
        "v": VERSION,
        "kind": picture.kind,
        "topics": list(picture.topics),
        "ids": ids,
        "columns": columns,
        "links": [_link(link, place) for link in picture.links],
        "paths": [
            [[place[node] for node in path.nodes], list(path.links), path.sign, path.weight] for path in picture.paths
        ],
        "left": picture.left,
    }


def _link(link: Link, place: dict[str, int]) -> list[Any]:
    denied = link.facts[0].polarity is Polarity.NEGATIVE
    facts = [short_id(fact.id) for fact in link.facts]
    ends = [place[link.source], link.relation, place[link.target], link.sign]
    return [*ends, int(denied), link.weight, facts, int(link.weak)]
