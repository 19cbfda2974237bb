"""Load the securities master of a benchmark: the requested one, else the development data's, else the shipped one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kg.securities.master import Master

if TYPE_CHECKING:
    from benchmarks.quality.score import Options

SECURITIES = Path(os.environ.get("LIANTU_DATA", "../shared/data")) / "securities"
SHIPPED = Path("shipped")  # `--master shipped` uses no imported master


def load_master(options: Options) -> tuple[Master, str]:
    """Return the master and its label for reports."""
    if options.master == SHIPPED:
        return Master.load(), "shipped master"
    path = options.master or SECURITIES / "merged_master.jsonl"
    if options.master is None and not path.exists():
        return Master.load(), "shipped master (no imported one in LIANTU_DATA)"
    changes = options.namechange
    if options.master is None:
        changes = changes or SECURITIES / "namechange.json"
    master = Master.load(path, namechange=changes if changes and changes.exists() else None)
    return master, f"imported master {path.name}: {len(master):,} issuers, {len(master.faults)} rows skipped"
