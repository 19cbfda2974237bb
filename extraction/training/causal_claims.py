"""What a fitted causal model reads in a sentence, as claims: only where the sentence links the names of both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from extraction.annotated import Claim, Ref
from extraction.mentions import indicator_of
from extraction.patterns.directions import DIRECTION_NAME, UP
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from extraction.annotated import Annotated
    from extraction.patterns.moves import Move
    from extraction.training.causal_examples import Argument
    from extraction.training.causal_model import CausalModel, Told

_SURE = 0.6  # probability from which a pair becomes a claim; a benchmark's threshold may be lower
# What a kind of factor is called behind a name.
_HEADS = {
    "price": "价格",
    "supply": "供给",
    "demand": "需求",
    "sales": "销量",
    "cost": "成本",
    "profit": "利润",
    "import": "进口量",
    "export": "出口量",
}
_OWNERS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.BUSINESS, Kind.COMPANY})


def causal_beside(relations: Path) -> Path:
    """Return where the causal model of a knowledge base lies, next to its relation model."""
    return relations.with_name(relations.name.replace(".relations.", ".causal."))


def model_claims(model: CausalModel, annotated: Annotated) -> Iterator[Claim]:
    """Yield the causal claims that a model reads in a sentence with names."""
    if len(annotated.refs) < 1:
        return
    told = [told for told in model.read(annotated.text) if told.probability >= _SURE]
    arguments = model.arguments(annotated.text, [each.pair for each in told]) if told else {}
    for each in told:
        causes = _sides(annotated, each.link.cause, arguments[each.pair][0])
        effects = _sides(annotated, each.link.effect, arguments[each.pair][1])
        for cause in causes:
            for effect in effects:
                if cause.entity != effect.entity:
                    yield _claim(each, cause, effect)


def unread(claims: Iterable[Claim], known: Sequence[Claim]) -> Iterator[Claim]:
    """Yield the claims about two ends that no pattern has read: what a pattern says of them stands."""
    ends = {frozenset((claim.subject.entity, claim.object.entity)) for claim in known}
    return (claim for claim in claims if frozenset((claim.subject.entity, claim.object.entity)) not in ends)


def _sides(annotated: Annotated, move: Move, arguments: set[Argument]) -> list[Ref]:
    """Return the factors of one side: 铜 with price is 铜价格; an event is the name that the movement itself is."""
    if not move.direction:
        return [
            ref for ref in annotated.refs if ref.kind == Kind.EVENT and ref.start < move.end and move.start < ref.end
        ]
    if move.kind not in _HEADS:
        return []
    named = {name for role, name in arguments if role != "region"}
    out: dict[str, Ref] = {}
    for ref in annotated.refs:
        if ref.start < 0 or not any(_is_named(annotated.text, ref, name) for name in named):
            continue
        if ref.kind in _OWNERS:
            factor = indicator_of(ref, _HEADS[move.kind], start=ref.start, end=ref.end)
        elif ref.kind == Kind.INDICATOR and ref.about and ref.start <= move.head[0] < ref.end:
            factor = ref
        else:
            continue
        out.setdefault(factor.entity, factor)
    return list(out.values())


def _is_named(text: str, ref: Ref, name: str) -> bool:
    return text[ref.start : ref.end].startswith(name) or name.endswith(text[ref.start : ref.end])


def _claim(told: Told, cause: Ref, effect: Ref) -> Claim:
    link = told.link
    moved = link.effect.direction
    return Claim(
        relation="affects",
        subject=cause,
        object=effect,
        start=min(link.cause.start, link.effect.start),
        end=max(link.cause.end, link.effect.end),
        pattern="causal.model",
        sign=(link.cause.direction or UP) * moved,
        qualifiers=(
            ("cause_direction", DIRECTION_NAME[link.cause.direction]),
            ("effect_direction", DIRECTION_NAME[moved]),
        ),
        confidence=round(told.probability * min(cause.score, effect.score), 3),
    )
