"""How well filings are found: the right document, the right pages.

    python -m benchmarks.filings DIR [--json]        what a user runs: ingest DIR/*.pdf, then each question
    python -m benchmarks.filings DIR --modes         all ways to rank, the scorer trained without the asked company

DIR is laid out like FinanceBench (benchmarks/filings/dataset.py). A question whose document could not be read counts as
a miss; one whose document is not in DIR is left out.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchmarks.filings.dataset import build, names_of, read_questions
from benchmarks.filings.modes import compare
from benchmarks.filings.values import agreement, measure_values

if TYPE_CHECKING:
    from benchmarks.filings.dataset import GoldQuestion
    from kg.service.base import KnowledgeBase

_CUTS = (1, 5, 10)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@click.option("--modes", is_flag=True, help="compare all ways to rank documents and pages")
@click.option("--pages", default=0, show_default=True, help="pages of prose of a filing that are read for facts")
@click.option("--kb", "path", type=click.Path(path_type=Path), help="keep the base here, and use it again")
def main(folder: Path, path: Path | None, pages: int, *, as_json: bool, modes: bool) -> None:
    """Measure the filings of FOLDER."""
    with tempfile.TemporaryDirectory() as scratch:
        started = time.perf_counter()
        kb, outcome = build(folder, path or Path(scratch) / "kb.liantu", pages=pages)
        seconds = time.perf_counter() - started
        with kb:
            for fault in outcome.refused:
                click.echo(f"refused: {fault}", err=True)
            files = {file.stem for file in folder.glob("*.pdf")}
            questions = [each for each in read_questions(folder) if each.document in files]
            if modes:
                click.echo(compare(kb, questions))
                return
            with kb.session() as session:
                values = measure_values(session, questions) | agreement(session)
            found = {
                **measure(kb, questions),
                **values,
                "documents": len(files),
                "refused": len(outcome.refused),
                "ingest_seconds": round(seconds, 1),
            }
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
    else:
        for name, value in found.items():
            click.echo(f"{name:22} {value}")


def measure(kb: KnowledgeBase, questions: list[GoldQuestion]) -> dict[str, Any]:
    """Ask each question, and return recall of documents and pages, and the time of a warm question."""
    names = names_of(kb)
    documents = dict.fromkeys((1, 5), 0.0)
    pages = dict.fromkeys(_CUTS, 0.0)
    times = []
    for question in questions:
        kb.filing_pages(question.text, limit=max(_CUTS))
        started = time.perf_counter()
        answer = kb.filing_pages(question.text, limit=max(_CUTS))
        times.append(time.perf_counter() - started)
        order = [names[each.document] for each in answer.filings]
        ranked = [(names[each.document], each.page) for each in answer.pages]
        for cut in documents:
            documents[cut] += question.document in order[:cut]
        for cut in pages:
            pages[cut] += len(question.pages & set(ranked[:cut])) / len(question.pages)
    count = max(1, len(questions))
    return {
        "questions": len(questions),
        **{f"document_recall@{cut}": round(value / count, 4) for cut, value in documents.items()},
        **{f"page_recall@{cut}": round(value / count, 4) for cut, value in pages.items()},
        "warm_seconds": round(sorted(times)[len(times) // 2], 3) if times else None,
        "warm_seconds_worst": round(max(times, default=0.0), 3),
    }


if __name__ == "__main__":
    main()
