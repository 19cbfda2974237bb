"""Records of judgements: on entity identity, applied by kg/store/rules/identities.py, and on facts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date, datetime

    from kg.period import Period


class Verdict(StrEnum):
    """The effect of a judgement."""

    MERGE = "merge"
    SPLIT = "split"
    REVOKE = "revoke"
    RIGHT = "right"
    LOOSE = "loose"
    WRONG = "wrong"


#: Verdicts on a fact: its quote states it, states something near it, or does not state it.
OF_FACTS = (Verdict.RIGHT, Verdict.LOOSE, Verdict.WRONG)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judgement on entity identity or on a fact: an immutable record that only another one can revoke (DESIGN §1.3).

    `merge`: `subject` becomes `object`. `split`: where documents use `name` for `subject`, they mean `object`;
    `documents` (ids) and `period` (publication days) limit the scope. `right`, `loose`, `wrong`: says how well the
    quotes of the fact `subject` state it, as extracted by the reader `name`. `revoke`: cancels the judgement with the
    id `subject`. Views filter judgements by the same two clocks as evidence: publication day and recording time.
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
