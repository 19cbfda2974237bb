"""Small readings for the store's tests: one line of text per fact, everything else made up around it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from kg.ids import chunk_id, fact_id
from kg.model import (
    Chunk,
    Document,
    Entity,
    Evidence,
    Fact,
    Kind,
    Mention,
    MentionStatus,
    Modality,
    Polarity,
    Reading,
    Value,
    ValueClass,
)

CATL, BYD, LITHIUM, MARGIN = "sec:300750.SZ", "sec:002594.SZ", "product:碳酸锂", "indicator:毛利率"
READ = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: int) -> date:
    """Return the day `number` days into 2024."""
    return date(2024, 1, 1) + timedelta(days=number)


def fact(subject: str, relation: str, object_: str, **claim: object) -> Fact:
    """Return a claim that nobody has said yet."""
    return Fact("", subject, relation, object_, **claim)  # type: ignore[arg-type]


def reported(number: float, **claim: object) -> Fact:
    """Return CATL's margin."""
    return fact(CATL, "reports", MARGIN, value=Value(number, "%"), **claim)


def denied(claim: Fact) -> Fact:
    """Return the same claim, negated."""
    return replace(claim, polarity=Polarity.NEGATIVE)


def planned(claim: Fact) -> Fact:
    """Return the same claim as a plan."""
    return replace(claim, modality=Modality.PLANNED)


def reading(  # noqa: PLR0913 - a test names only what it is about
    number: int,
    published: int,
    *facts: Fact,
    text: str = "宁德时代的碳酸锂采购价格上涨，毛利率回升。",
    speaker: str = "示例证券甲",
    entities: tuple[Entity, ...] | None = None,
    copies: tuple[int, ...] = (),
    read: datetime = READ,
    path: str = "",
) -> Reading:
    """Return the reading of document `number`, published on day `published`, that says these facts."""
    identity = f"doc:{number}"
    published_on = day(published)
    half = len(text) // 2
    said = []
    for place, claim in enumerate(facts):
        end = min(place + 4, len(text))
        start = min(place, max(end - 1, 0))
        evidence = Evidence(identity, start, end, text[start:end], published_on, read, speaker=speaker, extractor="t/1")
        said.append(replace(claim, id=claim.id or fact_id(claim), evidence=(evidence,)))
    return Reading(
        document=Document(identity, f"报告{number}", published_on, text, path=path, signature=bytes([number % 256])),
        chunks=tuple(
            Chunk(
                chunk_id(identity, start, end),
                identity,
                start,
                end,
                text[start:end],
                ("标题",),
                meta="2024",
                value_class=worth,
            )
            for start, end, worth in ((0, half, ValueClass.CAUSAL), (half, len(text), ValueClass.REPEATED))
            if start < end
        ),
        mentions=(Mention(0, 4, text[:4], Kind.COMPANY, MentionStatus.LINKED, CATL, 0.9),) if len(text) >= 8 else (),
        entities=(Entity(CATL, Kind.COMPANY, "宁德时代", codes=("300750.SZ",)),) if entities is None else entities,
        facts=tuple(said),
        copies=tuple(f"doc:{other}" for other in copies),
        recorded_at=read,
    )
