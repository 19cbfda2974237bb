"""When the ends of a range are told of, and what a figure was before it changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from extraction.patterns.metric_period import last_year, of_a_start, years_of
from extraction.patterns.metric_words import SAME_TIME, STARTS_RANGE
from kg.period import Precision

if TYPE_CHECKING:
    from extraction.annotated import Annotated
    from extraction.dating import Dated
    from extraction.quantities import Quantity
    from kg.period import Period

_OF_THEN = re.compile("的?(?:约|近)?")
_WRITTEN = re.compile(r"[\dQH]+[^同]*$")


def dated_start(annotated: Annotated, quantity: Quantity) -> bool:
    """Whether the first number of a range names its own time: 「从2013年的5.63%提升至…」."""
    return any(re.fullmatch("的?(?:约|近)?", annotated.text[dated.end : quantity.start]) for dated in annotated.periods)


def begins(annotated: Annotated, quantity: Quantity) -> bool:
    """Whether a number begins a range that says when: at its own time, or over a span of years."""
    if dated_start(annotated, quantity):
        return True
    return bool(STARTS_RANGE.match(annotated.text, quantity.end) and years_of(annotated, quantity))


def bases(annotated: Annotated) -> list[Dated]:
    """Return the years a change is counted from, 去年同期 and its like aside."""
    return [dated for dated in annotated.periods if dated.role == "comparison" and not SAME_TIME.search(dated.text)]


def ended(annotated: Annotated, first: Quantity, quantity: Quantity) -> Period | None:
    """Return when a range ends: 「2020年出货量将从2019年的13.63亿部下降至11.52亿部」 in 2020."""
    if any(first.end <= dated.start < quantity.start for dated in annotated.periods):
        return None  # said right before the number
    if steps := years_of(annotated, quantity):
        return steps[-1]
    told = [dated for dated in annotated.periods if dated.end <= first.start and dated.role == "stated"]
    told = [dated for dated in told if not of_a_start(annotated, dated)]  # 「从上半年的7%收窄至6%」
    if told:
        return told[0].period
    return last_year(annotated.period)  # 「2015-2024年…。其中份额从21%增至29%」 ends in 2024


def base_of(annotated: Annotated, quantity: Quantity) -> Period | None:
    """Return the period of what a figure was before: 2023 of 90亿元 in 「100亿元，较2023年的90亿元增长11%」."""
    if quantity.change or annotated.text.startswith("亏损", quantity.end):
        return None
    for dated in annotated.periods:
        told = dated.role == "comparison" and dated.period.precision is not Precision.RANGE
        told = told and _WRITTEN.match(dated.text) is not None  # 去年同期 and 上月 are of the figure before, whichever
        if told and _OF_THEN.fullmatch(annotated.text, dated.end, quantity.start):
            return dated.period
    return None
