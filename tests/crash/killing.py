"""Kills works at random moments and looks at what is left: `python -m tests.crash.killing --moments 200`."""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from kg.graph import cache as archive
from kg.graph.patch import compiled
from kg.graph.snapshot import Snapshot
from kg.relations import vocabulary
from kg.store.checks import Checkable
from kg.store.open import open_store
from tests.contracts.readings import day
from tests.crash import works

if TYPE_CHECKING:
    from kg.store.port import View

ROOT = Path(__file__).parents[2]
NAMES = (*works.WORKS, "files", "import")
_IN_A_ROW = 8  # kills before a work is let run to its end and compared


@dataclass
class Toll:
    """What happened to one work: kills that found it at work, kills too late, and the faults found after any."""

    work: str
    killed: int = 0
    too_late: int = 0
    finished: int = 0
    faults: list[str] = field(default_factory=list)


def strike(work: str, moments: int, folder: Path, *, seed: int = 1) -> Toll:
    """Kill a work at random moments until it was hit `moments` times, and compare each end with the undisturbed one."""
    chance, toll = random.Random(f"{work} {seed}"), Toll(work)  # noqa: S311 - moments, no secrets
    archive._WORTH_A_FILE = archive._LEAST_PATCH = 0  # so that the graph is asked of the files that were left
    begin = folder / work / "begin"
    begin.mkdir(parents=True)
    works.prepare(work, begin / "kb.liantu")
    still = _copy(begin, folder / work / "still")
    span = _undisturbed(work, still)
    expected = works.content(still)
    while toll.killed < moments and toll.too_late < 10 * moments + 10:
        base = _copy(begin, folder / work / f"round{toll.finished}")
        for _ in range(min(_IN_A_ROW, moments - toll.killed)):
            hit = _killed(work, base, chance.uniform(0.0, span))
            toll.killed, toll.too_late = toll.killed + hit, toll.too_late + (not hit)
            toll.faults += _faults(base)
        _undisturbed(work, base)
        toll.faults += _faults(base)
        toll.faults += [] if works.content(base) == expected else [f"{work}: the end differs"]
        toll.finished += 1
        shutil.rmtree(base.parent)
    return toll


def _copy(begin: Path, to: Path) -> Path:
    shutil.copytree(begin, to)
    return to / "kb.liantu"


def _started(work: str, base: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.crash.works", work, str(base)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, encoding="utf-8"
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def _undisturbed(work: str, base: Path) -> float:
    """Let a work run to its end, and return how long it took."""
    with _started(work, base) as process:
        began = time.perf_counter()
        _, reported = process.communicate()
        assert process.returncode == 0, reported
    return time.perf_counter() - began


def _killed(work: str, base: Path, wait: float) -> bool:
    """Kill a work after a while; False when it had ended by itself."""
    with _started(work, base) as process:
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return process.returncode == -signal.SIGKILL


def _faults(base: Path) -> list[str]:
    """Say what is wrong with a base that was left behind; one that was killed before it was made is none."""
    if not base.exists() or not base.stat().st_size:
        return []
    with closing(open_store(base, create=True)) as store:
        assert isinstance(store, Checkable)
        found = [f"{breach.invariant}: {breach.message}" for breach in store.breaches()]
        for back in (None, 9, 29):
            found += _graph_faults(store.view(as_of=None if back is None else day(back)))
    return found


def _graph_faults(view: View) -> list[str]:
    """Compare the graph that may come from files with one compiled fact by fact."""
    words = vocabulary()
    kept, anew = Snapshot.compile(view, words), Snapshot(tuple(words.relations), compiled(view, words))
    one, other = kept.edges(), anew.edges()
    same = kept.facts_of(one) == anew.facts_of(other) and np.array_equal(one.weight, other.weight)
    return [] if same else [f"the graph of {view.as_of} differs"]


def main() -> None:
    """Print a table of what kills did."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    share = -(-given.moments // len(NAMES))
    _say("| work | killed at work | after its end | resumed to the end | faults |\n|---|---|---|---|---|")
    with TemporaryDirectory() as folder:
        for work in NAMES:
            toll = strike(work, share, Path(folder), seed=given.seed)
            _say(f"| {work} | {toll.killed} | {toll.too_late} | {toll.finished} | {len(toll.faults)} |")
            for fault in toll.faults[:5]:
                _say(f"  {fault}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
