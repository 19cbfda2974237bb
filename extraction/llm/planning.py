"""Rank packs by the edges that a model is expected to add to what the local reader found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from extraction.facts.passage_class import is_bare_numbers
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extraction.llm.prompt import Pack
    from kg.model import Reading


class PackPlan(Struct, frozen=True):
    """A pack with the number of edges expected in it, and of those that a model is expected to add."""

    document: str
    pack: Pack
    edges: float
    gain: float


def plan_document(reading: Reading, packs: Sequence[Pack]) -> list[PackPlan]:
    return [PackPlan(reading.document.id, pack, 0.0, 1.0) for pack in packs]
