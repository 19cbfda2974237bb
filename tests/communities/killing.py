"""Kills the weekly command at random moments and counts: states published by halves, and calls made twice.

`python -m tests.communities.killing 50` prints the figures of docs/themes.md.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from kg.store.open import open_store
from tests.communities.test_weekly import many_chains
from tests.kg.llm.endpoint import serving
from tests.kg.query.world import filled

if TYPE_CHECKING:
    from kg.model import Run
    from tests.kg.llm.endpoint import Endpoint

ROOT = Path(__file__).resolve().parents[2]
_THINKS = 0.08  # seconds of the endpoint for one reply
_EARLY = 0.2


@dataclass(frozen=True, slots=True)
class Outcome:
    """What kills did: how many struck a running job, half-published states, calls repeated though their reply was kept,
    calls repeated whose reply was not (under way at a kill), and whether the end is the undisturbed run."""

    killed: int
    torn: int
    repeated: int
    under_way: int
    calls: int
    whole: bool


def killed_runs(folder: Path, *, times: int, seed: int) -> Outcome:
    """Run the command on a fresh week again and again, each time killed at a random moment, and let the last one end.

    A request whose reply the command had kept before the kill must never be asked again. One that was under way, or
    whose reply lay unread in the dead command's socket, cannot but be asked again: nobody has its reply.
    """
    moments = random.Random(seed)  # noqa: S311 - moments to kill at
    kb = folder / "kb.liantu"
    with closing(open_store(kb, create=True)) as store:
        filled(many_chains(), store)
    replies = folder / "kb.liantu-replies.jsonl"
    killed = torn = weeks = under_way = repeated = calls = 0
    with serving(delay=_THINKS) as server:
        while killed < times:
            day = date(2024, 2, 1).replace(day=1 + weeks % 28)
            weeks += 1
            replies.unlink(missing_ok=True)
            with closing(open_store(kb)) as store, store.writer() as writer:
                for run in list(store.view().runs()):
                    writer.withdraw(run.id)
            server.asked.clear()
            settled: dict[str, int] = {}  # kept replies, with how often they had been asked for by then
            for _ in range(5):
                process = _started(kb, day, server.url)
                if killed < times and _struck(process, server, moments):
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    killed += 1
                    time.sleep(2 * _THINKS)  # what was under way comes to nothing
                    settled = {key: settled.get(key, server.asked[key]) for key in _kept(replies)}
                else:
                    process.wait()
                state = _published(kb)
                torn += state is not None and any(c.summary is None for c in state.communities)
                if process.returncode == 0:
                    break
            else:
                _started(kb, day, server.url).wait()
            expected = _published(kb)
            assert expected is not None
            calls += sum(server.asked.values())
            twice = sum(count - 1 for count in server.asked.values())
            again = sum(server.asked[key] - count for key, count in settled.items())
            repeated, under_way = repeated + again, under_way + twice - again
    return Outcome(killed, torn, repeated, under_way, calls, whole=_undisturbed(folder, kb, day, expected))


def _kept(replies: Path) -> list[str]:
    """Return the keys of the replies on the disk; the last line may be torn."""
    lines = replies.read_bytes().split(b"\n")[:-1] if replies.exists() else []
    return [json.loads(line)[0] for line in lines]


def _struck(process: subprocess.Popen[bytes], server: Endpoint, moments: random.Random) -> bool:
    """Wait for a random moment: now and then while the command starts, mostly after some call; False if it ended first.

    Counted in calls, because how long a start takes depends on what else the machine does.
    """
    if moments.random() < _EARLY:
        time.sleep(moments.uniform(0.0, 1.0))
        return process.poll() is None
    target = sum(server.asked.values()) + moments.randint(1, 6)
    while process.poll() is None and sum(server.asked.values()) < target:
        time.sleep(0.002)
    time.sleep(moments.uniform(0.0, 1.5 * _THINKS))
    return process.poll() is None


def _started(kb: Path, day: date, url: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "KG_LLM_URL": url, "KG_LLM_MODEL": "small"}
    command = [sys.executable, "-c", "from kg.cli import main; main()", "weekly", "--kb", str(kb), "--as-of", str(day)]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _published(kb: Path) -> Run | None:
    with closing(open_store(kb)) as store:
        return store.view().run()


def _undisturbed(folder: Path, kb: Path, day: date, expected: Run) -> bool:
    """Whether an endpoint that nobody disturbs leads to the same run, but for its instant."""
    with closing(open_store(kb)) as store, store.writer() as writer:
        writer.withdraw(expected.id)
    (folder / "kb.liantu-replies.jsonl").unlink()
    with serving() as server:
        assert _started(kb, day, server.url).wait() == 0
    found = _published(kb)
    return found is not None and replace(found, recorded_at=expected.recorded_at) == expected


def main() -> None:
    """Print the outcome of as many kills as asked for."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = killed_runs(Path(folder), times=int(sys.argv[1]), seed=2026)
    sys.stdout.write(f"{outcome}\n")


if __name__ == "__main__":
    main()
