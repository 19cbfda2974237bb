"""What a trained model changes: patterns' claims between firms are re-scored, and what no pattern read is added."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from msgspec.structs import replace

from extraction.annotated import Claim
from extraction.training.examples import SAME
from extraction.training.features import pair_of
from kg.model import Kind
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from extraction.annotated import Annotated, Ref
    from extraction.training.model import RelationModel, Verdict

_ENDS = frozenset({Kind.COMPANY, Kind.INSTITUTION})
_REACH = 60  # characters between two names that are asked about
_MOST_PAIRS = 15  # of one sentence; a list of forty firms says nothing of each two
_ADDED = 0.75  # the probability from which the model alone makes a claim
_DOUBTED = 0.6  # the probability of "none" from which it halves a pattern's claim


def model_beside(kb: Path) -> Path:
    """Return where the model of a knowledge base lies."""
    return kb.with_name(f"{kb.name}.relations.npz")


def rescored(model: RelationModel, annotated: Annotated, claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims of a sentence as the model sees them, then those that it adds."""
    pairs = list(_pairs(annotated))
    placed = [
        pair_of(
            annotated.text,
            annotated.text[one.start : one.end],
            annotated.text[other.start : other.end],
            kinds=(one.kind, other.kind),
        )
        for one, other in pairs
    ]
    verdicts = dict(zip(pairs, model.verdicts(placed), strict=True))
    out = list(claims)
    for (one, other), verdict in verdicts.items():
        ends = {one.entity, other.entity}
        about = [at for at, claim in enumerate(out) if {claim.subject.entity, claim.object.entity} == ends]
        for at in about:
            out[at] = _judged(out[at], verdict)
        if not about and verdict.relation not in ("", SAME) and verdict.probability >= _ADDED:
            out += _made(one, other, verdict)
    return out


def _pairs(annotated: Annotated) -> Iterator[tuple[Ref, Ref]]:
    """Yield the first mentions, two by two, of firms that stand near one another."""
    firms: dict[str, Ref] = {}
    for ref in annotated.refs:
        if ref.kind in _ENDS and ref.start >= 0:
            firms.setdefault(ref.entity, ref)
    near = [(one, other) for one, other in combinations(firms.values(), 2) if other.start - one.end <= _REACH]
    yield from near if len(near) <= _MOST_PAIRS else ()


def _judged(claim: Claim, verdict: Verdict) -> Claim:
    if verdict.relation == claim.relation:
        return replace(claim, confidence=claim.confidence + (1 - claim.confidence) * 0.5 * verdict.probability)
    if verdict.relation in ("", SAME) and verdict.probability >= _DOUBTED:
        return replace(claim, confidence=claim.confidence * 0.5)
    return claim


def _made(one: Ref, other: Ref, verdict: Verdict) -> Iterator[Claim]:
    subject, object_ = (one, other) if verdict.forward else (other, one)
    if vocabulary()[verdict.relation].allows(subject.kind, object_.kind):
        yield Claim(
            relation=verdict.relation,
            subject=subject,
            object=object_,
            start=min(one.start, other.start),
            end=max(one.end, other.end),
            pattern=f"model.{verdict.relation}",
            qualifiers=(("form", verdict.form),) if verdict.form else (),
            confidence=verdict.probability * min(one.score, other.score),
        )
