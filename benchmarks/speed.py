"""Measure time and memory of each stage: `python -m benchmarks.speed [--folder PATH] [--limit FILES] [--repeat RUNS]`.

Runs the production functions in one process, each stage on the same documents. The floor is a bare automaton pass over
the same text with the securities finder's patterns: the minimum cost of any name search on this machine.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import daachorse
from rich.cells import cell_len
from threadpoolctl import threadpool_limits

from communities.weekly import run_week
from extraction.certainty.modality import read_modality
from extraction.documents.open_file import read_file, walk
from extraction.facts.chunking import chunk_document
from extraction.names.gazetteer import shipped_lexicon
from extraction.names.ner import load_ner
from extraction.pipeline import Extractor
from extraction.quantities.reader import find_quantities
from extraction.text.sentences import split
from extraction.worker_process import built
from kg.dating.reader import find_periods
from kg.errors import UnknownName
from kg.graph.snapshot import Snapshot
from kg.model import BlockKind, Document, Reading
from kg.query.ask.answer import ask
from kg.query.session import QuerySession
from kg.query.walks.chain import chain
from kg.query.walks.impact import impact
from kg.relations import vocabulary
from kg.securities.finder import NameFinder
from kg.securities.master import Master
from kg.securities.resolver import Resolver
from kg.settings import Settings
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from extraction.text.sentences import Sentence
    from kg.store.port import Store

READ_AT = datetime(2026, 6, 30, tzinfo=UTC)
QUESTIONS = ("光伏产业链上下游有哪些公司？", "猪周期拐点会影响哪些板块？", "历史上加息周期银行板块怎么表现？")
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(slots=True)
class Bench:
    """The measurements of a run.

    Attributes:
        repeat: runs of each stage; the best counts.
        characters: size of the texts processed by the next stages.
        floor: seconds per character of the bare automaton.
    """

    repeat: int
    characters: int = 0
    floor: float = 0.0
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def measure(
        self, stage: str, call: Callable[[], Any], *, facts: int = 0, text: bool = True, once: bool = False
    ) -> Any:
        """Time a stage (best of its runs) and record its characters and facts per second."""
        reset_peak()
        seconds, result = self.seconds(call, 1 if once else self.repeat)
        facts = facts or sum(len(reading.facts) for reading in _readings(result))
        self.row(stage, seconds, facts=facts, text=text, memory=f"{peak_megabytes():.0f}")
        return result

    @staticmethod
    def seconds(call: Callable[[], Any], runs: int) -> tuple[float, Any]:
        """Return the shortest run time and the result of the last run."""
        best, result = float("inf"), None
        for _ in range(runs):
            began = time.perf_counter()
            result = call()
            best = min(best, time.perf_counter() - began)
        return best, result

    def row(self, stage: str, seconds: float, *, facts: int = 0, text: bool = True, memory: str = "") -> None:
        """Add a row for a stage measured elsewhere."""
        shown = (
            f"{seconds:.3f}",
            f"{self.characters / seconds:,.0f}" if text and self.characters and seconds > 0 else "",
            f"{facts / seconds:,.0f}" if facts and seconds > 0 else "",
            f"{seconds / self.characters / self.floor:,.0f}" if text and self.floor and self.characters else "",
        )
        self.rows.append((stage, *shown, memory))

    def print(self) -> None:
        """Print the rows as a Markdown table; Chinese characters are two columns wide."""
        table = [("stage", "seconds", "characters/s", "facts/s", "× floor", "peak MB"), *self.rows]
        widths = [max(cell_len(row[column]) for row in table) for column in range(len(table[0]))]
        for number, row in enumerate(table):
            cells = [
                row[0] + " " * (widths[0] - cell_len(row[0])),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
            print("| " + " | ".join(cells) + " |")
            if number == 0:
                print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def reset_peak() -> None:
    """Reset the peak-memory counter, where the kernel allows it."""
    try:
        CLEAR.write_text("5", encoding="ascii")
    except OSError:
        return


def peak_megabytes() -> float:
    """Return peak resident memory since the last reset, or of the whole process where resetting is unsupported."""
    try:
        lines = STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        lines = []
    kilobytes = next((line.split()[1] for line in lines if line.startswith("VmHWM")), None)
    return int(kilobytes or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024


def read(files: Sequence[Path]) -> list[Document]:
    found = (item for file in files for item in read_file(file, today=READ_AT.date(), published_on=date(2026, 1, 1)))
    return [item for item in found if isinstance(item, Document)]


def measure_floor(bench: Bench, documents: Sequence[Document]) -> None:
    text = "\n".join(document.text for document in documents)
    patterns = NameFinder(Master.load()).patterns
    automaton = daachorse.CharwiseDoubleArrayAhoCorasick(patterns, daachorse.MATCH_KIND_LEFTMOST_LONGEST)
    bench.characters = len(text)
    seconds, _ = bench.seconds(lambda: automaton.find(text), max(3, bench.repeat))
    bench.floor = seconds / len(text)
    bench.row("floor: bare automaton pass", seconds)
    bench.row("plain loop over characters", bench.seconds(lambda: sum(1 for _ in text), 3)[0])


def measure_reading(bench: Bench, ending: str, files: Sequence[Path]) -> None:
    bench.characters = sum(len(document.text) for document in read(files))
    bench.measure(f"read and clean, {len(files)} {ending}", lambda: read(files))


def sentences_of(documents: Sequence[Document]) -> list[list[Sentence]]:
    return [
        [
            sentence
            for block in document.blocks
            if block.kind != BlockKind.TABLE
            for sentence in split(document.text, block.start, block.end)
        ]
        for document in documents
    ]


def measure_parts(bench: Bench, documents: Sequence[Document]) -> float:
    """Measure the parts of extraction; return the seconds of those included in a run without models."""
    first = len(bench.rows)
    sentences = bench.measure("sentences", lambda: sentences_of(documents))
    bench.measure("chunk", lambda: [chunk_document(document) for document in documents])
    dated = [
        (line.text, document.published_on)
        for document, lines in zip(documents, sentences, strict=True)
        for line in lines
    ]
    bench.measure("dating", lambda: [find_periods(text, day) for text, day in dated])
    bench.measure("quantities", lambda: [find_quantities(text) for text, _ in dated])
    resolver = Resolver(Master.load())
    bench.measure(
        "names: securities resolver",
        lambda: [resolver.resolve(each.text, each.published_on, subject_codes=each.codes) for each in documents],
    )
    lexicon = shipped_lexicon()
    bench.measure("gazetteer", lambda: [lexicon.find(text) for text, _ in dated])
    known = sum(float(row[1]) for row in bench.rows[first:])
    bench.measure("modality, every sentence", lambda: [read_modality(text, 0, len(text)) for text, _ in dated])
    ner = load_ner()
    bench.measure("NER", lambda: [ner.find([line.text for line in lines]) for lines in sentences])
    return known


def measure_extraction(bench: Bench, documents: Sequence[Document], known: float) -> list[Reading]:
    def run(extractor: Extractor) -> list[Reading]:
        return [extractor.extract(document, recorded_at=READ_AT) for document in documents]

    threshold = Settings().min_confidence
    plain = built(partial(Extractor.default, ner=False, edge_model="off", min_confidence=threshold))
    full = built(partial(Extractor.default, min_confidence=threshold))
    place = len(bench.rows)
    without = bench.measure("extraction without models", lambda: run(plain))
    remainder = float(bench.rows[place][1]) - known
    bench.row("  of which patterns, metrics, merging", remainder, facts=sum(len(reading.facts) for reading in without))
    readings: list[Reading] = bench.measure("extraction, as ingest runs it", lambda: run(full))
    return readings


def write(store: Store, readings: Sequence[Reading]) -> None:
    with store.writer() as writer:
        for reading in readings:
            writer.write(reading)


def measure_base(bench: Bench, readings: Sequence[Reading], folder: Path) -> None:
    facts = sum(len(reading.facts) for reading in readings)
    store = open_store(folder / "kb.liantu", create=True)
    try:
        bench.measure("store write", lambda: write(store, readings), facts=facts, once=True)
        facts = store.stats()["facts"]
        bench.measure("facts read back", lambda: list(store.view().facts()), facts=facts, text=False)
        words = vocabulary()
        bench.measure("snapshot compile", lambda: Snapshot.compile(store.view(), words), facts=facts, text=False)
        bench.measure("weekly", lambda: run_week(store, None), facts=facts, text=False, once=True)
        session = QuerySession(store.view())
        session.index("")  # compile the snapshot before measuring latencies
        for stage, call in (
            ("chain 光伏", lambda: chain(session, "光伏")),
            ("impact 碳酸锂价格 down", lambda: impact(session, "碳酸锂价格", -1)),
        ):
            try:
                bench.measure(stage, call, text=False)
            except UnknownName as error:  # few documents may lack the name
                print(f"{stage}: {error}")
        for question in QUESTIONS:
            bench.measure(f"ask {question[:6]}…", partial(ask, session, question), text=False)
    finally:
        store.close()
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    print(f"knowledge base: {facts:,} facts, {size:.1f} MB on disk\n")


def _readings(result: Any) -> list[Reading]:
    return [each for each in result if isinstance(each, Reading)] if isinstance(result, list) else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--folder", type=Path, default=Path("notebooks/demo/reports"), help="a document or a folder of documents"
    )
    parser.add_argument("--limit", type=int, help="only the first N files")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each stage; the best counts")
    options = parser.parse_args()
    files = list(walk([options.folder], Counter()))[: options.limit]
    threadpool_limits(1)  # one core, as in an ingest worker
    bench = Bench(max(1, options.repeat))
    documents = read(files)  # also warms up the readers
    if not documents:
        parser.error(f"{options.folder}: no readable documents")
    measure_floor(bench, documents)
    for ending in sorted({file.suffix for file in files}):
        measure_reading(bench, ending, [file for file in files if file.suffix == ending])
    bench.characters = sum(len(document.text) for document in documents)
    readings = measure_extraction(bench, documents, measure_parts(bench, documents))
    print(f"{len(files):,} files, {len(documents):,} documents, {bench.characters:,} characters, one core")
    with tempfile.TemporaryDirectory() as folder:
        measure_base(bench, readings, Path(folder))
    bench.print()


if __name__ == "__main__":
    main()
