"""A name in a question becomes an entity of the view, or an error that names what is near."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz import fuzz, process

from kg.errors import UnknownName
from kg.ids import normal_name
from kg.model import Entity, Kind
from kg.query.ask.lexicon import lexicon
from kg.query.plain import Answer
from kg.store.visibility import is_before_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kg.query.answers import EntityRef
    from kg.query.session import QuerySession

_QUESTION = 300  # characters of a question that are looked through for names
_ENDINGS = ("产业链", "产业", "行业", "板块", "概念", "公司", "市场", "上市公司", "领域", "赛道", "需求")
_BARE_CODE = re.compile(r"\d{6}")
_EXCHANGES = ("SH", "SZ", "BJ")
_PRICE = "价"
_RATE = "汇率"
_MOVES = {1: ("上行", "上升", "上涨", "升值", "走强"), -1: ("下行", "下降", "下跌", "贬值", "走弱")}
_TAILS = ("政策", "措施")
_AMOUNTS = ("量", "额", "规模")  # 海上风电招标 is its amount
_HAPPENS = frozenset({Kind.EVENT, Kind.POLICY})
_FACTORS = _HAPPENS | {Kind.INDICATOR}
_PRICED = frozenset({Kind.PRODUCT, Kind.INDUSTRY})
# What makes a narrower measure of one: a place, a market or a grade before its name.
_GRADE = re.compile(
    "(?:国[际内产]|海外|全球|世界|中国|我国|美国?|欧[洲盟元]?|日本|韩国|印尼|印度|东南亚|中东|俄罗斯|西北|华[东北南中]|港口|坑口"
    "|进口|出口|沪|伦|lme|comex|shfe|wti|布伦特|现货|期货|电池级|工业级|电子级|ai|人工智能|下游|终端|市场|行业|整体|平均|综合"
    "|长端|短端|长期|短期|中长期|无风险|政策|\\d+年期?|\\d+月|高|新)+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    "(?:政策|措施|行动|要求|倡议|整治|修订|推进|深化|升级|加码|加征|扩面|常态化|出台|实施|收紧|加剧|强化|发布)*"
)
_CONTRARY = re.compile("推迟|延迟|取消|豁免|暂停|停止|优化|放松|反制|报复|对美|碳(?=关税)|避免|响应|减少|无|非|零")
_NEAR = 5
_NEAR_SCORE = 60
_LONGEST_NAME, _SHORTEST_NAME = 16, 2


class Named(NamedTuple):
    """A name in a question, `question[start:end]`, and what it means."""

    start: int
    end: int
    entity: Entity


@dataclass(frozen=True, slots=True)
class NameCandidate:
    """An entity that a name may mean, and why: `id`, `code`, `name`, `alias`, `spoken` (铜价), or `ending`.

    With `ending`, a word such as 产业链 was left off.
    """

    entity: EntityRef
    reason: str


@dataclass(frozen=True, slots=True)
class ResolveAnswer(Answer):
    """What a name means: the candidates, most connected first; `near` are similar names if there is none."""

    text: str
    candidates: tuple[NameCandidate, ...]
    near: tuple[str, ...]


def resolve_name(session: QuerySession, text: str) -> ResolveAnswer:
    """Return every entity that a name, an alias, a code or an id may mean."""
    found = candidates(session, text)
    refs = session.refs([entity.id for entity in found])
    near = () if found else tuple(near_names(session, text))
    named = (NameCandidate(ref, _reason(entity, text)) for entity, ref in zip(found, refs, strict=True))
    return ResolveAnswer(text, tuple(named), near)


def _reason(entity: Entity, text: str) -> str:
    folded = normal_name(text)
    if text.strip() == entity.id:
        return "id"
    if folded in {normal_name(spelling) for code in entity.codes for spelling in (code, code.partition(".")[0])}:
        return "code"
    if folded == normal_name(entity.name):
        return "name"
    if folded in {normal_name(alias.name) for alias in entity.aliases}:
        return "alias"
    return "spoken" if entity.name in spellings(text.strip()) else "ending"


def candidates(session: QuerySession, text: str) -> list[Entity]:
    """Return the entities with this name, as people say it, most connected first; an ending may be left off."""
    name = text.strip()
    known = session.view.entity(name)
    if known:
        return [known]
    for spelling in (
        *(f"{name}.{exchange}" for exchange in _EXCHANGES if _BARE_CODE.fullmatch(name)),
        *spellings(name),
        *(name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending) and name != ending),
    ):
        found = session.view.named(spelling)
        if found:
            return sorted(found, key=lambda entity: (-degree_of(session, entity), entity.id))
    return []


def spellings(name: str) -> Iterator[str]:
    """Yield a name as written, then what people mean by it: 国际油价 is 原油价格, 宁王 is 宁德时代.

    >>> list(spellings("锌价"))
    ['锌价', '锌价格']
    """
    yield name
    yield from lexicon().spoken.get(name.lower(), ())
    if name.endswith(_PRICE) and len(name) > len(_PRICE):
        yield f"{name}格"


def _of_price(session: QuerySession, name: str) -> list[Entity]:
    """Return the thing whose price a name is, where the base has no fact of the price itself."""
    thing = name.removesuffix("格").removesuffix(_PRICE)
    return [each for each in candidates(session, thing) if each.kind in _PRICED] if thing != name else []


def same_factor(name: str) -> frozenset[str]:
    """Return the names that mean one factor with this one: 碳酸锂价格 and 锂价格 are both 锂价."""
    groups = [meant for meant in lexicon().spoken.values() if name in meant]
    return frozenset(other for meant in groups for other in meant)


def spoken_names(name: str) -> list[str]:
    """Return what people call a factor: 油价 is 原油价格."""
    return [said for said, meant in lexicon().spoken.items() if name in meant]


def narrower(session: QuerySession, entity: Entity, *, limit: int = 20) -> list[Entity]:
    """Return the kinds of a factor by their names, best connected first.

    Of a measure it is a place, a grade or a market (电池级碳酸锂价格, 沪铜价格): 氧化铝价格 is no 铝价格, 预定利率 no
    利率. Of what happens, any scope (半导体设备出口管制, 反内卷政策) unless it is an end of it (关税豁免).
    """
    happens = entity.kind in _HAPPENS
    found = set()
    for name, other in session.view.names(entity.name):
        front, _, tail = name.partition(entity.name)
        scoped = _TAIL.fullmatch(tail) and not _CONTRARY.search(front)
        graded = not tail and _GRADE.fullmatch(front)
        if name == entity.name or not (scoped or graded) or (row := session.index(other)) is None:
            continue
        kind = session.graph.kinds[row]
        of_event = happens or (kind in _HAPPENS and entity.kind == Kind.INDICATOR)
        if scoped if of_event else graded and kind == entity.kind:
            found.add((-session.graph.degree(row), other))
    known = (session.known(other) for _, other in sorted(found))
    kinds = _FACTORS | {entity.kind}
    return [each for each in known if each and each.id != entity.id and each.kind in kinds][:limit]


def moved_alike(session: QuerySession, name: str) -> dict[Entity, int]:
    """Return what else names the move of a factor, with −1 what names the opposite one.

    人民币升值 is 人民币汇率, rising, and the opposite of 人民币贬值; 利率 falls with 降息; 出口管制 is 出口管制政策.
    """
    move = lexicon().moved.search(name)
    stem, own = (name[: move.start()], -1 if move["down"] else 1) if move else (name, 1)
    said = {stem + word: own * sign for sign, words in _MOVES.items() for word in words}
    said |= {word: own * sign for sign, word in zip(_MOVES, lexicon().moves.get(stem, ()), strict=False)}
    said |= {stem: own, stem + _RATE: own} if move else {}
    said |= {name + tail: 1 for tail in _TAILS} | {name.removesuffix(tail): 1 for tail in _TAILS}
    return {each: sign for other, sign in said.items() if other != name for each in session.view.named(other)}


@dataclass(frozen=True, slots=True)
class FactorName:
    """What a factor's name may mean, the sign of the move that it states, and what narrows it.

    利率下行 is 利率 with sign −1, 半导体出口管制 where the base has only 出口管制 is that in the scope 半导体.
    """

    entities: tuple[Entity, ...]
    sign: int = 1
    scope: str = ""


def factor(session: QuerySession, text: str) -> FactorName:
    """Return the factor that a name means, without entities where it means none."""
    name = text.strip()
    found = candidates(session, name) or _of_price(session, name) or _before_all(session, name, Kind.INDICATOR)
    move = lexicon().moved.search(name)
    if found or not move:
        return FactorName(tuple(found)) if found else _scoped(session, name)
    stem = name[: move.start()]
    return FactorName(tuple(candidates(session, stem) or _of_price(session, stem)), -1 if move["down"] else 1)


def _scoped(session: QuerySession, name: str) -> FactorName:
    kinds = narrower(session, Entity(name, Kind.EVENT, name))
    if kinds := kinds or [each for tail in _AMOUNTS for each in session.view.named(name + tail)]:
        return FactorName(tuple(kinds))
    for at in range(_SHORTEST_NAME, len(name) - _SHORTEST_NAME + 1):
        found = tuple(each for each in session.view.named(name[at:]) if each.kind in _HAPPENS)
        if found:
            return FactorName(found, scope=name[:at])
    return FactorName(())


def resolve(session: QuerySession, text: str, *, kinds: Sequence[Kind] = ()) -> Entity:
    """Return the one entity meant, preferring `kinds` in their order.

    Raises:
        UnknownName: with the nearest names of the view, unless it shows a day before the first document.
    """
    found = candidates(session, text) or _before_all(session, text, *kinds[:1])
    for kind in kinds:
        for entity in found:
            if entity.kind == kind:
                return entity
    if found:
        return found[0]
    raise UnknownName(text, near_names(session, text))


def _before_all(session: QuerySession, text: str, kind: Kind = Kind.COMPANY) -> list[Entity]:
    """Return an entity without facts in a view of a day before the first document: answers there are empty."""
    return [Entity(text.strip(), kind, text.strip())] if is_before_all(session.view) else []


def near_names(session: QuerySession, text: str) -> list[str]:
    """Return up to five names of the view that look like `text`."""
    names = sorted({name for name, _ in session.view.names()})
    found = process.extract(text[:_QUESTION], names, scorer=fuzz.ratio, limit=_NEAR, score_cutoff=_NEAR_SCORE)
    return [name for name, _, _ in found]


def names_in(session: QuerySession, question: str) -> list[Named]:
    """Return the entities named in the first 300 characters of a question, longest names first taken, by place."""
    text = question[:_QUESTION]
    taken: list[Named] = []
    for start, end in _windows(text):
        if any(start < named.end and named.start < end for named in taken):
            continue
        names = spellings(text[start:end]) if text[end - 1] == _PRICE else [text[start:end]]
        found = next((known for name in names if (known := session.view.named(name))), None)
        if found:
            taken.append(Named(start, end, min(found, key=lambda entity: (-degree_of(session, entity), entity.id))))
    return sorted(taken, key=lambda named: named.start)


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a name may stand, the longest first; a Latin word is never cut: there is no AI in 「chain」."""
    joined = [
        one.isascii() and one.isalnum() and other.isascii() and other.isalnum()
        for one, other in zip(f" {text}", f"{text} ", strict=True)
    ]
    for size in range(min(_LONGEST_NAME, len(text)), _SHORTEST_NAME - 1, -1):
        for start in range(len(text) - size + 1):
            end = start + size
            if not (joined[start] or joined[end] or text[start].isspace() or text[end - 1].isspace()):
                yield start, end


def degree_of(session: QuerySession, entity: Entity) -> int:
    """Return how many edges touch an entity."""
    index = session.index(entity.id)
    return 0 if index is None else session.graph.degree(index)
