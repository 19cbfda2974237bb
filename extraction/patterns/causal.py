"""What moves what: cause and effect phrases, each brought down to a factor and a direction.

A trigger says where cause and effect stand; a factor is the phrase's name (indicator, event, policy, product …) with
the direction word that governs it. The sign of a fact is the product of both: 硅料价格下跌 → 毛利率回升 is −1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from msgspec.structs import replace

from extraction.annotated import Claim, Ref
from extraction.first_letters import Prefiltered
from extraction.mentions import indicator_of
from extraction.patterns.cause_phrases import CAUSE_KINDS, EFFECT_KINDS, FOLLOWS, phrases_of
from extraction.patterns.directions import (
    DIRECTION_NAME,
    DOWN,
    PLAIN,
    TAIL,
    UP,
    measured_by,
    movement,
)
from extraction.patterns.factor_names import expected, scope_before, turned
from extraction.patterns.metric_words import PLACES
from kg.ids import entity_id
from kg.kinds import kind_of
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.annotated import Annotated
    from extraction.mentions import Lexicon
    from extraction.patterns.cause_phrases import Phrases

_QUESTION = Prefiltered(r"[？?]\s*$|吗[。？]?$|会否|是否")
_DAY = r"(?:20)?\d\d(?:年度?|[HQ]\d|E)?(?:[一二三四1-4]季度|[上下]半年|前三季度|\d{1,2}月份?)?"
_LEADING = re.compile(rf"(?:(?:预计|其中)?{_DAY})?[^，。；：！？（）]{{0,6}}")
_OWNED_GAP = re.compile(
    rf"(?:{_DAY})?(?:的|行业|板块|公司|环节|企业|厂商|端|整体|业务|产业链|相关|产品|市场|终端|平均|综合|单位|主要|核心)*"
)
_OWNERS = frozenset({Kind.COMPANY, Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME, Kind.BUSINESS})
_FREE_KINDS = frozenset({Kind.EVENT, Kind.POLICY})  # these happen; they need no direction
_BRINGS = frozenset(("导致", "引发", "造成", "使", "使得", "致使", "引起", "促使", "带来", "催生", "激发", "加剧"))
_HINDERS = frozenset(("抑制", "制约", "掣肘", "压制", "打压", "不利于"))
_FAVOURS = frozenset(
    [
        "利好",
        "利空",
        "提振",
        "拖累",
        "压制",
        "打压",
        "冲击",
        "受…拖累",
        "受…提振",
        "受…冲击",
        "受…压制",
        "受…利好",
        "受…带动",
        "受…推动",
        "受…驱动",
        "受…催化",
        "受…刺激",
        "对…利好",
        "对…利空",
        "对…提振",
        "对…压制",
        "对…拖累",
        "对…冲击",
    ]
)  # said of a sector as a whole
_STATES = ("供需", "格局", "供需格局")
_GOES_ON = re.compile(
    r"(?:全面|进一步|持续|的)*(?:市场化|改革|机制)|排挤|挤出|属性|方案|功耗|性能|设备|装备|器件|零部件|理念|消费(?!者|税|电子)"
)  # the phrase is about that, not about the name
_STANDS_FOR = re.compile(r"(?:作为|充当|除|非)$")
_TRADES = (Kind.INDUSTRY, Kind.THEME)
_VAGUE = frozenset(("期货", "现货", "科技", "综合", "股市"))  # too wide to move anything or to be moved
# The figure of a measure that is not said.
_OF_A_FIGURE = re.compile(
    r"(?:同比|环比|分别|均|为|约|达|至|增长|增加|上升|下降|下滑|减少|上涨|下跌|[+\-])+\d"
)  # of an unsaid measure
_DEALT_OUT = re.compile(r"(?:增速|增幅|增长率)?分别为?\s*\d")
_LAST_YEAR = re.compile(r"(?:去年|上年|前年|上期)[^，。；]{0,16}(?:较多|较少|较高|较低|较大)|基数")
_PRICE = re.compile("(?:其|产品|市场|现货|行业|整体|的)*(?P<head>价格)")
_SAID_OF = re.compile(
    r"[^，。；：！？、\s\d]{2}受(?:到|制于|益于)?$"
)  # 「合金受钢材需求影响价格承压」 is not of steel's price
_OF_MARKET = ("供给", "供应", "产量", "需求", "库存", "产能")
_AS_A_WHOLE = re.compile(
    r"(?:（[^（）]*）|行业|板块|产业链|产业|环节|企业|公司|厂商|龙头|个股|股|等|和|及|与|的|发展|整体|相关|市场|领域|赛道|类)*(?:[，。；：！、]|形成|构成|带来|产生|起到|有|$)"
)
_WHOLE_TRADE = re.compile(
    "(?:（[^（）]*）|行业|板块|产业链|产业|环节|领域|赛道|企业|公司|厂商|龙头|标的|则|均|也|将|整体)*"
)
_ASIDE = r"(?:（[^（）]{0,30}）)?"
_LIST = re.compile(rf"{_ASIDE}(?:、|和|及|与|以及|或)")
_AND_OTHERS = re.compile("等(?:[^，。；：！？（）的]{0,5}?)(?P<head>需求|价格|产量|销量|出货量|成本)")
_CODED = re.compile(r"[（(]\d{3,6}[. ]?[A-Z]{0,2}[)）]")
_NEEDS_OWNER = re.compile(r"^(?:.{1,3}$|毛利率|盈利|业绩|成本|价格|原材料|订单|需求|库存|产能|供给|技术|产品)")


@dataclass(frozen=True, slots=True)
class Factor:
    """A name in a cause or effect phrase with the direction said of it."""

    ref: Ref
    direction: int
    scope: str = ""


class CausalReader:
    """Reads causal claims; the gazetteer tells what means something on its own (CPI) from what does not (毛利率)."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._alone = {term.entity for term in lexicon.terms.values() if term.macro}

    def read(self, annotated: Annotated) -> Iterator[Claim]:
        """Yield the causal claims of one sentence."""
        if not annotated.refs or _QUESTION.search(annotated.text):
            return
        seen: set[tuple[str, str]] = set()
        for phrases in phrases_of(annotated):
            if _LAST_YEAR.search(annotated.text, *phrases.cause):
                continue  # what was last year explains the comparison, not the figure
            causes = self._factors(annotated, phrases.cause, CAUSE_KINDS, phrases.cause_anchor)
            heir = _heir(causes)
            effects = self._factors(annotated, phrases.effect, EFFECT_KINDS, phrases.effect_anchor)
            alone = heir is not None and _stands_alone(annotated, phrases, heir)
            effects = effects or (_inherited(annotated.text, phrases, heir) if heir and alone else [])
            for cause, effect in product(causes, effects):
                claim = _claim(phrases, cause, effect)
                if claim is not None and (cause.ref.entity, effect.ref.entity) not in seen:
                    seen.add((cause.ref.entity, effect.ref.entity))
                    yield claim

    def _factors(
        self, annotated: Annotated, span: tuple[int, int], kinds: frozenset[Kind], anchor: str
    ) -> list[Factor]:
        """Bring a phrase down to its factors: the names that stand at its anchor, with their directions."""
        named = [
            ref
            for ref in map(partial(_called, annotated.text), annotated.between(*span))
            if ref.kind in kinds and _is_meant(annotated.text, ref) and not _in_brackets(annotated.text, ref, span[0])
        ]
        refs = _anchored(annotated.text, named, span, anchor)
        bounds = [*(ref.start for ref in refs), span[1]]
        cause = kinds is CAUSE_KINDS
        moved = [
            movement(annotated.text, ref, start=span[0], limit=limit, cause=cause)
            for ref, limit in zip(refs, bounds[1:], strict=True)
        ]
        for index in range(len(refs) - 2, -1, -1):  # 「铜价、铝价上涨」: a list shares the direction of its last member
            if moved[index].direction == PLAIN and _listed(annotated.text, refs[index], refs[index + 1]):
                moved[index] = moved[index + 1]
        scopes = [scope_before(annotated, ref, span[0]) + each.against for ref, each in zip(refs, moved, strict=True)]
        for at in range(1, len(refs)):  # 「全球智能手机、PC出货量」
            alike = refs[at - 1].kind == refs[at].kind == Kind.INDICATOR and scopes[at - 1] in PLACES
            if alike and not scopes[at] and _listed(annotated.text, refs[at - 1], refs[at]):
                scopes[at] = scopes[at - 1]
        refs = [_measured(ref, each.word) for ref, each in zip(_shared_head(refs), moved, strict=True)]
        owned = [self._owned(annotated, ref) for ref in refs]
        return [
            Factor(ref, each.direction, scope)
            for ref, each, scope in zip(owned, moved, scopes, strict=True)
            if ref is not None and (cause or anchor != "start" or each.direction or _ends(annotated.text, ref))
            if cause or not _is_a_figures(annotated.text, ref)
        ]

    def _owned(self, annotated: Annotated, ref: Ref) -> Ref | None:
        """Give a bare 毛利率 or 减产 its owner, the name right before it or the understood subject; none, no factor."""
        needs = (ref.kind == Kind.INDICATOR and ref.entity not in self._alone) or (
            ref.kind == Kind.EVENT and _NEEDS_OWNER.match(ref.name)
        )
        if ref.kind not in (Kind.INDICATOR, Kind.EVENT):
            return ref
        if ref.name.endswith(_STATES):
            return None  # 供需 is tight or loose; that it is up says nothing
        if ref.about:
            return ref
        owners = _OWNERS | {Kind.REGION} if ref.kind == Kind.EVENT else _OWNERS  # 云南限电
        before = [other for other in annotated.between(0, ref.start) if other.kind in owners]
        if before and _OWNED_GAP.fullmatch(annotated.text, before[-1].end, ref.start):
            return compound(before[-1], ref)
        if not needs:
            return ref
        subject = _understood(annotated, before)
        return None if subject is None or ref.kind == Kind.EVENT else compound(subject, ref)


def _understood(annotated: Annotated, before: list[Ref]) -> Ref | None:
    """Return whom a sentence is about, unless `before`, the names it has, leave open whose an indicator is."""
    subject = annotated.subject
    if subject is None or subject.kind not in _OWNERS:
        return None
    if before and (subject.kind != Kind.COMPANY or any(ref.kind == Kind.COMPANY for ref in before)):
        return None  # of the product that is named, or of the trade?  A note on a firm speaks of the firm's
    if any(_CODED.search(heading) and subject.name not in heading for heading in annotated.heading[-1:]):
        return None  # it is of the firm in the heading, which nobody knows
    return subject


def _heir(causes: list[Factor]) -> Ref | None:
    """Return the one product or trade whose supply, demand or stock is said to be the cause."""
    owners = {cause.ref.about for cause in causes if cause.ref.name.endswith(_OF_MARKET) and cause.direction}
    if len(owners) != 1 or len(owners) != len({cause.ref.about for cause in causes}):
        return None
    ref = causes[0].ref
    kind = kind_of(ref.about) if ref.about else Kind.INDICATOR
    return Ref(ref.about, kind, ref.owner, score=ref.score) if kind in (Kind.PRODUCT, Kind.INDUSTRY) else None


def _stands_alone(annotated: Annotated, phrases: Phrases, heir: Ref) -> bool:
    """Whether cause and effect name no other product or trade: else a price may be that one's."""
    around = annotated.between(min(phrases.cause[0], phrases.effect[0]), max(phrases.cause[1], phrases.effect[1]))
    return all((ref.about or ref.entity) == heir.entity for ref in around if ref.kind in (*_OWNERS, Kind.INDICATOR))


def _inherited(text: str, phrases: Phrases, heir: Ref) -> list[Factor]:
    """「碳酸锂供给收缩，推动价格上涨」: the price is that of what is scarce, where it is said to move."""
    match = _PRICE.match(text, *phrases.effect)
    if match is None or phrases.trigger.forced or _SAID_OF.search(text, 0, phrases.cause[0]):
        return []
    ref = compound(
        heir, Ref(entity_id(Kind.INDICATOR, "价格"), Kind.INDICATOR, "价格", match.start("head"), match.end())
    )
    moved = movement(text, ref, start=phrases.effect[0], limit=phrases.effect[1], cause=False)
    return [Factor(ref, moved.direction, moved.against)] if moved.direction != PLAIN else []


def _ends(text: str, ref: Ref) -> bool:
    """Whether an effect that is said to move nowhere is a trade or product as a whole: not 「稀土关键战略价值」."""
    return ref.kind not in (*_TRADES, Kind.PRODUCT) or _AS_A_WHOLE.match(text, ref.end) is not None


def _is_a_figures(text: str, ref: Ref) -> bool:
    """Whether an effect is told by a figure of a measure that is not named: 「化学制药同比增长16.6%」."""
    unmeasured = ref.kind in (*_TRADES, Kind.PRODUCT) and _OF_A_FIGURE.match(text, ref.end)
    return bool(unmeasured or _DEALT_OUT.match(text, ref.end))


def _called(text: str, ref: Ref) -> Ref:
    """Return what a name means with the word behind it: 集采缓和, 降息预期, the demand in 「铜等金属需求」."""
    others = _AND_OTHERS.match(text, ref.end) if ref.kind in (Kind.PRODUCT, *_TRADES) else None
    if others:
        return indicator_of(ref, others["head"], start=ref.start, end=others.end())
    return expected(text, turned(text, ref))


def _in_brackets(text: str, ref: Ref, start: int) -> bool:
    """Whether a name stands in brackets that open behind `start`: an aside is not what a phrase is about."""
    return text.count("（", start, ref.start) > text.count("）", start, ref.start)


def _is_meant(text: str, ref: Ref) -> bool:
    """Whether a phrase is about a name: not one that goes on (硅光方案), stands for another (作为光源) or is vague."""
    vague = ref.name in _VAGUE and ref.kind in _TRADES
    return not (vague or _GOES_ON.match(text, ref.end) or _STANDS_FOR.search(text, 0, ref.start))


def _measured(ref: Ref, word: str) -> Ref:
    """Return what of a product moves: 药品大幅降价 is its price."""
    head = measured_by(word) if ref.kind == Kind.PRODUCT else ""
    return indicator_of(ref, head, start=ref.start, end=ref.end) if head else ref


def _shared_head(refs: list[Ref]) -> list[Ref]:
    """「白酒、啤酒、软饮料板块毛利率」: the indicator of the last of a list is that of them all."""
    if len(refs) < 2 or refs[-1].kind != Kind.INDICATOR or not refs[-1].owner:  # noqa: PLR2004 -- a list has two
        return refs
    head = refs[-1].name.removeprefix(refs[-1].owner)
    return [
        compound(ref, replace(refs[-1], name=head, about="", start=ref.start)) if ref.kind in _OWNERS else ref
        for ref in refs
    ]


def compound(owner: Ref, ref: Ref) -> Ref:
    """Return a bare indicator or event as its owner's: 隆基绿能 + 毛利率, 硅料 + 减产."""
    name = f"{owner.name}{ref.name}"
    return Ref(
        entity_id(ref.kind, name), ref.kind, name, ref.start, ref.end, owner.entity, 0.9 * owner.score, owner.name
    )


def _anchored(text: str, refs: list[Ref], span: tuple[int, int], anchor: str) -> list[Ref]:
    """Keep the names that the phrase is about.

    A cause ends at its trigger and an effect begins there: the name nearest to the trigger counts, with those listed
    beside it, and only words of movement may stand between. A phrase of its own (由于…，) counts whole.
    """
    if anchor == "whole" or not refs:
        return refs
    if anchor == "end":
        last = len(refs) - 1
        behind = refs[last].end
        if refs[last].kind in _OWNERS and (whole := _WHOLE_TRADE.match(text, behind, span[1])):
            behind = whole.end()
        if not TAIL.fullmatch(text, behind, span[1]):
            return []
        first = last
        while first > 0 and _listed(text, refs[first - 1], refs[first]):
            first -= 1
        return refs[first:]
    if not _LEADING.fullmatch(text, span[0], refs[0].start):
        return []
    last = 0
    while last + 1 < len(refs) and _listed(text, refs[last], refs[last + 1]):
        last += 1
    if (
        last + 1 < len(refs)
        and refs[last].kind in _OWNERS
        and _is_bare(refs[last + 1])
        and _OWNED_GAP.fullmatch(text, refs[last].end, refs[last + 1].start)
    ):
        return [compound(ref, refs[last + 1]) for ref in refs[: last + 1]]  # 「推升比亚迪、赛力斯成本」 moves the costs
    return refs[: last + 1]


def _is_bare(ref: Ref) -> bool:
    return not ref.about and (
        ref.kind == Kind.INDICATOR or (ref.kind == Kind.EVENT and _NEEDS_OWNER.match(ref.name) is not None)
    )


def _listed(text: str, first: Ref, second: Ref) -> bool:
    return _LIST.fullmatch(text, first.end, second.start) is not None


def _claim(phrases: Phrases, cause: Factor, effect: Factor) -> Claim | None:
    """Weigh one cause against one effect; without a direction for both there is nothing signed to say."""
    trigger = phrases.trigger
    if trigger.word == FOLLOWS and effect.ref.kind == Kind.PRODUCT and cause.ref.name.endswith("价格"):
        effect = Factor(indicator_of(effect.ref, "价格", start=effect.ref.start, end=effect.ref.end), effect.direction)
    comes = effect.ref.kind == Kind.EVENT and trigger.word in _BRINGS  # 引发价格战: it happens
    moved = UP if comes else trigger.effect if trigger.forced else effect.direction or trigger.effect
    if trigger.word in _HINDERS and effect.direction == DOWN:
        moved = UP  # what is hindered from falling stays up
    if not moved or cause.ref.entity == effect.ref.entity or cause.ref.start == effect.ref.start:
        return None
    if phrases.chained and not _moves(cause):
        return None
    feeds = _feeds(trigger.word, cause)
    if cause.ref.entity == effect.ref.about:
        return None
    if phrases.cause_anchor == "whole" and not (_happens(cause) or feeds):
        return None
    signed = effect.direction or comes or effect.ref.kind == Kind.INDICATOR or trigger.word in _FAVOURS
    if not signed or not (_causes(cause, effect) or feeds):
        return None
    explicit = (cause.direction != PLAIN or cause.ref.kind in _FREE_KINDS) + (effect.direction != PLAIN)
    told = {
        "cause_direction": DIRECTION_NAME[cause.direction],
        "cause_scope": cause.scope,
        "effect_direction": DIRECTION_NAME[moved],
        "effect_scope": effect.scope,
    }
    return Claim(
        relation="affects",
        subject=cause.ref,
        object=effect.ref,
        start=min(phrases.cause[0], phrases.effect[0]),
        end=max(phrases.cause[1], phrases.effect[1]),
        pattern=phrases.name,
        sign=(cause.direction or UP) * moved,
        qualifiers=tuple((name, said) for name, said in told.items() if said),
        denied=phrases.denied,
        confidence=(0.6, 0.7, 0.85)[explicit] * min(cause.ref.score, effect.ref.score),
    )


def _happens(cause: Factor) -> bool:
    """Whether a factor is said to move, or happens."""
    return bool(cause.direction) or cause.ref.kind in _FREE_KINDS


def _moves(cause: Factor) -> bool:
    """Whether a factor is said to move, happens, or is a demand."""
    return _happens(cause) or cause.ref.name.endswith(("需求", "购金量"))


def _feeds(word: str, cause: Factor) -> bool:
    """Whether what somebody profits by is there (受益于订单: there are orders), or one thing moves as another does."""
    profits = word == "利好" and cause.direction == PLAIN and cause.ref.name.endswith(("订单", "景气度"))
    return profits or word == FOLLOWS


def _causes(cause: Factor, effect: Factor) -> bool:
    """Whether a factor can move something: it moves, or the text says how its effect moves."""
    told = bool(effect.direction) or effect.ref.name.endswith("需求")
    return _moves(cause) or (cause.ref.kind != Kind.INDICATOR and told)
