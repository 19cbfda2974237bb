"""Measure insertion and removal of documents as the store grows, with synthetic readings."""

from __future__ import annotations

import time
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from benchmarks.store.table import Figure
from kg.ids import chunk_id, document_id, fact_id
from kg.model import Chunk, Document, Entity, Evidence, Fact, Kind, Mention, MentionStatus, Reading, Value
from kg.period import quarter
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")
_READ = datetime(2026, 1, 1, tzinfo=UTC)
_FACTS, _PASSAGES = 20, 6
_SENTENCE = "{one}与{other}在产业链上的关系在本期得到确认，需求回升，库存下降，价格有望企稳。"


def synthetic(number: int) -> Reading:
    """Return a synthetic reading: 20 facts, 6 passages, 40 mentions, drawn from 5,000 numbers per kind."""
    source = np.random.default_rng(number)
    ends = source.integers(0, 5000, (_FACTS, 2))
    lines = [_SENTENCE.format(one=f"公司{one}", other=f"产品{other}") for one, other in ends.tolist()]
    text = f"报告{number}\n" + "\n".join(lines)
    identity = document_id(text.encode())
    day = date(2020, 1, 1) + timedelta(days=number // 5)
    facts, mentions, start = [], [], len(f"报告{number}\n")
    for line, (one, other) in zip(lines, ends.tolist(), strict=True):
        evidence = Evidence(identity, start, start + len(line), line, day, _READ, f"机构{number % 40}", extractor="b/1")
        facts.append(_fact(one, other, day, evidence))
        for name, kind in ((f"公司{one}", Kind.COMPANY), (f"产品{other}", Kind.PRODUCT)):
            place = text.index(name, start)
            entity = f"{'org' if kind is Kind.COMPANY else 'product'}:{name}"
            mentions.append(Mention(place, place + len(name), name, kind, MentionStatus.LINKED, entity, 0.9))
        start += len(line) + 1
    size = -(-len(text) // _PASSAGES)
    chunks = tuple(
        Chunk(chunk_id(identity, place, end), identity, place, end, text[place:end])
        for place in range(0, len(text), size)
        for end in (min(place + size, len(text)),)
    )
    entities = tuple(Entity(f"org:公司{one}", Kind.COMPANY, f"公司{one}") for one in sorted(set(ends[:, 0].tolist())))
    document = Document(identity, f"报告{number}", day, text, path=f"{number}.txt", signature=identity.encode()[-8:])
    return Reading(document, chunks, tuple(mentions), entities, tuple(facts), recorded_at=_READ)


def _fact(one: int, other: int, day: date, evidence: Evidence) -> Fact:
    if other % 4:
        claim = Fact("", f"org:公司{one}", "produces", f"product:产品{other}", evidence=(evidence,))
    else:
        value, period = Value(float(one % 100), "%"), quarter(day.year, (day.month + 2) // 3)
        ends = (f"org:公司{one}", "reports", "indicator:毛利率")
        claim = Fact("", *ends, valid=period, value=value, evidence=(evidence,))
    return Fact(fact_id(claim), *(getattr(claim, name) for name in Fact.__slots__[1:]))


def measure(folder: Path, documents: int) -> list[Figure]:
    """Compare the last tenth of insertions into a large store with the first tenth into an empty one, then removals.

    Writes alternate between the stores and are timed in CPU seconds, so that other load affects both equally.
    """
    tenth = documents // 10
    with (
        closing(open_store(folder / "large.liantu", create=True)) as large,
        closing(open_store(folder / "fresh.liantu", create=True)) as fresh,
        large.writer() as full,
        fresh.writer() as empty,
    ):
        for number in range(documents - tenth):
            full.write(synthetic(number))
        pairs = [(synthetic(number), synthetic(documents - tenth + number)) for number in range(tenth)]
        costs = [(_timed(empty.write, one), _timed(full.write, other)) for one, other in pairs]
        first, last = np.mean(costs, axis=0)
        chosen = np.random.default_rng(5).choice(documents, max(tenth // 10, 1), replace=False).tolist()
        edits = [
            (_timed(full.remove, reading.document.id), _timed(full.write, reading))
            for reading in map(synthetic, chosen)
        ]
        removed, written = np.mean(edits, axis=0)
    growth, share = last / first, removed / written
    return [
        Figure(
            f"ingest, last {tenth} of {documents} ÷ first",
            f"{growth:.2f} ({first * 1000:.1f} → {last * 1000:.1f} ms CPU per document)",
            "≤ 1.1",
            bool(growth <= 1.1),
        ),
        Figure(
            f"removal ÷ insertion among {documents}",
            f"{share:.2f} ({removed * 1000:.1f} ÷ {written * 1000:.1f} ms)",
            "≤ 3",
            bool(share <= 3),
        ),
    ]


def _timed(call: Callable[[T], object], argument: T) -> float:
    began = time.process_time()
    call(argument)
    return time.process_time() - began
