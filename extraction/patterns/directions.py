"""Where a name moves: the words of rising and falling, and how near to the name they must stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.model import Kind

if TYPE_CHECKING:
    from extraction.annotated import Ref

UP, DOWN, PLAIN = 1, -1, 0
DIRECTION_NAME = {UP: "up", DOWN: "down", PLAIN: "none"}

_RISES = [
    "向上",
    "减亏",
    "扭亏",
    "上涨",
    "上行",
    "上升",
    "提升",
    "提高",
    "增长",
    "增加",
    "回升",
    "走高",
    "走强",
    "反弹",
    "改善",
    "扩大",
    "旺盛",
    "高增",
    "攀升",
    "修复",
    "回暖",
    "复苏",
    "抬升",
    "走阔",
    "扩张",
    "新高",
    "超预期",
    "上调",
    "增强",
    "强劲",
    "翻倍",
    "放量",
    "爆发",
    "涨价",
    "扩产",
    "提速",
    "加码",
    "升温",
    "走俏",
    "大涨",
    "上移",
    "转强",
    "增厚",
    "向好",
    "好转",
    "释放",
    "激增",
    "飙升",
    "高企",
    "提振",
    "涨",
    "景气",
    "增产",
    "复产",
    "大增",
    "倍增",
    "优化",
    "回补",
    "转暖",
    "上扬",
    "高位",
    "紧张",
    "紧缺",
    "走扩",
    "火爆",
    "扩容",
    "重估",
    "繁荣",
    "壮大",
    "推升",
    "冲高",
    "转正",
    "同增",
    "环增",
    "提价",
    "较好",
    "偏高",
    "增幅扩大",
    "涨幅扩大",
    "创高位",
    "突破前高",
    "高于往年同期",
    "高于去年同期",
]
_FALLS = [
    "向下",
    "下跌",
    "下行",
    "下降",
    "降低",
    "减少",
    "回落",
    "走低",
    "走弱",
    "下滑",
    "收窄",
    "缩减",
    "萎缩",
    "承压",
    "疲软",
    "放缓",
    "减弱",
    "恶化",
    "暴跌",
    "下调",
    "收缩",
    "去化",
    "减产",
    "短缺",
    "不足",
    "亏损",
    "走软",
    "降温",
    "低迷",
    "不振",
    "回调",
    "压缩",
    "降价",
    "跌价",
    "停产",
    "大跌",
    "下移",
    "转弱",
    "过剩",
    "缩量",
    "受限",
    "偏弱",
    "受阻",
    "低于预期",
    "不及预期",
    "中断",
    "滑坡",
    "跳水",
    "探底",
    "受损",
    "跌",
    "减缓",
    "弱化",
    "低位",
    "疲弱",
    "拖累",
    "下挫",
    "出清",
    "退坡",
    "受挫",
    "缩水",
    "负增长",
    "摊薄",
    "延迟",
    "推迟",
    "延期",
    "暂停",
    "取消",
    "缓和",
    "缓解",
    "消退",
    "平息",
    "减轻",
    "慢于预期",
    "弱于预期",
    "差于预期",
    "逊于预期",
    "未及预期",
    "放松",
    "拖延",
    "乏力",
    "冲高回落",
    "偏低",
    "降幅扩大",
    "低于往年同期",
    "低于去年同期",
    "跌幅扩大",
    "转负",
    "同降",
    "环降",
    "同减",
]
# These set a cause going (AI 应用落地) but say nothing of how an effect is measured.
_STARTS = [
    "普及",
    "落地",
    "推进",
    "推广",
    "实施",
    "出台",
    "发展",
    "渗透",
    "催化",
    "趋严",
    "放宽",
    "宽松",
    "崛起",
    "迭代",
    "升级",
    "兴起",
    "拓展",
    "突破",
    "应用",
    "建设",
    "加快",
    "加速",
    "上车",
    "加征",
    "加剧",
]
_MOVES = {**dict.fromkeys(_RISES, UP), **dict.fromkeys(_FALLS, DOWN)}
_CAUSE_MOVES = {**_MOVES, **dict.fromkeys(_STARTS, UP)}
_OF_SUPPLY = ("供给", "供应", "产能", "供需")  # 供给紧张 and 供应扰动 mean less of it
_SPENT = ("成本", "费用", "费用率")
_SCARCE = frozenset(("紧张", "紧缺", "扰动", "收紧", "缺口"))

# A product that rises or is made less: its price, its output.
_MEASURES = {
    "价格": frozenset(
        (
            "涨价",
            "提价",
            "降价",
            "跌价",
            "上涨",
            "下跌",
            "大涨",
            "大跌",
            "暴跌",
            "走高",
            "走低",
            "下挫",
            "跳水",
            "涨",
            "跌",
            "飙升",
        )
    ),
    "产量": frozenset(("增产", "减产", "停产", "复产")),
    "产能": frozenset(("扩产",)),
}

_ADVERB = (
    "可能|大概率|或|料|持续|大幅|快速|进一步|有望|明显|显著|同比|环比|小幅|的|边际|逐步|逐渐|稳步|继续|迅速|整体|全面|出现|略有|有所|将|会|已|仍|不断|再度|"
    "新一轮|一轮|中长期|短期|近期|后续|得到|再次|触底|阶段性|结构性|预期|保持|维持|呈现|迎来|实现|进入|开始|均|普遍|多数|较快|较大|也|都|并|更|很|较|带来的|所|从|由|向|至|超预期|加速|高位|低位"
)


def _pattern(words: dict[str, int], extra: tuple[str, ...] = ()) -> str:
    return "|".join(sorted(map(re.escape, (*words, *extra)), key=len, reverse=True))


def _repeated(*alternations: str) -> str:
    """Return one alternation that may be repeated: a word made of others (或将, 超预期) is left out.

    What it can make up stays the same; but with both, 「或将或将…」 could be read in 2ⁿ ways, and all be tried.
    """
    words = {word for each in alternations for word in each.split("|")}
    return "|".join(sorted((word for word in words if not _is_made(word, words)), key=lambda word: (-len(word), word)))


def _is_made(word: str, words: set[str]) -> bool:
    ends = (at for at in range(1, len(word)) if word[:at] in words)
    return any(word[at:] in words or _is_made(word[at:], words) for at in ends)


# Between an indicator and its movement a word or two may stand (价格重心上移); between a thing and its movement only
# what names its trade: in 「AI服务器功耗提升」 it is not the server that rises.
_FROM = r"(?:[从由][\d.,\-–—~至]+(?:%|[^，。；：！？（）0-9]{1,6}?))"  # 从60美元/桶冲高
_LOOSE = rf"(?:(?:{_ADVERB})*?|{_FROM}|[^，。；：！？（）0-9]{{1,4}}?(?:{_ADVERB})*?)"
_TRADE = "行业|板块|产业链|产业|市场|企业|公司|厂商|环节|景气度?|预期|进程|力度|等[^，。；：！？（）的]{0,4}"
_STRICT = rf"(?:(?:{_TRADE})?(?:{_ADVERB})*?)"
_ANY_MOVE = _pattern(_CAUSE_MOVES, tuple(_SCARCE))
_EFFECT_MOVE = _pattern(_MOVES, tuple(_SCARCE))
_THEN = {
    (loose, cause): re.compile(rf"{gap}(?P<word>{moves})")
    for loose, gap in ((True, _LOOSE), (False, _STRICT))
    for cause, moves in ((True, _ANY_MOVE), (False, _EFFECT_MOVE))
}
_GOES_ON = re.compile(rf"(?:{_ADVERB})*(?P<word>{_pattern(_MOVES)})")  # 超预期下跌: the later word is the movement
_FALLS_SHORT = re.compile(
    r"(?:速度|进度|节奏|程度|情况)?(?:低于预期|不及预期|不达预期|放缓|缓慢|乏力|趋缓|受阻|有限|不佳|延迟|推迟)"
)
_AGAINST = re.compile("(?:低|慢|弱|差|逊|高|好|快|强)于预期|不及预期|不达预期|未及预期|超预期")
_EITHER_WAY = re.compile("(?:大幅|剧烈|的)?(?:波动|变动|变化|震荡|调整)")
_EASED = re.compile(r"(?:局面|状况|程度|态势)?(?:的|有所|逐步|逐渐|边际|明显|得到|略有|大幅)*(?:缓解|缓和|消退|好转)")
_VERB_BEFORE = re.compile(
    r"(?:(?P<up>提升|提高|增加|推高|抬升|增厚|改善|扩大|拉高|推升|增强|提振|加大|抬高|高)|(?P<down>降低|压低|减少|削弱|摊薄|压缩|侵蚀|拉低|减轻|挤压|缩小|下调|取消|暂停|豁免|推迟|低))"
    r"(?:了|相关|整体|公司|行业|其|企业|终端|国内|单位)*$"
)
_BEFORE_SPAN, _AFTER_SPAN = 8, 16
# What may stand between a cause and its trigger: movement, adverbs, a figure, an aside.
_NOT_MOVED = "并未|并没有|没有|尚未|未能|未|难以|难|不会|无法"
_LINKED = "有效|直接|强力|共同|主要|亦|进而|从而|继而|最终|又|同时|能够|可|能"
TAIL = re.compile(
    r"(?:（[^（）]*）|\d[\d.,]*+(?:%|个百分点|pct|bp|BP|万|亿|元|美元|/|吨|桶|台|辆|部|套|公斤|人|关口|以上|左右|以下)*+|"
    + _repeated(
        _ADVERB,
        _ANY_MOVE,
        _NOT_MOVED,
        _LINKED,
        "等|因素|影响|政策|趋势|背景|，|有力|对|强劲|温和|若|一旦|大面积|大规模|则|数据|企稳|深化|周期|即将|开启|启动|到来|超出预期|好于预期|旺季|淡季|压力|密集|发布|超|达|约|至|在|附近",
    )
    + ")*"
)
DENIAL = re.compile(f"(?:{_NOT_MOVED})(?:有效|直接|明显|显著|进一步|持续)*$")
HANDED_ON = re.compile(f"(?:{_repeated(_ADVERB, _LINKED, '显著|有力|因此|这|也|则|叠加|同步')})*")


@dataclass(frozen=True, slots=True)
class Movement:
    """Where a name moves, the word that says so ("" where a verb before the name or nothing does), and against what."""

    direction: int
    word: str = ""
    against: str = ""  # 不及预期: what was expected


def movement(text: str, ref: Ref, *, start: int, limit: int, cause: bool) -> Movement:
    """Return where a name moves: by the word behind it, else by the verb before it; PLAIN when neither says."""
    stop = min(max(limit, ref.end), ref.end + _AFTER_SPAN)
    match = _THEN[ref.kind == Kind.INDICATOR, cause].match(text, ref.end, stop)
    if match:
        later = _GOES_ON.match(text, match.end(), stop) if match["word"] == "超预期" else None
        against = _AGAINST.search(text[ref.end : match.end() + 6])
        return Movement(_meaning(text, ref, later or match, cause=cause), match["word"], against[0] if against else "")
    verb = _VERB_BEFORE.search(text[max(start, ref.start - _BEFORE_SPAN) : ref.start])
    if verb:
        return Movement(UP if verb["up"] else DOWN)
    return Movement(PLAIN)


def measured_by(word: str) -> str:
    """Return the indicator that a word about a product speaks of: 降价 of its price, 减产 of its output, or nothing."""
    return next((head for head, words in _MEASURES.items() if word in words), "")


def moved_behind(text: str, start: int, end: int) -> int:
    """Return the movement that a text begins with (「…影响下跌」), or PLAIN."""
    match = _THEN[True, False].match(text, start, end)
    return _MOVES.get(match["word"], PLAIN) if match else PLAIN


def _meaning(text: str, ref: Ref, match: re.Match[str], *, cause: bool) -> int:
    word = match["word"]
    if _EASED.match(text, match.end()) or _EITHER_WAY.match(text, match.end()):
        return PLAIN  # 供给紧张缓解 is neither scarce nor plenty, 超预期波动 neither up nor down
    if word == "优化" and ref.name.endswith(_SPENT):
        return DOWN
    if word in _SCARCE:
        if ref.name.endswith("产能") and not cause:
            return PLAIN  # too little for what is wanted: it need not be less than before
        if ref.name.endswith(_OF_SUPPLY):
            return DOWN
        return UP if word in ("紧张", "紧缺") else PLAIN
    if word == "过剩" and ref.name.endswith(_OF_SUPPLY):
        return UP
    return DOWN if _FALLS_SHORT.match(text, match.end()) else _CAUSE_MOVES[word]
