"""Who gains and who pays when a factor moves: a rule of roles, not a walk.

What a sentence states comes first. What it states of the opposite move is turned round, marked as such, and serves only
where nothing is stated of this one. Then roles, as facts of the chain state them: makers and holders of X gain with its
price and demand and lose with a supply that is not theirs, buyers pay, what can replace X gains with its price. A
burden (成本, 费用, 减值) turns the sign. Then one stated effect is followed to the makers of what it reaches. Last
stands whom only weak facts name, marked; where a role agrees they are sure, where it disagrees neither is shown.
Each party is shown once, with the basis and the reason; where views differ the latest leads, the others are kept.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from kg.messages.words import word
from kg.model import Kind, Modality, Polarity
from kg.query.answers import Party
from kg.query.resolve import degree_of, spellings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kg.model import Entity, Fact
    from kg.query.session import QuerySession

PARTIES: Final = frozenset({Kind.COMPANY, Kind.INDUSTRY, Kind.PRODUCT, Kind.BUSINESS})
_THINGS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.BUSINESS})
_HAPPENS = frozenset({Kind.EVENT, Kind.POLICY})
_SIGN = {"up": 1, "down": -1}
_OF_THING = {Kind.PRODUCT: "价格", Kind.INDUSTRY: "需求", Kind.BUSINESS: "需求"}  # what moves when a thing is said to
_UNSURE = frozenset({Modality.RUMOURED})
_CITED = 2
_EACH = 60  # facts of one role that are looked through
_BURDENS = (
    *("成本", "费用", "费用率", "库存", "亏损", "不良率", "不良贷款率", "负债率", "折旧", "减值", "减值损失"),
    *("利差损", "跌价", "支出", "负担", "汇兑损失", "压力"),
)
_GAINS = (
    *("盈利空间", "利润空间", "毛利空间", "盈利水平", "毛利水平", "经济效益"),
    *("需求", "销量", "收入", "毛利率", "净利率", "利润", "盈利", "盈利能力", "毛利", "价格", "景气度", "市占率"),
    *("估值", "渗透率", "订单", "出货量", "装机量", "净息差", "销售额", "市场规模", "业绩", "价值量", "加工费", "roe"),
    *(
        "消费量",
        "出口量",
        "出口",
        "投资",
        "指数",
        "现金流",
        "交付量",
        "票房",
        "批价",
        "收益率",
        "经济性",
        "份额",
        "排产",
    ),
)
_MEASURED = re.compile(f"(?:{'|'.join(sorted({*_BURDENS, *_GAINS}, key=lambda name: (-len(name), name)))})$")
_WHOSE = re.compile("^(?:中国|国内|我国|全球|上市|头部|龙头|相关|上游|中游|下游|部分|主要)+")
_FIRMS = re.compile("(?:企业|公司|厂商|板块|行业|股)$")
# what stands between an owner and its measure: 归母 of 券商归母净利润, 营业 of 煤炭行业营业成本
_QUALIFIED = re.compile(
    "(?:的|归母|扣非|营业|期间|平均|综合|主营|销售|财务|管理|研发|投资|固收|资产|经营|采购|融资|减值|计提|制造端?|生产|冶炼|运营|燃料"
    "|成本|盈利|利润|原料|原材料|度电|吨|单|总|净)+$"
)
# firms that are no group of their own: 头部企业, 产业链公司
_ANY_FIRMS = re.compile(
    "(?:我国|中国|国内|国际|海外|头部|龙头|优质|中小|大|一线|相关|部分|多数|已有|覆盖|上半年|产业链|[上中下]游|中上游|A|港|各|子)*(?:企业|公司|厂商|板块|行业|股)"
)
_KNOWN = 3  # facts of a trade that a measure may be of
# A list of shares that rose and fell, or that funds hold, says who is counted to a trade, not who makes its goods.
_MOVERS = re.compile(
    r"[涨跌]幅|[增减超低]配|重仓|持仓|[（(][+＋-]?\s?\d+(?:\.\d+)?\s?%|(?:上涨|下跌)\s?[+-]?\d|：\s?[+-]\d"
)
# Sectors of the exchanges hold trades of many kinds: what is said of one says nothing of each firm in it.
_SECTORS = re.compile(
    "电子|商贸零售|机械(?:设备)?|(?:基础)?化工|医药(?:生物)?|计算机|传媒|通信|汽车|电力设备|轻工制造|建筑装饰|建筑材料|有色金属|(?:国防)?军工|公用事业"
    "|社会服务|食品饮料|农林牧渔|纺织服饰|美容护理|环保|交通运输|非银金融|石油石化|家用电器|新能源|消费|科技|周期|半导体"
)
_PRICES = ("价格", "均价", "报价")
# What a rise of a measure of X means for those who make it and those who buy it; of no measure (an event), nothing.
_MEASURES: Mapping[str, Mapping[str, int]] = {
    "价格": {"maker": 1, "holder": 1, "buyer": -1, "substitute": 1},
    "均价": {"maker": 1, "holder": 1, "buyer": -1, "substitute": 1},
    "加工费": {"maker": 1, "holder": 1, "buyer": -1},
    "需求": {"maker": 1, "holder": 1},
    "销量": {"maker": 1, "holder": 1},
    "渗透率": {"maker": 1, "holder": 1},
    "供给": {"maker": -1, "buyer": 1},
    "产能": {"maker": -1, "buyer": 1},
}


_OWN = frozenset({"价格", "均价", "需求", "销量"})  # what a whole trade gains by


def indicator_polarity(indicator: str) -> int:
    """Return +1 where a rise is good for the owner, −1 where it is a burden, 0 where neither is sure.

    Of supply, capacity and output more may be either.

    >>> [indicator_polarity(name) for name in ("indicator:电池毛利率", "indicator:电池成本", "indicator:铜供给")]
    [1, -1, 0]
    """
    if indicator.endswith(_BURDENS):
        return -1
    return 1 if indicator.endswith(_GAINS) else 0


def measure_of(name: str) -> str:
    """Return the measure that a name ends in: 毛利率 of 挖掘机毛利率."""
    found = _MEASURED.search(name)
    return found[0] if found else ""


@dataclass(frozen=True, slots=True)
class _View:
    """What one fact says of a party, relative to the move that is asked about."""

    party: str
    sign: int
    direct: bool
    fact: Fact


@dataclass(frozen=True, slots=True)
class Sense:
    """How an entity stands for a factor: it moves by `move`, +1 or −1, and only facts that name the `scope` count.

    `measure` is what of it moves, where its name does not say so: 需求 of a thing; with "" only what sources state
    counts, not who makes or buys it.
    """

    move: int
    scope: str = ""
    measure: str | None = None


def parties_of(session: QuerySession, factor: Mapping[Entity, Sense]) -> list[Party]:
    """Return who gains and who pays when the entities that a factor's name means move, stated before inferred."""
    senses = {entity.id: sense for entity, sense in factor.items()}
    about = {end for entity in factor for end in (entity.about, entity.id) if end}
    own = {member for end in about for member in session.topics.ids(end)}
    facts, weak = _effects(session, senses), _effects(session, senses, weak=True)
    found = {party.entity.id: party for party in _parties(session, facts, senses, own)}
    roles = _Roles(session)
    for role_party in (*_by_role(roles, factor, found), *_onward(roles, facts, senses, found)):
        found.setdefault(role_party.entity.id, role_party)
    for party in _parties(session, weak, senses, own):
        known = found.get(party.entity.id)
        if party.basis != "stated" or (known and known.basis != "inferred"):
            continue
        if known and known.sign != party.sign:
            del found[party.entity.id]
        else:
            found[party.entity.id] = replace(party, weak=known is None)
    return sorted(found.values(), key=lambda party: _order(party, own))


def _parties(
    session: QuerySession, facts: Iterable[Fact], senses: Mapping[str, Sense], own: Collection[str]
) -> Iterator[Party]:
    views = [
        view for fact in facts for view in _views(session, fact, senses[fact.subject].move) if view.party not in own
    ]
    for party, each in _by_party(views).items():
        entity = session.known(party)
        group = _group(entity) if entity and entity.kind is Kind.INDICATOR else ""
        if entity and (entity.kind in PARTIES or group):
            yield _stated(session, replace(entity, name=group) if group else entity, each)


def _order(party: Party, own: Collection[str]) -> tuple[bool, int, bool, int, float, str]:
    basis = ("stated", "mirrored", "inferred").index(party.basis)
    support = sum(fact.witnesses * fact.confidence for fact in party.facts)
    is_trade = party.entity.kind != Kind.COMPANY and party.entity.id not in own
    return party.weak, basis, is_trade, -party.sign, -support, party.entity.id


# ── stated ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _effects(session: QuerySession, factor: Mapping[str, Sense], *, weak: bool = False) -> list[Fact]:
    """Return the sure facts, or the `weak` ones alone, of what a factor moves that state both directions."""
    causal = session.words.of_family("causal")
    found = [
        fact for each in sorted(factor) for name in causal for fact in session.view.facts(subject=each, relation=name)
    ]
    live = [fact for fact in found if not fact.superseded_by and fact.polarity is Polarity.POSITIVE and fact.sign]
    sure = session.confident(live)
    if weak:
        known = {fact.id for fact in sure}
        sure = [fact for fact in session.confident(live, weak=True) if fact.id not in known]
    said = [fact for fact in sure if fact.modality not in _UNSURE]
    return [fact for fact in said if _in_scope(session, fact, factor[fact.subject].scope)]


def _in_scope(session: QuerySession, fact: Fact, scope: str) -> bool:
    return not scope or any(
        scope in f"{cited.title}{cited.quote}" for cited in session.citations([fact], len(fact.evidence))
    )


def _views(session: QuerySession, fact: Fact, direction: int) -> Iterator[_View]:
    """Yield what a fact says of a party: the object itself, or what the object is a measure of."""
    cause = _SIGN.get(fact.qualifier("cause_direction"), 0)
    effect = _SIGN.get(fact.qualifier("effect_direction"), 0) or fact.sign * (cause or 1)
    direct = (cause or 1) == direction
    sign = effect if direct else -effect
    target = session.known(fact.object)
    if target is None or not (direct or (cause and turns(fact))):
        return  # what a happening does says nothing of its absence, nor does what may be
    if target.kind in PARTIES:
        yield _View(target.id, sign, direct, fact)
    elif _passed_on(session, fact, target):
        return
    elif target.kind == Kind.INDICATOR and (value := indicator_polarity(target.id)):
        owner = target.about or _owner(session, target.name) or (_group(target) and target.id)
        if owner:
            yield _View(owner, sign * value, direct, fact)


def turns(fact: Fact) -> bool:
    """Whether a fact may be turned round: it is asserted, and more than why a share rose or fell in a week."""
    return fact.modality is Modality.ASSERTED and not all(_MOVERS.search(item.quote) for item in fact.evidence)


def _owner(session: QuerySession, name: str) -> str:
    """Return the trade or listed company that a measure without an owner refers to: 头部房企融资成本 is of 房地产."""
    measured = _MEASURED.sub("", name)
    plain = _QUALIFIED.sub("", _WHOSE.sub("", measured))
    firms = _FIRMS.search(plain) is not None
    for spelling in (spelled for each in (plain, _FIRMS.sub("", plain)) for spelled in spellings(each)):
        for each in session.view.named(spelling):
            trade = each.kind == Kind.INDUSTRY or bool(each.codes) or (firms and each.kind == Kind.PRODUCT)
            if trade and measured != name and degree_of(session, each) >= _KNOWN:
                return each.id
    return ""


def _group(target: Entity) -> str:
    """Return the group of firms, without an entity of its own, that a measure is of: 出口企业 of 出口企业盈利空间."""
    group = _MEASURED.sub("", target.name)
    return group if group != target.name and _FIRMS.search(group) and not _ANY_FIRMS.fullmatch(group) else ""


def _passed_on(session: QuerySession, fact: Fact, target: Entity) -> bool:
    """Whether a price moves another price, as an input does: who sells at it earns no more."""
    return target.name.endswith(_PRICES) and session.name(fact.subject).endswith((*_PRICES, "成本"))


def _by_party(views: Iterable[_View]) -> dict[str, list[_View]]:
    """Group what is said by party; a measure of a party says less than a sentence about the party itself."""
    found: dict[str, list[_View]] = defaultdict(list)
    for view in views:
        found[view.party].append(view)
    return {
        party: [view for view in each if view.fact.object == party] or each for party, each in sorted(found.items())
    }


def _stated(session: QuerySession, entity: Entity, views: Sequence[_View]) -> Party:
    """Return a party with the latest view leading; views of this move before those of the opposite one."""
    direct = [view for view in views if view.direct]
    some = direct or list(views)
    latest = max(some, key=lambda view: (view.fact.last_published_on, view.fact.confidence, view.fact.id))
    agreeing = [view.fact for view in some if view.sign == latest.sign]
    opposed = [view.fact for view in some if view.sign != latest.sign] if direct else []
    agreeing.sort(key=lambda fact: (-fact.last_published_on.toordinal(), -fact.confidence, fact.id))
    reason = word("exposure.stated" if direct else "exposure.mirrored", session.lang)
    return Party(
        entity,
        latest.sign,
        "stated" if direct else "mirrored",
        reason,
        tuple(agreeing),
        tuple(session.citations(agreeing, _CITED)),
        tuple(session.citations(opposed, _CITED)),
    )


# ── inferred ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Role:
    """A role of a party towards a thing, and the fact that states it."""

    party: str
    role: str
    fact: Fact


class _Roles:
    """Who makes, holds, buys or replaces a thing, by the roles of ends in relations.yaml; each is read once."""

    def __init__(self, session: QuerySession) -> None:
        self.session = session
        self._ends: dict[str, list[_Role]] = {}
        self._held: dict[tuple[str, str], list[Fact]] = {}

    def of(self, thing: str) -> list[_Role]:
        """Return the roles of parties towards the things of a topic, holders of its makers last."""
        found = list(self.direct(thing))
        makers = [each.party for each in found if each.role == "maker"]
        for name, relation in self.session.words.relations.items():
            if relation.holds:
                facts = (fact for maker in makers for fact in self._holding(name, maker))
                found += [_Role(fact.object, "holder", fact) for fact in facts]
        return found

    def direct(self, thing: str) -> list[_Role]:
        """Return the roles of parties towards the things of a topic, without holders."""
        if thing not in self._ends:
            self._ends[thing] = [
                role
                for name, relation in self.session.words.relations.items()
                for end, role_name in relation.exposure.items()
                for each in self.session.topics.ids(thing)
                for role in _ends_of(self.session, each, name, role_name, is_subject=end == "subject")
            ]
        return self._ends[thing]

    def _holding(self, relation: str, maker: str) -> list[Fact]:
        key = relation, maker
        if key not in self._held:
            self._held[key] = _firm(self.session, self.session.view.facts(relation=relation, subject=maker))
        return self._held[key]


def _by_role(roles: _Roles, factor: Mapping[Entity, Sense], known: Mapping[str, Party]) -> Iterator[Party]:
    """Yield the makers, holders, buyers and substitutes of what the factor is a measure of, and its own trade."""
    session = roles.session
    for entity, sense in factor.items():
        measure = _OF_THING.get(entity.kind) or _measure(session, entity) if sense.measure is None else sense.measure
        thing = entity if entity.kind in _THINGS else session.known(entity.about) if measure else None
        if thing is None or thing.kind not in _THINGS or not measure:
            continue
        signs = {role: sign * sense.move for role, sign in _MEASURES[measure].items()}
        parties = list(_of_roles(roles, thing, signs, known))
        if entity is not thing and measure in _OWN:
            yield from _own_trade(session, thing, [each for each in parties if each.sign == signs["maker"]])
        yield from parties


def _own_trade(session: QuerySession, thing: Entity, makers: Sequence[Party]) -> Iterator[Party]:
    """Yield a thing itself as gaining or paying with its makers, as sources name them."""
    facts = tuple(fact for maker in makers for fact in maker.facts if fact.object in session.topics.ids(thing.id))
    if facts:
        reason = word("exposure.own", session.lang)
        yield Party(thing, makers[0].sign, "inferred", reason, facts, tuple(session.citations(facts, _CITED)))


def _measure(session: QuerySession, entity: Entity) -> str:
    """Return the measure of a compound indicator that roles know, or ""."""
    owner = session.name(entity.about) if entity.about else ""
    rest = entity.name.removeprefix(owner)
    return rest if entity.kind == Kind.INDICATOR and owner and rest in _MEASURES else ""


def _of_roles(
    known_roles: _Roles, thing: Entity, signs: Mapping[str, int], known: Mapping[str, Party], why: str = ""
) -> Iterator[Party]:
    """Yield the parties of a thing by role; who has two roles of opposite sign (buys what it makes) is left out."""
    session = known_roles.session
    grouped: dict[str, list[_Role]] = defaultdict(list)
    own = session.topics.ids(thing.id)
    for role in known_roles.of(thing.id):
        if role.role in signs and role.party not in own and role.party not in known:
            grouped[role.party].append(role)
    if "maker" in signs:
        for party in _makers_of_downstream(known_roles, thing.id) & grouped.keys():
            del grouped[party]
    for party, roles in sorted(grouped.items()):
        entity = session.known(party)
        if entity is None or entity.kind not in PARTIES or len({signs[each.role] for each in roles}) != 1:
            continue
        facts = tuple(each.fact for each in roles)
        reason = word(f"exposure.{roles[0].role}", session.lang, thing=thing.name) + why
        yield Party(entity, signs[roles[0].role], "inferred", reason, facts, tuple(session.citations(facts, _CITED)))


def _makers_of_downstream(roles: _Roles, thing: str) -> set[str]:
    """Return who makes what a thing goes into: they buy it too, or make it for themselves."""
    session = roles.session
    goes_into = {each.party for each in roles.direct(thing) if each.role == "buyer"}
    session.meet_all(goes_into)
    things = [each for each in sorted(goes_into) if (known := session.known(each)) and known.kind in _THINGS]
    return {role.party for each in things for role in roles.direct(each) if role.role == "maker"}


def _ends_of(session: QuerySession, thing: str, relation: str, role: str, *, is_subject: bool) -> Iterator[_Role]:
    near, far = (None, thing) if is_subject else (thing, None)
    facts = _firm(session, islice(session.view.facts(relation=relation, subject=near, object=far), _EACH))
    for fact in facts:
        if role != "maker" or not _buys(fact, session.name(thing)):
            yield _Role(fact.subject if is_subject else fact.object, role, fact)


def _buys(fact: Fact, thing: str) -> bool:
    """Whether each sentence of a maker says that the thing is bought in: 「硅料外采比例高」."""
    bought = re.compile(
        f"{re.escape(thing)}[^，。；]{{0,4}}(?:外采|外购|采购)|(?:外采|外购|采购)[^，。；]{{0,6}}{re.escape(thing)}"
    )
    return all(bought.search(item.quote) for item in fact.evidence)


def _firm(session: QuerySession, facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts that hold: live, affirmed, asserted, and of the usual confidence, as an inference adds doubt."""
    live = [fact for fact in facts if not fact.superseded_by and fact.polarity is Polarity.POSITIVE]
    some = [fact for fact in live if fact.modality is Modality.ASSERTED and fact.confidence >= session.min_confidence]
    return [fact for fact in session.confident(some) if not all(_MOVERS.search(item.quote) for item in fact.evidence)]


def _onward(
    roles: _Roles, facts: Sequence[Fact], senses: Mapping[str, Sense], known: Mapping[str, Party]
) -> Iterator[Party]:
    """Yield whom a stated effect reaches: makers of what moves, gains or pays, and those a sentence says it touches.

    The makers of a trade that gains or pays are looked for in the documents that say so: 电池 of a silver price is the
    solar cell, not the lithium battery.
    """
    session = roles.session
    found: dict[str, list[Party]] = defaultdict(list)
    near = {item.document for fact in facts for item in fact.evidence}
    for fact in facts:
        direction = senses[fact.subject].move
        for thing, sign, via in _reached(session, fact, direction):
            signs = {role: value * sign for role, value in _MEASURES[via].items() if role in {"maker", "holder"}}
            why = word("exposure.through", session.lang, cause=session.name(fact.object))
            for party in (*_of_roles(roles, thing, signs, known, why), *_stated_on(session, fact, direction, why)):
                measured = fact.object != thing.id
                spoken = measured or any(item.document in near for each in party.facts for item in each.evidence)
                if party.entity.kind == Kind.COMPANY and spoken and party.entity.id not in known:
                    found[party.entity.id].append(party)
    for each in found.values():
        if len({party.sign for party in each}) == 1:  # who is reached both ways is not judged
            yield each[0]


def _stated_on(session: QuerySession, fact: Fact, direction: int, why: str) -> Iterator[Party]:
    """Yield whom the price or demand that a fact moves touches in turn, as sentences state it of that very move."""
    target = session.known(fact.object)
    if target is None or not _measure(session, target):
        return
    cause = _SIGN.get(fact.qualifier("cause_direction"), 0) or 1
    effect = _SIGN.get(fact.qualifier("effect_direction"), 0)
    if cause != direction or not effect:
        return
    views = [view for each in _effects(session, {target.id: Sense(effect)}) for view in _views(session, each, effect)]
    for party, each in _by_party([view for view in views if view.direct]).items():
        entity = session.known(party)
        if entity and entity.kind == Kind.COMPANY:
            stated = _stated(session, entity, each)
            yield replace(stated, basis="inferred", reason=stated.reason + why)


def _reached(session: QuerySession, fact: Fact, direction: int) -> Iterator[tuple[Entity, int, str]]:
    """Yield the thing whose price or demand a fact moves, or that it says gains or pays, as if its demand moved."""
    for view in _views(session, fact, direction):
        target = session.known(fact.object)
        thing = session.known(view.party)
        if target is None or thing is None or thing.kind not in _THINGS or not view.direct:
            continue
        if _SECTORS.fullmatch(thing.name):
            continue
        if target.kind == Kind.INDICATOR:
            measure = _measure(session, target)
            if measure:
                yield thing, view.sign * indicator_polarity(target.id), measure
        else:
            yield thing, view.sign, "需求"
