"""Derive from headings the subject, region, place and period of the lines below, and whether they look ahead."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from msgspec import structs

from extraction.certainty.modality import is_risk_heading
from extraction.context.places import ORDINAL, heading_place
from extraction.context.surroundings import CODE, heading_subject
from extraction.dating.policy import heading_period
from extraction.sentence import CONTEXT, EntityMention
from extraction.text.lexicon import phrases
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import date

    from kg.period import Period

_PHRASES = phrases("context/headings")
_OUTLOOK = _PHRASES["outlook"]

_LONGEST_NAME = 8  # characters of a heading that consists of a company's name only
_LOOKS_BACK = re.compile("回顾|总结|跟踪")  # 「回顾与展望」 covers both: the words of a line decide
# The numbering style ranks headings of the same level; a heading without a number is deepest.
_RANKS = tuple(phrases("context/numbering").values())
# A heading that is an industry's name: if the industry is unknown, figures below do not belong to the one above it.
_INDUSTRY = re.compile(r"[^，：、和与及]{2,10}(?:板块|行业|赛道|领域)")
_GENERIC_INDUSTRY = _PHRASES["generic_industry"]
# The period of such a heading also holds below its subheadings; an outlook may mention another year in passing.
_RESULTS = _PHRASES["results"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and what it implies for the lines below; `level` 1 is the top."""

    level: int
    text: str
    subject: EntityMention | None = None
    region: EntityMention | None = None
    place: str | None = None
    period: Period | None = None
    company_scope: bool = False
    blocks_inheritance: bool = False  # it names an unknown subject: headings above it do not apply below it


class Headings:
    """The headings above a line, nearest last; derived values are computed once for all lines."""

    def __init__(self, stack: tuple[Heading, ...] = ()) -> None:
        self._stack = stack

    def below(self, heading: Heading) -> Headings:
        """Return the stack below a heading, without headings of its own depth and deeper."""
        beside = next((each for each in self._stack if _depth(each) == _depth(heading)), None)
        if beside and _is_company_name(beside) and heading.subject is None and len(heading.text) <= _LONGEST_NAME:
            # in a series of company headings, this one is an unlisted company
            heading = replace(heading, company_scope=True, blocks_inheritance=True)
        return Headings((*(above for above in self._stack if _depth(above) < _depth(heading)), heading))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The headings from the top down."""
        return tuple(heading.text for heading in self._stack)

    @cached_property
    def subject(self) -> EntityMention | None:
        """The nearest subject; a heading that names an unknown subject hides those above it."""
        return next((each.subject for each in reversed(self._stack) if each.subject or each.blocks_inheritance), None)

    @cached_property
    def region(self) -> EntityMention | None:
        """The nearest region; a nearer place that is not a region (海外, 「某地：」) hides it."""
        for heading in reversed(self._stack):
            if heading.region or heading.place is not None:
                return heading.region
        return None

    @cached_property
    def place(self) -> str:
        """The place of figures below: that of the nearest heading about a place."""
        return next((heading.place for heading in reversed(self._stack) if heading.place is not None), "")

    @cached_property
    def company_scope(self) -> bool:
        """Whether a heading names one company."""
        return any(heading.company_scope for heading in self._stack)

    @cached_property
    def period(self) -> Period | None:
        """The period of the nearest heading, or of one further up whose period covers all figures below."""
        for distance, heading in enumerate(reversed(self._stack)):
            covers_all = _RESULTS.search(heading.text) or heading.text.rstrip().endswith(("）", ")"))
            if heading.period and (distance == 0 or (covers_all and not _OUTLOOK.search(heading.text))):
                return heading.period
        return None

    @cached_property
    def risk(self) -> bool:
        """Whether the nearest heading is about risks."""
        return bool(self._stack) and is_risk_heading(self._stack[-1].text)

    @cached_property
    def outlook(self) -> bool:
        """Whether any heading looks ahead: figures below are expected, not measured."""
        return any(_OUTLOOK.search(each.text) and not _LOOKS_BACK.search(each.text) for each in self._stack)


def _is_company_name(heading: Heading) -> bool:
    if heading.blocks_inheritance:
        return True
    return heading.company_scope and heading.subject is not None and len(heading.text) <= _LONGEST_NAME


def _depth(heading: Heading) -> tuple[int, int]:
    return heading.level, _rank(heading.text.lstrip())


@lru_cache(maxsize=256)
def _rank(text: str) -> int:
    return next((rank for rank, form in enumerate(_RANKS) if form.match(text)), len(_RANKS))


def read_heading(
    level: int,
    text: str,
    names: Sequence[EntityMention],
    *,
    published_on: date,
    week: Callable[[], Period | None] = lambda: None,
) -> Heading:
    """Read the subject, region, place and period of a heading; `week` returns the one that 「本周」 means."""
    region = next((ref for ref in names if ref.kind == Kind.REGION), None)
    companies = {ref.entity for ref in names if ref.kind == Kind.COMPANY}
    unlisted = not companies and CODE.search(text) is not None  # 「某某电子（220 HK）」 is an unlisted company
    subject = None if unlisted else heading_subject(text, names)
    return Heading(
        level,
        text,
        subject=subject,
        region=region,
        place=heading_place(text, names),
        period=heading_period(text, published_on, week),
        company_scope=len(companies) == 1 or unlisted,
        blocks_inheritance=unlisted or (subject is None and not names and _names_industry(text)),
    )


def _names_industry(text: str) -> bool:
    words = ORDINAL.sub("", text).strip()
    found = _INDUSTRY.fullmatch(words)
    return found is not None and _GENERIC_INDUSTRY.fullmatch(words[:-2]) is None


def only_topic(names: Iterable[EntityMention]) -> EntityMention | None:
    """Return the only trade or product that a title or heading names, as said elsewhere."""
    things = {ref.entity: ref for ref in names if ref.kind in {Kind.INDUSTRY, Kind.PRODUCT}}
    only = next(iter(things.values())) if len(things) == 1 else None
    return only and elsewhere(only)


def elsewhere(name: EntityMention) -> EntityMention:
    """Return a name of another line: its offsets mean nothing in this one."""
    return structs.replace(name, start=CONTEXT, end=CONTEXT, owner_end=CONTEXT)
