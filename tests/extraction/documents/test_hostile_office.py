"""Files of a few kilobytes that would cost minutes: each is limited while it is read, within 5 s of the processor."""

from __future__ import annotations

from datetime import date
from resource import RUSAGE_CHILDREN, getrusage
from time import process_time
from typing import TYPE_CHECKING

import pytest

from benchmarks.hostile_formats import FILES
from extraction.documents.open_file import read_file
from extraction.reading import FileReader
from kg.errors import DocumentError

if TYPE_CHECKING:
    from pathlib import Path

for extra in ("docx", "pptx", "openpyxl"):
    pytest.importorskip(extra)

SECONDS = 5  # of processor time
TODAY = date(2025, 9, 1)
# PDFium makes all characters before it counts them: these meet the limit on the memory of a process of its own.
APART = {
    "a code for thousands of characters.pdf",
    "forms of forms, ten million.pdf",
    "forms of forms, six thousand.pdf",
}
REFUSED = {
    "a cell that spans 100,000 columns.docx": "columns",
    "20,000 rows of cells that span.docx": "cells",
    "300,000 paragraphs.docx": "elements|paragraphs",
    "100,000 empty paragraphs.docx": "paragraphs",
    "cells merged downwards.docx": "cells",
    "tables within tables.docx": "not a readable docx",
    "entities of entities.docx": "not a readable docx",
    "encrypted.docx": "not a readable docx",
    "one part under 1,000 names.docx": "not a readable docx",
    "six million shared strings.xlsx": "MB|elements",
    "a cell far away.xlsx": "more than",
    "a full sheet.xlsx": "elements",
    "a long string in many cells.xlsx": "characters",
    "60,000 shapes.pptx": "elements|paragraphs",
    "a table of 100,000 cells.pptx": "cells",
    "cells that all cover the table.pptx": "cells",
    "a code that stands for 500 characters.pdf": "characters",
    "300 pages of such a code.pdf": "too many for a file",
    "a million cells.html": "td tags",
    "100,000 small tables.html": "table tags",
    "19,000 rows of 100.csv": "cells",
}


@pytest.mark.parametrize("name", sorted(FILES.keys() - APART))
def test_a_hostile_file_costs_little_and_at_most_one_line(name: str, tmp_path: Path):
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    began = process_time()
    (found,) = read_file(path, today=TODAY, published_on=date(2025, 8, 20))
    assert process_time() - began < SECONDS
    if name in REFUSED:
        assert isinstance(found, DocumentError)
    if isinstance(found, DocumentError):
        assert "\n" not in str(found)
        assert any(cause in found.cause for cause in REFUSED.get(name, "").split("|")), found.cause


@pytest.mark.parametrize("name", sorted(APART))
def test_what_a_page_expands_to_meets_a_limit(name: str, tmp_path: Path):
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    reader = FileReader(TODAY)
    began = getrusage(RUSAGE_CHILDREN).ru_utime
    (found,) = reader.read(path)
    reader.close()
    assert isinstance(found, DocumentError)
    assert "memory" in str(found) or "characters" in str(found)
    assert getrusage(RUSAGE_CHILDREN).ru_utime - began < SECONDS
