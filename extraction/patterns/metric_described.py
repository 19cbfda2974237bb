"""Figures whose owner no name tells: what is measured is clear, of whom is only described, and nothing is stored of it.

「安防领域重点公司2020年整体收入为1213亿元」 has indicator, value and period; the words before it describe whose it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from extraction.annotated import CONTEXT, Ref
from extraction.patterns.metric_reading import DOUBTFUL, Measured
from extraction.patterns.metric_subject import without
from extraction.patterns.metric_words import SUBJECT_KINDS
from kg.ids import entity_id
from kg.model import Kind

if TYPE_CHECKING:
    from extraction.annotated import Annotated
    from extraction.patterns.metric_reading import Said

_SHORTEST, _LONGEST = 2, 20
_WALL = re.compile("[，。；：！？（）]")
_MARK, _ASIDE, _JOIN = re.compile("[，。；：！？]"), re.compile("（[^（）]*）"), re.compile("[、/]|以及|[和与及]")
_NUMBERED = re.compile(r"\d+(?P<rest>\D.*)")
_DIGIT = re.compile(r"\d")
_AROUND = re.compile(
    "^(?:其中|此外|同时|另外|而|但|且|并|则|预计|预测|我们|目前|当前|截至|截止|其|该|的|在|到|至|约|将|中"
    "|[年月日末底初、/ -])++"
    "|(?:的|整体|合计|累计|实现|平均|综合|销售|将|在|中|[年月日末底初、/ -])++$"
)


def described(
    annotated: Annotated, indicator: Ref, *, said: Said | None, before: Said | None, macro: bool = False
) -> Measured | None:
    """Return an indicator under what describes its owner: the words before it, else who was spoken of last.

    Args:
        annotated: the sentence.
        indicator: one of `SubjectFinder.indicators` for which no subject was found.
        said: what this sentence measured last.
        before: what the sentence right before measured last.
        macro: whether it is an economy's, so that no firm or thing spoken of can have it.
    """
    subject = _named(annotated, indicator) or _worded(annotated, indicator)
    if subject is None and not macro:
        subject = _spoken_of(annotated, said=said, before=before)
    return Measured(indicator, subject, DOUBTFUL, described=True) if subject else None


def described_row(annotated: Annotated, indicator: Ref, count: int) -> list[Measured]:
    """Return an indicator under each of `count` words joined before it; empty where they are not as many.

    「32/55/65寸面板价格」 is of 32寸面板, 55寸面板 and 65寸面板.
    """
    start = indicator.owner_end if indicator.about and indicator.owner_end > indicator.start else indicator.start
    begin = max((found.end() for found in _MARK.finditer(annotated.text, 0, start)), default=0)
    words = _ASIDE.sub("", _AROUND.sub("", without(annotated, begin, start).strip()))
    names = [name.strip() for name in _JOIN.split(words)]
    if len(names) != count or not all(names):
        return []
    tail = _NUMBERED.fullmatch(names[-1])
    names = [name + tail["rest"] if tail and name.isdecimal() else name for name in names]
    if not all(_SHORTEST <= len(name) <= _LONGEST for name in names):
        return []
    refs = [Ref(entity_id(Kind.BUSINESS, name), Kind.BUSINESS, name, begin, start) for name in names]
    return [Measured(indicator, ref, DOUBTFUL, described=True) for ref in refs]


def _named(annotated: Annotated, indicator: Ref) -> Ref | None:
    """Return the name that makes the indicator a compound one."""
    if not indicator.about:
        return None
    return next((ref for ref in annotated.refs if ref.entity == indicator.about), None)


def _worded(annotated: Annotated, indicator: Ref) -> Ref | None:
    """Return the words between the last mark or figure and the indicator as a name of their own."""
    marks = [found.end() for found in _WALL.finditer(annotated.text, 0, indicator.start)]
    figures = [each.end for each in annotated.quantities if each.end <= indicator.start and _DIGIT.search(each.text)]
    begin = max((*marks, *figures), default=0)
    words = _AROUND.sub("", without(annotated, begin, indicator.start).strip())[-_LONGEST:]
    if len(words) < _SHORTEST:
        return None
    return Ref(entity_id(Kind.BUSINESS, words), Kind.BUSINESS, words, begin, indicator.start)


def _spoken_of(annotated: Annotated, *, said: Said | None, before: Said | None) -> Ref | None:
    if said is not None:
        return said.reading.subject
    named = [ref for ref in annotated.refs if ref.kind in SUBJECT_KINDS and ref.start >= 0]
    if named or annotated.subject:
        return named[0] if named else annotated.subject
    if before is not None:
        return before.reading.subject
    words = annotated.heading[-1].strip()[:_LONGEST] if annotated.heading else ""
    if len(words) < _SHORTEST:
        return None
    return Ref(entity_id(Kind.BUSINESS, words), Kind.BUSINESS, words, CONTEXT, CONTEXT)
