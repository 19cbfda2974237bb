"""Pictures of answers as plain data: columns of sections of items, and the links between them.

A picture says what is shown and where; how it is drawn is left to whoever draws it. Titles are keys of the drawer's
catalogue of texts.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from kg.model import Kind, Polarity
from kg.query.answers import Node
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kg.model import Entity
    from kg.query.answers import ChainAnswer, ImpactAnswer, Link, Party, Path, RelateAnswer

Basis = Literal["", "stated", "mirrored", "inferred"]
Place = tuple[int, str]
_SIDES: Final = {-1: "upstream", 0: "midstream", 1: "downstream"}


@dataclass(frozen=True, slots=True)
class PictureItem:
    """An entity in a section.

    Attributes:
        entity: what is shown.
        move: +1 or −1, where it moves when the topic moves; 0 if that is not asked.
        basis: of a move that is not the end of a path: stated, mirrored (of the opposite move) or inferred from roles.
        topic: whether the picture is about it.
        inset: whether it belongs to the first item of its section, as companies to a stage.
        weak: whether only weak facts put it here.
    """

    entity: Entity
    move: int = 0
    basis: Basis = ""
    topic: bool = False
    inset: bool = False
    weak: bool = False


@dataclass(frozen=True, slots=True)
class PictureSection:
    """Items under a title, which may be empty."""

    id: str
    title: str
    items: tuple[PictureItem, ...]


@dataclass(frozen=True, slots=True)
class PictureColumn:
    """A column of sections; `step` counts the steps from the topic, which is in column 0."""

    step: int
    title: str
    sections: tuple[PictureSection, ...]


@dataclass(frozen=True, slots=True)
class PicturePath:
    """A walk through the picture: ids of its nodes, its links as numbers, the product of signs, the weakest weight."""

    nodes: tuple[str, ...]
    links: tuple[int, ...]
    sign: int
    weight: float


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn of an answer.

    Attributes:
        kind: the question that it answers.
        topics: ids of what it is about.
        columns: from left to right.
        links: between items; those between a stage and its companies included.
        paths: the most credible first, if the question asks for paths.
        left: how many nodes the answer left out as the weakest.
    """

    kind: str
    topics: tuple[str, ...]
    columns: tuple[PictureColumn, ...]
    links: tuple[Link, ...]
    paths: tuple[PicturePath, ...] = ()
    left: int = 0


def places_of(relation: str) -> tuple[Place, Place]:
    """Return column and section of the other end in a picture of an entity: if it is the subject, and the object."""
    known = vocabulary().relations.get(relation)
    sections = known.sections if known else {}
    return sections.get("subject", (0, "others")), sections.get("object", (0, "others"))


def chain_picture(answer: ChainAnswer) -> Picture:
    """Return stages from left to right, each with its companies; stages without a stated position come last."""
    columns: dict[int, list[PictureSection]] = defaultdict(list)
    steps = [stage.node.layer for layer in answer.layers if layer.placed for stage in layer.stages]
    unplaced = max(steps, default=0) + 1
    for layer in answer.layers:
        for stage in layer.stages:
            node = stage.node
            own = PictureItem(node.entity, topic=node.entity.id == answer.topic.id)
            companies = (PictureItem(each.entity, inset=True, weak=each.weak) for each in stage.companies)
            section = PictureSection(f"stage:{node.entity.id}", "", (own, *companies))
            columns[node.layer if layer.placed else unplaced].append(section)
    titled = [
        PictureColumn(step, "unplaced" if step == unplaced else _SIDES[(step > 0) - (step < 0)], tuple(columns[step]))
        for step in sorted(columns)
    ]
    picture = Picture("chain", (answer.topic.id,), tuple(titled), answer.graph.links, left=answer.graph.cut)
    return _drawn(picture)


def factor_picture(causes: ImpactAnswer, effects: ImpactAnswer) -> Picture:
    """Return what moves a factor on the left, what it moves on the right, and who gains or pays."""
    parties = {party.entity.id: party for party in effects.parties}
    nodes: dict[str, Node] = {}
    for node in (*effects.graph.nodes, *causes.graph.nodes):
        known = nodes.get(node.entity.id)
        if known is None or (known.layer and not node.layer):
            nodes[node.entity.id] = node
    nodes.setdefault(effects.topic.id, Node(effects.topic))
    by_step: dict[int, list[Node]] = defaultdict(list)
    for node in sorted(nodes.values(), key=lambda node: (-node.score, node.entity.id)):
        by_step[0 if node.entity.id == effects.topic.id else node.layer].append(node)
    columns = tuple(
        PictureColumn(step, "", tuple(_causal_sections(step, by_step[step], parties, effects)))
        for step in sorted(by_step)
    )
    links = {_key(link): link for link in (*effects.graph.links, *causes.graph.links)}
    left = causes.graph.cut + effects.graph.cut
    picture = Picture("factor", (effects.topic.id,), columns, tuple(links.values()), left=left)
    return _drawn(picture, (*causes.paths, *effects.paths))


def relate_picture(answer: RelateAnswer) -> Picture:
    """Return the paths between two entities from left to right; a node has its place on the longest path."""
    last = max((len(path.nodes) - 1 for path in answer.paths), default=1)
    steps: dict[str, int] = {}
    for path in answer.paths:
        for step, node in enumerate(path.nodes):
            steps[node] = max(step, steps.get(node, 0))
    steps |= {answer.first.id: 0, answer.second.id: last}
    entities = {node.entity.id: node.entity for node in answer.graph.nodes}
    entities |= {end.id: end for end in (answer.first, answer.second)}
    by_step: dict[int, list[PictureItem]] = defaultdict(list)
    for node, step in steps.items():
        if node in entities:
            by_step[step].append(PictureItem(entities[node], topic=node in (answer.first.id, answer.second.id)))
    columns = tuple(
        PictureColumn(step, "", (PictureSection(f"step:{step}", "", tuple(by_step[step])),)) for step in sorted(by_step)
    )
    picture = Picture("path", (answer.first.id, answer.second.id), columns, answer.graph.links, left=answer.graph.cut)
    return _drawn(picture, answer.paths)


def _causal_sections(
    step: int, nodes: Sequence[Node], parties: Mapping[str, Party], effects: ImpactAnswer
) -> Iterator[PictureSection]:
    """Yield the sections of a step: on the right those who gain and pay are apart from what moves."""
    moved: list[PictureItem] = []
    gaining: list[PictureItem] = []
    paying: list[PictureItem] = []
    for node in nodes:
        party, is_topic = parties.get(node.entity.id), node.entity.id == effects.topic.id
        move = node.direction
        if not step:  # the topic, its other names, and the thing that it is a measure of
            alike = effects.direction if is_topic or node.entity.kind is Kind.INDICATOR else 0
            move = move or alike or (party.sign if party else 0)
        basis: Basis = party.basis if party and move and not is_topic else ""
        item = PictureItem(node.entity, move, basis, topic=is_topic)
        group = moved if party is None or step <= 0 else gaining if party.sign > 0 else paying
        group.append(item)
    titles = {-1: "causes", 0: "", 1: "effects"}
    title = titles[step] if abs(step) <= 1 else ""
    for name, items in ((title, moved), ("gains", gaining), ("losses", paying)):
        if items:
            yield PictureSection(f"{step}:{name}", name, tuple(items))


def _key(link: Link) -> tuple[str, str, str, int, bool]:
    denied = link.facts[0].polarity is Polarity.NEGATIVE
    return link.source, link.relation, link.target, link.sign, denied


def _drawn(picture: Picture, paths: Iterable[Path] = ()) -> Picture:
    """Return a picture without the links to what is not in it, with the paths whose links are all drawn."""
    shown = {item.entity.id for column in picture.columns for section in column.sections for item in section.items}
    links = tuple(link for link in picture.links if {link.source, link.target} <= shown)
    numbers = {_key(link): number for number, link in enumerate(links)}
    walked = [(path, [numbers.get(_key(link)) for link in path.links]) for path in paths]
    kept = tuple(
        PicturePath(path.nodes, tuple(number for number in found if number is not None), path.sign, path.weight)
        for path, found in walked
        if None not in found
    )
    return replace(picture, links=links, paths=kept)
