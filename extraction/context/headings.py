"""What a heading hands down to the lines below it: a subject, a region, a period, and whether it looks ahead."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from extraction.certainty.modality import is_risk_heading
from extraction.context.places import heading_place
from extraction.context.surroundings import CODE, ORDINAL, heading_subject
from extraction.dating.reader import find_periods
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from extraction.sentence import EntityMention
    from kg.period import Period

_OUTLOOK = re.compile(
    r"预测|展望|预计|(?:盈利|业绩|增长|销量|景气度|需求)预期(?!升|修复|增强|改善|落空)|前瞻|目标|规划|假设|测算|弹性测算"
)

_LONGEST_NAME = 8  # characters of a heading that is a firm's name and nothing else
_LOOKS_BACK = re.compile("回顾|总结|跟踪")  # 「回顾与展望」 tells of both: the words of a line decide
# How a heading is numbered says how deep it stands among those with as many marks; one without a number is deepest.
_RANKS = tuple(
    re.compile(form)
    for form in (
        r"第?[一二三四五六七八九十]+[、.．章节 ]",
        r"[（(][一二三四五六七八九十]+[)）]",
        r"\d+[、.．)） ](?!\d)",
        r"\d+\.\d+(?![.\d])",
        r"\d+\.\d+\.\d+",
        r"[（(]\d+[)）]|[①-⑳]",
    )
)
# A heading that is a trade's name: where nobody knows the trade, figures below are not those of the one above it.
_A_TRADE = re.compile(r"[^，：、和与及]{2,10}(?:板块|行业|赛道|领域)")
_ANY_TRADE = re.compile("(?:主要|重点|细分|相关|各|分|子|核心|热门|其他|全|本|该|所属|上游|中游|下游)+")
_DAYS = re.compile(r"[（(](\d{1,2})\.(\d{1,2}) ?[-~—–] ?(\d{1,2})\.(\d{1,2})[)）]")
# Under such a heading all figures are of its time, further down as well; an outlook names another year in passing.
_RESULTS = re.compile("业绩|总览|综述|回顾|总结|表现|数据|行情|财报|年报|中报|[一三]季报|半年报|经营情况")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and what it says of the lines below; `level` 1 is the top."""

    level: int
    text: str
    subject: EntityMention | None = None
    region: EntityMention | None = None
    place: str | None = None
    period: Period | None = None
    company_scope: bool = False
    blocks_inheritance: bool = False  # it names something that nobody knows: what is above it is not meant below it


class Headings:
    """The headings above the line that is read, the nearest last; what they say is worked out once for all lines."""

    def __init__(self, stack: tuple[Heading, ...] = ()) -> None:
        self._stack = stack

    def below(self, heading: Heading) -> Headings:
        """Step below a heading; those of its own depth and deeper are left."""
        beside = next((each for each in self._stack if _depth(each) == _depth(heading)), None)
        if beside and _only_a_firm(beside) and heading.subject is None and len(heading.text) <= _LONGEST_NAME:
            heading = replace(
                heading, company_scope=True, blocks_inheritance=True
            )  # one firm after the other, and this one is in no list
        return Headings((*(above for above in self._stack if _depth(above) < _depth(heading)), heading))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The headings from the top down."""
        return tuple(heading.text for heading in self._stack)

    @cached_property
    def subject(self) -> EntityMention | None:
        """The nearest subject; a heading that names something unknown hides what is above it."""
        return next((each.subject for each in reversed(self._stack) if each.subject or each.blocks_inheritance), None)

    @cached_property
    def region(self) -> EntityMention | None:
        """The nearest region; a nearer place that is none (海外, 「某地：」) hides what is above it."""
        for heading in reversed(self._stack):
            if heading.region or heading.place is not None:
                return heading.region
        return None

    @cached_property
    def place(self) -> str:
        """Where figures below are measured: the place that the nearest heading of places is about."""
        return next((heading.place for heading in reversed(self._stack) if heading.place is not None), "")

    @cached_property
    def company_scope(self) -> bool:
        """Whether a heading names one company."""
        return any(heading.company_scope for heading in self._stack)

    @cached_property
    def period(self) -> Period | None:
        """The period that the nearest heading states, or one further up that all of its results are of."""
        for at, heading in enumerate(reversed(self._stack)):
            of_all = _RESULTS.search(heading.text) or heading.text.rstrip().endswith(("）", ")"))
            if heading.period and (at == 0 or (of_all and not _OUTLOOK.search(heading.text))):
                return heading.period
        return None

    @cached_property
    def risk(self) -> bool:
        """Whether the nearest heading is one of risks."""
        return bool(self._stack) and is_risk_heading(self._stack[-1].text)

    @cached_property
    def outlook(self) -> bool:
        """Whether any heading looks ahead: figures below are expected, not measured."""
        return any(_OUTLOOK.search(each.text) and not _LOOKS_BACK.search(each.text) for each in self._stack)


def _only_a_firm(heading: Heading) -> bool:
    if heading.blocks_inheritance:
        return True
    return heading.company_scope and heading.subject is not None and len(heading.text) <= _LONGEST_NAME


def _written_out(text: str) -> str:
    """Return a heading with the days in its bracket as they are said: （6.9-6.13） is 6月9日-6月13日."""
    return _DAYS.sub(r"（\1月\2日-\3月\4日）", text) if _DAYS.search(text) else text


def _depth(heading: Heading) -> tuple[int, int]:
    return heading.level, _rank(heading.text.lstrip())


@lru_cache(maxsize=256)
def _rank(text: str) -> int:
    return next((rank for rank, form in enumerate(_RANKS) if form.match(text)), len(_RANKS))


def read_heading(level: int, text: str, names: Sequence[EntityMention], *, published_on: date) -> Heading:
    """Return what a heading hands down."""
    region = next((ref for ref in names if ref.kind == Kind.REGION), None)
    stated = [each.period for each in find_periods(_written_out(text), published_on) if each.role == "stated"]
    past = stated[-1] if stated and stated[-1].start and stated[-1].start <= published_on else None
    firms = {ref.entity for ref in names if ref.kind == Kind.COMPANY}
    stranger = not firms and CODE.search(text) is not None  # 「某某电子（220 HK）」 is a firm that no list holds
    subject = None if stranger else heading_subject(text, names)
    return Heading(
        level,
        text,
        subject=subject,
        region=region,
        place=heading_place(text, names),
        period=past,
        company_scope=len(firms) == 1 or stranger,
        blocks_inheritance=stranger or (subject is None and not names and _names_a_trade(text)),
    )


def _names_a_trade(text: str) -> bool:
    words = ORDINAL.sub("", text).strip()
    found = _A_TRADE.fullmatch(words)
    return found is not None and _ANY_TRADE.fullmatch(words[:-2]) is None
