"""Where the names of a loose list begin and end: companies that no list knows, businesses told by what is done."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import rjieba

from extraction.annotated import Ref
from extraction.patterns.listed import names
from kg.ids import entity_id
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.annotated import Annotated

COARSE = re.compile("、|以及|和|及(?!其)")  # 与 joins two words of one name more often than two names
_SHORTEST, _LONGEST_FIRM, _LONGEST_DEED = 2, 24, 60
_FIRMS = (Kind.COMPANY, Kind.INSTITUTION)
_SHARE = re.compile(r"(?:[0-9.]+\s?%)?(?:的)?(?:股权|股份)?$")
_BODY = re.compile(
    "(?:公司|集团|银行|大学|学院|医院|研究院|研究所|电视台|协会|[A-Za-z]{2,}|股份|科技|置业|物流|建筑|地产|电力|水务|能源|环保|化工|药业|百货)$"
)
_NO_FIRM = re.compile(
    "^(?:公司|其|该|上述|各|国内|国外|国际|全球|多家|众多|相关|部分|客户|上下游|供应商|之|本|行业|子公司|下属|控股|全资|政府|地方|世界|项目|股东|少数|关联|交易|原|新|非|有关)|(?:业务|产品|客户|企业|资产|项目|领域|行业|方式|公司债|服务|模式|合作|市场|部门|机构)$|的|^(?:公司|集团|股份)$"
)


def firm_names(annotated: Annotated, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a list of companies at its joints: known names as they stand, others where nothing else stands beside."""
    text, at = annotated.text, start
    for joint in (*re.finditer("、|以及|和|及|与", text[start:end]), None):
        stop = start + joint.start() if joint else end
        known = [ref for ref in annotated.refs if ref.kind in _FIRMS and at <= ref.start and ref.end <= stop]
        if known:
            yield known[-1].start, known[-1].end
        else:
            part = _SHARE.sub("", text[at:stop])
            if (
                _SHORTEST <= len(part) <= _LONGEST_FIRM
                and not _NO_FIRM.search(part)
                and (_is_coined(part) or _BODY.search(part))
            ):
                yield at, at + len(part)
        at = start + joint.end() if joint else end


_ACTION = (
    "研发|研究|开发|设计|生产|制造|研制|加工|组装|销售|批发|零售|运营|经营|管理|建设|投资|服务|维修|维护|施工|推广|分析|采购|"
    "贸易|租赁|出租|运输|安装|检测|咨询|冶炼|开采|采选|分销|配送|应用|制作|收费|养护|改造|技术服务|技术开发|售后服务"
)
_JOINT = re.compile("[、和与及以并]+")
_INCOME = re.compile("(?:营业)?收入$")
_DEEDS = re.compile(f"(?:(?:、|和|与|及|以及)(?:相关)?(?:{_ACTION})(?:服务)?)+(?=$|[、和与及，]|等|业务|以及)")
_DEED = re.compile("(?<=[一-鿿A-Za-z0-9）])(?:的)?(?:研发|生产|销售|设计|制造|开发)(?=$|[、和与及，]|等|业务|以及)")
_OF = re.compile(f"的(?:{_ACTION})(?:(?:、|和|与|及|以及)(?:相关)?(?:{_ACTION})(?:服务)?)*(?:业务|等业务|等|工作)?$")
_DOES = re.compile(f"^(?:{_ACTION})(?:(?:、|和|与|及|以及)(?:{_ACTION}))+")


_NO_TRADE = re.compile(
    "模式|情况|说明|分析|^(?:提高|基础|创新|整体|行业|未来|加大|上述|相互|促进|严控|去年|两大|三大|机会|正常)|(?:提升|相关|有关|各|新)$|^.?$"
)


def business_names(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a list of businesses; 「电机的研发、生产和销售」 and 「医药研发、生产和销售」 are one each."""
    part = text[start:end]
    of = _OF.search(part)
    if of or _DOES.match(part):
        stop = start + len(re.sub("(?:等)?(?:业务|工作)?$", "", part))
        if stop - start <= _LONGEST_DEED:
            yield start, stop
        return
    held = [(start + match.start(), start + match.end()) for how in (_DEEDS, _DEED) for match in how.finditer(part)]
    masked = list(text)
    for low, high in held:
        for at in range(low, high):
            masked[at] = "\0"
    for place in names("".join(masked), start, end, joint=COARSE):
        low, high = _bare(text, *place)
        if high - low >= _SHORTEST and not _NO_TRADE.search(text[low:high]):
            yield low, high


def _bare(text: str, low: int, high: int) -> tuple[int, int]:
    """Leave out a joint that the name begins with, and the income that it ends with."""
    lead, income = _JOINT.match(text, low, high), _INCOME.search(text, low, high)
    return lead.end() if lead else low, income.start() if income else high


_ACTS = re.compile(
    r"(?:^|[，。；：（ ]|说明 |报告期内，?|报告期，|期内，|目前，?|子公司|分析 |其中，?|同时，?|[0-9]、)"
    r"(?P<who>(?:\*?ST)?[一-鿿]{2,8}?)"
    r"(?=(?:目前|主要|积极|一直|专业|作为|已|现|正|还|始终|坚持|持续|继续|不断|重点|大力|着力|共)*(?:从事|主营|专注|经营|拥有|旗下|位于|地处|持有|以.{2,40}为(?:主|核心)|与[^，。]{2,60}(?:合作|签)"
    r"|属于|致力于|下辖|生产的|研发的|产品|的?主要产品|的?主营|的?核心|是(?:一家|国内|全国|中国|全球|我国)|围绕|立足|布局|开展|承建|通过|大力|积极))"
)


def acting(annotated: Annotated) -> Iterator[Ref]:
    """Yield names that no list knows, told by what they do: 「天山新材主要从事…」."""
    for match in _ACTS.finditer(annotated.text):
        start, end = match.span("who")
        name = match["who"]
        known = any(ref.start < end and start < ref.end and ref.kind in _FIRMS for ref in annotated.refs)
        if not known and not _STOPS.search(name) and _is_coined(name):
            yield Ref(entity_id(Kind.COMPANY, name), Kind.COMPANY, name, start, end, score=0.6)


def _is_coined(name: str) -> bool:
    """Whether a name holds two characters side by side that are no words: 禾澄 of 禾澄环保."""
    words = rjieba.cut(name, hmm=False)
    return name.startswith(("*ST", "ST")) or any(
        len(one) == len(two) == 1 and not {one, two} & _PARTICLES for one, two in pairwise(words)
    )


_PARTICLES = frozenset(
    "已并但均曾先后仍再更又可能会着被把使让由于从向到至所之而且或若如因此则即便就才都"
    "也不没未无有是这那来去上下中前后内外间时年月日附归多"
)
_STOPS = re.compile(
    "[的了在对将为以与和及等其该各本我]|公司|产品|业务|行业|主要|目前|报告|企业|市场|领域|集团$|客户|项目|能力|情况|模式|技术|优势|发展|管理|经营|销售|生产|服务|研发|建设|板块|方面|同时|积极|通过|具有|年度|国家|团队|品牌|近年|战略|平台|系统|工程|区域|基地|进一步"
)
