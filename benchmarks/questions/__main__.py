"""Questions put to a base, scored: `python -m benchmarks.questions [FILE …] --kb KB`.

A file has one question a line, written from the documents without seeing the base: `question`, `kind`, `answer` (yes,
no, off_topic, ambiguous), `expect` (groups of spellings; any of a group counts), `need` (groups of a right answer),
`forbid` (what makes it wrong) and `latest` (the last day a source may have). Without a file the questions about the
bundled reports are asked of a base made from them.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kg.service.base import open_kb

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kg.query.answers import AnswerLine, AskAnswer

REPORTS = Path("notebooks/demo/reports")
DEMO = Path(__file__).with_name("demo.jsonl")
VERDICTS = ("right", "partly", "related", "refused", "missed", "wrong", "look-ahead")


def verdict(asked: dict[str, Any], answer: AskAnswer) -> str:
    """Judge one answer: `related` are passages without what was expected, `refused` is right where nothing is known."""
    cited = [citation for line in (*answer.lines, *answer.passages) for citation in line.citations]
    if asked["latest"] and any(str(citation.published_on) > asked["latest"] for citation in cited):
        return "look-ahead"
    if asked["answer"] in {"no", "off_topic"}:
        return {"not_found": "refused", "partial": "related"}.get(answer.status, "wrong")
    if answer.status == "not_found":
        return "missed"
    met, shown = _met(asked, answer.lines), _met(asked, answer.passages)
    if answer.status == "ambiguous":
        return "right" if asked["answer"] == "ambiguous" else "wrong"
    if answer.status == "partial":
        return "partly" if shown else "related"
    if not met or any(folded(text) in _text(answer.lines) for text in asked["forbid"]):
        return "wrong"
    return "right" if met >= asked["need"] else "partly"


def _met(asked: dict[str, Any], lines: Sequence[AnswerLine]) -> int:
    text = _text(lines)
    return sum(any(folded(spelled) in text for spelled in group) for group in asked["expect"])


def _text(lines: Iterable[AnswerLine]) -> str:
    return folded(" ".join(part for line in lines for part in (line.text, *(c.quote for c in line.citations))))


def folded(text: str) -> str:
    return "".join(text.split()).lower().replace(",", "")


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--kb", type=click.Path(path_type=Path, exists=True), help="the base to ask; without it the demo's")
@click.option("--show", multiple=True, type=click.Choice(VERDICTS), help="print the questions with this verdict")
def main(files: tuple[Path, ...], kb: Path | None, show: tuple[str, ...]) -> None:
    """Ask every question and print verdicts by kind, and how long an answer takes."""
    with tempfile.TemporaryDirectory() as scratch:
        base = kb or demo_base(Path(scratch) / "demo.liantu")
        verdicts: dict[str, Counter[str]] = defaultdict(Counter)
        seconds: dict[str, list[float]] = defaultdict(list)
        began = time.perf_counter()
        with open_kb(base) as opened:
            opened.ask("今天天气怎么样")
            click.echo(f"opening the base and the first answer take {time.perf_counter() - began:.1f} s")
            for asked in (json.loads(row) for file in files or (DEMO,) for row in file.open(encoding="utf-8")):
                began = time.perf_counter()
                answer = opened.ask(asked["question"])
                taken = time.perf_counter() - began
                judged = verdict(asked, answer)
                for key in (asked["kind"], f"({asked['answer']})", "(all)"):
                    verdicts[key][judged] += 1
                    seconds[key].append(taken)
                if judged in show:
                    click.echo(f"{judged}: {asked['question']}  -> {answer.status}, {asked['expect']}")
        _print(verdicts, seconds)


def demo_base(kb: Path) -> Path:
    """Read the bundled reports as a user does."""
    command = [str(Path(sys.executable).with_name("liantu")), "ingest", str(REPORTS), "--kb", str(kb)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return kb


def _print(verdicts: dict[str, Counter[str]], seconds: dict[str, list[float]]) -> None:
    click.echo(f"{'kind':14}{'':>5}" + "".join(f"{name:>12}" for name in (*VERDICTS, "median s", "most s")))
    for kind in sorted(verdicts, key=lambda name: (name.startswith("("), name)):
        counts = verdicts[kind]
        taken = f"{statistics.median(seconds[kind]):>12.2f}{max(seconds[kind]):>12.2f}"
        click.echo(f"{kind:14}{counts.total():>5}" + "".join(f"{counts[name] or '':>12}" for name in VERDICTS) + taken)


if __name__ == "__main__":
    main()
