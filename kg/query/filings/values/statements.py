"""Read the primary statements and key figures of a filing: what a row is, in which column, in which unit.

A value is found by the label of its row and the year at the head of its column. It is given only where the columns are
clear: a row with another number of figures than the table has columns says nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from kg.filing import ANNUAL, QUARTERLY, RELEASE
from kg.query.filings.features import statement_looks
from kg.query.filings.lexicon import STATEMENTS, lexicon
from kg.query.filings.page_table import LOOKS
from kg.query.filings.values.breakdown import FilingBreakdowns, label_words, part_name
from kg.query.filings.values.columns import StatementRows, cell_of
from kg.query.filings.values.concepts import concepts
from kg.query.filings.values.interim import interim_columns
from kg.query.filings.values.plan import is_part
from kg.query.filings.values.rows import Row, lines_of, split_row
from kg.query.filings.values.totals import parts_below, with_totals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kg.filing import Filing
    from kg.query.filings.page_table import PageTable
    from kg.query.filings.values.concepts import Concept

PRIMARY = STATEMENTS[:3]
_CANDIDATES, _LEAST = 8, 0.2
_KNOWN_ROW, _MOST_KNOWN = 0.1, 15  # what a row of the vocabulary adds to a page's likeness to a statement
_CONTINUED = 0.1
_SCALE = re.compile(
    r"(?:\b(?:in|of)\s+|[€£¥$]\s?|\b(?-i:RMB|EUR|USD|GBP|CHF|JPY)\s?)(?:(?-i:U\.?S\.?|[A-Z]{1,3})\$?\s?|[€£¥$]\s?)?"
    r"(?:dollars? in )?(million|thousand|billion)s?\b|\(?\b(million|thousand|billion)s\)?"
    r"|单位(?:均?为)?[:：]?\s*(?:人民币)?\s*(百万元|亿元|万元|千元|元)|人民币(百万元|亿元|万元|千元)",
    re.IGNORECASE,
)
_SCALES = {
    "million": 1e6,
    "thousand": 1e3,
    "billion": 1e9,
    "元": 1.0,
    "千元": 1e3,
    "万元": 1e4,
    "百万元": 1e6,
    "亿元": 1e8,
}
_PARENT = re.compile(r"母公司|公司(?:资产负债表|利润表|现金流量表)$|parent company", re.IGNORECASE)
_GROUP = re.compile(r"合并|consolidated", re.IGNORECASE)
_ROUND = 0.003  # share by which readings of one value may differ
_HEADING = re.compile(r"statements?\s+of\b|balance\s+sheet|notes\s+to\b|表$|附注", re.IGNORECASE | re.MULTILINE)
_TOP = 300  # characters of a page that may be its heading
_HEAD_LINES = 25
_SHORT = 60
_KEY = re.compile(r"主要(?:会计数据|财务指标|指标)|(?:补充|监管|专项)(?:财务)?指标|研发投入|员工情况", re.IGNORECASE)

# Where a line may stand beside its own statement; a balance is never read from changes of the cash flow statement.
_ELSEWHERE = {"income": ("cash", "key"), "cash": ("income", "key"), "balance": ("key",)}

_TAX, _BEFORE_TAX, _AFTER_TAX = "IncomeTaxExpenseBenefit", "IncomeLossBeforeIncomeTaxes", "NetIncomeLoss"
_SHARES = {"SharesBasic": "EarningsPerShareBasic", "SharesDiluted": "EarningsPerShareDiluted"}
_NEAR_SHARES = 0.05
_EMPLOYEES = "EmployeesTotal"
_EMPLOYED = re.compile(
    r"\b(?:we|company|group|corporation)\b(?:'s)? (?:and its subsidiaries |globally )?(?:employed|had|have|employs?)\b"
    r"[^.;:\d]{0,70}?(\d{1,3}(?:,\d{3})+|\d{3,6}) (?:[a-z-]+,? ){0,5}"
    r"(?:employees|people|associates|colleagues|persons|team members)",
    re.IGNORECASE,
)
_BEFORE = 120  # characters before a number of employees that may say of which day it is

_TOTALS = {
    "balance": ("Assets", "LiabilitiesCurrent"),
    "income": ("Revenues", "NetIncomeLoss"),
    "cash": ("NetCashProvidedByOperatingActivities", "CashPeriodIncrease"),
}

CONSOLIDATED, PARENT = "consolidated", "parent"


@dataclass(frozen=True, slots=True)
class StatementTable:
    """The rows under one heading: the statement, whose it is, its page by index, and the years of its columns."""

    statement: str
    basis: str
    page: int
    scale: float
    years: tuple[int | None, ...]  # None: a column of changes, or of other months
    rows: tuple[Row, ...]
    likeness: float
    months: int = 0  # of an interim report's columns; 0 for those of a fiscal year, and for a day


@dataclass(frozen=True, slots=True)
class StatementFigure:
    """A value of a concept for a fiscal year, in units of the currency; `text[start:end]` is its row.

    `part` is the segment, region or product that it is of, "" for the whole company.
    """

    concept: str
    year: int
    value: float
    label: str
    basis: str
    document: str
    page: int
    start: int
    end: int
    part: str = ""


class FilingStatements:
    """The statements of one filing.

    Args:
        document: its id.
        table: its pages.
        filing: its cover, which says what fiscal year it is and in which unit it reports.
    """

    def __init__(self, document: str, table: PageTable, filing: Filing) -> None:
        self.document, self._pages, self._filing = document, table, filing
        self._interim = filing.form in QUARTERLY or filing.form == RELEASE
        read = [part for page in _statement_pages(table) for part in self._parts(page)]
        self.tables = sorted(read, key=lambda part: (-part.likeness, part.page))
        self._known: dict[tuple[str, int, str, int], StatementFigure | None] = {}
        self._shared: dict[tuple[int, int, int], bool] = {}  # by two tables of this filing and a year

    def find(
        self, concept: Concept, year: int, basis: str = CONSOLIDATED, *, months: int = 0
    ) -> StatementFigure | None:
        """Return the value of a concept for a fiscal year, None where it is not stated clearly.

        Args:
            concept: the line.
            year: the fiscal year.
            basis: consolidated or parent.
            months: of an interim report, those that its period has; what a day has is the same for all.
        """
        key = (concept.name, year, basis, months)
        if key not in self._known:
            found = self._find(concept, year, basis, months)
            if found and concept.name == _TAX:
                found = self._with_sign(found, months)
            elif found and concept.name in _SHARES:
                found = self._counted(found, months)
            elif found is None and concept.name == _EMPLOYEES and year == self._filing.year:
                found = self._employees()
            self._known[key] = found
        return self._known[key]

    def _counted(self, shares: StatementFigure, months: int) -> StatementFigure | None:
        """Return a number of shares in single shares: that of which the income a share is what the statement says."""
        each = self.find(concepts()[_SHARES[shares.concept]], shares.year, shares.basis, months=months)
        income = self.find(concepts()[_AFTER_TAX], shares.year, shares.basis, months=months)
        if not each or not income or not each.value or not shares.value:
            return None
        number = income.value / each.value
        fitting = (shares.value * unit for unit in (1, 1e3, 1e6))
        value = next((one for one in fitting if abs(number / one - 1) <= _NEAR_SHARES), None)
        return replace(shares, value=value) if value else None

    def _employees(self) -> StatementFigure | None:
        """Return the number of employees that the text states for the last day of the year; None where it differs."""
        ends, text = self._filing.ends, self._pages.text.replace("\n", " ")
        if ends is None or self._filing.form not in ANNUAL:
            return None
        found: dict[float, re.Match[str]] = {}
        for match in _EMPLOYED.finditer(text):
            day = f"{ends:%B} {ends.day}, {ends.year}"
            opening = text[max(0, match.start() - _BEFORE) : match.start(1)]
            if day in opening or f"end of fiscal {ends.year}" in opening:
                found.setdefault(float(match[1].replace(",", "")), match)
        if len(found) != 1:
            return None
        value, match = found.popitem()
        page = int(np.searchsorted(self._pages.spans[:, 0], match.start(), side="right")) - 1
        start, end = match.span()
        return StatementFigure(
            _EMPLOYEES, self._filing.year, value, match[0], CONSOLIDATED, self.document, page, start, end
        )

    def _with_sign(self, tax: StatementFigure, months: int) -> StatementFigure:
        """Return a tax charge as an amount that lowers income, however the statement signs it."""
        before, whole, own = (
            self.find(concepts()[name], tax.year, tax.basis, months=months)
            for name in (_BEFORE_TAX, "ProfitLoss", _AFTER_TAX)
        )
        after = [each.value for each in (whole, own) if each]
        if before and after:
            apart = [min(abs(before.value - tax.value * sign - value) for value in after) for sign in (1, -1)]
            charged = apart[0] <= apart[1]
        else:
            charged = tax.value >= 0 or "benefit" in tax.label.lower()
        if charged:
            return tax
        return replace(tax, value=-tax.value)

    @cached_property
    def breakdowns(self) -> FilingBreakdowns:
        """How the filing breaks its lines down."""
        return FilingBreakdowns(self._pages)

    def shares_of(self, name: str, year: int) -> Iterator[StatementFigure]:
        """Yield what segments, regions and products have of a line; where two tables differ on a part, it has none."""
        concept = concepts()[name]
        whole = self.find(concept, year)
        lines = [each for each in concepts().values() if each.rows and each.statement != "balance"]
        found: dict[tuple[str, ...], list[StatementFigure]] = defaultdict(list)
        for each in self.breakdowns.of(whole.value) if whole else ():
            column = each.column(whole.value) if whole else None
            names = [part_name(row.label) for row in each.rows]
            if column is None or any(line.fits(name) is not None for line in lines for name in names):
                continue  # the income statement itself
            for row, part in zip(each.rows, names, strict=True):
                value = (row.figures[column] or 0.0) * each.unit
                if value > 0 and is_part(part) and whole:
                    own = replace(whole, value=value, label=row.label, page=each.page, part=part)
                    found[label_words(part)].append(replace(own, start=row.start, end=row.end))
        for same in found.values():
            if len({each.value for each in same}) == 1:
                yield same[0]

    def years(self) -> set[int]:
        """Return the fiscal years that columns are for."""
        return {year for table in self.tables for year in table.years if year}

    def figures(self, basis: str = CONSOLIDATED) -> Iterator[StatementFigure]:
        """Yield all values that the vocabulary knows."""
        for concept in concepts().values():
            for year in sorted(self.years()) if concept.rows else ():
                if figure := self.find(concept, year, basis):
                    yield figure

    def _find(self, concept: Concept, year: int, basis: str, months: int) -> StatementFigure | None:
        fitting = (each for each in self.tables if each.months in {0, months})
        tables = [each for each in fitting if each.basis == basis and year in each.years]
        for statement in (concept.statement, *_ELSEWHERE.get(concept.statement, ())):
            own = [each for each in tables if each.statement == statement]
            for table in [each for each in own if statement == "key" or self._belongs(each, own[0], year)]:
                if found := list(self._readings(concept, year, table)):
                    surest = min(rank for rank, _ in found)
                    return _one_of(concept, [figure for rank, figure in found if rank == surest])
        return next(
            (figure for each in tables if concept.parts and (figure := self._summed(concept, year, each))), None
        )

    def _summed(self, concept: Concept, year: int, table: StatementTable) -> StatementFigure | None:
        """Return the sum of the parts below the heading that a line is: raw materials, finished goods."""
        assert concept.parts
        parts = parts_below(
            table.rows,
            lambda head: concept.fits(head) is not None,
            lambda each: bool(concept.parts and concept.parts.match(each)),
        )
        figures = [cell_of(row, table.years, year, whole=self._interim) for row in parts]
        if not parts or None in figures:
            return None
        value = sum(each or 0.0 for each in figures) * table.scale
        start, end, label = parts[0].start, parts[-1].end, " + ".join(row.label for row in parts)
        return StatementFigure(concept.name, year, value, label, table.basis, self.document, table.page, start, end)

    def _belongs(self, table: StatementTable, best: StatementTable, year: int) -> bool:
        """Return whether a further table is of the same accounts: it shares a page or total with the best one."""
        if table.page == best.page:
            return True
        key = (id(table), id(best), year)
        if key not in self._shared:
            self._shared[key] = self._shares_total(table, best, year)
        return self._shared[key]

    def _shares_total(self, table: StatementTable, best: StatementTable, year: int) -> bool:
        for name in _TOTALS.get(table.statement, ()):
            one, other = (
                [each.value for _, each in self._readings(concepts()[name], year, part)] for part in (table, best)
            )
            if one and other:
                return abs(one[0] - other[0]) <= _ROUND * abs(other[0])
        return False

    def _readings(self, concept: Concept, year: int, table: StatementTable) -> Iterator[tuple[int, StatementFigure]]:
        scale = table.scale if concept.unit == "amount" else 1.0
        for row in table.rows:
            rank = concept.fits(row.label, row.head)
            value = cell_of(row, table.years, year, whole=self._interim) if rank is not None else None
            if rank is not None and value is not None:
                value = abs(value) if concept.positive else value
                yield (
                    rank,
                    StatementFigure(
                        concept.name,
                        year,
                        value * scale,
                        row.label,
                        table.basis,
                        self.document,
                        table.page,
                        row.start,
                        row.end,
                    ),
                )

    def _parts(self, page: _StatementPage) -> Iterator[StatementTable]:
        """Cut a page at the headings of statements, and read each part."""
        table, text = self._pages, self._pages.text
        start, end = (int(each) for each in table.spans[page.index])
        if page.continued:
            end = int(table.spans[page.index + 1][1])
        lines = list(lines_of(text, start, end))
        parts: list[tuple[str, str, list[tuple[str, int]]]] = [(page.statement, CONSOLIDATED, [])]
        for line, at in lines:
            head = _statement_head(line)
            if (
                head
                and (parts[-1][:2] != head or self._interim)
                and any(split_row(each)[1] for each, _ in parts[-1][2])
            ):
                parts.append((*head, []))
            elif head and not any(split_row(each)[1] for each, _ in parts[-1][2]):
                parts[-1] = (*head, parts[-1][2])
            parts[-1][2].append((line, at))
        scale = 0.0
        for statement, basis, held in parts:
            scale = _scale_of(line for line, _ in held[:_HEAD_LINES]) or scale or float(self._filing.scale or 0)
            read = StatementRows(self._filing, percent=statement == "key").read(held)
            rows = tuple(with_totals(read.rows, statement))
            if rows and scale:
                likeness = round(page.likeness + _KNOWN_ROW * _known_rows(statement, rows), 4)
                made = partial(StatementTable, statement, page=page.index, scale=scale, rows=rows, likeness=likeness)
                if self._interim:
                    for months, years in interim_columns(statement, held, read.rows, filing=self._filing):
                        yield made(basis=basis, years=years, months=months)
                    continue
                yield made(basis=basis, years=read.columns(parent=basis == PARENT))
                if read.has_parent and basis == CONSOLIDATED:
                    yield made(basis=PARENT, years=read.columns(parent=True))


def _one_of(concept: Concept, figures: Sequence[StatementFigure]) -> StatementFigure | None:
    """Return the figure of a line that several rows fit alike."""
    first = figures[0]
    if len({abs(each.value) for each in figures}) == 1 or not concept.several:
        return first
    if concept.several == "none":
        return None
    label = " + ".join(each.label for each in figures)
    return replace(first, value=sum(each.value for each in figures), label=label, end=figures[-1].end)


@dataclass(frozen=True, slots=True)
class _StatementPage:
    index: int
    statement: str
    continued: bool
    likeness: float


def _statement_pages(table: PageTable) -> list[_StatementPage]:
    """Return the pages that may hold primary statements or key figures."""
    looks = statement_looks(table)
    found = []
    for number, name in enumerate(PRIMARY):
        order = sorted(range(len(table)), key=lambda page: (-round(float(looks[page, number]), 4), page))
        rows = table.looks[:, LOOKS.index(f"rows_{name}")]
        for page in order[:_CANDIDATES]:
            if looks[page, number] < _LEAST:
                break
            after = page + 1
            continued = after < len(table) and rows[after] >= _CONTINUED and not _opens(table, after)
            found.append(_StatementPage(page, name, bool(continued), float(looks[page, number])))
    for page in range(len(table)):
        start, end = (int(each) for each in table.spans[page])
        if _KEY.search(table.text, start, end):
            found.append(_StatementPage(page, "key", continued=False, likeness=0.0))
    return found


def _opens(table: PageTable, page: int) -> bool:
    """Return whether a page begins with the heading of a statement or of the notes."""
    start, end = (int(each) for each in table.spans[page])
    return bool(_HEADING.search(table.text, start, min(end, start + _TOP)))


def _statement_head(line: str) -> tuple[str, str] | None:
    """Return the statement and the basis that a line opens: 母公司资产负债表."""
    if len(line) > _SHORT or split_row(line)[1]:
        return None
    if _KEY.search(line):
        return "key", CONSOLIDATED
    name = next((each.name for each in lexicon().statements if each.head.search(line)), None)
    if name is None:
        return None
    return name, PARENT if _PARENT.search(line) and not _GROUP.search(line) else CONSOLIDATED


def _scale_of(lines: Iterator[str]) -> float:
    match = _SCALE.search(" ".join(lines))
    return _SCALES[next(each for each in match.groups() if each).lower()] if match else 0.0


def _known_rows(statement: str, rows: Sequence[Row]) -> int:
    """Return how many lines of a statement the vocabulary finds among rows."""
    own = [concept for concept in concepts().values() if concept.statement == statement]
    return min(_MOST_KNOWN, sum(any(concept.fits(row.label) is not None for row in rows) for concept in own))
