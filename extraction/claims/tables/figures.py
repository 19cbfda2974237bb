"""Extract measured facts from tables: one per cell, described by its row and column, with the row as its quote.

Three layouts: indicators by periods (营业收入 | 2023A | 2024E), names by indicators (公司 | 市占率 | PE), and names by
periods under an indicator in the corner or title (渗透率). A cell without a known unit is a Problem.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from msgspec import structs

from extraction.certainty.policy import cell_modality
from extraction.claims.measures.measurement import DOUBTFUL
from extraction.claims.measures.words import (
    LONGEST_SCOPE,
    MEASURE_HEADS,
    SHARES_OF_MARKET,
    home_currency,
    unit_kind,
)
from extraction.claims.tables.cells import filled_down, read_amount, without_notes
from extraction.claims.tables.consistency import consistent
from extraction.claims.tables.labels import (
    YEAR,
    LabelReader,
    RowClaim,
    TableLabel,
    as_sentence,
    caption_label,
    captions_of,
    spread_indicators,
)
from extraction.dating.policy import column_period
from extraction.quantities.label_units import AmountUnit, read_unit
from extraction.sentence import CONTEXT, Claim
from extraction.text.lexicon import phrases, table
from kg.model import Kind, Problem
from kg.period import Precision
from kg.text.table_rows import placed_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from extraction.claims.measures.measurement import Measurement
    from extraction.claims.measures.subject import SubjectFinder
    from extraction.claims.tables.cells import CellAmount
    from extraction.names.gazetteer import Lexicon
    from extraction.names.linker import Linker
    from extraction.sentence import EntityMention
    from kg.model import Block, Document, Value
    from kg.period import Period
    from kg.text.table_rows import PlacedRow

_LABEL_COLUMNS = 2  # columns whose cells may name periods
_QUOTED = ("股价", "目标价", "收盘价")
_PER_SHARE = ("EPS", "DPS", "BPS", *_QUOTED)
_UNIT_HEAD = re.compile("(?:计量|数量|金额)?单位|[Uu]nits?")
_PHRASES = phrases("tables/figures")
_CHANGE_ROW = _PHRASES["change_row"]
_TOTAL = _PHRASES["total"]
_SECTION = re.compile(r"^\s*(?:\d+[、.]|[一二三四五六七八九十]+、)?\s*(?P<name>.{2,12})$")
_WHOLE_COMPANY = re.compile(r"公司整体|整体|合并|公司合计")
_PLAIN_UNITS = {name: unit for unit, names in table("measuring")["plain_units"].items() for name in names.split()}
_PLAIN = re.compile(r"[\d.,%+\-—/ ]*|\d{6}\.[A-Z]{2}")
_NAME_KINDS = (Kind.COMPANY, Kind.PRODUCT, Kind.INDUSTRY, Kind.REGION, Kind.BUSINESS)
_NAMING = _PHRASES["naming"]
_VOLUMES = ("装机量", "出货量", "产量", "销量", "产能")
_MOST_ROWS, _MOST_COLUMNS = 80, 16
_BASE_CONFIDENCE = 0.95  # 48 of 50 reviewed were right (docs/quality.md)


@dataclass(frozen=True, slots=True)
class _Layout:
    """A table with its parsed header row and caption; `read` parses the labels of its first columns."""

    document: Document
    rows: Sequence[PlacedRow]
    heads: list[TableLabel]
    read: Callable[[str], TableLabel]
    caption: TableLabel
    company: EntityMention | None

    def column_of_periods(self) -> int | None:
        """Return which of the first columns names a period in each row, None if none does."""
        for column in range(min(_LABEL_COLUMNS, len(self.heads))):
            texts = [row.cells[column] for row in self.rows[1:] if column < len(row.cells) and row.cells[column]]
            named = self.heads[column].measured is not None or self.heads[column].period is not None
            if len(texts) > 1 and not named and all(self.read(text).bare for text in texts):
                return column
        return None

    def column_of_units(self) -> int | None:
        """Return the column that states the unit of each row."""
        return next((at for at, head in enumerate(self.heads) if _UNIT_HEAD.fullmatch(head.text.strip("（）()"))), None)


class TableReader:
    """Reads the tables of a document; the lexicon supplies the units of indicators."""

    def __init__(self, linker: Linker, subjects: SubjectFinder, lexicon: Lexicon) -> None:
        self._labels, self._subjects = LabelReader(linker, subjects), subjects
        self._units = {term.entity: term.units for term in lexicon.terms.values() if term.kind == Kind.INDICATOR}
        named = {term.name: term.units for term in lexicon.terms.values() if term.kind == Kind.INDICATOR}
        self._heads = {**MEASURE_HEADS, **{head.name: head.units for head in lexicon.heads.values()}, **named}

    def read(self, document: Document, block: Block, company: EntityMention | None) -> Iterator[RowClaim | Problem]:
        """Yield the measured cells of one table; `company` is the subject of the report."""
        title, rows = placed_rows(document.text, block.start, block.end)
        if len(rows) < 2 or len(rows) > _MOST_ROWS or not 1 < len(rows[0].cells) <= _MOST_COLUMNS:  # noqa: PLR2004
            return
        rows = [rows[0], *filled_down(rows[1:])]
        captions = captions_of(document, block, title)
        company = self._labels.company_above(document, block, captions, company=company)
        labels = [*captions, *rows[0].cells, *(cell for row in rows[1:] for cell in row.cells[:_LABEL_COLUMNS])]
        read = self._labels.read(labels, document, company)
        heads = spread_indicators([read(text) for text in rows[0].cells])
        caption = caption_label([read(text) for text in captions])
        if heads[0].bare and heads[0].period and not caption.periods:
            caption = structs.replace(caption, periods=(heads[0].period,))  # 2025Q1 | 营收 | 不良率
        layout = _Layout(document, rows, heads, read, caption, company)
        yield from consistent(list(self._cells(layout)), rows)

    def _cells(self, layout: _Layout) -> Iterator[RowClaim | Problem]:
        """Read the cells by the layout of the table."""
        heads, timed = layout.heads[1:], layout.column_of_periods()
        dated = [head.period is not None and head.measured is None for head in heads if not head.change]
        if timed == 0:
            yield from self._by_row_of_period(layout)
        elif sum(dated) >= max(2, len(dated) - 1) or all(dated):
            yield from self._by_period(layout)
        elif any(head.measured for head in heads):
            yield from self._by_indicator(layout, timed)

    def _by_period(self, layout: _Layout) -> Iterator[RowClaim | Problem]:
        """Read a table with indicators or names as rows and periods as columns."""
        heads, rows, title = layout.heads, layout.rows, layout.caption
        corner = heads[0] if heads[0].measured else title if title.measured else None
        section, last, units = "", None, layout.column_of_units()
        names = self._labels.names([without_notes(row.cells[0]) for row in rows[1:]], layout.document, _NAME_KINDS)
        for row, name in zip(rows[1:], names, strict=False):
            label = layout.read(row.cells[0])
            if row.cells[1] and all(YEAR.fullmatch(text) for text in row.cells[1:] if text):
                corner, last = (label if label.measured else None), None  # a repeated header starts another table
                continue
            if not any(row.cells[1:]):
                found = _SECTION.match(label.text)
                section = found["name"] if found and not _WHOLE_COMPANY.search(label.text) else ""
                last = None
                continue
            change = "yoy" if _CHANGE_ROW.fullmatch(label.text.replace(" ", "")) else ""
            measured = last.measured if change and last else self._row_measurement(label, corner, name)
            if measured is None or not measured.subject.entity or label.periods or _TOTAL.search(label.text):
                last = None  # the owner is unknown, or the label has a period of its own: 新增装机（1-5月）
                continue
            company = layout.company
            if section and company is not None and measured.subject.entity == company.entity:
                measured = structs.replace(measured, scope=section)
            elif not measured.scope and measured.subject.kind in _NAME_KINDS[1:3]:
                measured = structs.replace(measured, scope=title.place)  # 国内海缆市场规模测算: its rows are 国内 too
            if units is not None and units < len(row.cells) and not label.unit:
                label = _with_unit(label, row.cells[units])
            above = [label, *self._inherited(measured, corner, [corner or title, heads[0], title])]
            named = label if change else structs.replace(label, measured=measured)
            last = last if change else named
            yield from self._cells_of_row(layout, row, measured, above, change)

    def _cells_of_row(
        self, layout: _Layout, row: PlacedRow, measured: Measurement, labels: list[TableLabel], change: str
    ) -> Iterator[RowClaim | Problem]:
        """Read the cells of one indicator; a column of growth (2023 | 2024 | 同比) is of the latest period."""
        heads = layout.heads
        latest = max(range(1, len(heads)), key=lambda at: _ends(heads[at]))
        for at, (head, (start, _, text)) in enumerate(zip(heads, row.placed, strict=False)):
            if at == 0 or head.measured is not None or not (head.period or head.change):
                continue
            how: str | None = change
            if head.period is None:
                plain = all(each.bare or each.change for each in heads[1:at]) and read_amount(row.cells[latest])
                how = _change_kind(head.change, heads[latest].period) if plain else None
                how = None if change or self._is_rate(measured.indicator) else how
            if how is not None:
                figure = structs.replace(head if head.period else heads[latest], measured=measured)
                yield from self._cell(layout, row, (start, text), figure, [labels[0], head, *labels[1:]], how)

    def _row_measurement(
        self, label: TableLabel, corner: TableLabel | None, subject: EntityMention | None
    ) -> Measurement | None:
        """Return the row's own indicator, or the corner's for the name that starts the row."""
        if label.measured is not None:
            return label.measured
        if corner is None or corner.measured is None or subject is None:
            return None
        if subject.kind == Kind.REGION:
            return structs.replace(corner.measured, scope=subject.name)
        return self._subjects.for_subject(subject, corner.measured.indicator, "")

    def _by_row_of_period(self, layout: _Layout) -> Iterator[RowClaim | Problem]:
        """Read a table with periods as rows and indicators as columns: 年份 | 营业收入（亿元） | 毛利率(%)."""
        for row in layout.rows[1:]:
            label = layout.read(row.cells[0])
            last: TableLabel | None = None  # the indicator that a following bare 同比 refers to
            for head, (start, _, text) in zip(layout.heads[1:], row.placed[1:], strict=False):
                if head.measured is not None:
                    last = head if head.measured.subject.entity and head.period is None else None
                if last is None or label.period is None or last.measured is None or _is_other(head, last):
                    continue
                change = _change_kind(head.change, label.period) if head.change else ""
                figure = structs.replace(last, period=label.period, forecast=label.forecast, fiscal=label.fiscal)
                inherited = self._inherited(last.measured, None, [layout.caption])
                if change is not None:
                    yield from self._cell(layout, row, (start, text), figure, [head, *inherited], change)

    def _by_indicator(self, layout: _Layout, timed: int | None) -> Iterator[RowClaim | Problem]:
        """Read a table with names as rows and indicators as columns; column `timed` dates each row."""
        rows, title = layout.rows, layout.caption
        columns = self._name_columns(layout.document, rows, layout.heads)
        for number, row in enumerate(rows[1:]):
            if _TOTAL.search(row.cells[0]):
                continue
            subject: EntityMention | None = None
            last: TableLabel | None = None  # the indicator that a following bare 同比 refers to
            dated = layout.read(row.cells[timed]) if timed is not None and timed < len(row.cells) else None
            for column, (head, (start, _, text)) in enumerate(zip(layout.heads, row.placed, strict=False)):
                if column in columns:  # nearest name on the left, as two rankings may be side by side
                    subject = columns[column][number]
                elif head.measured is None and _NAMING.search(head.text) and not _PLAIN.fullmatch(text):
                    subject = None  # an unknown name
                if head.measured is not None and subject is not None:
                    last = self._column_figure(head, subject, title, dated)
                elif not head.change or head.period or (last and last.measured and _is_change(last.measured)):
                    last = None
                if last is None or last.measured is None or subject is None or subject.kind == Kind.REGION:
                    continue
                change = _change_kind(head.change, last.period) if head.change else ""
                if change is not None:
                    inherited = self._inherited(last.measured, None, [title])
                    yield from self._cell(layout, row, (start, text), last, [head, *inherited], change)

    def _column_figure(
        self, head: TableLabel, subject: EntityMention, title: TableLabel, dated: TableLabel | None
    ) -> TableLabel:
        """Return a column's head with the name and the period of a row."""
        assert head.measured is not None
        measured = _measurement_for_row(head.measured, subject, title, self._subjects)
        if dated is not None:
            return structs.replace(
                head, measured=measured, period=dated.period, forecast=dated.forecast, fiscal=dated.fiscal
            )
        period = column_period(
            title.periods, head.period, span=head.span, indicator=measured.indicator.name, forecast=title.forecast
        )
        return structs.replace(head, measured=measured, period=period)

    def _name_columns(
        self, document: Document, rows: Sequence[PlacedRow], heads: list[TableLabel]
    ) -> dict[int, list[EntityMention | None]]:
        """Return the columns of names, with the name of each row; at least half of the cells must be known names.

        If a head marks a naming column (药品名称), other columns (靶点) are ignored.
        """
        found = {}
        naming = [at for at, head in enumerate(heads) if head.measured is None and _NAMING.search(head.text)]
        for column, head in enumerate(heads):
            if naming and column not in naming:
                continue
            texts = [row.cells[column] if column < len(row.cells) else "" for row in rows[1:]]
            if head.measured is not None or all(_PLAIN.fullmatch(text) for text in texts):
                continue
            names = self._labels.names(texts, document, _NAME_KINDS)
            if 2 * sum(name is not None for name in names) >= sum(map(bool, texts)):
                found[column] = names
        return found

    def _cell(
        self,
        layout: _Layout,
        row: PlacedRow,
        cell: tuple[int, str],
        head: TableLabel,
        labels: Sequence[TableLabel],
        change: str,
    ) -> Iterator[RowClaim | Problem]:
        """Read one cell: `head` says what it measures, `labels` may state its unit, the first one that does decides."""
        start, text = cell
        amount = read_amount(text)
        if amount is None or head.measured is None or not head.measured.subject.entity:
            return  # no number, or the owner is unknown
        unit = self._unit(amount, head.measured, labels, change)
        if isinstance(unit, str):
            yield Problem("unit", f"{head.measured.indicator.name}「{text}」 {unit}", start, start + len(text))
            return
        value = replace(unit.value(amount.number), change=change)
        if not self._fits(head.measured.indicator, value):
            return
        unsure = head.fiscal and not home_currency(head.measured.subject.entity)
        certain = head.period is not None and head.measured.confidence > DOUBTFUL and not unsure
        claim = Claim(
            relation="reports",
            subject=structs.replace(head.measured.subject, start=CONTEXT, end=CONTEXT),
            object=structs.replace(head.measured.indicator, start=CONTEXT, end=CONTEXT),
            start=0,
            end=row.end - row.start,
            pattern="table",
            value=value,
            qualifiers=(("scope", head.measured.scope),) if head.measured.scope else (),
            valid=head.period,
            confidence=_BASE_CONFIDENCE * (1 + head.measured.subject.score) / 2 if certain else DOUBTFUL,
        )
        modality = cell_modality(claim, head.period, layout.document.published_on, estimated=head.forecast)
        yield RowClaim(structs.replace(claim, modality=modality), as_sentence(layout.document, row), start)

    def _unit(
        self, amount: CellAmount, measured: Measurement, labels: Sequence[TableLabel], change: str
    ) -> AmountUnit | str:
        """Return the unit of a number, of its cell, row, column or table, or why there is none."""
        stated = next((label for label in labels if label.unit or label.unclear), None)
        around = stated.unit if stated else None
        if amount.unit is not None and (amount.unit.unit or amount.unit == around):
            return amount.unit
        if change:
            return AmountUnit("%")
        if stated is not None and stated.unclear and not around:
            return f"has a unit that is not understood: {stated.unclear}"
        if amount.unit is not None and around is not None and around.factor != 1:
            return "has one scale in its cell and another one above"
        found = around or amount.unit or AmountUnit(self._default_unit(measured.indicator))
        if amount.unit is not None:  # 3620亿 under 元
            found = AmountUnit(found.unit, amount.unit.factor, amount.unit.scale)
        if not found.unit and found.scale and set(self._units_of(measured.indicator)) == {"currency"}:
            found = AmountUnit(home_currency(measured.subject.entity), found.factor, found.scale)
        counted = found.scale and not {"currency", "price"} & set(self._units_of(measured.indicator))  # DAU（百万）
        return found if found.unit or counted else "has no unit in its cell, row, column or title"

    def _inherited(self, measured: Measurement, corner: TableLabel | None, above: list[TableLabel]) -> list[TableLabel]:
        """Return the labels above whose unit suits a row: 百万元 suits no margin or multiple, and EPS are in its 元."""
        name, title = measured.indicator.name, above[-1]
        if name.startswith("每股") or name.endswith(_PER_SHARE):
            money = [label for label in above if label.unit and unit_kind(label.unit.unit) == "currency"]
            plain = [structs.replace(label, unit=AmountUnit(label.unit.unit)) for label in money if label.unit]
            return [] if name.endswith(_QUOTED) else plain
        if corner is not None:
            return above
        units = self._units_of(measured.indicator)
        if title.unit is not None and title.unit.unit and unit_kind(title.unit.unit) != "currency":
            return above if unit_kind(title.unit.unit) in units else []
        return above if "currency" in units and "ratio" not in units else []

    def _units_of(self, indicator: EntityMention) -> Sequence[str]:
        """Return the unit kinds of an indicator, for a new one those of its head."""
        by_end = (units for name, units in self._heads.items() if indicator.name.endswith(name))
        return self._units.get(indicator.entity) or next(by_end, ())

    def _is_rate(self, indicator: EntityMention) -> bool:
        """Return whether a change of an indicator in % is ambiguous: of points or of the rate."""
        return indicator.name.endswith("率") or "percent" in self._units_of(indicator)

    def _default_unit(self, indicator: EntityMention) -> str:
        """Return the only possible unit of an indicator, such as 倍 for a price-earnings ratio."""
        if indicator.name.endswith("EPS"):
            return ""
        return next((unit for name, unit in _PLAIN_UNITS.items() if indicator.name.endswith(name)), "")

    def _fits(self, indicator: EntityMention, value: Value) -> bool:
        units = self._units_of(indicator)
        return bool(value.change) or value.unit != "%" or not units or "percent" in units


def _measurement_for_row(
    head: Measurement, subject: EntityMention, title: TableLabel, subjects: SubjectFinder
) -> Measurement:
    """Return a column's indicator for the name of a row; a market share gets the title's market as scope."""
    indicator, scope = head.indicator, head.scope
    if subject.kind == Kind.COMPANY and indicator.about:
        measured = structs.replace(head, subject=subject, confidence=subject.score)  # a company's 原煤产量
    else:
        measured = subjects.for_subject(subject, indicator, scope)
    if subject.kind == Kind.COMPANY and not indicator.about and not scope:
        of_market = indicator.name.endswith(SHARES_OF_MARKET)
        whole = f"{title.place}{title.topic}" if title.topic else ""
        if whole and (of_market or indicator.name.endswith(_VOLUMES)):
            measured = structs.replace(measured, scope=whole[:LONGEST_SCOPE])
        elif of_market:
            return structs.replace(measured, confidence=DOUBTFUL)  # the market is unknown
    return structs.replace(measured, confidence=DOUBTFUL) if head.confidence <= DOUBTFUL else measured


def _with_unit(label: TableLabel, stated: str) -> TableLabel:
    """Return a row's label with the unit of the table's unit column."""
    unit = read_unit(stated)
    return structs.replace(label, unit=unit, unclear="" if unit or not stated else stated)


def _is_other(head: TableLabel, last: TableLabel) -> bool:
    """Return whether a column is neither the last indicator nor a change of it."""
    return head is not last and not (head.change and head.measured is None)


def _ends(head: TableLabel) -> date:
    """Return when the period of a column that is only a period ends."""
    return (head.period.end if head.period and head.bare else None) or date.min


def _change_kind(how: str, period: Period | None) -> str | None:
    """Return the kind of change in a head; 环比 depends on the precision of the period."""
    if how == "同比":
        return "yoy"
    steps = {Precision.QUARTER: "qoq", Precision.MONTH: "mom", Precision.WEEK: "wow"}
    return steps.get(period.precision) if period else None


def _is_change(measured: Measurement) -> bool:
    """Return whether an indicator is itself a change: 同比 after 月涨幅 belongs to the price."""
    return measured.indicator.name.endswith(("涨幅", "涨跌幅", "跌幅", "增速", "增长率"))
