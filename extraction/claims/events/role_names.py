"""Find names by their role in an event: a stated shareholder, or a company whose shares are bought.

Covers names that the gazetteer, company forms and NER model miss: the words between 收购 and 51%股权 are a company,
those between 控股股东 and 质押 a shareholder. Only event extraction uses these names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from extraction.names.company_forms import is_proper
from extraction.sentence import EntityMention
from extraction.text.lexicon import phrases
from kg.ids import entity_id
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SCORE = 0.6
_PHRASES = phrases("events/role_names")
_BOUGHT = _PHRASES["bought"]
_HOLDER = _PHRASES["holder"]
_VERBS = _PHRASES["verbs"]
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
