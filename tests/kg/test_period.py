from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.period import Period, Precision, day, half, instant_in, month, months, quarter, since, week, year, years
from kg.settings import market_day

DAYS = st.dates(date(1950, 1, 1), date(2100, 1, 1))
PERIODS = st.builds(
    lambda start, length, open_start, open_end: Period(
        None if open_start else start, None if open_end else start + timedelta(days=length)
    ),
    DAYS,
    st.integers(1, 4000),
    st.booleans(),
    st.booleans(),
)


@pytest.mark.parametrize(
    ("period", "start", "end", "shown"),
    [
        (day(date(2024, 9, 30)), date(2024, 9, 30), date(2024, 10, 1), "2024-09-30"),
        (week(date(2025, 8, 20)), date(2025, 8, 18), date(2025, 8, 25), "2025-W34"),
        (week(date(2024, 12, 31)), date(2024, 12, 30), date(2025, 1, 6), "2025-W01"),
        (month(2024, 2), date(2024, 2, 1), date(2024, 3, 1), "2024-02"),
        (month(2024, 12), date(2024, 12, 1), date(2025, 1, 1), "2024-12"),
        (quarter(2024, 3), date(2024, 7, 1), date(2024, 10, 1), "2024Q3"),
        (quarter(2024, 4), date(2024, 10, 1), date(2025, 1, 1), "2024Q4"),
        (half(2024, 1), date(2024, 1, 1), date(2024, 7, 1), "2024H1"),
        (half(2024, 2), date(2024, 7, 1), date(2025, 1, 1), "2024H2"),
        (year(2024), date(2024, 1, 1), date(2025, 1, 1), "2024"),
        (years(2025, 2027), date(2025, 1, 1), date(2028, 1, 1), "2025-01-01…2027-12-31"),
        (years(2025, 2025), date(2025, 1, 1), date(2026, 1, 1), "2025"),
        (months(2024, 1, 9), date(2024, 1, 1), date(2024, 10, 1), "2024-01-01…2024-09-30"),
        (months(2024, 11, 4), date(2024, 11, 1), date(2025, 3, 1), "2024-11-01…2025-02-28"),
        (since(date(2024, 1, 1)), date(2024, 1, 1), None, "2024-01-01…"),
        (Period(None, date(2024, 1, 1)), None, date(2024, 1, 1), "…2023-12-31"),
        (Period(None, None), None, None, "…"),
    ],
)
def test_bounds_and_wording(period, start, end, shown):
    assert (period.start, period.end, str(period)) == (start, end, shown)


@pytest.mark.parametrize("length", [0, -1])
def test_an_empty_period_cannot_be_made(length):
    with pytest.raises(ValueError, match="empty period"):
        Period(date(2024, 1, 1), date(2024, 1, 1) + timedelta(days=length))


def test_the_end_is_outside():
    assert year(2024).contains(date(2024, 12, 31))
    assert not year(2024).contains(date(2025, 1, 1))
    assert not year(2024).overlaps(year(2025))


def test_precision_is_kept():
    assert month(2024, 1).precision is Precision.MONTH
    assert years(2024, 2025).precision is Precision.RANGE
    assert since(date(2024, 1, 1)).precision is Precision.RANGE


@given(DAYS)
def test_each_day_lies_in_its_week_month_quarter_half_and_year(value):
    holders = [
        day(value),
        week(value),
        month(value.year, value.month),
        quarter(value.year, (value.month + 2) // 3),
        half(value.year, 1 if value.month < 7 else 2),
        year(value.year),
    ]
    assert all(holder.contains(value) for holder in holders)
    assert all(holder.covers(day(value)) for holder in holders)


@given(st.integers(1950, 2100))
def test_quarters_and_months_tile_the_year(number):
    parts = [month(number, m) for m in range(1, 13)]
    assert parts[0].start == year(number).start
    assert parts[-1].end == year(number).end
    assert all(left.end == right.start for left, right in pairwise(parts))
    assert [quarter(number, q).start for q in (1, 2, 3, 4)] == [parts[m].start for m in (0, 3, 6, 9)]


@given(PERIODS, PERIODS)
def test_overlap_is_symmetric_and_covering_implies_it(left, right):
    assert left.overlaps(right) == right.overlaps(left)
    if left.covers(right):
        assert left.overlaps(right)
    if left.covers(right) and right.covers(left):
        assert (left.start, left.end) == (right.start, right.end)


_AROUND = st.tuples(st.integers(0, 4000), st.integers(1, 4000), st.booleans(), st.booleans())


@given(DAYS, _AROUND, _AROUND)
def test_a_shared_day_is_an_overlap(value, one, other):
    left, right = (
        Period(
            None if open_start else value - timedelta(days=before), None if open_end else value + timedelta(days=after)
        )
        for before, after, open_start, open_end in (one, other)
    )
    assert left.contains(value)
    assert right.contains(value)
    assert left.overlaps(right)


@given(PERIODS, PERIODS, DAYS)
def test_what_is_covered_holds_no_day_outside(left, right, value):
    if left.covers(right) and right.contains(value):
        assert left.contains(value)


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-04T16:00:00Z",
        "2026-01-04T16:00Z",
        "2026-01-04 16:00:00.123 +0000",
        "2026-01-05T00:00:00+08:00",
        "20260104160000Z",
        "20260105000000+08'00'",
        "Sun, 04 Jan 2026 16:00:00 GMT",
        "05 Jan 2026 00:00 +0800",
    ],
)
def test_an_instant_is_of_the_day_on_which_the_market_could_know(text: str):
    instant = instant_in(text)
    assert instant is not None
    assert market_day(instant, "Asia/Shanghai") == date(2026, 1, 5)
    assert market_day(instant, "America/New_York") == date(2026, 1, 4)


@pytest.mark.parametrize("text", ["2026-01-04", "2026-01-04 16:00", "2026-13-04T16:00Z", "99 Jan 2026 00:00 GMT", ""])
def test_what_has_no_time_zone_is_no_instant(text: str):
    assert instant_in(text) is None
