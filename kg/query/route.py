"""Which question is meant: rules over the words of the question, the first that fits wins."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kg.model import Kind
from kg.query.resolve import names_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg.model import Entity
    from kg.query.resolve import Named
    from kg.query.session import QuerySession

_HISTORY = re.compile(
    r"历史上|以往|过去|历次|历轮|回顾|复盘|(?:怎么|如何)表现|表现(?:如何|怎么样)|historically|in the past"
)
_CHAIN = re.compile(r"产业链|上下游|上游|下游|供应链|中游|supply chain|upstream|downstream")
_CAUSES = re.compile(
    r"为什么|为何|什么原因|原因是|什么导致|哪些因素|受什么影响|受哪些|驱动因素|由什么|why|what drives|causes of"
)
_IMPACT = re.compile(r"影响|利好|利空|受益|受损|受冲击|传导|拖累|带动|推动|后果|意味着|impact|affect|benefit")
_RELATE = re.compile(r"关系|关联|联系|related|relation|between")
_THEMES = re.compile(r"哪些主题|热点主题|主题有哪些|热门主题|themes")
_MOVE = re.compile(
    r"(?P<down>跌|下降|下行|回落|走低|下滑|降价|降低|减少|走弱|收缩|下调|恶化|fall|drop|decline|lower)"
    r"|(?P<up>涨|上升|上行|回升|走高|提价|提高|增加|增长|走强|扩张|上调|改善|rise|increase|higher)"
)
_FACTOR_END = re.compile(r"对|给|使|令|让|导致|影响|带动|拖累|推动|利好|利空| on ")
_TWO = 2
_FIRST_KINDS = {
    "chain": (Kind.INDUSTRY, Kind.PRODUCT, Kind.THEME),
    "impact": (Kind.EVENT, Kind.POLICY, Kind.INDICATOR, Kind.PRODUCT),
    "causes": (Kind.INDICATOR, Kind.EVENT, Kind.PRODUCT, Kind.INDUSTRY),
    "profile": (Kind.COMPANY,),
}


@dataclass(frozen=True, slots=True)
class Aspect:
    """What a question about one entity asks for: a relation, and the end at which the entity stands in it."""

    relation: str
    subject: bool


_ASPECTS = {
    "供应商": Aspect("supplies", subject=False),
    "客户": Aspect("supplies", subject=True),
    "股东": Aspect("holds_stake_in", subject=False),
    "持股": Aspect("holds_stake_in", subject=True),
    "子公司": Aspect("subsidiary_of", subject=False),
    "评级": Aspect("rates", subject=False),
    "目标价": Aspect("rates", subject=False),
    "supplier": Aspect("supplies", subject=False),
    "customer": Aspect("supplies", subject=True),
}


@dataclass(frozen=True, slots=True)
class Route:
    """The call a question goes to, with the entities it names, the one it is about first, and the direction of that."""

    name: str
    entities: tuple[Entity, ...]
    direction: int = 1
    aspect: Aspect | None = None


def route(session: QuerySession, question: str) -> Route:
    """Choose the call for a question."""
    names = names_in(session, question)
    entities = tuple(dict.fromkeys(named.entity for named in names))
    words = question.lower()
    if _THEMES.search(words):
        return Route("themes", entities)
    if not names:
        return Route("passages", ())
    if len(entities) >= _TWO:
        for name, pattern in (("history", _HISTORY), ("relate", _RELATE)):
            if pattern.search(words):
                return Route(name, entities)
    for name, pattern in (("causes", _CAUSES), ("impact", _IMPACT), ("chain", _CHAIN)):
        if pattern.search(words):
            return _about(name, names, words)
    aspect = next((aspect for word, aspect in _ASPECTS.items() if word in words), None)
    return replace(_about("profile", names, words), aspect=aspect)


def _about(name: str, names: Sequence[Named], words: str) -> Route:
    """Put first the entity that a call is about: a chain is asked of a product, not of the company beside it."""
    wanted = _FIRST_KINDS[name]
    ends = (match.start() for match in _FACTOR_END.finditer(words) if name == "impact")
    factor_end = next((end for end in ends if names[0].end <= end), len(words))

    def order(named: Named) -> tuple[bool, int, int]:
        kind = named.entity.kind
        effect = named.start >= factor_end  # 「硅料涨价对组件毛利率…」 is about 硅料
        return effect, wanted.index(kind) if kind in wanted else len(wanted), named.start

    ranked = sorted(names, key=order)
    return Route(name, tuple(dict.fromkeys(named.entity for named in ranked)), _direction(ranked[0], names, words))


def _direction(topic: Named, names: Sequence[Named], words: str) -> int:
    """Return the move that is said of a name: behind it, up to the next name, else before it (下调关税), else up."""
    behind = min((named.start for named in names if named.start >= topic.end), default=len(words))
    before = max((named.end for named in names if named.end <= topic.start), default=0)
    move = _MOVE.search(words, topic.end, behind) or _MOVE.search(words, before, topic.start)
    return -1 if move and move["down"] else 1
