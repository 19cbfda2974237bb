"""Encode records as JSON and decode them, for columns that no query looks into.

Records are arrays, not objects, to save space: there are hundreds of thousands of them.
A format change here requires a migration step in kg/store/sqlite/schema.py.
"""

from __future__ import annotations

import json
from datetime import date, datetime
from functools import lru_cache
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

import msgspec

from kg.judgement import Judgement, Verdict
from kg.model import (
    Alias,
    Block,
    BlockKind,
    Candidate,
    Chunk,
    ChunkKind,
    Community,
    Document,
    Entity,
    Fact,
    Kind,
    LifecycleEvent,
    Mention,
    MentionStatus,
    Modality,
    Polarity,
    Problem,
    Removed,
    Run,
    Summary,
    SummaryLine,
    ThemeEvent,
    Value,
    ValueClass,
)
from kg.period import Period, Precision
from kg.store.port import DocumentHead

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg.model import Evidence


_UNPAGED = 8  # fields of a head in older schemas, which have no page offsets
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def dump(data: object) -> str:
    """Encode as JSON; equal data gives equal text."""
    return _ENCODER.encode(data)


def period_out(period: Period | None) -> list[str | None] | None:
    """Encode a period."""
    if period is None:
        return None
    return [_day_out(period.start), _day_out(period.end), period.precision.value]


def period_in(data: Sequence[str | None] | None) -> Period | None:
    """Decode a period."""
    return None if data is None else _period(data[0], data[1], data[2] or "range")


@lru_cache(maxsize=4096)
def _period(start: str | None, end: str | None, precision: str) -> Period:
    return Period(_day_in(start), _day_in(end), Precision(precision))


def _day_out(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _day_in(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def claim_out(fact: Fact) -> str:
    """Encode a fact's claim without its ends and relation."""
    return dump(
        [
            fact.sign,
            fact.polarity.value,
            fact.modality.value,
            period_out(fact.valid),
            None if fact.value is None else _value(fact.value),
            [list(pair) for pair in fact.qualifiers],
        ]
    )


def value_out(value: Value) -> str:
    """Encode a value in the format used within a claim."""
    return dump(_value(value))


def _value(value: Value) -> list[object]:
    return [value.number, value.unit, value.scale, value.change, value.basis, value.high]


def claim_in(identity: str, ends: tuple[str, str, str], text: str, *, evidence: tuple[Evidence, ...]) -> Fact:
    """Decode a fact; `ends` are subject, relation and object."""
    sign, polarity, modality, valid, value, qualifiers = _claim(text)
    return Fact(identity, *ends, sign, polarity, modality, valid, value, qualifiers, evidence)


@lru_cache(maxsize=16384)
def _claim(text: str) -> tuple[int, Polarity, Modality, Period | None, Value | None, tuple[tuple[str, str], ...]]:
    sign, polarity, modality, valid, value, qualifiers = json.loads(text)
    return (
        sign,
        Polarity(polarity),
        Modality(modality),
        period_in(valid),
        None if value is None else Value(*value),
        tuple((name, text) for name, text in qualifiers),
    )


def entity_out(entity: Entity) -> str:
    """Encode an entity as a document describes it, without its id."""
    aliases = [[alias.name, period_out(alias.period), alias.source] for alias in entity.aliases]
    return dump([entity.kind.value, entity.name, aliases, list(entity.codes), entity.about])


def bare_out(kind: Kind, name: str) -> str:
    """Encode an entity of which only kind and name are known, in the format of `entity_out`."""
    return f'["{kind.value}",{encode_basestring(name)},[],[],""]'


def entity_in(identity: str, text: str) -> Entity:
    """Decode an entity."""
    kind, name, aliases, codes, about = json.loads(text)
    decoded = tuple(Alias(name, period_in(period), source) for name, period, source in aliases)
    return Entity(identity, Kind(kind), name, decoded, tuple(codes), about)


def head_out(document: Document) -> str:
    """Encode a document's head without the fields that have their own columns."""
    texts = [document.title, document.kind, document.publisher, document.url, document.language]
    lists = [list(each) for each in (document.authors, document.codes, document.tags, document.pages)]
    return dump([*texts, *lists])


def head_in(identity: str, published_on: date, text: str, *, path: str) -> DocumentHead:
    """Decode a document's head."""
    title, kind, publisher, url, language, authors, codes, tags, pages = json.loads(text)
    return DocumentHead(
        id=identity,
        title=title,
        published_on=published_on,
        kind=kind,
        publisher=publisher,
        authors=tuple(authors),
        url=url,
        language=language,
        codes=tuple(codes),
        tags=tuple(tags),
        path=path,
        pages=tuple(pages),
    )


def paged(head: str, body: str | bytes) -> str:
    """Add page offsets from the body to a head of an older schema; return any other head unchanged."""
    fields = json.loads(head)
    return head if len(fields) > _UNPAGED else dump([*fields, json.loads(body)[1]])


def body_out(document: Document, problems: Sequence[Problem]) -> bytes:
    """Encode a document's text, pages, blocks, removed spans and problems as UTF-8 JSON."""
    blocks = [[block.start, block.end, block.kind.value, block.level, block.html] for block in document.blocks]
    removed = [[item.start, item.end, item.reason] for item in document.removed]
    faults = [[item.kind, item.message, item.start, item.end] for item in problems]
    return msgspec.json.encode([document.text, document.pages, blocks, removed, faults])


def body_in(head: DocumentHead, signature: bytes, text: str) -> Document:
    """Decode a whole document."""
    content, pages, blocks, removed, _ = json.loads(text)
    return Document(
        id=head.id,
        title=head.title,
        published_on=head.published_on,
        text=content,
        kind=head.kind,
        publisher=head.publisher,
        authors=head.authors,
        url=head.url,
        language=head.language,
        codes=head.codes,
        tags=head.tags,
        path=head.path,
        pages=tuple(pages),
        blocks=tuple(Block(start, end, BlockKind(kind), level, html) for start, end, kind, level, html in blocks),
        removed=tuple(Removed(start, end, reason) for start, end, reason in removed),
        signature=signature,
    )


def chunk_out(chunk: Chunk) -> str:
    """Encode a passage without its id and document."""
    place = [chunk.start, chunk.end, chunk.page, chunk.kind.value]
    words = [chunk.text, list(chunk.heading), chunk.meta, chunk.search_text, chunk.html]
    return dump([*place, *words, chunk.value_class.value])


def chunk_in(identity: str, document: str, text: str) -> Chunk:
    """Decode a passage."""
    # Older dumps and Neo4j databases have no value class.
    start, end, page, kind, content, heading, meta, search_text, html, *value_class = json.loads(text)
    return Chunk(
        id=identity,
        document=document,
        start=start,
        end=end,
        text=content,
        heading=tuple(heading),
        page=page,
        kind=ChunkKind(kind),
        meta=meta,
        search_text=search_text,
        html=html,
        value_class=ValueClass(value_class[0]) if value_class else ValueClass.PLAIN,
    )


def mention_out(mention: Mention) -> str:
    """Encode a mention."""
    candidates = [[item.entity, item.score, [list(pair) for pair in item.features]] for item in mention.candidates]
    place = [mention.start, mention.end, mention.text, mention.kind.value, mention.status.value]
    return dump([*place, mention.entity, mention.score, candidates])


def mention_in(text: str) -> Mention:
    """Decode a mention."""
    start, end, name, kind, status, entity, score, candidates = json.loads(text)
    decoded = tuple(
        Candidate(item, points, tuple((n, s) for n, s in features)) for item, points, features in candidates
    )
    return Mention(start, end, name, Kind(kind), MentionStatus(status), entity, score, decoded)


def run_out(run: Run) -> str:
    """Encode a weekly run without its publication time."""
    communities = [
        [item.id, item.level, item.parent, list(item.members), _summary_out(item.summary), _lines_out(item.changes)]
        for item in run.communities
    ]
    events = [
        [item.turn.value, item.theme, item.level, item.name, item.size]
        + [list(ids) for ids in (item.others, item.joined, item.left, item.facts)]
        for item in run.events
    ]
    return dump([run.id, _day_out(run.as_of), dict(run.parameters), dict(run.quality), communities, events])


def run_in(text: str, recorded_at: datetime | None = None) -> Run:
    """Decode a weekly run; `recorded_at` is its publication time."""
    identity, as_of, parameters, quality, communities, events = json.loads(text)
    found = tuple(
        Community(item, level, parent, tuple(members), _summary_in(summary), _lines_in(changes))
        for item, level, parent, members, summary, changes in communities
    )
    theme_events = tuple(
        ThemeEvent(LifecycleEvent(event), theme, level, name, size, *(tuple(ids) for ids in lists))
        for event, theme, level, name, size, *lists in events
    )
    return Run(identity, date.fromisoformat(as_of), parameters, quality, found, theme_events, recorded_at)


def judgement_out(judgement: Judgement) -> str:
    """Encode a judgement without its id."""
    when = [judgement.published_on.isoformat(), judgement.recorded_at.isoformat()]
    what = [judgement.verdict.value, judgement.subject, judgement.object, judgement.name]
    scope = [list(judgement.documents), period_out(judgement.period)]
    return dump([*what, *when, *scope, judgement.by, judgement.why, judgement.score])


def judgement_in(identity: str, text: str) -> Judgement:
    """Decode a judgement."""
    verdict, subject, object_, name, day, instant, documents, period, by, why, score = json.loads(text)
    return Judgement(
        id=identity,
        verdict=Verdict(verdict),
        subject=subject,
        published_on=date.fromisoformat(day),
        recorded_at=datetime.fromisoformat(instant),
        object=object_,
        name=name,
        documents=tuple(documents),
        period=period_in(period),
        by=by,
        why=why,
        score=score,
    )


def _summary_out(summary: Summary | None) -> list[Any] | None:
    if summary is None:
        return None
    return [summary.id, summary.title, _lines_out(summary.lines), period_out(summary.period)]


def _summary_in(data: Sequence[Any] | None) -> Summary | None:
    if data is None:
        return None
    identity, title, lines, period = data
    return Summary(identity, title, _lines_in(lines), period_in(period))


def _lines_out(lines: Sequence[SummaryLine]) -> list[Any]:
    return [[line.text, list(line.facts)] for line in lines]


def _lines_in(data: Sequence[Any]) -> tuple[SummaryLine, ...]:
    return tuple(SummaryLine(text, tuple(facts)) for text, facts in data)
