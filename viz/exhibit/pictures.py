"""Pictures for the explorer, as JSON: what a question about entities answers, ready to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kg.errors import UnknownName
from kg.model import Polarity
from kg.query.pictures import Picture, chain_picture, factor_picture, relate_picture
from kg.query.walks.chain import chain
from kg.query.walks.impact import causes, impact
from kg.query.walks.relate import relate
from viz.exhibit.packing import short_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kg.query.answers import Link
    from kg.query.session import QuerySession

VERSION: Final = 1
HOPS: Final = 3
DEPTH: Final = 2


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
    asked: dict[str, Callable[[], Picture]] = {
        "chain": lambda: chain_picture(chain(session, ids[0], depth=depth)),
        "factor": lambda: factor_picture(
            causes(session, ids[0], direction, hops=HOPS), impact(session, ids[0], direction, hops=HOPS)
        ),
        "path": lambda: relate_picture(relate(session, ids[0], ids[1])),
    }
    try:
        return asked[view]()
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
                        [place[item.entity.id], item.move, item.basis, int(item.topic), int(item.inset)]
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
    return [place[link.source], link.relation, place[link.target], link.sign, int(denied), link.weight, facts]
