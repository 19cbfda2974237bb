"""The figures of one company, looked for in its filings: of a year or a part of it, of the whole or a part of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kg.filing import ANNUAL, QUARTERLY, RELEASE
from kg.query.filings.values.breakdown import label_words
from kg.query.filings.values.plan import Interim, is_by
from kg.query.plain import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from kg.query.filings.documents import ListedFiling
    from kg.query.filings.values.breakdown import Breakdown
    from kg.query.filings.values.concepts import Concept
    from kg.query.filings.values.plan import ValuePlan
    from kg.query.filings.values.rows import Row
    from kg.query.filings.values.statements import StatementFigure
    from kg.query.session import QuerySession

_ROUNDS = 3  # filings of a company that are read for one operand
_RESTATED = 0.03  # share by which the next filing's figure may differ unmentioned
_SAME = 0.001  # share by which two tables of one filing may differ
_NEAR_DAYS = 7


@dataclass(frozen=True, slots=True)
class ValueOperand(Answer):
    """A figure of a filing that a value is computed from: `quote` is its row, `restated` the next filing's figure."""

    concept: str
    label: str
    company: str
    fiscal_year: int
    value: float
    unit: str
    basis: str
    document: str
    title: str
    published_on: date
    page: int | None
    start: int
    end: int
    quote: str
    restated: float | None = None


@dataclass(frozen=True, slots=True)
class PartAmount:
    """The amount of a part of the company in a year, and in the year before where the table has it."""

    label: str
    value: float
    before: float | None


class ValueRefusal(LookupError):
    """The question is not answered with a value; its argument is the reason by key."""


class CompanyValues:
    """The figures of one company: from the filing of the asked year, then from those of the years around it."""

    def __init__(self, session: QuerySession, group: int, plan: ValuePlan, trace: list[str]) -> None:
        self._session, self.trace = session, trace
        own = [each for each in session.filings.filings if each.group == group]
        if any(each.filing.own_year for each in own):
            raise ValueRefusal("own_year")
        self._annual = _newest_of_years([each for each in own if each.filing.form in ANNUAL])
        self._reports = _interim_reports(own, plan)
        if plan.day:
            plan = self._on(plan, plan.day)
        if not (self._reports if plan.interim else self._annual):
            raise ValueRefusal("filing")
        self.plan, self.last, self.name = plan, plan.last, session.filings.name_of(group)
        self.currency = next((each.filing.currency for each in own if each.filing.currency), "")
        self.used: dict[tuple[str, int], ValueOperand] = {}
        self._known: dict[tuple[str, int], float | None] = {}

    def _on(self, plan: ValuePlan, day: date) -> ValuePlan:
        """Return the plan with the fiscal year that ends on the asked day, or with the report of that day."""
        near = [] if plan.interim else [each for each in self._annual.values() if _is_near(each, day, any_year=True)]
        near.sort(key=lambda each: not _is_near(each, day))
        interim = plan.interim if near else plan.interim or Interim(0, 0)
        listed = next(iter(near or self._reports), None)
        if listed is None or listed.filing.ends is None:
            raise ValueRefusal("filing")
        shift = listed.filing.year - listed.filing.ends.year
        return replace(plan, interim=interim, years=tuple(year + shift for year in plan.years))

    def value(self, concept: Concept, year: int) -> float | None:
        """Return a figure, looked for once."""
        key = (concept.name, year)
        if key not in self._known:
            self._known[key] = self._searched(concept, year)
        return self._known[key]

    def whole(self, concept: Concept, year: int) -> float | None:
        """Return the figure of the whole company."""
        for listed in self._rounds(year):
            if figure := self._figure(listed, concept, year):
                self.used[f"{concept.name}*", year] = self._operand(listed, figure, concept)
                return figure.value
        return None

    def parts(self, concept: Concept, year: int, kind: str) -> Iterator[list[PartAmount]]:
        """Yield each breakdown of a line of a kind, with amounts of the year and of the year before."""
        for listed in self._rounds(year):
            whole, before = (self._figure(listed, concept, each) for each in (year, year - 1))
            if whole is None:
                continue
            found = self._breakdowns(listed, whole)
            for each, column in found:
                if not is_by(each.about, kind):
                    continue
                earlier = each.column(before.value) if before else None
                amounts = [
                    PartAmount(
                        row.label,
                        (row.figures[column] or 0.0) * each.unit,
                        None if earlier is None else (row.figures[earlier] or 0.0) * each.unit,
                    )
                    for row in each.rows
                ]
                for row, part in zip(each.rows, amounts, strict=True):
                    own = _of_row(whole, row, each.page, part.value)
                    self.used[f"{row.start}", year] = self._quoted(listed, concept, own)
                yield amounts
            if found:
                return

    def _rounds(self, year: int) -> list[ListedFiling]:
        if self.plan.interim:
            return [each for each in self._reports if each.filing.year in {self.last, year}][:_ROUNDS]
        years = dict.fromkeys((self.last, year, year + 1, year + 2))
        return [self._annual[each] for each in years if each in self._annual][:_ROUNDS]

    def _searched(self, concept: Concept, year: int) -> float | None:
        """Return a figure; rounds go from the filing of the last year to later ones, then to that of the year."""
        for number, listed in enumerate(self._rounds(year), start=1):
            figure = self._figure(listed, concept, year)
            self.trace.append(
                f"round {number}: {concept.name} FY{year} in {listed.title}: {figure.label if figure else 'not stated'}"
            )
            if figure and self.plan.part:
                found = self._of_part(listed, figure, concept)
                if found is not None:
                    return found
            elif figure:
                self.used[concept.name, year] = self._operand(listed, figure, concept)
                return figure.value
        if self.plan.part and not concept.formula:
            raise ValueRefusal("part")
        return None

    def _of_part(self, listed: ListedFiling, whole: StatementFigure, concept: Concept) -> float | None:
        """Return the amount of a part of the company; tables of one filing must agree."""
        assert self.plan.part
        own = set(self._session.filings.words_of([listed.group]))
        asked = self.plan.part.words
        found: dict[float, tuple[Row, Breakdown]] = {}
        for each, column in self._breakdowns(listed, whole):
            for row in each.rows:
                if _same(label_words(row.label), label_words(" ".join(asked)), own):
                    found.setdefault((row.figures[column] or 0.0) * each.unit, (row, each))
        if not found:
            return None
        if max(found) - min(found) > _SAME * abs(max(found, key=abs)):
            raise ValueRefusal("part")
        value, (row, each) = next(iter(found.items()))
        self.trace.append(f"part: {row.label} of {listed.title}, with which {each.total.label} adds up")
        self.used[concept.name, whole.year] = self._quoted(listed, concept, _of_row(whole, row, each.page, value))
        return value

    def _breakdowns(self, listed: ListedFiling, whole: StatementFigure) -> list[tuple[Breakdown, int]]:
        statements = self._session.statements(listed)
        assert statements is not None
        found = ((each, each.column(whole.value)) for each in statements.breakdowns.of(whole.value))
        return [(each, column) for each, column in found if column is not None]

    def _figure(self, listed: ListedFiling, concept: Concept, year: int) -> StatementFigure | None:
        statements = self._session.statements(listed)
        months = self.plan.interim.months if self.plan.interim else 0
        return statements.find(concept, year, self.plan.basis, months=months) if statements else None

    def _operand(self, listed: ListedFiling, figure: StatementFigure, concept: Concept) -> ValueOperand:
        after = self._annual.get(listed.filing.year + 1) if not self.plan.interim else None
        again = self._figure(after, concept, figure.year) if after else None
        changed = again and abs(again.value - figure.value) > _RESTATED * max(abs(again.value), abs(figure.value))
        return replace(self._quoted(listed, concept, figure), restated=again.value if again and changed else None)

    def _quoted(self, listed: ListedFiling, concept: Concept, figure: StatementFigure) -> ValueOperand:
        table = self._session.page_table(listed.document)
        assert table is not None
        return ValueOperand(
            concept=concept.name,
            label=figure.label,
            company=listed.filing.company,
            fiscal_year=figure.year,
            value=figure.value,
            unit=unit_name(concept.unit, self.currency),
            basis=figure.basis,
            document=listed.document,
            title=listed.title,
            published_on=listed.published_on,
            page=table.numbers[figure.page],
            start=figure.start,
            end=figure.end,
            quote=table.text[figure.start : figure.end],
        )


def _of_row(whole: StatementFigure, row: Row, page: int, value: float) -> StatementFigure:
    """Return the figure of a part, by the figure of the whole."""
    return replace(whole, value=value, label=row.label, page=page, start=row.start, end=row.end)


def _same(label: Sequence[str], asked: Sequence[str], own: set[str]) -> bool:
    """Return whether a part's name is the asked one; words of the company's name say nothing."""
    one, other = ([word for word in words if word not in own] for words in (label, asked))
    return bool(one) and one == other


def _newest_of_years(filings: Sequence[ListedFiling]) -> dict[int, ListedFiling]:
    """Return the annual filing of each fiscal year; of two, the one published last."""
    return {each.filing.year: each for each in sorted(filings, key=lambda row: row.published_on) if each.filing.year}


def _is_near(listed: ListedFiling, day: date, *, any_year: bool = False) -> bool:
    """Return whether a filing's period ends within a week of a day, in its year or in any."""
    ends = listed.filing.ends
    if ends is None:
        return False
    apart = abs((ends - day).days)
    return min(apart % 365.25, -apart % 365.25) <= _NEAR_DAYS if any_year else apart <= _NEAR_DAYS  # days of a year


def _interim_reports(filings: Sequence[ListedFiling], plan: ValuePlan) -> list[ListedFiling]:
    """Return the reports for the part of a year or the day, quarterly reports before releases."""
    reports = [each for each in filings if each.filing.form in QUARTERLY or each.filing.form == RELEASE]
    if plan.day:
        fitting = [each for each in reports if _is_near(each, plan.day)]
    else:
        fitting = [each for each in reports if plan.interim and each.filing.quarter == plan.interim.quarter]
    return sorted(fitting, key=lambda each: (each.filing.form == RELEASE, each.document))


def unit_name(unit: str, currency: str) -> str:
    """Return how the unit of a line is written."""
    if unit == "amount":
        return currency
    return {"percent": "%", "share": f"{currency}/share", "count": "shares"}.get(unit, unit)
