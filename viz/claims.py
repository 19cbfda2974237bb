"""Facts as text with their evidence, for display next to the graph."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from kg.messages.words import noted
from kg.model import Modality, Polarity
from kg.query.wording import factor_moves, scoped, value_text
from viz.wording import Lang, word

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from kg.model import Fact
    from kg.query.answers import Citation, Link

_QUALIFIERS: Final = (
    ("product", "product_of"),
    ("revenue_share", "revenue_share"),
    ("cost_share", "cost_share"),
    ("rank", "rank"),
    ("rating", "rating"),
)
_CERTAINTY: Final = tuple(Modality)
_MEASURED = "reports"
_OBJECT_SLOT = "…"  # in a relation's wording, such as 是…的上游
_OPENING = re.compile(rf"^.*?{_OBJECT_SLOT}的?")


@dataclass(frozen=True, slots=True)
class SceneEvidence:
    """One quote with its source, and the claim extracted from it; `url` is safe to link to, or empty."""

    quote: str
    title: str
    publisher: str
    speaker: str
    published_on: date
    page: int | None
    claim: str
    url: str = ""
    fact: str = ""


def claim_of(fact: Fact, wording: str, names: Mapping[str, str], *, lang: Lang = "zh") -> str:
    """Format a fact in one line: subject, relation, object, then qualifiers in brackets.

    >>> from kg.model import Fact
    >>> claim_of(Fact("f", "a", "upstream_of", "b"), "是…的上游", {"a": "硅料", "b": "硅片"})
    '硅料是硅片的上游'
    """
    notes = [f"{word(label, lang)} {value}" for key, label in _QUALIFIERS if (value := fact.qualifier(key))]
    if fact.value is not None and fact.relation != _MEASURED:
        notes.append(value_text(fact.value, lang))
    if fact.valid is not None:
        notes.append(str(fact.valid))
    if fact.modality is not Modality.ASSERTED:
        notes.append(word(fact.modality, lang))
    if fact.polarity is Polarity.NEGATIVE:
        notes.append(word("negated", lang))
    claim = _body(fact, wording, names, lang)
    return claim + noted(" · ".join(notes), lang) if notes else claim


def leading(link: Link) -> Fact | None:
    """Return the fact that determines a line's style: affirmed first, then most certain, then newest."""
    return max(
        link.facts,
        key=lambda fact: (
            fact.polarity is Polarity.POSITIVE,
            -_CERTAINTY.index(fact.modality),
            fact.last_published_on,
            str(fact.valid or ""),
            fact.id,
        ),
        default=None,
    )


def label_of(link: Link) -> str:
    """Return the short label of a line: its relation.

    >>> from kg.query.answers import Link
    >>> label_of(Link("a", "b", "upstream_of", "是…的上游", 0, 1.0, (), ()))
    '上游'
    """
    return _OPENING.sub("", link.wording) or link.wording


def _body(fact: Fact, wording: str, names: Mapping[str, str], lang: Lang) -> str:
    subject, target = names.get(fact.subject, fact.subject), names.get(fact.object, fact.object)
    if fact.relation == "affects":
        return f"{subject}{factor_moves(fact, 'cause', lang)} → {target}{factor_moves(fact, 'effect', lang)}"
    if fact.relation == _MEASURED:
        owner = "" if subject in target else f"{subject} "
        return f"{owner}{target}{scoped(fact, 'scope', lang)} {value_text(fact.value, lang)}".strip()
    if _OBJECT_SLOT in wording:
        head, tail = wording.split(_OBJECT_SLOT, 1)
        return f"{subject}{head}{target}{tail}"
    return f"{subject} {wording} {target}"


def evidence_of(link: Link, names: Mapping[str, str], lang: Lang = "zh") -> tuple[SceneEvidence, ...]:
    """Return a link's evidence, newest first; uncited facts show their own quotes."""
    facts = {fact.id: fact for fact in link.facts}
    claims = {key: claim_of(fact, link.wording, names, lang=lang) for key, fact in facts.items()}
    evidence = [citation_evidence(item, claims.get(item.fact, "")) for item in link.citations]
    cited = {item.fact for item in link.citations}
    for fact in link.facts:
        if fact.id not in cited:
            claim = claims[fact.id]
            evidence += [
                SceneEvidence(e.quote, "", "", e.speaker, e.published_on, None, claim, fact=fact.id)
                for e in fact.evidence
            ]
    return tuple(sorted(evidence, key=lambda e: (-e.published_on.toordinal(), e.title, e.page or 0, e.quote, e.claim)))


def citation_evidence(citation: Citation, claim: str = "") -> SceneEvidence:
    """Convert a citation to evidence for display."""
    return SceneEvidence(
        quote=citation.quote,
        title=citation.title,
        publisher=citation.publisher,
        speaker=citation.speaker,
        published_on=citation.published_on,
        page=citation.page,
        claim=claim,
        url=source_url(citation.url, citation.page),
        fact=citation.fact,
    )


def source_url(url: str, page: int | None = None) -> str:
    """Return a document's address if it may be linked to, with its page if it is a PDF; addresses are untrusted.

    >>> source_url("https://example.com/a.pdf", 3)
    'https://example.com/a.pdf#page=3'
    >>> source_url("javascript:alert(1)")
    ''
    """
    try:
        parts = urlsplit(url)
    except ValueError:  # such as an unclosed bracket around the host
        return ""
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        return ""
    if page and parts.path.lower().endswith(".pdf"):
        parts = parts._replace(fragment=f"page={page}")
    return parts.geturl()
