"""Read a question about filings: form, fiscal years, quarters, day, indicators, topics and what is done with them.

The company is found by `kg.query.filings.documents`, which knows whose filings there are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from kg.dating.reader import read_dates
from kg.query.filings.lexicon import STATEMENTS, lexicon, words_of

LONGEST = 1_000  # characters of a question that are read
_YEAR = re.compile(r"(?<![\d$,.])((?:19|20)\d\d)(?!\d)")
_SHORT_YEAR = re.compile(r"(?<![A-Za-z\d])(?:FY|[1-4]Q|Q[1-4])\s?'?(\d\d)(?!\d)", re.IGNORECASE)
_FISCAL = re.compile(r"(?:(?<![A-Za-z])FY|fiscal(?:\s+year)?)\s?'?((?:20)?\d\d)(?!\d)", re.IGNORECASE)
_QUARTER = re.compile(
    r"(?<![A-Za-z])Q([1-4])(?!\d)|([1-4])Q(?=\d\d|\b)|\b(first|second|third|fourth)[\s-]+quarter|第?([一二三四])季度?",
    re.IGNORECASE,
)
_HALF = re.compile(r"半年|first half|\bH1\b", re.IGNORECASE)
_DAY = re.compile(r"[A-Za-z]{3}|月|\d[-/.]\d")  # in the words of a date
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "一": 1, "二": 2, "三": 3, "四": 4}
_CENTURY = 2000
_INDICATOR, _STATEMENT = 0.6, 1.0  # how much a statement is wanted: for its indicator, by name


@dataclass(frozen=True, slots=True)
class FilingTask:
    """What a question about filings asks for.

    `years` are all that it names, `fiscal_years` those marked as fiscal; `wanted` says how much each statement of
    `STATEMENTS` is wanted, 0 … 1. `words` are those that say something, `further` those that pages use for the same.
    """

    question: str
    form: str = ""
    years: tuple[int, ...] = ()
    fiscal_years: tuple[int, ...] = ()
    quarters: tuple[int, ...] = ()
    day: date | None = None
    indicators: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    wanted: tuple[float, ...] = (0.0,) * len(STATEMENTS)
    operation: str = ""
    words: tuple[str, ...] = ()
    further: tuple[str, ...] = ()

    @property
    def year(self) -> int:
        """The fiscal year of the filing that answers: the last one asked for, 0 if none is."""
        return max(self.fiscal_years or self.years, default=0)


def read_task(question: str) -> FilingTask:
    """Read a question by rules.

    >>> task = read_task("What is the FY2018 capital expenditure amount for 3M, from the cash flow statement?")
    >>> task.year, task.indicators, task.operation
    (2018, ('capital_spending',), 'value')
    """
    text = question[:LONGEST].replace("’", "'")
    words = lexicon()
    named = [statement.name for statement in words.statements if statement.asks.search(text)]
    rest = text
    for statement in words.statements:
        rest = statement.asks.sub(" ", rest)
    indicators = [each for each in words.indicators if each.asks.search(rest)]
    years, fiscal = _years(text)
    quarters = {_quarter(match) for match in _QUARTER.finditer(text)} | ({2} if _HALF.search(text) else set())
    form, named_form = next(((form, pattern) for form, pattern in words.forms if pattern.search(text)), ("", None))
    content = named_form.sub(" ", text) if named_form else text  # pages that name the form are about no more than it
    asked = dict.fromkeys(word for word in words_of(content) if word not in words.empty)
    further = [word for pattern, more in words.synonyms if pattern.search(text) for word in more]
    wanted = _wanted(named, {each.statement for each in indicators})
    named_words = (each.words for each, weight in zip(words.statements, wanted, strict=True) if weight >= _INDICATOR)
    further += [word for held in named_words for word in held]
    return FilingTask(
        question=question,
        form=form,
        years=years,
        fiscal_years=fiscal,
        quarters=tuple(sorted(quarters)),
        day=_day(text),
        indicators=tuple(each.name for each in indicators),
        topics=tuple(topic.name for topic in words.topics if topic.asks.search(text)),
        wanted=wanted,
        operation=next((name for name, pattern in words.operations if pattern.search(text)), ""),
        words=tuple(asked),
        further=tuple(dict.fromkeys(word for word in further if word not in words.empty)),
    )


def _years(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    years = {int(each) for each in _YEAR.findall(text)} | {_CENTURY + int(each) for each in _SHORT_YEAR.findall(text)}
    fiscal = {int(each) if int(each) > _CENTURY else _CENTURY + int(each) for each in _FISCAL.findall(text)}
    return tuple(sorted(years)), tuple(sorted(fiscal))


def _quarter(match: re.Match[str]) -> int:
    number = match[1] or match[2]
    return int(number) if number else _QUARTERS[(match[3] or match[4]).casefold()]


def _wanted(named: list[str], implied: set[str]) -> tuple[float, ...]:
    """Return how much each statement is wanted; those that the question names shut out the others."""
    if named:
        return tuple(_STATEMENT if name in named else 0.0 for name in STATEMENTS)
    return tuple(_INDICATOR if name in implied else 0.0 for name in STATEMENTS)


def _day(text: str) -> date | None:
    """Return the one day that a question names: its 8-K of 1 July 2022."""
    dates, _ = read_dates(text, date(2000, 1, 1))
    for each in dates:
        period = each.period
        written = _DAY.search(text, each.start, each.end) and not _FISCAL.search(text, each.start, each.end)
        if written and period.start and period.end and (period.end - period.start).days == 1:
            return period.start
    return None
