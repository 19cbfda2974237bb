"""Smoke test of an installed wheel: `python smoke.py REPORT [PAGE…]`, run outside the checkout; needs only liantu.

Every command in the code blocks of the pages (README.md, docs/*.md) is run too. A command may need an extra, a model or
a file that is not there, and then says so in one line; none may crash, or be unknown.

`make wheel` runs it in an environment of its own, tests/architecture/test_wheel.py on the unpacked wheel.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import entry_points
from pathlib import Path

import liantu

OWN = {"kg", "extraction", "communities", "viz"}
STANDS_FOR = {  # what the pages name, and what is there instead
    **dict.fromkeys(("REPORTS/", "reports/", "NOTES", "HELD-OUT"), "REPORTS"),
    "锂电池": "光伏",
    "碳酸锂价格": "硅料价格",
    '"]': "",
}
ELSEWHERE = ("neo4j://", "…", "../", "/etc/")  # a server, an ellipsis, files of another machine
EXCUSED = re.compile(
    r"pip install 'liantu\[|does not exist|No such file|no such entity|llm_|no language model|cannot be read|not found"
    "|no document with"
)
RUNS_ON = 6  # seconds after which a command that serves is stopped
CRASHED = re.compile(r"Traceback|No module named|No such (?:option|command)|unexpected extra argument")
BESIDES = (  # commands that no code block shows, with what they need here
    *("stats", "check", "doctor", "dump -o all.jsonl", "themes", "profile 通威股份", "relate 通威股份 硅料"),
    *(
        "causes 硅料价格",
        "read {report}",
        "remove nothing",
        "export csv sheets",
        "export rdf all.nt",
        "export gexf all.gexf",
    ),
    *(
        "export graphml all.graphml",
        "draw profile 通威股份 --out profile",
        "draw relate 通威股份 硅料 --out relate.html",
    ),
    *("draw causes 硅料价格 --out causes", "import all.jsonl --kb second.liantu", "copy kb.liantu third.liantu"),
)


def main(report: Path, folder: Path, pages: list[Path]) -> None:
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
    documented(folder, report, pages)
    leaked = OWN & {name.partition(".")[0] for name in sys.modules}
    assert not leaked, f"imported from outside the wheel: {leaked}"


def commands_in(page: str) -> list[str]:
    """Return the liantu commands of the code blocks of a page, without comments and optional parts."""
    lines = [line.strip() for line in page.splitlines() if re.match(r" {4,}|\$ |liantu ", line)]
    parts = (part.strip() for line in lines for part in re.split(r"&&|\|\||;", line.partition(" #")[0]))
    found = (
        re.fullmatch(r"(?:\$ )?(?:\.venv/bin/)?liantu ([a-z].*)", re.sub(r"\[.*?\]|>>.*", "", part)) for part in parts
    )
    return [match[1] for match in found if match]


def documented(folder: Path, report: Path, pages: list[Path]) -> None:
    """Run every documented command once, in a folder that has a base and a folder of reports."""
    shutil.copytree(report.parent, folder / "REPORTS", ignore=lambda _, names: [n for n in names if n != report.name])
    texts = [command for page in pages for command in commands_in(page.read_text(encoding="utf-8"))]
    wanted = dict.fromkeys((*texts, *(text.format(report=shlex.quote(str(report))) for text in BESIDES)))
    assert not pages or len(texts) > 20, f"only {len(texts)} commands found"
    (folder / "build").mkdir()
    faults = []
    for text in sorted(wanted, key=lambda text: "rollback" in text):
        if any(each in text for each in ELSEWHERE):
            continue
        for name, instead in STANDS_FOR.items():
            text = text.replace(name, instead)  # noqa: PLW2901 -- with what stands for its placeholders
        status, said = attempt(shlex.split(text), folder)
        excused = status == 0 or EXCUSED.search(said) or (text.startswith("ask ") and not said)
        if status < 0 or CRASHED.search(said) or not excused:
            faults.append(f"liantu {text}: {status}: {said}")
    assert not faults, "\n".join(faults)


def attempt(arguments: list[str], folder: Path) -> str:
    """Run a command, for a few seconds if it serves, and return what it wrote to standard error."""
    command = [
        sys.executable,
        "-c",
        f"import sys; sys.path[:] = {sys.path!r}; import liantu; liantu.main()",
        *arguments,
    ]
    environment = {**os.environ, "KG_LANG": "en", "BROWSER": "true"}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:  # fmt: skip
        try:
            said = process.communicate(timeout=RUNS_ON if arguments[0] in {"serve", "explore", "mcp"} else 300)[1]
        except subprocess.TimeoutExpired:
            process.terminate()
            return 0, process.communicate()[1]
        return process.returncode, said


def run(*arguments: str) -> str:
    """Run a command in a process of its own and return its output."""
    code = f"import sys; sys.path[:] = {sys.path!r}; import liantu; liantu.main()"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=False, encoding="utf-8")
    assert done.returncode == 0, f"liantu {' '.join(arguments)}: {done.stderr}"
    return done.stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(sys.argv[1]).resolve(), Path(temporary), [Path(each).resolve() for each in sys.argv[2:]])
    sys.stdout.write(f"wheel smoke test passed: {liantu.__file__}\n")
