"""Table of parts of a year as written in dates: 9月21日, 前三季度, H1, 年末.

Each part is one line of data with a name, a pattern and an example; `read` turns the pattern's groups into a period.
To support another notation, add a line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from kg import period as periods
from kg.dating.reference import Impossible, Reading, day_of, last_day, month_span, number_of, quarter_span, span
from kg.period import Period

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Groups = dict[str, str]

TO = " ?[-~—–至到] ?"
MONTH = r"(?:\d{1,2}|十[一二]?|[一二三四五六七八九])"
DAY = r"(?:\d{1,2}|三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])"
NO_LETTER = r"(?![\dA-Za-z])"
NO_WORD = rf"(?:{NO_LETTER}|(?=[A-Z]{{2}})(?!SO\d))"  # 2025年H1LED产量, but no H2SO4
YEAR = r"(?:19|20)\d\d"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a year; `bare` ones need no year before them, `latin` ones may follow 24 or 2024 without 年."""

    name: str
    pattern: str
    example: str
    read: Callable[[int, Groups], Reading]
    bare: bool = True
    latin: bool = False


def _days(year: int, g: Groups) -> Reading:
    month = number_of(g["m"])
    first, last = day_of(year, month, number_of(g["d"])), day_of(year, month, number_of(g["d2"]))
    if isinstance(first, Impossible) or isinstance(last, Impossible):
        return first if isinstance(first, Impossible) else last
    assert first.start is not None
    assert last.end is not None
    if first.start >= last.end:
        return Impossible("日期倒置")
    return span(first.start, last.end)


def _third(year: int, g: Groups) -> Reading:
    month = number_of(g["m"])
    whole = month_span(year, month, month)
    if isinstance(whole, Impossible) or whole.start is None or whole.end is None:
        return whole
    first, after = {"上": (1, 11), "初": (1, 11), "中": (11, 21), "下": (21, 0)}[g["third"]]
    return span(whole.start.replace(day=first), whole.start.replace(day=after) if after else whole.end)


def _week_of_month(year: int, g: Groups) -> Reading:
    """Return the n-th seven days of a month; the fifth ends with it."""
    month, number = number_of(g["m"]), number_of(g["w"])
    whole = month_span(year, month, month)
    if isinstance(whole, Impossible) or whole is None or whole.start is None or whole.end is None:
        return whole
    first = whole.start + timedelta(days=7 * (number - 1))
    return span(first, min(first + timedelta(days=7), whole.end)) if first < whole.end else None


def _edge(found: Reading, edge: str) -> Reading:
    return last_day(found) if isinstance(found, Period) and edge in {"末", "底"} else found


def _month(year: int, g: Groups) -> Reading:
    number = number_of(g["m"])
    return _edge(month_span(year, number, number), g.get("edge", ""))


def _months(year: int, g: Groups) -> Reading:
    first, last = number_of(g["m"]), number_of(g["m2"])
    if last < first <= 12:  # noqa: PLR2004 - 11-3月 spans two years
        return None
    whole, day = month_span(year, first, last), day_of(year, last, number_of(g["d2"])) if g.get("d2") else None
    if isinstance(whole, Period) and isinstance(day, Period):
        return span(whole.start, day.end) if whole.start and day.end else None
    return day or whole


def _quarter(year: int, g: Groups) -> Reading:
    number = number_of(g["q"])
    return _edge(quarter_span(year, number, number), g.get("edge", ""))


def _quarters(year: int, g: Groups) -> Reading:
    return quarter_span(year, number_of(g.get("q", "1")), number_of(g["q2"]))


def _half(year: int, g: Groups) -> Reading:
    return _edge(periods.half(year, {"上": 1, "1": 1, "下": 2, "2": 2}[g["h"]]), g.get("edge", ""))


def _week(year: int, g: Groups) -> Reading:
    try:
        return periods.week(date.fromisocalendar(year, int(g["w"]), 1))
    except ValueError:
        return Impossible(f"{year}年没有第{g['w']}周")


PARTS = (
    Part("days", rf"(?P<m>{MONTH})月(?P<d>{DAY})[日号]?{TO}(?P<d2>{DAY})[日号]", "9月21-25日", _days),
    Part(
        "day",
        rf"(?P<m>{MONTH})月(?P<d>{DAY})[日号]",
        "9月21日",
        lambda y, g: day_of(y, number_of(g["m"]), number_of(g["d"])),
    ),
    Part(
        "months",
        rf"(?P<m>{MONTH})月?份?{TO}(?P<m2>{MONTH})月份?(?![期龄])(?:(?P<d2>{DAY})[日号])?",
        "1-7月",
        _months,
    ),
    Part(
        "first months",
        rf"(?<![此之目以当提])[前首](?P<m2>{MONTH}|两)个?月(?!期)",
        "前7月",
        lambda y, g: _months(y, {"m": "1", **g}),
    ),
    Part("third of a month", rf"(?P<m>{MONTH})月份?(?P<third>[上中下])旬", "7月中旬", _third),
    Part(
        "week of a month",
        rf"(?P<m>{MONTH})月份?第(?P<w>[一二三四五1-5])个?(?:周(?!期)|星期)",
        "9月第4周",
        _week_of_month,
    ),
    Part("start of a month", rf"(?P<m>{MONTH})月份?(?P<third>初)", "7月初", _third),
    Part("end of a month", rf"(?P<m>{MONTH})月份?(?P<edge>[底末])", "7月底", _month),
    Part("month", rf"(?P<m>{MONTH})月(?:份|度)?(?!龄|期(?![货末初间]))", "7月", _month),
    Part("first quarters", r"(?<![此之目以当提])[前首](?P<q2>[二两三23])个?季(?:度|报)?", "前三季度", _quarters),
    Part(
        "quarters",
        rf"第?(?P<q>[一二三四1-4])(?:季度?)?{TO}第?(?P<q2>[一二三四1-4])季(?:度|报)",
        "一至三季度",
        _quarters,
    ),
    Part(
        "quarters listed",
        r"第?(?P<q>一(?=[、和与及]第?二)|二(?=[、和与及]第?三)|三(?=[、和与及]第?四))[、和与及]第?(?P<q2>[二三四])季(?:度|报|(?!节))",
        "三、四季度",
        _quarters,
    ),
    Part("Qn to Qn", rf"Q(?P<q>[1-4]){TO}Q?(?P<q2>[1-4]){NO_LETTER}", "Q1-Q3", _quarters, latin=True),
    Part("third-quarter report", r"三季报", "三季报", lambda y, _: quarter_span(y, 1, 3)),
    Part("quarter", r"第?(?P<q>[一二三四1-4])个?季(?:度(?P<edge>末)?|报)", "第三季度", _quarter),
    Part("nth quarter", r"第(?P<q>[一二三四1-4])季(?![节度报])", "第四季", _quarter),
    Part("Qn", rf"Q(?P<q>[1-4])[EFA]?(?![.:]\d){NO_WORD}(?P<edge>末)?", "Q3", _quarter, latin=True),
    Part("nQ", rf"(?P<q>[1-4])Q{NO_LETTER}(?P<edge>末)?", "3Q", _quarter),
    Part("half", r"(?P<h>[上下])半年度?(?P<edge>末)?", "上半年", _half, latin=True),
    Part("Hn", rf"H(?P<h>[12])[EFA]?(?![.:]\d){NO_WORD}(?P<edge>末)?", "H1", _half, latin=True),
    Part("nH", rf"(?P<h>[12])H{NO_LETTER}(?P<edge>末)?", "1H", _half),
    Part(
        "half-year report",
        r"半年(?:度报告|度|报)(?P<edge>末)?|中报",
        "半年报",
        lambda y, g: _half(y, {**g, "h": "1"}),
    ),
    Part(
        "mid-year",
        r"中期(?=报|业绩|分红|派|股息|利润|净|营|收入|毛利|归母|扣非|实现|现金|每股|销|产量|出货|总)",
        "2025年中期业绩",
        lambda y, _: periods.half(y, 1),
        bare=False,
    ),
    Part("nM", rf"(?P<m2>[369])M{NO_LETTER}", "9M", lambda y, g: _months(y, {"m": "1", **g}), bare=False),
    Part("week of the year", r"第(?P<w>\d{1,2})周", "第35周", _week, bare=False),
    Part("Wn", rf"W(?P<w>\d{{1,2}}){NO_LETTER}", "W35", _week, bare=False, latin=True),
    Part("end of the year", r"年?[末底](?![部层盘])", "年末", lambda y, _: last_day(periods.year(y)), bare=False),
    Part("start of the year", r"年?初(?![步始级中创])", "年初", lambda y, _: periods.month(y, 1), bare=False),
    Part("bare end of the year", r"年[末底]", "年底", lambda y, _: last_day(periods.year(y))),
    Part("bare start of the year", r"年初", "年初", lambda y, _: periods.month(y, 1)),
    Part("whole year", r"全年(?:度)?(?![龄限])", "全年", lambda y, _: periods.year(y), latin=True),
    Part("annual report", r"年?度(?!以)|年?报(?![告道价名废送])", "2024年报", lambda y, _: periods.year(y), bare=False),
    Part("English quarter", r" Q(?P<q>[1-4])(?!\w)", "2024 Q3", _quarter, bare=False, latin=True),
    Part("English half", r" H(?P<h>[12])(?!\w)", "2024 H1", _half, bare=False, latin=True),
)


def _plain(pattern: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


def numbered(patterns: Iterable[str], prefix: str) -> str:
    """Join patterns into one alternation; the name of the matched group ends in the pattern's index."""
    return "|".join(f"(?P<{prefix}{i}>{_plain(pattern)})" for i, pattern in enumerate(patterns))
