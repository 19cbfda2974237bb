"""A base of made-up filings: two issuers on one template with other numbers, each with two years."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from kg.filing import Filing
from kg.ids import chunk_id, document_id
from kg.model import Block, BlockKind, Chunk, ChunkKind, Document, Reading
from tests.contracts.reference import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence

READ_AT = datetime(2026, 1, 1, tzinfo=UTC)
ISSUERS = (("Oakwell Pumps, Inc.", "OAKW.US", 4_000), ("Elmford Pumps, Inc.", "ELMF.US", 7_000))
YEARS = (2021, 2022)
Page = list[tuple[BlockKind, int, str]]
PARAGRAPH, HEADING, TABLE = BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.TABLE


def pages_of(company: str, year: int, amount: int) -> list[Page]:
    """Return the pages of an annual report."""
    years = f"{year} {year - 1}"
    return [
        [(PARAGRAPH, 0, f"{company} annual report for {year}")],
        [(HEADING, 1, "Item 1. Business"), (PARAGRAPH, 0, f"{company} makes pumps for water works and breweries.")],
        [
            (HEADING, 1, "Item 7. Management’s Discussion"),
            (PARAGRAPH, 0, "Operating margin fell, primarily due to higher freight costs, partially offset by prices."),
        ],
        [
            (HEADING, 1, "Item 8. Financial Statements"),
            (HEADING, 2, "Consolidated Balance Sheets"),
            (TABLE, 0, f"{years}\nInventories {amount + year} {amount}\nTotal current assets {2 * amount} {amount}"),
            (TABLE, 0, f"Accounts payable {amount} 90\nTotal current liabilities {amount} 80\nTotal assets 999 888"),
        ],
        [
            (HEADING, 2, "Consolidated Statements of Cash Flows"),
            (TABLE, 0, f"{years}\nNet cash provided by operating activities {amount} 70\nDepreciation 11 12"),
            (TABLE, 0, f"Purchases of property, plant and equipment ({amount}) (60)\nDividends paid (5) (4)"),
        ],
        [
            (HEADING, 2, "NOTE 9. Litigation"),
            (PARAGRAPH, 0, "The plaintiffs filed a complaint in a federal court about leaking pumps."),
        ],
    ]


def reading_of(filing: Filing, pages: Sequence[Page], day: date) -> Reading:
    """Return a filing as stored, a passage a block."""
    text, starts, blocks = "", [], []
    for page in pages:
        starts.append(len(text))
        for kind, level, words in page:
            blocks.append(Block(len(text), len(text) + len(words), kind, level))
            text += words + "\n"
    document = Document(
        document_id(text.encode()),
        filing.title,
        day,
        text,
        kind=filing.form,
        publisher=filing.company,
        language="en",
        codes=filing.codes,
        tags=filing.tags,
        pages=tuple(starts),
        blocks=tuple(blocks),
    )
    chunks = [
        Chunk(
            chunk_id(document.id, block.start, block.end),
            document.id,
            block.start,
            block.end,
            text[block.start : block.end],
            page=document.page_of(block.start),
            kind=ChunkKind.TABLE if block.kind is TABLE else ChunkKind.TEXT,
            search_text=text[block.start : block.end],
        )
        for block in blocks
        if block.kind is not HEADING
    ]
    return Reading(document, tuple(chunks), recorded_at=READ_AT)


def filings() -> MemoryStore:
    """Return the base."""
    store = MemoryStore()
    with store.writer() as writer:
        for company, code, amount in ISSUERS:
            for year in YEARS:
                filing = Filing(company, "10-K", year, ends=date(year, 12, 31), codes=(code,), currency="USD")
                writer.write(reading_of(filing, pages_of(company, year, amount), date(year + 1, 2, 7)))
            event = Filing(company, "8-K", ends=date(2022, 5, 20), codes=(code,))
            vote = [(PARAGRAPH, 0, f"{company}: shareholders elected all nominees to the board of directors.")]
            writer.write(reading_of(event, [vote], date(2022, 5, 24)))
    return store
