"""Answer a question about filings with a value: statements as facts first, pages of text second.

The company, the fiscal year and the basis must be certain; otherwise the question is refused with the reason, and the
best pages of the right company and year are shown. Every value names its row, page and filing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kg.filing import ANNUAL
from kg.messages.words import word
from kg.query.filings.names import SURE
from kg.query.filings.pages import filing_pages
from kg.query.filings.task import read_task
from kg.query.filings.values.breakdown import label_words
from kg.query.filings.values.company import CompanyValues, ValueOperand, ValueRefusal, unit_name
from kg.query.filings.values.concepts import in_words
from kg.query.filings.values.formula import Line, MissingOperand, formula_of
from kg.query.filings.values.plan import (
    AVERAGE,
    CAGR,
    CHANGE,
    EXTREME,
    FELL,
    GROWTH,
    LIST,
    MOVED,
    PERCENT,
    POSITIVE,
    QUARTER,
    ROSE,
    VALUE,
    NoPlan,
    is_choice,
    is_member,
    read_plan,
    unread,
    wants_least,
)
from kg.query.plain import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kg.messages.words import Lang
    from kg.query.filings.documents import FilingIndex
    from kg.query.filings.pages import FilingPagesAnswer, FoundPage
    from kg.query.filings.task import FilingTask
    from kg.query.filings.values.company import PartAmount
    from kg.query.filings.values.formula import FormulaPart
    from kg.query.filings.values.plan import ValuePlan
    from kg.query.session import QuerySession

ANSWERED, REFUSED, NOT_FOUND = "answered", "refused", "not_found"
_MOST_PAGES = 5
_EVEN = 1e-4  # two values that differ by less are printed alike: neither is the greater one
_CURRENCIES = frozenset({"USD", "CNY"})


@dataclass(frozen=True, slots=True)
class ValueItem(Answer):
    """One of several values: of a line, a part of the company or a company, in a period."""

    label: str
    period: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class FilingValueAnswer(Answer):
    """The value that a question about filings asks for, with its formula and operands.

    `status` is answered, refused (`reason` says why) or not_found. `value` is in `unit`: a currency, %, points, times,
    days, or shares; `text` writes it in the unit of money that the question asks for, which is `scale`. `decision` is
    yes or no where the question asks that, or the name of what is greatest; `items` are the values where it asks for
    several. `pages` are the best pages where no value answers; `trace` lists the steps.
    """

    question: str
    status: str
    reason: str
    text: str
    value: float | None = None
    unit: str = ""
    scale: float = 1.0
    decision: str = ""
    items: tuple[ValueItem, ...] = ()
    company: str = ""
    fiscal_years: tuple[int, ...] = ()
    operation: str = ""
    formula: str = ""
    operands: tuple[ValueOperand, ...] = ()
    pages: tuple[FoundPage, ...] = ()
    trace: tuple[str, ...] = ()


def filing_value(session: QuerySession, question: str) -> FilingValueAnswer:
    """Return the value that answers a question about filings, or why there is none, with the best pages."""
    trace: list[str] = []
    task = read_task(question)
    years = tuple(sorted({*task.fiscal_years, *task.years}))
    trace.append(f"task: form {task.form or '-'}; years {list(years)}; indicators {list(task.indicators)}")
    try:
        return _answered(session, task, years, trace)
    except (ValueRefusal, NoPlan, MissingOperand, ZeroDivisionError) as error:
        reason = str(error) if isinstance(error, (ValueRefusal, NoPlan)) else "missing"
        trace.append(f"refused: {type(error).__name__.strip('_')} {error}")
    found = filing_pages(session, question, limit=3 * _MOST_PAGES)
    pages = _curated(session.filings, found, years, trace)
    status = REFUSED if session.filings and (pages or reason in {"company", "year"}) else NOT_FOUND
    text = word("filing.not_found" if status == NOT_FOUND else f"filing.refused_{reason}", session.lang)
    if reason == "company" and not session.filings.companies(question) and (name := unread(question)):
        text = word("filing.no_filings", session.lang, company=name)
    return FilingValueAnswer(question, status, reason, text, fiscal_years=years, pages=pages, trace=tuple(trace))


def _answered(session: QuerySession, task: FilingTask, years: Sequence[int], trace: list[str]) -> FilingValueAnswer:
    index = session.filings
    named = index.companies(task.question)
    sure = sorted(group for group, score in named.items() if score >= SURE)
    if not sure or len(sure) != len(named):
        raise ValueRefusal("company")
    if not years:
        raise ValueRefusal("year")
    plan = read_plan(task, years, index.words_of(sure), companies=len(sure))
    part = " ".join(plan.part.words) if plan.part else ""
    asked = f"{_period(plan, plan.first)}–{_period(plan, plan.last)} {part}".strip()
    trace.append(f"plan: {plan.operation} of {' | '.join(node.text() for _, node in plan.parts)}, {asked}")
    if task.form and task.form not in ANNUAL and not (plan.interim or plan.day):
        raise ValueRefusal("quarter")
    if len(sure) > 1:
        return _compared(session, task, plan, sure, trace)
    values = CompanyValues(session, sure[0], plan, trace)
    return _composed(session, task, values.plan, values)


def _composed(session: QuerySession, task: FilingTask, plan: ValuePlan, values: CompanyValues) -> FilingValueAnswer:
    """Compute and word the answer for one company."""
    if plan.interim and any(isinstance(node, Line) and "average(" in _spelled_out(node) for _, node in plan.parts):
        raise ValueRefusal("quarter")  # what turns over in a year has no value for a quarter
    if plan.part and not plan.part.words:
        return _by_part(session, task, plan, values)
    if plan.operation == LIST:
        return _listed(session, task, plan, values)
    if plan.operation == EXTREME:
        return _extreme(session, task, plan, values)
    name, node = plan.parts[0]
    first, last = (node.evaluate(values, year) for year in (plan.first, plan.last))
    value = _computed(plan, node, values)
    decision = _decided(plan.operation, first, last)
    lang = session.lang
    shown = _shown(value, plan, values.currency, lang)
    years = _period(plan, plan.last) if plan.first == plan.last else f"FY{plan.first}–{_period(plan, plan.last)}"
    label = _label(name, lang, values)
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
            before=_period(plan, plan.first),
            period=_period(plan, plan.last),
        )
    return _answer(task, plan, values, text=text, value=value, decision=decision)


def _answer(
    task: FilingTask,
    plan: ValuePlan,
    values: CompanyValues,
    *,
    text: str,
    value: float | None,
    decision: str = "",
) -> FilingValueAnswer:
    trace = values.trace
    formula = " | ".join(_spelled_out(node) for _, node in plan.parts)
    trace.append(f"formula: {formula} = {text if value is None else f'{value:g}'}")
    return FilingValueAnswer(
        question=task.question,
        status=ANSWERED,
        reason="",
        text=text,
        value=value,
        unit=unit_name(plan.unit, values.currency),
        scale=plan.scale or 1.0,
        decision=decision,
        company=values.name,
        fiscal_years=tuple(dict.fromkeys(plan.years)),
        operation=plan.operation,
        formula=formula,
        operands=tuple(values.used.values()),
        trace=tuple(trace),
    )


def _computed(plan: ValuePlan, node: FormulaPart, values: CompanyValues) -> float:
    first, last = node.evaluate(values, plan.first), node.evaluate(values, plan.last)
    if plan.operation in {GROWTH, CAGR} and (first <= 0 or (plan.operation == CAGR and last <= 0)):
        raise ValueRefusal("sign")
    if plan.operation == GROWTH:
        return 100 * (last / first - 1)
    if plan.operation == CAGR:
        return 100 * (float((last / first) ** (1 / (plan.last - plan.first))) - 1)
    if plan.part and plan.part.share:
        wholes = [_whole(node, values, year) for year in (plan.first, plan.last)]
        first, last = first / wholes[0], last / wholes[1]
    if plan.operation == AVERAGE:
        every = [node.evaluate(values, year) for year in plan.years]
        return _hundred(plan) * sum(every) / len(every)
    return _hundred(plan) * (last - first if plan.operation == CHANGE else last)


def _hundred(plan: ValuePlan) -> float:
    """Return the factor that makes a share a percentage; figures that are percentages already stay."""
    stated = (
        isinstance(plan.parts[0][1], Line) and plan.parts[0][1].concept.rows and not (plan.part and plan.part.share)
    )
    return 100.0 if plan.unit in {"percent", "points"} and not stated else 1.0


def _decided(operation: str, first: float, last: float) -> str:
    holds: Mapping[str, Callable[[], bool]] = {
        ROSE: lambda: last > first,
        FELL: lambda: last < first,
        POSITIVE: lambda: last > 0,
        MOVED: lambda: last > first,
    }
    return ("yes" if holds[operation]() else "no") if operation in holds else ""


def _whole(node: FormulaPart, values: CompanyValues, year: int) -> float:
    """Return the figure of the whole company that a part has a share of."""
    whole = values.whole(node.concept, year) if isinstance(node, Line) else None
    if not whole:
        raise ValueRefusal("part")
    return whole


def _listed(session: QuerySession, task: FilingTask, plan: ValuePlan, values: CompanyValues) -> FilingValueAnswer:
    """Answer with the value of each line in each year."""
    items, lines = [], []
    for name, node in plan.parts:
        one = replace(plan, parts=((name, node),), unit=_unit_of(node, plan))
        for year in plan.years:
            value = _computed(replace(one, operation=VALUE, years=(year,)), node, values)
            label, period = _label(name, session.lang, values), _period(plan, year)
            items.append(ValueItem(label, period, value, unit_name(one.unit, values.currency)))
            shown = _shown(value, one, values.currency, session.lang)
            fields = {"company": values.name, "period": period, "label": label, "value": shown}
            lines.append(word("filing.value_value", session.lang, **fields))
    return replace(_answer(task, plan, values, text="\n".join(lines), value=None), items=tuple(items))


def _unit_of(node: FormulaPart, plan: ValuePlan) -> str:
    return node.concept.unit if isinstance(node, Line) and len(plan.parts) > 1 else plan.unit


def _by_part(session: QuerySession, task: FilingTask, plan: ValuePlan, values: CompanyValues) -> FilingValueAnswer:
    """Answer for all segments, regions or products: each, or the one with the most or the highest growth."""
    node, part = plan.parts[0][1], plan.part
    growth = plan.operation in {GROWTH, CHANGE}
    if not isinstance(node, Line) or part is None or plan.operation not in {VALUE, EXTREME, LIST, GROWTH}:
        raise ValueRefusal("part")
    tables = [_amounts(table, growth=growth) for table in values.parts(node.concept, plan.last, part.kind)]
    if not tables or any({*table} != {*tables[0]} for table in tables[1:]):
        raise ValueRefusal("part")
    amounts = tables[0]
    unit = PERCENT if growth else plan.unit
    one = replace(plan, unit=unit, operation=VALUE)
    order = sorted(amounts.values(), key=lambda each: (-each[1], each[0]))
    if is_choice(task.question):
        order = order[::-1] if wants_least(task.question) else order
        order = order[:1]
    items = tuple(
        ValueItem(label, _period(plan, plan.last), value, unit_name(unit, values.currency)) for label, value in order
    )
    shown = [
        word(
            "filing.value_value",
            session.lang,
            company=values.name,
            period=each.period,
            label=f"{each.label} {_label(plan.parts[0][0], session.lang, values)}",
            value=_shown(each.value, one, values.currency, session.lang),
        )
        for each in items
    ]
    text = "\n".join(shown)
    if is_choice(task.question):
        return _answer(task, one, values, text=text, value=items[0].value, decision=items[0].label)
    return replace(_answer(task, one, values, text=text, value=None), items=items)


def _amounts(table: Sequence[PartAmount], *, growth: bool) -> dict[tuple[str, ...], tuple[str, float]]:
    """Return the amounts of parts by the words of their names, or how much they grew."""
    found = {}
    for each in table:
        if not is_member(each.label):
            continue
        if growth and (each.before is None or each.before <= 0):
            raise ValueRefusal("sign")
        amount = 100 * (each.value / each.before - 1) if growth and each.before else each.value
        found[label_words(each.label)] = (each.label, amount)
    if len(found) < 2:  # noqa: PLR2004 - one part is no breakdown
        raise ValueRefusal("part")
    return found


def _extreme(session: QuerySession, task: FilingTask, plan: ValuePlan, values: CompanyValues) -> FilingValueAnswer:
    """Answer which of several lines is the greatest, or the smallest."""
    found = [(node.evaluate(values, plan.last), name) for name, node in plan.parts]
    value, name = (min if wants_least(task.question) else max)(found, key=lambda each: each[0])
    shown = _shown(value, plan, values.currency, session.lang)
    label, period = _label(name, session.lang, values), _period(plan, plan.last)
    text = word("filing.value_value", session.lang, company=values.name, period=period, label=label, value=shown)
    return _answer(task, plan, values, text=text, value=value, decision=name)


def _compared(
    session: QuerySession, task: FilingTask, plan: ValuePlan, groups: Sequence[int], trace: list[str]
) -> FilingValueAnswer:
    """Answer for several companies: the value of each, the greater first."""
    found = []
    for group in groups:
        values = CompanyValues(session, group, plan, trace)
        found.append((_computed(plan, plan.parts[0][1], values), values))
    if plan.part or len(plan.parts) > 1 or plan.operation == LIST:
        raise ValueRefusal("part")
    if len({values.currency for _, values in found}) > 1 and plan.unit == "amount":
        raise ValueRefusal("currency")
    found.sort(key=lambda row: row[0], reverse=not wants_least(task.question))
    label = _label(plan.parts[0][0], session.lang, found[0][1])
    lines = [
        word(
            "filing.value_value",
            session.lang,
            company=values.name,
            period=_period(plan, plan.last),
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
    first, second = found[0][0], found[1][0]
    even = math.isclose(first, second, rel_tol=_EVEN)
    return _answer(task, plan, best, text="\n".join(lines), value=first, decision="" if even else best.name)


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


def _period(plan: ValuePlan, year: int) -> str:
    if plan.interim is None or not plan.interim.months:
        return f"FY{year}"
    quarter = f" Q{plan.interim.quarter}" if plan.interim.quarter else ""
    return f"FY{year}{quarter}" if plan.interim.months == QUARTER else f"FY{year} {plan.interim.months}M"


def _label(name: str, lang: Lang, values: CompanyValues) -> str:
    label = in_words(name, lang)
    part = (
        next((each.label for each in values.used.values()), "") if values.plan.part and values.plan.part.words else ""
    )
    return f"{part} {label}".strip()


def _shown(value: float, plan: ValuePlan, currency: str, lang: Lang) -> str:
    """Write a value with its unit, money in the unit that the question asks for, else in one that is easy to read."""
    if plan.unit != "amount":
        return word(f"filing.unit_{plan.unit}", lang, value=f"{value:,.2f}")
    steps = (1e8, 1e4) if lang == "zh" else (1e6, 1e3)
    scale = plan.scale or next((step for step in steps if abs(value) >= step), 1.0)
    money = word(f"filing.money_{currency}", lang) if currency in _CURRENCIES else currency
    return word(f"filing.scale_{scale:.0f}", lang, value=f"{value / scale:,.2f}", money=money)
