"""How often passages hold the answer of a question: `python -m benchmarks.questions.retrieval FILE … --kb KB`.

A file is one of `benchmarks.questions`. A question counts as hit within k if the first k passages together hold what a
right answer needs. Questions without an answer in the documents are left out.
"""

from __future__ import annotations

import json
import statistics
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchmarks.questions.__main__ import folded
from kg.query.grounding.dual_level import MODES
from kg.service.base import open_kb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg.query.answers import Passage
    from kg.query.grounding.dual_level import Mode

WITHIN = (1, 5, 10)


def first_hit(asked: dict[str, Any], found: Sequence[Passage]) -> int:
    """Return how many of the first passages hold what the answer needs, or 0 if all together do not."""
    groups = [[folded(spelled) for spelled in group] for group in asked["expect"]]
    met: set[int] = set()
    for rank, passage in enumerate(found, start=1):
        text = folded(f"{passage.title} {' '.join(passage.chunk.heading)} {passage.chunk.text}")
        met |= {number for number, group in enumerate(groups) if any(spelled in text for spelled in group)}
        if len(met) >= asked["need"]:
            return rank
    return 0


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--kb", required=True, type=click.Path(path_type=Path, exists=True), help="the base to ask")
@click.option("--mode", "modes", multiple=True, type=click.Choice(MODES), default=MODES, help="only these ways")
def main(files: tuple[Path, ...], kb: Path, modes: tuple[Mode, ...]) -> None:
    """Print for each way of finding passages how often they hold the answer, and how long it takes."""
    rows = [json.loads(line) for file in files for line in file.open(encoding="utf-8")]
    asked = [row for row in rows if row["answer"] == "yes" and row["expect"]]
    click.echo(f"{len(asked)} questions\n{'mode':10}" + "".join(f"{f'hit@{k}':>9}" for k in WITHIN) + f"{'ms':>9}")
    with open_kb(kb) as opened:
        for mode in modes:
            hits: dict[int, int] = defaultdict(int)
            seconds = []
            for each in asked:
                began = time.perf_counter()
                found = opened.passages(each["question"], limit=max(WITHIN), mode=mode)
                seconds.append(time.perf_counter() - began)
                rank = first_hit(each, found)
                for k in WITHIN:
                    hits[k] += 0 < rank <= k
            shares = "".join(f"{100 * hits[k] / len(asked):>8.0f}%" for k in WITHIN)
            click.echo(f"{mode:10}{shares}{1000 * statistics.median(seconds):>9.0f}")


if __name__ == "__main__":
    main()
