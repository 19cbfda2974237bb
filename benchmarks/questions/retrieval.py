"""How often passages hold the answer of a question: `python -m benchmarks.questions.retrieval [FILE …] [--kb KB]`.

A file is one of `benchmarks.questions`; without one, and without a base, those about the bundled reports are asked of a
base made from them, with an index of vectors. A question counts as hit within k if the first k passages together hold
what a right answer needs; questions without an answer in the documents are left out. Then all questions are asked for
a `context` of 2,000 tokens; it holds what was expected, or not, by route, and what cannot be answered counts as not.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchmarks.questions.__main__ import DEMO, demo_base, folded
from kg.commands.options import configured_encoder
from kg.query.grounding.dual_level import MODES
from kg.service.base import open_kb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg.query.answers import Passage
    from kg.query.grounding.dual_level import Mode
    from kg.service.base import KnowledgeBase

WITHIN = (1, 5, 10)


def first_hit(asked: dict[str, Any], texts: Sequence[str]) -> int:
    """Return how many of the first texts hold what the answer needs, or 0 if all together do not."""
    groups = [[folded(spelled) for spelled in group] for group in asked["expect"]]
    met: set[int] = set()
    for rank, text in enumerate(map(folded, texts), start=1):
        met |= {number for number, group in enumerate(groups) if any(spelled in text for spelled in group)}
        if len(met) >= asked["need"]:
            return rank
    return 0


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--kb", type=click.Path(path_type=Path, exists=True), help="the base to ask; without it the demo's")
@click.option("--mode", "modes", multiple=True, type=click.Choice(MODES), help="only these ways")
def main(files: tuple[Path, ...], kb: Path | None, modes: tuple[Mode, ...]) -> None:
    """Print for each way of finding passages how often they hold the answer, then how often a context does."""
    rows = [json.loads(line) for file in files or (DEMO,) for line in file.open(encoding="utf-8")]
    with tempfile.TemporaryDirectory() as scratch:
        base = kb or demo_base(Path(scratch) / "demo.liantu")
        with open_kb(base, encoder=configured_encoder()) as opened:
            assert opened.vectors is not None
            if kb is None:
                opened.vectors.index.update(opened.store, opened.vectors.encoder)
            if not opened.vectors.index.state:
                click.echo("no index of vectors (`liantu index`): vectors and fused are left out")
                modes = modes or tuple(mode for mode in MODES if mode not in {"vectors", "fused"})
            _print_passages(opened, rows, modes or MODES)
            _print_contexts(opened, rows)


def _print_passages(kb: KnowledgeBase, rows: Sequence[dict[str, Any]], modes: Sequence[Mode]) -> None:
    asked = [row for row in rows if row["answer"] == "yes" and row["expect"]]
    click.echo(f"{len(asked)} questions\n{'mode':10}" + "".join(f"{f'hit@{k}':>9}" for k in WITHIN) + f"{'ms':>9}")
    for mode in modes:
        ranks, seconds = [], []
        for each in asked:
            began = time.perf_counter()
            found = kb.passages(each["question"], limit=max(WITHIN), mode=mode)
            seconds.append(time.perf_counter() - began)
            ranks.append(first_hit(each, list(map(_text, found))))
        shares = "".join(f"{100 * sum(0 < rank <= k for rank in ranks) / len(asked):>8.0f}%" for k in WITHIN)
        click.echo(f"{mode:10}{shares}{1000 * statistics.median(seconds):>9.0f}")


def _text(passage: Passage) -> str:
    return f"{passage.title} {' '.join(passage.chunk.heading)} {passage.chunk.text}"


def _print_contexts(kb: KnowledgeBase, rows: Sequence[dict[str, Any]]) -> None:
    asked, held = Counter[str](), Counter[str]()
    for each in rows:
        found = kb.context(each["question"])
        asked[found.route] += 1
        held[found.route] += each["answer"] == "yes" and first_hit(each, [found.text]) > 0
    click.echo(f"\n{'route':10}{'held':>9}{'asked':>9}")
    for route, count in asked.most_common():
        click.echo(f"{route:10}{held[route]:>9}{count:>9}")


if __name__ == "__main__":
    main()
