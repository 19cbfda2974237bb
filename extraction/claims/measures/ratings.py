"""Extract ratings and target prices: 「给予宁德时代“买入”评级，目标价300元」."""

from __future__ import annotations

from typing import TYPE_CHECKING

from extraction.sentence import Claim, EntityMention
from extraction.text.lexicon import phrases
from kg.ids import entity_id
from kg.model import Kind, Value
from kg.text.regex_prefilter import Prefiltered

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from extraction.sentence import AnnotatedSentence

_PHRASES = phrases("measures/ratings")
_RATING = Prefiltered(_PHRASES["rating"].pattern)
_TARGET = _PHRASES["target"]
_BROKER = _PHRASES["broker"]
_UNITS = {"港币": "港元", "HKD": "港元", "USD": "美元"}


def read(annotated: AnnotatedSentence, publisher: str) -> Iterator[Claim]:
    """Yield the ratings of one sentence; the rater is the institution named before, else the publisher."""
    for match in _RATING.finditer(annotated.text):
        object_ = _rated(annotated, match)
        subject = _rater(annotated, match.start(), publisher)
        if object_ is None or subject is None or subject.entity == object_.entity:
            continue
        target = _TARGET.search(annotated.text)
        yield Claim(
            relation="rates",
            subject=subject,
            object=object_,
            start=match.start(),
            end=max(match.end(), target.end() if target else 0),
            pattern="rating",
            value=_price(target),
            qualifiers=(("action", match["action"]), ("rating", match["rating"])),
            confidence=0.9 * object_.score,
        )


def _rated(annotated: AnnotatedSentence, match: re.Match[str]) -> EntityMention | None:
    inside = [ref for ref in annotated.between(match.start(), match.end()) if ref.kind in (Kind.COMPANY, Kind.INDUSTRY)]
    if inside:
        return inside[0]
    before = [ref for ref in annotated.between(0, match.start()) if ref.kind in (Kind.COMPANY, Kind.INDUSTRY)]
    if len({ref.entity for ref in before}) == 1:
        return before[0]
    return annotated.subject if not before else None


def _rater(annotated: AnnotatedSentence, before: int, publisher: str) -> EntityMention | None:
    named = [ref for ref in annotated.between(0, before) if ref.kind == Kind.INSTITUTION or _BROKER.search(ref.name)]
    if named:
        return named[-1]
    return EntityMention(entity_id(Kind.INSTITUTION, publisher), Kind.INSTITUTION, publisher) if publisher else None


def _price(match: re.Match[str] | None) -> Value | None:
    if match is None:
        return None
    unit = _UNITS.get(match["unit"], match["unit"])
    return Value(
        float(match["price"]), unit, basis="target_price", high=float(match["high"]) if match["high"] else None
    )
