"""FinRE: which of 44 relations two given names bear in a sentence, micro-F1 over the lines whose label is known.

A line is right when the one label given for its pair is its label, as in the published task; a pair that stands in
several lines with several labels is right at most once. Both orders of a pair stand in the file; each is asked alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.quality.score import Report, Score
from extraction.annotated import Annotated, Ref
from extraction.modality import read_modality
from extraction.patterns.pairs import occurrences, relation_of, same_name
from extraction.quantities import find_quantities
from extraction.sentences import Sentence, normalise
from extraction.training.examples import SAME as SAME_AS
from extraction.training.examples import Example
from extraction.training.features import pair_of
from extraction.training.model import RelationModel
from kg.model import Kind, Modality

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from benchmarks.quality.score import Options
    from extraction.annotated import Claim
    from extraction.training.model import Verdict

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
    """One labelled pair; the set's masked digits are read as an 8, so that numbers look like numbers."""

    head: str
    tail: str
    label: str
    text: str


def lines_of(path: Path) -> Iterator[Line]:
    """Read a file of the set; a line without four columns is none."""
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


def annotate(text: str, *names: str) -> Annotated:
    """Return the sentence with every occurrence of the names as a company's."""
    refs = [Ref(f"org:{name}", Kind.COMPANY, name, start, end) for name, start, end in occurrences(text, *names)]
    sentence = Sentence(0, len(text), text, tuple(range(len(text) + 1)))
    return Annotated(sentence, tuple(refs), (), tuple(find_quantities(text)))


def label_of(claim: Claim | None, line: Line) -> str:
    """Put Liantu's claim about the pair into the set's word for it."""
    if claim is None:
        return UNKNOWN
    form = dict(claim.qualifiers).get("form", "")
    if claim.relation == "acquires":
        planned = read_modality(line.text, claim.start, claim.end).modality in _PLANNED
        form = "planned" if planned else ""
    label = LABEL.get((claim.relation, form), UNKNOWN)
    return label if claim.subject.name == line.head else mirrored(label)


def untrained(line: Line) -> str:
    """Return the label that the patterns give."""
    if same_name(line.text, line.head, line.tail):
        return SAME
    return label_of(relation_of(annotate(line.text, line.head, line.tail)), line)


def measure(options: Options) -> Report:
    """Score the patterns, or with training files the local model, on the files."""
    lines = [line for path in options.files for line in lines_of(path)]
    lines = lines[: options.limit] if options.limit else lines
    if options.train:
        model = RelationModel.fit(list(examples_of(line for path in options.train for line in lines_of(path))))
        return scored(lines, trained(model, lines), 0.56)
    return scored(lines, [untrained(line) for line in lines], 0.38)


def scored(lines: Sequence[Line], given: Sequence[str], at_least: float) -> Report:
    """Count lines, and the faults by kind."""
    score = Score("relation of a given pair, micro-F1 without unknown", at_least=at_least)
    report = Report([score], texts=len(lines))
    for line, label in zip(lines, given, strict=True):
        score.gold += line.label != UNKNOWN
        score.found += label != UNKNOWN
        score.right += label == line.label != UNKNOWN
        if label != line.label:
            report.fault(_kind(line.label, label), f"{line.head} | {line.tail} | {line.label} → {label} | {line.text}")
    return report


def _kind(gold: str, given: str) -> str:
    if gold == UNKNOWN:
        return "relation where the set has none"
    if given == UNKNOWN:
        return "missed relation"
    return "wrong direction" if given == mirrored(gold) else "wrong relation"


def examples_of(lines: Iterable[Line]) -> Iterator[Example]:
    """Put labelled lines into the format of `liantu train`."""
    words = {label: key for key, label in LABEL.items()}
    for line in lines:
        if line.label in (UNKNOWN, SAME):
            yield Example(line.text, line.head, line.tail, SAME_AS if line.label == SAME else "")
            continue
        reverse = line.label not in words
        relation, form = words[mirrored(line.label) if reverse else line.label]
        if line.label in SYMMETRIC:  # 订单 has no direction in the set: the first named is taken to deliver
            reverse = line.text.find(line.tail) < line.text.find(line.head)
        ends = (line.tail, line.head) if reverse else (line.head, line.tail)
        yield Example(line.text, *ends, relation, form)


def trained(model: RelationModel, lines: Sequence[Line]) -> list[str]:
    """Return the labels that the local model gives."""
    pairs = [pair_of(line.text, line.head, line.tail) for line in lines]
    return [_in_set_words(verdict) for verdict in model.verdicts(pairs)]


def _in_set_words(verdict: Verdict) -> str:
    if not verdict.relation:
        return UNKNOWN
    if verdict.relation == SAME_AS:
        return SAME
    label = LABEL[(verdict.relation, verdict.form)]
    return label if verdict.forward else mirrored(label)
