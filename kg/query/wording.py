"""Facts in words, Chinese first: who, what, how certain, for when, said by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.kinds import kind_of
from kg.model import Kind, Modality, Polarity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kg.model import Fact, Value
    from kg.query.answers import Citation, Link, Path
    from kg.query.session import QuerySession

ROLES = {"maker": "生产与布局者", "upstream": "上游", "downstream": "下游", "user": "使用者"}
_MODALITY = {
    Modality.ASSERTED: "",
    Modality.PLANNED: "（计划）",
    Modality.FORECAST: "（预测）",
    Modality.CONDITIONAL: "（有条件）",
    Modality.RUMOURED: "（传闻）",
}
_CHANGE = {
    "yoy": "同比",
    "qoq": "环比",
    "mom": "环比",
    "wow": "周环比",
    "ytd": "年初至今",
    "change": "变动",
    "share": "占比",
    "cagr": "复合增速",
}
_DIRECTIONS = {"up": 1, "down": -1, "none": 0}
_SCALES = (("万亿", 1e12), ("亿", 1e8), ("万", 1e4))
_RATIOS = frozenset({"%", "pct", "bp"})
_HAPPENS = frozenset({Kind.EVENT, Kind.POLICY})
_THINGS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME, Kind.COMPANY, Kind.BUSINESS})


def direction_text(direction: int, kind: Kind = Kind.INDICATOR) -> str:
    """Return the word for a move; an event has none when it happens, and one for its opposite.

    A trade, product or firm does well or badly: that it rises would be read as its price.
    """
    if kind in _HAPPENS:
        return "" if direction >= 0 else "（反向）"
    if kind in _THINGS:
        return {1: "向好", -1: "走弱", 0: "变动"}[direction]
    return {1: "上升", -1: "下降", 0: "变动"}[direction]


def claim_text(session: QuerySession, fact: Fact) -> str:
    """Return one fact as a Chinese sentence, without its source."""
    first, second = session.name(fact.subject), session.name(fact.object)
    body = _BODIES.get(fact.relation, _related)(session, fact, first, second)
    denied = "（否认）" if fact.polarity is Polarity.NEGATIVE else ""
    valid = f"［{fact.valid}］" if fact.valid else ""
    return f"{body}{denied}{_MODALITY[fact.modality]}{valid}"


def path_text(session: QuerySession, path: Path, direction: int) -> str:
    """Return a causal path as it is walked, its first node moving in `direction`.

    A link that sources only tell of the opposite move is worded as walked, and says so.
    """
    parts = []
    for link in path.links:
        said = said_of(link, direction)
        parts.append(claim_text(session, said) if said else f"{_walked(session, link, direction)}（由反向说法推断）")
        direction *= link.sign
    return "；".join(parts)


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
        f"{session.name(end)}{_moved(session, end, move)}"
        for end, move in ((link.source, direction), (link.target, direction * link.sign))
    )


def _moved(session: QuerySession, entity_id: str, direction: int) -> str:
    entity = session.view.entity(entity_id)
    return direction_text(direction, entity.kind if entity else Kind.INDICATOR)


def _affects(_: QuerySession, fact: Fact, first: str, second: str) -> str:
    return f"{first}{factor_moves(fact, 'cause')} → {second}{factor_moves(fact, 'effect')}"


def factor_moves(fact: Fact, end: str) -> str:
    """Return what narrows the factor at one `end` (cause, effect) and where it moves, as it stands behind its name.

    A happening that falls short of what was expected says only that.
    """
    scope = fact.qualifier(f"{end}_scope") or ""
    moved = _moves(fact.subject if end == "cause" else fact.object, fact.qualifier(f"{end}_direction"))
    return scoped(fact, f"{end}_scope") + ("" if "预期" in scope and moved == "缓和" else moved)


def scoped(fact: Fact, name: str) -> str:
    """Return what narrows a name (全球, 高速), in brackets."""
    return f"（{fact.qualifier(name)}）" if fact.qualifier(name) else ""


def _moves(entity_id: str, direction: str) -> str:
    """Return the word for a move; what happens has none, what eases or is called off has one of its own."""
    kind = kind_of(entity_id)
    if kind in _HAPPENS:
        return "缓和" if direction == "down" else ""
    moved = _DIRECTIONS[direction or "none"]
    return direction_text(moved, kind) if moved else ""


def _reports(_: QuerySession, fact: Fact, first: str, second: str) -> str:
    return f"{first if first not in second else ''}{second}{scoped(fact, 'scope')} {value_text(fact.value)}"


def _rates(_: QuerySession, fact: Fact, first: str, second: str) -> str:
    rating = f"“{fact.qualifier('rating')}”" if fact.qualifier("rating") else ""
    target = f"，目标价 {value_text(fact.value)}" if fact.value else ""
    return f"{first}给予{second}{rating}评级{target}"


def _located(session: QuerySession, fact: Fact, first: str, second: str) -> str:
    """A firm that has a plant somewhere does not lie there itself."""
    site = fact.qualifier("site")
    return f"{first} 在 {second} 有{site}" if site and session.lang == "zh" else _related(session, fact, first, second)


def _related(session: QuerySession, fact: Fact, first: str, second: str) -> str:
    wording = session.words[fact.relation].wording[session.lang]
    body = f"{first} {wording.replace('…', f' {second} ')}" if "…" in wording else f"{first} {wording} {second}"
    share = f"（{value_text(fact.value)}）" if fact.value else ""
    product = f"：{fact.qualifier('product')}" if fact.qualifier("product") else ""
    return f"{body}{share}{product}"


_BODIES: Mapping[str, Callable[[QuerySession, Fact, str, str], str]] = {
    "affects": _affects,
    "reports": _reports,
    "rates": _rates,
    "located_in": _located,
}


def value_text(value: Value | None) -> str:
    """Return a number as it is written: 9.45亿元、同比 -12.3%、65–70美元/桶."""
    if value is None:
        return ""
    factor, scale = _scale(value)
    number = _digits(value.number / factor)
    if value.high is not None:
        number = f"{number}–{_digits(value.high / factor)}"
    unit = "个百分点" if value.unit == "pct" else value.unit
    change = _CHANGE.get(value.change, "")
    signed = f"{'+' if value.number > 0 and value.change not in ('', 'share') else ''}{number}"
    return f"{change} {signed}{scale}{unit}".strip()


def _digits(number: float) -> str:
    """Return six significant digits, never as a power of ten."""
    text = f"{number:,.6g}"
    if "e" not in text:
        return text
    return f"{number:,.0f}" if abs(number) >= 1 else f"{number:.12f}".rstrip("0")


def _scale(value: Value) -> tuple[float, str]:
    """Return the scale it was written with; of one without, the largest that fits."""
    written = [(factor, name) for name, factor in _SCALES if name == value.scale]
    fitting = [(factor, name) for name, factor in _SCALES if abs(value.number) >= factor]
    bare = [(1.0, "")]
    return (written or (bare if value.unit in _RATIOS else fitting) or bare)[0]
