"""Read the primary statements and key figures of a filing: what a row is, in which column, in which unit.

A value is found by the label of its row and the year at the head of its column. It is given only where the columns are
clear: a row with another number of figures than the table has columns says nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kg.query.filings.features import statement_looks
from kg.query.filings.lexicon import STATEMENTS, lexicon
from kg.query.filings.page_table import LOOKS
from kg.query.filings.values.concepts import concepts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kg.filing import Filing
    from kg.query.filings.page_table import PageTable
    from kg.query.filings.values.concepts import Concept

_PRIMARY = STATEMENTS[:3]
_CANDIDATES, _LEAST = 8, 0.2
_KNOWN_ROW, _MOST_KNOWN = 0.1, 15  # what a row of the vocabulary adds to a page's likeness to a statement
_CONTINUED = 0.1
_YEAR = re.compile(r"(?<![\d,.$])((?:19|20)\d\d)(?![\d,]|\.\d)")
_COLUMN = re.compile(
    r"(?<![\d,.$])(?P<year>(?:19|20)\d\d)(?![\d,]|\.\d)"
    r"|(?P<change>(?:本[期年]比)?(?:上年(?:同期)?)?(?:增减|变动)|同比|%\s*change|change\s*%|percent(?:age)? change)"
    r"|(?P<now>期末(?:余额|数)?|本期(?:金额|发生额|数)|本年(?:金额|发生额|数))"
    r"|(?P<before>期初(?:余额|数)?|上期(?:金额|发生额|数)|上年(?:金额|发生额|数|年末余额)|年初余额)",
    re.IGNORECASE,
)
_MONTH = r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"  # noqa: E501 -- names
_SPILT = re.compile(r"\b(?:January|Jan)\.? [1-7], (20\d\d)", re.IGNORECASE)  # a 52- or 53-week year's last day
_DAY = re.compile(
    rf"\b{_MONTH}\.?\s+\d{{1,2}}\s*,?(?=\s|$)|(?<=年)\s*\d{{1,2}}\s*月(?:\s*\d{{1,2}}\s*日)?", re.IGNORECASE
)
_NUMBER = re.compile(r"[(\-–—$€£¥]*\d[\d,]*(?:\.\d+)?\)?%?\)?$|[—–-]+$|不适用$")
_DASH = re.compile(r"[—–-]+$")
_REFERENCE = re.compile(r"[一二三四五六七八九十]+[、.]\s*[(（]?[一二三四五六七八九十\d]+[)）]?$|附注\S*$|注\d+$")
_SCALE = re.compile(
    r"in\s+(?:U\.?S\.? )?(?:dollars? in )?(million|thousand|billion)s|\(?\b(million|thousand|billion)s\)?"
    r"|单位[:：]?\s*(?:人民币)?\s*(百万元|亿元|万元|千元|元)|人民币(百万元|亿元|万元|千元)",
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
_SHORT, _LONGEST_LABEL = 60, 200
_MOST_COLUMNS = 6
_KEY = re.compile(r"主要(?:会计数据|财务指标|指标)|(?:补充|监管|专项)(?:财务)?指标|研发投入|员工情况", re.IGNORECASE)

# Where a line may stand beside its own statement; a balance is never read from changes of the cash flow statement.
_ELSEWHERE = {"income": ("cash", "key"), "cash": ("income", "key"), "balance": ("key",)}

_TAX, _BEFORE_TAX, _AFTER_TAX = "IncomeTaxExpenseBenefit", "IncomeLossBeforeIncomeTaxes", "NetIncomeLoss"

_TOTALS = {
    "balance": ("Assets", "LiabilitiesCurrent"),
    "income": ("Revenues", "NetIncomeLoss"),
    "cash": ("NetCashProvidedByOperatingActivities", "CashPeriodIncrease"),
}

CONSOLIDATED, PARENT = "consolidated", "parent"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: its label, its figures (None where a cell is empty), and where it is in the text."""

    label: str
    figures: tuple[float | None, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StatementTable:
    """The rows under one heading: the statement, whose it is, its page by index, and the years of its columns."""

    statement: str
    basis: str
    page: int
    scale: float
    years: tuple[int | None, ...]  # None: a column of changes
    rows: tuple[Row, ...]
    likeness: float


@dataclass(frozen=True, slots=True)
class StatementFigure:
    """A value of a concept for a fiscal year, in units of the currency; `text[start:end]` is its row."""

    concept: str
    year: int
    value: float
    label: str
    basis: str
    document: str
    page: int
    start: int
    end: int


class FilingStatements:
    """The statements of one filing.

    Args:
        document: its id.
        table: its pages.
        filing: its cover, which says what fiscal year it is and in which unit it reports.
    """

    def __init__(self, document: str, table: PageTable, filing: Filing) -> None:
        self.document, self._pages, self._filing = document, table, filing
        read = [part for page in _statement_pages(table) for part in self._parts(page)]
        self.tables = sorted(read, key=lambda part: (-part.likeness, part.page))
        self._known: dict[tuple[str, int, str], StatementFigure | None] = {}

    def find(self, concept: Concept, year: int, basis: str = CONSOLIDATED) -> StatementFigure | None:
        """Return the value of a concept for a fiscal year, None where it is not stated clearly."""
        key = (concept.name, year, basis)
        if key not in self._known:
            found = self._find(concept, year, basis)
            self._known[key] = self._with_sign(found) if found and concept.name == _TAX else found
        return self._known[key]

    def _with_sign(self, tax: StatementFigure) -> StatementFigure:
        """Return a tax charge as an amount that lowers income, however the statement signs it."""
        before, after = (self.find(concepts()[name], tax.year, tax.basis) for name in (_BEFORE_TAX, _AFTER_TAX))
        if before and after:
            apart = [abs(before.value - value - after.value) for value in (tax.value, -tax.value)]
            charged = apart[0] <= apart[1]
        else:
            charged = tax.value >= 0 or "benefit" in tax.label.lower()
        if charged:
            return tax
        return replace(tax, value=-tax.value)

    def years(self) -> set[int]:
        """Return the fiscal years that columns are for."""
        return {year for table in self.tables for year in table.years if year}

    def figures(self, basis: str = CONSOLIDATED) -> Iterator[StatementFigure]:
        """Yield all values that the vocabulary knows."""
        for concept in concepts().values():
            for year in sorted(self.years()) if concept.rows else ():
                if figure := self.find(concept, year, basis):
                    yield figure

    def _find(self, concept: Concept, year: int, basis: str) -> StatementFigure | None:
        tables = [each for each in self.tables if each.basis == basis and year in each.years]
        for statement in (concept.statement, *_ELSEWHERE.get(concept.statement, ())):
            own = [each for each in tables if each.statement == statement]
            for table in [each for each in own if statement == "key" or self._belongs(each, own[0], year)]:
                if found := list(self._readings(concept, year, table)):
                    surest = min(rank for rank, _ in found)
                    figures = [figure for rank, figure in found if rank == surest]
                    one = len({abs(each.value) for each in figures}) == 1
                    return figures[0] if one or not concept.single else None
        return None

    def _belongs(self, table: StatementTable, best: StatementTable, year: int) -> bool:
        """Return whether a further table is of the same accounts: it shares a page or total with the best one."""
        if table.page == best.page:
            return True
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
            rank = concept.fits(row.label)
            value = _cell(row, table.years, year) if rank is not None else None
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
        lines = list(_lines(text, start, end))
        parts: list[tuple[str, str, list[tuple[str, int]]]] = [(page.statement, CONSOLIDATED, [])]
        for line, at in lines:
            head = _statement_head(line)
            if head and parts[-1][:2] != head and any(_split(each)[1] for each, _ in parts[-1][2]):
                parts.append((*head, []))
            elif head and not any(_split(each)[1] for each, _ in parts[-1][2]):
                parts[-1] = (*head, parts[-1][2])
            parts[-1][2].append((line, at))
        scale = 0.0
        for statement, basis, held in parts:
            scale = _scale_of(line for line, _ in held[:_HEAD_LINES]) or scale or float(self._filing.scale or 0)
            read = _Reader(self._filing).read(held)
            if read.rows and scale:
                likeness = round(page.likeness + _KNOWN_ROW * _known_rows(statement, read.rows), 4)
                yield StatementTable(statement, basis, page.index, scale, read.columns(), tuple(read.rows), likeness)


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
    for number, name in enumerate(_PRIMARY):
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


def _lines(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    at = start
    for line in text[start:end].split("\n"):
        yield line, at
        at += len(line) + 1


def _statement_head(line: str) -> tuple[str, str] | None:
    """Return the statement and the basis that a line opens: 母公司资产负债表."""
    if len(line) > _SHORT or _split(line)[1]:
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


def _split(line: str) -> tuple[str, tuple[float | None, ...]]:
    """Return the label and the figures at the end of a row; a dash is nothing, a percentage is left out.

    >>> _split("Total assets $ 36,500 $ (1,200)"), _split("存货 | 七、5 | 1,000.50 | ")
    (('Total assets', (36500.0, -1200.0)), ('存货', (1000.5, None)))
    """
    if "|" in line:
        label, *cells = (cell.strip() for cell in line.split("|"))
        kept = [cell for cell in cells if not _REFERENCE.match(cell)]
        figures = tuple(None if not cell else _figure(cell) for cell in kept if not cell or _NUMBER.match(cell))
        return label, figures if len(figures) == len(kept) and any(f is not None for f in figures) else ()
    plain = re.sub(r"\$\s*", " ", re.sub(r"\(\s+(?=\d)", "(", line))
    words = re.sub(r"(?<=\d)\s+%", "%", re.sub(r"(?<=\d)\s+\)", ")", plain)).split()
    place = len(words)
    while place and (_NUMBER.match(words[place - 1]) or words[place - 1] in {")", "%", "$"}):
        place -= 1
    figures = tuple(
        _figure(word) for word in words[place:] if word not in {")", "%", "$"} and not word.endswith(("%", "%)"))
    )
    if len(words) - place == 1 and _DASH.match(words[-1]):  # a label that goes on in the next line
        return " ".join(words), ()
    if place and _REFERENCE.match(words[place - 1]):
        place -= 1
    return " ".join(words[:place]), figures


def _figure(word: str) -> float | None:
    if _DASH.match(word):
        return 0.0
    digits = re.sub(r"[^\d.]", "", word)
    if not digits or digits.count(".") > 1:
        return None
    value = float(digits)
    return -value if word.startswith(("(", "-", "–", "—")) else value


def _known_rows(statement: str, rows: Sequence[Row]) -> int:
    """Return how many lines of a statement the vocabulary finds among rows."""
    own = [concept for concept in concepts().values() if concept.statement == statement]
    return min(_MOST_KNOWN, sum(any(concept.fits(row.label) is not None for row in rows) for concept in own))


def _cell(row: Row, years: Sequence[int | None], year: int) -> float | None:
    """Return the figure of a row for a year; None unless its figures fit the columns."""
    dated = [each for each in years if each]
    figures = row.figures
    if len(figures) == len(years):
        return figures[years.index(year)]
    if len(figures) == len(dated):
        return figures[dated.index(year)]
    if len(figures) > len(dated) == len(years) and len(figures) == len(dated) + 1:  # a note's number comes first
        return figures[1:][dated.index(year)]
    return None


class _Reader:
    """Collects rows and the years of columns from the lines of one part."""

    def __init__(self, filing: Filing) -> None:
        self._filing = filing
        self.rows: list[Row] = []
        self._years: list[int | None] = []
        self._run: list[int | None] = []
        self._label = ""

    def read(self, lines: Sequence[tuple[str, int]]) -> _Reader:
        """Read the lines."""
        for line, at in lines:
            self._add(line, at)
        return self

    def columns(self) -> tuple[int | None, ...]:
        """Return the fiscal years of the columns; by the filing's year, newest first, where heads do not say."""
        width = Counter(len(row.figures) for row in self.rows).most_common(1)[0][0]
        years, newest = self._years, self._filing.year
        dated = [year for year in years if year]
        if newest and (not dated or (len(dated) < 2 <= width)) and width <= _MOST_COLUMNS // 2:  # noqa: PLR2004
            return tuple(newest - back for back in range(width))
        if newest and dated and max(dated) == self._filing.own_year and newest not in dated:
            return tuple(year + newest - self._filing.own_year if year else None for year in years)
        return tuple(years)

    def _add(self, line: str, at: int) -> None:
        plain = _SPILT.sub(lambda match: str(int(match[1]) - 1), line)
        plain = _DAY.sub(" ", plain).strip()
        if not plain:
            return
        label, figures = _split(plain)
        found = list(_columns(plain, self._filing.year))
        real = [each for each in figures if each is not None and not (1990 <= abs(each) <= 2039 and each == int(each))]  # noqa: PLR2004
        if found and not real:
            self._run += found
            whole: list[int | None] = list(dict.fromkeys(each for each in self._run if each))
            if len(whole) >= 2 and not (len(self._years) >= 2 and len(self.rows) > 3 and len(set(found)) < 2):  # noqa: PLR2004
                self._years = whole if None not in self._run else list(self._run)
            self._label = label
            return
        if real:
            if not self._years and self._run:
                self._years = list(dict.fromkeys(self._run))
            self._run = []
            if self._label and (not label or label[:1].islower() or label[:1].isdigit()):
                label = f"{self._label} {label}".strip()
            if len(label) <= _LONGEST_LABEL:
                self.rows.append(Row(label, figures, at, at + len(line)))
            self._label = ""
        else:
            self._label = f"{self._label} {label}" if self._label and label[:1].islower() else label


def _columns(line: str, year: int) -> Iterator[int | None]:
    """Yield the years, or None for a change, that a head names: 期末余额 is that of the filing's year."""
    for match in _COLUMN.finditer(line):
        if match["year"]:
            yield int(match["year"])
        elif match["now"] and year:
            yield year
        elif match["before"] and year:
            yield year - 1
        elif match["change"]:
            yield None
