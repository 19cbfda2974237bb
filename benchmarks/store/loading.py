"""Measure import, first and later use of a view, and snapshot memory."""

from __future__ import annotations

import json
import pickle
import sqlite3
import time
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.store.corpus import write_rows
from benchmarks.store.growing import synthetic
from benchmarks.store.table import Figure, peak_megabytes, reset_peak
from kg.graph import cache as archive
from kg.graph.snapshot import Snapshot
from kg.interop.imports.rows import FieldReader, RowImport
from kg.query.walks.chain import chain
from kg.query.walks.impact import impact
from kg.query.walks.relate import relate
from kg.relations import vocabulary
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg.store.port import Store, View

_READ = datetime(2026, 1, 1, tzinfo=UTC)
_QUERY_NUMBERS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89)  # lower numbers have more facts
_DAYS = (date(2022, 6, 30), date(2024, 6, 30))


def base(folder: Path, facts: int) -> tuple[Path, list[Figure]]:
    """Import a synthetic graph, or reuse that of an earlier run in the folder."""
    path = folder / f"{facts}.liantu"
    if path.exists():
        return path, [Figure("import", "reused from an earlier run")]
    rows = write_rows(folder / f"{facts}.jsonl", facts)
    reset_peak()
    wall, began = time.perf_counter(), time.process_time()
    with closing(open_store(path, create=True)) as store:
        RowImport("jsonl", FieldReader(vocabulary()), _READ).run(rows, store, refuse=print)
    wall, used = time.perf_counter() - wall, time.process_time() - began
    found = (
        f"{facts / wall:,.0f} facts/s wall clock, {facts / used:,.0f} by CPU time; {used / _floor(folder, rows):.1f} × "
        f"parsing and filling one indexed table; peak {peak_megabytes():,.0f} MB, "
        f"file {path.stat().st_size / 1e6:,.0f} MB"
    )
    return path, [Figure(f"import of {facts:,} facts", found)]


def _floor(folder: Path, rows: Path) -> float:
    """Return the CPU seconds to parse the rows and fill one table with a unique index."""
    began = time.process_time()
    with closing(sqlite3.connect(folder / "floor.sqlite")) as connection, rows.open(encoding="utf-8") as file:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE row (id TEXT UNIQUE, one TEXT, relation TEXT, other TEXT, line TEXT)")
        parsed = ((json.loads(line), line) for line in file)
        connection.executemany(
            "INSERT INTO row VALUES (?, ?, ?, ?, ?)",
            (
                (f"{hash(line):x}{n}", row["subject"], row["relation"], row["object"], line)
                for n, (row, line) in enumerate(parsed)
            ),
        )
        connection.commit()
    (folder / "floor.sqlite").unlink()
    return time.process_time() - began


def views(path: Path) -> list[Figure]:
    """Measure CPU seconds of the first load, views of a day (first and later), and the latest view after a commit."""
    figures = []
    for left in Path(f"{path}-snapshot").glob("*"):
        left.unlink()
    with closing(open_store(path)) as store:
        forget()
        reset_peak()
        whole = _timed(store.view())
        figures.append(
            Figure(
                "first load: read table, compile and cache latest view",
                f"{whole:.1f} s, peak {peak_megabytes():,.0f} MB",
            )
        )
        forget()
        mapped = _timed(store.view())
        figures.append(Figure("latest view in a new process: map and verify cache files", f"{mapped:.3f} s"))
        for day in _DAYS:
            first = _timed(store.view(as_of=day))
            later = _timed(store.view(as_of=day))
            figures.append(Figure(f"View(as_of={day}), first use", f"{first:.3f} s", "≤ 1 s", first <= 1))
            figures.append(Figure(f"View(as_of={day}), later", f"{later * 1000:.2f} ms", "≤ 10 ms", later <= 0.01))
        figures += [*memory(Snapshot.compile(store.view(), vocabulary())), *_questions(store), *_after_commit(store)]
    return figures


def _questions(store: Store) -> list[Figure]:
    """Measure CPU seconds of queries on entities with many and few facts, with the graph loaded."""
    with store.reader() as view:
        queries: dict[str, Callable[[int], object]] = {
            "chain of a product": lambda number: chain(view, f"product{number}"),
            "impact of an indicator": lambda number: impact(view, f"indicator{number}"),
            "paths between company and product": lambda number: relate(view, f"company{number}", f"product{number}"),
        }
        figures = []
        for name, query in queries.items():
            seconds = sorted(_cpu_seconds(query, number) for number in _QUERY_NUMBERS)
            latencies = f"p50 {seconds[len(seconds) // 2] * 1000:.0f} ms, slowest {seconds[-1] * 1000:.0f} ms"
            figures.append(Figure(f"{name}, {len(_QUERY_NUMBERS)} queries", latencies))
    return figures


def _cpu_seconds(query: Callable[[int], object], number: int) -> float:
    began = time.process_time()
    query(number)
    return time.process_time() - began


def memory(snapshot: Snapshot) -> list[Figure]:
    """Measure the memory of a snapshot."""
    facts = len(snapshot.edges())
    parts = snapshot.parts
    ids = len(pickle.dumps((parts.fact_ids, parts.entity_ids))) / facts
    arrays = (parts.rows.records, parts.outward, parts.inward, parts.anchored, parts.about, parts.kinds.codes)
    found = len(pickle.dumps(arrays)) / facts
    return [
        Figure(
            f"snapshot of {facts:,} live facts",
            f"{found:.1f} bytes per fact, plus ids {ids:.1f}",
            "≤ 64 bytes",
            found <= 64,
        )
    ]


def _after_commit(store: Store) -> list[Figure]:
    """Measure the latest view after writing one document, then remove the document."""
    reading = synthetic(1)
    with store.writer() as writer:
        writer.write(reading)
    patched = _timed(store.view())
    with store.writer() as writer:
        writer.remove(reading.document.id)
    return [Figure("latest view after a commit of 20 facts", f"{patched * 1000:.0f} ms")]


def _timed(view: View) -> float:
    """Return the CPU seconds to compile a view."""
    began = time.process_time()
    Snapshot.compile(view, vocabulary())
    return time.process_time() - began


def forget() -> None:
    """Clear the in-memory cache, as in a new process."""
    archive.forget()
