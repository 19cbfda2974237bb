"""The evidence for topics in the notes of a view: how much of each note a topic fills, and the companies named there.

A topic is a product, industry, theme or policy under all its names (kg/query/walks/topics.py). Only facts that answers
show count, and a copy of a note counts with its first.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

import daachorse

from kg.model import Polarity
from kg.text.homonyms import is_undecided, sense_of
from kg.text.lexicon import read_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from kg.model import Chunk, Fact
    from kg.query.session import QuerySession
    from kg.store.port import DocumentHead

    Named = Sequence[tuple[int, str]]  # offset and entity of each name in a note, in order
    Shares = dict[str, dict[str, float]]

TOPIC_KINDS = ("product:", "industry:", "theme:", "business:", "policy:")
COMPANIES = ("sec:", "org:")
IN_FOCUS = 0.15  # share of a note from which it is about a topic
_TITLE, _HEADINGS, _TEXT = 0.6, 0.9, 0.5  # how much a title, all headings and all names of a note weigh in its focus
_LAST_HEADING, _HEADING, _SENTENCE, _UNDER_TITLE = 0.8, 0.5, 0.4, 0.3  # how surely a company named there is of a topic
_STATED = 0.5  # what a shown fact adds
_MANY = 25  # companies in one sentence: a list of movers
_SENTENCE_END = re.compile("[。；\n]")
_SHORTEST = 2


class Section(NamedTuple):
    """A passage below a heading about one topic; `alone`: the heading names no other topic and no company below it."""

    chunk: Chunk
    heading: str
    alone: bool = True


@dataclass(slots=True)
class TopicEvidence:
    """The evidence of documents for topics, by topic id.

    `focus`: document → share of the note, 0 … 1; `parts`: the same of the parts of notes, by first heading.
    `companies`: company → document → strength. `stated`: company → documents with a shown fact. `ties`: pairs of topics
    → weight of the shown facts. `sections`: the passages below a heading about the topic. `spoken`: how
    often each of its entities is named. `named_in`: in how many notes a company is. `facts` are those
    that answers show, `unsure` the others, whose sentences may be quoted.
    """

    focus: Shares = field(default_factory=lambda: defaultdict(dict))
    parts: dict[str, dict[tuple[str, int], float]] = field(default_factory=lambda: defaultdict(dict))
    companies: dict[str, Shares] = field(default_factory=lambda: defaultdict(lambda: defaultdict(dict)))
    stated: dict[str, dict[str, set[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    ties: Counter[tuple[str, str]] = field(default_factory=Counter)
    sections: dict[str, list[Section]] = field(default_factory=lambda: defaultdict(list))
    named_in: Counter[str] = field(default_factory=Counter)
    spoken: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    days: dict[str, date] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    unsure: list[Fact] = field(default_factory=list)

    def name_id(self, topic: str) -> str:
        """Return the entity that a topic is mostly called by."""
        named = self.spoken[topic].items()
        return min(named, key=lambda item: (-item[1], len(item[0]), item[0]), default=(topic, 0))[0]


@cache
def tables() -> dict[str, Any]:
    """Return the weights of relations and the names that are no topic (themes.yaml)."""
    return read_table(resources.files(__package__).joinpath("themes.yaml"))


@cache
def _generic() -> frozenset[str]:
    return frozenset(str(name) for names in tables()["generic"].values() for name in names)


@dataclass(slots=True)
class _NotePart:
    """A part of a note: its size, how much of it is under headings of each topic, and how often each is named."""

    size: int = 0
    under: Counter[str] = field(default_factory=Counter)
    spoken: Counter[str] = field(default_factory=Counter)

    def shares(self, title: frozenset[str]) -> Iterator[tuple[str, float]]:
        """Yield the topics that it is about, with the share that they fill."""
        most = max(self.spoken.values(), default=1)
        for topic in sorted(title | self.under.keys() | self.spoken.keys()):
            rest = (1 - _TITLE * (topic in title)) * (1 - _TEXT * self.spoken[topic] / most)
            rest *= 1 - _HEADINGS * self.under[topic] / max(self.size, 1)
            if rest <= 1 - IN_FOCUS:
                yield topic, 1 - rest


class EvidenceReader:
    """Reads the evidence of a session's view; `topic` maps an entity to its topic."""

    def __init__(self, session: QuerySession) -> None:
        self._session = session
        self._topics: dict[str, str] = {}
        self._found: dict[str, frozenset[str]] = {}
        self.evidence = TopicEvidence()

    def topic(self, entity_id: str) -> str:
        """Return the topic of an entity, that of what an indicator measures; "" for what is no topic."""
        if entity_id not in self._topics:
            self._topics[entity_id] = self._topic(entity_id)
        return self._topics[entity_id]

    def _topic(self, entity_id: str) -> str:
        if entity_id.startswith("indicator:"):
            known = self._session.known(entity_id)
            return self.topic(known.about) if known and known.about else ""
        if not entity_id.startswith(TOPIC_KINDS):
            return ""
        name = self._session.name(entity_id)
        if is_undecided(name) or name.lower() in _generic():
            return ""
        return self._session.topics.ids(entity_id)[0]

    def read(self) -> TopicEvidence:
        """Read all visible documents."""
        view, evidence = self._session.view, self.evidence
        self._session.meet_all()
        facts = [fact for fact in view.facts() if not fact.superseded_by and fact.polarity is Polarity.POSITIVE]
        evidence.facts = self._session.confident(facts)
        sure = {fact.id for fact in evidence.facts}
        evidence.unsure = [fact for fact in facts if fact.id not in sure]
        copies = {e.document for fact in facts for e in fact.evidence if e.witness not in ("", e.document)}
        heads = [head for head in view.documents() if head.id not in copies]
        evidence.days = {head.id: head.published_on for head in heads}
        stated = self._stated_ends(facts)
        named = {
            head.id: sorted([(m.start, m.entity) for m in view.mentions(head.id) if m.entity] + stated[head.id])
            for head in heads
        }
        for _, entity_id in (each for note in named.values() for each in note):
            if not entity_id.startswith("indicator:") and (topic := self.topic(entity_id)):
                evidence.spoken[topic][entity_id] += 1
        self._build_automaton()
        for head in heads:
            self._read_note(head, view.chunks(head.id), named[head.id])
        self._read_facts()
        return evidence

    def _stated_ends(self, facts: Sequence[Fact]) -> dict[str, list[tuple[int, str]]]:
        """Return the ends of facts as names in their notes, for bases that hold facts without mentions."""
        ends: dict[str, set[tuple[int, str]]] = defaultdict(set)
        for fact in facts:
            for item in fact.evidence:
                ends[item.document] |= {(item.start, fact.subject), (item.start, fact.object)}
        return defaultdict(list, {document: sorted(each) for document, each in ends.items()})

    def _build_automaton(self) -> None:
        names: dict[str, str] = {}
        for entity_ids in self.evidence.spoken.values():
            for entity_id in sorted(entity_ids):
                if len(name := self._session.name(entity_id)) >= _SHORTEST:
                    names.setdefault(name, entity_id)
        self._spellings = sorted(names)
        self._entities = [names[name] for name in self._spellings]
        self._automaton = daachorse.CharwiseDoubleArrayAhoCorasick(
            self._spellings or ["\0"], daachorse.MATCH_KIND_LEFTMOST_LONGEST
        )

    def _topics_in(self, text: str, title: str = "") -> frozenset[str]:
        """Return the topics that a title or heading names; a homonym counts as its title decides."""
        key = f"{text}\0{title}"
        if key not in self._found:
            found = [
                self._sense(self._entities[index], text, title)
                for start, end, index in self._automaton.find(text)
                if not _splits_latin_word(text, start, end)
            ]
            self._found[key] = frozenset(filter(None, map(self.topic, found)))
        return self._found[key]

    def _sense(self, entity_id: str, text: str, title: str) -> str:
        prefix, _, name = entity_id.partition(":")
        return f"{prefix}:{sense_of(name, [text, title], '')}"

    def _read_note(self, head: DocumentHead, chunks: Sequence[Chunk], named: Named) -> None:
        evidence = self.evidence
        title = self._topics_in(head.title)
        companies = {each for _, each in named if each.startswith(COMPANIES)}
        evidence.named_in.update(companies)
        starts = [start for start, _ in named]
        parts: dict[str, _NotePart] = defaultdict(_NotePart)
        for chunk in chunks:
            inside = named[bisect_right(starts, chunk.start - 1) : bisect_right(starts, chunk.end - 1)]
            part = parts["".join(chunk.heading[:1])]
            part.size += len(chunk.text)
            part.under.update(dict.fromkeys(self._read_chunk(head, chunk, inside), len(chunk.text)))
            part.spoken.update(filter(None, (self.topic(each) for _, each in inside)))
        whole = _NotePart(sum(part.size for part in parts.values()))
        for part in parts.values():
            whole.under.update(part.under)
        whole.spoken.update(filter(None, (self.topic(each) for _, each in named)))
        for topic, share in whole.shares(title):
            evidence.focus[topic][head.id] = share
        for number, part in enumerate(parts.values()):
            for topic, share in part.shares(title):
                evidence.parts[topic][head.id, number] = share * (part.size / max(whole.size, 1)) ** 0.5
        for topic in title:
            self._note_companies(topic, companies, head.id, _UNDER_TITLE)

    def _read_chunk(self, head: DocumentHead, chunk: Chunk, named: Named) -> frozenset[str]:
        """Note the companies of a passage under the topics of its headings and sentences; return the former."""
        found = [self._topics_in(heading, head.title) for heading in chunk.heading]
        topics: frozenset[str] = frozenset().union(*found)
        companies = {each for _, each in named if each.startswith(COMPANIES)}
        for topic in topics:
            last = topic in found[-1]
            self._note_companies(topic, companies, head.id, _LAST_HEADING if last else _HEADING)
        for heading, named_there in zip(chunk.heading, found, strict=True):
            subject = self._topics_in(heading.partition("：")[0], head.title) or named_there
            if len(subject) == 1:
                (topic,) = subject
                own = named_there <= subject or topic in self._topics_in(heading.partition("：")[2], head.title)
                alone = own and not any(self._session.name(each) in heading for each in companies)
                self.evidence.sections[topic].append(Section(chunk, heading, alone))
        for sentence in _sentences(chunk, named):
            makers = {each for each in sentence if each.startswith(COMPANIES)}
            if len(makers) <= _MANY:
                for topic in {self.topic(each) for each in sentence} - {""}:
                    self._note_companies(topic, makers, head.id, _SENTENCE)
        return topics

    def _note_companies(self, topic: str, companies: set[str], document: str, strength: float) -> None:
        noted = self.evidence.companies[topic]
        for company in companies:
            noted[company][document] = max(strength, noted[company].get(document, 0.0))

    def _read_facts(self) -> None:
        """Note what shown facts state: who makes and uses a topic, and how topics are connected."""
        evidence, shares = self.evidence, tables()["shares"]
        for fact in evidence.facts:
            first, second = self.topic(fact.subject), self.topic(fact.object)
            share = shares.get(fact.relation, 0.0)
            documents = {item.document for item in fact.evidence} & evidence.days.keys()
            if not share:
                continue
            if first and second and first != second:
                about = evidence.focus[first].keys() | evidence.focus[second].keys()
                weight = share * fact.confidence * len(documents & about)
                evidence.ties[min(first, second), max(first, second)] += weight
            company, topic = (fact.subject, second) if second else (fact.object, first)
            if topic and company.startswith(COMPANIES):
                noted = evidence.companies[topic][company]
                for document in documents - evidence.stated[topic][company]:
                    noted[document] = noted.get(document, 0.0) + _STATED * share
                evidence.stated[topic][company] |= documents


def _sentences(chunk: Chunk, named: Named) -> Iterator[set[str]]:
    """Yield the entities of each sentence of a passage."""
    ends = [found.end() + chunk.start for found in _SENTENCE_END.finditer(chunk.text)]
    sentences: dict[int, set[str]] = defaultdict(set)
    for start, entity_id in named:
        sentences[bisect_right(ends, start)].add(entity_id)
    yield from sentences.values()


def _splits_latin_word(text: str, start: int, end: int) -> bool:
    """Whether a match is a part of a Latin word: PC in PCB."""

    def joins(at: int) -> bool:
        return 0 < at < len(text) and all(each.isascii() and each.isalnum() for each in text[at - 1 : at + 1])

    return joins(start) or joins(end)
