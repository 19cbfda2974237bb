"""Measured facts of tables: each cell under what its row and its column say, with the row as its quote.

Three layouts are read: indicators by periods (营业收入 | 2023A | 2024E), names by indicators (公司 | 市占率 | PE), and
names by periods under an indicator in the corner or the title (渗透率). A cell whose unit nobody states is a Problem.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from extraction.annotated import CONTEXT, Annotated, Claim, Ref
from extraction.dating import find_periods
from extraction.patterns.metric_subject import DOUBTFUL
from extraction.patterns.metric_words import MEASURE_HEADS
from extraction.quantities import find_quantities
from extraction.sentences import Sentence, normalise
from extraction.tables import placed_rows
from kg.model import Kind, Modality, Problem, Value
from kg.period import year

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.linking import Linker
    from extraction.mentions import Lexicon
    from extraction.patterns.metric_subject import Measured, SubjectFinder
    from extraction.tables import PlacedRow
    from kg.model import Block, Document
    from kg.period import Period

_NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?%?")
_UNIT = re.compile(r"[（(](?:单位[:：])?\s*(?P<unit>[^（）()]{1,12})[)）]|单位[:：]\s*(?P<bare>[^\s，。）)]{1,10})")
_FORECAST = re.compile(r"\d{2,4}\s*年?\s*[EF](?![A-Za-z])|预测|预计")
_CHANGE_ROW = re.compile(
    r"(?:[（(]?\+/-[）)]?|YOY|YoY|yoy|同比|增速|增长率|同比增速|同比增长|增速YoY)\s*(?:[（(]%[）)])?(?:[（(]?%[）)]?)?"
)
_TOTAL = re.compile(r"合计|总计|小计|平均|均值|中位数|其他|其它|备注|注")
_SECTION = re.compile(r"^\s*(?:\d+[、.]|[一二三四五六七八九十]+、)?\s*(?P<name>.{2,12})$")
_WHOLE = re.compile(r"公司整体|整体|合并|公司合计")
_PLAIN_UNITS = {
    "PE": "倍",
    "PB": "倍",
    "PS": "倍",
    "P/E": "倍",
    "P/B": "倍",
    "市盈率": "倍",
    "市净率": "倍",
    "EV/EBITDA": "倍",
}
_PLAIN = re.compile(r"[\d.,%+\-—/ ]*|\d{6}\.[A-Z]{2}")
_NAME_KINDS = (Kind.COMPANY, Kind.PRODUCT, Kind.INDUSTRY, Kind.REGION, Kind.BUSINESS)
_YEAR_OF = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d) ?年?[AEF]? ?(?=PE|PB|PS|EPS|ROE|EV|P/E|P/B|每股|市盈率|市净率|股息率)"
)
_YEAR = re.compile(r"(?:19|20)\d\d ?年? ?[AEF]?")
_NAMING = re.compile(r"品种|名称|简称|产品|公司|标的|规格|型号|指标|项目|种类|品牌|企业|环节")
_MOST_ROWS, _MOST_COLUMNS = 80, 16
_SURE = 0.8
_STILL_OPEN = timedelta(days=31)  # the last month's figures may be told before it ends


@dataclass(frozen=True, slots=True)
class Cell:
    """A claim of a cell with the row it is quoted from."""

    claim: Claim
    row: Annotated


@dataclass(frozen=True, slots=True)
class _Head:
    """What a column or row head says."""

    text: str
    unit: str
    period: Period | None
    measured: Measured | None
    forecast: bool


class TableReader:
    """Reads the tables of a document; needs the gazetteer for names and for the units of indicators."""

    def __init__(self, linker: Linker, subjects: SubjectFinder, lexicon: Lexicon) -> None:
        self._linker, self._subjects = linker, subjects
        self._units = {term.entity: term.units for term in lexicon.terms.values() if term.kind == Kind.INDICATOR}
        self._heads = {**MEASURE_HEADS, **{head.name: head.units for head in lexicon.heads.values()}}

    def read(self, document: Document, block: Block, company: Ref | None) -> Iterator[Cell | Problem]:
        """Yield the measured cells of one table; `company` is who the report is about."""
        title, rows = placed_rows(document.text, block.start, block.end)
        if len(rows) < 2 or len(rows) > _MOST_ROWS or not 1 < len(rows[0].cells) <= _MOST_COLUMNS:  # noqa: PLR2004
            return
        labels = [title, *rows[0].cells, *(row.cells[0] for row in rows[1:])]
        read = dict(zip(labels, self._read_labels(labels, document, company), strict=True))
        heads = [read[text] for text in rows[0].cells]
        dated = [head.period is not None and head.measured is None for head in heads[1:]]
        if sum(dated) >= max(2, len(dated) - 1):
            yield from self._by_period(document, rows, heads, read, read[title], company)
        elif any(head.measured for head in heads[1:]):
            yield from self._by_indicator(document, rows, heads, read[title])

    def _by_period(
        self,
        document: Document,
        rows: Sequence[PlacedRow],
        heads: list[_Head],
        read: dict[str, _Head],
        title: _Head,
        company: Ref | None,
    ) -> Iterator[Cell | Problem]:
        """Indicators or names down the side, periods along the top."""
        corner = heads[0] if heads[0].measured else title if title.measured else None
        section, last = "", None
        names = self._names([row.cells[0] for row in rows[1:]], document)
        for row, name in zip(rows[1:], names, strict=False):
            label = read[row.cells[0]]
            if row.cells[1] and all(_YEAR.fullmatch(text) for text in row.cells[1:] if text):
                corner, last = (label if label.measured else None), None  # heads again: another table begins
                continue
            if not any(row.cells[1:]):
                found = _SECTION.match(label.text)
                section = found["name"] if found and not _WHOLE.search(label.text) else ""
                last = None
                continue
            change = _CHANGE_ROW.fullmatch(label.text.replace(" ", "")) is not None
            measured = last.measured if change and last else self._of_row(label, corner, name)
            if measured is None or not measured.subject.entity or _TOTAL.search(label.text):
                last = None  # nobody says whose figures these are
                continue
            if section and company is not None and measured.subject.entity == company.entity:
                measured = replace(measured, scope=section)
            lent = (corner or title).unit or heads[0].unit if self._is_lent(measured.indicator, corner) else ""
            named = label if change else replace(label, unit=label.unit or lent, measured=measured)
            last = last if change else named
            for head, (start, _, text) in zip(heads[1:], row.placed[1:], strict=False):
                if head.period is None or head.measured is not None:
                    continue
                yield from self._cell(document, row, (start, text), replace(head, measured=measured), named, change)

    def _of_row(self, label: _Head, corner: _Head | None, subject: Ref | None) -> Measured | None:
        """The row's own indicator, or the corner's of the name that the row begins with."""
        if label.measured is not None:
            return label.measured
        if corner is None or corner.measured is None or subject is None:
            return None
        if subject.kind == Kind.REGION:
            return replace(corner.measured, scope=subject.name)
        return self._subjects.of_names(subject, corner.measured.indicator, "")

    def _by_indicator(
        self,
        document: Document,
        rows: Sequence[PlacedRow],
        heads: list[_Head],
        title: _Head,
    ) -> Iterator[Cell | Problem]:
        """Names down the side, indicators along the top; the name is the first cell that is one."""
        columns = self._name_columns(document, rows, heads)
        for number, row in enumerate(rows[1:]):
            if _TOTAL.search(row.cells[0]):
                continue
            subject: Ref | None = None
            for column, (head, (start, _, text)) in enumerate(zip(heads, row.placed, strict=False)):
                if column in columns:  # the nearest name on the left: two rankings may stand side by side
                    subject = columns[column][number]
                elif head.measured is None and _NAMING.search(head.text) and not _PLAIN.fullmatch(text):
                    subject = None  # a name that nobody knows
                if head.measured is None or subject is None or subject.kind == Kind.REGION:
                    continue
                measured = self._subjects.of_names(subject, head.measured.indicator, head.measured.scope)
                dated = replace(head, measured=measured, period=head.period or title.period)
                yield from self._cell(document, row, (start, text), dated, title, change=False)

    def _name_columns(
        self, document: Document, rows: Sequence[PlacedRow], heads: list[_Head]
    ) -> dict[int, list[Ref | None]]:
        """Return the columns that hold names, each with the name of every row; half of the cells must be known."""
        found = {}
        for column, head in enumerate(heads):
            texts = [row.cells[column] if column < len(row.cells) else "" for row in rows[1:]]
            if head.measured is not None or all(_PLAIN.fullmatch(text) for text in texts):
                continue
            names = self._names(texts, document)
            if 2 * sum(name is not None for name in names) >= sum(map(bool, texts)):
                found[column] = names
        return found

    def _cell(
        self,
        document: Document,
        row: PlacedRow,
        cell: tuple[int, str],
        head: _Head,
        label: _Head,
        change: bool,
    ) -> Iterator[Cell | Problem]:
        start, text = cell
        found = _NUMBER.fullmatch(text.replace(" ", ""))
        if found is None or head.measured is None:
            return
        unit = "%" if text.endswith("%") or change else head.unit or label.unit or self._usual(head.measured.indicator)
        value = _value(text.replace(" ", "").rstrip("%"), unit)
        if value is None:
            message = f"{head.measured.indicator.name}「{text}」 has no unit in its cell, row, column or title"
            yield Problem("unit", message, start, start + len(text))
            return
        if change:
            value = replace(value, change="yoy")
        if not head.measured.subject.entity or not self._fits(head.measured.indicator, value):
            return  # whose it is, neither the table nor the report says
        ahead = head.period and head.period.end and head.period.end > document.published_on + _STILL_OPEN
        claim = Claim(
            relation="reports",
            subject=replace(head.measured.subject, start=CONTEXT, end=CONTEXT),
            object=replace(head.measured.indicator, start=CONTEXT, end=CONTEXT),
            start=0,
            end=row.end - row.start,
            pattern="table",
            value=value,
            qualifiers=(("scope", head.measured.scope),) if head.measured.scope else (),
            valid=head.period,
            confidence=_SURE * head.measured.subject.score if head.period else DOUBTFUL,  # of when, nothing says
            modality=Modality.FORECAST if head.forecast or ahead else Modality.ASSERTED,
        )
        yield Cell(claim, _as_sentence(document, row.start, row.end))

    def _is_lent(self, indicator: Ref, corner: _Head | None) -> bool:
        """Whether a unit of the corner or title is this row's: 百万元 is no unit of a margin or a multiple."""
        if corner is not None:
            return True
        units = self._units.get(indicator.entity) or next(
            (u for name, u in self._heads.items() if indicator.name.endswith(name)), ()
        )
        return "currency" in units and "ratio" not in units

    def _usual(self, indicator: Ref) -> str:
        """Return the unit that an indicator can only have: a price-earnings ratio needs none said."""
        return next((unit for name, unit in _PLAIN_UNITS.items() if indicator.name.endswith(name)), "")

    def _fits(self, indicator: Ref, value: Value) -> bool:
        units = self._units.get(indicator.entity) or next(
            (u for name, u in self._heads.items() if indicator.name.endswith(name)), ()
        )
        return bool(value.change) or value.unit != "%" or not units or "percent" in units

    def _read_labels(self, labels: list[str], document: Document, company: Ref | None) -> list[_Head]:
        """Read what every label says: its names, its period, its unit; all in one pass over a text made of them."""
        lines, refs = self._linked([_UNIT.sub(_without_unit, label) for label in labels], document)
        return [
            self._head(label, line, names, document, company)
            for label, line, names in zip(labels, lines, refs, strict=True)
        ]

    def _head(self, label: str, line: Sentence, names: list[Ref], document: Document, company: Ref | None) -> _Head:
        dated = [each for each in find_periods(line.text, document.published_on) if each.role == "stated"]
        said = _UNIT.search(label)
        unit = ((said["unit"] or said["bare"]) if said else "").strip()
        annotated = Annotated(line, tuple(names), tuple(dated), (), subject=company)
        ends = len(line.text.rstrip("：: "))
        last = [ref for ref in self._subjects.indicators(annotated) if ref.end == ends or (dated and ref.end <= ends)]
        measured = self._measured(annotated, last[-1]) if last else None
        alone = _YEAR.fullmatch(line.text)  # in a head, not in a sentence, a bare 2024 is a year
        stuck = _YEAR_OF.search(line.text)  # 2024PE, 2025E EPS: the year of a multiple, written on to it
        period = dated[-1].period if dated else year(int(line.text[:4])) if alone else None
        period = year(int(stuck["year"])) if period is None and stuck else period
        return _Head(line.text, _clean_unit(unit), period, measured, _FORECAST.search(label) is not None)

    def _measured(self, annotated: Annotated, indicator: Ref) -> Measured | None:
        placeholder = Ref("", Kind.INDUSTRY, "", CONTEXT, CONTEXT)
        found = self._subjects.find(annotated, indicator)
        if found is not None or annotated.subject is not None:
            return found
        return self._subjects.find(replace(annotated, subject=placeholder), indicator)

    def _names(self, texts: Sequence[str], document: Document) -> list[Ref | None]:
        """Return the one name that each cell is, or None."""
        lines, refs = self._linked(texts, document)
        whole = (
            [ref for ref in names if (ref.start, ref.end) == (0, len(line.text)) and ref.kind in _NAME_KINDS]
            for line, names in zip(lines, refs, strict=True)
        )
        return [names[0] if names else None for names in whole]

    def _linked(self, texts: Sequence[str], document: Document) -> tuple[list[Sentence], list[list[Ref]]]:
        """Find names in short texts, all in one pass over a text made of them."""
        joined, lines = "", []
        for text in texts:
            plain, start = normalise(text), len(joined)
            joined += plain + "\n"
            lines.append(Sentence(start, start + len(plain), plain, tuple(range(start, start + len(plain) + 1))))
        return lines, self._linker.link(replace(document, text=joined, blocks=()), lines)


def _value(digits: str, unit: str) -> Value | None:
    """Read a bare number with the unit of its head: 216142 under 百万元 is 216142百万元."""
    if not unit:
        return None
    signed = digits.replace(",", "")
    read = find_quantities(f"为{signed.lstrip('+-')}{unit}")
    if len(read) != 1 or read[0].high is not None:
        return None
    number = -read[0].number if signed.startswith("-") else read[0].number
    return Value(number=number, unit=read[0].unit, scale=read[0].scale)


def _without_unit(found: re.Match[str]) -> str:
    """Take a unit out of a label; a bracket that holds a year or a kind (2025E, TTM) stays."""
    return "" if _clean_unit((found["unit"] or found["bare"]).strip()) else found[0]


def _clean_unit(unit: str) -> str:
    """Keep what can be a unit; 「A股」 or 「2024A」 in brackets is none."""
    plain = re.sub(r"\s", "", unit)
    return plain if plain and _value("1", plain) else ""


def _as_sentence(document: Document, start: int, end: int) -> Annotated:
    text = document.text[start:end]
    return Annotated(Sentence(start, end, text, tuple(range(start, end + 1))), (), (), ())
