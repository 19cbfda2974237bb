"""Answers from the graph: chains, causal paths, who gains and who pays, relations, ratings, figures, themes."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, TypeAlias

from kg.errors import QuestionError
from kg.messages.words import listed, noted, word
from kg.model import Kind, Polarity
from kg.query.answers import AnswerLine, Citation, Node, Subgraph
from kg.query.ask.answer_model import AnswerModel, SentenceInContext
from kg.query.ask.figures import figure_lines
from kg.query.ask.lexicon import lexicon
from kg.query.ask.themes import theme_lines
from kg.query.browse.profile import profile_of
from kg.query.history import history
from kg.query.session import QuerySession, spoken, subgraph
from kg.query.walks.chain import chain
from kg.query.walks.impact import causes, impact
from kg.query.walks.relate import relate
from kg.query.wording import (
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
    from kg.query.ask.understand import Understood

_PATHS, _AFFECTED, _STAGES, _FACTS, _MEMBERS = 6, 12, 8, 14, 40
_SHORT = 2  # links of a path that answers how two things are related
_SPEAKS = 0.17  # probability that a quote speaks of what is asked
_WORDED = frozenset({"views", "causes", "impact", "path", "definition", "rank"})  # no figure alone answers these

_SIDES = {
    1: re.compile(r"利好|受益|有利|好处|获益|谁(?:会?涨|赚)|benefit|gain"),
    -1: re.compile(r"利空|不利|受损|坏处|拖累|谁(?:会?跌|亏)|hurt|lose"),
}
_SIDE_NAMES = {1: "gains", -1: "loses"}
_COMPANIES = re.compile(r"上市公司|哪些公司|哪些股|什么股|个股|标的|companies|stocks")

Composed: TypeAlias = tuple[list[AnswerLine], Subgraph]
_NONE: Composed = ([], Subgraph())


def composed(session: QuerySession, asked: Understood) -> Composed:
    """Answer from the graph by the operation; a question whose aspect is not understood gets nothing from it."""
    try:
        if asked.operation in _COMPOSERS:
            told = _COMPOSERS[asked.operation](session, asked)
            if told[0]:
                return told
        if asked.wants_value and asked.operation not in _WORDED and (lines := figure_lines(session, asked)):
            return lines, Subgraph()
        if asked.aspect and asked.entities:
            return _lookup(session, asked)
    except QuestionError:  # the graph has no such name or run
        return _NONE
    return _NONE


def _lookup(session: QuerySession, asked: Understood) -> Composed:
    """Return the facts of the asked relation at the asked end, those that speak of all the question's words first."""
    aspect = asked.aspect
    assert aspect is not None
    topic = asked.entities[0]
    if session.words[aspect.relation].role == "supply" and topic.kind is Kind.PRODUCT:
        return _traded(session, topic)
    profile = profile_of(session, topic)
    others = [term for term in asked.terms if term.entity != topic.id and not aspect.asks.search(term.word)]
    wanted = []
    named = {entity.id for entity in asked.entities if entity.kind is Kind.COMPANY}
    relations = {aspect.relation, *aspect.also}
    kinds = {node.entity.id: node.entity.kind for node in profile.graph.nodes}
    for link in profile.links:
        at_end = (link.source if aspect.subject else link.target) == topic.id or len(named) > 1
        if len(named) > 1 and not named.issuperset((link.source, link.target)):
            continue  # 宁德时代是不是比亚迪的供应商 is about these two
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
    listed_whole = session.words[aspect.relation].whole
    for link in list(once.values())[: _MEMBERS if listed_whole else _FACTS]:
        line = AnswerLine(claim_text(session, link.facts[0]), link.citations[:2], 1)
        if listed_whole or _speaks_of(asked, line):
            lines.append(line)
            links.append(link)
    nodes = {end for link in links for end in (link.source, link.target)}
    known = [_plain(entity) for end in sorted(nodes) if (entity := session.view.entity(end))]
    return lines, subgraph(known, links)


def _traded(session: QuerySession, goods: Entity) -> Composed:
    """Return who supplies a product to whom: of each seller, the surest first."""
    stated = [fact for fact in session.facts_of("supply") if not fact.superseded_by]
    topic = session.topics.ids(goods.id)
    made = (fact for each in topic for fact in session.facts_of("makes", target=each))
    makers = {fact.subject for fact in session.confident(made)}
    names = {*map(session.name, topic), *(alias.name for alias in goods.aliases)}
    sold = [fact for fact in stated if _sells(fact, names, makers)]
    # A sentence that is quoted for one buyer is quoted for all that it lists.
    quoted = {(fact.subject, item.quote) for fact in sold for item in fact.evidence}
    plain = [fact for fact in stated if fact not in sold and not fact.qualifier("product")]
    sold += [fact for fact in plain if any((fact.subject, item.quote) in quoted for item in fact.evidence)]
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
    return max(AnswerModel.shipped().probabilities(asked.core, quotes), default=0.0) >= _SPEAKS


def _chain(session: QuerySession, asked: Understood) -> Composed:
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


def _impact(session: QuerySession, asked: Understood) -> Composed:
    topic = _first(asked, Kind.EVENT, Kind.POLICY, Kind.INDICATOR, Kind.PRODUCT, Kind.INDUSTRY)
    if topic is None:
        return _NONE
    return _moved(session, asked, impact(session, topic.id, asked.direction))


def _causes(session: QuerySession, asked: Understood) -> Composed:
    topic = _first(asked, Kind.INDICATOR, Kind.EVENT, Kind.PRODUCT, Kind.INDUSTRY)
    if topic is None:
        return _NONE
    return _moved(session, asked, causes(session, topic.id, asked.direction))


def _first(asked: Understood, *kinds: Kind) -> Entity | None:
    """Return what a question is about: the first name of the wanted kinds, in the order of the question."""
    bare = lexicon().bare.fullmatch
    return next((entity for entity in asked.entities if entity.kind in kinds and not bare(entity.name)), None)


def _moved(session: QuerySession, asked: Understood, answer: ImpactAnswer) -> Composed:
    """Word who gains and who pays, then the paths that touch the other names of the question, else the strongest.

    A question for one side gets that side alone, one for listed companies these alone.
    """
    others = {entity.id for entity in asked.entities} - {answer.topic.id, answer.topic.about}
    near = others | {node.entity.id for node in answer.graph.nodes if node.entity.about in others}
    paths = [path for path in answer.paths if not others or near.intersection(path.nodes)]
    parties = [party for party in answer.parties if not others or party.entity.id in others]
    if _COMPANIES.search(asked.question):
        parties = [party for party in parties if party.entity.codes] or parties
    if asked.period:
        paths = [path for path in paths if _in_time(asked, path.links)]
    lang = session.lang
    sides = [sign for sign, words in _SIDES.items() if words.search(asked.question)]
    told = _party_lines(parties, lang, sides)
    if told and len(sides) == 1:
        return told, answer.graph
    lines = []
    for path in paths[:_PATHS]:
        first = answer.direction if answer.forward else answer.direction * path.sign
        lines.append(AnswerLine(path_text(session, path, first), path_citations(path, first), 1))
    quoted = {citation.quote for line in told for citation in line.citations}
    for line in list(lines):
        if quoted.issuperset(each.quote for each in line.citations):
            lines.remove(line)  # shown already
        quoted.update(each.quote for each in line.citations)
    lines = [line for line in lines if _speaks_of(asked, line)]
    if not lines and not told:
        return _NONE
    if lines:
        name = behind(answer.topic.name, direction_text(answer.direction, answer.topic.kind, lang), lang)
        lines.insert(0, AnswerLine(word("ask.effects" if answer.forward else "ask.causes", lang, factor=name)))
    lines = [*told, *lines]
    if answer.counter and not others:
        lines.append(AnswerLine(word("ask.opposite", lang)))
        lines += [
            AnswerLine(claim_text(session, link.facts[0]), link.citations[:2], 1) for link in answer.counter[:_PATHS]
        ]
    return lines, answer.graph


def _in_time(asked: Understood, links: Sequence[Link]) -> bool:
    period = asked.period
    return period is None or any(period.contains(item.published_on) for link in links for item in link.citations)


def _party_lines(parties: Sequence[Party], lang: Lang, sides: Sequence[int]) -> list[AnswerLine]:
    """List who gains and who pays, stated first, each with its reason; say so where the side asked for has none."""
    lines: list[AnswerLine] = []
    asked_for = [party for party in parties if party.sign in sides]
    if len(sides) == 1 and not asked_for:  # what is only inferred of the other side answers nothing
        parties = [party for party in parties if party.basis != "inferred"]
    shown = sides if len(sides) == 1 and asked_for else (1, -1)
    if len(sides) == 1 and parties and not asked_for:
        lines.append(AnswerLine(word(f"ask.no_{_SIDE_NAMES[sides[0]]}", lang)))
    for sign in shown:
        some = [party for party in parties if party.sign == sign][:_AFFECTED]
        if some:
            lines.append(AnswerLine(word("ask.layer", lang, name=word(f"exposure.{_SIDE_NAMES[sign]}", lang))))
        lines += [AnswerLine(party_text(each, lang), (*each.citations[:1], *each.against[:1]), 1) for each in some]
    return lines


def _ratings(session: QuerySession, asked: Understood) -> Composed:
    """Set the ratings of a company side by side: the newest of each house, with what it said before."""
    company = next((entity for entity in asked.entities if entity.codes), None)
    if company is None:
        return _NONE
    facts = session.confident(session.facts_of("rating", target=company.id))
    newest = sorted(facts, key=lambda fact: (-fact.last_published_on.toordinal(), fact.id))
    houses: dict[str, list[Fact]] = {}
    for fact in newest:
        houses.setdefault(fact.subject, []).append(fact)
    lines = []
    for said in list(houses.values())[:_FACTS]:
        text = claim_text(session, said[0]) + noted(said[0].last_published_on, session.lang)
        before = next((each.qualifier("rating") for each in said if _differs(each, said[0])), None)
        if before:
            text += noted(word("ask.before", session.lang, rating=before), session.lang)
        lines.append(AnswerLine(text, tuple(session.citations([said[0]], 1)), 1))
    return lines, Subgraph()


def _differs(fact: Fact, newest: Fact) -> bool:
    return bool(fact.qualifier("rating") and fact.qualifier("rating") != newest.qualifier("rating"))


def _relate(session: QuerySession, asked: Understood) -> Composed:
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


def _history(session: QuerySession, asked: Understood) -> Composed:
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


def _themes(session: QuerySession, asked: Understood) -> Composed:
    return theme_lines(session, asked.entities, today(session)), Subgraph()


def today(session: QuerySession) -> date:
    """Return the day that relative dates count from: the view's, else the newest document's."""
    return session.view.as_of or max((head.published_on for head in session.view.documents()), default=date.min)


def _plain(entity: Entity) -> Node:
    return Node(entity, 0, 1.0)


def _first_citations(links: Sequence[Link]) -> tuple[Citation, ...]:
    """Return the two first sentences, the newest of each link, the strongest link's first."""
    ranked = sorted(links, key=lambda link: (-link.weight, link.source, link.target))
    return distinct(link.citations[0] for link in ranked if link.citations)[:2]


_COMPOSERS: dict[str, Callable[[QuerySession, Understood], Composed]] = {
    "chain": _chain,
    "impact": _impact,
    "path": _impact,
    "causes": _causes,
    "relate": _relate,
    "history": _history,
    "rating": _ratings,
    "views": _ratings,
    "themes": _themes,
}
