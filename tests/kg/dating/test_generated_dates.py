"""Generated expressions: a unit, written in either language, with a word that bounds it, against plain arithmetic."""

from __future__ import annotations

from datetime import date, timedelta

import hypothesis.strategies as st
from hypothesis import given

from kg.dating.reader import find_periods
from kg.dating.reference import add_months

TODAY = date(2026, 3, 11)
_MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
_DAY = timedelta(days=1)


@st.composite
def units(draw: st.DrawFn) -> tuple[str, str, date, date]:
    """Return a year, half, quarter, month or day that has begun: in Chinese, in English, first day, end."""
    year = draw(st.integers(2021, 2025))
    match draw(st.sampled_from(["year", "half", "quarter", "month", "day"])):
        case "half":
            half = draw(st.integers(1, 2))
            return (
                f"{year}年{'上下'[half - 1]}半年",
                f"the {('first', 'second')[half - 1]} half of {year}",
                date(year, 6 * half - 5, 1),
                _after(year, 6 * half),
            )
        case "quarter":
            quarter = draw(st.integers(1, 4))
            chinese = draw(st.sampled_from([f"{year}年{'一二三四'[quarter - 1]}季度", f"{year}Q{quarter}"]))
            return chinese, f"Q{quarter} {year}", date(year, 3 * quarter - 2, 1), _after(year, 3 * quarter)
        case "month":
            month = draw(st.integers(1, 12))
            return f"{year}年{month}月", f"{_MONTHS[month - 1]} {year}", date(year, month, 1), _after(year, month)
        case "day":
            day = draw(st.dates(date(year, 1, 1), date(year, 12, 31)))
            return f"{year}年{day.month}月{day.day}日", f"{_MONTHS[day.month - 1]} {day.day}, {year}", day, day + _DAY
    return f"{year}年", str(year), date(year, 1, 1), date(year + 1, 1, 1)


def _after(year: int, month: int) -> date:
    return add_months(date(year, month, 1), 1)


_BOUNDS = {
    "": ("{}", "in {}"),
    "end": ("{}末", "the end of {}"),
    "as of": ("截至{}", "as of {}"),
    "since": ("{}以来", "since {}"),
    "before": ("{}以前", "before {}"),
    "after": ("{}之后", "after {}"),
}


@given(unit=units(), bound=st.sampled_from(list(_BOUNDS)), english=st.booleans())
def test_a_bounded_unit_reads_as_its_days(unit: tuple[str, str, date, date], bound: str, english: bool):
    chinese, latin, first, end = unit
    if bound == "end" and end - first == _DAY:
        bound = "as of"
    text = (
        f"{_BOUNDS[bound][english].format(latin if english else chinese)} sales rose"
        if english
        else (f"{_BOUNDS[bound][english].format(chinese)}的销量")
    )
    expected = {
        "": (first, end),
        "end": (end - _DAY, end),
        "as of": (end - _DAY, end),
        "since": (first, TODAY + _DAY),
        "before": (None, first) if english else (None, end),
        "after": (end, None),
    }[bound]
    (found,) = find_periods(text, TODAY)
    assert (found.period.start, found.period.end) == expected, text


@given(day=st.dates(date(2021, 1, 1), date(2026, 12, 31)))
def test_relative_expressions_count_from_the_day_of_the_text(day: date):
    monday = day - timedelta(days=day.weekday())
    first = day.replace(day=1)
    for text, start, end in (
        ("本周的价格", monday, monday + timedelta(days=7)),
        ("this week", monday, monday + timedelta(days=7)),
        ("本月的价格", first, add_months(first, 1)),
        ("this month", first, add_months(first, 1)),
        ("今年的价格", date(day.year, 1, 1), date(day.year + 1, 1, 1)),
        ("this year", date(day.year, 1, 1), date(day.year + 1, 1, 1)),
    ):
        (found,) = find_periods(text, day)
        assert (found.period.start, found.period.end) == (start, end), (text, day)
