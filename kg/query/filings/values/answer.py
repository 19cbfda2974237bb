"""Answer a question about filings with a value: statements as facts first, pages of text second.

The company, the fiscal year and the basis must be certain; otherwise the question is refused with the reason, and the
best pages of the right company and year are shown. Every value names its row, page and filing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.filing import ANNUAL
from kg.messages.words import word
from kg.query.filings.pages import filing_pages
from kg.query.filings.task import read_task
from kg.query.filings.values.concepts import concepts
from kg.query.filings.values.formula import Line, MissingOperand, formula_of
from kg.query.filings.values.plan import (
    AVERAGE,
    CAGR,
    CHANGE,
    EXTREME,
    FELL,
    GROWTH,
    MOVED,
    POSITIVE,
    ROSE,
    NoPlan,
    read_plan,
)
from kg.query.plain import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

    from kg.messages.words import Lang
    from kg.query.filings.documents import FilingIndex, ListedFiling
    from kg.query.filings.pages import FilingPagesAnswer, FoundPage
    from kg.query.filings.task import FilingTask
    from kg.query.filings.values.concepts import Concept
    from kg.query.filings.values.formula import FormulaPart
    from kg.query.filings.values.plan import ValuePlan
    from kg.query.filings.values.statements import StatementFigure
    from kg.query.session import QuerySession

ANSWERED, REFUSED, NOT_FOUND = "answered", "refused", "not_found"
_ROUNDS = 3  # filings of a company that are read for one operand
_SURE = 0.8  # how surely the company must be named
_RESTATED = 0.03  # share by which the next filing's figure may differ unmentioned
_MOST_PAGES = 5
_CURRENCIES = frozenset({"USD", "CNY"})


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
class FilingValueAnswer(Answer):
    """The value that a question about filings asks for, with its formula and operands.

    `status` is answered, refused (`reason` says why) or not_found. `value` is in `unit`: a currency, %, points, times,
    days, or shares; `text` writes it in the unit of money that the question asks for, which is `scale`. `decision` is
    yes or no where the question asks that. `pages` are the best pages where no value answers; `trace` lists the steps.
    """

    question: str
    status: str
    reason: str
    text: str
    value: float | None = None
    unit: str = ""
    scale: float = 1.0
    decision: str = ""
    company: str = ""
    fiscal_years: tuple[int, ...] = ()
    operation: str = ""
    formula: str = ""
    operands: tuple[ValueOperand, ...] = ()
    pages: tuple[FoundPage, ...] = ()
    trace: tuple[str, ...] = ()


class _Refusal(LookupError):
    """The question is not answered with a value; its argument is the reason by key."""


def filing_value(session: QuerySession, question: str) -> FilingValueAnswer:
    """Return the value that answers a question about filings, or why there is none, with the best pages."""
    trace: list[str] = []
    task = read_task(question)
    years = tuple(sorted({*task.fiscal_years, *task.years}))
    trace.append(f"task: form {task.form or '-'}; years {list(years)}; indicators {list(task.indicators)}")
    try:
        return _answered(session, task, years, trace)
    except (_Refusal, NoPlan, MissingOperand, ZeroDivisionError) as error:
        reason = str(error) if isinstance(error, (_Refusal, NoPlan)) else "missing"
        trace.append(f"refused: {type(error).__name__.strip('_')} {error}")
    found = filing_pages(session, question, limit=3 * _MOST_PAGES)
    pages = _curated(session.filings, found, years, trace)
    status = REFUSED if session.filings and (pages or reason in {"company", "year"}) else NOT_FOUND
    text = word("filing.not_found" if status == NOT_FOUND else f"filing.refused_{reason}", session.lang)
    return FilingValueAnswer(question, status, reason, text, fiscal_years=years, pages=pages, trace=tuple(trace))


def _answered(session: QuerySession, task: FilingTask, years: Sequence[int], trace: list[str]) -> FilingValueAnswer:
    index = session.filings
    named = index.companies(task.question)
    sure = sorted(group for group, score in named.items() if score >= _SURE)
    if not sure or len(sure) != len(named):
        raise _Refusal("company")
    if not years:
        raise _Refusal("year")
    plan = read_plan(task, years, index.words_of(sure))
    trace.append(
        f"plan: {plan.operation} of {' | '.join(node.text() for _, node in plan.parts)}, FY{plan.first}–FY{plan.last}"
    )
    if len(sure) > 1:
        return _compared(session, task, plan, sure, trace)
    values = _CompanyValues(session, sure[0], plan, task, trace)
    return _composed(session, task, plan, values)


class _CompanyValues:
    """The figures of one company: from the filing of the asked year, then from those of the years around it."""

    def __init__(self, session: QuerySession, group: int, plan: ValuePlan, task: FilingTask, trace: list[str]) -> None:
        self._session, self._basis, self.trace = session, plan.basis, trace
        own = [each for each in session.filings.filings if each.group == group and each.filing.form in ANNUAL]
        if task.form and task.form not in ANNUAL:
            raise _Refusal("quarter")
        if any(each.filing.own_year for each in own):
            raise _Refusal("own_year")
        self._filings = _newest_of_years(own)
        if not self._filings:
            raise _Refusal("filing")
        self.last, self.name = plan.last, session.filings.name_of(group)
        self.currency = next((each.filing.currency for each in self._filings.values()), "")
        self.used: dict[tuple[str, int], ValueOperand] = {}
        self._known: dict[tuple[str, int], float | None] = {}

    def value(self, concept: Concept, year: int) -> float | None:
        """Return a figure, looked for once."""
        key = (concept.name, year)
        if key not in self._known:
            self._known[key] = self._searched(concept, year)
        return self._known[key]

    def _searched(self, concept: Concept, year: int) -> float | None:
        """Return a figure; rounds go from the filing of the last year to later ones, then to that of the year."""
        years = dict.fromkeys((self.last, year, year + 1, year + 2))
        rounds = [self._filings[each] for each in years if each in self._filings][:_ROUNDS]
        for number, listed in enumerate(rounds, start=1):
            figure = self._figure(listed, concept, year)
            self.trace.append(
                f"round {number}: {concept.name} FY{year} in {listed.title}: {figure.label if figure else 'not stated'}"
            )
            if figure:
                self.used[concept.name, year] = self._operand(listed, figure, concept)
                return figure.value
        return None

    def _figure(self, listed: ListedFiling, concept: Concept, year: int) -> StatementFigure | None:
        statements = self._session.statements(listed)
        return statements.find(concept, year, self._basis) if statements else None

    def _operand(self, listed: ListedFiling, figure: StatementFigure, concept: Concept) -> ValueOperand:
        table = self._session.page_table(listed.document)
        assert table is not None
        after = self._filings.get(listed.filing.year + 1)
        again = self._figure(after, concept, figure.year) if after else None
        changed = again and abs(again.value - figure.value) > _RESTATED * max(abs(again.value), abs(figure.value))
        return ValueOperand(
            concept=concept.name,
            label=figure.label,
            company=listed.filing.company,
            fiscal_year=figure.year,
            value=figure.value,
            unit=_unit_name(concept.unit, self.currency),
            basis=figure.basis,
            document=listed.document,
            title=listed.title,
            published_on=listed.published_on,
            page=table.numbers[figure.page],
            start=figure.start,
            end=figure.end,
            quote=table.text[figure.start : figure.end],
            restated=again.value if again and changed else None,
        )


def _newest_of_years(filings: Sequence[ListedFiling]) -> dict[int, ListedFiling]:
    """Return the annual filing of each fiscal year; of two, the one published last."""
    return {each.filing.year: each for each in sorted(filings, key=lambda row: row.published_on) if each.filing.year}


def _composed(session: QuerySession, task: FilingTask, plan: ValuePlan, values: _CompanyValues) -> FilingValueAnswer:
    """Compute and word the answer for one company."""
    if plan.operation == EXTREME:
        return _extreme(session, task, plan, values)
    name, node = plan.parts[0]
    first, last = (node.evaluate(values, year) for year in (plan.first, plan.last))
    value = _computed(plan, node, values)
    decision = _decided(plan.operation, first, last)
    lang = session.lang
    shown = _shown(value, plan, values.currency, lang)
    years = f"FY{plan.last}" if plan.first == plan.last else f"FY{plan.first}–FY{plan.last}"
    label = _label(name, node, lang)
    text = word(f"filing.value_{plan.operation}", lang, company=values.name, period=years, label=label, value=shown)
    if plan.operation == POSITIVE:
        text = word(f"filing.{decision}", lang) + text
    if plan.operation in {ROSE, FELL, MOVED}:
        moved = word("filing.rose" if last > first else "filing.fell" if last < first else "filing.same", lang)
        said = word(f"filing.{decision}", lang) if decision and plan.operation != MOVED else ""
        text = said + word(
            "filing.moved",
            lang,
            company=values.name,
            label=label,
            moved=moved,
            first=_shown(first * _hundred(plan), plan, values.currency, lang),
            last=shown,
            before=f"FY{plan.first}",
            period=f"FY{plan.last}",
        )
    return _answer(task, plan, values, text=text, value=value, decision=decision)


def _answer(
    task: FilingTask, plan: ValuePlan, values: _CompanyValues, *, text: str, value: float, decision: str = ""
) -> FilingValueAnswer:
    trace = values.trace
    formula = " | ".join(_spelled_out(node) for _, node in plan.parts)
    trace.append(f"formula: {formula} = {value:g}")
    return FilingValueAnswer(
        question=task.question,
        status=ANSWERED,
        reason="",
        text=text,
        value=value,
        unit=_unit_name(plan.unit, values.currency),
        scale=plan.scale or 1.0,
        decision=decision,
        company=values.name,
        fiscal_years=tuple(dict.fromkeys((plan.first, plan.last))),
        operation=plan.operation,
        formula=formula,
        operands=tuple(values.used.values()),
        trace=tuple(trace),
    )


def _computed(plan: ValuePlan, node: FormulaPart, values: _CompanyValues) -> float:
    first, last = node.evaluate(values, plan.first), node.evaluate(values, plan.last)
    if plan.operation in {GROWTH, CAGR} and (first <= 0 or (plan.operation == CAGR and last <= 0)):
        raise _Refusal("sign")
    if plan.operation == GROWTH:
        return 100 * (last / first - 1)
    if plan.operation == CAGR:
        return 100 * (float((last / first) ** (1 / (plan.last - plan.first))) - 1)
    if plan.operation == AVERAGE:
        every = [node.evaluate(values, year) for year in range(plan.first, plan.last + 1)]
        return _hundred(plan) * sum(every) / len(every)
    return _hundred(plan) * (last - first if plan.operation == CHANGE else last)


def _hundred(plan: ValuePlan) -> float:
    """Return the factor that makes a share a percentage; figures that are percentages already stay."""
    stated = isinstance(plan.parts[0][1], Line) and plan.parts[0][1].concept.rows
    return 100.0 if plan.unit in {"percent", "points"} and not stated else 1.0


def _decided(operation: str, first: float, last: float) -> str:
    holds: Mapping[str, Callable[[], bool]] = {
        ROSE: lambda: last > first,
        FELL: lambda: last < first,
        POSITIVE: lambda: last > 0,
        MOVED: lambda: last > first,
    }
    return ("yes" if holds[operation]() else "no") if operation in holds else ""


def _extreme(session: QuerySession, task: FilingTask, plan: ValuePlan, values: _CompanyValues) -> FilingValueAnswer:
    """Answer which of several lines is the greatest, or the smallest."""
    found = [(node.evaluate(values, plan.last), name, node) for name, node in plan.parts]
    least = any(
        each in task.question.lower() for each in ("lowest", "least cash", "smallest", "worst", "最低", "最小", "最少")
    )
    value, name, node = (min if least else max)(found, key=lambda each: each[0])
    shown = _shown(value, plan, values.currency, session.lang)
    label = _label(name, node, session.lang)
    text = word(
        "filing.value_value", session.lang, company=values.name, period=f"FY{plan.last}", label=label, value=shown
    )
    return _answer(task, plan, values, text=text, value=value, decision=name)


def _compared(
    session: QuerySession, task: FilingTask, plan: ValuePlan, groups: Sequence[int], trace: list[str]
) -> FilingValueAnswer:
    """Answer for several companies: the value of each, the greater first."""
    found = []
    for group in groups:
        values = _CompanyValues(session, group, plan, task, trace)
        found.append((_computed(plan, plan.parts[0][1], values), values))
    if len({values.currency for _, values in found}) > 1 and plan.unit == "amount":
        raise _Refusal("currency")
    found.sort(key=lambda row: -row[0])
    label = _label(*plan.parts[0], session.lang)
    lines = [
        word(
            "filing.value_value",
            session.lang,
            company=values.name,
            period=f"FY{plan.last}",
            label=label,
            value=_shown(value, plan, values.currency, session.lang),
        )
        for value, values in found
    ]
    best = found[0][1]
    best.used = {
        (f"{number}:{key[0]}", key[1]): each
        for number, (_, values) in enumerate(found)
        for key, each in values.used.items()
    }
    return _answer(task, plan, best, text="\n".join(lines), value=found[0][0], decision=best.name)


def _curated(
    index: FilingIndex, found: FilingPagesAnswer, years: Sequence[int], trace: list[str]
) -> tuple[FoundPage, ...]:
    """Keep the pages of the asked company and year: a like passage of another one is no evidence for this one."""
    named = set(found.companies)
    listed = {each.document: each for each in index.filings}
    kept = []
    for page in found.pages:
        filing = listed[page.document]
        spans = range(min(years), max(years) + 2) if years else ()
        other = "company" if named and index.name_of(filing.group) not in named else ""
        if (
            not other
            and years
            and filing.filing.year
            and filing.filing.year not in spans
            and filing.filing.own_year not in years
        ):
            other = "year"
        trace.append(f"page {page.page} of {page.title}: {f'dropped, another {other}' if other else 'kept'}")
        if not other:
            kept.append(page)
    return tuple(kept[:_MOST_PAGES])


def _spelled_out(node: FormulaPart) -> str:
    """Return a formula; of a ratio of the vocabulary its own."""
    if isinstance(node, Line) and not node.concept.rows:
        return formula_of(node.concept.name).text()
    return node.text()


def _unit_name(unit: str, currency: str) -> str:
    if unit == "amount":
        return currency
    return {"percent": "%", "share": f"{currency}/share", "count": "shares"}.get(unit, unit)


def _label(name: str, node: FormulaPart, lang: Lang) -> str:
    concept = concepts().get(name)
    if concept is None:
        return name if name != node.text() else node.text()
    return concept.label if lang == "zh" else spelled(name)


def spelled(name: str) -> str:
    """Return the name of a concept as words.

    >>> spelled("NetIncomeLoss"), spelled("EBITDAMargin")
    ('net income loss', 'EBITDA margin')
    """
    words = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z]+|[A-Z]+", name)
    return " ".join(each if each.isupper() and len(each) > 1 else each.lower() for each in words)


def _shown(value: float, plan: ValuePlan, currency: str, lang: Lang) -> str:
    """Write a value with its unit, money in the unit that the question asks for, else in one that is easy to read."""
    if plan.unit != "amount":
        return word(f"filing.unit_{plan.unit}", lang, value=f"{value:,.2f}")
    steps = (1e8, 1e4) if lang == "zh" else (1e6, 1e3)
    scale = plan.scale or next((step for step in steps if abs(value) >= step), 1.0)
    money = word(f"filing.money_{currency}", lang) if currency in _CURRENCIES else currency
    return word(f"filing.scale_{scale:.0f}", lang, value=f"{value / scale:,.2f}", money=money)
