"""Read dates relative to the publication day: 上周五, 近三年, 月底, 未来12个月."""

from __future__ import annotations

from datetime import date, timedelta

from kg import period as periods
from kg.dating.forms import TO, Groups
from kg.dating.reference import (
    DateReference,
    Reading,
    add_months,
    day_of,
    last_day,
    month_span,
    number_of,
    quarter_span,
    span,
)
from kg.dating.written import Form
from kg.period import Period

_COUNT = r"(?:\d{1,2}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
_NOT_TERM = "(?![期限龄](?!间))"


def steps(unit: str, count: int) -> tuple[int, int]:
    """Return `count` units as (months, days)."""
    if unit.endswith("交易日"):
        return (0, count * 7 // 5)  # five trading days a week
    months = {"年": 12, "财年": 12, "季": 3, "月": 1, "y": 12, "q": 3, "m": 1}
    key = unit.strip("个度")[:2] if unit.startswith("财") else unit.strip("个")[0]
    return (months[key] * count, 0) if key in months else (0, count * (7 if key in "周w星" else 1))


def move(value: date, months: int, days: int) -> date:
    """Return the day some months and days later, or earlier if negative."""
    return add_months(value, months) + timedelta(days=days)


def _past(frame: DateReference, g: Groups) -> Reading:
    months, days = (6, 0) if g.get("half") else steps(g["u"], number_of(g["n"]))
    return span(move(frame.tomorrow, -months, -days), frame.tomorrow) if months or days else None


def _ahead(frame: DateReference, g: Groups) -> Reading:
    months, days = (6, 0) if g.get("half") else steps(g["u"], number_of(g.get("n2") or g["n"]))
    return span(frame.tomorrow, move(frame.tomorrow, months, days)) if months or days else None


_TURN = {"上上": -2, "上": -1, "本": 0, "这": 0, "下": 1, "下下": 2, "last": -1, "this": 0, "next": 1}
_WEEKDAYS = {c: n for n, c in enumerate("一二三四五六")} | {"日": 6, "天": 6}


def nearby_week(frame: DateReference, g: Groups) -> Reading:
    """Read 上周五 and last week."""
    monday = frame.today - timedelta(days=frame.today.weekday()) + timedelta(weeks=_TURN[g["r"].lower()])
    weekday = g.get("w") or ""
    if weekday == "末":
        return span(monday + timedelta(days=5), monday + timedelta(days=7))
    return periods.day(monday + timedelta(days=_WEEKDAYS[weekday])) if weekday else periods.week(monday)


def _weekday(frame: DateReference, g: Groups) -> Reading:
    back = (frame.today.weekday() - _WEEKDAYS[g["w"]]) % 7
    return periods.day(frame.today - timedelta(days=back - 7 if frame.ahead and back else back))


def nearby_month(frame: DateReference, g: Groups) -> Reading:
    """Read 上月底 and next month."""
    first = add_months(frame.today.replace(day=1), _TURN[(g.get("r") or "本").lower()])
    found = month_span(first.year, first.month, first.month)
    assert isinstance(found, Period)
    if g.get("d"):
        return day_of(first.year, first.month, number_of(g["d"]))
    edge = g.get("edge") or ""
    after = {"初": (1, 11), "上旬": (1, 11), "中旬": (11, 21)}.get(edge)
    if after:
        return span(first.replace(day=after[0]), first.replace(day=after[1]))
    if edge == "下旬":
        return span(first.replace(day=21), add_months(first, 1))
    return last_day(found) if edge else found


def nearby_quarter(frame: DateReference, g: Groups) -> Reading:
    """Read 上季度末 and this quarter."""
    first = add_months(frame.today.replace(day=1), 3 * _TURN[g["r"].lower()])
    number = (first.month + 2) // 3
    found = quarter_span(first.year, number, number)
    return last_day(found) if g.get("edge") and isinstance(found, Period) else found


def nearby_year(frame: DateReference, g: Groups) -> Reading:
    """Read last year and next year."""
    return periods.year(frame.today.year + _TURN[g["r"].lower()])


def _near_day(frame: DateReference, g: Groups) -> Reading:
    return periods.day(frame.today + timedelta(days={"今": 0, "昨": -1, "明": 1, "前": -2}[g["r"]]))


def _to_date(frame: DateReference, _: Groups) -> Reading:
    return span(date(frame.today.year, 1, 1), frame.tomorrow)


RELATIVE = (
    Form(
        "past span",
        rf"(?:近|过去|最近)(?:(?P<half>半年)|(?P<n>{_COUNT})(?P<u>个?财?年|个?季度|个?月|周|个星期|个?交易日|天|日)){_NOT_TERM}(?:来|以来)?",
        "近三年",
        _past,
    ),
    Form(
        "span ahead",
        rf"未来(?:(?P<half>半年)|(?P<n>{_COUNT})(?:{TO}(?P<n2>{_COUNT}))?(?P<u>个?财?年|个?季度|个?月|周|个星期|天|日)){_NOT_TERM}",
        "未来三年",
        _ahead,
    ),
    Form(
        "week",
        r"(?<![基成资日根样版股以])(?P<r>上上|上|本|这|下下|下)(?:个|一)?周(?P<w>[一二三四五六日天末])?(?![期转边围刊报])",
        "上周五",
        nearby_week,
    ),
    Form(
        "weekday",
        r"(?<![上下本这每\d一二三四五六七八九十两几半双逐])周(?P<w>[一二三四五六日])(?![期均度周])",
        "周五",
        _weekday,
    ),
    Form(
        "month nearby",
        r"(?<![基成资日以])(?P<r>上|本|这|下)个?月(?:(?P<d>\d{1,2})[日号]|(?P<edge>[初底末]|[上中下]旬))?(?![期球])",
        "上月",
        nearby_month,
    ),
    Form("end of month", r"(?<![\d一二三四五六七八九十两几个每上本下这])月(?P<edge>[底末])", "月底", nearby_month),
    Form(
        "quarter nearby",
        r"(?<![基成资日以])(?P<r>上|本|这|下)一?个?季(?:度(?P<edge>末)?|(?=[，。、；]))",
        "上季度",
        nearby_quarter,
    ),
    Form(
        "within the year",
        r"(?<![\d一二三四五六七八九十两几半每百数])年内",
        "年内",
        lambda f, _: periods.year(f.today.year),
    ),
    Form("year to date", r"(?<![A-Za-z])YTD(?![A-Za-z])|(?<!每)年初(?:以来|至今)", "YTD", _to_date),
    Form(
        "trailing twelve months",
        r"(?<![A-Za-z（(])(?:TTM|LTM)(?=营业?收|收入|归母|扣非|净利|利润|现金流|口径)|滚动(?:12|十二)个月",
        "滚动12个月",
        lambda f, _: span(add_months(f.tomorrow, -12), f.tomorrow),
    ),
    Form("day nearby", r"(?<![此之以目当说证表透提])(?P<r>[今昨明前])(?:天|日|晚)(?!头条|然气)", "昨日", _near_day),
)
