"""A fact in words and its witnesses, ready to show beside the picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kg.model import Modality, Polarity
from viz.wording import Lang, word

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from kg.model import Fact, Value
    from kg.query.answers import Citation, Link

_SCALES: Final[dict[str, float]] = {"千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "万亿": 1e12}
_QUALIFIERS: Final = (
    ("product", "product_of"),
    ("revenue_share", "revenue_share"),
    ("cost_share", "cost_share"),
    ("rank", "rank"),
)


@dataclass(frozen=True, slots=True)
class SceneEvidence:
    """One quote with where it stands, and the claim that was read from it."""

    quote: str
    title: str
    publisher: str
    speaker: str
    published_on: date
    page: int | None
    claim: str


def claim_of(fact: Fact, wording: str, names: Mapping[str, str], lang: Lang = "zh") -> str:
    """Say a fact in one line: who, how, whom, then in brackets what narrows it.

    >>> from kg.model import Fact
    >>> claim_of(Fact("f", "a", "produces", "b"), "生产", {"a": "通威股份", "b": "硅料"})
    '通威股份 生产 硅料'
    """
    subject = names.get(fact.subject, fact.subject) + _turn(fact, "cause_direction", lang)
    target = names.get(fact.object, fact.object) + _turn(fact, "effect_direction", lang)
    notes = [f"{word(label, lang)} {value}" for key, label in _QUALIFIERS if (value := fact.qualifier(key))]
    if fact.value is not None:
        notes.append(value_text(fact.value, lang))
    if fact.valid is not None:
        notes.append(str(fact.valid))
    if fact.modality is not Modality.ASSERTED:
        notes.append(word(fact.modality, lang))
    if fact.polarity is Polarity.NEGATIVE:
        notes.append(word("negated", lang))
    claim = " ".join(part for part in (subject, wording, target) if part)
    return f"{claim}（{' · '.join(notes)}）" if notes else claim


def value_text(value: Value, lang: Lang = "zh") -> str:
    """Write a value in the scale that its source used.

    >>> from kg.model import Value
    >>> value_text(Value(945000000.0, "元", "亿", "yoy"))
    '同比 9.45亿元'
    """
    unit = _SCALES.get(value.scale, 1.0)
    scale = value.scale if value.scale in _SCALES else ""
    text = f"{value.number / unit:.6g}"
    if value.high is not None:
        text += f"–{value.high / unit:.6g}"
    change = f"{word(value.change, lang)} " if value.change else ""
    return f"{change}{text}{scale}{value.unit}"


def evidence_of(link: Link, names: Mapping[str, str], lang: Lang = "zh") -> tuple[SceneEvidence, ...]:
    """Return a link's witnesses, newest first; a fact that nobody cited still shows its own quotes."""
    facts = {fact.id: fact for fact in link.facts}
    claims = {key: claim_of(fact, link.wording, names, lang) for key, fact in facts.items()}
    shown = [citation_evidence(item, claims.get(item.fact, "")) for item in link.citations]
    cited = {item.fact for item in link.citations}
    for fact in link.facts:
        if fact.id not in cited:
            claim = claims[fact.id]
            shown += [SceneEvidence(e.quote, "", "", e.speaker, e.published_on, None, claim) for e in fact.evidence]
    return tuple(sorted(shown, key=lambda e: (-e.published_on.toordinal(), e.title, e.page or 0, e.quote, e.claim)))


def citation_evidence(citation: Citation, claim: str = "") -> SceneEvidence:
    """Return a citation as it stands beside a line of prose."""
    return SceneEvidence(
        quote=citation.quote,
        title=citation.title,
        publisher=citation.publisher,
        speaker=citation.speaker,
        published_on=citation.published_on,
        page=citation.page,
        claim=claim,
    )


def _turn(fact: Fact, qualifier: str, lang: Lang) -> str:
    stated = fact.qualifier(qualifier)
    if not stated:
        return ""
    shown = word(stated, lang)
    return f" {shown}" if lang == "en" else shown
