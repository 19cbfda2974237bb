"""A question in words gets a composed answer with citations; which door it came through is always said.

Doors: graph → passages by words → nothing. What the graph does not know is looked for in the text; what neither knows
is said plainly.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from kg.errors import QuestionError
from kg.query.answers import AnswerLine, AskAnswer, Node, Subgraph
from kg.query.chain import chain
from kg.query.history import history
from kg.query.impact import causes, impact
from kg.query.passages import citation_of, passages
from kg.query.profile import profile_of
from kg.query.relate import relate
from kg.query.route import Aspect, Route, route
from kg.query.session import QuerySession, subgraph
from kg.query.themes.listing import themes
from kg.query.wording import ROLES, claim_text, direction_text, distinct, path_citations, path_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kg.model import Entity
    from kg.query.answers import Citation, ImpactAnswer, Link
    from kg.store.port import View

_PASSAGES = 5
_PATHS = 6
_AFFECTED = 12
_STAGES = 8
_FACTS = 14
_THEMES = 10
NOTHING = "未找到相关信息"

_Composed: TypeAlias = tuple[list[AnswerLine], Subgraph]


def ask(view: View | QuerySession, question: str) -> AskAnswer:
    """Answer a question in words; every line that claims something cites its evidence."""
    session = view if isinstance(view, QuerySession) else QuerySession(view)
    chosen = route(session, question)
    lines, graph = _composed(session, chosen)
    topic = "、".join(entity.name for entity in chosen.entities[:3])
    if any(line.citations for line in lines):
        support = _history_passages(session, question) if chosen.name == "history" else []
        return AskAnswer(question, chosen.name, "graph", topic, tuple(lines + support), graph)
    found = passages(session.view, question, limit=_PASSAGES)
    if found:
        quoted = [
            AnswerLine(f"{p.title}（{p.publisher or '来源不详'}，{p.published_on}）", (citation_of(p),)) for p in found
        ]
        head = AnswerLine("图谱中没有直接答案，以下是原文中最相关的段落：")
        return AskAnswer(question, chosen.name, "words", topic, (head, *quoted), Subgraph())
    return AskAnswer(question, chosen.name, "nothing", topic, (AnswerLine(NOTHING),), Subgraph())


def _composed(session: QuerySession, chosen: Route) -> _Composed:
    try:
        return _COMPOSERS[chosen.name](session, chosen)
    except QuestionError:  # the graph has no such name or run: the next door is the text
        return [], Subgraph()


def _chain(session: QuerySession, chosen: Route) -> _Composed:
    answer = chain(session, chosen.entities[0].name)
    links = answer.graph.links
    lines = [AnswerLine(f"{answer.topic.name}产业链：")]
    for layer in answer.layers:
        lines.append(AnswerLine(f"{layer.name}："))
        for stage in layer.stages[:_STAGES]:
            cited = [link for link in links if stage.node.entity.id in (link.source, link.target)]
            names = "、".join(_with_code(node) for node in stage.companies)
            text = f"{stage.node.entity.name}：{names}" if names else stage.node.entity.name
            lines.append(AnswerLine(text, _first_citations(cited), 1))
    return lines, answer.graph


def _impact(session: QuerySession, chosen: Route) -> _Composed:
    return _moved(session, _asked_first(chosen, impact(session, chosen.entities[0].name, chosen.direction)))


def _causes(session: QuerySession, chosen: Route) -> _Composed:
    return _moved(session, _asked_first(chosen, causes(session, chosen.entities[0].name, chosen.direction)))


def _asked_first(chosen: Route, answer: ImpactAnswer) -> ImpactAnswer:
    """Put first what touches the other names of the question: 「锂价下跌对宁德时代的影响」 is about 宁德时代 too."""
    asked = {entity.id for entity in chosen.entities[1:]}
    asked |= {node.entity.id for node in answer.graph.nodes if node.entity.about in asked}
    paths = sorted(answer.paths, key=lambda path: asked.isdisjoint(path.nodes))
    affected = sorted(answer.affected, key=lambda node: node.entity.id not in asked)
    return replace(answer, paths=tuple(paths), affected=tuple(affected))


def _moved(session: QuerySession, answer: ImpactAnswer) -> _Composed:
    name = f"{answer.topic.name}{direction_text(answer.direction, answer.topic.kind)}"
    lines = [AnswerLine(f"{name}的影响：" if answer.forward else f"{name}的原因：")]
    for path in answer.paths[:_PATHS]:
        first = answer.direction if answer.forward else answer.direction * path.sign
        lines.append(AnswerLine(path_text(session, path, first), path_citations(path, first), 1))
    if answer.affected:
        lines.append(AnswerLine("可能受影响的行业与公司：" if answer.forward else "涉及的行业与公司："))
        lines += [
            AnswerLine(_moved_node(node), _node_citations(node, answer), 1) for node in answer.affected[:_AFFECTED]
        ]
    for role, named in ROLES.items():
        group = [exposure for exposure in answer.exposed if exposure.role == role]
        if group and answer.paths:
            names = "、".join(_with_code(exposure.node) for exposure in group)
            cited = distinct(c for exposure in group[:2] for link in exposure.links[:1] for c in link.citations[:1])
            lines.append(AnswerLine(f"{named}（按产业链关系，非因果陈述）：{names}", cited))
    if answer.counter:
        lines.append(AnswerLine("也有相反的说法："))
        lines += [
            AnswerLine(claim_text(session, link.facts[0]), link.citations[:2], 1) for link in answer.counter[:_PATHS]
        ]
    return lines, answer.graph


def _moved_node(node: Node) -> str:
    return f"{_with_code(node)}：{ {1: '受益', -1: '受损', 0: '方向不一'}[node.direction] }"


def _node_citations(node: Node, answer: ImpactAnswer) -> tuple[Citation, ...]:
    """Return what a ranked name rests on: the causal links that reach it or what is about it, else how it is tied."""
    near = {node.entity.id} | {other.entity.id for other in answer.graph.nodes if other.entity.about == node.entity.id}
    causal = [link for link in answer.graph.links if link.relation == "affects" and link.target in near]
    tied = [link for link in answer.graph.links if link.relation != "affects" and link.source == node.entity.id]
    return _first_citations(causal or tied)


def _relate(session: QuerySession, chosen: Route) -> _Composed:
    answer = relate(session, chosen.entities[0].name, chosen.entities[1].name)
    lines = [AnswerLine(f"{answer.first.name}与{answer.second.name}的联系：")]
    for path in answer.paths[:_PATHS]:
        text = "；".join(claim_text(session, link.facts[0]) for link in path.links)
        lines.append(AnswerLine(text, distinct(c for link in path.links for c in link.citations[:1]), 1))
    return lines, answer.graph


def _history(session: QuerySession, chosen: Route) -> _Composed:
    first, second, episodes = history(session, chosen.entities[0].name, chosen.entities[1].name)
    if not episodes:
        second, first = first, second
        first, second, episodes = history(session, first.name, second.name)
    lines = [AnswerLine(f"{first.name}与{second.name}，按时期：")]
    links: list[Link] = []
    for episode in episodes:
        lines.append(AnswerLine(f"{episode.label}："))
        for link in episode.links[:_PATHS]:
            lines.append(AnswerLine(claim_text(session, link.facts[0]), link.citations[:2], 1))
            links.append(link)
    nodes = {end: None for link in links for end in (link.source, link.target)}
    known = [entity for end in nodes if (entity := session.view.entity(end))]
    return lines, subgraph([_plain(entity) for entity in known], links)


def _history_passages(session: QuerySession, question: str) -> list[AnswerLine]:
    found = passages(session.view, question, limit=_PASSAGES)
    head = [AnswerLine("相关原文：")] if found else []
    return head + [
        AnswerLine(f"{p.title}（{p.publisher or '来源不详'}，{p.published_on}）", (citation_of(p),), 1) for p in found
    ]


def _profile(session: QuerySession, chosen: Route) -> _Composed:
    answer = profile_of(session, chosen.entities[0])
    lines = [AnswerLine(f"{_with_code(_plain(answer.entity))}：")]
    wanted = [link for link in answer.links if chosen.aspect is None or _shows(link, chosen.aspect, answer.entity)]
    ranked = sorted(
        wanted,
        key=lambda link: (session.words[link.relation].family == "measured", -link.weight, link.source, link.target),
    )
    lines += [AnswerLine(claim_text(session, link.facts[0]), link.citations[:2], 1) for link in ranked[:_FACTS]]
    return lines, answer.graph


def _shows(link: Link, aspect: Aspect, entity: Entity) -> bool:
    """Whether a link is what a question such as 「供应商有哪些」 asks for."""
    return link.relation == aspect.relation and (link.source if aspect.subject else link.target) == entity.id


def _themes(session: QuerySession, _: Route) -> _Composed:
    lines = [AnswerLine("当前主题：")]
    for community in themes(session.view)[:_THEMES]:
        summary = community.summary
        if summary:
            facts = list(session.view.facts(ids={fact for line in summary.lines for fact in line.facts[:1]}))
            lines.append(
                AnswerLine(f"{summary.title}（{len(community.members)} 个实体）", tuple(session.citations(facts, 2)), 1)
            )
    return lines, Subgraph()


def _nothing(_: QuerySession, __: Route) -> _Composed:
    return [], Subgraph()


def _with_code(node: Node) -> str:
    codes = node.entity.codes
    return f"{node.entity.name}（{codes[0]}）" if codes else node.entity.name


def _plain(entity: Entity) -> Node:
    return Node(entity, 0, 1.0)


def _first_citations(links: Sequence[Link]) -> tuple[Citation, ...]:
    """Return the two first sentences, the newest of each link, the strongest link's first."""
    ranked = sorted(links, key=lambda link: (-link.weight, link.source, link.target))
    return distinct(link.citations[0] for link in ranked if link.citations)[:2]


_COMPOSERS: dict[str, Callable[[QuerySession, Route], _Composed]] = {
    "chain": _chain,
    "impact": _impact,
    "causes": _causes,
    "relate": _relate,
    "history": _history,
    "profile": _profile,
    "themes": _themes,
    "passages": _nothing,
}
