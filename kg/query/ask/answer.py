"""Answer a question in words: facts of the graph, then sentences of the documents, or an honest "not found".

An answer is `answered` only where a fact or a sentence meets what was asked; related passages make it `partial`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, TypeAlias

from kg.errors import QuestionError
from kg.messages.words import listed, word
from kg.model import Kind, Polarity
from kg.query.answers import AnswerLine, AskAnswer, Citation, Node, Subgraph
from kg.query.ask.answer_model import AnswerModel, SentenceInContext
from kg.query.ask.evidence import Retriever, label_of, passage
from kg.query.ask.figures import figure_lines
from kg.query.ask.lexicon import lexicon
from kg.query.ask.themes import theme_lines
from kg.query.ask.understand import understand
from kg.query.browse.profile import profile_of
from kg.query.chain import chain
from kg.query.filings.pages import is_about_filings
from kg.query.filings.values.lines import filing_lines
from kg.query.history import history
from kg.query.impact import causes, impact
from kg.query.relate import relate
from kg.query.resolve import near_names
from kg.query.session import QuerySession, spoken, subgraph
from kg.query.wording import (
    ROLES,
    behind,
    claim_text,
    coded,
    direction_text,
    distinct,
    flow,
    party_text,
    path_citations,
    path_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kg.messages.words import Lang
    from kg.model import Entity, Fact
    from kg.query.answers import ImpactAnswer, Link, Party
    from kg.query.ask.evidence import ScoredSentence
    from kg.query.ask.understand import Understood
    from kg.store.port import View

_PATHS, _AFFECTED, _STAGES, _FACTS, _MEMBERS = 6, 12, 8, 14, 40
_LISTS = frozenset({"supplies", "competes_with", "holds_stake_in", "subsidiary_of"})
_SHORT = 2  # links of a path that answers how two things are related
_SHOWN, _SHOWN_OF_A_LIST, _SHOWN_BESIDE = 3, 7, 2
_ANSWERS, _RELATED = 0.39, 0.17  # probability of an answer, and of a sentence shown beside it or as related
_WORDED = frozenset({"views", "causes", "impact", "path", "definition", "rank"})  # no figure alone answers these
_WIDE = frozenset({"path", "views", "causes", "impact", "chain", "themes", "compare", "rank", "history"})

_Composed: TypeAlias = tuple[list[AnswerLine], Subgraph]
_NONE: _Composed = ([], Subgraph())


def ask(view: View | QuerySession, question: str) -> AskAnswer:
    """Answer a question; every line that claims something cites its evidence.

    A day set by the question (截至2025年8月) hides what was published later.
    """
    session = view if isinstance(view, QuerySession) else QuerySession(view)
    asked = understand(session, question, _today(session))
    if is_about_filings(session, question):
        status, lines, passages = filing_lines(session, question)
        return _answer(session, asked, status, lines, passages=passages)
    seen = session.view.as_of
    if asked.as_of and (seen is None or asked.as_of < seen):
        session = session.earlier(asked.as_of)
        asked = replace(understand(session, question, asked.as_of), as_of=asked.as_of)
    if asked.choices:
        return _answer(session, asked, "ambiguous", [AnswerLine(coded(each, session.lang)) for each in asked.choices])
    found = Retriever(session, asked).find()
    composed, graph = _composed(session, asked)
    lines = [line for line in composed if line.citations or not line.indent]
    dated = [sentence for sentence in found if sentence.dated]
    answering = bool(dated) and dated[0].probability >= _ANSWERS
    quoted = _quoted(asked, [each for each in dated if each.probability >= _RELATED]) if answering else []
    if any(line.citations for line in lines):
        return _answer(
            session, asked, "answered", [*lines, *quoted[: max(_SHOWN_BESIDE, _SHOWN - len(lines))]], graph=graph
        )
    if quoted:
        return _answer(session, asked, "answered", _by_side(session, quoted) if asked.operation == "views" else quoted)
    related = _quoted(asked, [each for each in found if each.probability >= _RELATED])
    return _answer(session, asked, "partial" if related else "not_found", [], passages=related)


def _answer(
    session: QuerySession,
    asked: Understood,
    status: str,
    lines: Sequence[AnswerLine],
    *,
    graph: Subgraph | None = None,
    passages: Sequence[AnswerLine] = (),
) -> AskAnswer:
    days = [head.published_on for head in session.view.documents()] if status == "not_found" else []
    near = near_names(session, "".join(term.word for term in asked.terms if term.name) or asked.question)
    return AskAnswer(
        question=asked.question,
        status=status,
        understood=asked,
        topic="、".join(entity.name for entity in asked.entities[:3]),
        lines=tuple(lines),
        passages=tuple(passages),
        graph=graph or Subgraph(),
        as_of=session.view.as_of,
        near=tuple(near) if status == "not_found" else (),
        covered=(min(days), max(days)) if days else None,
    )


def _today(session: QuerySession) -> date:
    """Return the day that relative dates count from: the view's, else the newest document's."""
    return session.view.as_of or max((head.published_on for head in session.view.documents()), default=date.min)


# ── sentences ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _quoted(asked: Understood, found: Sequence[ScoredSentence]) -> list[AnswerLine]:
    wide = asked.wants_list or asked.operation in _WIDE
    out: list[AnswerLine] = []
    shown: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for sentence in found:
        start, end, text = passage(sentence, wide=wide)
        place = sentence.document.id, sentence.chunk.id
        if any(start < until and since < end for since, until in shown.get(place, ())):
            continue
        shown.setdefault(place, []).append((start, end))
        label = label_of(sentence)
        body = sentence.text if (start, end) == (sentence.start, sentence.end) else text  # a row with its heads
        said = f"{label}：{body}" if label and label not in body else body
        out.append(AnswerLine(said, (sentence.citation(start, end, text),), 1, source="text"))
        if len(out) == (_SHOWN_OF_A_LIST if wide else _SHOWN):
            break
    return out


def _by_side(session: QuerySession, lines: Sequence[AnswerLine]) -> list[AnswerLine]:
    """Group sentences by the side they take, newest first; who says it and when is in the citation."""
    groups: dict[str, list[AnswerLine]] = {side: [] for side in ("看多", "看空", "中性")}
    for line in sorted(lines, key=lambda each: each.citations[0].published_on, reverse=True):
        left, counts = line.text, {}
        for side, words in lexicon().sides.items():
            left, counts[side] = words.subn("，", left)
        sides = sorted(counts, key=lambda side: -counts[side])
        groups["中性" if counts[sides[0]] == counts[sides[1]] else sides[0]].append(line)
    heads = {side: AnswerLine(word(f"ask.side.{side}", session.lang)) for side in groups}
    return [row for side, group in groups.items() if group for row in (heads[side], *group)]


# ── the graph ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _composed(session: QuerySession, asked: Understood) -> _Composed:
    """Answer from the graph by the operation; a question whose aspect is not understood gets nothing from it."""
    try:
        if asked.operation in _COMPOSERS:
            composed = _COMPOSERS[asked.operation](session, asked)
            if composed[0] or asked.aspect is None:
                return composed
        if asked.wants_value and asked.operation not in _WORDED and (lines := figure_lines(session, asked)):
            return lines, Subgraph()
        if asked.aspect and asked.entities:
            return _lookup(session, asked)
    except QuestionError:  # the graph has no such name or run
        return _NONE
    return _NONE


def _lookup(session: QuerySession, asked: Understood) -> _Composed:
    """Return the facts of the asked relation at the asked end, those that speak of all the question's words first."""
    aspect = asked.aspect
    assert aspect is not None
    topic = asked.entities[0]
    if aspect.relation == "supplies" and topic.kind is Kind.PRODUCT:
        return _traded(session, topic)
    profile = profile_of(session, topic)
    others = [term for term in asked.terms if term.entity != topic.id and not aspect.asks.search(term.word)]
    wanted = []
    relations = {aspect.relation, *aspect.also}
    kinds = {node.entity.id: node.entity.kind for node in profile.graph.nodes}
    for link in profile.links:
        at_end = (link.source if aspect.subject else link.target) == topic.id
        if link.relation not in relations or not at_end or link.facts[0].polarity.value == "negative":
            continue
        if aspect.companies and kinds.get(link.target if aspect.subject else link.source) != Kind.COMPANY:
            continue
        goods = (fact.qualifier("product") or "" for fact in link.facts)
        ends = session.name(link.source), session.name(link.target)
        said = "".join((*(item.quote for item in link.citations), *ends, *goods))
        met = sum(any(word in said for word in term.spellings) for term in others)
        if not others or met >= 0.6 * len(others):
            wanted.append((-met, -link.weight, link.source, link.target, link))
    once: dict[str, Link] = {}  # the best fact of each company or thing that answers
    for *_, link in sorted(wanted, key=lambda row: row[:-1]):
        once.setdefault(link.target if aspect.subject else link.source, link)
    lines, links = [], []
    listed_whole = aspect.relation in _LISTS  # who supplies whom is stated: a list is given with all its members
    for link in list(once.values())[: _MEMBERS if listed_whole else _FACTS]:
        line = AnswerLine(claim_text(session, link.facts[0]), link.citations[:2], 1)
        if listed_whole or _speaks_of(asked, line):
            lines.append(line)
            links.append(link)
    nodes = {end for link in links for end in (link.source, link.target)}
    known = [_plain(entity) for end in sorted(nodes) if (entity := session.view.entity(end))]
    return lines, subgraph(known, links)


def _traded(session: QuerySession, goods: Entity) -> _Composed:
    """Return who supplies a product to whom: of each seller, the surest first."""
    stated = (fact for fact in session.view.facts(relation="supplies") if not fact.superseded_by)
    makers = {fact.subject for fact in session.confident(session.view.facts(relation="produces", object=goods.id))}
    names = {goods.name, *(alias.name for alias in goods.aliases)}
    sold = [fact for fact in stated if _sells(fact, names, makers)]
    links: dict[tuple[str, str], list[Fact]] = {}
    for fact in sorted(session.confident(sold), key=spoken):
        if fact.polarity is Polarity.POSITIVE:
            links.setdefault((fact.subject, fact.object), []).append(fact)
    found = [session.link(facts, sum(each.confidence for each in facts)) for facts in links.values()]
    found = sorted(found, key=lambda link: (link.source, -link.weight, link.target))[:_MEMBERS]
    session.meet_all(end for link in found for end in (link.source, link.target))
    lines = [AnswerLine(claim_text(session, link.facts[0]), link.citations[:2], 1) for link in found]
    nodes = {end for link in found for end in (link.source, link.target)}
    known = [_plain(entity) for end in sorted(nodes) if (entity := session.view.entity(end))]
    return lines, subgraph(known, found)


def _sells(fact: Fact, names: set[str], makers: set[str]) -> bool:
    """Whether a supply is one of a product: the one it states, else one of the seller's that its sentence names."""
    product = fact.qualifier("product")
    if product:
        return any(name in each for each in product.split("、") for name in names)
    return fact.subject in makers and any(name in item.quote for item in fact.evidence for name in names)


def _speaks_of(asked: Understood, line: AnswerLine) -> bool:
    """Whether a quote of a line from the graph speaks of what is asked, as the answer model reads it."""
    quotes = [SentenceInContext(cited.quote, (cited.title,)) for cited in line.citations]
    return max(AnswerModel.shipped().probabilities(asked.core, quotes), default=0.0) >= _RELATED


def _chain(session: QuerySession, asked: Understood) -> _Composed:
    topic = _first(asked, Kind.INDUSTRY, Kind.PRODUCT, Kind.THEME)
    if topic is None:
        return _NONE
    answer = chain(session, topic.id)
    links = answer.graph.links
    lang = session.lang
    lines = [AnswerLine(word("ask.chain", lang, topic=answer.topic.name))]
    for layer in answer.layers:
        lines.append(AnswerLine(word("ask.layer", lang, name=layer.name)))
        for stage in layer.stages[:_STAGES]:
            near = [link for link in links if stage.node.entity.id in (link.source, link.target)]
            shown = {node.entity.id for node in stage.companies}
            weak = word("print.weak", lang)
            names = listed((coded(node.entity, lang) + weak * node.weak for node in stage.companies), lang)
            text = stage.node.entity.name + (word("colon", lang) + names if names else "")
            # each company that is shown has its sentence; a stage without companies shows what ties it to the chain
            of_companies = [link for link in near if link.source in shown]
            cited = distinct(link.citations[0] for link in of_companies if link.citations)
            lines.append(AnswerLine(text, cited or _first_citations(near), 1))
    return lines, answer.graph


def _impact(session: QuerySession, asked: Understood) -> _Composed:
    topic = _first(asked, Kind.EVENT, Kind.POLICY, Kind.INDICATOR, Kind.PRODUCT, Kind.INDUSTRY)
    if topic is None:
        return _NONE
    return _moved(session, asked, impact(session, topic.id, asked.direction))


def _causes(session: QuerySession, asked: Understood) -> _Composed:
    topic = _first(asked, Kind.INDICATOR, Kind.EVENT, Kind.PRODUCT, Kind.INDUSTRY)
    if topic is None:
        return _NONE
    return _moved(session, asked, causes(session, topic.id, asked.direction))


def _first(asked: Understood, *kinds: Kind) -> Entity | None:
    """Return what a question is about: the first name of the wanted kinds, in the order of the question."""
    return next((entity for entity in asked.entities if entity.kind in kinds), None)


def _moved(session: QuerySession, asked: Understood, answer: ImpactAnswer) -> _Composed:
    """Word the paths that touch the other names of the question; without other names, the strongest ones."""
    others = {entity.id for entity in asked.entities} - {answer.topic.id, answer.topic.about}
    near = others | {node.entity.id for node in answer.graph.nodes if node.entity.about in others}
    paths = [path for path in answer.paths if not others or near.intersection(path.nodes)]
    parties = [party for party in answer.parties if not others or party.entity.id in others]
    if asked.period:
        paths = [path for path in paths if _in_time(asked, path.links)]
    lang = session.lang
    name = behind(answer.topic.name, direction_text(answer.direction, answer.topic.kind, lang), lang)
    lines = []
    for path in paths[:_PATHS]:
        first = answer.direction if answer.forward else answer.direction * path.sign
        lines.append(AnswerLine(path_text(session, path, first), path_citations(path, first), 1))
    lines = [line for line in lines if _speaks_of(asked, line)]
    listed_parties = _party_lines(parties, lang)
    if not lines and not listed_parties:
        return _NONE
    if lines:
        lines.insert(0, AnswerLine(word("ask.effects" if answer.forward else "ask.causes", lang, factor=name)))
    lines = [*listed_parties, *lines]
    if not others:
        lines += _exposed(answer, lang)
    if answer.counter and not others:
        lines.append(AnswerLine(word("ask.opposite", lang)))
        lines += [
            AnswerLine(claim_text(session, link.facts[0]), link.citations[:2], 1) for link in answer.counter[:_PATHS]
        ]
    return lines, answer.graph


def _in_time(asked: Understood, links: Sequence[Link]) -> bool:
    period = asked.period
    return period is None or any(period.contains(item.published_on) for link in links for item in link.citations)


def _exposed(answer: ImpactAnswer, lang: Lang) -> list[AnswerLine]:
    lines = []
    for role in ROLES:
        group = [exposure for exposure in answer.exposed if exposure.role == role]
        if group:
            names = listed((coded(exposure.node.entity, lang) for exposure in group), lang)
            cited = distinct(c for exposure in group[:2] for link in exposure.links[:1] for c in link.citations[:1])
            said = word("ask.exposed", lang, role=word(f"role.{role}", lang), names=names)
            lines.append(AnswerLine(said, cited))
    return lines


def _party_lines(parties: Sequence[Party], lang: Lang) -> list[AnswerLine]:
    """List who gains and who pays, stated before inferred, each with its reason."""
    lines: list[AnswerLine] = []
    for sign, name in ((1, "gains"), (-1, "loses")):
        some = [party for party in parties if party.sign == sign][:_AFFECTED]
        if some:
            lines.append(AnswerLine(word("ask.layer", lang, name=word(f"exposure.{name}", lang))))
        lines += [AnswerLine(party_text(each, lang), (*each.citations[:1], *each.against[:1]), 1) for each in some]
    return lines


def _relate(session: QuerySession, asked: Understood) -> _Composed:
    answer = relate(session, asked.entities[0].id, asked.entities[1].id)
    lines = [
        AnswerLine(
            flow((claim_text(session, link.facts[0]) for link in path.links), session.lang),
            distinct(c for link in path.links for c in link.citations[:1]),
            1,
        )
        for path in answer.paths[:_PATHS]
        if len(path.links) <= _SHORT  # a longer path joins nearly anything; `liantu relate` shows it
    ]
    ends = {"first": answer.first.name, "second": answer.second.name}
    head = AnswerLine(word("ask.relation", session.lang, **ends))
    return ([head, *lines], answer.graph) if lines else _NONE


def _history(session: QuerySession, asked: Understood) -> _Composed:
    one, other = asked.entities[0].id, asked.entities[1].id
    first, second, episodes = history(session, one, other)
    if not episodes:
        first, second, episodes = history(session, other, one)
    if not episodes:
        return _NONE
    lines = [AnswerLine(word("ask.history", session.lang, first=first.name, second=second.name))]
    links: list[Link] = []
    for episode in episodes:
        lines.append(AnswerLine(word("ask.layer", session.lang, name=episode.label)))
        for link in episode.links[:_PATHS]:
            lines.append(AnswerLine(claim_text(session, link.facts[0]), link.citations[:2], 1))
            links.append(link)
    nodes = {end: None for link in links for end in (link.source, link.target)}
    known = [entity for end in nodes if (entity := session.view.entity(end))]
    return lines, subgraph([_plain(entity) for entity in known], links)


def _themes(session: QuerySession, asked: Understood) -> _Composed:
    return theme_lines(session, asked.entities, _today(session)), Subgraph()


def _plain(entity: Entity) -> Node:
    return Node(entity, 0, 1.0)


def _first_citations(links: Sequence[Link]) -> tuple[Citation, ...]:
    """Return the two first sentences, the newest of each link, the strongest link's first."""
    ranked = sorted(links, key=lambda link: (-link.weight, link.source, link.target))
    return distinct(link.citations[0] for link in ranked if link.citations)[:2]


_COMPOSERS: dict[str, Callable[[QuerySession, Understood], _Composed]] = {
    "chain": _chain,
    "impact": _impact,
    "path": _impact,
    "causes": _causes,
    "relate": _relate,
    "history": _history,
    "themes": _themes,
}
