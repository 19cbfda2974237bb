"""Bulk import, the first and the later use of a view, and what the snapshot takes."""

from __future__ import annotations

import json
import resource
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
from kg.interop.rows.claims import Claims
from kg.interop.rows.importing import Import
from kg.query.chain import chain
from kg.query.impact import impact
from kg.query.relate import relate
from kg.relations import vocabulary
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg.store.port import Store, View

_READ = datetime(2026, 1, 1, tzinfo=UTC)
_ASKED = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89)  # by falling numbers of facts
_DAYS = (date(2022, 6, 30), date(2024, 6, 30))


def base(folder: Path, facts: int) -> tuple[Path, list[Figure]]:
    """Import a made-up graph, or take the one an earlier run left in the folder."""
    path = folder / f"{facts}.liantu"
    if path.exists():
        return path, [Figure("bulk import", "made by an earlier run", "≥ 50,000 facts/s")]
    rows = write_rows(folder / f"{facts}.jsonl", facts)
    reset_peak()
    began, worked, read = time.perf_counter(), time.process_time(), _by_children()
    with closing(open_store(path, create=True)) as store:
        Import("jsonl", Claims(vocabulary()), _READ).run(rows, store, refuse=print)
    seconds, worked, read = time.perf_counter() - began, time.process_time() - worked, _by_children() - read
    peak, other = peak_megabytes(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    floor = _floor(folder, rows)
    rate, alone = facts / seconds, facts / max(worked, read)
    found = (
        f"{rate:,.0f} facts/s on the clock, {alone:,.0f} by the busier process (writes {worked / facts * 1e6:.1f} µs a "
        f"fact, reads {read / facts * 1e6:.1f}); × {max(worked, read) / floor:.1f} of parsing and filling one indexed "
        f"table; peak {peak:,.0f} and {other:,.0f} MB, file {path.stat().st_size / 1e6:,.0f} MB"
    )
    # On a machine that others use the clock tells nothing of the two processes, which then share one processor.
    return path, [Figure(f"bulk import of {facts:,} facts", found, "≥ 50,000 facts/s", max(rate, alone) >= 50_000)]


def _by_children() -> float:
    """Return the processor seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _floor(folder: Path, rows: Path) -> float:
    """Return the processor seconds that parsing the rows and one table with one unique index take."""
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
    """Measure, in processor seconds, the table, a view of a day, the same again, and the latest after a commit."""
    figures = []
    for left in Path(f"{path}-snapshot").glob("*"):
        left.unlink()
    with closing(open_store(path)) as store:
        forget()
        reset_peak()
        whole = _timed(store.view())
        figures.append(
            Figure(
                "table read, latest view compiled and filed, once", f"{whole:.1f} s, peak {peak_megabytes():,.0f} MB"
            )
        )
        forget()
        mapped = _timed(store.view())
        figures.append(Figure("latest view in another process: files mapped and checked", f"{mapped:.3f} s"))
        for day in _DAYS:
            first = _timed(store.view(as_of=day))
            later = _timed(store.view(as_of=day))
            figures.append(Figure(f"View(as_of={day}), first use", f"{first:.3f} s", "≤ 1 s", first <= 1))
            figures.append(Figure(f"View(as_of={day}), later", f"{later * 1000:.2f} ms", "≤ 10 ms", later <= 0.01))
        figures += [*memory(Snapshot.compile(store.view(), vocabulary())), *_questions(store), *_after_commit(store)]
    return figures


def _questions(store: Store) -> list[Figure]:
    """Ask about entities of very many facts and of few, the graph being there; in processor seconds."""
    with store.reader() as view:
        asked: dict[str, Callable[[int], object]] = {
            "chain of a product": lambda number: chain(view, f"product{number}"),
            "what an indicator moves": lambda number: impact(view, f"indicator{number}"),
            "a company and a product": lambda number: relate(view, f"company{number}", f"product{number}"),
        }
        figures = []
        for name, ask in asked.items():
            spent = sorted(_spent(ask, number) for number in _ASKED)
            told = f"p50 {spent[len(spent) // 2] * 1000:.0f} ms, slowest {spent[-1] * 1000:.0f} ms"
            figures.append(Figure(f"{name}, {len(_ASKED)} asked", told))
    return figures


def _spent(ask: Callable[[int], object], number: int) -> float:
    began = time.process_time()
    ask(number)
    return time.process_time() - began


def memory(snapshot: Snapshot) -> list[Figure]:
    """State the bytes of the snapshot."""
    facts = len(snapshot.edges())
    found = snapshot.nbytes / facts
    ids = snapshot.ids_nbytes / facts
    return [
        Figure(
            f"snapshot of {facts:,} live facts",
            f"{found:.1f} bytes a fact, and ids {ids:.1f}",
            "≤ 64 bytes",
            found <= 64,
        )
    ]


def _after_commit(store: Store) -> list[Figure]:
    """Write one document and ask again; then take it out, so that the base is as before."""
    reading = synthetic(1)
    with store.writer() as writer:
        writer.write(reading)
    patched = _timed(store.view())
    with store.writer() as writer:
        writer.remove(reading.document.id)
    return [Figure("latest view after a commit of 20 facts", f"{patched * 1000:.0f} ms")]


def _timed(view: View) -> float:
    """Return the seconds of processor that compiling takes; a busy machine's waits are nobody's."""
    began = time.process_time()
    Snapshot.compile(view, vocabulary())
    return time.process_time() - began


def forget() -> None:
    """Be another process, as far as memory goes."""
    archive.forget()
