"""Count which claims of `chain` about the bundled reports are shown, of those that a reader judged.

    liantu ingest notebooks/demo/reports --kb KB
    python -m benchmarks.quality.demo_claims --kb KB

Reads demo_reading.jsonl in LIANTU_DATA. A claim 「layer：stage」 or 「stage：company」 is shown where the chain has it
in these words; under another name or side it is not. `--show` lists the wrong ones that are shown and the
right ones that are not.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.quality.__main__ import DATA
from kg.errors import QuestionError
from kg.service.base import open_kb

if TYPE_CHECKING:
    from kg.service.base import KnowledgeBase

VERDICTS = ("right", "loose", "wrong")
_MISSING = "缺"  # what opens the claim that something is missing


@click.command()
@click.option("--kb", "path", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--show", is_flag=True)
def main(path: Path, *, show: bool) -> None:
    """Print how many claims of each verdict were judged and are shown."""
    reading = DATA / "demo_reading.jsonl"
    if not reading.is_file():
        sys.exit(f"no {reading}; LIANTU_DATA names the folder of the data")
    rows = [json.loads(line) for line in reading.read_text(encoding="utf-8").splitlines()]
    judged: Counter[tuple[str, bool]] = Counter()
    seen: set[str] = set()
    with open_kb(path) as kb:
        printed = cache(lambda topic: claims_of(kb, topic))
        for row in rows:
            command, _, topic = row["command"].partition(" ")
            claim, verdict = row["claim"], row["verdict"]
            if command != "chain" or claim.startswith(_MISSING) or "：" not in claim:
                continue
            hit = claim in printed(topic)
            judged[verdict, hit] += 1
            seen.add(topic)
            if show and hit == (verdict == "wrong") and verdict != "loose":
                print(f"{verdict} {'shown' if hit else 'not shown'}: {row['command']}: {claim}")
        total = sum(len(printed(topic)) for topic in seen)
    print("| verdict | judged | shown |\n|---|---|---|")
    for verdict in VERDICTS:
        print(f"| {verdict} | {judged[verdict, True] + judged[verdict, False]} | {judged[verdict, True]} |")
    print(f"\nclaims in the {len(seen)} chains: {total}")


def claims_of(kb: KnowledgeBase, topic: str) -> set[str]:
    """Return what a chain claims: where each stage stands, who stands on it, and what flows into what."""
    try:
        answer = kb.chain(topic)
    except QuestionError:
        return set()
    names = {node.entity.id: node.entity.name for node in answer.graph.nodes}
    flows = [link for link in answer.graph.links if link.relation in ("upstream_of", "part_of")]
    return {f"依据：{names[link.source]}→{names[link.target]}（上游→下游）" for link in flows} | {
        f"{left}：{right}"
        for layer in answer.layers
        for stage in layer.stages
        for name in [stage.node.entity.name]
        for left, right in [(layer.name, name), *((name, each.entity.name) for each in stage.companies)]
    }


if __name__ == "__main__":
    main()
