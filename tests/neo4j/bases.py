"""Whole bases for comparing stores: the bundled reports, and a dated graph of industrial chains where it is at hand."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from extraction.ingest import Job, ingest
from tests.architecture.source import ROOT
from tests.contracts.reference import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kg.model import Reading
    from kg.store.port import Store

READ = datetime(2026, 1, 1, tzinfo=UTC)
DEMO = ROOT / "notebooks" / "demo" / "reports"
ICKG25 = Path(os.environ.get("LIANTU_DATA", ROOT.parent / "shared" / "data")) / "ickg25"


def demo() -> list[Reading]:
    """Read the bundled reports, once for every store that is to hold them."""
    store = MemoryStore()
    ingest(store, Job((DEMO,), READ, None, 1, ner=False))
    found = (store.reading(head.id) for head in store.view().documents())
    return [reading for reading in found if reading]


def fill(store: Store, readings: Iterable[Reading]) -> None:
    with store.writer() as writer:
        for reading in readings:
            writer.write(reading)
