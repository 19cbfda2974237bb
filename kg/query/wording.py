"""Facts in words, Chinese first: who, what, how certain, for when, said by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.model import Kind, Modality, Polarity

if TYPE_CHECKING:
    from kg.model import Entity, Fact, Value
    from kg.query.answers import Link, Path
    from kg.query.lens import Lens

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
_MOVES = {"up": "上升", "down": "下降", "none": ""}
_DIRECTIONS = {"up": 1, "down": -1, "none": 0}
_SCALES = (("万亿", 1e12), ("亿", 1e8), ("万", 1e4))
_HAPPENS = frozenset({Kind.EVENT, Kind.POLICY})


def direction_text(direction: int, kind: Kind = Kind.INDICATOR) -> str:
    """Return the word for a move; an event has none when it happens and 「不发生」 when it does not."""
    if kind in _HAPPENS:
        return "" if direction >= 0 else "（反向）"
    return {1: "上升", -1: "下降", 0: "变动"}[direction]


def claim_text(lens: Lens, fact: Fact) -> str:
    """Return one fact as a Chinese sentence, without its source."""
    subject, object_ = lens.view.entity(fact.subject), lens.view.entity(fact.object)
    first, second = _name(subject, fact.subject), _name(object_, fact.object)
    if fact.relation == "affects":
        body = f"{first}{_MOVES[fact.qualifier('cause_direction') or 'none']} → {second}{_MOVES[fact.qualifier('effect_direction') or 'none']}"
    elif fact.relation == "reports":
        scope = f"（{fact.qualifier('scope')}）" if fact.qualifier("scope") else ""
        body = f"{first if first not in second else ''}{second}{scope} {value_text(fact.value)}"
    elif fact.relation == "rates":
        target = f"，目标价 {value_text(fact.value)}" if fact.value else ""
        body = f"{first}给予{second}“{fact.qualifier('rating')}”评级{target}"
    else:
        share = f"（{value_text(fact.value)}）" if fact.value else ""
        product = fact.qualifier("product")
        body = (
            f"{first} {lens.words[fact.relation].wording[lens.lang]} {second}{share}{f'：{product}' if product else ''}"
        )
    denied = "（否认）" if fact.polarity == Polarity.NEGATIVE else ""
    valid = f"［{fact.valid}］" if fact.valid else ""
    return f"{body}{denied}{_MODALITY[fact.modality]}{valid}"


def path_text(lens: Lens, path: Path, direction: int) -> str:
    """Return a causal path as it is walked, its first node moving in `direction`; a link said of the opposite move says so."""
    parts = []
    for link in path.links:
        said = next((fact for fact in link.facts if _says(fact, direction)), None)
        parts.append(claim_text(lens, said) if said else f"{_walked(lens, link, direction)}（由反向说法推断）")
        direction *= link.sign or 1
    return "；".join(parts)


def _says(fact: Fact, direction: int) -> bool:
    return fact.relation != "affects" or _DIRECTIONS[fact.qualifier("cause_direction") or "none"] in (0, direction)


def _walked(lens: Lens, link: Link, direction: int) -> str:
    first, second = lens.view.entity(link.source), lens.view.entity(link.target)
    moves = {1: "上升", -1: "下降"}
    return f"{_name(first, link.source)}{moves[direction]} → {_name(second, link.target)}{moves[direction * link.sign]}"


def value_text(value: Value | None) -> str:
    """Return a number as it is written: 9.45亿元、同比 -12.3%、65–70美元/桶."""
    if value is None:
        return ""
    factor, scale = _scale(value)
    number = (
        f"{value.number / factor:,.6g}"
        if value.high is None
        else f"{value.number / factor:,.6g}–{value.high / factor:,.6g}"
    )
    unit = "个百分点" if value.unit == "pct" else value.unit
    change = _CHANGE.get(value.change, "")
    signed = f"{'+' if value.number > 0 and value.change not in ('', 'share') else ''}{number}"
    return f"{change} {signed}{scale}{unit}".strip()


def _scale(value: Value) -> tuple[float, str]:
    """Return the scale to show a number in: its own where that is usual, else the largest that fits."""
    if value.unit in ("%", "pct", "bp"):
        return 1.0, ""
    own = next(((factor, name) for name, factor in _SCALES if value.scale == name), None)
    return own or next(((factor, name) for name, factor in _SCALES if abs(value.number) >= factor), (1.0, ""))


def _name(entity: Entity | None, entity_id: str) -> str:
    return entity.name if entity else entity_id.split(":", 1)[-1]

