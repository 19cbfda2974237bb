"""What every question gives back: plain frozen data that the CLI prints, viz draws and a service serialises."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from kg.query.ask.wire import answer_out
from kg.query.browse.conversions import GraphAnswer
from kg.query.plain import Answer

if TYPE_CHECKING:
    from datetime import date

    from kg.model import Chunk, Community, Entity, Fact
    from kg.query.ask.understand import Understood
    from kg.query.themes.biography import Biography


@dataclass(frozen=True, slots=True)
class Citation:
    """One witness of a fact, ready to show: document with its address, page, day and the exact quote."""

    fact: str
    document: str
    title: str
    publisher: str
    speaker: str
    published_on: date
    page: int | None
    start: int
    end: int
    quote: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class EntityRef:
    """What a list shows of an entity: its first code, and how many edges touch it."""

    id: str
    kind: str
    name: str
    code: str
    degree: int


@dataclass(frozen=True, slots=True)
class Node:
    """An entity in a picture. `layer` orders it: negative is upstream or a cause, 0 the topic; `weak` as in `Link`."""

    entity: Entity
    layer: int = 0
    score: float = 0.0
    direction: int = 0
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """All facts of one relation and sign between two entities; `source` is the facts' subject.

    The first fact speaks for all, and the first citation is one of its. `contested` is set when another live fact
    between the same ends says the opposite; `weak` when its facts are below the cut of their relation.
    """

    source: str
    target: str
    relation: str
    wording: str
    sign: int
    weight: float
    facts: tuple[Fact, ...]
    citations: tuple[Citation, ...]
    contested: bool = False
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A bounded part of the graph; `cut` counts the nodes that were left out as the weakest."""

    nodes: tuple[Node, ...] = ()
    links: tuple[Link, ...] = ()
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Path:
    """A walk of links from first to last node; `sign` is the product of signs, `weight` the weakest link's."""

    nodes: tuple[str, ...]
    links: tuple[Link, ...]
    sign: int
    weight: float


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of a chain (上游 / 中游 / 下游) with its products and industries, and who stands on each.

    `placed` is False for the layer of stages whose position no source states.
    """

    name: str
    stages: tuple[Stage, ...]
    placed: bool = True


@dataclass(frozen=True, slots=True)
class Stage:
    """A product or industry on a chain and the companies on it, strongest first."""

    node: Node
    companies: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class ChainAnswer(GraphAnswer):
    """Upstream, midstream and downstream of a topic."""

    topic: Entity
    layers: tuple[Layer, ...]
    graph: Subgraph


@dataclass(frozen=True, slots=True)
class Exposure:
    """A neighbour on the chain of a factor (`role` maker, upstream, downstream or user) and the links that say so."""

    role: str
    node: Node
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Party:
    """Someone whom the move of a factor touches: `sign` +1 gains, −1 pays; `reason` says why in words.

    `basis` is stated (of this move), mirrored (of the opposite one, turned round) or inferred (from roles). `against`
    are the facts that say the opposite; the latest view leads. `weak` is who only weak facts name.
    """

    entity: Entity
    sign: int
    basis: Literal["stated", "mirrored", "inferred"]
    reason: str
    facts: tuple[Fact, ...]
    citations: tuple[Citation, ...]
    against: tuple[Citation, ...] = ()
    weak: bool = False

    @property
    def contested(self) -> bool:
        """Whether a source says the opposite."""
        return bool(self.against)


@dataclass(frozen=True, slots=True)
class ImpactAnswer(GraphAnswer):
    """Signed paths that leave a factor (`forward`) or lead to an effect, the affected ranked, and counter-evidence."""

    topic: Entity
    direction: int
    forward: bool
    paths: tuple[Path, ...]
    affected: tuple[Node, ...]
    counter: tuple[Link, ...]
    graph: Subgraph
    exposed: tuple[Exposure, ...] = ()
    parties: tuple[Party, ...] = ()


@dataclass(frozen=True, slots=True)
class RelateAnswer(GraphAnswer):
    """The most credible paths between two entities."""

    first: Entity
    second: Entity
    paths: tuple[Path, ...]
    graph: Subgraph


@dataclass(frozen=True, slots=True)
class ProfileAnswer(GraphAnswer):
    """One entity: its links by relation, strongest first, each with its newest fact first, and its neighbourhood."""

    entity: Entity
    links: tuple[Link, ...]
    graph: Subgraph


@dataclass(frozen=True, slots=True)
class Passage(Answer):
    """A chunk that answers a query, with its document's title and day."""

    chunk: Chunk
    title: str
    publisher: str
    published_on: date
    score: float


@dataclass(frozen=True, slots=True)
class ThemeAnswer(GraphAnswer):
    """One community with its members as a picture, the week that shows it, and its life so far."""

    community: Community
    graph: Subgraph
    as_of: date | None = None
    biography: Biography | None = None


@dataclass(frozen=True, slots=True)
class AskAnswer(GraphAnswer):
    """The answer to a question in words.

    `status` is answered, partial (related passages only), not_found or ambiguous (the lines are what a short name may
    mean). `as_of` is the day of the view that answered, `near` are similar names of the base and `covered` the days of
    its documents, both given where nothing was found.
    """

    question: str
    status: str
    understood: Understood
    topic: str
    lines: tuple[AnswerLine, ...]
    passages: tuple[AnswerLine, ...] = ()
    graph: Subgraph = Subgraph()
    as_of: date | None = None
    near: tuple[str, ...] = ()
    covered: tuple[date, date] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the answer in the versioned format of `liantu ask --json`."""
        return answer_out(self)

    def _repr_html_(self) -> str:
        said = "".join(map(_line_html, (*self.lines, *self.passages)))
        # super() does not work here: a dataclass with slots is another class than the one its methods were made in.
        return f"<ul>{said}</ul>{GraphAnswer._repr_html_(self) if self.graph.nodes else ''}"


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """One sentence of an answer and what it rests on: a fact of the graph, or (`source` text) the sentence itself.

    Indented lines belong to the line above.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    indent: int = 0
    source: str = "graph"


ItemKind = Literal["answer", "fact", "theme", "passage"]


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One thing that may be cited by its `id`; `text` states it, `citations` say where it stands.

    `about` is what it is filed under: headings, label of a list.
    `modality` and `polarity` are those of the facts it rests on, where they agree.
    """

    id: str
    kind: ItemKind
    text: str
    citations: tuple[Citation, ...]
    facts: tuple[str, ...]
    modality: str
    polarity: str
    confidence: float
    tokens: int
    about: str = ""


def _line_html(line: AnswerLine) -> str:
    quote = escape(line.citations[0].quote) if line.citations else ""
    return f'<li style="margin-left:{line.indent}em" title="{quote}">{escape(line.text)}</li>'
