"""Annual-report sentences with typed triples: relation and both names, exact.

Liantu's relations are put into the set's words by the table; the names are the spellings of the text.
"""

from __future__ import annotations

import json
from datetime import date
from hashlib import sha256
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

from benchmarks.quality.masters import load_master
from benchmarks.quality.score import Report, Score
from extraction.patterns import chain, dealings, listed, ownership, structure
from extraction.patterns.pairs import only, relation_of
from extraction.patterns.pattern import read
from extraction.pipeline import Extractor
from extraction.training.examples import Example
from extraction.training.features import pair_of
from extraction.training.model import RelationModel
from kg.ids import document_id
from kg.model import Block, BlockKind, Document, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.quality.score import Options
    from extraction.annotated import Annotated, Claim, Ref
    from extraction.training.model import Verdict

DAY = date(2020, 6, 30)  # the sentences are undated; the reports they come from tell of 2019
_PATTERNS = (*chain.PATTERNS, *dealings.PATTERNS, *ownership.PATTERNS, *structure.PATTERNS)
Triple = tuple[str, str, str]  # subject, the set's relation, object
# Liantu's relation and the object's kind (any, where empty) → the set's relation, and whether the ends change places.
WORD: dict[tuple[str, str], tuple[str, bool]] = {
    ("operates", ""): ("开展", False),
    ("operates", "industry"): ("属于", False),
    ("operates", "theme"): ("属于", False),
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


def claims_of(annotated: Annotated) -> Iterator[Claim]:
    """Yield what the patterns read in a sentence, and what its lists name."""
    yield from read(_PATTERNS, annotated)
    yield from listed.read(annotated)
    firms = {ref.entity for ref in annotated.refs if ref.kind == Kind.COMPANY and ref.start >= 0}
    for pair in combinations(sorted(firms), 2):
        claim = relation_of(only(annotated, *pair))
        if claim is not None:
            yield claim


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


# ── with local training: the same candidates, typed by a model fitted on other texts of the set ─────────────────────

_FOLDS = 5
_TAUGHT = {
    "开展": "operates",
    "属于": "belongs_to",
    "位于": "located_in",
    "合作": "partners_with",
    "投资": "invests_in",
    "应用于": "upstream_of",
}  # 拥有 is subsidiary_of for a company, else produces


def candidates_of(extractor: Extractor, text: str) -> list[tuple[str, str, Kind, Kind]]:
    """Return the pairs of names that a model is asked about: each possible name with the company before it."""
    found: dict[tuple[str, str], tuple[Kind, Kind]] = {}
    for annotated in extractor.annotate(document_of(text)):
        mentions = [ref for ref in annotated.refs if ref.start >= 0]
        firms = [ref for ref in mentions if ref.kind == Kind.COMPANY]
        places = {(ref.start, ref.end): ref.kind for ref in mentions}
        for place in listed.proposals(annotated):
            places.setdefault(place, Kind.PRODUCT)
        for claim in claims_of(annotated):
            places.setdefault((claim.object.start, claim.object.end), claim.object.kind)
        for (start, end), kind in places.items():
            before = [firm for firm in firms if firm.end <= start]
            owners = firms if kind == Kind.COMPANY else before[-1:] or firms[:1]
            for owner in owners:
                one, other = text_of(annotated, text, (owner.start, owner.end)), text_of(annotated, text, (start, end))
                if one != other and start >= 0:
                    found.setdefault((one, other), (owner.kind, kind))
    return [(one, other, *kinds) for (one, other), kinds in found.items()]


def text_of(annotated: Annotated, text: str, place: tuple[int, int]) -> str:
    """Return a stretch of a sentence as the text spells it."""
    low, high = annotated.sentence.span(*place)
    return text[low:high]


def trained(extractor: Extractor, rows: Sequence[tuple[str, set[Triple]]]) -> list[set[Triple]]:
    """Return the triples of every text, read by a model that was fitted on the other folds."""
    asked = [candidates_of(extractor, text) for text, _ in rows]
    found: list[set[Triple]] = [set() for _ in rows]
    for fold in range(_FOLDS):
        taught = [at for at in range(len(rows)) if _fold(rows[at][0]) != fold]
        model = RelationModel.fit([each for at in taught for each in _examples(*rows[at], asked[at])])
        for at in (at for at in range(len(rows)) if _fold(rows[at][0]) == fold):
            text = rows[at][0]
            pairs = [pair_of(text, one, other, kinds=kinds) for one, other, *kinds in asked[at]]  # type: ignore[arg-type]
            for (one, other, *_), verdict in zip(asked[at], model.verdicts(pairs), strict=True):
                triple = _verdict_in_set_words(one, other, verdict)
                if triple is not None:
                    found[at].add(triple)
    return found


def _fold(text: str) -> int:
    return int(sha256(text.encode()).hexdigest(), 16) % _FOLDS


def _examples(text: str, gold: set[Triple], asked: Sequence[tuple[str, str, Kind, Kind]]) -> Iterator[Example]:
    said = {(subject, object_): relation for subject, relation, object_ in sorted(gold)}
    for one, other, kind, other_kind in asked:
        if (one, other) in said:
            yield _example(text, one, other, said[(one, other)], (kind, other_kind))
        elif (other, one) in said:
            yield _example(text, other, one, said[(other, one)], (other_kind, kind))
        else:
            yield Example(text, one, other, subject_kind=kind, object_kind=other_kind)


def _example(text: str, one: str, other: str, word: str, kinds: tuple[Kind, Kind]) -> Example:
    if word == "拥有" and kinds[1] == Kind.COMPANY:
        return Example(text, other, one, "subsidiary_of", subject_kind=kinds[1], object_kind=kinds[0])
    return Example(text, one, other, _TAUGHT.get(word, "produces"), subject_kind=kinds[0], object_kind=kinds[1])


def _verdict_in_set_words(one: str, other: str, verdict: Verdict) -> Triple | None:
    ends = (one, other) if verdict.forward else (other, one)
    if verdict.relation == "subsidiary_of":
        return ends[1], "拥有", ends[0]
    words = {relation: word for word, relation in _TAUGHT.items()} | {"produces": "拥有"}
    return (ends[0], words[verdict.relation], ends[1]) if verdict.relation else None
