"""Which question is meant: rules over the words of the question, the first that fits wins."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.model import Kind
from kg.query.resolve import names_in

if TYPE_CHECKING:
    from kg.model import Entity
    from kg.query.lens import Lens

_HISTORY = re.compile(
    r"历史上|以往|过去(?:几轮|历次|的)?|历次|历轮|回顾|复盘|怎么表现|如何表现|表现如何|表现怎么样|historically|in the past"
)
_CHAIN = re.compile(r"产业链|上下游|上游|下游|供应链|中游|supply chain|upstream|downstream")
_CAUSES = re.compile(
    r"为什么|为何|什么原因|原因是|什么导致|哪些因素|受什么影响|受哪些|驱动因素|由什么|why|what drives|causes of"
)
_IMPACT = re.compile(r"影响|利好|利空|受益|受损|受冲击|传导|拖累|带动|推动|后果|意味着|impact|affect|benefit")
_RELATE = re.compile(r"关系|关联|联系|有什么关|related|relation|between")
_THEMES = re.compile(r"哪些主题|热点主题|主题有哪些|热门主题|themes")
_DOWN = re.compile(r"下跌|下降|下行|回落|走低|下滑|暴跌|大跌|跌|降价|减少|走弱|收缩|下调|fall|drop|decline|lower")
_TWO = 2


@dataclass(frozen=True, slots=True)
class Route:
    """The call a question goes to, with the entities it names and the direction it speaks of."""

    name: str
    entities: tuple[Entity, ...]
    direction: int = 1


def route(lens: Lens, question: str) -> Route:
    """Choose the call for a question."""
    entities = tuple(names_in(lens, question))
    direction = -1 if _DOWN.search(question) else 1
    if _THEMES.search(question):
        return Route("themes", entities)
    if not entities:
        return Route("passages", ())
    if _HISTORY.search(question) and len(entities) >= _TWO:
        return Route("history", entities, direction)
    if _RELATE.search(question) and len(entities) >= _TWO:
        return Route("relate", entities)
    for name, pattern in (("causes", _CAUSES), ("impact", _IMPACT), ("chain", _CHAIN)):
        if pattern.search(question):
            return Route(name, _preferred(name, entities), direction)
    return Route("profile", _preferred("profile", entities))


def _preferred(name: str, entities: tuple[Entity, ...]) -> tuple[Entity, ...]:
    """Put the kinds first that a call is about: a chain is asked of a product, not of the company beside it."""
    wanted = {
        "chain": (Kind.INDUSTRY, Kind.PRODUCT, Kind.THEME),
        "impact": (Kind.EVENT, Kind.POLICY, Kind.INDICATOR, Kind.PRODUCT),
        "causes": (Kind.INDICATOR, Kind.EVENT, Kind.PRODUCT, Kind.INDUSTRY),
        "profile": (Kind.COMPANY,),
    }[name]
    return tuple(
        sorted(entities, key=lambda entity: wanted.index(entity.kind) if entity.kind in wanted else len(wanted))
    )
