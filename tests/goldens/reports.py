"""Small reports for the tests of extraction, and one extractor for the whole session.

A report is written line by line: `# …` is a heading (more marks, deeper), `- …` an item, `| …` a table, `~ …` a span
that cleaning removed, everything else a paragraph.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import cache
from typing import TYPE_CHECKING

from extraction.pipeline import Extractor
from kg.ids import document_id
from kg.model import Block, BlockKind, Document, Removed
from kg.securities.master import Master

if TYPE_CHECKING:
    from kg.model import Fact, Reading

PUBLISHED = date(2025, 8, 20)
READ = datetime(2025, 9, 1, 8, tzinfo=UTC)
PUBLISHER = "示例证券甲"


@cache
def extractor(min_confidence: float = 0.0) -> Extractor:
    """The rules on the shipped securities master, without models: built once a session."""
    return Extractor(Master.load(None), ner=False, min_confidence=min_confidence)


def report(
    *lines: str,
    title: str = "行业周报",
    day: date = PUBLISHED,
    publisher: str = PUBLISHER,
    codes: tuple[str, ...] = (),
) -> Document:
    """Make a document of marked lines; the marks are not part of its text."""
    text, blocks, removed = "", [], []
    for line in lines:
        mark, _, rest = line.partition(" ")
        known = bool(mark) and (set(mark) == {"#"} or mark in ("-", "|", "~"))
        body = rest if known else line
        start, end = len(text), len(text) + len(body)
        text += body + "\n"
        if known and mark == "~":
            removed.append(Removed(start, end, "disclaimer"))
        elif known and mark == "|":
            blocks.append(Block(start, end, BlockKind.TABLE, html=f"<table><tr><td>{body}</td></tr></table>"))
        elif known and mark == "-":
            blocks.append(Block(start, end, BlockKind.ITEM))
        elif known:
            blocks.append(Block(start, end, BlockKind.HEADING, level=len(mark)))
        else:
            blocks.append(Block(start, end, BlockKind.PARAGRAPH))
    return Document(
        id=document_id("|".join((title, str(day), publisher, text)).encode()),
        title=title,
        published_on=day,
        text=text,
        publisher=publisher,
        codes=codes,
        blocks=tuple(blocks),
        removed=tuple(removed),
    )


def read(document: Document) -> Reading:
    """Extract one document."""
    return extractor().extract(document, recorded_at=READ)


def facts_of(*lines: str, relation: str = "", **about: object) -> list[Fact]:
    """Return the facts of a small report, of one relation if it is named."""
    found = read(report(*lines, **about)).facts  # type: ignore[arg-type]
    return [fact for fact in found if not relation or fact.relation == relation]


def names_of(reading: Reading) -> dict[str, str]:
    """Return the name of every entity of a reading."""
    return {entity.id: entity.name for entity in reading.entities}


def stated(*lines: str, relation: str, **about: object) -> set[tuple[str, str]]:
    """Return the (subject name, object name) pairs of one relation."""
    reading = read(report(*lines, **about))  # type: ignore[arg-type]
    names = names_of(reading)
    return {(names[fact.subject], names[fact.object]) for fact in reading.facts if fact.relation == relation}
