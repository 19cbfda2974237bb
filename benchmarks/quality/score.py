"""Scores and errors of a data set, printed as a table or as JSON."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """Inputs of a measurement; `files` are in the set's own format."""

    files: tuple[Path, ...]
    limit: int = 0
    master: Path | None = None
    namechange: Path | None = None


@dataclass(slots=True)
class Score:
    """Gold, found and right items of one measure; `at_least` is the target, 0 for none."""

    name: str
    gold: int = 0
    found: int = 0
    right: int = 0
    at_least: float = 0.0
    recall_only: bool = False  # the set labels one item per text, so further findings are not errors

    def add(self, gold: Iterable[object], found: Iterable[object]) -> None:
        """Count one text's items; duplicates within a text count once."""
        expected, predicted = set(gold), set(found)
        self.gold += len(expected)
        self.found += len(predicted)
        self.right += len(expected & predicted)

    @property
    def precision(self) -> float:
        """Share of found items that are right, 0 … 1."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Share of gold items that were found, 0 … 1."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, 0 … 1."""
        total = self.gold + self.found
        return 2 * self.right / total if total else 0.0

    @property
    def figure(self) -> float:
        """The figure compared with `at_least`."""
        return self.recall if self.recall_only else self.f1

    def as_dict(self) -> dict[str, Any]:
        """Return the counts and rates for JSON."""
        rates = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return {
            "measure": self.name,
            "gold": self.gold,
            "found": self.found,
            "right": self.right,
            **({"recall": self.recall} if self.recall_only else rates),
            "at_least": self.at_least,
        }


@dataclass(slots=True)
class Report:
    """The scores of one set, its errors by kind, and notes."""

    scores: Sequence[Score]
    texts: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def fault(self, kind: str, example: str) -> None:
        """Record an error: missed mention, wrong boundary, wrong relation, wrong direction, wrong date …"""
        self.faults[kind] += 1
        self.examples.setdefault(kind, []).append(example)


def as_json(name: str, report: Report) -> str:
    """Return the report as one JSON object."""
    body = {
        "set": name,
        "texts": report.texts,
        "scores": [score.as_dict() for score in report.scores],
        "faults": dict(report.faults.most_common()),
        "notes": report.notes,
    }
    return json.dumps(body, ensure_ascii=False)


def as_table(name: str, report: Report, *, shown: int = 0) -> str:
    """Return the report as Markdown tables, with up to `shown` examples per kind of error."""
    lines = [
        f"## {name}: {report.texts:,} texts",
        "",
        "| measure | gold | found | right | precision | recall | F1 | at least |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in report.scores:
        rates = (
            f"— | **{each.recall:.4f}** | —"
            if each.recall_only
            else f"{each.precision:.4f} | {each.recall:.4f} | **{each.f1:.4f}**"
        )
        goal = f"{each.at_least:.3f}" if each.at_least else "—"
        lines.append(f"| {each.name} | {each.gold:,} | {each.found:,} | {each.right:,} | {rates} | {goal} |")
    if report.faults:
        lines += ["", "| fault | count |", "|---|---|"]
        lines += [f"| {kind} | {count:,} |" for kind, count in report.faults.most_common()]
    for kind, examples in report.examples.items() if shown else ():
        lines += ["", f"### {kind}", *(f"- {text}" for text in examples[:shown])]
    lines += ["", *report.notes] if report.notes else []
    return "\n".join(lines)
