"""Count how many stages and companies that a reader lists for a topic `chain` shows.

    python -m benchmarks.quality.chains --kb KB lists.jsonl

A line of the lists is one topic: {"topic", "stages", "companies"}; names of one thing are parted by |.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from kg.errors import QuestionError
from kg.service.base import open_kb


@click.command()
@click.option("--kb", "path", type=click.Path(path_type=Path, exists=True), required=True)
@click.argument("lists", type=click.Path(path_type=Path, exists=True))
def main(path: Path, lists: Path) -> None:
    """Print a row for each topic, then their sum."""
    total = [0, 0, 0, 0, 0, 0]
    print("| topic | stages listed | shown of them | companies listed | shown of them | stages | companies in all |")
    print("|---|---|---|---|---|---|---|")
    with open_kb(path) as kb:
        for line in lists.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            try:
                stages = [stage for layer in kb.chain(row["topic"]).layers for stage in layer.stages]
            except QuestionError:
                stages = []
            names = {stage.node.entity.name for stage in stages}
            firms = {node.entity.name.removesuffix("-W") for stage in stages for node in stage.companies}
            counts = [*_hits(row["stages"], names), *_hits(row["companies"], firms), len(names), len(firms)]
            total = [one + other for one, other in zip(total, counts, strict=True)]
            print(f"| {row['topic']} | {' | '.join(map(str, counts))} |")
    print(f"| all | {' | '.join(map(str, total))} |")


def _hits(listed: list[str], shown: set[str]) -> tuple[int, int]:
    return len(listed), sum(not shown.isdisjoint(names.split("|")) for names in listed)


if __name__ == "__main__":
    main()
