"""What a fitted reader of roles reads in a document, as claims; and what it is told of a text beforehand.

A paragraph is read at once, for its first sentence names whom the others speak of. A claim stands in the sentence that
holds the listed name; a subject of another sentence is understood there.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from msgspec import structs

from extraction.annotated import CONTEXT, Claim, Ref
from extraction.patterns import chain, dealings, ownership, structure
from extraction.patterns.pattern import read as read_patterns
from extraction.patterns.profile_names import acting
from extraction.patterns.profiles import beside, listed_name
from extraction.patterns.profiles import read as read_profiles
from extraction.training.role_examples import Mark, RoleExample
from extraction.training.role_features import ACTING
from kg.ids import document_id, entity_id
from kg.model import Block, BlockKind, Document, Kind
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from extraction.annotated import Annotated
    from extraction.training.roles import Role, RoleModel

_PATTERNS = (*chain.PATTERNS, *dealings.PATTERNS, *ownership.PATTERNS, *structure.PATTERNS)
_FIRMS = (Kind.COMPANY, Kind.INSTITUTION)
_UNDATED = date(2020, 6, 30)  # labelled sentences have no day; names are taken as of this one
_NEW_NAME = 0.8  # the score of a name that no list knows
# What the listed name of a relation is where no list knows it, and what its owner is.
_KIND = {
    "operates": Kind.BUSINESS,
    "produces": Kind.PRODUCT,
    "belongs_to": Kind.INDUSTRY,
    "located_in": Kind.REGION,
    "upstream_of": Kind.INDUSTRY,
}
_OWNER = {"upstream_of": Kind.PRODUCT}


def roles_beside(relations: Path) -> Path:
    """Return where the reader of roles of a knowledge base lies, next to its relation model."""
    return relations.with_name(relations.name.replace(".relations.", ".roles."))


def readings(annotated: Annotated) -> list[Claim]:
    """Return what is read in a sentence untrained: the loose readings, then what the patterns read beside them."""
    loose = list(read_profiles(annotated))
    return [*loose, *beside(read_patterns(_PATTERNS, annotated), loose)]


def marks_of(sentences: Iterable[Annotated], start: int = 0) -> Iterator[Mark]:
    """Yield what is known of a paragraph that starts at an offset of its document: names, and untrained readings."""
    for annotated in sentences:
        for ref in annotated.refs:
            if ref.start != CONTEXT:
                yield _mark(annotated, ref, ref.kind.value, start)
        for ref in acting(annotated):
            yield _mark(annotated, ref, ACTING, start)
        for claim in readings(annotated):
            name = listed_name(claim)
            owner = claim.object if name is claim.subject else claim.subject
            if CONTEXT not in {name.start, owner.start}:
                told = _mark(annotated, owner, "", start)
                mark = _mark(annotated, name, claim.relation, start)
                yield replace(mark, read=claim.pattern, owner=(told.start, told.end))


def _mark(annotated: Annotated, ref: Ref, label: str, start: int) -> Mark:
    begin, end = annotated.sentence.span(ref.start, ref.end)
    return Mark(begin - start, end - start, label)


def marked(examples: Iterable[RoleExample], annotate: Callable[[Document], list[Annotated]]) -> list[RoleExample]:
    """Return labelled texts with what is known of them, each read as a document of one paragraph."""
    return [replace(each, marks=tuple(marks_of(annotate(paragraph(each.text))))) for each in examples]


def paragraph(text: str) -> Document:
    """Return an undated text as a document of one paragraph."""
    block = Block(0, len(text), BlockKind.PARAGRAPH)
    return Document(id=document_id(text.encode()), title="", published_on=_UNDATED, text=text, blocks=(block,))


def role_claims(
    model: RoleModel, document: Document, annotated: Sequence[Annotated]
) -> Iterator[tuple[Claim, Annotated]]:
    """Yield what a model reads in a document's paragraphs, each claim with the sentence that holds its listed name."""
    for block in document.blocks:
        inside = [each for each in annotated if block.start <= each.sentence.start < block.end]
        if not inside:
            continue
        marks = tuple(marks_of(inside, block.start))
        for role in model.read(document.text[block.start : block.end], marks):
            placed = _placed(role, inside, block.start)
            if placed is not None:
                yield placed


def unsaid(
    placed: Iterable[tuple[Claim, Annotated]], said: Sequence[tuple[Claim, Annotated]]
) -> list[tuple[Claim, Annotated]]:
    """Return the claims about two ends that no pattern relates, nor lists the one of another, in the document."""
    ends = {frozenset((claim.subject.entity, claim.object.entity)) for claim, _ in said}
    listed = {(claim.relation, listed_name(claim).entity) for claim, _ in said}
    return [
        (claim, home)
        for claim, home in placed
        if frozenset((claim.subject.entity, claim.object.entity)) not in ends
        and (claim.relation, listed_name(claim).entity) not in listed
    ]


def _placed(role: Role, inside: Sequence[Annotated], start: int) -> tuple[Claim, Annotated] | None:
    home, name = _ref(role.name, role.relation, inside, start) or (None, None)
    told, owner = _ref(role.owner, "", inside, start, kind=_OWNER.get(role.relation, Kind.COMPANY)) or (None, None)
    if home is None or name is None or told is None or owner is None:
        return None
    if told is not home:
        owner = structs.replace(owner, name=told.text[owner.start : owner.end], start=CONTEXT, end=CONTEXT)
    ends = (name, owner) if role.relation == "subsidiary_of" else (owner, name)
    if not vocabulary()[role.relation].allows(ends[0].kind, ends[1].kind) or owner.entity == name.entity:
        return None
    claim = Claim(
        relation=role.relation,
        subject=ends[0],
        object=ends[1],
        start=min(name.start, owner.start) if owner.start != CONTEXT else name.start,
        end=max(name.end, owner.end),
        pattern=f"roles.{role.relation}",
        confidence=round(role.probability * min(owner.score, name.score), 3),
    )
    return claim, home


def _ref(
    place: tuple[int, int], relation: str, inside: Sequence[Annotated], start: int, *, kind: Kind | None = None
) -> tuple[Annotated, Ref] | None:
    """Return the sentence and the name at a place of the paragraph; None where no sentence holds it whole."""
    kind = kind or _KIND.get(relation, Kind.COMPANY)
    for annotated in inside:
        begin, end = _inside(annotated.sentence.offsets, place[0] + start, place[1] + start)
        if begin >= end:
            continue
        known = [ref for ref in annotated.refs if (ref.start, ref.end) == (begin, end)]
        fits = [ref for ref in known if ref.kind == kind or (kind == Kind.COMPANY and ref.kind in _FIRMS)]
        text = annotated.text[begin:end]
        return annotated, fits[0] if fits else Ref(entity_id(kind, text), kind, text, begin, end, score=_NEW_NAME)
    return None


def _inside(offsets: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """Return where document[start:end] stands in a sentence, an empty place where it does not hold both ends."""
    begin, last = bisect_left(offsets, start), bisect_left(offsets, end - 1)
    held = last < len(offsets) - 1 and offsets[begin] == start and offsets[last] == end - 1
    return (begin, last + 1) if held else (0, 0)
