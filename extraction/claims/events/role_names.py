"""Find names by their role in an event: a stated shareholder, or a company whose shares are bought.

Covers names that the gazetteer, company forms and NER model miss: the words between 收购 and 51%股权 are a company,
those between 控股股东 and 质押 a shareholder. Only event extraction uses these names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from extraction.names.company_forms import is_proper
from extraction.sentence import EntityMention
from kg.ids import entity_id
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SCORE = 0.6
_HAN = "[\u4e00-\u9fff]"
_NAME = rf"(?P<name>{_HAN}(?:{_HAN}|[A-Za-z0-9·（）()]){{1,17}}?)"
_BOUGHT = re.compile(
    rf"(?:收购|并购|购买|受让|出售|转让|购得|拿下|认购|增持|减持|持有)(?:了)?(?:其)?(?:控股|全资|参股)?(?:子公司|公司)?{_NAME}"
    r"(?:的)?(?:不超过|不低于|剩余|部分|全部|合计|约)?(?:的)?(?:[0-9.]{1,8}%)(?:的)?(?:股权|股份|份额|权益|财产份额)"
)
_HOLDER = re.compile(
    rf"(?:控股股东|第[一二三四五六七八九十]大股东|大股东|股东|一致行动人|实际控制人|实控人){_NAME}"
    r"(?=（|，|、|和(?!谐)|及|与|计划|拟|持有|所持|将|于[0-9]|因|共?质押|减持|增持|向|通过|先生|女士|合计|累计|已|本次|在[0-9上深]|的一致行动人)"
)
_VERBS = re.compile(
    r"[的了将其该本并已拟为是在向被由所把]|计划|合计|持有|股份|股权|股东|减持|增持|质押|公告|大会|权益|名下|方面|人数"
)
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦傅方白"
    "邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤尚施洪翁倪柳季童葛庄曲单费岑殷鲁冉祝游辛管裴聂焦樊霍阮纪欧"
)
_LONGEST_PERSON = 3
_DIVISIBLE_KINDS = frozenset({Kind.REGION, Kind.INDUSTRY, Kind.PRODUCT, Kind.THEME, Kind.BUSINESS})


def role_names(text: str, refs: Sequence[EntityMention]) -> list[EntityMention]:
    """Return names identified only by their role, not overlapping known names; offsets are relative to the sentence."""
    found: list[EntityMention] = []
    for start, end in sorted(set(_spans(text))):
        name = text[start:end]
        overlaps_name = any(ref.start < end and start < ref.end for ref in refs if ref.kind not in _DIVISIBLE_KINDS)
        crosses_name = any(
            ref.start < end and start < ref.end and not start <= ref.start <= ref.end <= end for ref in refs
        )
        overlaps_previous = bool(found) and start < found[-1].end
        if (
            not (overlaps_name or crosses_name or overlaps_previous or _VERBS.search(name))
            and (kind := _kind(name)) is not None
        ):
            found.append(EntityMention(entity_id(kind, name), kind, name, start, end, score=_SCORE))
    return found


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_BOUGHT, _HOLDER):
        for match in pattern.finditer(text):
            yield match.span("name")


def _kind(name: str) -> Kind | None:
    if len(name) <= _LONGEST_PERSON and name[0] in _SURNAMES:
        return Kind.PERSON
    return Kind.COMPANY if len(name) > 2 and is_proper(name) else None  # noqa: PLR2004 -- two characters are too ambiguous
