"""The record of a judgement on who is who; kg/store/rules/identities.py applies it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date, datetime

    from kg.period import Period


class Verdict(StrEnum):
    """What a judgement does."""

    MERGE = "merge"
    SPLIT = "split"
    REVOKE = "revoke"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Somebody's word on who is who: a record that is never edited, only revoked by another (DESIGN §1.3).

    `merge`: what was `subject` goes by `object`. `split`: where documents call `subject` by `name`, they mean `object`;
    `documents` (ids) and `period` (days of publication) narrow where. `revoke`: the judgement whose id is `subject`
    counts no longer. A view sees it by the same two clocks as evidence: the day it counts from, and when it was
    written down.
    """

    id: str
    verdict: Verdict
    subject: str
    published_on: date
    recorded_at: datetime
    object: str = ""
    name: str = ""
    documents: tuple[str, ...] = ()
    period: Period | None = None
    by: str = ""
    why: str = ""
    score: float | None = None
