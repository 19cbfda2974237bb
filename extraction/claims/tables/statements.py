"""Read the statements of a filing as measured facts of its issuer: one for each line that notes know by a name.

The indicator is that of the notes (资产总计 is 总资产), so that a forecast of a note and the reported value meet.
Only consolidated figures are read, and revenue by segment, region and product; the row is the quote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from extraction.claims.tables.labels import as_sentence
from extraction.quantities.units import CURRENCIES
from extraction.sentence import Claim, EntityMention
from kg.filing import ANNUAL
from kg.model import Kind, Modality, Polarity, Value
from kg.period import Precision, months, year
from kg.query.filings.page_table import PageTable
from kg.query.filings.values.concepts import concepts
from kg.query.filings.values.statements import FilingStatements
from kg.text.table_rows import PlacedRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.names.gazetteer import Lexicon
    from extraction.sentence import AnnotatedDocument, ClaimRow
    from kg.filing import Filing
    from kg.period import Period
    from kg.query.filings.values.statements import StatementFigure

_BROKEN_DOWN = "Revenues"
_PART_CONFIDENCE = 0.85
_CONFIDENCE = 0.95  # the next filing states the same figure in 98 of 100 cases (docs/filings.md)
_SPILL, _DECEMBER = 7, 12
_SCALES = {1e3: "千", 1e4: "万", 1e6: "百万", 1e8: "亿", 1e9: "十亿"}
_UNITS = {"percent": "%", "count": "", "share": "元/股"}


class StatementReader:
    """Reads annual reports; the lexicon names the indicators."""

    def __init__(self, lexicon: Lexicon) -> None:
        terms = ((concept.name, lexicon.terms.get(concept.label)) for concept in concepts().values() if concept.rows)
        self._terms = {name: term for name, term in terms if term and term.kind == Kind.INDICATOR}

    def read(self, document: AnnotatedDocument) -> Iterator[ClaimRow]:
        """Yield the figures of an annual report for all years of its columns; none without a listed issuer."""
        issuer = document.company
        if document.filing is None or issuer is None:
            return
        filing, source = document.filing
        if filing.form not in ANNUAL or not filing.year:
            return
        statements = FilingStatements(source.id, PageTable.of(source), filing)
        for figure in (*statements.figures(), *statements.shares_of(_BROKEN_DOWN, filing.year)):
            if claim := self._claim(filing, issuer, figure):
                yield claim, as_sentence(source, PlacedRow(figure.start, figure.end, ()))

    def _claim(self, filing: Filing, issuer: EntityMention, figure: StatementFigure) -> Claim | None:
        """Return a figure as a claim, None where notes have no name for its line or its currency is not known."""
        term, concept = self._terms.get(figure.concept), concepts()[figure.concept]
        money = concept.unit in {"amount", "share"}
        if term is None or (concept.unit == "amount" and filing.currency not in CURRENCIES):
            return None
        unit = _UNITS.get(concept.unit, "")
        if money and filing.currency in CURRENCIES:
            unit = CURRENCIES[filing.currency] + ("/股" if concept.unit == "share" else "")
        # Two parts of one line are two matters, as two products are.
        part = (("product", figure.part), ("scope", figure.part)) if figure.part else ()
        return Claim(
            relation="reports",
            subject=issuer,
            object=EntityMention(term.entity, Kind.INDICATOR, term.name),
            start=0,
            end=figure.end - figure.start,
            pattern="statement",
            value=Value(
                round(figure.value, 4),
                unit,
                _SCALES.get(float(filing.scale), "") if concept.unit == "amount" else "",
                basis=term.basis,
            ),
            valid=fiscal_year(filing, figure.year),
            qualifiers=part,
            confidence=_PART_CONFIDENCE if figure.part else _CONFIDENCE,
            polarity=Polarity.POSITIVE,
            modality=Modality.ASSERTED,
        )


def fiscal_year(filing: Filing, number: int) -> Period:
    """Return the fiscal year that ends in a year, in whole months; a calendar year where it is one."""
    month = filing.ends.month if filing.ends else _DECEMBER
    if filing.ends and filing.ends.day <= _SPILL:
        month = month - 1 or _DECEMBER
    return year(number) if month == _DECEMBER else months(number - 1, month + 1, 12, precision=Precision.RANGE)
