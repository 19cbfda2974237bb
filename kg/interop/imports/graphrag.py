"""Read a GraphRAG index: the Parquet tables in its output folder."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from kg.errors import DocumentError
from kg.interop.exports.tables import pyarrow
from kg.interop.imports.foreign import ForeignGraph, ForeignLink, ForeignText, day_in, day_named, grouped
from kg.model import Fact, Polarity
from kg.period import Period, Precision
from kg.store import codec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Record = dict[str, Any]
_DAY = timedelta(days=1)
_NEEDED = ("entities", "relationships", "text_units", "documents")
_POLARITIES = {"FALSE": Polarity.NEGATIVE}
EXTRACTOR = "import/graphrag"


def read_graphrag(folder: Path, given: date | None) -> ForeignGraph:
    """Return the graph of an index; `folder` is that of the tables or the project's root.

    A document's day is the one that begins its title, else `given`, else its `creation_date`: the day on which it was
    indexed, which is never before it was published.

    Raises:
        DocumentError: when a table is missing or cannot be read.
    """
    place = folder / "output" if (folder / "output").is_dir() else folder
    tables = {name: _table(place / f"{name}.parquet") for name in _NEEDED}
    covariates = place / "covariates.parquet"
    claims = _table(covariates) if covariates.is_file() else []
    ours = any(record.get("liantu_claim") for record in claims)
    types = {str(record["title"]): str(record.get("type") or "") for record in tables["entities"]}
    ids = {str(record["title"]): record["liantu_id"] for record in tables["entities"] if record.get("liantu_id")}
    links = map(_own_claim, claims) if ours else (*_links(tables["relationships"]), *map(_claim, claims))
    documents = tuple(_documents(tables["documents"], tables["text_units"], given))
    return ForeignGraph(EXTRACTOR, documents, types, tuple(links), ids)


def _table(path: Path) -> list[Record]:
    arrow, parquet = pyarrow()
    try:
        records: list[Record] = parquet.read_table(path).to_pylist()
    except (OSError, arrow.ArrowInvalid) as error:
        cause = f"cannot be read: {str(error).splitlines()[0]}"
        raise DocumentError(str(path), cause, "name the root or the output folder of a GraphRAG index") from error
    return records


def _documents(documents: list[Record], units: list[Record], given: date | None) -> Iterator[ForeignText]:
    passages = grouped((str(unit["document_id"]), str(unit["id"]), str(unit["text"] or "")) for unit in units)
    for record in documents:
        source = _source(record)
        title, created = str(record["title"] or ""), day_in(str(record.get("creation_date") or ""))
        day = created if source.get("liantu_id") else day_named(title) or given or created
        texts = passages.get(str(record["id"]), {})
        if source.get("liantu_id"):  # the first line of a text unit names its document
            texts = {identity: text.partition("\n")[2] for identity, text in texts.items()}
        yield ForeignText(title, str(record["text"] or ""), day, texts, str(source.get("publisher") or ""))


def _source(record: Record) -> Record:
    try:
        found = json.loads(record.get("raw_data") or "{}")
    except (TypeError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _links(records: list[Record]) -> Iterator[ForeignLink]:
    for record in records:
        units = tuple(map(str, record["text_unit_ids"] or ()))
        yield ForeignLink(str(record["source"]), str(record["target"]), units, Fact("", "", "", ""))


def _claim(record: Record) -> ForeignLink:
    """Return a claim that GraphRAG extracted: of a type of its own, with its status, first and last day."""
    first, last = (day_in(str(record.get(name) or "")[:10]) for name in ("start_date", "end_date"))
    single = first is not None and first == last
    ordered = first is None or last is None or first <= last
    end = last + _DAY if last and last < date.max else None
    valid = Period(first, end, Precision.DAY if single else Precision.RANGE) if (first or last) and ordered else None
    polarity = _POLARITIES.get(str(record.get("status") or "").upper(), Polarity.POSITIVE)
    claim = Fact("", "", str(record.get("type") or "").lower(), "", polarity=polarity, valid=valid)
    quote, unit = str(record.get("source_text") or ""), str(record.get("text_unit_id") or "")
    return ForeignLink(str(record["subject_id"]), str(record["object_id"]), (unit,), claim, quote)


def _own_claim(record: Record) -> ForeignLink:
    """Return a claim that Liantu exported, with everything that makes it the same fact."""
    ends = str(record["subject_id"]), str(record["object_id"])
    try:
        claim = codec.claim_in(
            "", (*ends[:1], str(record["type"]).lower(), *ends[1:]), record["liantu_claim"], evidence=()
        )
    except (ValueError, TypeError, KeyError) as error:
        raise DocumentError("covariates.parquet", "liantu_claim is not a claim", "export the index again") from error
    quote, unit = str(record.get("source_text") or ""), str(record.get("text_unit_id") or "")
    speaker, confidence = str(record.get("liantu_speaker") or ""), float(record.get("liantu_confidence") or 1.0)
    return ForeignLink(*ends, (unit,), claim, quote, speaker, confidence)
