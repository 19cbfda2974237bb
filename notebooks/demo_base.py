"""The base that all notebooks share: the demo reports and their newest themes, in build/notebooks/."""

from __future__ import annotations

import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from IPython.utils.capture import capture_output

from liantu import Job, ingest, open_kb, run_week

HERE = Path(__file__).resolve().parent
REPORTS = HERE / "demo" / "reports"
OUT = HERE.parent / "build" / "notebooks"
BASE = OUT / "kb.liantu"
READ_AT = datetime(2026, 5, 1, tzinfo=UTC)  # the transaction time of every fact: the same base on any day


def demo_base() -> Path:
    """Return the path of the base; it is built first if 01_first_hour.ipynb has not done so."""
    if not BASE.exists():
        unfinished = fresh("unfinished.liantu")
        with capture_output(), open_kb(unfinished, create=True) as kb:
            ingest(kb.store, Job([REPORTS], recorded_at=READ_AT))
            run_week(kb.store, None, recorded_at=READ_AT)
        unfinished.rename(BASE)
    return BASE


def base_copy(name: str) -> Path:
    """Return the path of a copy to write to."""
    return Path(shutil.copyfile(demo_base(), fresh(name)))


def fresh(name: str) -> Path:
    """Return a path in build/notebooks/ where nothing is."""
    OUT.mkdir(parents=True, exist_ok=True)
    for old in OUT.glob(f"{name}*"):  # with the files that stand beside a base
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    return OUT / name


def liantu(*arguments: str | Path) -> str:
    """Run the command `liantu` in build/notebooks/ and return what it prints."""
    command = [str(Path(sys.executable).with_name("liantu")), *map(str, arguments)]
    done = subprocess.run(command, cwd=OUT, capture_output=True, check=False, encoding="utf-8")  # noqa: S603 -- no shell
    if done.returncode:
        raise SystemExit(done.stderr or done.stdout)
    return done.stdout.replace(f"{OUT}/", "")
