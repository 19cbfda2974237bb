"""Made-up annual reports with full statements: two issuers on one template, three years each, one figure restated."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from kg.filing import Filing
from tests.contracts.reference import MemoryStore
from tests.kg.query.filings.world import HEADING, PARAGRAPH, TABLE, Page, reading_of

if TYPE_CHECKING:
    from kg.store.port import Store

ISSUERS = (("Oakwell Pumps, Inc.", "OAKW.US", 4_000), ("Elmford Pumps, Inc.", "ELMF.US", 7_000))
YEARS = (2020, 2021, 2022)
RESTATED = ("Oakwell Pumps, Inc.", 2021)  # its inventories are other ones in the report of 2022


def amounts(base: int, year: int) -> dict[str, int]:
    """Return the true figures of a year in millions."""
    step = year - 2018
    revenue = base + 137 * step
    cost, debt, liabilities = revenue * 6 // 10, 300 + step, 900 + 11 * step
    return {
        "revenue": revenue,
        "cost": cost,
        "operating": revenue // 5,
        "pretax": revenue // 6,
        "tax": revenue // 30,
        "net": revenue // 6 - revenue // 30,
        "inventories": base // 8 + 7 * step,
        "current": base // 3 + 5 * step,
        "assets": base + 50 * step,
        "current_liabilities": base // 4 + 3 * step,
        "debt": debt,
        "liabilities": liabilities,
        "equity": base + 50 * step - liabilities,
        "operating_cash": revenue // 7,
        "spending": revenue // 20,
    }


def _rows(base: int, year: int, count: int, rows: list[tuple[str, str]], *, again: int = 0) -> str:
    columns = [amounts(base, year - back) for back in range(count)]
    lines = []
    for label, name in rows:
        values = [
            f"{each[name] + (again if name == 'inventories' and back == 1 else 0):,}"
            for back, each in enumerate(columns)
        ]
        lines.append(f"{label} $ {' $ '.join(values)}" if name == "revenue" else f"{label} {' '.join(values)}")
    return "\n".join([" ".join(str(year - back) for back in range(count)), *lines])


def statements_of(company: str, year: int, base: int) -> list[Page]:
    """Return the pages of a report; the parent company's own balance sheet comes after the group's."""
    again = 60 if (company, year - 1) == RESTATED else 0
    income = [("Net sales", "revenue"), ("Cost of sales", "cost"), ("Operating income", "operating")]
    income += [("Income before income taxes", "pretax"), ("Provision for income taxes", "tax"), ("Net income", "net")]
    balance = [("Inventories", "inventories"), ("Total current assets", "current"), ("Total assets", "assets")]
    balance += [("Total current liabilities", "current_liabilities"), ("Long-term debt", "debt")]
    balance += [("Total liabilities", "liabilities"), ("Total equity", "equity")]
    balance += [("Total liabilities and equity", "assets")]
    cash = [("Net income", "net"), ("Net cash provided by operating activities", "operating_cash")]
    cash += [("Purchases of property, plant and equipment", "spending"), ("Inventories", "debt")]
    unit = (PARAGRAPH, 0, "(in millions)")
    note = (PARAGRAPH, 0, "See accompanying notes to consolidated financial statements.")
    return [
        [(PARAGRAPH, 0, f"{company} annual report for {year}")],
        [(HEADING, 2, "Consolidated Statements of Income"), unit, (TABLE, 0, _rows(base, year, 3, income)), note],
        [
            (HEADING, 2, "Consolidated Balance Sheets"),
            unit,
            (TABLE, 0, _rows(base, year, 2, balance, again=again)),
            note,
        ],
        [(HEADING, 2, "Consolidated Statements of Cash Flows"), unit, (TABLE, 0, _rows(base, year, 3, cash)), note],
        [
            (HEADING, 2, "Balance Sheets of the parent company and guarantors"),
            unit,
            (TABLE, 0, _rows(base // 10, year, 2, balance)),
        ],
        [(HEADING, 2, "NOTE 9. Litigation"), (PARAGRAPH, 0, "A complaint about leaking pumps is before a court.")],
    ]


def filings(store: Store | None = None) -> Store:
    """Return the base, or a store filled with it."""
    store = store or MemoryStore()
    with store.writer() as writer:
        for company, code, base in ISSUERS:
            for year in YEARS:
                filing = Filing(company, "10-K", year, ends=date(year, 12, 31), codes=(code,), currency="USD")
                pages = statements_of(company, year, base)
                writer.write(reading_of(filing, pages, date(year + 1, 2, 7)))
    return store
