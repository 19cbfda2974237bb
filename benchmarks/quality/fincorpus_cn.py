"""Typed triples in annual-report sentences: exact match of relation and both names.

`WORD` maps Liantu's relations to the set's; names are compared as spelled in the text.
"""

from __future__ import annotations

import json
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, Any

from benchmarks.quality.reading import TextReader, spelled
from benchmarks.quality.score import Report, Score

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.quality.score import Options

DAY = date(2020, 6, 30)  # the sentences are undated; their reports cover 2019
ACTORS = {"company", "institution", "person"}  # what the set's subjects are, but for 应用于
Triple = tuple[str, str, str]  # subject, the set's relation, object
Gold = dict[Triple, str]  # triple → object kind, in the set's terms
# (Liantu's relation, object kind or "" for any) → (the set's relation, whether subject and object are swapped).
WORD: dict[tuple[str, str], tuple[str, bool]] = {
    ("operates", ""): ("开展", False),
    ("produces", ""): ("拥有", False),
    ("subsidiary_of", ""): ("拥有", True),
    ("acquires", ""): ("拥有", False),
    ("founds", ""): ("拥有", False),
    ("holds_stake_in", ""): ("投资", False),
    ("invests_in", ""): ("投资", False),
    ("funds", ""): ("投资", False),
    ("raises_stake_in", ""): ("投资", False),
    ("belongs_to", ""): ("属于", False),
    ("located_in", ""): ("位于", False),
    ("partners_with", ""): ("合作", False),
    ("supplies", ""): ("合作", False),
    ("upstream_of", "industry"): ("应用于", False),
    ("upstream_of", "product"): ("应用于", False),
}


def rows_of(options: Options) -> Iterator[tuple[str, Gold]]:
    """Yield each text with its gold triples."""
    for path in options.files:
        for line in filter(str.strip, path.read_text(encoding="utf-8").splitlines()):
            row: dict[str, Any] = json.loads(line)
            triples = row["spo_list"]
            yield (
                row["text"],
                {(one["subject"], one["predicate"], one["object"]): one["object_type"] for one in triples},
            )


def triples_of(reader: TextReader, text: str) -> set[Triple]:
    """Return the triples extracted from a text, in the set's terms."""
    reading = reader.read(text)
    kinds = {entity.id: entity.kind.value for entity in reading.entities}
    found: set[Triple] = set()
    for fact in reading.facts:
        word = WORD.get((fact.relation, kinds[fact.object])) or WORD.get((fact.relation, ""))
        if word is not None and (fact.relation == "upstream_of" or kinds[fact.subject] in ACTORS):
            ends = spelled(fact, reading)
            found.add((ends[1], word[0], ends[0]) if word[1] else (ends[0], word[0], ends[1]))
    return found


def measure(options: Options) -> Report:
    """Score the triples of every text."""
    reader = TextReader(DAY, options.master)
    score = Score("triples, relation and both names exact", at_least=0.38)
    by_relation = {word: Score(word) for word in sorted({word for word, _ in WORD.values()})}
    report = Report([score, *by_relation.values()])
    for text, gold in islice(rows_of(options), options.limit or None):
        found = triples_of(reader, text)
        report.texts += 1
        score.add(gold, found)
        for word, each in by_relation.items():
            each.add(*({triple for triple in triples if triple[1] == word} for triples in (gold, found)))
        _count_faults(report, set(gold), found)
    return report


def _count_faults(report: Report, gold: set[Triple], found: set[Triple]) -> None:
    names = {name for subject, _, object_ in found for name in (subject, object_)}
    for subject, relation, object_ in sorted(gold - found):
        pairs = {(one, other): stated for one, stated, other in found}
        if (subject, object_) in pairs:
            kind = "wrong relation"
        elif (object_, subject) in pairs:
            kind = "wrong direction"
        elif any(
            one == subject and stated == relation and (other in object_ or object_ in other)
            for one, stated, other in found
        ):
            kind = "wrong boundary"
        elif any(stated == relation and other == object_ for _, stated, other in found):
            kind = "wrong subject"
        else:
            kind = "missed relation" if {subject, object_} <= names else "missed mention"
        report.fault(kind, f"{subject} | {relation} | {object_}")
    for triple in sorted(found - gold):
        report.fault("not in the set", " | ".join(triple))
