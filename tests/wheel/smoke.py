"""Smoke test of an installed wheel: `python smoke.py REPORT`, run outside the checkout; needs liantu and nothing else.

`make wheel` runs it in an environment of its own, tests/architecture/test_wheel.py on the unpacked wheel.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import entry_points
from pathlib import Path

import liantu

OWN = {"kg", "extraction", "communities", "viz"}


def main(report: Path, folder: Path) -> None:
    """Ingest a report in Python and by command, ask, publish a week, draw, and check that nothing leaks."""
    place = Path(liantu.__file__)
    assert place.name == "__init__.py", f"{place} is the source layout, not the wheel"
    assert liantu.shadowed() == []
    for command in entry_points(group="liantu.commands"):
        assert command.load().help, command

    kb = folder / "kb.liantu"
    with liantu.open_kb(kb, create=True) as base:
        assert liantu.ingest(base.store, liantu.Job([report], datetime.now(UTC), workers=1)).written == 1
        liantu.run_week(base.store, None)
        answer = base.chain("光伏")
        assert answer.graph.links
        assert all(link.citations for link in answer.graph.links)
    reported = json.loads(run("chain", "光伏", "--kb", str(kb), "--json"))
    assert reported["topic"]["name"] == "光伏"
    run("ingest", str(report), "--kb", str(kb), "--workers", "2")
    run("draw", "chain", "光伏", "--kb", str(kb), "--out", str(folder / "chain.html"))
    assert "光伏" in (folder / "chain.html").read_text(encoding="utf-8")
    run("check", "--kb", str(kb))
    leaked = OWN & {name.partition(".")[0] for name in sys.modules}
    assert not leaked, f"imported from outside the wheel: {leaked}"


def run(*arguments: str) -> str:
    """Run a command in a process of its own and return its output."""
    code = f"import sys; sys.path[:] = {sys.path!r}; import liantu; liantu.main()"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=False, encoding="utf-8")
    assert done.returncode == 0, f"liantu {' '.join(arguments)}: {done.stderr}"
    return done.stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(sys.argv[1]).resolve(), Path(temporary))
    sys.stdout.write(f"wheel smoke test passed: {liantu.__file__}\n")
