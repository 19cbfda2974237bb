"""Annual-report sentences with typed triples: relation and both names, exact.

Liantu's relations are put into the set's words by the table; the names are the spellings of the text.
"""

from __future__ import annotations

import json
from datetime import date
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any

from benchmarks.quality.masters import load_master
from benchmarks.quality.score import Report, Score
from extraction.patterns import chain, dealings, ownership, profiles, structure
from extraction.patterns.pattern import read
from extraction.pipeline import Extractor
from extraction.training import roles
from extraction.training.roles import Mark, RoleExample, RoleTagger
from kg.ids import document_id
from kg.model import Block, BlockKind, Document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.quality.score import Options
    from extraction.annotated import Annotated, Claim, Ref

DAY = date(2020, 6, 30)  # the sentences are undated; the reports they come from tell of 2019
_PATTERNS = (*chain.PATTERNS, *dealings.PATTERNS, *ownership.PATTERNS, *structure.PATTERNS)
Triple = tuple[str, str, str]  # subject, the set's relation, object
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


def rows_of(options: Options) -> Iterator[tuple[str, set[Triple]]]:
    """Yield each text with its triples."""
    for path in options.files:
        for line in filter(str.strip, path.read_text(encoding="utf-8").splitlines()):
            row: dict[str, Any] = json.loads(line)
            yield row["text"], {(each["subject"], each["predicate"], each["object"]) for each in row["spo_list"]}


def document_of(text: str) -> Document:
    """Return a text as a document of one paragraph."""
    block = Block(0, len(text), BlockKind.PARAGRAPH)
    return Document(id=document_id(text.encode()), title="", published_on=DAY, text=text, blocks=(block,))


def claims_of(annotated: Annotated) -> list[Claim]:
    """Return what is read in a sentence: the loose readings, then what the patterns read beside them."""
    loose = list(profiles.read(annotated))
    return [*loose, *profiles.beside(read(_PATTERNS, annotated), loose)]


def triples_of(extractor: Extractor, text: str) -> set[Triple]:
    """Return what the patterns read in a text, in the set's words."""
    found: set[Triple] = set()
    for annotated in extractor.annotate(document_of(text)):
        for claim in claims_of(annotated):
            triple = _in_set_words(claim, annotated, text)
            if triple is not None:
                found.add(triple)
    return found


def _in_set_words(claim: Claim, annotated: Annotated, text: str) -> Triple | None:
    word = WORD.get((claim.relation, claim.object.kind.value)) or WORD.get((claim.relation, ""))
    if word is None or claim.subject.start < 0 or claim.object.start < 0:
        return None
    ends = [_spelled(ref, annotated, text) for ref in (claim.subject, claim.object)]
    if word[1]:
        ends.reverse()
    return ends[0], word[0], ends[1]


def _spelled(ref: Ref, annotated: Annotated, text: str) -> str:
    start, end = annotated.sentence.span(ref.start, ref.end)
    return text[start:end]


def measure(options: Options) -> Report:
    """Score the triples of every text."""
    master, about = load_master(options)
    extractor = Extractor(master)
    score = Score("triples, relation and both names exact", at_least=0.38)
    report = Report([score], notes=[about])
    rows = list(islice(rows_of(options), options.limit or None))
    if options.train:  # the set has one labelled part: whatever is named, folds of the measured texts are held out
        score.at_least = 0.55
        report.notes.append(f"local training, {_FOLDS} folds by the hash of the text")
        every = trained(extractor, rows)
    else:
        every = [triples_of(extractor, text) for text, _ in rows]
    for (_, gold), found in zip(rows, every, strict=True):
        report.texts += 1
        score.add(gold, found)
        _count_faults(report, gold, found)
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


# ── with local training: a tagger of roles, fitted on the other texts of the set ──────────────────────────────────────

_FOLDS = 5
_TAUGHT = {
    "开展": "operates",
    "拥有": "produces",
    "属于": "belongs_to",
    "位于": "located_in",
    "合作": "partners_with",
    "投资": "invests_in",
    "应用于": "upstream_of",
}


def trained(extractor: Extractor, rows: Sequence[tuple[str, set[Triple]]]) -> list[set[Triple]]:
    """Return the triples of every text, read by a tagger that was fitted on the other folds."""
    examples = [
        RoleExample(
            text,
            frozenset(roles.Triple(subject, _TAUGHT[word], object_) for subject, word, object_ in gold),
            tuple(marks_of(extractor, text)),
        )
        for text, gold in rows
    ]
    words = {relation: word for word, relation in _TAUGHT.items()}
    found: list[set[Triple]] = [set() for _ in rows]
    for fold in range(_FOLDS):
        tagger = RoleTagger.fit([example for example in examples if _fold(example.text) != fold])
        for at, example in enumerate(examples):
            if _fold(example.text) == fold:
                told = tagger.read(example.text, example.marks)
                found[at] = {(each.subject, words[each.relation], each.object) for each in told}
    return found


def marks_of(extractor: Extractor, text: str) -> Iterator[Mark]:
    """Yield the names of a text and what the patterns read in it, by place."""
    for annotated in extractor.annotate(document_of(text)):
        for ref in annotated.refs:
            if ref.start >= 0:
                yield Mark(*annotated.sentence.span(ref.start, ref.end), ref.kind.value)
        for claim in claims_of(annotated):
            if claim.object.start >= 0:
                place = annotated.sentence.span(claim.object.start, claim.object.end)
                yield Mark(*place, claim.relation, read=True)


def _fold(text: str) -> int:
    return int(sha256(text.encode()).hexdigest(), 16) % _FOLDS
