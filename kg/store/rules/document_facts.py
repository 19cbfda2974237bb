"""Rebuild the facts of one document from a store's rows; shared by all stores."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from kg.model import Evidence
from kg.store import codec
from kg.store.visibility import instant_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kg.model import Document, Fact


def written_facts(rows: Sequence[Sequence[Any]], document: Document) -> Iterator[Fact]:
    """Yield the facts of a document with its own evidence.

    Args:
        rows: fact id, subject, relation, object, claim, start, end, quote, recorded_at in microseconds, speaker,
            confidence, extractor; one per piece of evidence, grouped by fact.
        document: the document that the evidence is from.
    """
    for (identity, *ends, claim), group in groupby(rows, key=itemgetter(0, 1, 2, 3, 4)):
        evidence = tuple(
            Evidence(
                document=document.id,
                start=start,
                end=end,
                quote=quote,
                published_on=document.published_on,
                recorded_at=instant_of(recorded_at),
                speaker=speaker,
                confidence=confidence,
                extractor=extractor,
            )
            for *_, start, end, quote, recorded_at, speaker, confidence, extractor in group
        )
        yield codec.claim_in(identity, (ends[0], ends[1], ends[2]), claim, evidence=evidence)
