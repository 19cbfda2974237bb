"""Facts in words, in Chinese or English: who, what, how certain, for when, said by whom."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kg.kinds import kind_of
from kg.messages.words import noted, word
from kg.model import Kind, Modality, Polarity
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kg.messages.words import Lang
    from kg.model import Entity, Fact, Value
    from kg.query.answers import Citation, Link, Party, Path
    from kg.query.session import QuerySession

ROLES = ("maker", "upstream", "downstream", "user")
_DIRECTIONS = {"up": 1, "down": -1, "none": 0}
_NAMES = {move: name for name, move in _DIRECTIONS.items()}
_HAPPENS = frozenset({Kind.EVENT, Kind.POLICY})
_THINGS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME, Kind.COMPANY, Kind.BUSINESS})
_CHINESE_SCALES: Final = (("万亿", 1e12), ("亿", 1e8), ("万", 1e4))
_SCALES: Final = ((1e12, "tn"), (1e9, "bn"), (1e6, "m"))
_RATIOS: Final = frozenset({"%", "pct", "bp"})
_LEVELS: Final = frozenset({"", "share"})

_UNITS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "pct": "pp",
        "倍": "x",
        "点": "points",
        # money
        "元": "CNY",
        "人民币": "CNY",
        "美元": "USD",
        "港元": "HKD",
        "欧元": "EUR",
        "日元": "JPY",
        "英镑": "GBP",
        # measures
        "吨": "t",
        "公斤": "kg",
        "克": "g",
        "斤": "jin",
        "磅": "lb",
        "盎司": "oz",
        "桶": "bbl",
        "升": "l",
        "千升": "kl",
        "米": "m",
        "公里": "km",
        "平方米": "m²",
        "立方米": "m³",
        "重量箱": "weight cases",
        # time
        "小时": "h",
        "日": "day",
        "天": "days",
        "月": "month",
        "年": "year",
        # counted items
        "股": "shares",
        "辆": "vehicles",
        "家": "firms",
        "人": "people",
        "头": "head",
        "次": "times",
        "片": "pieces",
        "件": "pieces",
        "颗": "pieces",
        "块": "pieces",
        "条": "pieces",
        "只": "pieces",
        "台": "units",
        "套": "units",
        "部": "units",
        "款": "models",
        "个": "",
        "座": "sites",
        "艘": "ships",
        "架": "aircraft",
        "户": "households",
        "名": "people",
        "位": "people",
        "例": "cases",
        "项": "items",
        "笔": "deals",
        "张": "sheets",
        "份": "copies",
        "支": "pieces",
        "枚": "pieces",
        "根": "pieces",
        "瓶": "bottles",
        "箱": "cases",
        "双": "pairs",
        "只股票": "stocks",
        "亩": "mu",
        "公顷": "ha",
        "度": "kWh",
        "千瓦时": "kWh",
        "瓦": "W",
        "周": "weeks",
        "季": "quarter",
        "季度": "quarters",
        "分钟": "min",
        "秒": "s",
        "港币": "HKD",
        "韩元": "KRW",
        "卢布": "RUB",
        "美分": "US cents",
        "蒲式耳": "bu",
        "标准箱": "TEU",
        "载重吨": "dwt",
        "担": "dan",
        "分": "points",
        "级": "levels",
        "代": "generations",
        "层": "layers",
        "所": "sites",
        "场": "events",
        "批": "batches",
        "单": "orders",
        "订单": "orders",
        "岁": "years old",
    }
)


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
    body = _BODIES.get(session.words[fact.relation].role, _related)(session, fact, first, second)
    denied = word("denied", lang) if fact.polarity is Polarity.NEGATIVE else ""
    certainty = "" if fact.modality is Modality.ASSERTED else word(f"modality.{fact.modality}", lang)
    valid = word("period", lang, period=fact.valid) if fact.valid else ""
    return f"{body}{denied}{certainty}{valid}"


def group_text(session: QuerySession, relation: str, *, incoming: bool) -> str:
    """Return the heading of the links that leave an entity (客户), or that come in (供应商)."""
    if session.words[relation].whole:
        return word(f"group.{relation}.{'in' if incoming else 'out'}", session.lang)
    words = session.words[relation]
    return (words.inverse if incoming else words.wording)[session.lang]


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
        worded = claim_text(session, said) if said else _walked(session, link, direction) + inferred
        parts.append(worded + word("print.weak", session.lang) * link.weak)
        direction *= link.sign
    return flow(parts, session.lang)


def said_of(link: Link, direction: int) -> Fact | None:
    """Return the fact of a link that speaks of this move of its cause; a cause that just happens moves up."""
    causal = vocabulary()[link.relation].role == "effect"
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


def party_text(party: Party, lang: Lang) -> str:
    """Return a party with its code and why it gains or pays: 已述, or 推断：生产碳酸锂; and whether views differ."""
    reason = party.reason if party.basis != "inferred" else word("exposure.inferred", lang, reason=party.reason)
    marks = word("print.weak", lang) * party.weak + word("print.contested", lang) * party.contested
    return coded(party.entity, lang) + noted(reason, lang) + marks


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
    value = value_text(fact.value, session.lang, bound=fact.qualifier("bound") or "")
    return f"{owned}{scoped(fact, 'scope', session.lang)} {value}"


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
    return f"{body}{share}{product}{_terms(fact, lang)}"


def _terms(fact: Fact, lang: Lang) -> str:
    """Return the share and the stage of a supply."""
    part = fact.qualifier("revenue_share"), fact.qualifier("cost_share")
    terms = [word(f"share.{of}", lang, share=each) for of, each in zip(("revenue", "cost"), part, strict=True) if each]
    stage = fact.qualifier("stage")
    terms += [word(f"stage.{stage}", lang)] if stage in _STAGES else []
    return noted(word("comma", lang).join(terms), lang) if terms else ""


_STAGES = frozenset({"sample", "qualified", "volume", "ended"})
_BODIES: Mapping[str, Callable[[QuerySession, Fact, str, str], str]] = {
    "effect": _affects,
    "figure": _reports,
    "rating": _rates,
    "place": _located,
}


def value_text(value: Value | None, lang: Lang = "zh", *, bound: str = "") -> str:
    """Format a value in a language, in Chinese as it is written: 9.45亿元、同比 -12.3%、65–70美元/桶.

    >>> from kg.model import Value
    >>> value_text(Value(25818800000.0, "元", "亿")), value_text(Value(25818800000.0, "元", "亿"), "en")
    ('258.188亿元', '25.8188bn CNY')
    >>> value_text(Value(12.5, "元/股"), "en")
    '12.5 CNY/share'
    >>> value_text(Value(-3.0, "pct", change="qoq"), "en"), value_text(Value(5e10, "元", "亿"), bound="≥")
    ('qoq -3pp', '≥500亿元')
    """
    if value is None:
        return ""
    factor, scale = _chinese_scale(value) if lang == "zh" else _english_scale(value)
    number = _digits(value.number / factor)
    if value.high is not None:
        number = f"{number}–{_digits(value.high / factor)}"
    sign = "+" if value.number > 0 and value.change not in _LEVELS else ""
    change = word(f"change.{value.change}", lang) if value.change else ""
    return f"{change} {bound}{sign}{number}{scale}{_unit(value, lang)}".strip()


def _unit(value: Value, lang: Lang) -> str:
    if lang == "zh":
        return "个百分点" if value.unit == "pct" else value.unit
    of, *per = value.unit.split("/")
    unit = "/".join((_UNITS.get(of, of), *(_UNITS.get(each, each).removesuffix("s") for each in per)))
    gap = "" if value.unit in _RATIOS or unit == "x" or not unit else " "
    return f"{gap}{unit}"


def _chinese_scale(value: Value) -> tuple[float, str]:
    """Return the scale it was written with; of one without, the largest that fits."""
    written = [(factor, name) for name, factor in _CHINESE_SCALES if name == value.scale]
    fitting = [(factor, name) for name, factor in _CHINESE_SCALES if abs(value.number) >= factor]
    bare = [(1.0, "")]
    return (written or (bare if value.unit in _RATIOS else fitting) or bare)[0]


def _english_scale(value: Value) -> tuple[float, str]:
    high = value.number if value.high is None else value.high
    scales = ((factor, name) for factor, name in _SCALES if max(abs(value.number), abs(high)) >= factor)
    return (1.0, "") if value.unit in _RATIOS else next(scales, (1.0, ""))


def _digits(number: float) -> str:
    """Return six significant digits, never as a power of ten."""
    text = f"{number:,.6g}"
    if "e" not in text:
        return text
    return f"{number:,.0f}" if abs(number) >= 1 else f"{number:.12f}".rstrip("0")
