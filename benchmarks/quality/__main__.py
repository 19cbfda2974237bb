"""Score a data set: `python -m benchmarks.quality SET [--file PATH …] [--json] [--examples N]`.

Reads the development part in LIANTU_DATA (../shared/data), or with --file any file of the same format. Every set runs
through the pipeline of `liantu ingest`. `edges` needs the scoring script next to the data; --folds 5 cross-validates,
training a model on the other folds for each fold.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.quality.score import Options, as_json, as_table

DATA = Path(os.environ.get("LIANTU_DATA", "../shared/data"))
# Set → its module and the files of its development part.
SETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "astock": ("astock", ("astock/val.csv",)),
    "finre": ("finre", ("finre/valid.txt",)),
    "finre_selves": ("finre_selves", ("finre/train.txt", "finre/valid.txt")),
    "fincorpus_entities": ("fincorpus_entities", ("fincorpus_cn/entity_dev.json",)),
    "fincorpus_cn": ("fincorpus_cn", ("fincorpus_cn/relation_dev.json",)),
    "ccks2021_causal": ("ccks2021_causal", ("ccks2021_causal/dev.json",)),
    "fewfc": ("fewfc", ("fewfc/train_base.json",)),
    "yanbao": ("yanbao", ("yanbao",)),
    "edges": ("edges", ("gator_edges", "broker_edges")),
}


def main() -> None:
    """Run one set."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("set", choices=sorted(SETS))
    parser.add_argument(
        "--file", type=Path, action="append", default=[], help="read this file instead of the development part"
    )
    parser.add_argument("--folds", type=int, default=0, help="edges: train a model per fold on the other folds")
    parser.add_argument("--epochs", type=int, default=12, help="edges: of each fold's training")
    parser.add_argument("--since", default="", metavar="DAY", help="edges: only notes from that day on")
    parser.add_argument("--edge-model", default="shipped", help="edges: shipped, off, or a folder")
    parser.add_argument("--limit", type=int, default=0, help="only the first N texts")
    parser.add_argument("--master", type=Path, help="a securities master instead of the shipped one")
    parser.add_argument("--namechange", type=Path, help="its dated name history")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--examples", type=int, default=0, help="print N examples of each kind of error")
    arguments = parser.parse_args()
    module, default_files = SETS[arguments.set]
    files = tuple(arguments.file) or tuple(DATA / name for name in default_files)
    missing = [path for path in files if not path.exists()]
    if missing:
        absent = ", ".join(map(str, missing))
        if arguments.file:
            sys.exit(f"benchmarks.quality: no such file: {absent}")
        print(f"skipped: no {absent}; set LIANTU_DATA or --file")
        return
    if arguments.set == "edges":
        from benchmarks.quality.edges import run  # noqa: PLC0415 -- trains with --folds

        run(
            DATA,
            files,
            folds=arguments.folds,
            since=arguments.since,
            edge_model=arguments.edge_model,
            epochs=arguments.epochs,
        )
        return
    options = Options(files, arguments.limit, arguments.master, arguments.namechange)
    report = import_module(f"benchmarks.quality.{module}").measure(options)
    print(
        as_json(arguments.set, report) if arguments.json else as_table(arguments.set, report, shown=arguments.examples)
    )


if __name__ == "__main__":
    main()
