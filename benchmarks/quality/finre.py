"""FinRE: classify the relation (one of 44) between two given names in a sentence; micro-F1 without `unknown`.

One label is predicted per line, as in the published task, so a pair with several labels is right at most once. The file
contains both orders of a pair; each is scored separately.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from benchmarks.quality.reading import TextReader, spellings
from benchmarks.quality.score import Report, Score
from extraction.text.sentences import normalise
from kg.model import Modality

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchmarks.quality.score import Options
    from kg.model import Reading

DAY = date(2018, 6, 30)  # the sentences are undated news from about 2005 to 2018
UNKNOWN, SAME = "unknown", "自己"
SYMMETRIC = frozenset({UNKNOWN, SAME, "合作", "竞争", "纠纷", "签约", "交易", "重组", "订单", "合并", "合资", "商讨"})
# Liantu's relation and its form → the set's label, read from subject to object (拥有 is read from object to subject).
LABEL = {
    ("raises_stake_in", ""): "增持",
    ("cuts_stake_in", ""): "减持",
    ("transfers_to", ""): "转让",
    ("issues_to", ""): "发行",
    ("holds_stake_in", ""): "持股",
    ("invests_in", ""): "入股",
    ("subsidiary_of", ""): "被拥有",
    ("acquires", ""): "收购",
    ("acquires", "planned"): "拟收购",
    ("buys_assets_from", ""): "买资",
    ("trades_with", ""): "交易",
    ("merges_with", ""): "合并",
    ("merges_with", "restructuring"): "重组",
    ("lists_through", ""): "借壳",
    ("funds", ""): "注资",
    ("founds", ""): "成立",
    ("owes", ""): "欠款",
    ("supports", ""): "帮助",
    ("disputes_with", ""): "纠纷",
    ("partners_with", ""): "合作",
    ("partners_with", "agreement"): "签约",
    ("partners_with", "talks"): "商讨",
    ("partners_with", "joint_venture"): "合资",
    ("supplies", ""): "订单",
    ("comments_on", ""): "分析",
    ("competes_with", ""): "竞争",
}
_PLANNED = frozenset({Modality.PLANNED, Modality.FORECAST, Modality.CONDITIONAL, Modality.RUMOURED})
_MASKED_NUMBER = re.compile(r"<N>")


@dataclass(frozen=True, slots=True)
class Line:
    """One labelled pair; the set's masked digits are replaced by 8, so that numbers parse."""

    head: str
    tail: str
    label: str
    text: str


def lines_of(path: Path) -> Iterator[Line]:
    """Yield the lines of a file; rows without four columns are skipped."""
    for row in path.read_text(encoding="utf-8").splitlines():
        columns = row.split("\t")
        if len(columns) == 4:
            head, tail, label, text = columns
            plain = [normalise(_MASKED_NUMBER.sub("8", part)) for part in (head, tail, text)]
            yield Line(plain[0], plain[1], label, plain[2])


def mirrored(label: str) -> str:
    """Return the label of the same pair in the other order."""
    if label in SYMMETRIC:
        return label
    return label.removeprefix("被") if label.startswith("被") else f"被{label}"


def labels_of(reading: Reading, line: Line) -> list[str]:
    """Return the set's labels for the extracted relations of a pair, most confident first."""
    named = spellings(reading)
    found = []
    for fact in sorted(reading.facts, key=lambda each: -each.confidence):
        ends = [
            any(_same(wanted, name) for name in named[end])
            for end in (fact.subject, fact.object)
            for wanted in (line.head, line.tail)
        ]
        forward, back = ends[0] and ends[3], ends[1] and ends[2]
        form = fact.qualifier("form") or ""
        if fact.relation == "acquires":
            form = "planned" if fact.modality in _PLANNED else ""
        label = LABEL.get((fact.relation, form)) or LABEL.get((fact.relation, ""))
        if label and (forward or back):
            found.append(label if forward else mirrored(label))
    if any(
        _same(line.head, name)
        for names in named.values()
        for name in names
        if any(_same(line.tail, other) for other in names)
    ):
        found.append(SAME)
    return found


def _same(wanted: str, name: str) -> bool:
    return name == wanted or (len(name) > 1 and (wanted.startswith(name) or name.startswith(wanted)))


def measure(options: Options) -> Report:
    """Score the relations extracted from the files' sentences."""
    lines = [line for path in options.files for line in lines_of(path)]
    lines = lines[: options.limit] if options.limit else lines
    reader = TextReader(DAY, options.master)
    read = {text: reader.read(text) for text in dict.fromkeys(line.text for line in lines)}
    return scored(lines, [next(iter(labels_of(read[line.text], line)), UNKNOWN) for line in lines], 0.38)


def scored(lines: Sequence[Line], predicted: Sequence[str], at_least: float) -> Report:
    """Return the score of the predicted labels, with errors by kind."""
    score = Score("relation of a given pair, micro-F1 without unknown", at_least=at_least)
    report = Report([score], texts=len(lines))
    for line, label in zip(lines, predicted, strict=True):
        score.gold += line.label != UNKNOWN
        score.found += label != UNKNOWN
        score.right += label == line.label != UNKNOWN
        if label != line.label:
            report.fault(
                _error_kind(line.label, label), f"{line.head} | {line.tail} | {line.label} → {label} | {line.text}"
            )
    return report


def _error_kind(gold: str, predicted: str) -> str:
    if gold == UNKNOWN:
        return "relation where the set has none"
    if predicted == UNKNOWN:
        return "missed relation"
    return "wrong direction" if predicted == mirrored(gold) else "wrong relation"
