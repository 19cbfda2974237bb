from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest

from extraction.pipeline import Extractor
from kg.filing import Filing
from kg.period import year
from tests.kg.query.filings.values.world import amounts, statements_of
from tests.kg.query.filings.world import HEADING, PARAGRAPH, TABLE, Page, reading_of

if TYPE_CHECKING:
    from kg.model import Document

READ_AT = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = {"营业收入": "revenue", "总资产": "assets", "存货": "inventories", "资本开支": "spending", "所得税费用": "tax"}


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor.default(ner=False, edge_model="off", filing_pages=0)


def report(code: str) -> Document:
    filing = Filing("Nike, Inc.", "10-K", 2022, ends=date(2022, 12, 31), codes=(code,), currency="USD", scale=10**6)
    return reading_of(filing, statements_of("Nike, Inc.", 2022, 4_000), date(2023, 2, 7)).document


def test_a_statement_becomes_measures_under_the_names_of_notes(extractor: Extractor):
    document = report("NKE.US")
    facts = extractor.extract(document, recorded_at=READ_AT).facts
    for indicator, name in NAMES.items():
        for number in (2022, 2021):
            found = [fact for fact in facts if fact.object == f"indicator:{indicator}" and fact.valid == year(number)]
            assert [fact.value.number for fact in found if fact.value] == [amounts(4_000, number)[name] * 1e6]
            assert {fact.subject for fact in found} == {"sec:NKE.US"}
            row = found[0].evidence[0]
            assert document.text[row.start : row.end] == row.quote
            assert row.published_on == date(2023, 2, 7)


def test_revenue_by_segment_and_region_becomes_measures_of_parts(extractor: Extractor):
    filing = Filing("Nike, Inc.", "10-K", 2022, ends=date(2022, 12, 31), codes=("NKE.US",), currency="USD", scale=10**6)
    whole = amounts(4_000, 2022)["revenue"]
    rows = f"2022\nNet sales: Gauges {whole - 900:,}\nValves (a) 900\nCorporate 0\nTotal net sales {whole:,}"
    again = f"2022\nUnited States {whole - 700:,}\nOther countries 700\nTotal {whole:,}"
    other = f"2022\nValves {whole - 10:,}\nPipes 10\nTotal {whole:,}"
    tables = [
        [(HEADING, 2, "NOTE 3. Segments"), (PARAGRAPH, 0, "By segment:"), (TABLE, 0, each)] for each in (rows, again)
    ]
    pages = statements_of("Nike, Inc.", 2022, 4_000)

    def parts(more: list[Page]) -> dict[str, float]:
        document = reading_of(filing, [*pages, *more], date(2023, 2, 7)).document
        facts = extractor.extract(document, recorded_at=READ_AT).facts
        found = [fact for fact in facts if fact.qualifiers]
        assert {fact.object for fact in found} <= {"indicator:营业收入"}
        return {fact.qualifier("scope") or "": fact.value.number / 1e6 for fact in found if fact.value}

    assert parts(tables) == {"Gauges": whole - 900, "Valves": 900, "United States": whole - 700}
    differing = parts([*tables, [(HEADING, 2, "NOTE 4. Products"), (TABLE, 0, other)]])
    assert differing == {"Gauges": whole - 900, "United States": whole - 700, "Pipes": 10}


def test_figures_of_an_issuer_that_is_not_listed_are_left_out(extractor: Extractor):
    document = replace(report("ZZZZ.US"), publisher="Elmford Pumps, Inc.", title="Elmford Pumps, Inc. 10-K FY2022")
    assert extractor.extract(document, recorded_at=READ_AT).facts == ()
