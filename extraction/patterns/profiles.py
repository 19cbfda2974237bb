"""What a report tells of its company in passing, read loosely: businesses, goods, trades, places, uses, dealings.

The names are cut from the lists of `listed`, the company is the one that the clause is about. These readings are for
questions and for candidates of a model; they make no facts, for a list does not say whether it
is the company's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from extraction.annotated import Claim, Ref
from extraction.patterns.listed import names
from extraction.patterns.profile_names import COARSE, acting, business_names, firm_names
from kg.ids import entity_id
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.annotated import Annotated

_BE = (
    "(?:(?:主要|分别|重点|目前|仍|已)*"
    "(?:包括|涵盖|涉及|包含|为|是|有|分为|细分为|来源于|来自于?|围绕|以|覆盖(?!率|面))(?:了|但不限于)?(?:：)?|：\\s*)"
)
_LIST = r"(?P<list>[^，。；：！？\s]{2,160}?)"
_BACK = r"(?P<list>[^，。；：！？\s]{2,90}?)"
_GOING = (
    "从事|经营|开展|发展|拓展|推进|推动|布局|深耕|聚焦|专注于?|致力于|做强做?大?|做大|夯实|巩固|开拓|优化|整合|打造|形成|探索|培育|"
    "涉足|进军|切入|介入|进入|加强|提升|承接|实施|提供|围绕|依托|立足|包括|涵盖|涉及|以|在|为|的|是|将|对|了|由|于|从|其|有|及其|"
    "完成|出售|剥离|停止|实现|受|因|向|与|负责|构建|坚持|确立|具有|通过|报告期内|目前|原有|传统|新兴|现有|新增|"
    "公司|主营|主要|核心|各项|相关|国内|全球|领先|优质|稳步|积极|大力|不断|持续|继续|全面|加快|重点|着力|进一步|开发|该|本"
)
_LEADS = re.compile("^(?:以及|、|和|与|及|等)+")
_AFTER_VERB = re.compile(f".*(?:{_GOING})")


@dataclass(frozen=True, slots=True)
class Wording:
    """A wording whose group `list` holds names; `back` where the names end at it and begin behind a verb."""

    name: str
    relation: str
    kind: Kind
    regex: re.Pattern[str]
    back: bool = False


def _wording(name: str, relation: str, kind: Kind, regex: str, **how: bool) -> Wording:
    return Wording(name, relation, kind, re.compile(regex), **how)


_END = "(?=[，。；！？]|$)"
_WORDINGS = (
    _wording(
        "main",
        "operates",
        Kind.BUSINESS,
        f"(?:主营业务|主要业务|核心业务|主业|业务范围|经营范围|业务板块|业务领域|经营业务|[^主要核心]业务)(?:收入|利润)?(?:目前)?{_BE}{_LIST}{_END}",
    ),
    _wording(
        "does",
        "operates",
        Kind.BUSINESS,
        f"(?:主要从事|专业从事|一直从事|从事|主营|专注于?|专业经营)(?!的|业务|主业|主营|产品|收入){_LIST}{_END}",
    ),
    _wording(
        "business",
        "operates",
        Kind.BUSINESS,
        f"{_BACK}(?:等)?(?:相关|各项|主要|核心|[一二三四五六七八九十两]大)*(?:业务|主业|板块)(?!模式|中心|发展方向)",
        back=True,
    ),
    _wording(
        "leads", "operates", Kind.BUSINESS, f"以{_LIST}(?:业务)?为(?:主要|核心|主营|支柱)?(?:主业|业务|主营|产业)"
    ),
    _wording(
        "products",
        "produces",
        Kind.PRODUCT,
        f"(?:主要|核心|主导|代表性?|主营|系列)?(?:产品|品种|剂型|品牌)(?:线|体系|系列|种类|类型)?{_BE}{_LIST}{_END}",
    ),
    _wording(
        "makes",
        "produces",
        Kind.PRODUCT,
        f"(?:(?:生产|研制|推出|研发|制造|承建|自主研发|开发)的){_LIST}(?=[，。；！？是为在等]|$|产品|项目)",
    ),
    _wording(
        "makes2",
        "produces",
        Kind.PRODUCT,
        f"(?:主要生产|专业生产|成功开发|成功研发|承建了?|建成了?){_LIST}(?=[，。；！？等]|$|产品|项目)",
    ),
    _wording(
        "goods",
        "produces",
        Kind.PRODUCT,
        f"{_BACK}等(?:系列|主要|多个|各类|相关|[0-9一二三四五六七八九十两多]+(?:个|种|类|大|款))*(?:产品|品种|药品|楼盘)",
        back=True,
    ),
    _wording(
        "trade",
        "belongs_to",
        Kind.INDUSTRY,
        "所属(?:的)?行业(?:分类)?(?:为|是|属于)(?P<list>[^，。；：！？\\s]{2,40}?)(?=[，。；（]|$)",
    ),
    _wording(
        "leader",
        "belongs_to",
        Kind.INDUSTRY,
        "(?:是|为|作为|系)(?:一家)?(?:国内|中国|全国|全球|我国|国际|世界)(?:领先的?|知名的?|最大的?|著名的?|唯一的?|最早的?|首家|具有[^，。]{2,14}的)*(?P<list>[^，。；：！？\\s的]{2,12}?)(?:行业|领域|类)(?:的)?(?:龙头|上市公司|领军|企业|领先|知名|第一|重点|骨干)",
    ),
    _wording(
        "stands",
        "located_in",
        Kind.REGION,
        f"(?:位于|地处|坐落于|坐落在|落户|立足于?|扎根|辐射|注册地为?|总部在)(?:中国)?{_LIST}{_END}",
    ),
    _wording(
        "stands2",
        "located_in",
        Kind.REGION,
        f"(?:在|分布于|分布在|是|作为){_LIST}(?:等地|等省|设立|建立|成立|拥有|开发|唯一|首家|最大|内|境内|两大|三大|[一二三四五六七八九十两]个|地区)",
    ),
    _wording(
        "child",
        "subsidiary_of",
        Kind.COMPANY,
        "(?:子公司|孙公司|分公司|附属公司)(?:——|：|包括|为|是|有)?(?!的|股权|及|和|、|所|在|将|已|持|与|以|均|经|业|之|其|层|数|为|等|相)(?P<list>[^，。；：！？\\s的]{2,60}?)(?=[，。；（]|$|目前|已|从事|主营|主要|拥有|积极|所|的|股权|通过|于|在|与|作为|实现|完成|成功|[0-9一二三四五六七八九十两]+家|等|位于|为|是|持有|生产|[0-9])",
    ),
    _wording(
        "children",
        "subsidiary_of",
        Kind.COMPANY,
        "(?:下辖|下设|旗下拥有|旗下有|控股(?!子|股东|孙|公司|集团|有限|的|权|型)|全资拥有|收购(?!的|和|、|价|事|方|完成|股|项|意|协|标)|处置了|转让了?|注销了?|失去对|受让|购买)(?!交易性|衍生|资产|了|日|价|公允)(?P<list>[^，。；：！？\\s的]{2,100}?)(?=[，。；]|$|的|[0-9.]+%|股权|股份|[0-9一二三四五六七八九十两]+家|等|事项|项目)",
    ),
    _wording(
        "partners",
        "partners_with",
        Kind.COMPANY,
        "(?:与|和|同|携手|联合|作为)(?P<list>[^，。；：！？\\s]{2,120}?)(?:等(?:[^，。；]{0,24}?))?(?:的)?(?:建立|签订|签署|合作|达成|保持|结成|形成|共建|共同|联合|正式签)",
    ),
    _wording(
        "clients",
        "partners_with",
        Kind.COMPANY,
        "(?:客户|合作伙伴|合作方|合作单位|合作品牌|供应商)(?:主要|资源)?(?:包括|有|为|涵盖|如|覆盖|包含|：)(?:了)?(?P<list>[^，。；：！？\\s]{2,160}?)(?=[，。；]|$)",
    ),
    _wording(
        "stake",
        "holds_stake_in",
        Kind.COMPANY,
        "(?:持有|参股|入股|增资|投资设立|出资设立)(?!的|上市|公司|其|金融|至|、|期)(?P<list>[^，。；：！？\\s]{2,80}?)(?=[，。；]|$|[0-9.]+\\s?%|的|股权|股份|等)",
    ),
    _wording(
        "used-in",
        "upstream_of",
        Kind.INDUSTRY,
        f"(?:应用于|用于(?!收购|补充|返还|偿还|支付|投资|建设|归还|购买|弥补)|应用在|应用到|运用于)(?:生产|制造|制作)?{_LIST}{_END}",
    ),
)


_BEING = re.compile("是|为|作为|属于")
_PART = re.compile("[。；]")
_BESIDE = 6  # characters between a company and a wording that is plainly its own
_LOOSE = 0.5
_USED_LEAD = re.compile("(?:，)?(?:经加工后)?(?:已|可|被|主要|广泛|均|直接|大量|的|地|主要是|目前|可以)*$")
_TRADE_END = re.compile(
    "(?:等)?(?:下游|航天|传统|新兴|多个|相关|各个?|众多|[一二三四五六七八九十两多0-9]+(?:个|大))*(?:行业|领域|产业|方面|市场|产品)?$"
)


def read(annotated: Annotated) -> Iterator[Claim]:
    """Yield what the sentence tells of its company, the loosest readings of it included."""
    seen: set[tuple[str, str, int, int]] = set()
    for claim in _worded(annotated):
        key = (claim.relation, claim.subject.name, claim.object.start, claim.subject.start)
        if key not in seen:
            seen.add(key)
            yield claim


def _worded(annotated: Annotated) -> Iterator[Claim]:
    for wording in _WORDINGS:
        for match in wording.regex.finditer(annotated.text):
            start, end = match.span("list")
            if wording.back:
                start = _begin(annotated, start, end)
            if wording.relation == "upstream_of":
                yield from _uses(annotated, wording, match)
                continue
            owner = teller(annotated, start if wording.back else match.start())
            if owner is None or start >= end:
                continue
            for low, high in _names(annotated, wording, start, end):
                if high <= owner.start or owner.end <= low:
                    yield _claim(annotated, wording, owner, (low, high))


def _names(annotated: Annotated, wording: Wording, start: int, end: int) -> Iterator[tuple[int, int]]:
    if wording.kind == Kind.REGION:
        return _regions(annotated, start, end)
    if wording.kind == Kind.COMPANY:
        return firm_names(annotated, start, end)
    if wording.kind == Kind.BUSINESS:
        return business_names(annotated.text, start, end)
    return names(annotated.text, start, end, joint=COARSE)


def _begin(annotated: Annotated, start: int, end: int) -> int:
    """Where the names before a word like 业务 begin: behind the last verb and the last company."""
    verb = _AFTER_VERB.match(annotated.text, start, end)
    begins = [verb.end() if verb else start]
    begins += [ref.end for ref in annotated.refs if ref.kind == Kind.COMPANY and start <= ref.start < end]
    begin = max(begins)
    lead = _LEADS.match(annotated.text[begin:end])
    return begin + (lead.end() if lead else 0)


def _uses(annotated: Annotated, wording: Wording, match: re.Match[str]) -> Iterator[Claim]:
    """Read 「A、B主要应用于C、D等行业」: what is used, and the trades it is used in."""
    text = annotated.text
    start, end = match.span("list")
    trail = _TRADE_END.search(text, start, end)
    trades = list(names(text, start, trail.start() if trail else end))
    for low, high in _used(annotated, match.start()):
        one = Ref(entity_id(Kind.PRODUCT, text[low:high]), Kind.PRODUCT, text[low:high], low, high, score=0.8)
        for trade in trades:
            yield _claim(annotated, wording, one, trade)


def _used(annotated: Annotated, at: int) -> list[tuple[int, int]]:
    """Where the goods stand that a use is told of: in the clause before it, or in the one before that, before 是."""
    text = annotated.text
    sentence = max(text.rfind(mark, 0, at) for mark in "。；：！？") + 1
    lead = _USED_LEAD.search(text, sentence, at)
    stop = lead.start() if lead else at
    low = max(sentence, text.rfind("，", sentence, stop) + 1)
    if "产品".startswith(text[low:stop]) or text[low:stop] == "其产品":
        place = text.find("产品", low, at)
        if place >= 0:  # the text's own word for what it spoke of
            return [(place, place + 2)]
        low = max(sentence, text.rfind("，", sentence, max(low - 1, sentence)) + 1)
        being = _BEING.search(text, low, stop)
        return list(names(text, low, being.start())) if being else []
    being = _BEING.search(text, low, stop)
    stop = being.start() if being else stop
    return list(names(text, _begin(annotated, low, stop), stop))


def teller(annotated: Annotated, before: int) -> Ref | None:
    """Return the company that a clause is about: the one named right before, else the sentence's first."""
    named = [ref for ref in annotated.refs if ref.kind == Kind.COMPANY and ref.start >= 0]
    named = sorted([*named, *acting(annotated)], key=lambda ref: ref.start)
    near = [ref for ref in named if ref.end <= before and not _PART.search(annotated.text, ref.end, before)]
    if near and before - near[-1].end <= _BESIDE:
        return near[-1]
    if named:
        return named[0]
    subject = annotated.subject
    return subject if subject is not None and subject.kind == Kind.COMPANY else None


def _claim(annotated: Annotated, wording: Wording, owner: Ref, place: tuple[int, int]) -> Claim:
    start, end = place
    name = annotated.text[start:end]
    other = Ref(entity_id(wording.kind, name), wording.kind, name, start, end, score=0.8)
    subject, object_ = (other, owner) if wording.relation == "subsidiary_of" else (owner, other)
    return Claim(
        relation=wording.relation,
        subject=subject,
        object=object_,
        start=min(start, owner.start) if owner.start >= 0 else start,
        end=max(end, owner.end),
        pattern=f"profile.{wording.name}",
        confidence=_LOOSE,
    )


def _regions(annotated: Annotated, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the places named in a stretch; a province and its city side by side are one place."""
    places: list[tuple[int, int]] = []
    for ref in annotated.between(start, end):
        if ref.kind == Kind.REGION and places and places[-1][1] == ref.start:
            places[-1] = (places[-1][0], ref.end)
        elif ref.kind == Kind.REGION:
            places.append((ref.start, ref.end))
    yield from places
