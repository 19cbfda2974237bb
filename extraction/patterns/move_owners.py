"""Whose factor moves, and where: the names before a factor's word, and the regions beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import rjieba

from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extraction.mentions import Found, Lexicon
    from extraction.patterns.move_pairs import Link
    from extraction.patterns.moves import Move

_INHERITED = 60  # characters back to a name that an ownerless factor takes
_REACH = 22  # characters before a factor's word in which its owner stands
# Regions that are no places of the gazetteer.
_WIDE_REGION = re.compile(
    "国内外?|国际|海外|国外|我国|全国|全球|世界|(?<![东西])[东西南北][方部](?!案|法)|华[东南北中]|西[南北]|东[南北]"
)
_LIST = re.compile(r"(?:、|和|及|与|以及|或)")
_CLAUSE = re.compile(r"[，。；,;！？：:#\n]")
_NAMES = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.BUSINESS, Kind.THEME})
_OWN_NOTHING = frozenset({"环保", "贸易", "大宗商品"})  # 环保 is what curbs, 贸易 what is at odds
# Words that stand where a name would and are none.
_NO_NAME = re.compile(
    r"(?:[0-9.%\-—~]+|[一二三四]季度|Q[1-4]|短期内|周内|年内|判断|是因为|促进|支持|到来|大规模|率先|总体|成交|主动|担忧|同样|榨季|隔夜|盘中|今日|昨日|本轮|主因|利好|逐渐|步入|产生|年初|一批|因|下|上|亦|呈现|整个|看涨|下调|上调|装置|集中|冬季|夏季|春季|秋季|各类|旺盛|这|涨|跌|低迷|延续|供需|最高|地|散发|蔓延|被动|外围|商品|高炉|电炉|发展|市场|行业|公司|企业|产品|国内|国际|国内外|全国|国外|海外|内外|外盘|内盘|下游|上游|终端|主要|整体|相关|部分|主产区|产区|现货|期货|进口|出口|"
    r"本周|上周|本月|上月|今年|去年|明年|近期|目前|当前|同期|季度|年度|月份?|年|周|日|全年|上半年|下半年|前期|后期|短期|以前|以来|初|底|末|中|后|前|时|"
    r"的|了|在|是|对|与|和|及|受|因|因为|由于|导致|造成|引起|引发|使|使得|致使|促使|促|推动|带动|拉动|刺激|支撑|助推|推升|提振|拖累|其|该|我国|当地|各地|"
    r"价格|库存|供应|供给|需求|产量|产能|销量|销售|成本|利润|营业|收入|毛利|大幅|持续|继续|进一步|明显|单位|综合|平均|原料|原材料|环比|同比|影响|增加|减少|"
    r"下降|上涨|提升|提高|降低|下跌|回落|上升|回升|增长|出现|预计|可能|有望|或|将|也|仍|均|都|有所|较|更|还|又|而|但|并|且|等|为|以|从|至|到|于|被|让|令|"
    r"随着|伴随|社会|消费|农户|港口|钢厂|油厂|厂家|商家|工业|市|省|地区|区域|全球|世界|人们|消费者|居民|投资者|贸易商|经销商|一|二|三|四|不断|从而|进而|"
    r"因此|以及|同时|另外|此外|目标|价|量|业务|方面|端|面|市面|新|旧|总|高|低|大|小|多|少|不|未|会|能|可|要|有|无|没有|得益|受益|受到|面临|考虑到?|加上|加之|叠加|因素|等因素|自主|局部|情况|背景|阶段性|季节性|恐慌性|比较|相对|非常|十分|更加|认为|显示|表示|来看|看|方面|数据|其中|由|推进|加快|使用|通过|作为|对于|关于)"
)
_FORMS = re.compile(
    "市场|行业|产品|的|现货|期货|平均|整体|综合|销售|采购|进口|国内|出厂|批发|零售|收购|终端|生产|总|新增|社会|市场的|日均|日|月|年|均|最新|主力|合约|港口|企业|工厂|厂家|下游|上游|原料|快速|大幅|持续|明显|显著|小幅|出现|进一步|继续|逐步|逐渐|再次|再度|大量|普遍|均|也|略有|有所|长期|短期|将|会|或|已|仍|的确|近期|目前|维持|较为|稳步|迅速|不断|全面|整体|本身|相关"
)
_NO_LETTERS = re.compile(r"[^\u4e00-\u9fffA-Za-z0-9\-]|元|吨")
_FORM_OF = re.compile(
    "原料药|副产品|类产品|种子|饲料|制品|原材料|原料(?!药)|单体|切片|短纤|薄膜|膜|品(?![种牌类])|[片粉矿煤缆板管料箔浆纱线](?![价格量])"
)
_LEADING = re.compile(r"[受对因使令给自](?=.)")  # a preposition that the cutter left on the name
_MOST_WORDS, _LONGEST_NAME = 3, 8
_OWNED_EVENTS, _BESIDE = frozenset({"curb", "animal_disease"}), 3


@dataclass(frozen=True, slots=True)
class Name:
    """A name at text[start:end] and its kind."""

    start: int
    end: int
    kind: Kind


def names_in(text: str, lexicon: Lexicon) -> list[Name]:
    """Return the products, trades and regions that a text names, in order."""
    found = [Name(f.start, f.end, f.term.kind) for f in _bare(text, lexicon)]
    found += [Name(*match.span(), Kind.REGION) for match in _WIDE_REGION.finditer(text)]
    return sorted(found, key=lambda name: (name.start, -name.end))


def _bare(text: str, lexicon: Lexicon) -> Sequence[Found]:
    return [
        found
        for found in lexicon.find(text)
        if (found.term.kind in _NAMES or found.term.kind == Kind.REGION) and found.term.name not in _OWN_NOTHING
    ]


def owners_of_link(text: str, link: Link, names: Sequence[Name]) -> tuple[list[Name], list[Name]]:
    """Return whose factors the two sides of a link are; a side that does not say takes what was named before."""
    sides = [owners_of(text, move, names) for move in (link.cause, link.effect)]
    for index, move in enumerate((link.cause, link.effect)):
        if sides[index] or not move.direction:
            continue
        other = sides[1 - index]
        if other and move.kind != (link.effect, link.cause)[index].kind:
            sides[index] = other
        else:
            sides[index] = _named_before(text, move, names)
    return sides[0], sides[1]


def owners_of(text: str, move: Move, names: Sequence[Name]) -> list[Name]:
    """Return the products or trades whose factor moves, listed ones together; the word before it when none is known.

    An event (台风, 贸易战) is nobody's, but a curb or a disease is of what stands right before it (生猪疫情).
    """
    begin, head = _clause_start(text, move.head[0]), move.head[0]
    if not move.direction:
        beside = [name for name in names if name.kind in _NAMES and 0 <= head - name.end <= _BESIDE]
        return _listed(text, beside) if move.kind in _OWNED_EVENTS else []
    near = [
        name
        for name in names
        if name.kind in _NAMES and begin <= name.start and name.end <= head and head - name.end <= _REACH
    ]
    word = _unknown_name(text, begin, head, names)
    if word and (not near or (near[-1].end < word.start and _LIST.fullmatch(text, near[-1].end, word.start))):
        near = [*near, word]
    elif near and (form := _FORM_OF.match(text, near[-1].end, head)):  # 多晶硅 and 片 are one thing
        near[-1] = Name(near[-1].start, form.end(), Kind.PRODUCT)
    near = _listed(text, near)
    if near and _LIST.fullmatch(text, near[0].start - 1, near[0].start):
        first = _unknown_name(text, begin, near[0].start - 1, names)
        near = [first, *near] if first else near
    return near


def _unknown_name(text: str, begin: int, end: int, names: Sequence[Name]) -> Name | None:
    """Return the name that no list holds right before `end`, a region in front of it left out (印度 of 印度糖)."""
    word = _word_before(text, begin, end)
    places = [name for name in names if word and name.kind == Kind.REGION and name.start == word.start]
    if word is None or not places:
        return word
    return Name(places[0].end, word.end, word.kind) if places[0].end < word.end else None


def _named_before(text: str, move: Move, names: Sequence[Name]) -> list[Name]:
    """Return the last names before a factor's word that stand within its text's last clauses."""
    near = [name for name in names if name.kind in _NAMES and 0 <= move.head[0] - name.end <= _INHERITED]
    return _listed(text, near)


def _listed(text: str, near: Sequence[Name]) -> list[Name]:
    """Return the last of some names with those listed before it."""
    kept = list(near[-1:])
    for name in reversed(near[:-1]):
        if not _LIST.fullmatch(text, name.end, kept[0].start):
            break
        kept.insert(0, name)
    return kept


def region_of_move(text: str, move: Move, names: Sequence[Name]) -> list[Name]:
    """Return the regions that stand before a factor's word in its clause."""
    begin = _clause_start(text, move.head[0])
    near = [name for name in names if name.kind == Kind.REGION and begin <= name.start and name.end <= move.head[0]]
    return _listed(text, near)


def _clause_start(text: str, before: int) -> int:
    begin = max(0, before - 60)
    return max((match.end() for match in _CLAUSE.finditer(text, begin, before)), default=begin)


def _word_before(text: str, begin: int, end: int) -> Name | None:
    """Return the words right before a factor's word that can only be a name (锰硅 of 锰硅价格)."""
    piece = text[begin:end]
    words = [(start, stop) for _, start, stop in rjieba.tokenize(piece)]
    last = len(words)
    while last and _FORMS.fullmatch(piece, *words[last - 1]):
        last -= 1
    first = last
    while first and not _NO_NAME.fullmatch(piece, *words[first - 1]) and last - first < _MOST_WORDS:
        first -= 1
    if first == last:
        return None
    start, stop = begin + words[first][0], begin + words[last - 1][1]
    start += _LEADING.match(text, start, stop) is not None
    stop -= text[stop - 1] == "等"
    named = stop - start <= _LONGEST_NAME and not _NO_LETTERS.search(text, start, stop)
    return Name(start, stop, Kind.PRODUCT) if named else None
