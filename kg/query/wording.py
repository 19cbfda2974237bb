"""Facts in words, in Chinese or English: who, what, how certain, for when, said by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.kinds import kind_of
from kg.messages.words import noted, word
from kg.model import Kind, Modality, Polarity
from kg.query.values import value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kg.messages.words import Lang
    from kg.model import Entity, Fact
    from kg.query.answers import Citation, Link, Path
    from kg.query.session import QuerySession

ROLES = ("maker", "upstream", "downstream", "user")
_DIRECTIONS = {"up": 1, "down": -1, "none": 0}
_NAMES = {move: name for name, move in _DIRECTIONS.items()}
_HAPPENS = frozenset({Kind.EVENT, Kind.POLICY})
_THINGS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME, Kind.COMPANY, Kind.BUSINESS})


def direction_text(direction: int, kind: Kind = Kind.INDICATOR, lang: Lang = "zh") -> str:
    """Return the word for a move; an event has none when it happens, and one for its opposite.

    A trade, product or firm does well or badly: that it rises would be read as its price.
    """
    if kind in _HAPPENS:
        return "" if direction >= 0 else word("move.reversed", lang)
    return word(f"move.{'thing' if kind in _THINGS else 'level'}.{_NAMES[direction]}", lang)


def claim_text(session: QuerySession, fact: Fact) -> str:
    """Return one fact as a sentence in the session's language, without its source."""
    lang = session.lang
    first, second = session.name(fact.subject), session.name(fact.object)
    body = _BODIES.get(fact.relation, _related)(session, fact, first, second)
    denied = word("denied", lang) if fact.polarity is Polarity.NEGATIVE else ""
    certainty = "" if fact.modality is Modality.ASSERTED else word(f"modality.{fact.modality}", lang)
    valid = word("period", lang, period=fact.valid) if fact.valid else ""
    return f"{body}{denied}{certainty}{valid}"


def flow(parts: Iterable[str], lang: Lang) -> str:
    """Return sentences as one line."""
    return word("sentences", lang).join(parts)


def path_text(session: QuerySession, path: Path, direction: int) -> str:
    """Return a causal path as it is walked, its first node moving in `direction`.

    A link that sources only tell of the opposite move is worded as walked, and says so.
    """
    parts = []
    for link in path.links:
        said = said_of(link, direction)
        inferred = noted(word("from_reverse", session.lang), session.lang)
        parts.append(claim_text(session, said) if said else _walked(session, link, direction) + inferred)
        direction *= link.sign
    return flow(parts, session.lang)


def said_of(link: Link, direction: int) -> Fact | None:
    """Return the fact of a link that speaks of this move of its cause; a cause that just happens moves up."""
    causal = link.relation == "affects"
    moves = ((fact, _DIRECTIONS[fact.qualifier("cause_direction") or "none"] or 1) for fact in link.facts)
    return next((fact for fact, move in moves if not causal or direction in (0, move)), None)


def distinct(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    """Return each sentence once: a list of firms is the evidence of every one of them."""
    first: dict[tuple[str, str], Citation] = {}
    for citation in citations:
        first.setdefault((citation.document, citation.quote), citation)
    return tuple(first.values())


def path_citations(path: Path, direction: int) -> tuple[Citation, ...]:
    """Return the newest citation of each fact that `path_text` words, each sentence once."""
    cited: list[Citation] = []
    for link in path.links:
        fact = said_of(link, direction) or link.facts[0]
        places = {(item.document, item.start) for item in fact.evidence}
        own = [citation for citation in link.citations if (citation.document, citation.start) in places]
        cited += (own or link.citations)[:1]
        direction *= link.sign
    return distinct(cited)


def _walked(session: QuerySession, link: Link, direction: int) -> str:
    return " → ".join(
        behind(session.name(end), _moved(session, end, move), session.lang)
        for end, move in ((link.source, direction), (link.target, direction * link.sign))
    )


def _moved(session: QuerySession, entity_id: str, direction: int) -> str:
    entity = session.view.entity(entity_id)
    return direction_text(direction, entity.kind if entity else Kind.INDICATOR, session.lang)


def coded(entity: Entity, lang: Lang) -> str:
    """Return a name with its first code."""
    return word("coded", lang, name=entity.name, code=entity.codes[0]) if entity.codes else entity.name


def behind(name: str, said: str, lang: Lang) -> str:
    """Return a name with what is said of it: 价格上升, price rises."""
    return name + said if lang == "zh" or not said or said.startswith(" ") else f"{name} {said}"


def _affects(session: QuerySession, fact: Fact, first: str, second: str) -> str:
    cause, effect = (factor_moves(fact, end, session.lang) for end in ("cause", "effect"))
    return f"{first}{cause} → {second}{effect}"


def factor_moves(fact: Fact, end: str, lang: Lang = "zh") -> str:
    """Return what narrows the factor at one `end` (cause, effect) and where it moves, as it stands behind its name.

    A happening that falls short of what was expected says only that.
    """
    scope = fact.qualifier(f"{end}_scope") or ""
    entity_id = fact.subject if end == "cause" else fact.object
    moved = _moves(entity_id, fact.qualifier(f"{end}_direction") or "none", lang)
    falls_short = "预期" in scope and kind_of(entity_id) in _HAPPENS
    return behind(scoped(fact, f"{end}_scope", lang), "" if falls_short else moved, lang)


def scoped(fact: Fact, name: str, lang: Lang = "zh") -> str:
    """Return what narrows a name (全球, 高速), in brackets."""
    return noted(fact.qualifier(name), lang) if fact.qualifier(name) else ""


def _moves(entity_id: str, direction: str, lang: Lang) -> str:
    """Return the word for a move; what happens has none, what eases or is called off has one of its own."""
    kind = kind_of(entity_id)
    if kind in _HAPPENS:
        return word("move.eases", lang) if direction == "down" else ""
    moved = _DIRECTIONS[direction]
    return direction_text(moved, kind, lang) if moved else ""


def _reports(session: QuerySession, fact: Fact, first: str, second: str) -> str:
    owner = first if first not in second else ""
    owned = behind(owner, second, session.lang) if owner else second
    return f"{owned}{scoped(fact, 'scope', session.lang)} {value_text(fact.value, session.lang)}"


def _rates(session: QuerySession, fact: Fact, first: str, second: str) -> str:
    lang = session.lang
    rating = word("rating", lang, rating=fact.qualifier("rating")) if fact.qualifier("rating") else ""
    target = word("target_price", lang, value=value_text(fact.value, lang)) if fact.value else ""
    return word("rates", lang, house=first, stock=second, rating=rating) + target


def _located(session: QuerySession, fact: Fact, first: str, second: str) -> str:
    """A firm that has a plant somewhere does not lie there itself."""
    site = fact.qualifier("site")
    if not site:
        return _related(session, fact, first, second)
    return word("has_site", session.lang, company=first, place=second, site=site)


def _related(session: QuerySession, fact: Fact, first: str, second: str) -> str:
    lang = session.lang
    wording = session.words[fact.relation].wording[lang]
    body = f"{first} {wording.replace('…', f' {second} ')}" if "…" in wording else f"{first} {wording} {second}"
    share = noted(value_text(fact.value, lang), lang) if fact.value else ""
    product = f"{word('colon', lang)}{fact.qualifier('product')}" if fact.qualifier("product") else ""
    return f"{body}{share}{product}"


_BODIES: Mapping[str, Callable[[QuerySession, Fact, str, str], str]] = {
    "affects": _affects,
    "reports": _reports,
    "rates": _rates,
    "located_in": _located,
}
