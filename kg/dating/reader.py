"""Read time expressions as periods, relative to the publication day: 三季度, 去年同期, 2023-2025E, 十四五.

Dates are never guessed: other text yields nothing, and an impossible date (2月30日) yields a Problem.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from kg import period as periods
from kg.dating.english import ENGLISH
from kg.dating.forms import NO_LETTER, PARTS, TO, YEAR, Groups, Part, numbered
from kg.dating.reference import DateReference, Impossible, Reading, add_months, last_day, number_of, span
from kg.dating.relative import RELATIVE
from kg.dating.written import WRITTEN, century
from kg.model import Problem
from kg.period import Period, Precision
from kg.text.pattern_set import Alternatives

if TYPE_CHECKING:
    from datetime import date

Role = Literal["stated", "comparison"]


class Dated(Struct, frozen=True):
    """A time expression, `sentence[start:end] == text`; a comparison (较2024年) dates the base, not the claim."""

    start: int
    end: int
    text: str
    period: Period
    role: Role = "stated"


class _Found(Struct, frozen=True):
    """A date before boundary words (截至, 以来) are applied."""

    start: int
    end: int
    period: Period
    role: Role = "stated"


@dataclass(frozen=True, slots=True)
class _Lead:
    """A notation for the year that a part follows; a loose one (24, 2024) is a year only with a part after it."""

    name: str
    pattern: str
    example: str
    offset: int | None = None


_FREE = r"(?:(?<![\d.A-Za-z])|(?<=[一-鿿][AB])|(?<=-[SWUBPR]))"  # 万科A24Q1: a share class is no part of a number
LEADS = (
    _Lead("year", rf"(?<!\d)(?P<y>{YEAR})年(?![龄版]|期(?!间))", "2024年"),
    _Lead("forecast year", rf"{_FREE}(?P<y>{YEAR}|\d\d)(?:[EF]|A(?!股)){NO_LETTER}", "2025E"),
    _Lead("loose year", rf"{_FREE}(?P<loose>{YEAR}|\d\d)(?=[前首第一二三四上下全半QHW ])", "24Q3"),
    _Lead("short year", r"(?<![\dA-Za-z])(?P<short>\d\d)年", "24年"),
    _Lead("Chinese year", r"(?P<chinese>[一二][〇零○九][〇零○一二三四五六七八九]{2})年", "二〇二五年"),
    _Lead("this year", r"(?:今年|(?<![基样版])本年(?!期|限))", "今年", 0),
    _Lead("last year", r"(?:(?<!过)去年|(?<!以)上一?年(?![期限龄]))", "去年", -1),
    _Lead("year before last", r"(?<![之此目以当提\d两三])前年", "前年", -2),
    _Lead("next year", r"(?<![说证表透申])明年", "明年", 1),
    _Lead("year after next", r"(?<![今之此以然最\d])后年", "后年", 2),
    _Lead("context year", r"(?P<same>当年|(?<!相)同年(?!龄))", "当年"),
)
_FORMS = (*WRITTEN, *RELATIVE, *ENGLISH)
_BARE = tuple(part for part in PARTS if part.bare)
_GUARD = r"(?<![零一二三四五六七八九十百千万两几数每个\d.A-Za-z])"

_YEAR_LIST = (
    rf"(?<![\d.A-Za-z])(?:{YEAR}|\d\d)[年E]?(?:[/、,和及](?:{YEAR}|\d\d)[年E]?){{0,8}}[/、,和及](?:{YEAR}|\d\d)"
    rf"(?:年(?![期龄以版来])|E{NO_LETTER})"
)

_SCAN = Alternatives(
    {
        "l0": _YEAR_LIST,
        **{f"f{number}": form.pattern for number, form in enumerate(_FORMS)},
        **{f"y{number}": lead.pattern for number, lead in enumerate(LEADS)},
        **{f"p{number}": f"{_GUARD}(?:{part.pattern})" for number, part in enumerate(_BARE)},
    },
    runs=r"\d",
)
_AFTER_YEAR = re.compile(numbered((part.pattern for part in PARTS), "p"))
_FORM_GROUPS = tuple(re.compile(form.pattern) for form in _FORMS)
_LEAD_GROUPS = tuple(re.compile(lead.pattern) for lead in LEADS)
_BARE_GROUPS = tuple(re.compile(part.pattern) for part in _BARE)
_PART_GROUPS = tuple(re.compile(part.pattern) for part in PARTS)

_YEAR_ITEM = re.compile(r"\d+[年E]?")
_SAME_PERIOD = re.compile("(?:的)?同[期季月]")

_SHORT_YEAR_BEFORE = re.compile(
    r"(?:[近达长超第共满续经逾每这仅需\d~—–A-Za-z/-]|过去|未来|超过|历时|用时|为期|寿命|期限|质保|至少|少于|不到|不足|\d\.)$"
)
_SHORT_YEAR_AFTER = re.compile(
    "期|以[上下内]|来|之|内|间|后|前的|有余|多|左右|国债|债|免|质保|寿命|历史|经验|老|龄|时间|租|运营|周期|长|版|合约|贴现"
)
_YEARS_BACK, _YEARS_AHEAD = 7, 5  # years around publication in which a two-digit year is plausible

_FIRST_YEAR, _LAST_YEAR = 1800, 3000  # 9999-12-31 is a database's "never"; no date is relative to it

_FUTURE_STRICT = re.compile("(?:下|将|将于|将在|展望|计划|计划于|计划在|拟|拟于|明|有望|有望在|有望于|待|看)$")
_FUTURE_SOFT = re.compile("(?:预计|预期|预告|预估|估计|料|我们认为)(?:在|于|公司|[，,])?$")
_FUTURE_AFTER = re.compile("(?:将|有望|拟|或将|计划)")
_FUTURE_NEAR = re.compile("[^，。；：、\\d]{0,8}?(?:预计|有望|或将|预期)")
_COMPARED_BEFORE = re.compile(
    "(?:较|相?比|相较于?|对比|相对|相当于|高于|低于|优于|好于|弱于|强于|不及|同比|环比|超过|比起)(?:于|了|上)?$"
)
_OF_QUARTERS = re.compile("[Qq季]")
_WITH = re.compile(r"(?:[（(][^（）()]{0,40}[)）])?(?:、|和|与|及|/)")
_COMPARED_AFTER = re.compile("相比|持平|的?(?:水平|高点|低点|基数|均值|峰值|高位|低位)")
_AS_OF = re.compile("(?:截至|截止至|截止到|截止|截至到|[Aa]s of (?:the )?|[Aa]s at (?:the )?)$")
_YEAR_ENDED = re.compile(r"止的?(?:(?:财政|财务|会计)?年度|财年|(?P<n>十二|12|9|九|6|六|3|三)个月)")
_SINCE = re.compile("(?:以来|至今|迄今)")
_FROM = re.compile("(?:起(?![步点伏草诉重到家源飞量])|开始)")
_UNTIL = re.compile(r"(?:之前|以前|前(?![后一二三四五六七八九十百两几\d值期次瞻景沿列者端的任后高低述往途五]))")
_AT_LATEST = re.compile("以前")  # looks back, where 之前 and 前 may set a term ahead
_LEADS_IN = re.compile(
    r"\b(?P<word>since|after|before|prior to|until|(?:(?:at|by) )?(?:the )?end of)(?: the)? $", re.IGNORECASE
)
_AFTER = re.compile(r"(?:之后|以后|后(?![续市端期段备者台疫道勤视装补半来周]))")
_JOIN = re.compile(rf"(?:{TO}|到|至) ?")


def find_periods(
    text: str, published_on: date, *, context: Period | None = None, fiscal_year_end: int = 12
) -> list[Dated]:
    """Return the time expressions of one sentence in order, without overlaps.

    Args:
        text: one normalised sentence.
        published_on: day of publication, the base of relative expressions.
        context: the last period stated in the same paragraph or heading; a bare 三季度 takes its year.
        fiscal_year_end: month in which the fiscal year of FY2024 and 2024财年 ends.
    """
    return read_dates(text, published_on, context=context, fiscal_year_end=fiscal_year_end)[0]


def read_dates(
    text: str, published_on: date, *, context: Period | None = None, fiscal_year_end: int = 12
) -> tuple[list[Dated], list[Problem]]:
    """Return dates and impossible dates of one sentence in one pass; arguments as in `find_periods`."""
    if not _FIRST_YEAR < published_on.year < _LAST_YEAR:
        return [], [Problem("date", f"{published_on}：不像发布日", 0, len(text))] if text else []
    found, problems = _read(text, published_on, context, fiscal_year_end)
    return list(found), list(problems)


@lru_cache(maxsize=2048)  # the top of a note is read again for each of its tables
def _read(
    text: str, published_on: date, context: Period | None, fiscal_year_end: int
) -> tuple[tuple[Dated, ...], tuple[Problem, ...]]:
    reader = _Reader(text, DateReference(published_on, context, fiscal_year_end))
    reader.run()
    dated = (Dated(each.start, each.end, text[each.start : each.end], each.period, each.role) for each in reader.found)
    return tuple(dated), tuple(reader.problems)


def yearly(dated: Dated) -> list[Period]:
    """Return the calendar years of a range such as 2025-2027年; empty for anything finer than a year."""
    start, end = dated.period.start, dated.period.end
    if start is None or end is None or not (start.month == start.day == end.month == end.day == 1):
        return []
    return [periods.year(number) for number in range(start.year, end.year)]


def quarterly(dated: Dated) -> list[Period]:
    """Return the quarters of a range such as 2025Q1-Q3; empty for 1-9月 and for a single quarter."""
    start = dated.period.start
    if start is None or dated.period.end is None or not _OF_QUARTERS.search(dated.text):
        return []
    end = last_day(dated.period).start
    first, last = (start.month + 2) // 3, (end.month + 2) // 3 if end else 0
    one_year = end is not None and start.year == end.year and first < last
    return [periods.quarter(start.year, number) for number in range(first, last + 1)] if one_year else []


class _Reader:
    """Reads one sentence left to right, and updates the context with each date."""

    def __init__(self, text: str, frame: DateReference) -> None:
        self.text = text
        self.frame = frame
        self.found: list[_Found] = []
        self.problems: list[Problem] = []

    def run(self) -> None:
        position = 0
        while match := _SCAN.search(self.text, position):
            position = max(self._take(match), match.start() + 1)

    def _take(self, match: re.Match[str]) -> int:
        """Read one match and return the position to continue from."""
        start = match.start()
        if match.lastgroup == "l0":
            return match.end() if self._take_years(start, match[0]) else self._after_rejected(start)
        end, reading = self._read(match)
        if isinstance(reading, Impossible):
            self.problems.append(Problem("date", f"{self.text[start:end]}：{reading.reason}", start, end))
            return end
        if reading is None:
            return self._after_rejected(start)
        return self._keep(_Found(start, end, reading, self._role(start, end)))

    def _after_rejected(self, start: int) -> int:
        """Return the end of a rejected number, so that its tail is not read as another one."""
        end = start + 1
        while end < len(self.text) and self.text[end].isdecimal() and self.text[start].isdecimal():
            end += 1
        return end

    def _take_years(self, begin: int, listed: str) -> bool:
        """Read 2025/26/27年 as one date per year; return False if it is not a list of years."""
        items = [(item.start(), item.end(), century(item[0].rstrip("年E"))) for item in _YEAR_ITEM.finditer(listed)]
        years = [year for _, _, year in items]
        low, high = self.frame.today.year - _YEARS_BACK, self.frame.today.year + _YEARS_AHEAD
        plausible = all(low <= year <= high or end - start > len("25年") for start, end, year in items)
        if years != sorted(set(years)) or not plausible:
            return False
        role = self._role(begin, begin + len(listed))
        for start, end, year in items:
            self.found.append(_Found(begin + start, begin + end, periods.year(year), role))
        return True

    def _read(self, match: re.Match[str]) -> tuple[int, Reading]:
        group = match.lastgroup or ""
        index, start = int(group[1:]), match.start()
        ahead = self._ahead(start, match.end())
        frame = replace(self.frame, ahead=ahead) if ahead else self.frame
        if group[0] == "f":
            return match.end(), _FORMS[index].read(frame, _groups(_FORM_GROUPS[index], self.text, start))
        if group[0] == "p":
            groups, part = _groups(_BARE_GROUPS[index], self.text, start), _BARE[index]
            return match.end(), frame.bare(lambda year: part.read(year, groups))
        return self._read_year(index, start, match.end())

    def _read_year(self, index: int, start: int, end: int) -> tuple[int, Reading]:
        lead = LEADS[index]
        year = self._year_of(lead, _groups(_LEAD_GROUPS[index], self.text, start))
        loose = lead.name == "loose year"
        if year is None:
            return end, None
        same = _SAME_PERIOD.match(self.text, end)
        if same and not loose:
            return same.end(), self._same_period(year, absolute=lead.offset is None)
        follow = _AFTER_YEAR.match(self.text, end)
        part, groups = _part(follow, self.text) if follow else (None, {})
        if part is not None and follow is not None and (not loose or part.latin or end - start == len("2024")):
            return follow.end(), part.read(year, groups)
        short = lead.name == "short year"
        if loose or (short and not self._is_short_year(start, end, year)):
            return end, None
        return end, periods.year(year)

    def _year_of(self, lead: _Lead, groups: Groups) -> int | None:
        today = self.frame.today.year
        if lead.offset is not None:
            return today + lead.offset
        if groups.get("same"):
            return self.frame.context_year
        if groups.get("chinese"):
            return number_of(groups["chinese"])
        digits = groups.get("y") or groups.get("loose") or groups.get("short") or ""
        year = century(digits)
        plausible = len(digits) == len("2024") or today - 2 * _YEARS_BACK <= year <= today + 2 * _YEARS_AHEAD
        return year if plausible else None

    def _is_short_year(self, start: int, end: int, year: int) -> bool:
        """Whether 24年 is a year, not a duration: near publication and without duration words; 10年 and 20年 never."""
        near = self.frame.today.year - _YEARS_BACK <= year <= self.frame.today.year + _YEARS_AHEAD
        round_number = year % 5 == 0 and year != self.frame.today.year
        before = _SHORT_YEAR_BEFORE.search(self.text[max(0, start - 2) : start])
        return near and not round_number and not before and not _SHORT_YEAR_AFTER.match(self.text, end)

    def _same_period(self, year: int, *, absolute: bool) -> Period:
        """Read 去年同期 as the context period moved to that year; without context, as the whole year."""
        context = self.frame.context
        own = self.frame.context_year
        if context is None or own is None or context.start is None or context.end is None:
            return periods.year(year)
        shift = 12 * (year - (own if absolute else self.frame.today.year))
        return span(add_months(context.start, shift), add_months(context.end, shift))

    def _ahead(self, start: int, end: int) -> str:
        before = self.text[max(0, start - 7) : start]
        if _FUTURE_STRICT.search(before) or _FUTURE_AFTER.match(self.text, end):
            return "strict"
        if _UNTIL.match(self.text, end) and not _AT_LATEST.match(self.text, end):
            return "strict"
        if _FUTURE_SOFT.search(before):
            return "soft"
        return "near" if _FUTURE_NEAR.match(self.text, end) else ""

    def _role(self, start: int, end: int) -> Role:
        if "同" in self.text[max(start, end - 2) : end]:
            return "comparison"
        if _COMPARED_BEFORE.search(self.text[max(0, start - 5) : start]) or _COMPARED_AFTER.match(self.text, end):
            return "comparison"
        # 较1Q20（+5%）、2Q20（+3%）: a date joined to a base is a base too
        if self.found and self.found[-1].role == "comparison":
            base = self.found[-1]  # 较今年上一季度: so is a date that directly follows one
            return "comparison" if base.end == start or _WITH.fullmatch(self.text, base.end, start) else "stated"
        return "stated"

    def _keep(self, found: _Found) -> int:
        """Join with the preceding date (2024年9月至2025年3月), apply boundary words and update the context."""
        found = self._joined(found)
        found = self._with_boundaries(self._led_in(found))
        self.found.append(found)
        if found.role == "stated" and found.period.start is not None and found.period.end is not None:
            self.frame = replace(self.frame, context=found.period)
        return found.end

    def _joined(self, found: _Found) -> _Found:
        if not self.found or not _JOIN.fullmatch(self.text, self.found[-1].end, found.start):
            return found
        first = self.found[-1]
        start, end = first.period.start, found.period.end
        if start is None or end is None or start >= end or first.period.end is None or first.period.end > end:
            return found
        self.found.pop()
        return _Found(first.start, found.end, span(start, end), first.role)

    def _with_boundaries(self, found: _Found) -> _Found:
        lead = _AS_OF.search(self.text[max(self._floor(), found.start - 10) : found.start])
        start, today = found.period.start, self.frame.today
        if lead and found.period.end is not None and (tail := _YEAR_ENDED.match(self.text, found.end)):
            # 截至2024年6月30日止年度 is the twelve months up to that day, not the day
            whole = span(add_months(found.period.end, -number_of(tail["n"] or "12")), found.period.end)
            return replace(found, start=found.start - len(lead[0]), end=tail.end(), period=whole)
        if lead and found.period.end is not None:
            day = last_day(found.period)
            as_of = periods.day(today) if start is not None and start <= today and found.period.end > today else day
            return replace(found, start=found.start - len(lead[0]), period=as_of)
        if start is None:
            return found
        if (tail := _SINCE.match(self.text, found.end)) and start <= today:
            return replace(found, end=tail.end(), period=span(start, self.frame.tomorrow))
        if tail := _FROM.match(self.text, found.end):
            return replace(found, end=tail.end(), period=periods.since(start))
        if (tail := _AFTER.match(self.text, found.end)) and found.period.end is not None:
            return replace(found, end=tail.end(), period=periods.since(found.period.end))
        if (tail := _UNTIL.match(self.text, found.end)) and found.period.end is not None:
            begin = today if today < found.period.end and tail[0] != "以前" else None
            return replace(found, end=tail.end(), period=Period(begin, found.period.end, Precision.RANGE))
        return found

    def _led_in(self, found: _Found) -> _Found:
        """Apply an English word before a date: since March, before 2025, the end of Q1."""
        lead = _LEADS_IN.search(self.text[max(self._floor(), found.start - 16) : found.start])
        start, end = found.period.start, found.period.end
        if lead is None or start is None or end is None:
            return found
        word = lead["word"].lower()
        if word == "since":
            period = span(start, self.frame.tomorrow) if start <= self.frame.today else periods.since(start)
        elif word == "after":
            period = periods.since(end)
        else:
            period = last_day(found.period) if word.endswith("end of") else Period(None, start, Precision.RANGE)
        return replace(found, start=found.start - len(lead[0]), period=period)

    def _floor(self) -> int:
        return self.found[-1].end if self.found else 0


def _groups(pattern: re.Pattern[str], text: str, start: int) -> Groups:
    match = pattern.match(text, start)
    assert match is not None
    return {name: value for name, value in match.groupdict().items() if value is not None}


def _part(match: re.Match[str], text: str) -> tuple[Part, Groups]:
    index = int((match.lastgroup or "p0")[1:])
    return PARTS[index], _groups(_PART_GROUPS[index], text, match.start())
