"""The themes of a day with their members, and the facts that their summaries may use.

A topic is in one theme, a company in every theme of its business. A fact belongs to a theme if both of its ends do; one
that only names companies, or an event, counts where its note is about the theme.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from communities.evidence import COMPANIES, IN_FOCUS
from communities.grouping import Grouping, group
from kg.graph.weights import strength
from kg.relations import vocabulary
from kg.store.rules.contradiction import contradict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import date

    from communities.evidence import EvidenceReader, Section, TopicEvidence
    from kg.model import Fact
    from kg.query.session import QuerySession

_LEAST_WEIGHT = 1.0  # notes, by share, from which a topic of a large base is independent
_LEAST_NOTES = 3
_MOST_TOPICS, _COMPARED = 600, 3000  # independent ones; those whose notes are compared
_LARGE = 200  # notes of a large base; in a smaller one a topic needs proportionally less
_COHERENT = 0.1  # least mean similarity of the notes about a topic: 工业 is in notes of everything
_TIED = 0.5  # weight of shown facts from which a lesser topic belongs to a larger one
_ABOUT = 0.25  # share of a note from which its events and companies' figures are of the theme
_STATED, _SHARE_STATED, _SHARE, _NOTES = 0.8, 0.2, 0.25, 2  # when a company belongs, see `_companies`
_MAIN = 3  # notes under whose headings a firm stands with a topic from which it belongs, however many businesses it has
_AT_LENGTH = 3  # notes from which a listed company is in a theme in any case
_FREE = ("event:", "indicator:", "policy:")
_SKIPPED = frozenset(vocabulary().of_role("place", "rating", "opinion", "event"))
_FIGURE, _EFFECT = vocabulary().of_role("figure"), vocabulary().of_role("effect")
_SAYS = {*_FIGURE, *_EFFECT}  # relations of facts that a line is made of
_OPPOSED = 4


@dataclass(frozen=True, slots=True)
class Content:
    """Members and facts of one theme, strongest first, `figures` newest first.

    `opposed` holds pairs of contradictory facts, `fresh` the facts first reported since the previous run, `notes` the
    independent notes about the theme with their days, oldest first, `sections` the passages below a heading about its
    head, newest first, `told` less sure facts, of which only the sentence may be printed.
    """

    head: str
    members: tuple[str, ...]
    facts: tuple[Fact, ...]
    figures: tuple[Fact, ...]
    opposed: tuple[tuple[Fact, Fact], ...] = ()
    fresh: tuple[Fact, ...] = ()
    notes: tuple[tuple[date, str], ...] = ()
    sections: tuple[Section, ...] = ()
    told: tuple[Fact, ...] = ()


class _Theme(NamedTuple):
    """`parent` is the index of the theme above, −1 for none; `topics` and `companies` are by falling weight.

    `core` are the topics that stand for themselves.
    """

    level: int
    parent: int
    head: str
    topics: tuple[str, ...]
    core: frozenset[str]
    companies: tuple[str, ...]
    notes: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Gathered:
    """The contents of all themes, their levels, the index of each one's parent (−1 for none), and their grouping.

    A theme of level 1 without a parent is of a topic that is like no head.
    """

    contents: tuple[Content, ...]
    levels: tuple[int, ...]
    parents: tuple[int, ...]
    grouping: Grouping
    topics: int
    in_themes: float


def gather(
    session: QuerySession,
    reader: EvidenceReader,
    *,
    before: Mapping[str, str],
    since: date | None,
) -> Gathered:
    """Return the themes of a view with their contents.

    Args:
        session: on the view.
        reader: has read the evidence of the same view.
        before: last week's head of each entity.
        since: day of the previous run; None without one.
    """
    evidence = reader.evidence
    weight = {topic: sum(shares.values()) for topic, shares in evidence.focus.items()}
    old = {topic: reader.topic(head) for entity_id, head in before.items() if (topic := reader.topic(entity_id))}
    topics = _topics(evidence, weight, old)
    names = [session.name(evidence.name_id(topic)) for topic in topics]
    grouping = group(evidence, topics, names, before=old)
    themes = list(_themes(evidence, topics, weight, grouping))
    themes = _with_companies_at_length(evidence, themes)
    contents = _contents(session, reader, themes, since)
    known = {topic for theme in themes if theme.level == 0 for topic in theme.topics}
    share = sum(weight[topic] for topic in weight if topic in known) / (sum(weight.values()) or 1.0)
    levels, parents = tuple(theme.level for theme in themes), tuple(theme.parent for theme in themes)
    return Gathered(tuple(contents), levels, parents, grouping, len(topics), round(share, 4))


def _topics(evidence: TopicEvidence, weight: Mapping[str, float], old: Collection[str]) -> list[str]:
    """Return the independent topics, by falling weight; what was one last week needs less."""
    large = min(1.0, len(evidence.days) / _LARGE)
    coherence = _coherence(evidence) if large >= 0.5 else {}  # noqa: PLR2004 -- too few notes to measure coherence

    def stands(topic: str) -> bool:
        least = large * (0.7 if topic in old else 1.0)
        long = len(evidence.focus[topic]) >= least * _LEAST_NOTES and weight[topic] >= least * _LEAST_WEIGHT
        return long and coherence.get(topic, 1.0) >= least * _COHERENT

    standing = sorted(filter(stands, weight), key=lambda topic: (-round(weight[topic], 6), topic))
    return standing[:_MOST_TOPICS]


def _coherence(evidence: TopicEvidence) -> dict[str, float]:
    """Return how alike the notes about each topic are, by the topics that they are about (tf-idf, cosine)."""
    documents = {document: number for number, document in enumerate(sorted(evidence.days))}
    several = [topic for topic in sorted(evidence.focus) if len(evidence.focus[topic]) >= _NOTES]
    topics = sorted(several, key=lambda topic: (-len(evidence.focus[topic]), topic))[:_COMPARED]
    share = np.zeros((len(topics), len(documents)), dtype=np.float32)
    for row, topic in enumerate(topics):
        for document, value in evidence.focus[topic].items():
            share[row, documents[document]] = value
    weighted = share * np.log(len(documents) / np.maximum((share > 0).sum(axis=1), 1))[:, None]
    weighted /= np.maximum(np.linalg.norm(weighted, axis=0), 1e-9)
    found: dict[str, float] = {}
    for row, topic in enumerate(topics):
        about = np.flatnonzero(share[row])
        weights = share[row, about]
        mean = weighted[:, about] @ weights
        pairs, own = weights.sum() ** 2, (weights**2).sum()
        alone = ((weighted[:, about] ** 2).sum(axis=0) * weights**2).sum()
        found[topic] = float((mean @ mean - alone) / max(pairs - own, 1e-9))
    return found


def _themes(
    evidence: TopicEvidence, topics: Sequence[str], weight: Mapping[str, float], grouping: Grouping
) -> Iterator[_Theme]:
    """Yield the top themes by falling weight, each followed by its sub-themes, then what is like no head."""
    lesser = _lesser(evidence, topics)
    groups: dict[int, list[int]] = defaultdict(list)
    for number, label in enumerate(grouping.top.tolist()):
        groups[label].append(number)
    place = 0
    alone = groups.pop(-1, [])
    for first in sorted(groups, key=lambda first: (-sum(weight[topics[row]] for row in groups[first]), first)):
        top, rows, head = place, groups[first], topics[first]
        yield _theme(evidence, 0, -1, [topics[row] for row in rows], lesser, head)
        place += 1
        parts: dict[int, list[str]] = defaultdict(list)
        for row in rows:
            parts[int(grouping.part[row])].append(topics[row])
        for part in parts.values() if len(parts) > 1 else ():
            if part[0] != head:  # the theme itself is what is called so
                yield _theme(evidence, 1, top, part, lesser, part[0])
                place += 1
    others: dict[int, list[str]] = defaultdict(list)
    for row in alone:
        others[int(grouping.part[row])].append(topics[row])
    for part in others.values():
        yield _theme(evidence, 1, -1, part, lesser, part[0])


def _theme(
    evidence: TopicEvidence, level: int, parent: int, topics: Sequence[str], lesser: Mapping[str, list[str]], head: str
) -> _Theme:
    notes: dict[str, float] = {}
    for topic in topics:
        for document, share in evidence.focus[topic].items():
            notes[document] = max(share, notes.get(document, 0.0))
    companies: dict[str, float] = {}
    for topic in topics:
        for company, score in _companies(evidence, topic):
            companies[company] = max(score, companies.get(company, 0.0))
    ranked = sorted(companies, key=lambda company: (-round(companies[company], 6), company))
    first = dict.fromkeys([head, *topics])
    rest = sorted({each for topic in topics for each in lesser.get(topic, ())})
    return _Theme(level, parent, head, (*first, *rest), frozenset(first), tuple(ranked), notes)


def _lesser(evidence: TopicEvidence, topics: Sequence[str]) -> dict[str, list[str]]:
    """Return the lesser topics that shown facts link to each topic, each under the one it is linked to most."""
    standing = set(topics)
    least = _TIED * (2 if len(evidence.days) >= _LARGE else 1)
    best: dict[str, tuple[float, str]] = {}
    for (one, other), weight in sorted(evidence.ties.items()):
        for topic, large in ((one, other), (other, one)):
            if large in standing and topic not in standing and weight >= least:
                best[topic] = max(best.get(topic, (0.0, "")), (round(weight, 6), large))
    found: dict[str, list[str]] = defaultdict(list)
    for topic, (_, large) in sorted(best.items()):
        found[large].append(topic)
    return found


def _companies(evidence: TopicEvidence, topic: str) -> Iterator[tuple[str, float]]:
    """Yield the companies of a topic: those that a shown fact states, or that several notes name under it.

    It must be a fair share of the notes that name them: a firm of everything is in a theme only as far as it is its
    business.
    """
    least = _NOTES if len(evidence.days) >= _LARGE else 1  # notes that name a firm without a code
    for company, documents in evidence.companies[topic].items():
        if not company.startswith("sec:") and evidence.named_in[company] < least:
            continue
        total = sum(min(each, 1.0) for each in documents.values())
        share = total / max(evidence.named_in[company], 1)
        notes = sum(each > IN_FOCUS + 0.3 for each in documents.values())
        stated = bool(evidence.stated.get(topic, {}).get(company))
        firm = notes >= _NOTES and share >= _SHARE
        if firm or (stated and (notes >= _MAIN or (total >= _STATED and share >= _SHARE_STATED))):
            yield company, total * min(share, 1.0) ** 0.5


def _with_companies_at_length(evidence: TopicEvidence, themes: Sequence[_Theme]) -> list[_Theme]:
    """Put each listed company that notes discuss at length in the theme it is named with most, if it is in none."""
    large = [number for number, theme in enumerate(themes) if theme.level == 0 or theme.parent >= 0]
    placed = {company for number in large for company in themes[number].companies}
    home = {topic: number for number in large for topic in themes[number].topics}
    best: dict[str, tuple[float, str]] = {}
    for topic in sorted(home):
        for company, documents in evidence.companies[topic].items():
            if company not in placed and company.startswith("sec:") and evidence.named_in[company] >= _AT_LENGTH:
                best[company] = max(best.get(company, (_STATED, "")), (round(sum(documents.values()), 6), topic))
    more: dict[int, list[str]] = defaultdict(list)
    for company, (_, topic) in sorted(best.items()):
        for number in {home[topic], themes[home[topic]].parent} - {-1} if topic else ():
            more[number].append(company)
    return [theme._replace(companies=(*theme.companies, *more[number])) for number, theme in enumerate(themes)]


# ── facts ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _contents(
    session: QuerySession, reader: EvidenceReader, themes: Sequence[_Theme], since: date | None
) -> Iterator[Content]:
    homes: dict[str, set[int]] = defaultdict(set)
    for number, theme in enumerate(themes):
        for each in (*theme.topics, *theme.companies):
            homes[each].add(number)
    of_theme: dict[int, list[Fact]] = defaultdict(list)
    for fact in reader.evidence.facts:
        for number in _themes_of(fact, reader, homes, themes) if fact.relation not in _SKIPPED else ():
            if fact.relation not in _SAYS or _is_core(fact, reader, themes[number]):
                of_theme[number].append(fact)
    told: dict[int, list[Fact]] = defaultdict(list)
    for fact in reader.evidence.unsure:
        for number in _themes_of(fact, reader, homes, themes) if fact.relation in _SAYS else ():
            if _is_core(fact, reader, themes[number]):
                told[number].append(fact)
    for number, theme in enumerate(themes):
        yield replace(_content(session, reader, theme, of_theme[number], since), told=tuple(told[number]))


def _themes_of(
    fact: Fact, reader: EvidenceReader, homes: Mapping[str, set[int]], themes: Sequence[_Theme]
) -> Collection[int]:
    """Return the themes that a fact belongs to."""
    ends = [(reader.topic(end) or end) for end in (fact.subject, fact.object)]
    of_ends = [homes.get(end, set()) for end in ends if not (end.startswith(_FREE) and end not in homes)]
    if not of_ends:
        return ()
    found = set.intersection(*of_ends)
    if len(of_ends) == len(ends) and not all(end.startswith(COMPANIES) for end in ends):
        return found
    documents = [item.document for item in fact.evidence]
    return {each for each in found if any(themes[each].notes.get(document, 0.0) >= _ABOUT for document in documents)}


def _is_core(fact: Fact, reader: EvidenceReader, theme: _Theme) -> bool:
    """Whether a fact is about a core topic of a theme, or a firm of it in a note about the theme."""
    topics = {reader.topic(fact.subject), reader.topic(fact.object)} - {""}
    if topics:
        return not topics.isdisjoint(theme.core)
    return any(theme.notes.get(item.document, 0.0) >= _ABOUT for item in fact.evidence)


def _content(
    session: QuerySession, reader: EvidenceReader, theme: _Theme, facts: Sequence[Fact], since: date | None
) -> Content:
    evidence = reader.evidence
    ranked = sorted(facts, key=lambda fact: (-round(strength(fact, session.words), 6), fact.id))
    linked = [fact for fact in ranked if fact.relation not in _FIGURE]
    figures = sorted(
        (fact for fact in ranked if fact.relation in _FIGURE), key=lambda fact: -fact.last_published_on.toordinal()
    )
    topics = [entity_id for topic in theme.topics for entity_id in _ids_of(evidence, topic, facts)]
    others = _happenings(reader, theme, linked)
    notes = sorted((evidence.days[each], each) for each, share in theme.notes.items() if share >= _ABOUT)
    sections = sorted(
        evidence.sections.get(theme.head, ()),
        key=lambda each: (-evidence.days[each.chunk.document].toordinal(), -len(each.chunk.heading), each.chunk.id),
    )
    return Content(
        head=evidence.name_id(theme.head),
        members=tuple(dict.fromkeys([*topics, *theme.companies, *others])),
        facts=tuple(linked),
        figures=tuple(figures),
        opposed=tuple(_opposed(session, linked)),
        fresh=tuple(fact for fact in ranked if since and fact.published_on > since),
        notes=tuple(notes),
        sections=tuple(sections),
    )


def _ids_of(evidence: TopicEvidence, topic: str, facts: Sequence[Fact]) -> list[str]:
    """Return the entities of a topic: the one it is called by, then those that facts of the theme name."""
    named = {end for fact in facts for end in (fact.subject, fact.object)}
    first = evidence.name_id(topic)
    return [first, *sorted(each for each in evidence.spoken[topic] if each in named and each != first)]


def _happenings(reader: EvidenceReader, theme: _Theme, facts: Sequence[Fact]) -> list[str]:
    """Return the indicators of the theme's topics, and the events and policies that several notes tie to it."""
    documents: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        for end in (fact.subject, fact.object):
            if end.startswith(_FREE):
                documents[end] |= {item.document for item in fact.evidence}
    least, topics = (_NOTES if len(reader.evidence.days) >= _LARGE else 1), set(theme.topics)
    return [end for end in documents if reader.topic(end) in topics or len(documents[end]) >= least]


def _opposed(session: QuerySession, facts: Sequence[Fact]) -> Iterator[tuple[Fact, Fact]]:
    """Yield pairs of causal facts that contradict each other, the strongest first."""
    by_ends: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.relation in _EFFECT and fact.sign:
            by_ends[fact.subject, fact.object].append(fact)
    found = 0
    for each in by_ends.values():
        for one, other in combinations(each, 2):
            if found < _OPPOSED and contradict(one, other, session.words):
                found += 1
                yield one, other
