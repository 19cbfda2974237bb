"""Read the rows of a statement and which fiscal year each of its columns is for."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from kg.query.filings.values.rows import Row, split_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kg.filing import Filing

_COLUMN = re.compile(
    r"(?<![\d,.$])(?P<year>(?:19|20)\d\d)(?!\d|[,.]\d)"
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
_CURRENCY_HEADS = re.compile(
    r"(?:(?:RMB|US\$|HK\$|NT\$|EUR|USD|CNY|[€$£¥])\s*+(?:\(Note[^)]*\)\s*+)?){2,}+$", re.IGNORECASE
)
_CURRENCY = re.compile(r"RMB|US\$|HK\$|NT\$|EUR|USD|CNY|[€$£¥]", re.IGNORECASE)
_CHANGED = re.compile(r"\s*(?:上升|下降|增加|减少|提高|降低|持平)[\d.]*\s*个?(?:百分点|基点)?\s*$")
# A head that says whose each column is: 合并 合并 公司 公司, 本集团 本银行.
_WHOSE = re.compile(
    r"(?P<group>合并|本集团|集团|\bgroup\b|\bconsolidated\b)"
    r"|(?P<parent>母公司|本公司|公司|本银行|本行|银行|\bparent(?: company)?\b|\bcompany\b|\bbank\b)",
    re.IGNORECASE,
)
_NO_COLUMN = re.compile(r"项\s*目|附注|资\s*产|负\s*债|\bnotes?\b|\bthe\b|[\s()（）|/]", re.IGNORECASE)
_LESS = re.compile(r"allowance|reserve|less\b|net of|authorized|issued|par value|depreciation", re.IGNORECASE)
_MOST_NOTES = 60  # a note's number is no higher
_LONGEST_LABEL, _MOST_COLUMNS = 200, 6


def cell_of(row: Row, years: Sequence[int | None], year: int, *, whole: bool) -> float | None:
    """Return the figure of a row for a year; None unless its figures fit the columns, `whole` all of them."""
    dated = [each for each in years if each]
    figures = row.figures
    if len(figures) == len(years):
        return figures[years.index(year)]
    if whole:
        return None
    if len(figures) == len(dated):
        return figures[dated.index(year)]
    first = figures[0] if figures else None
    before = first is not None and (
        (0 < first < _MOST_NOTES and first == int(first)) or _LESS.search(row.label)
    )  # a note's number, an allowance
    if len(figures) == len(dated) + 1 and len(dated) == len(years) and before:
        return figures[1:][dated.index(year)]
    return None


class StatementRows:
    """Collects rows and the years of columns from the lines of one part."""

    def __init__(self, filing: Filing, *, percent: bool = False) -> None:
        self._filing, self._percent = filing, percent
        self._currencies = 0
        self._whose: list[bool] = []  # whether each column is the group's
        self.rows: list[Row] = []
        self._years: list[int | None] = []
        self._run: list[int | None] = []
        self._label = self._head = ""

    def read(self, lines: Sequence[tuple[str, int]]) -> StatementRows:
        """Read the lines."""
        for line, at in lines:
            self._add(line, at)
        return self

    @property
    def has_parent(self) -> bool:
        """Whether columns of the parent company stand beside those of the group."""
        return len(set(self._whose)) > 1

    def columns(self, *, parent: bool = False) -> tuple[int | None, ...]:
        """Return the fiscal years of the columns; by the filing's year, newest first, where heads do not say.

        Where columns of the parent company stand beside those of the group, those of the other have no year.
        """
        width = Counter(len(row.figures) for row in self.rows).most_common(1)[0][0]
        years, newest = self._years, self._filing.year
        if self.has_parent:
            return self._of_one(width, parent=parent)
        dated = [year for year in years if year]
        if newest and (not dated or (len(dated) < 2 <= width)) and width <= _MOST_COLUMNS // 2:  # noqa: PLR2004
            return tuple(newest - back for back in range(width))
        if newest and dated and max(dated) == self._filing.own_year and newest not in dated:
            return tuple(year + newest - self._filing.own_year if year else None for year in years)
        return (*years, None) if self._currencies == len(years) + 1 else tuple(years)  # also in another currency

    def _of_one(self, width: int, *, parent: bool) -> tuple[int | None, ...]:
        """Return the years of the group's columns or of the parent's; none where the heads do not fit the rows."""
        years, whose = list(dict.fromkeys(self._years)), self._whose
        if not years or width % len(years) or width % len(whose):
            return ()
        spans = len(whose) == width and whose[0] != whose[1]  # 2022: 合并 公司, 2021: 合并 公司
        dated = [each for each in years for _ in range(width // len(years))] if spans else years * (width // len(years))
        owned = [each for each in whose for _ in range(width // len(whose))]
        return tuple(year if own is not parent else None for year, own in zip(dated, owned, strict=True))

    def _add(self, line: str, at: int) -> None:
        plain = _SPILT.sub(lambda match: str(int(match[1]) - 1), line)
        plain = _DAY.sub(" ", plain).strip()
        if not plain:
            return
        whose = [match.lastgroup == "group" for match in _WHOSE.finditer(plain)]
        if len(whose) > 1 and not _NO_COLUMN.sub("", _WHOSE.sub("", plain)):
            self._whose = whose
            return
        if _CURRENCY_HEADS.match(plain):
            self._currencies = len(_CURRENCY.findall(plain))
            return
        label, figures = split_row(_CHANGED.sub("", plain) if self._percent else plain, percent=self._percent)
        found = list(_columns(plain, self._filing.year))
        real = [each for each in figures if each is not None and not (1990 <= abs(each) <= 2039 and each == int(each))]  # noqa: PLR2004
        if found and not real and not plain.endswith("."):  # a sentence is no head
            self._head_of(found)
            self._label = label
            return
        if real:
            if not self._years and self._run:
                self._years = list(dict.fromkeys(self._run))
            self._run = []
            if self._label and (not label or label[:1].islower() or label[:1].isdigit()):
                label = f"{self._label} {label}".strip()
            if len(label) <= _LONGEST_LABEL:
                self.rows.append(Row(label, figures, at, at + len(line), self._head))
            self._label = ""
        else:
            self._label = f"{self._label} {label}" if self._label and label[:1].islower() else label
            self._head = self._label

    def _head_of(self, found: Sequence[int | None]) -> None:
        """Take the years of a head; heads of several lines are one."""
        if len({each for each in found if each}) > 1:  # a head of its own
            self._run = []
        self._run += found
        whole: list[int | None] = list(dict.fromkeys(each for each in self._run if each))
        if len(whole) > 1 and len(self._run) == len(whole) + 1 and self._run[-1] == self._run[-2]:
            whole.append(None)  # the last year again, in another currency
        if len(whole) >= 2 and not (len(self._years) >= 2 and len(self.rows) > 3 and len(set(found)) < 2):  # noqa: PLR2004
            self._years = whole if None not in self._run else list(self._run)


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
