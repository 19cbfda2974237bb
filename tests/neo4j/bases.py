"""Whole bases for comparing stores: the bundled reports as read once, and a dated graph of industrial chains."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from extraction.ingest import Job, ingest
from kg.model import Kind, Reading
from kg.store.memory import MemoryStore
from tests.architecture.source import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kg.store.port import Store
    from kg.store.prepared import Prepared

READ = datetime(2026, 1, 1, tzinfo=UTC)
DEMO = ROOT / "notebooks" / "demo" / "reports"
ICKG25 = Path(os.environ.get("LIANTU_DATA", ROOT.parent / "shared" / "data")) / "ickg25"

# The set's relations as ours: the ends as they stand, or turned round.
_RELATIONS = {
    "涉足行业": ("operates", Kind.COMPANY, Kind.BUSINESS),
    "归属于行业": ("belongs_to", Kind.COMPANY, Kind.INDUSTRY),
    "包含": ("part_of", Kind.INDUSTRY, Kind.INDUSTRY),
}


def demo() -> list[Reading]:
    """Read the bundled reports, once for every store that is to hold them."""
    store = MemoryStore()
    ingest(store, Job((DEMO,), READ, None, 1, ner=False))
    return [_again(prepared) for prepared in store._readings.values()]


def _again(prepared: Prepared) -> Reading:
    return Reading(
        document=prepared.document,
        chunks=prepared.chunks,
        mentions=prepared.mentions,
        entities=tuple(profile.entity for profile in prepared.profiles if not profile.implied),
        facts=prepared.facts,
        problems=prepared.problems,
        copies=prepared.copies,
        recorded_at=prepared.recorded_at,
    )


def fill(store: Store, readings: Iterable[Reading]) -> None:
    with store.writer() as writer:
        for reading in readings:
            writer.write(reading)
