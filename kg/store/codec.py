"""Encode records as JSON and decode them with msgspec, for columns that no query looks into.

Records are arrays, not objects, to save space: there are hundreds of thousands of them. Decoders are typed by the
layout of a record, so a damaged or foreign one raises a `ValueError` that names the field.
A format change here requires a migration step in kg/store/sqlite/schema.py.
"""

from __future__ import annotations

from datetime import date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
from msgspec.json import Decoder

from kg.judgement import Judgement, Verdict
from kg.model import (
    Alias,
    Block,
    BlockKind,
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

_Texts = tuple[str, ...]
_Period = tuple[date | None, date | None, Precision]
_Value = tuple[float, str, str, str, str, float | None]
_Lines = tuple[tuple[str, _Texts], ...]
_Summary = tuple[str, str, _Lines, _Period | None]
_CLAIM = Decoder(tuple[int, Polarity, Modality, _Period | None, _Value | None, tuple[tuple[str, str], ...]])
_ENTITY = Decoder(tuple[Kind, str, tuple[tuple[str, _Period | None, str], ...], _Texts, str])
_HEAD = Decoder(tuple[str, str, str, str, str, _Texts, _Texts, _Texts, tuple[int, ...]])
_BODY = Decoder(
    tuple[
        str,
        tuple[int, ...],
        tuple[tuple[int, int, BlockKind, int, str], ...],
        tuple[tuple[int, int, str], ...],
        tuple[tuple[str, str, int, int], ...],
    ]
)
_MENTION = Decoder(tuple[int, int, str, Kind, MentionStatus, str, float, tuple[object, ...]])
_COMMUNITIES = tuple[tuple[str, int, str, _Texts, _Summary | None, _Lines], ...]
_EVENTS = tuple[tuple[LifecycleEvent, str, int, str, int, _Texts, _Texts, _Texts, _Texts], ...]
_RUN = Decoder(tuple[str, date, dict[str, str], dict[str, float], _COMMUNITIES, _EVENTS])
_JUDGEMENT = Decoder(tuple[Verdict, str, str, str, date, datetime, _Texts, _Period | None, str, str, float | None])
_UNPAGED = 8  # fields of a head in older schemas, which have no page offsets


class _Passage(msgspec.Struct, array_like=True):
    """The layout of a passage; older dumps and Neo4j databases have no value class."""

    start: int
    end: int
    page: int | None
    kind: ChunkKind
    text: str
    heading: _Texts
    meta: str
    search_text: str
    html: str
    value_class: ValueClass = ValueClass.PLAIN


_PASSAGE = Decoder(_Passage)


def dump(data: object) -> str:
    """Encode as JSON; equal data gives equal text."""
    return msgspec.json.encode(data).decode()


def _period_out(period: Period | None) -> _Period | None:
    return None if period is None else (period.start, period.end, period.precision)


def _period_in(data: _Period | None) -> Period | None:
    return None if data is None else _period(*data)


_period = lru_cache(maxsize=4096)(Period)


def claim_out(fact: Fact) -> str:
    """Encode a fact's claim without its ends and relation."""
    value = None if fact.value is None else _value(fact.value)
    return dump((fact.sign, fact.polarity, fact.modality, _period_out(fact.valid), value, fact.qualifiers))


def _value(value: Value) -> _Value:
    high = None if value.high is None else float(value.high)  # whole numbers are given as integers now and then
    return float(value.number), value.unit, value.scale, value.change, value.basis, high


def claim_in(identity: str, ends: tuple[str, str, str], text: str, *, evidence: tuple[Evidence, ...]) -> Fact:
    """Decode a fact; `ends` are subject, relation and object."""
    sign, polarity, modality, valid, value, qualifiers = _claim(text)
    return Fact(identity, *ends, sign, polarity, modality, valid, value, qualifiers, evidence)


@lru_cache(maxsize=16384)
def _claim(text: str) -> tuple[int, Polarity, Modality, Period | None, Value | None, tuple[tuple[str, str], ...]]:
    sign, polarity, modality, valid, value, qualifiers = _CLAIM.decode(text)
    return sign, polarity, modality, _period_in(valid), None if value is None else Value(*value), qualifiers


def entity_out(entity: Entity) -> str:
    """Encode an entity as a document describes it, without its id."""
    aliases = [(alias.name, _period_out(alias.period), alias.source) for alias in entity.aliases]
    return dump((entity.kind, entity.name, aliases, entity.codes, entity.about))


def entity_in(identity: str, text: str) -> Entity:
    """Decode an entity."""
    kind, name, aliases, codes, about = _ENTITY.decode(text)
    decoded = tuple(Alias(name, _period_in(period), source) for name, period, source in aliases)
    return Entity(identity, kind, name, decoded, codes, about)


def head_out(document: Document) -> str:
    """Encode a document's head without the fields that have their own columns."""
    texts = (document.title, document.kind, document.publisher, document.url, document.language)
    return dump((*texts, document.authors, document.codes, document.tags, document.pages))


def head_in(identity: str, published_on: date, text: str, *, path: str) -> DocumentHead:
    """Decode a document's head."""
    title, kind, publisher, url, language, authors, codes, tags, pages = _HEAD.decode(text)
    return DocumentHead(
        id=identity,
        title=title,
        published_on=published_on,
        kind=kind,
        publisher=publisher,
        authors=authors,
        url=url,
        language=language,
        codes=codes,
        tags=tags,
        path=path,
        pages=pages,
    )


def paged(head: str, body: str | bytes) -> str:
    """Add page offsets from the body to a head of an older schema; return any other head unchanged."""
    fields = msgspec.json.decode(head)
    return head if len(fields) > _UNPAGED else dump([*fields, msgspec.json.decode(body)[1]])


def body_out(document: Document, problems: Sequence[Problem]) -> bytes:
    """Encode a document's text, pages, blocks, removed spans and problems as UTF-8 JSON."""
    blocks = [(block.start, block.end, block.kind, block.level, block.html) for block in document.blocks]
    removed = [(item.start, item.end, item.reason) for item in document.removed]
    faults = [(item.kind, item.message, item.start, item.end) for item in problems]
    return msgspec.json.encode((document.text, document.pages, blocks, removed, faults))


def body_in(head: DocumentHead, signature: bytes, text: str | bytes) -> Document:
    """Decode a whole document."""
    content, pages, blocks, removed, _ = _BODY.decode(text)
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
        pages=pages,
        blocks=tuple(Block(*row) for row in blocks),
        removed=tuple(Removed(*row) for row in removed),
        signature=signature,
    )


def problems_in(text: str | bytes) -> tuple[Problem, ...]:
    """Decode the problems of a body."""
    return tuple(Problem(*row) for row in _BODY.decode(text)[4])


def chunk_out(chunk: Chunk) -> str:
    """Encode a passage without its id and document."""
    place = (chunk.start, chunk.end, chunk.page, chunk.kind)
    words = (chunk.text, chunk.heading, chunk.meta, chunk.search_text, chunk.html)
    return dump((*place, *words, chunk.value_class))


def chunk_in(identity: str, document: str, text: str) -> Chunk:
    """Decode a passage."""
    row = _PASSAGE.decode(text)
    return Chunk(identity, document, **msgspec.structs.asdict(row))


def mention_out(mention: Mention) -> str:
    """Encode a mention."""
    place = (mention.start, mention.end, mention.text, mention.kind, mention.status)
    return dump((*place, mention.entity, mention.score, ()))  # the last place is kept empty: records have eight


def mention_in(text: str) -> Mention:
    """Decode a mention."""
    start, end, name, kind, status, entity, score, _ = _MENTION.decode(text)
    return Mention(start, end, name, kind, status, entity, score)


def run_out(run: Run) -> str:
    """Encode a weekly run without its publication time."""
    communities = [
        (item.id, item.level, item.parent, item.members, _summary_out(item.summary), _lines_out(item.changes))
        for item in run.communities
    ]
    events = [
        (item.turn, item.theme, item.level, item.name, item.size, item.others, item.joined, item.left, item.facts)
        for item in run.events
    ]
    return dump((run.id, run.as_of, dict(run.parameters), dict(run.quality), communities, events))


def run_in(text: str, recorded_at: datetime | None = None) -> Run:
    """Decode a weekly run; `recorded_at` is its publication time."""
    identity, as_of, parameters, quality, communities, events = _RUN.decode(text)
    found = tuple(
        Community(item, level, parent, members, _summary_in(summary), _lines_in(changes))
        for item, level, parent, members, summary, changes in communities
    )
    return Run(identity, as_of, parameters, quality, found, tuple(ThemeEvent(*row) for row in events), recorded_at)


def judgement_out(judgement: Judgement) -> str:
    """Encode a judgement without its id."""
    # The instant as Python writes it: `+00:00`, not `Z`.
    when = (judgement.published_on, judgement.recorded_at.isoformat())
    what = (judgement.verdict, judgement.subject, judgement.object, judgement.name)
    scope = (judgement.documents, _period_out(judgement.period))
    return dump((*what, *when, *scope, judgement.by, judgement.why, judgement.score))


def judgement_in(identity: str, text: str) -> Judgement:
    """Decode a judgement."""
    verdict, subject, object_, name, day, instant, documents, period, by, why, score = _JUDGEMENT.decode(text)
    return Judgement(
        id=identity,
        verdict=verdict,
        subject=subject,
        published_on=day,
        recorded_at=instant,
        object=object_,
        name=name,
        documents=documents,
        period=_period_in(period),
        by=by,
        why=why,
        score=score,
    )


def _summary_out(summary: Summary | None) -> _Summary | None:
    if summary is None:
        return None
    return summary.id, summary.title, _lines_out(summary.lines), _period_out(summary.period)


def _summary_in(data: _Summary | None) -> Summary | None:
    if data is None:
        return None
    identity, title, lines, period = data
    return Summary(identity, title, _lines_in(lines), _period_in(period))


def _lines_out(lines: Sequence[SummaryLine]) -> _Lines:
    return tuple((line.text, line.facts) for line in lines)


def _lines_in(data: _Lines) -> tuple[SummaryLine, ...]:
    return tuple(SummaryLine(*row) for row in data)
