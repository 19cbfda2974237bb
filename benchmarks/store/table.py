"""Benchmark results with their targets, printed as a table or as JSON."""

from __future__ import annotations

import json
import resource
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True, slots=True)
class Figure:
    """One result; `asked` is the target, `met` is None without one."""

    measure: str
    found: str
    asked: str = ""
    met: bool | None = None


def show(figures: list[Figure], *, as_json: bool) -> None:
    """Print the results."""
    if as_json:
        print(json.dumps([asdict(figure) for figure in figures], ensure_ascii=False, indent=1))
        return
    table = Table("measure", "result", "target", "")
    for figure in figures:
        table.add_row(figure.measure, figure.found, figure.asked, {None: "", True: "met", False: "missed"}[figure.met])
    Console(width=150).print(table)


def reset_peak() -> None:
    """Reset the peak-memory counter, where the system allows it."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return


def peak_megabytes() -> float:
    """Return the peak resident memory of this process."""
    try:
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(line.split()[1]) / 1024
