"""What a company says of itself in lists: 「主营业务为A、B和C」, 「产品包括…」, 「…业务」, named by the list alone.

The gazetteer knows trades and goods that many firms share; a firm's own segments and goods are named nowhere else. A
trigger says what a list holds, the list's joints say where each name begins and ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from extraction.annotated import Claim, Ref
from kg.ids import entity_id
from kg.model import Kind
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.annotated import Annotated

_SHORTEST, _LONGEST = 2, 24  # characters of a name in a list
_MOST = 40  # names in a list
_SURE = 0.8  # the confidence of an opening that names what follows
_NAMED = re.compile("业务|主业|主营|经营|产品|品种|剂型|品牌")


@dataclass(frozen=True, slots=True)
class Opening:
    """Words that open a list, and what the list's names are to the company."""

    relation: str
    kind: Kind
    trigger: re.Pattern[str]
    confidence: float


_SUCH_AS = (
    "(?:主要|分别|重点|大致)?(?:包括|涵盖|涉及|包含|覆盖(?!范围|面|率)|为|是|有|分为"
    "|来源于|来自于?|聚焦于?|集中于|集中在|围绕)(?:了|但不限于)?(?:：)?"
)
_OPENINGS = (
    Opening(
        "operates",
        Kind.BUSINESS,
        re.compile(f"(?:主营业务|主要业务|核心业务|主业|业务范围|经营范围|业务板块|业务领域|主要经营|主营|业务){_SUCH_AS}"),
        0.8,
    ),
    Opening(
        "operates",
        Kind.BUSINESS,
        re.compile("(?:主要|专业|一直|长期|重点)*(?:从事|经营|开展|主营|致力于|专注于?|聚焦于?|深耕)(?:以)?(?!(?:业绩|性|活动|模式|管理|情况|成果|范围|业务))"),
        0.75,
    ),
    Opening(
        "produces",
        Kind.PRODUCT,
        re.compile(f"(?:主要|核心|主导|代表性?|主营|拳头|系列)?(?:产品|品种|剂型|品牌)(?:线|体系|系列|种类|类型)?{_SUCH_AS}"),
        0.8,
    ),
    Opening(
        "produces",
        Kind.PRODUCT,
        re.compile("(?:主要|批量|自主|成功|已经?|积极|大力|专业|独立)*(?:生产|研制|制造|推出|建成|拥有|投产|研发)(?:了|和销售|、销售|与销售|及销售)?(?:的)?(?:主要产品)?(?:为|有|包括)?(?!的|、|和|与|及|基地|经营|能力|运营|销售|成本|企业|线|工艺|规模|管理)"),
        0.55,
    ),
)  # fmt: skip
_LIST = re.compile(r"[^，。；：！？]{2,160}")
_JOINT = re.compile(r"、|以及|和|及其|及|与")
_NUMBERED = re.compile(r"^(?:（?[0-9一二三四五六七八九十]{1,2}[）.、]|[①-⑳])")
_LEAD = re.compile(
    r"^(?:以|了|的|等|为|其|各类|各种|多种|多个|一批|一系列|部分|国内外?|全球|先进的?|领先的?|知名的?|相关|自主研发的?|主要|高品质|优质|"
    r"[0-9.]+(?:%|余|多)?(?:个|家|款|种|项|条|座|台|类|大)?|[一二三四五六七八九十两多]+(?:个|家|款|种|项|条|座|台|类|大))+"
)
_TAIL = re.compile(
    r"(?:等(?:[^、]{0,12})?|为(?:主|核心|一体|主的|支柱|基础|主导|龙头|依托|辅).*|(?:三|四|五|两|六|七|八)大.*|(?:的)?(?:相关)?(?:业务|产品|项目)(?:板块|领域|体系|系列|线)?"
    r"|(?:的)?(?:研发|生产|销售|设计|制造|开发)(?:(?:、|和|与|及|以及)(?:研发|生产|销售|设计|制造|开发|服务))*|等$)+$"
)
_BROKEN = re.compile(
    r"(?:公司|集团|股份)$|[（(][^）)]*$|^[^（(]*[）)]|[0-9.]+(?:亿|万|%|元)|^(?:其他|相关|其中|同时|并|能力|优势|水平|规模|市场|客户|资质|经验|技术|一定|较|良好|丰富|完善|完整)"
)
_BEFORE = r"(?P<list>[^，。；：！？（）“”、\s]{2,12}?(?:(?:、|和|及|以及|与)[^，。；：！？（）“”、\s]{2,12}?){0,12})"
_CLOSINGS = (
    Opening("operates", Kind.BUSINESS, re.compile(f"{_BEFORE}(?:等)?(?:主营|核心|主要|相关|各项)?(?:业务|板块)"), 0.7),
    Opening(
        "belongs_to",
        Kind.INDUSTRY,
        re.compile(f"{_BEFORE}(?:等)?(?:多个|各|主要|相关|细分)*(?:行业|领域|产业)(?!链|政策|化)"),
        0.6,
    ),
)
_STANDS = re.compile(
    "位于|地处|坐落于|坐落在|落户|(?:分布|布局|集中|覆盖|扎根|立足)(?:在|于)?|(?:设立|建立|设)(?:在|于)|在"
)
_PLACE = Opening("located_in", Kind.REGION, _STANDS, 0.7)
_VERB = re.compile(
    r".*(?:从事|经营|开展|主营|致力于|专注于?|聚焦|深耕|包括|涵盖|涉及|拓展|发展|推进|推动|加强|加快|促进|做好|做强|做大|实现|继续|是|为|在|对|将|的|了|以|其|由|于|从|向|有|布局|完成|依托|发挥|谋求|介入|来自|包含|除|集|整合|所处|所在|中国|国内|全球|优化|进入|切入|应用|用于|处于|属于|实施|参与|提供|深化|围绕|提升|提高|开拓|夯实|巩固|通过|公司|股份|集团|主要|积极|稳步|持续|传统|着力|大力|打造|形成|扩大|全面|新增)"
)
_GENERIC = frozenset(
    [
        "业务", "产品", "服务", "主营", "主要", "核心", "相关", "其他", "公司", "各项", "新", "多元化",
        "传统", "主营业务", "核心业务", "生产", "销售", "研发", "设计", "制造", "经营", "管理", "投资", "海外",
        "国内", "国际", "子公司", "两大", "三大", "四大", "五大", "多种", "各类", "上述", "该", "此类",
        "收入", "利润", "主体",
    ]
)  # fmt: skip


def read(annotated: Annotated) -> Iterator[Claim]:
    """Yield what the sentence's companies run and make, as far as lists name it."""
    seen: set[tuple[str, str, str]] = set()
    for claim in (*_opened(annotated), *_closed(annotated), *_placed(annotated)):
        key = (claim.relation, claim.subject.entity, claim.object.entity)
        if key not in seen:
            seen.add(key)
            yield claim


def sure(annotated: Annotated) -> Iterator[Claim]:
    """Yield the claims that make facts: of lists opened by a word that names what follows (主营业务为, 产品包括)."""
    if not _NAMED.search(annotated.text):
        return
    for claim in read(annotated):
        allowed = vocabulary()[claim.relation].allows(claim.subject.kind, claim.object.kind)
        if claim.pattern.endswith(".named") and allowed:
            yield claim


def _opened(annotated: Annotated) -> Iterator[Claim]:
    text = annotated.text
    for opening in _OPENINGS:
        for match in opening.trigger.finditer(text):
            subject = _owner(annotated, match.start())
            found = _LIST.match(text, match.end())
            if subject is not None and found is not None:
                for start, end in _names(text, *found.span()):
                    yield _claim(annotated, opening, subject, start, end)


def _closed(annotated: Annotated) -> Iterator[Claim]:
    """Read 「A、B和C业务」 and 「A、B等行业」: the list stands before the word that says what it holds."""
    for closing in _CLOSINGS:
        for match in closing.trigger.finditer(annotated.text):
            start, end = match.span("list")
            verb = _VERB.match(annotated.text, start, end)
            start = verb.end() if verb else start
            start = max([start, *(ref.end for ref in annotated.refs if ref.kind == Kind.COMPANY and ref.start < end)])
            subject = _owner(annotated, start)
            if subject is not None and start < end:
                for name in _names(annotated.text, start, end):
                    yield _claim(annotated, closing, subject, *name)


def _placed(annotated: Annotated) -> Iterator[Claim]:
    """Read where a company stands or works: 「位于A、B」, 「在A、B设有基地」."""
    for match in _STANDS.finditer(annotated.text):
        subject = _owner(annotated, match.start())
        found = _LIST.match(annotated.text, match.end())
        if subject is not None and found is not None:
            for start, end in _regions(annotated, *found.span()):
                yield _claim(annotated, _PLACE, subject, start, end)


def _regions(annotated: Annotated, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the places named in a stretch; a province and its city side by side are one place."""
    places: list[tuple[int, int]] = []
    for ref in annotated.between(start, end):
        if ref.kind == Kind.REGION and places and places[-1][1] == ref.start:
            places[-1] = (places[-1][0], ref.end)
        elif ref.kind == Kind.REGION:
            places.append((ref.start, ref.end))
    yield from places


def proposals(annotated: Annotated) -> list[tuple[int, int]]:
    """Return every stretch that may be a name: what stands between a clause's joints, and after its verb.

    They are questions for a trained model, no mentions.
    """
    found: dict[tuple[int, int], None] = {}
    for clause in _LIST.finditer(annotated.text):
        for start, end in _names(annotated.text, *clause.span()):
            found[(start, end)] = None
            verb = _VERB.match(annotated.text, start, end)
            rest = _trimmed(annotated.text, verb.end(), end) if verb else None
            if rest is not None:
                found[rest] = None
    return list(found)


def _owner(annotated: Annotated, before: int) -> Ref | None:
    """Return the company that the list is of: the last one named before it, else the understood subject."""
    named = [ref for ref in annotated.refs if ref.kind == Kind.COMPANY and ref.start >= 0 and ref.end <= before]
    if named:
        return named[-1]
    subject = annotated.subject
    return subject if subject is not None and subject.kind == Kind.COMPANY else None


def _names(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a list at its joints and take from each part what is no name of it: lead-ins, endings, mere words."""
    at, parts = start, []
    for joint in (*_JOINT.finditer(text, start, end), None):
        parts.append((at, joint.start() if joint else end))
        at = joint.end() if joint else end
    for low, high in parts[:_MOST]:
        trimmed = _trimmed(text, low, high)
        if trimmed is not None:
            yield trimmed


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    part = text[start:end]
    lead = _NUMBERED.match(part)
    begin = lead.end() if lead else 0
    lead = _LEAD.match(part, begin) or _LEAD.match(part[begin:])
    if lead and lead.start() == 0:
        begin += lead.end() - (begin if lead.string is part else 0)
    tail = _TAIL.search(part, begin)
    stop = tail.start() if tail else len(part)
    name = part[begin:stop]
    if not _SHORTEST <= len(name) <= _LONGEST or name in _GENERIC or _BROKEN.search(name) or "的" in name[1:]:
        return None
    return start + begin, start + stop


def _claim(annotated: Annotated, opening: Opening, subject: Ref, start: int, end: int) -> Claim:
    known = [ref for ref in annotated.refs if (ref.start, ref.end) == (start, end)]
    name = annotated.text[start:end]
    object_ = known[0] if known else Ref(entity_id(opening.kind, name), opening.kind, name, start, end, score=0.8)
    return Claim(
        relation=opening.relation,
        subject=subject,
        object=object_,
        start=min(start, subject.start) if subject.start >= 0 else start,
        end=end,
        pattern=f"listed.{opening.relation}" + (".named" if opening.confidence >= _SURE else ""),
        confidence=opening.confidence * min(subject.score, object_.score),
    )
