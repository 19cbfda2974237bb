"""How often values of filings are right: by given answers, and without any answer by what filings say twice.

A value is right within three per cent of the given number, or equal to it after rounding to its decimals.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from kg.filing import ANNUAL
from kg.query.filings.values.answer import filing_value
from kg.query.filings.values.concepts import concepts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.filings.dataset import GoldQuestion
    from kg.query.filings.values.answer import FilingValueAnswer
    from kg.query.filings.values.statements import FilingStatements
    from kg.query.session import QuerySession

_TOLERANCE, _IDENTITY = 0.03, 0.005
_GOLD = re.compile(r"(-?)\$?\s?(\(?)(-?\d[\d,]*(?:\.(\d+))?)")
_SHARE, _ROUNDED = re.compile(r"(\d+(?:\.\d+)?)\s?%"), 0.6
_METRICS = "metrics"


def judged(answer: FilingValueAnswer, gold: str) -> str:
    """Return right, wrong or refused; open for a decision that the given answer does not begin with."""
    if answer.value is None:
        return "refused"
    if answer.decision in {"yes", "no"} and re.match(r"yes\b|no\b", gold, re.IGNORECASE):
        return "right" if gold.lower().startswith(answer.decision) else "wrong"
    shares = [float(each) for each in _SHARE.findall(gold)]
    if answer.unit == "points" and len(shares) > 1:  # from 20% to 23%
        return "right" if abs(shares[1] - shares[0] - answer.value) <= _ROUNDED else "wrong"
    match = _GOLD.search(gold)
    if answer.decision or not match:
        return "open"
    number = float(match[3].replace(",", "")) * (-1 if match[1] or match[2] else 1)
    value = answer.value / answer.scale
    decimals = len(match[4] or "")
    near = abs(value - number) <= _TOLERANCE * abs(number) or round(value, decimals) == round(number, decimals)
    return "right" if near else "wrong"


def measure_values(session: QuerySession, questions: Sequence[GoldQuestion]) -> dict[str, Any]:
    """Ask each question for its value; shares of questions on metrics, counts of the others."""
    counts: Counter[tuple[bool, str]] = Counter()
    for question in questions:
        is_metric = question.kind.startswith(_METRICS)
        counts[is_metric, judged(filing_value(session, question.text), question.answer)] += 1
    metrics = sum(count for (is_metric, _), count in counts.items() if is_metric)
    found: dict[str, Any] = {"value_questions": metrics}
    for name in ("right", "wrong", "refused"):
        found[f"value_{name}"] = round(counts[True, name] / metrics, 4) if metrics else None
    return found | {f"other_{name}": counts[False, name] for name in ("right", "wrong", "open", "refused")}


def agreement(session: QuerySession) -> dict[str, Any]:
    """Return how often the next filing gives the same figure for a year, and assets equal liabilities and equity."""
    read: dict[tuple[int, int], FilingStatements] = {}
    for listed in session.filings.filings:
        if listed.filing.form in ANNUAL and (statements := session.statements(listed)):
            read[listed.group, listed.filing.year] = statements
    counts: Counter[str] = Counter()
    for (group, year), statements in read.items():
        after = read.get((group, year + 1))
        for concept in concepts().values():
            figure = statements.find(concept, year) if concept.rows else None
            counts["figures"] += figure is not None
            again = after.find(concept, year) if after and figure else None
            if figure and again:
                counts["twice"] += 1
                apart = abs(figure.value - again.value)
                counts["agree"] += apart <= _TOLERANCE * max(abs(figure.value), abs(again.value))
        ends = [statements.find(concepts()[name], year) for name in ("Assets", "LiabilitiesAndStockholdersEquity")]
        if ends[0] and ends[1]:
            counts["balances"] += 1
            counts["balanced"] += abs(ends[0].value - ends[1].value) <= _IDENTITY * ends[0].value
    return {
        "reports": len(read),
        "figures": counts["figures"],
        "read_twice": counts["twice"],
        "next_filing_agrees": round(counts["agree"] / max(1, counts["twice"]), 4),
        "balances": counts["balances"],
        "identity_holds": round(counts["balanced"] / max(1, counts["balances"]), 4),
    }
