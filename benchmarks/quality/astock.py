"""Dated news labelled with a stock code: is its issuer among the linked ones?"""

from __future__ import annotations

import csv
import sys
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING

from benchmarks.quality.masters import load_master
from benchmarks.quality.score import Report, Score
from kg.securities.resolver import Resolver

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.quality.score import Options


def measure(options: Options) -> Report:
    """Resolve every news item as of its day."""
    master, master_label = load_master(options)
    resolver = Resolver(master)
    score = Score("gold issuer among the linked", at_least=0.985, recall_only=True)
    report = Report([score], notes=[master_label])
    others = 0
    for gold, day, text in islice((row for path in options.files for row in read_news(path)), options.limit or None):
        report.texts += 1
        found = resolver.resolve(text, day)
        linked = {each.entity_id for each in found if each.status == "linked"}
        issuer = master.by_code(gold)
        wanted = issuer.id if issuer else gold
        score.add([(report.texts, wanted)], [(report.texts, each) for each in linked])
        others += len(linked - {wanted})
        if wanted not in linked:
            near = any(wanted == each.entity_id for hit in found for each in hit.candidates)
            kind = "no such code in the master" if issuer is None else "only a candidate" if near else "not named"
            report.fault(kind, f"{gold} {issuer.name_on(day) if issuer else '?'} {day} {text[:60]}")
    report.notes.append(f"other issuers linked per text: {others / max(report.texts, 1):.2f}")
    return report


def read_news(path: Path) -> Iterator[tuple[str, date, str]]:
    """Yield gold code, day and text of each row; restores the leading zeros that the file's codes lack."""
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            yield row["CODE"].zfill(6), date.fromisoformat(row["DATE"][:10]), row["text_a"]
