"""What a factor is called: the turn of a policy, what is only expected, what narrows a name (高速覆铜板, 全球, 头部).

A name of the gazetteer is seldom all that a cause is. What stands around it changes who is meant, or the sign.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import rjieba
from msgspec.structs import replace

from extraction.annotated import Ref
from extraction.patterns.metric_words import GENERIC, LONGEST_SCOPE, OWNER_FILLER, PLACES
from kg.ids import entity_id
from kg.model import Kind

if TYPE_CHECKING:
    from extraction.annotated import Annotated

_TRADES = (Kind.INDUSTRY, Kind.THEME, Kind.PRODUCT)
_HAPPENS = (Kind.EVENT, Kind.POLICY)
_SOFTLY = "(?:的|有所|逐步|逐渐|持续|进一步|边际|明显|整体)*"
_POLICY = re.compile(
    rf"(?:行业|产业)?(?:支持|扶持|鼓励|调控|补贴)?政策{_SOFTLY}"
    r"(?P<turn>宽松|放松|松绑|优化|支持|加码|趋严|收紧|收缩|落地|缓和|退坡|退出|转向|调整|延续|落空)?"
)
_TURNS = re.compile(
    rf"(?:政策|规则|措施|力度|影响)?{_SOFTLY}(?P<turn>缓和|优化|放松|放宽|宽松|松动|趋缓|趋严|收紧|加码|纠偏|转向|退坡|退出|延期|落空|取消|暂停|豁免)"
)
_EXPECTED = re.compile(r"(?P<word>预期|猜想|传闻|可能性|概率)(?!的?(?:低|高)于|内|之内|兑现)")
_WALL = re.compile(r"[，。；：！？（）()、“”\"《》\s\d%+/]|以及|并且|而且")
_TRADE_TAIL = re.compile("(?:行业|产业|板块|市场|业)$")
_LATIN = re.compile("(?!AI$)[A-Za-z]{1,3}")  # the end of 「low Dk」
_NAMING_TAGS = ("n", "b", "a", "j", "l", "i", "eng", "vn", "s")
_NO_SCOPE = re.compile(
    "预期|影响|因素|背景|作用|方面|情况|时候|问题|效应|推动|带动|驱动|压力|主线|逻辑|持续|明显|显著|强劲|稳定|大量|良好|较好|快速|重要|主要"
    "|核心|关键|进一步|边际|相关|同时|自身|部分|整个|全部|大部分|下游|上游|终端|未来|短期|中期|长期|当前|后续|前期|短期内|近期|中长期|后市|计价|后因|因高|公司|企业|其中|其他|这些|该|本"
)


def turned(text: str, ref: Ref) -> Ref:
    """Return the policy that a name leads to: 房地产政策宽松 is no rise of the trade, 集采缓和 is no 集采."""
    if ref.kind in _TRADES:
        match = _POLICY.match(text, ref.end)
        if match is None:
            return ref
        name = f"{ref.name}政策{match['turn'] or ''}"
        return Ref(
            entity_id(Kind.POLICY, name), Kind.POLICY, name, ref.start, match.end(), ref.entity, ref.score, ref.name
        )
    match = _TURNS.match(text, ref.end) if ref.kind == Kind.POLICY else None
    return _of(ref, match["turn"], match.end()) if match else ref


def expected(text: str, ref: Ref) -> Ref:
    """Return the expectation where a happening is only expected: 降息预期 moves prices before any 降息."""
    match = _EXPECTED.match(text, ref.end) if ref.kind in _HAPPENS else None
    return _of(ref, match["word"], match.end()) if match else ref


def scope_before(annotated: Annotated, ref: Ref, start: int) -> str:
    """Return the words right before a name that narrow it, as worded; "" where there are none.

    Leftwards from the name, nouns and adjectives that stand in one run: 高速 of 高速覆铜板, 全球 of 全球铜需求.
    """
    text = annotated.text
    end = _before_date(annotated, ref, start)
    begin = max([start, *(found.end() for found in _WALL.finditer(text, start, end))])
    for other in annotated.refs:
        if other.kind in (Kind.INDICATOR, *_HAPPENS) and begin < other.end <= end:
            begin = other.end
    for dated in annotated.periods:
        if begin < dated.end <= end:
            begin = dated.end
    kept: list[str] = []
    for word, tag in reversed(rjieba.tag(text[begin:end])):
        if word in PLACES or (tag.startswith(_NAMING_TAGS) and not _dull(word)):
            kept.append(word)
        elif word != "的" or kept:
            break
    scope = "".join(reversed(kept))
    said = _TRADE_TAIL.sub("", scope)
    return "" if len(scope) > LONGEST_SCOPE or said in ref.name or _LATIN.fullmatch(scope) else scope


def _before_date(annotated: Annotated, ref: Ref, start: int) -> int:
    """Return where the words before a name end, passing over a date that stands behind a place: 美国7月PPI."""
    dated = next((period for period in annotated.periods if period.end == ref.start), None)
    if dated is None:
        return ref.start
    placed = any(annotated.text[max(start, dated.start - size) : dated.start] in PLACES for size in (2, 3))
    return dated.start if placed else ref.start


def _of(ref: Ref, word: str, end: int) -> Ref:
    name = f"{ref.name}{word}"
    return replace(ref, entity=entity_id(ref.kind, name), name=name, end=end, about=ref.entity, owner=ref.name)


def _dull(word: str) -> bool:
    return word in OWNER_FILLER | GENERIC or _NO_SCOPE.fullmatch(word) is not None
