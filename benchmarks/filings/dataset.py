"""A folder of filings with questions, laid out as FinanceBench's: PDFs, and questions.jsonl with evidence pages.

Lines have `question`, `doc_name` (3M_2018_10K), `question_type`, `company`, `answer`, and `evidence`, a list of
`doc_name` and `evidence_page_num`, which counts from 0.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from extraction.ingest import Job, ingest
from kg.service.base import open_kb

if TYPE_CHECKING:
    from extraction.ingest import Outcome
    from kg.service.base import KnowledgeBase

READ_AT = datetime(2026, 1, 1, tzinfo=UTC)  # of all measurements, so that a run can be repeated


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question with its document and its pages (document, page from 1)."""

    text: str
    document: str
    pages: frozenset[tuple[str, int]]
    kind: str
    company: str
    answer: str = ""

    @property
    def form(self) -> str:
        """The form that the document's name claims, for tables only."""
        name = self.document.upper()
        return next((form for form in ("10K", "10Q", "8K", "EARNINGS") if form in name), "other")


def read_questions(folder: Path) -> list[GoldQuestion]:
    """Read the questions of a folder."""
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [_question(json.loads(line)) for line in lines if line.strip()]


def build(folder: Path, path: Path, *, pages: int = 0, workers: int = 0) -> tuple[KnowledgeBase, Outcome]:
    """Ingest the PDFs of a folder into a new base as `liantu ingest` does.

    Args:
        folder: with the PDFs.
        path: of the base.
        pages: how many pages of prose of a filing are read for facts.
        workers: processes, 0 for one per processor.
    """
    kb = open_kb(path, create=True, lang="en")
    files = sorted(folder.glob("*.pdf"))
    outcome = ingest(kb.store, Job(files, READ_AT, workers=workers, filing_pages=pages))
    return kb, outcome


def names_of(kb: KnowledgeBase) -> dict[str, str]:
    """Return the name of the file of each document, by which a folder's questions refer to it."""
    with kb.session() as session:
        return {head.id: Path(head.path).stem for head in session.view.documents()}


def _question(row: dict[str, object]) -> GoldQuestion:
    document = str(row["doc_name"])
    evidence = row["evidence"]
    assert isinstance(evidence, list)
    return GoldQuestion(
        text=str(row["question"]),
        document=document,
        pages=frozenset((each.get("doc_name") or document, int(each["evidence_page_num"]) + 1) for each in evidence),
        kind=str(row.get("question_type", "")),
        company=str(row.get("company", "")),
        answer=str(row.get("answer", "")),
    )
