"""What moves what: cause and effect phrases, each brought down to a factor and a direction.

A trigger says where cause and effect stand; a factor is the phrase's name (indicator, event, policy, product …) with
the direction word that governs it. The sign of a fact is the product of both: 硅料价格下跌 → 毛利率回升 is −1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from extraction.annotated import Claim, Ref
from extraction.patterns.directions import (
    DENIAL,
    DIRECTION_NAME,
    DOWN,
    HANDED_ON,
    PLAIN,
    TAIL,
    UP,
    moved_behind,
    movement,
)
from kg.ids import entity_id
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.annotated import Annotated
    from extraction.mentions import Lexicon

_QUESTION = re.compile(r"[？?]\s*$|吗[。？]?$|会否|是否")
_LEADING = re.compile(r"[^，。；：！？（）]{0,6}")
_OWNED_GAP = re.compile(
    r"(?:的|行业|板块|公司|环节|企业|厂商|端|整体|业务|产业链|相关|产品|市场|终端|行业的|平均|综合|单位|主要|核心)*"
)


@dataclass(frozen=True, slots=True)
class Trigger:
    """A word of cause. `effect` is the direction it gives when the phrase has none; `forced` overrides the phrase."""

    word: str
    effect: int
    forced: bool = False


_FORWARD = (
    *(
        Trigger(word, UP)
        for word in [
            "推动",
            "带动",
            "拉动",
            "促进",
            "驱动",
            "助推",
            "提振",
            "支撑",
            "利好",
            "刺激",
            "催化",
            "助力",
            "推升",
            "推高",
            "抬升",
            "拉升",
            "提升了",
            "增厚",
            "有利于",
            "有助于",
            "激发",
            "催生",
            "增强",
            "改善了",
            "打开",
        ]
    ),
    *(
        Trigger(word, DOWN, forced=True)
        for word in [
            "压制",
            "拖累",
            "抑制",
            "打压",
            "利空",
            "挤压",
            "压缩",
            "削弱",
            "压低",
            "拉低",
            "侵蚀",
            "不利于",
            "冲击",
            "制约",
            "掣肘",
            "压降",
            "摊薄",
            "降低了",
        ]
    ),
    *(
        Trigger(word, PLAIN)
        for word in ["导致", "引发", "造成", "使得", "致使", "引起", "促使", "带来", "传导至", "令", "使"]
    ),
)
_BY_WORD = {trigger.word: trigger for trigger in _FORWARD}
_FORWARD_RE = re.compile("|".join(sorted(_BY_WORD, key=len, reverse=True)))
_NOT_CAUSE = re.compile(r"^(?:力|因素|型|作用|下|的(?:因素|原因|影响)|减轻|缓解|减弱|效应|剂|位)")

_LEAD = re.compile(
    r"(?:受益于|得益于|受惠于|由于|因为|随着|伴随着?|受累于|受制于|鉴于|源于|缘于|在(?=[^，。；]{2,30}(?:下|推动下|带动下|背景下)，))"
)
_LEAD_TAIL = re.compile(
    r"(?:等因素)?(?:的)?(?:影响|背景|推动|带动|驱动|支撑|拖累|共振|催化|刺激|提振|扰动|压制)?(?:下|之下)?$"
)
_UNDER = re.compile(
    r"受(?:到|制于|益于)?(?P<cause>[^，。；受]{2,36}?)(?:等)?(?:因素)?(?:的)?(?P<word>影响|拖累|压制|冲击|带动|提振|支撑|推动|驱动|刺激|催化|扰动|抑制|利好)"
)
_UNDER_EFFECT = {
    **dict.fromkeys(["带动", "提振", "支撑", "推动", "驱动", "刺激", "催化", "利好"], UP),
    **dict.fromkeys(["拖累", "压制", "冲击", "抑制"], DOWN),
}
_BACK = re.compile(
    r"，?(?:这)?(?:主要|核心|主因|部分|很大程度上)(?:系|是|由于|因|源于|得益于|受益于|归因于|受|原因是|原因为|是由于|是因为|系因|归功于|来自)(?:受|由于|因)?|，(?:系|源于|归因于|缘于|得益于|受益于)"
)
_THEN = re.compile(
    r"(?:进而|从而|继而|最终|并|将|有望|或|也|进一步|有效|显著|持续|同时|又|直接|大幅|预计|亦|会|共同|明显|继续|强力|逐步|可|能|均|有力|对)+$"
)
_BENEFIT = re.compile("受益于|受惠于|得益于|受累于|受损于|受制于")
_SUPPORTS = frozenset(("支撑", "提振", "利好", "推动", "带动", "拉动", "促进"))
_TOWARD = re.compile(
    r"对(?P<effect>[^，。；对]{2,20}?)(?:的)?(?:形成|构成|带来|产生|起到|予以|有|存在|造成)+(?:了|一定|较强|明显|显著|较大|的|有力|有效|直接)*"
    r"(?P<word>支撑|提振|利好|推动|带动|拉动|促进|压制|拖累|冲击|利空|抑制|压力|挤压|打压)"
)
_CLAUSE = re.compile(r"[，；。：！？]")
_SENTENCE_PART = re.compile(r"[；。！？]")
_CAUSE_KINDS = frozenset({Kind.INDICATOR, Kind.EVENT, Kind.POLICY, Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME})
_EFFECT_KINDS = _CAUSE_KINDS | {Kind.COMPANY, Kind.BUSINESS}
_OWNERS = frozenset({Kind.COMPANY, Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME, Kind.BUSINESS})
_FREE_KINDS = frozenset({Kind.EVENT, Kind.POLICY})  # these happen; they need no direction
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
        "对…利好",
        "对…利空",
        "对…提振",
        "对…压制",
        "对…拖累",
        "对…冲击",
    ]
)  # said of a sector as a whole
_NEEDS_OWNER = re.compile(r"^(?:.{1,3}$|毛利率|盈利|业绩|成本|价格|原材料|订单|需求|库存|产能|供给|技术|产品)")


@dataclass(frozen=True, slots=True)
class Factor:
    """A name in a cause or effect phrase with the direction said of it."""

    ref: Ref
    direction: int


@dataclass(frozen=True, slots=True)
class _Phrases:
    """The two sides of one trigger as spans of the sentence, and what the trigger itself says of the effect."""

    cause: tuple[int, int]
    effect: tuple[int, int]
    trigger: Trigger
    name: str
    cause_anchor: str = "whole"
    effect_anchor: str = "start"
    denied: bool = False


class CausalReader:
    """Reads causal claims; the gazetteer tells what means something on its own (CPI) from what does not (毛利率)."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._alone = {term.entity for term in lexicon.terms.values() if term.macro}

    def read(self, annotated: Annotated) -> Iterator[Claim]:
        """Yield the causal claims of one sentence."""
        if not annotated.refs or _QUESTION.search(annotated.text):
            return
        seen: set[tuple[str, str]] = set()
        for phrases in _phrases(annotated):
            causes = self._factors(annotated, phrases.cause, _CAUSE_KINDS, phrases.cause_anchor)
            effects = self._factors(annotated, phrases.effect, _EFFECT_KINDS, phrases.effect_anchor)
            for cause, effect in product(causes, effects):
                claim = _claim(phrases, cause, effect)
                if claim is not None and (cause.ref.entity, effect.ref.entity) not in seen:
                    seen.add((cause.ref.entity, effect.ref.entity))
                    yield claim

    def _factors(
        self, annotated: Annotated, span: tuple[int, int], kinds: frozenset[Kind], anchor: str
    ) -> list[Factor]:
        """Bring a phrase down to its factors: the names that stand at its anchor, with their directions."""
        refs = _anchored(annotated.text, [ref for ref in annotated.between(*span) if ref.kind in kinds], span, anchor)
        bounds = [*(ref.start for ref in refs), span[1]]
        cause = kinds is _CAUSE_KINDS
        directions = [
            movement(annotated.text, ref, span[0], limit, cause=cause)
            for ref, limit in zip(refs, bounds[1:], strict=True)
        ]
        for index in range(len(refs) - 2, -1, -1):  # 「铜价、铝价上涨」: a list shares the direction of its last member
            if directions[index] == PLAIN and _listed(annotated.text, refs[index], refs[index + 1]):
                directions[index] = directions[index + 1]
        owned = [
            (self._owned(annotated, ref), direction)
            for ref, direction in zip(_shared_head(refs), directions, strict=True)
        ]
        return [Factor(ref, direction) for ref, direction in owned if ref is not None]

    def _owned(self, annotated: Annotated, ref: Ref) -> Ref | None:
        """Give a bare 毛利率 or 减产 its owner, the name right before it or the understood subject; none, no factor."""
        needs = (ref.kind == Kind.INDICATOR and ref.entity not in self._alone) or (
            ref.kind == Kind.EVENT and _NEEDS_OWNER.match(ref.name)
        )
        if ref.kind not in (Kind.INDICATOR, Kind.EVENT):
            return ref
        if ref.about:
            return ref
        before = [other for other in annotated.between(0, ref.start) if other.kind in _OWNERS]
        if before and _OWNED_GAP.fullmatch(annotated.text, before[-1].end, ref.start):
            return compound(before[-1], ref)
        if not needs:
            return ref
        if before or annotated.subject is None or annotated.subject.kind not in _OWNERS:
            return None
        return compound(annotated.subject, ref)


def _shared_head(refs: list[Ref]) -> list[Ref]:
    """「啤酒、饮料、调味品板块毛利率」: the indicator of the last of a list is that of them all."""
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
        if not TAIL.fullmatch(text, refs[last].end, span[1]):
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
    return re.fullmatch(r"(?:、|和|及|与|以及|或)", text[first.end : second.start]) is not None


def _phrases(annotated: Annotated) -> Iterator[_Phrases]:
    begin = 0
    for part in (*_SENTENCE_PART.finditer(annotated.text), None):
        end = part.start() if part else len(annotated.text)
        if end > begin:
            yield from _forward(annotated, begin, end)
            yield from _leading(annotated.text, begin, end)
            yield from _under(annotated, begin, end)
            yield from _backward(annotated.text, begin, end)
            yield from _toward(annotated.text, begin, end)
            yield from _benefits(annotated, begin, end)
        begin = end + 1


def _forward(annotated: Annotated, begin: int, end: int) -> Iterator[_Phrases]:
    """A 推动 B; in 「A 推动 B，进而带动 C」 the second trigger takes B, its own clause being empty, for its cause."""
    text = annotated.text
    matches = [
        m
        for m in _FORWARD_RE.finditer(text, begin, end)
        if not _inside_name(annotated, m) and not _NOT_CAUSE.match(text[m.end() :]) and not _aside(text, begin, m)
    ]
    edges = [*(match.start() for match in matches), end]
    previous: tuple[int, int] | None = None
    for match, limit in zip(matches, edges[1:], strict=True):
        clause = max((m.end() for m in _CLAUSE.finditer(text, begin, match.start())), default=begin)
        cause: tuple[int, int] | None = (max(clause, previous[0] if previous else begin), match.start())
        if cause and not any(ref.kind in _CAUSE_KINDS for ref in annotated.between(*cause)):
            handed_on = HANDED_ON.fullmatch(text, clause, match.start())
            cause = (previous or _clause_before(text, begin, clause)) if handed_on else None
        stop = _CLAUSE.search(text, match.end(), limit)
        effect = (match.end(), stop.start() if stop else limit)
        if cause:
            anchor = "start" if cause == previous else "end"
            denied = DENIAL.search(text, clause, match.start()) is not None
            yield _Phrases(cause, effect, _BY_WORD[match[0]], f"causal.{match[0]}", anchor, denied=denied)
        previous = effect


def _aside(text: str, begin: int, match: re.Match[str]) -> bool:
    """Whether a trigger stands in brackets, or 使 is part of another word."""
    if match[0] == "使" and text[match.end() : match.end() + 1] in "用命馆者得":
        return True
    return text.count("（", begin, match.start()) > text.count("）", begin, match.start())


def _clause_before(text: str, begin: int, clause: int) -> tuple[int, int] | None:
    """Return the clause that ends where `clause` begins: 「硅料价格下跌，带动…」."""
    if clause <= begin or text[clause - 1] != "，":
        return None
    start = max((m.end() for m in _CLAUSE.finditer(text, begin, clause - 1)), default=begin)
    return start, clause - 1


def _leading(text: str, begin: int, end: int) -> Iterator[_Phrases]:
    """「由于 A，B」 and 「随着 A，B」: the cause runs to the comma, the effect is the clause behind it."""
    for match in _LEAD.finditer(text, begin, end):
        comma = text.find("，", match.end(), end)
        if comma < 0 or _BACK.search(text, max(begin, match.start() - 4), match.end()):
            continue
        if not HANDED_ON.fullmatch(
            text, max((m.end() for m in _CLAUSE.finditer(text, begin, match.start())), default=begin), match.start()
        ):
            continue  # 「B 受益于 A，但 C」: what is behind the comma is another matter
        tail = _LEAD_TAIL.search(text, match.end(), comma)
        stop = _CLAUSE.search(text, comma + 1, end)
        effect = (comma + 1, stop.start() if stop else end)
        if _FORWARD_RE.search(text, *effect):
            continue  # the trigger inside reads it better
        sign = DOWN if match[0] in ("受累于", "受制于") else PLAIN
        yield _Phrases(
            (match.end(), tail.start() if tail else comma), effect, Trigger(match[0], sign), f"causal.{match[0]}"
        )


def _under(annotated: Annotated, begin: int, end: int) -> Iterator[_Phrases]:
    """「受 A 影响，B 下跌」 and 「B 受 A 提振」."""
    text = annotated.text
    for match in _UNDER.finditer(text, begin, end):
        if match.start() and text[match.start() - 1] in "接承遭享经":
            continue
        trigger = Trigger(f"受…{match['word']}", _UNDER_EFFECT.get(match["word"], PLAIN))
        clause = max((m.end() for m in _CLAUSE.finditer(text, begin, match.start())), default=begin)
        left = (clause, match.start())
        at = match.end() + (text[match.end() : match.end() + 1] == "，")
        stop = _CLAUSE.search(text, at, end)
        right = (at, stop.start() if stop else end)
        name = f"causal.{trigger.word}"
        named = any(ref.kind in _EFFECT_KINDS for ref in annotated.between(*left))
        if named and (moved := moved_behind(text, at, right[1])):  # 「磷酸铁锂价格受碳酸锂影响下跌」
            trigger = Trigger(trigger.word, moved, forced=True)
        effect, anchor = (left, "end") if named else (right, "start")
        yield _Phrases(match.span("cause"), effect, trigger, name, "whole", anchor)


def _backward(text: str, begin: int, end: int) -> Iterator[_Phrases]:
    """「B 回升，主要系 A 下降」: effect first."""
    for match in _BACK.finditer(text, begin, end):
        start = max((m.end() for m in _CLAUSE.finditer(text, begin, match.start())), default=begin)
        stop = _CLAUSE.search(text, match.end(), end)
        cause = (match.end(), stop.start() if stop else end)
        if start < match.start() and cause[1] > cause[0]:
            yield _Phrases(cause, (start, match.start()), Trigger("主要系", PLAIN), "causal.主要系", "whole", "end")


def _benefits(annotated: Annotated, begin: int, end: int) -> Iterator[_Phrases]:
    """「B 受益于 A」: a sector or a company, before the word, profits by what stands behind it."""
    text = annotated.text
    for match in _BENEFIT.finditer(text, begin, end):
        start = max((m.end() for m in _CLAUSE.finditer(text, begin, match.start())), default=begin)
        stop = _CLAUSE.search(text, match.end(), end)
        cause = (match.end(), stop.start() if stop else end)
        if any(ref.kind in _EFFECT_KINDS for ref in annotated.between(start, match.start())):
            gain = DOWN if match[0] in ("受累于", "受损于", "受制于") else UP
            yield _Phrases(cause, (start, match.start()), Trigger("利好", gain), f"causal.{match[0]}", "whole", "end")


def _toward(text: str, begin: int, end: int) -> Iterator[_Phrases]:
    """「A 对 B 形成支撑」: the word behind says where the effect goes."""
    for match in _TOWARD.finditer(text, begin, end):
        trigger = Trigger(
            f"对…{match['word']}", UP if match["word"] in _SUPPORTS else DOWN, forced=match["word"] not in _SUPPORTS
        )
        start = max((m.end() for m in _CLAUSE.finditer(text, begin, match.start())), default=begin)
        if start < match.start():
            yield _Phrases((start, match.start()), match.span("effect"), trigger, f"causal.{trigger.word}", "end")


def _inside_name(annotated: Annotated, match: re.Match[str]) -> bool:
    return any(ref.start <= match.start() < ref.end for ref in annotated.refs)


def _claim(phrases: _Phrases, cause: Factor, effect: Factor) -> Claim | None:
    """Weigh one cause against one effect; without a direction for both there is nothing signed to say."""
    trigger = phrases.trigger
    moved = trigger.effect if trigger.forced else effect.direction or trigger.effect
    if trigger.word in _HINDERS and effect.direction == DOWN:
        moved = UP  # what is hindered from falling stays up
    if not moved or cause.ref.entity == effect.ref.entity or cause.ref.start == effect.ref.start:
        return None
    if cause.ref.entity == effect.ref.about or (phrases.cause_anchor == "whole" and not _moves(cause)):
        return None
    if not _causes(cause, effect) or not (
        effect.direction or effect.ref.kind == Kind.INDICATOR or trigger.word in _FAVOURS
    ):
        return None
    explicit = (cause.direction != PLAIN or cause.ref.kind in _FREE_KINDS) + (effect.direction != PLAIN)
    qualifiers = (("cause_direction", DIRECTION_NAME[cause.direction]), ("effect_direction", DIRECTION_NAME[moved]))
    return Claim(
        relation="affects",
        subject=cause.ref,
        object=effect.ref,
        start=min(phrases.cause[0], phrases.effect[0]),
        end=max(phrases.cause[1], phrases.effect[1]),
        pattern=phrases.name,
        sign=(cause.direction or UP) * moved,
        qualifiers=qualifiers,
        denied=phrases.denied,
        confidence=(0.6, 0.7, 0.85)[explicit] * min(cause.ref.score, effect.ref.score),
    )


def _moves(cause: Factor) -> bool:
    """Whether a factor is said to move, happens, or is a demand."""
    return bool(cause.direction) or cause.ref.kind in _FREE_KINDS or cause.ref.name.endswith("需求")


def _causes(cause: Factor, effect: Factor) -> bool:
    """Whether a factor can move something: it moves, or the text says how its effect moves."""
    told = bool(effect.direction) or effect.ref.name.endswith("需求")
    return _moves(cause) or (cause.ref.kind != Kind.INDICATOR and told)
