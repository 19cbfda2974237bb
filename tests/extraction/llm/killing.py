"""Kills `liantu llm run` at random moments and counts calls made twice although their reply was kept.

`python -m tests.extraction.llm.killing 50` prints the figures of docs/llm.md.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kg.store.open import open_store
from tests.kg.llm.endpoint import serving

if TYPE_CHECKING:
    from tests.kg.llm.endpoint import Endpoint

ROOT = Path(__file__).resolve().parents[3]
_THINKS = 0.05  # seconds of the endpoint for one reply
_LINE = re.compile(r"^(\d+)[#-]* (.*)", re.MULTILINE)
_NOTE = "第{n}周，碳酸锂价格下跌，带动电池成本下降，利好宁德时代。第{n}批隔膜由恩捷股份供应，毛利率为{n}.5%。"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What kills did: how many struck a run, calls repeated though their reply was kept, calls repeated that were under
    way at a kill, all calls, and whether the base ends as that of an undisturbed run."""

    killed: int
    repeated: int
    under_way: int
    calls: int
    whole: bool


def killed_runs(base: Path, *, times: int, seed: int) -> Outcome:
    """Run the command on copies of a base, each time killed at random moments, and let the last run end.

    A request whose reply was kept before a kill must never be asked again; one that was under way has to be.
    """
    moments = random.Random(seed)  # noqa: S311 - moments to kill at
    folder = base.parent / "killed"
    expected = _undisturbed(base, folder / "whole")
    killed = repeated = under_way = calls = 0
    whole = True
    with serving(_answer, delay=_THINKS) as server:
        while killed < times:
            kb = _copied(base, folder / "kb")
            server.asked.clear()
            settled: dict[str, int] = {}  # kept replies, with how often they had been asked for by then
            for _ in range(6):
                process = _started(kb, server.url)
                if killed < times and _struck(process, server, moments):
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    killed += 1
                    time.sleep(3 * _THINKS)  # what was under way comes to nothing
                    settled = {key: settled.get(key, server.asked[key]) for key in _kept(kb)}
                else:
                    process.wait()
                    break
            if process.returncode:
                assert _started(kb, server.url).wait() == 0
            whole = whole and _content(kb) == expected
            calls += sum(server.asked.values())
            twice = sum(count - 1 for count in server.asked.values())
            again = sum(server.asked[key] - count for key, count in settled.items())
            repeated, under_way = repeated + again, under_way + twice - again
    return Outcome(killed, repeated, under_way, calls, whole)


def _answer(prompt: str) -> str:
    said = [number for number, text in _LINE.findall(prompt) if "碳酸锂价格下跌" in text]
    return "\n".join(f"{number}|碳酸锂价格|affects|电池成本|dd|" for number in said) or "无"


def _struck(process: subprocess.Popen[bytes], server: Endpoint, moments: random.Random) -> bool:
    """Wait for a random moment: some time after the start, or after some calls; False if the run ended first."""
    if moments.random() < 0.4:
        time.sleep(moments.uniform(0.0, 6.0))  # while it plans, or while it writes
        return process.poll() is None
    target = sum(server.asked.values()) + moments.randint(1, 8)
    while process.poll() is None and sum(server.asked.values()) < target:
        time.sleep(0.002)
    time.sleep(moments.uniform(0.0, 2 * _THINKS))
    return process.poll() is None


def _started(kb: Path, url: str) -> subprocess.Popen[bytes]:
    settings = {"KG_LLM_URL": url, "KG_LLM_MODEL": "small", "KG_NER": "off", "KG_EDGE_MODEL": "off", "KG_WORKERS": "1"}
    command = [
        sys.executable,
        "-c",
        "from kg.cli import main; main()",
        "llm",
        "run",
        "--kb",
        str(kb),
        "--parallel",
        "2",
    ]
    return subprocess.Popen(
        [*command, "--min-gain", "0"],
        cwd=ROOT,
        env={**os.environ, **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _undisturbed(base: Path, folder: Path) -> list[Any]:
    kb = _copied(base, folder)
    with serving(_answer) as server:
        assert _started(kb, server.url).wait() == 0
    return _content(kb)


def _copied(base: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in base.parent.glob(f"{base.name}*"):
        if path.is_file() and not path.name.endswith("replies.jsonl"):
            shutil.copy(path, folder / path.name)
    return folder / base.name


def _kept(kb: Path) -> list[str]:
    """Return the keys of the replies on the disk; the last line may be torn."""
    replies = kb.with_name(f"{kb.name}-replies.jsonl")
    lines = replies.read_bytes().split(b"\n")[:-1] if replies.exists() else []
    return [row[0] for row in map(json.loads, lines) if row[1] is not None]


def _content(kb: Path) -> list[Any]:
    """Return what a base holds of every document, but for the instant at which a reply arrived."""
    with closing(open_store(kb)) as store:
        readings = [store.reading(head.id) for head in store.view().documents()]
        return [
            (
                reading.document.id,
                sorted(
                    (fact.id, [(e.start, e.end, e.confidence, e.extractor) for e in fact.evidence])
                    for fact in reading.facts
                ),
                sorted((each.start, each.end, each.entity) for each in reading.mentions),
                [(each.kind, each.message) for each in reading.problems],
            )
            for reading in readings
            if reading is not None
        ]


def main() -> None:
    """Print the outcome of as many kills as asked for, on a base of a dozen notes."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for n in range(12):
            text = "\n\n".join(_NOTE.format(n=n * 10 + k) for k in range(6))
            note = f"---\ntitle: 周报{n}\npublishedAt: 2025-08-{n + 1:02}\n---\n{text}\n"
            (folder / f"{n}.md").write_text(note, encoding="utf-8")
        base = folder / "kb.liantu"
        command = [sys.executable, "-c", "from kg.cli import main; main()", "ingest", scratch, "--kb", str(base)]
        environment = {**os.environ, "KG_NER": "off", "KG_EDGE_MODEL": "off", "KG_WORKERS": "1"}
        subprocess.run(command, check=True, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
        outcome = killed_runs(base, times=int(sys.argv[1]), seed=2026)
    sys.stdout.write(f"{outcome}\n")


if __name__ == "__main__":
    main()
