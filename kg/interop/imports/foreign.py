"""A graph that another system built from documents, written to a store with its texts as checked evidence.

What the other system does not keep stays unknown: a link without a known relation is `related_to`, without sign or
period, and a name becomes a code only where the securities master knows it as one issuer on the document's day.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import yaml

from kg.errors import DocumentError
from kg.ids import chunk_id, document_id, entity_id, fact_id
from kg.model import Chunk, Document, Entity, Evidence, Fact, Kind, Reading
from kg.period import instant_in
from kg.relations import vocabulary
from kg.settings import market_day
from kg.store.rules.validated import bare_entity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from kg.securities.master import Master
    from kg.store.port import Store, Writer

(UNTYPED,) = vocabulary().of_role("untyped")
_STATED = 0.65  # confidence of a link that carries none: what answers ask for (docs/quality.md), and no more
_LONGEST_QUOTE = 300
_NAMED_DAY = re.compile(r"(20\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)(?!\d)")
_SENTENCE = re.compile(r"[^。！？；\n]*[。！？；\n]?")


@dataclass(frozen=True, slots=True)
class ForeignText:
    """A document of the other system, with its passages by their ids there."""

    title: str
    text: str
    published_on: date | None
    passages: Mapping[str, str]
    publisher: str = ""


@dataclass(frozen=True, slots=True)
class ForeignLink:
    """A link: `claim` is its statement (ends by id), with empty ends where only names are known."""

    source: str
    target: str
    passages: tuple[str, ...]
    claim: Fact
    quote: str = ""
    speaker: str = ""
    confidence: float = _STATED


@dataclass(frozen=True, slots=True)
class ForeignGraph:
    """Everything read of another system's index; `types` are its types of its names, `ids` their ids here if known."""

    extractor: str
    documents: tuple[ForeignText, ...]
    types: Mapping[str, str]
    links: tuple[ForeignLink, ...]
    ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class IndexImported:
    """Counts of an import; `left_out` counts links by the reason for which they were not taken."""

    documents: int = 0
    known: int = 0
    facts: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Placed:
    """A document as it is written, and the offsets of its passages in its text."""

    document: Document
    spans: dict[str, tuple[int, int]]
    chunks: list[Chunk]
    facts: list[Fact] = field(default_factory=list)
    entities: dict[str, Entity] = field(default_factory=dict)


class IndexImport:
    """Writes a foreign graph to a store; run again it adds nothing."""

    def __init__(self, path: Path, *, recorded_at: datetime, day: date | None = None, master: Master | None) -> None:
        self._path, self._recorded_at, self._day, self._master = path, recorded_at, day, master
        self.done = IndexImported()

    def run(self, graph: ForeignGraph, store: Store) -> IndexImported:
        """Write every document with the facts that its passages support, all in one transaction.

        Raises:
            DocumentError: when a document has no day and none was given.
        """
        placed = [self._place(text, graph.extractor) for text in graph.documents]
        homes: dict[str, list[_Placed]] = defaultdict(list)
        for item in placed:
            for passage in item.spans:
                homes[passage].append(item)
        for link in graph.links:
            self._link(graph, link, homes)
        with store.writer() as writer, writer.together():
            for item in placed:
                self._write(writer, item)
        return self.done

    def _write(self, writer: Writer, item: _Placed) -> None:
        entities, facts = tuple(item.entities.values()), tuple(item.facts)
        new = writer.write(
            Reading(item.document, tuple(item.chunks), entities=entities, facts=facts, recorded_at=self._recorded_at)
        )
        self.done.documents += new
        self.done.known += not new
        self.done.facts += len({fact.id for fact in facts}) if new else 0

    def _place(self, text: ForeignText, extractor: str) -> _Placed:
        published_on = text.published_on or self._day
        if published_on is None:
            raise DocumentError(
                f"{self._path}: {text.title}", "has no day", "set the publication day of all such documents with --date"
            )
        whole, spans = _spans(text)
        identity = document_id("\n".join((extractor, text.title, str(published_on), whole)).encode())
        document = Document(
            identity, text.title, published_on, whole, "graph", text.publisher, path=str(self._path.name)
        )
        chunks = [
            Chunk(chunk_id(identity, *span), identity, *span, whole[slice(*span)]) for span in sorted({*spans.values()})
        ]
        return _Placed(document, spans, chunks)

    def _link(self, graph: ForeignGraph, link: ForeignLink, homes: Mapping[str, list[_Placed]]) -> None:
        if not any(homes.get(passage) for passage in link.passages):
            self.done.left_out["no passage"] += 1
            return
        for passage in link.passages:
            for item in homes.get(passage, ()):
                day = item.document.published_on
                one, other = self._end(graph, link.source, day), self._end(graph, link.target, day)
                claim = _claim(link, one, other) if one and other else None
                if claim is None or one is None or other is None:
                    self.done.left_out["unknown kind or unfit ends"] += 1
                    return
                item.entities |= {one.id: one, other.id: other}
                start, end = _quoted(item.document.text, item.spans[passage], link)
                evidence = Evidence(
                    item.document.id,
                    start,
                    end,
                    item.document.text[start:end],
                    day,
                    self._recorded_at,
                    speaker=link.speaker or item.document.publisher,
                    confidence=link.confidence or _STATED,
                    extractor=graph.extractor,
                )
                item.facts.append(replace(claim, id=fact_id(claim), evidence=(evidence,)))

    def _end(self, graph: ForeignGraph, name: str, day: date) -> Entity | None:
        """Return the entity that a name of the other system means, or None where its type has no counterpart."""
        if name in graph.ids:
            found = bare_entity(graph.ids[name])
            codes = (found.name,) if found.id.startswith("sec:") else ()
            return replace(found, name=_without_kind(name, found.kind), codes=codes)
        kind = kind_of_type(graph.types.get(name, ""))
        if kind is None:
            return None
        name = _without_kind(name, kind)
        if kind is Kind.COMPANY and self._master:
            issuers = self._master.by_name(name, day)
            if len(issuers) == 1:
                issuer = issuers[0]
                return Entity(issuer.id, Kind(issuer.kind), issuer.name, codes=(issuer.code,))
        identity = entity_id(kind, name)
        return None if identity.endswith(":") else Entity(identity, kind, name)


def _without_kind(name: str, kind: Kind) -> str:
    """Return a name without the kind that an export appended: 锂（产品）."""
    for wording in vocabulary().kinds[kind].values():
        name = name.strip().removesuffix(f"（{wording}）").removesuffix(f"({wording})")
    return name.strip()


def kind_of_type(text: str) -> Kind | None:
    """Return the kind that another system's type of entity is here (kg/interop/formats.yaml), or None.

    >>> kind_of_type("ORGANIZATION"), kind_of_type("product"), kind_of_type("Creature")
    (<Kind.COMPANY: 'company'>, <Kind.PRODUCT: 'product'>, None)
    """
    name = text.strip().casefold()
    if name in {kind.value for kind in Kind}:
        return Kind(name)
    return _types().get(name)


@cache
def _types() -> dict[str, Kind]:
    text = resources.files(__package__).joinpath("../formats.yaml").read_text(encoding="utf-8")
    return {name: Kind(kind) for name, kind in yaml.safe_load(text)["entity_types"].items()}


def day_in(text: str) -> date | None:
    """Return the day of an instant in the market, else the day that a text begins with, or None.

    >>> day_in("2024-05-27 16:00:00 +0000"), day_in("2024-05-27"), day_in("2024-13-01"), day_in("")
    (datetime.date(2024, 5, 28), datetime.date(2024, 5, 27), None, None)
    """
    if instant := instant_in(text):
        return market_day(instant)
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def day_named(name: str) -> date | None:
    """Return the day that begins the name of a file: `2024-05-27_光伏.md` or `20240527 光伏.pdf`."""
    found = _NAMED_DAY.match(name.rpartition("/")[2])
    return day_in("-".join(found.groups())) if found else None


def _claim(link: ForeignLink, one: Entity, other: Entity) -> Fact | None:
    """Return the claim between two entities, or None if they are one; an unfit relation is not forced on them."""
    claim, words = link.claim, vocabulary().relations
    if one.id == other.id:
        return None
    known = words.get(claim.relation)
    if known is None or not known.allows(one.kind, other.kind):
        claim, known = replace(claim, relation=UNTYPED, sign=0), words[UNTYPED]
    if known.symmetric and one.id > other.id:
        one, other = other, one
    return replace(claim, subject=one.id, object=other.id)


def _spans(text: ForeignText) -> tuple[str, dict[str, tuple[int, int]]]:
    """Find the passages in a document's text, in order; one that is not there is added at the end."""
    whole, spans, cursor = text.text, {}, 0
    for identity, passage in text.passages.items():
        start = whole.find(passage, cursor) if passage else -1
        start = whole.find(passage) if start < 0 and passage else start
        if start < 0:
            whole += ("\n\n" if whole else "") + passage
            start = len(whole) - len(passage)
        if passage:
            spans[identity] = (start, start + len(passage))
            cursor = start
    return whole, spans


def _quoted(text: str, span: tuple[int, int], link: ForeignLink) -> tuple[int, int]:
    """Return the span of the evidence of a link: its quote, else the first sentence with most of its two names."""
    start, end = span
    if link.quote and (found := text.find(link.quote, start, end)) >= 0:
        return found, found + len(link.quote)
    sentences = [(one, other) for one, other in _sentences(text, start, end) if text[one:other].strip()]
    if not sentences:
        return start, min(end, start + _LONGEST_QUOTE)
    names = (link.source, link.target)
    one, other = max(sentences, key=lambda at: (sum(name in text[at[0] : at[1]] for name in names), -at[0]))
    return one, min(other, one + _LONGEST_QUOTE)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    return ((match.start(), match.end()) for match in _SENTENCE.finditer(text, start, end) if match.group())


def grouped(passages: Iterable[tuple[str, str, str]]) -> dict[str, dict[str, str]]:
    """Return the passages of each document: from (document, passage id, text) in order."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for document, identity, text in passages:
        found[document][identity] = text
    return found
