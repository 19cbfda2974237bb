"""Where a cause and its effect stand: trigger words and the stretches of the sentence at their sides."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from extraction.first_letters import Prefiltered
from extraction.patterns.directions import DENIAL, DOWN, HANDED_ON, PLAIN, UP, moved_behind
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from extraction.annotated import Annotated

CAUSE_KINDS = frozenset({Kind.INDICATOR, Kind.EVENT, Kind.POLICY, Kind.PRODUCT, Kind.INDUSTRY, Kind.THEME})
EFFECT_KINDS = CAUSE_KINDS | {Kind.COMPANY, Kind.BUSINESS}


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
            "增加了",
            "加大了",
            "推涨",
            "助涨",
            "加剧",
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
            "减少了",
            "缓解了",
        ]
    ),
    *(
        Trigger(word, PLAIN)
        for word in ["导致", "引发", "造成", "使得", "致使", "引起", "促使", "带来", "传导至", "令", "使"]
    ),
)
_BY_WORD = {trigger.word: trigger for trigger in _FORWARD}
_FORWARD_RE = re.compile("|".join(sorted(_BY_WORD, key=len, reverse=True)))
_NOT_CAUSE = re.compile(
    r"^(?:及|、|出尽|兑现|频出|频现|消息|力|因素|型|作用|下|的(?:因素|原因|影响)|减轻|缓解|减弱|效应|剂|位|(?:很|较|相对|非常)?(?:弱|小|有限|不大|可控|甚微))"
)

_LEAD = re.compile(
    r"(?:受益于|得益于|受惠于|由于|因为|随着|伴随着?|受累于|受制于|鉴于|源于|缘于|在(?=[^，。；]{2,30}(?:下|推动下|带动下|背景下)，))"
)
_LEAD_TAIL = re.compile(
    r"(?:等因素)?(?:的)?(?:影响|背景|推动|带动|驱动|支撑|拖累|共振|催化|刺激|提振|扰动|压制)?(?:下|之下)?$"
)
_UNDER = re.compile(
    r"受(?:到|制于|益于)?(?P<cause>[^，。；受]{2,36}?)(?:等)?(?:因素)?(?:的)?(?P<word>影响|拖累|压制|冲击|带动|提振|支撑|推动|驱动|刺激|催化|扰动|抑制|利好)(?!持续、|、|因素|及|和|与|以及|都?(?:很|较|相对|非常)?(?:弱|小|有限|不大|可控|甚微))"
)
_UNDER_EFFECT = {
    **dict.fromkeys(["带动", "提振", "支撑", "推动", "驱动", "刺激", "催化", "利好"], UP),
    **dict.fromkeys(["拖累", "压制", "冲击", "抑制"], DOWN),
}
_BACK = Prefiltered(
    r"，?(?:这)?(?:主要|核心|主因|部分|很大程度上)(?:系|是|由于|因|源于|得益于|受益于|归因于|受|原因是|原因为|是由于|是因为|系因|归功于|来自)(?:受|由于|因)?|，(?:系|源于|归因于|缘于|得益于|受益于)"
)
_BENEFIT = re.compile("受益于|受惠于|得益于|受累于|受损于|受制于")
FOLLOWS = "跟随"
_FOLLOWS = re.compile(
    r"(?:跟随|随(?![着之后时即同机意]))(?P<cause>[^，。；：！？随]{2,20}?)(?:的)?(?:同步|同向|而|价格)*(?P<word>变动|波动|变化|联动|调整|上涨|下跌|走高|走低|上行|下行|走强|走弱|回落|反弹|回升|下调|上调)"
)
_SUPPORTS = frozenset(("支撑", "提振", "利好", "推动", "带动", "拉动", "促进"))
_TOWARD = re.compile(
    r"对(?P<effect>[^，。；对]{2,20}?)(?:的)?(?:形成|构成|带来|产生|起到|予以|有|存在|造成)+(?:了|一定|较强|明显|显著|较大|的|有力|有效|直接)*"
    r"(?P<word>支撑|提振|利好|推动|带动|拉动|促进|压制|拖累|冲击|利空|抑制|压力|挤压|打压)"
)
_CONCEDED = re.compile(r"[，\s]*(?:尽管|虽然|虽|即使|即便|纵然)")  # what is conceded had not its effect
_CLAUSE = re.compile(r"[，；。：！？]")
_SENTENCE_PART = re.compile(r"[；。！？]")


@dataclass(frozen=True, slots=True)
class Phrases:
    """The two sides of one trigger as spans of the sentence, and what the trigger itself says of the effect."""

    cause: tuple[int, int]
    effect: tuple[int, int]
    trigger: Trigger
    name: str
    cause_anchor: str = "whole"
    effect_anchor: str = "start"
    denied: bool = False
    chained: bool = False  # the cause is what the trigger before it moves: A 推动 B，进而 C


def phrases_of(annotated: Annotated) -> Iterator[Phrases]:
    """Yield the two sides of every trigger in a sentence, stop by stop."""
    begin = 0
    for part in (*_SENTENCE_PART.finditer(annotated.text), None):
        end = part.start() if part else len(annotated.text)
        if end > begin and not _CONCEDED.match(annotated.text, begin, end):
            for words, read in _FAMILIES:
                if words.search(annotated.text, begin, end):
                    yield from read(annotated, begin, end)
        begin = end + 1


def _forward(annotated: Annotated, begin: int, end: int) -> Iterator[Phrases]:
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
        if cause and not any(ref.kind in CAUSE_KINDS for ref in annotated.between(*cause)):
            handed_on = HANDED_ON.fullmatch(text, clause, match.start())
            cause = (previous or _clause_before(text, begin, clause)) if handed_on else None
        stop = _CLAUSE.search(text, match.end(), limit)
        effect = (match.end(), stop.start() if stop else limit)
        if cause:
            anchor = "start" if cause == previous else "end"
            denied = DENIAL.search(text, clause, match.start()) is not None
            yield Phrases(
                cause,
                effect,
                _BY_WORD[match[0]],
                f"causal.{match[0]}",
                anchor,
                denied=denied,
                chained=cause == previous,
            )
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


def _leading(annotated: Annotated, begin: int, end: int) -> Iterator[Phrases]:
    """「由于 A，B」 and 「随着 A，B」: the cause runs to the comma, the effect is the clause behind it."""
    text = annotated.text
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
        yield Phrases(
            (match.end(), tail.start() if tail else comma), effect, Trigger(match[0], sign), f"causal.{match[0]}"
        )


def _under(annotated: Annotated, begin: int, end: int) -> Iterator[Phrases]:
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
        named = any(ref.kind in EFFECT_KINDS for ref in annotated.between(*left))
        if named and (moved := moved_behind(text, at, right[1])):  # 「磷酸铁锂价格受碳酸锂影响下跌」
            trigger = Trigger(trigger.word, moved, forced=True)
        effect, anchor = (left, "end") if named else (right, "start")
        yield Phrases(match.span("cause"), effect, trigger, name, "whole", anchor)


def _backward(annotated: Annotated, begin: int, end: int) -> Iterator[Phrases]:
    """「B 回升，主要系 A 下降」: effect first."""
    text = annotated.text
    for match in _BACK.finditer(text, begin, end):
        start = max((m.end() for m in _CLAUSE.finditer(text, begin, match.start())), default=begin)
        stop = _CLAUSE.search(text, match.end(), end)
        cause = (match.end(), stop.start() if stop else end)
        gain = match[0].endswith(("受益于", "得益于"))
        if start < match.start() and cause[1] > cause[0]:
            trigger = Trigger("利好", UP) if gain else Trigger("主要系", PLAIN)
            yield Phrases(cause, (start, match.start()), trigger, "causal.主要系", "whole", "end")


def _benefits(annotated: Annotated, begin: int, end: int) -> Iterator[Phrases]:
    """「B 受益于 A」: a sector or a company, before the word, profits by what stands behind it."""
    text = annotated.text
    for match in _BENEFIT.finditer(text, begin, end):
        start = max((m.end() for m in _CLAUSE.finditer(text, begin, match.start())), default=begin)
        stop = _CLAUSE.search(text, match.end(), end)
        cause = (match.end(), stop.start() if stop else end)
        if any(ref.kind in EFFECT_KINDS for ref in annotated.between(start, match.start())):
            gain = DOWN if match[0] in ("受累于", "受损于", "受制于") else UP
            yield Phrases(cause, (start, match.start()), Trigger("利好", gain), f"causal.{match[0]}", "whole", "end")


def _follows(annotated: Annotated, begin: int, end: int) -> Iterator[Phrases]:
    """「B 跟随 A 上涨」, 「B 随 A 变动」: both move, and the same way."""
    text = annotated.text
    for match in _FOLLOWS.finditer(text, begin, end):
        start = max((m.end() for m in _CLAUSE.finditer(text, begin, match.start())), default=begin)
        if start == match.start() and text[start - 1 : start] == "，":  # 「纯苯、甲苯，跟随原油上涨」
            start = max((m.end() for m in _CLAUSE.finditer(text, begin, start - 1)), default=begin)
        moved = moved_behind(text, match.start("word"), match.end()) or UP
        cause, effect = (match.start("cause"), match.end()), (start, match.start())
        denied = DENIAL.search(text, *effect) is not None
        trigger = Trigger(FOLLOWS, moved, forced=True)
        if start < match.start():
            yield Phrases(cause, effect, trigger, "causal.跟随", "whole", "end", denied=denied)


def _toward(annotated: Annotated, begin: int, end: int) -> Iterator[Phrases]:
    """「A 对 B 形成支撑」: the word behind says where the effect goes."""
    text = annotated.text
    for match in _TOWARD.finditer(text, begin, end):
        trigger = Trigger(
            f"对…{match['word']}", UP if match["word"] in _SUPPORTS else DOWN, forced=match["word"] not in _SUPPORTS
        )
        start = max((m.end() for m in _CLAUSE.finditer(text, begin, match.start())), default=begin)
        if start < match.start():
            yield Phrases((start, match.start()), match.span("effect"), trigger, f"causal.{trigger.word}", "end")


def _inside_name(annotated: Annotated, match: re.Match[str]) -> bool:
    return any(ref.start <= match.start() < ref.end for ref in annotated.refs)


_FAMILIES: tuple[tuple[re.Pattern[str] | Prefiltered, Callable[[Annotated, int, int], Iterator[Phrases]]], ...] = (
    (_FORWARD_RE, _forward),
    (_LEAD, _leading),
    (_UNDER, _under),
    (_BACK, _backward),
    (_TOWARD, _toward),
    (_BENEFIT, _benefits),
    (_FOLLOWS, _follows),
)
