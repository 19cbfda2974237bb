"""Pairs of company names in news: two names of one company must be the same entity or proposed for merging.

A pair counts once, whatever sentences it occurs in. Pairs with other labels measure false proposals: owner and owned
share a brand but are distinct; all others should rarely be proposed.
"""

from __future__ import annotations

from collections import Counter
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING

from benchmarks.quality.masters import load_master
from benchmarks.quality.score import Report, Score
from kg.securities.similar import NearNames

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.quality.score import Options

SELF = "自己"
OWNING = frozenset({"拥有", "被拥有", "持股", "被持股", "成立", "被成立", "入股", "被入股", "合资"})
DAY = date(2018, 6, 30)  # the sentences are undated news from about 2005 to 2018
COLUMNS = 4


def measure(options: Options) -> Report:
    """Compare the names of every pair."""
    master, master_label = load_master(options)
    near_names = NearNames(master)
    score = Score("自己 pairs: same entity or proposed", at_least=0.80, recall_only=True)
    report = Report(
        [score], notes=[master_label, "", "| label | pairs | same or proposed | reasons |", "|---|---|---|---|"]
    )
    reasons: dict[str, Counter[str]] = {}
    for (one, other), labels in islice(sorted(_pairs(options).items()), options.limit or None):
        report.texts += 1
        similarity = near_names.compare(one, other, DAY)
        group = SELF if SELF in labels else "owner and owned" if labels & OWNING else "any other"
        reasons.setdefault(group, Counter())[similarity.reason] += 1
        if group == SELF:
            score.add([(one, other)], [(one, other)] if similarity.score else [])
            if not similarity.score:
                report.fault("not proposed", f"{one} | {other}")
        elif similarity.score:
            report.fault(f"proposed, but {group}", f"{one} | {other} ({similarity.reason})")
    for group, found in reasons.items():
        total, proposed = found.total(), found.total() - found[""]
        reason_counts = ", ".join(f"{reason} {count}" for reason, count in found.most_common() if reason)
        report.notes.append(f"| {group} | {total:,} | {proposed / total:.1%} | {reason_counts} |")
    return report


def _pairs(options: Options) -> dict[tuple[str, str], set[str]]:
    """Return the labels of each unordered pair of names."""
    found: dict[tuple[str, str], set[str]] = {}
    for one, other, label in _rows(options):
        first, second = sorted((one, other))
        found.setdefault((first, second), set()).add(label)
    return found


def _rows(options: Options) -> Iterator[tuple[str, str, str]]:
    for path in options.files:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                row = line.rstrip("\n").split("\t")
                if len(row) == COLUMNS:
                    yield row[0], row[1], row[2]
