"""Company names in annual-report sentences, with exact boundaries.

The set labels a company once per relation, mostly at its first mention, and leaves further mentions in the sentence
unlabelled. Hence three measures: mentions by position, where repeats of a labelled name count as errors; the same
without such repeats; and names by sentence, regardless of position.
"""

from __future__ import annotations

import json
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, Any

from benchmarks.quality.masters import load_master
from benchmarks.quality.score import Report, Score
from extraction.streams import NameReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.quality.score import Options

COMPANY = "公司企业"
DAY = date(2020, 6, 30)  # the sentences are undated; their reports cover 2019


def measure(options: Options) -> Report:
    """Score the company names of every sentence."""
    master, master_label = load_master(options)
    reader = NameReader(master)
    positions, names = (
        Score("company mentions by place", at_least=0.75),
        Score("company names by sentence", at_least=0.75),
    )
    without_repeats = Score("company mentions by place, repeats of a labelled name left out", at_least=0.75)
    report = Report([positions, without_repeats, names], notes=[master_label])
    for text, gold in islice(_sentences(options), options.limit or None):
        report.texts += 1
        found = [each for each in reader.read(text, DAY, propose=False) if each["kind"] == "company"]
        spans = {(each["start"], each["end"]) for each in found}
        labelled = {text[start:end] for start, end in gold}
        positions.add(gold, spans)
        without_repeats.add(
            gold, {(start, end) for start, end in spans if (start, end) in gold or text[start:end] not in labelled}
        )
        names.add(labelled, {text[start:end] for start, end in spans})
        for start, end in gold - spans:
            overlaps = any(a < end and start < b for a, b in spans)
            report.fault("wrong boundary" if overlaps else "missed", text[start:end])
        for start, end in sorted(spans - gold):
            if not any(a < end and start < b for a, b in gold):
                report.fault("repeated" if text[start:end] in labelled else "not labelled", text[start:end])
    return report


def _sentences(options: Options) -> Iterator[tuple[str, set[tuple[int, int]]]]:
    """Yield each text with the spans of its companies."""
    for path in options.files:
        with path.open(encoding="utf-8") as lines:
            for line in filter(str.strip, lines):
                row: dict[str, Any] = json.loads(line)
                text = "".join(char for sentence in row["sentences"] for char in sentence)
                labels = (label for sentence in row["ner"] for label in sentence)
                yield text, {(start, last + 1) for start, last, kind in labels if kind == COMPANY}
