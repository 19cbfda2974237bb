"""Benchmark the store at scale: `python -m benchmarks.store [NAME …] [--facts N] [--folder PATH] [--json]`.

Names: load, view, expand, grow; default all. Peers run in the same process on the same data; on a shared machine,
compare ratios.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import closing, nullcontext
from pathlib import Path

from benchmarks.store import growing, loading, walking
from benchmarks.store.table import Figure, show
from kg.graph.snapshot import Snapshot
from kg.relations import vocabulary
from kg.store.open import open_store

NAMES = ("load", "view", "expand", "grow")


def main() -> None:
    """Run the selected benchmarks and print the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.store", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(NAMES)}")
    parser.add_argument("--facts", type=int, default=1_000_000, help="size of the synthetic graph")
    parser.add_argument("--documents", type=int, default=10_000, help="documents to insert for grow")
    parser.add_argument("--folder", type=Path, help="keep the bases here and reuse those of an earlier run")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    names = options.names or NAMES
    figures: list[Figure] = []
    with nullcontext(options.folder) if options.folder else tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        folder.mkdir(parents=True, exist_ok=True)
        if {"load", "view", "expand"} & set(names):
            path, results = loading.base(folder, options.facts)
            figures += results
            if "view" in names:
                figures += loading.views(path)
            if "expand" in names:
                with closing(open_store(path)) as store:
                    figures += walking.measure(Snapshot.compile(store.view(), vocabulary()))
                    figures += walking.after_a_commit(store)
        if "grow" in names:
            with tempfile.TemporaryDirectory() as fresh:
                figures += growing.measure(Path(fresh), options.documents)
    show(figures, as_json=options.json)
