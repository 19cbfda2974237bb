"""Kill commands between their statements, and give them a full disk: `python -m tests.crash.commands --kills 200`.

A command runs in a forked child. Its points are the SQL statements that it begins and the files that it opens for
writing, renames, removes or syncs; at a chosen one the child kills itself with SIGKILL. A full disk is a limit on the
size of files. After each, the base opens and passes the check, and the command, given again, ends as if undisturbed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import traceback
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from kg import cli
from kg.store.checks import Checkable
from kg.store.open import open_store
from tests.crash import works

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import tzinfo

BASE, NOTES = "kb.liantu", "notes.liantu"  # by way of the store, and read as a user's are
_NOTE = "---\ntitle: 周报\npublishedAt: 2025-01-20\n---\n碳酸锂价格上涨，电池成本随之上升。\n"
_BY = ("--by", "张三", "--why", "试", "--day", "2025-01-30")
_LLM = {"KG_NER": "off", "KG_EDGE_MODEL": "off", "KG_WORKERS": "1", "KG_LLM_MODEL": "small"}
_FRESH = """import sys
from pathlib import Path
from tests.crash.commands import _run
_run(Path(sys.argv[1]), sys.argv[2:], 0, 0)"""
COMMANDS: dict[str, tuple[str, ...]] = {
    "weekly": ("weekly", "--kb", BASE),
    "weekly rollback": ("weekly", "rollback", "--kb", BASE),
    "remove": ("remove", *(f"doc:{number}" for number in range(0, 80, 9)), "--kb", BASE),
    "merge": ("entity", "merge", "org:母公司0", "org:母公司1", "--kb", BASE, *_BY),
    "import": ("import", "facts.jsonl", "--kb", BASE),
    "import of a dump": ("import", "dump.jsonl", "--kb", "new.liantu"),
    "securities": ("securities", "import", "list.csv", "--kb", BASE),
    "llm": ("llm", "import-batch", "replies.jsonl", "--kb", NOTES),
    "export": ("export", "csv", "out", "--kb", BASE),
    "export graphrag": ("export", "graphrag", "out", "--kb", BASE),
    "dump": ("dump", "--kb", BASE, "-o", "new.jsonl"),
    "copy": ("copy", BASE, "new.liantu"),
}
_STEPS = {"weekly rollback"}  # given again, it goes a step further
_WRITING = {"os.rename", "os.remove", "os.mkdir", "os.link", "os.truncate", "shutil.move", "shutil.rmtree"}


class Ended(NamedTuple):
    """How a command ended: its exit code, or minus its signal, and its lines on the standard error."""

    code: int
    said: str


class _Still(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> _Still:
        return cls(2026, 1, 1, tzinfo=tz)


@dataclass
class Toll:
    """What happened to one command."""

    points: int = 0
    killed: int = 0
    full: int = 0
    faults: list[str] = field(default_factory=list)


def prepare(folder: Path) -> None:
    """Make a base and the inputs of all commands."""
    folder.mkdir(parents=True)
    works.filled(folder / BASE)
    rows = (
        f'{{"subject":"公司{number % 9}","subject_kind":"company","relation":"uses","object":"产品{number}",'
        f'"object_kind":"product","published_on":"2025-01-{1 + number % 25:02}"}}\n'
        for number in range(60)
    )
    (folder / "facts.jsonl").write_text("".join(rows), encoding="utf-8")
    (folder / "list.csv").write_text("code,name\n600438.SH,通威股份\n300750.SZ,宁德时代\n", encoding="utf-8")
    (folder / "note.md").write_text(_NOTE, encoding="utf-8")
    asking = ("llm", "export-batch", "asked.jsonl", "--model", "small", "--min-gain", "0", "--kb", NOTES)
    for command in (COMMANDS["dump"], ("ingest", "note.md", "--kb", NOTES), asking):
        # A fork of a test process would take that one's worker processes for its own.
        fresh = [sys.executable, "-c", _FRESH, str(folder), *command]
        subprocess.run(fresh, check=True, cwd=Path(__file__).parents[2])
    (folder / "new.jsonl").rename(folder / "dump.jsonl")
    replies = []
    for line in (folder / "asked.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        asked = re.findall(r"^(\d+)[#-]* (.*)", row["body"]["messages"][-1]["content"], re.MULTILINE)
        said = [f"{number}|碳酸锂价格|affects|电池成本|uu|" for number, text in asked if "碳酸锂价格上涨" in text]
        assert said
        body = {"choices": [{"message": {"content": "\n".join(said)}, "finish_reason": "stop"}]}
        body |= {"usage": {"prompt_tokens": 5, "completion_tokens": 2}}
        replies.append({"custom_id": row["custom_id"], "response": {"status_code": 200, "body": body}})
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in replies]
    (folder / "replies.jsonl").write_text("".join(lines), encoding="utf-8")


def ended(folder: Path, command: tuple[str, ...], *, strike: int = 0, room: int = 0) -> Ended:
    """Run a command in a fork.

    Args:
        folder: in which it runs.
        command: its arguments.
        strike: the point at which it kills itself; 0 for none, and the number of points goes to the file `points`.
        room: the most bytes that a file may have; 0 for no limit.
    """
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writes, 2)
        _run(folder, command, strike, room)
    os.close(writes)
    with os.fdopen(reads, encoding="utf-8") as told:
        said = told.read()
    return Ended(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said)


def _run(folder: Path, command: Sequence[str], strike: int, room: int) -> None:
    """Become the command; never return."""
    code = 70
    try:
        os.chdir(folder)
        os.environ.update(_LLM)
        cli.datetime = _Still  # type: ignore[misc] # instants of recording are those of the undisturbed end
        count = _counting(strike)
        sys.stdout, sys.stderr = Path(os.devnull).open("w"), os.fdopen(2, "w", encoding="utf-8")  # noqa: SIM115 -- as long as the process
        if room:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        try:
            cli.main([*command])
        except SystemExit as left:
            code = int(left.code or 0)
        if not room:
            Path("points").write_text(str(count()), encoding="ascii")
    finally:  # a fork of the tests must not go on as a second one
        if sys.exc_info()[0]:
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(code)


def _counting(strike: int) -> Callable[[], int]:
    """Count the points of this process from now on, and kill it at one of them."""
    passed = 0

    def point(*_: object) -> None:
        nonlocal passed
        passed += 1
        if passed == strike:
            os.kill(os.getpid(), signal.SIGKILL)

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _WRITING or (event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_ACCMODE):
            point()

    def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
        made: sqlite3.Connection = opened(*arguments, **options)
        made.set_trace_callback(point)
        return made

    opened, sqlite3.connect = sqlite3.connect, connect  # type: ignore[assignment]
    sys.addaudithook(audit)
    return lambda: passed


def suffered(name: str, begin: Path, folder: Path, *, kills: int, full: int, seed: int = 1) -> Toll:
    """Kill a command at random points and give it full disks; compare what it leaves with the undisturbed end."""
    command, toll, chance = COMMANDS[name], Toll(), random.Random(f"{name} {seed}")  # noqa: S311 -- points, no secrets
    still = _fresh(begin, folder / "still")
    assert not (done := ended(still, command)).code, done.said
    toll.points, expected = int((still / "points").read_text()), content(still)
    largest = max(path.stat().st_size for path in still.rglob("*") if path.is_file())
    before = content(begin)

    def left(folder: Path) -> list[str]:
        found = _breaches(folder)
        if name not in _STEPS or content(folder) == before:
            ended(folder, command)  # "that is judged already", "not in the base" are no faults
        last = content(folder)
        both = sorted(expected.keys() | last.keys())
        return [*found, *(f"{each} differs" for each in both if expected.get(each) != last.get(each))]

    for _ in range(kills):
        at = chance.randint(1, toll.points)
        round_ = _fresh(begin, folder / "round")
        toll.killed += ended(round_, command, strike=at).code == -signal.SIGKILL
        toll.faults += [f"killed at {at}: {each}" for each in left(round_)]
    for _ in range(full):
        room = int(largest ** chance.random())
        round_ = _fresh(begin, folder / "round")
        done = ended(round_, command, room=room)
        toll.full += done.code not in (0, 3)
        toll.faults += [f"{room} bytes: {each}" for each in (*_wrong(done), *left(round_))]
    return toll


def _fresh(begin: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(begin, to))


def _wrong(done: Ended) -> list[str]:
    """Return what is wrong with how a command ended on a full disk: no single line, or a traceback."""
    told = [line for line in done.said.splitlines() if line.startswith("liantu")]
    wrong = "Traceback" in done.said or (done.code not in (0, 3) and len(told) != 1) or done.code < 0
    return [f"exit code {done.code}: {done.said[-200:]}"] if wrong else []


def _breaches(folder: Path) -> list[str]:
    """Return what is wrong with the bases that were left behind."""
    found = []
    for path in folder.glob("*.liantu"):
        if path.stat().st_size:
            with closing(open_store(path, create=True)) as store:
                assert isinstance(store, Checkable)
                found += [f"{path.name}: {each.invariant}: {each.message}" for each in store.breaches()]
    return found


def content(folder: Path) -> dict[str, object]:
    """Return what the bases and files of a folder hold; without what is made anew, and notes of this test."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.suffix == ".liantu":
            found[name] = works.content(path)
        elif path.is_file() and not re.search(r"-(wal|shm|snapshot|lock)|^points$", name):
            found[name] = path.read_bytes()
    return found


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--full", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    shares = [-(-number // len(COMMANDS)) for number in (given.kills, given.full)]
    sys.stdout.write("| command | points | killed at one | full disks refused | faults |\n|---|---|---|---|---|\n")
    with TemporaryDirectory() as scratch:
        begin = Path(scratch) / "begin"
        prepare(begin)
        for name in COMMANDS:
            toll = suffered(name, begin, Path(scratch), kills=shares[0], full=shares[1], seed=given.seed)
            row = f"| {name} | {toll.points} | {toll.killed} | {toll.full} of {shares[1]} | {len(toll.faults)} |\n"
            sys.stdout.write(row + "".join(f"  {fault}\n" for fault in toll.faults[:4]))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
