"""A view as typed tables: nodes, edges, facts, evidence, documents, passages and themes, with point-in-time columns.

`published_on` is the day a source made something public and `known_from` the instant from which this base had it;
`valid_from` and `valid_to` bound the stated period, the end excluded, and are empty where nothing is stated.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, cast

from kg.errors import ExtraMissing
from kg.interop.exports.company_links import LINK_COLUMNS, company_links
from kg.interop.exports.content import known, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import TextIO

    from kg.interop.exports.content import EdgeKey, ExportContent, FactEdge, Known
    from kg.model import Fact, Value
    from kg.period import Period

ColumnType = Literal["text", "whole", "number", "day", "instant", "texts", "wholes", "findings"]
Row = tuple[Any, ...]
_BATCH = 20_000  # rows of a Parquet row group
_FORMULA = tuple("=+-@\t\r＝＋－＠")  # what makes a spreadsheet compute a cell (OWASP, CSV injection)
MARK = "\ufeff"  # by which Excel and WPS on a Chinese Windows know UTF-8
_CLOCKS = "published_on:day last_published_on:day known_from:instant"
_CLAIM = "subject subject_name relation object object_name sign:whole polarity modality"


def columns_of(*specs: str) -> dict[str, ColumnType]:
    """Return columns from `name:type` words; a name alone is text.

    >>> columns_of("id sign:whole", "quote")
    {'id': 'text', 'sign': 'whole', 'quote': 'text'}
    """
    words = (word.partition(":") for spec in specs for word in spec.split())
    return {name: cast("ColumnType", kind or "text") for name, _, kind in words}


def pyarrow() -> tuple[Any, Any]:
    """Return the modules `pyarrow` and `pyarrow.parquet`.

    Raises:
        ExtraMissing: where the extra `parquet` is not installed.
    """
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ModuleNotFoundError as missing:
        raise ExtraMissing(missing, "parquet") from None


@dataclass(frozen=True, slots=True)
class ExportTable:
    """One table: its columns in order with their types, and its rows."""

    name: str
    columns: Mapping[str, ColumnType]
    rows: Callable[[ExportContent], Iterator[Row]]


def _nodes(content: ExportContent) -> Iterator[Row]:
    for entity in content.entities.values():
        aliases = tuple(dict.fromkeys(alias.name for alias in entity.aliases if alias.name != entity.name))
        clocks = content.touched.get(entity.id, (None, None, None))
        about = (entity.about, content.name(entity.about)) if entity.about else (None, None)
        yield entity.id, entity.kind.value, entity.name, aliases, entity.codes, *about, *clocks


def _edges(content: ExportContent) -> Iterator[Row]:
    for edge in content.edges():
        yield *_named(content, edge.key), *edge.key[3:], *edge_measures(edge)


def _named(content: ExportContent, claim: Fact | EdgeKey) -> Row:
    """Return the ends and the relation of a claim, each end with its name beside it."""
    subject, object_ = (content.entities[end].name for end in (claim.subject, claim.object))
    return claim.subject, subject, claim.relation, claim.object, object_


def edge_measures(edge: FactEdge) -> Row:
    """Return the sum of an edge's facts, in the order of the columns of the table `edges` after its key."""
    standing = sum(not fact.superseded_by for fact in edge.facts)
    confidence = max(fact.confidence for fact in edge.facts)
    return len(edge.facts), standing, edge.sources, confidence, *edge_period(edge), *edge_known(edge)


def edge_period(edge: FactEdge) -> tuple[date | None, date | None]:
    """Return the hull of the stated periods, open where one of them is or where none is stated."""
    stated = [fact.valid for fact in edge.facts if fact.valid]
    starts, ends = [period.start for period in stated], [period.end for period in stated]
    known_starts, known_ends = [day for day in starts if day], [day for day in ends if day]
    return (
        min(known_starts) if known_starts and None not in starts else None,
        max(known_ends) if known_ends and None not in ends else None,
    )


def edge_known(edge: FactEdge) -> Known:
    """Return when an edge was first and last published, and recorded."""
    first, *others = map(known, edge.facts)
    for other in others:
        first = first.merged(other)
    return first


def _facts(content: ExportContent) -> Iterator[Row]:
    for fact in content.facts():
        yield fact.id, *_named(content, fact), *_stated(fact), *_measured(fact.value), *_support(fact)


def _stated(fact: Fact) -> Row:
    qualifiers = tuple(f"{name}={value}" for name, value in fact.qualifiers)
    return fact.sign, fact.polarity.value, fact.modality.value, *_bounds(fact.valid), qualifiers


def _bounds(period: Period | None) -> Row:
    return (period.start, period.end, period.precision.value) if period else (None, None, None)


def _measured(value: Value | None) -> Row:
    if value is None:
        return (None,) * 6
    return value.number, value.high, value.unit, value.scale or None, value.change or None, value.basis or None


def _support(fact: Fact) -> Row:
    return fact.confidence, fact.witnesses, fact.speakers, *known(fact), fact.superseded_by or None


def _evidence(content: ExportContent) -> Iterator[Row]:
    for fact in content.facts():
        for item in fact.evidence:
            place = item.document, item.start, item.end, item.quote
            source = item.speaker or None, item.witness or item.document, item.confidence, item.extractor
            yield fact.id, content.text(fact), *place, *source, item.published_on, item.recorded_at


def _documents(content: ExportContent) -> Iterator[Row]:
    for head in content.documents():
        who = head.publisher or None, head.authors, head.url or None, head.language
        yield head.id, head.title, head.published_on, head.kind, *who, head.codes, head.tags


def _passages(content: ExportContent) -> Iterator[Row]:
    for head in content.documents():
        document = content.view.document(head.id)
        for chunk in content.passages(document) if document else ():
            place = chunk.document, chunk.start, chunk.end, chunk.page
            yield chunk.id, head.title, *place, chunk.heading, chunk.value_class.value, chunk.text, head.published_on


def _themes(content: ExportContent) -> Iterator[Row]:
    """Yield every published week, so that a panel over time reads only what a week could know."""
    for run in content.view.runs():
        for item in sorted(run.communities, key=lambda each: (each.level, each.id)):
            title = item.summary.title if item.summary else None
            lines = tuple(line.text for line in item.summary.lines) if item.summary else ()
            family = item.id, item.level, item.parent or None
            names = tuple(content.name(each) for each in item.members)
            yield run.as_of, run.recorded_at, *family, title, len(item.members), item.members, names, lines


TABLES = (
    ExportTable("nodes", columns_of("id kind name aliases:texts codes:texts about about_name", _CLOCKS), _nodes),
    ExportTable(
        "edges",
        columns_of(_CLAIM, "facts:whole live_facts:whole sources:whole confidence:number valid_from:day valid_to:day")
        | columns_of(_CLOCKS),
        _edges,
    ),
    ExportTable(
        "facts",
        columns_of(
            "id", _CLAIM, "valid_from:day valid_to:day valid_precision qualifiers:texts value:number high:number"
        )
        | columns_of(
            "unit scale change basis confidence:number sources:whole speakers:texts", _CLOCKS, "superseded_by"
        ),
        _facts,
    ),
    ExportTable(
        "evidence",
        columns_of("fact wording document start:whole end:whole quote speaker source confidence:number extractor")
        | columns_of("published_on:day known_from:instant"),
        _evidence,
    ),
    ExportTable(
        "documents",
        columns_of("id title published_on:day kind publisher authors:texts url language codes:texts tags:texts"),
        _documents,
    ),
    ExportTable(
        "passages",
        columns_of(
            "id title document start:whole end:whole page:whole heading:texts value_class text published_on:day"
        ),
        _passages,
    ),
    ExportTable("company_links", columns_of(*LINK_COLUMNS), company_links),
    ExportTable(
        "themes",
        columns_of("published_on:day known_from:instant id level:whole parent title size:whole")
        | columns_of("members:texts member_names:texts summary:texts"),
        _themes,
    ),
)


def write_csv(content: ExportContent, folder: Path, *, plain_text: bool = False) -> None:
    """Write one CSV file a table, in UTF-8 and without a cell that a spreadsheet would compute.

    Excel and WPS on a Chinese Windows take a file for UTF-8 only by the mark at its beginning. Plain files are without
    it, and have lists as JSON.
    """
    for table in TABLES:
        encoding = "utf-8" if plain_text else "utf-8-sig"
        with (folder / f"{table.name}.csv").open("w", encoding=encoding, newline="") as file:
            write_rows(table.columns, table.rows(content), file, plain_text=plain_text)


def write_rows(
    columns: Mapping[str, ColumnType], rows: Iterator[Row], file: TextIO, *, plain_text: bool = False
) -> None:
    """Write rows as CSV with a header; every cell is quoted, since LibreOffice also parts cells at semicolons."""
    writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_MINIMAL if plain_text else csv.QUOTE_ALL)
    writer.writerow(columns)
    types = tuple(columns.values())
    for row in rows:
        writer.writerow([csv_cell(value, kind, plain_text=plain_text) for value, kind in zip(row, types, strict=True)])


def csv_cell(value: Any, kind: ColumnType, *, plain_text: bool = False) -> str:
    """Return a value as a CSV cell; text that begins like a formula gets a leading apostrophe.

    >>> csv_cell("=cmd|' /C calc'!A0", "text"), csv_cell(-5.0, "number"), csv_cell(("锂", "钴"), "texts")
    ("'=cmd|' /C calc'!A0", '-5.0', '锂；钴')
    >>> csv_cell(("锂", "钴"), "texts", plain_text=True)
    '["锂","钴"]'
    """
    if value is None:
        return ""
    if kind == "texts" and not plain_text:
        value, kind = "；".join(value), "text"
    if kind == "texts":
        return json.dumps([plain(text) for text in value], ensure_ascii=False, separators=(",", ":"))
    if kind == "text":
        text = plain(value)
        return f"'{text}" if text.startswith(_FORMULA) else text
    return iso(value) if kind in ("day", "instant") else str(value)


def iso(value: date | datetime) -> str:
    """Return a day, or an instant in UTC: 2026-01-01T00:00:00Z."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value.isoformat()


def write_parquet(content: ExportContent, folder: Path) -> None:
    """Write one Parquet file a table, with days as date32, instants as UTC microseconds and lists as lists."""
    for table in TABLES:
        write_table(table.columns, table.rows(content), folder / f"{table.name}.parquet")


def arrow_schema(columns: Mapping[str, ColumnType]) -> Any:
    """Return the Arrow schema of some columns; `findings` are those of GraphRAG's community reports."""
    arrow, _ = pyarrow()
    finding = arrow.struct([("explanation", arrow.string()), ("summary", arrow.string())])
    types = {
        "text": arrow.string(),
        "whole": arrow.int64(),
        "number": arrow.float64(),
        "day": arrow.date32(),
        "instant": arrow.timestamp("us", tz="UTC"),
        "texts": arrow.list_(arrow.string()),
        "wholes": arrow.list_(arrow.int64()),
        "findings": arrow.list_(finding),
    }
    return arrow.schema([(name, types[kind]) for name, kind in columns.items()])


def write_table(columns: Mapping[str, ColumnType], rows: Iterator[Row], path: Path) -> None:
    """Write rows to a Parquet file, a row group at a time."""
    arrow, parquet = pyarrow()
    schema = arrow_schema(columns)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while batch := list(islice(rows, _BATCH)):
            arrays = [
                arrow.array(list(cells), field.type)
                for cells, field in zip(zip(*batch, strict=True), schema, strict=True)
            ]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))
