"""Annual-report sentences with typed triples: relation and both names, exact.

Liantu's relations are put into the set's words by the table; the names are the spellings of the text.
"""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any

from benchmarks.quality.masters import load_master
from benchmarks.quality.score import Report, Score
from extraction.annotated import CONTEXT
from extraction.pipeline import Extractor
from extraction.training import role_examples
from extraction.training.role_examples import RoleExample
from extraction.training.role_reading import marked, paragraph, readings, role_claims
from extraction.training.roles import RoleModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.quality.score import Options
    from extraction.annotated import Annotated, Claim, Ref

Triple = tuple[str, str, str]  # subject, the set's relation, object
Gold = dict[Triple, str]  # each triple with the kind of its object, in the set's words
# Liantu's relation and the object's kind (any, where empty) → the set's relation, and whether the ends change places.
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
    """Yield each text with its triples."""
    for path in options.files:
        for line in filter(str.strip, path.read_text(encoding="utf-8").splitlines()):
            row: dict[str, Any] = json.loads(line)
            told = row["spo_list"]
            yield row["text"], {(one["subject"], one["predicate"], one["object"]): one["object_type"] for one in told}


def triples_of(extractor: Extractor, text: str) -> set[Triple]:
    """Return what the patterns read in a text, in the set's words."""
    found: set[Triple] = set()
    for annotated in extractor.annotate(paragraph(text)):
        for claim in readings(annotated):
            written = CONTEXT not in {claim.subject.start, claim.object.start}
            triple = _in_set_words(claim, annotated, text) if written else None
            if triple is not None:
                found.add(triple)
    return found


def _in_set_words(claim: Claim, annotated: Annotated, text: str) -> Triple | None:
    word = WORD.get((claim.relation, claim.object.kind.value)) or WORD.get((claim.relation, ""))
    if word is None:
        return None
    ends = [_spelled(ref, annotated, text) for ref in (claim.subject, claim.object)]
    if word[1]:
        ends.reverse()
    return ends[0], word[0], ends[1]


def _spelled(ref: Ref, annotated: Annotated, text: str) -> str:
    if ref.start == CONTEXT:  # told in another sentence of the text, as it spells it
        return ref.name
    start, end = annotated.sentence.span(ref.start, ref.end)
    return text[start:end]


def measure(options: Options) -> Report:
    """Score the triples of every text."""
    master, about = load_master(options)
    extractor = Extractor(master)
    score = Score("triples, relation and both names exact", at_least=0.38)
    by_relation = {word: Score(word) for word in _TAUGHT}
    report = Report([score, *by_relation.values()], notes=[about])
    rows = list(islice(rows_of(options), options.limit or None))
    if options.train:
        score.at_least = 0.55
        taught = list(rows_of(replace(options, files=options.train)))
        folds = _FOLDS if {text for text, _ in rows} & {text for text, _ in taught} else 1
        report.notes.append(f"local training on {len(taught):,} texts, {folds} folds by the hash of the text")
        every = trained(extractor, rows, taught, folds=folds)
    else:
        every = [triples_of(extractor, text) for text, _ in rows]
    for (_, gold), found in zip(rows, every, strict=True):
        report.texts += 1
        score.add(gold, found)
        for word, each in by_relation.items():
            each.add(*({triple for triple in triples if triple[1] == word} for triples in (gold, found)))
        _count_faults(report, set(gold), found)
    return report


def _count_faults(report: Report, gold: set[Triple], found: set[Triple]) -> None:
    names = {name for subject, _, object_ in found for name in (subject, object_)}
    for subject, relation, object_ in sorted(gold - found):
        pairs = {(one, other): said for one, said, other in found}
        if (subject, object_) in pairs:
            kind = "wrong relation"
        elif (object_, subject) in pairs:
            kind = "wrong direction"
        elif any(
            one == subject and said == relation and (other in object_ or object_ in other) for one, said, other in found
        ):
            kind = "wrong boundary"
        elif any(said == relation and other == object_ for _, said, other in found):
            kind = "wrong subject"
        else:
            kind = "missed relation" if {subject, object_} <= names else "missed mention"
        report.fault(kind, f"{subject} | {relation} | {object_}")
    for triple in sorted(found - gold):
        report.fault("not in the set", " | ".join(triple))


# ── with local training: a reader of roles, fitted on the other texts of the set ──────────────────────────────────────

_FOLDS = 5
_TAUGHT = {
    "开展": "operates",
    "拥有": "produces",
    "属于": "belongs_to",
    "位于": "located_in",
    "合作": "partners_with",
    "投资": "holds_stake_in",
    "应用于": "upstream_of",
}


def trained(
    extractor: Extractor, rows: Sequence[tuple[str, Gold]], taught: Sequence[tuple[str, Gold]], *, folds: int
) -> list[set[Triple]]:
    """Return the triples of every text, read by a model of the taught texts; with folds, of those of the others."""
    examples = marked((_taught(text, gold) for text, gold in taught), extractor.annotate)
    found: list[set[Triple]] = [set() for _ in rows]
    for fold in range(folds):
        model = RoleModel.fit([each for each in examples if folds == 1 or _fold(each.text, folds) != fold])
        for at, (text, _) in enumerate(rows):
            if _fold(text, folds) == fold:
                document = paragraph(text)
                told = role_claims(model, document, extractor.annotate(document))
                triples = (_in_set_words(claim, annotated, text) for claim, annotated in told)
                found[at] = {triple for triple in triples if triple is not None}
    return found


def _taught(text: str, gold: Mapping[Triple, str]) -> RoleExample:
    """Put the set's triples into Liantu's words; who has a company is its parent."""
    triples = []
    for (subject, word, object_), kind in gold.items():
        is_child = word == "拥有" and kind == "公司企业"
        ends = (object_, "subsidiary_of", subject) if is_child else (subject, _TAUGHT[word], object_)
        triples.append(role_examples.Triple(*ends))
    return RoleExample(text, frozenset(triples))


def _fold(text: str, folds: int) -> int:
    return int(sha256(text.encode()).hexdigest(), 16) % folds
