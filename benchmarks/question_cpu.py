"""Processor time of each question on the busiest entities of a base: `python -m benchmarks.question_cpu --kb KB`.

Prints the first and the best later of `--repeat` runs, and a digest of the answer, so that two states of the code can
be compared; with `--wall` the time that passes, in which a Neo4j server (`--kb neo4j://HOST:PORT`) has its part.
"""

from __future__ import annotations

import hashlib
import json
import time
from typing import TYPE_CHECKING

import click
import numpy as np

from kg.model import Kind
from kg.service.base import open_kb

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg.service.base import KnowledgeBase


@click.command()
@click.option("--kb", "path", required=True)
@click.option("--repeat", default=3, show_default=True)
@click.option("--wall", is_flag=True)
def main(path: str, repeat: int, *, wall: bool) -> None:
    """Ask every question about the busiest entities."""
    clock = time.perf_counter if wall else time.process_time
    with open_kb(path) as kb:
        began = clock()
        hubs = _hubs(kb)
        print(f"compile or map the snapshot: {clock() - began:.2f} s\n")
        print("| question | first ms | later ms | answer |\n|---|---|---|---|")
        for name, ask in _questions(kb, hubs).items():
            times = []
            for _ in range(repeat):
                began = clock()
                answer = ask()
                times.append((clock() - began) * 1000)
            text = json.dumps(answer.to_dict(), sort_keys=True, default=str)  # type: ignore[attr-defined]
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            print(f"| {name} | {times[0]:.0f} | {min(times[1:], default=times[0]):.0f} | {digest} |", flush=True)


def _hubs(kb: KnowledgeBase) -> dict[Kind, list[str]]:
    """Return the two busiest entities of each kind."""
    with kb.session() as session:
        graph = session.graph
        edges, size = graph.edges(), len(graph.entity_ids)
        degree = np.bincount(edges.source, minlength=size) + np.bincount(edges.target, minlength=size)
        found: dict[Kind, list[str]] = {}
        for node in np.argsort(-degree, kind="stable").tolist():
            of_kind = found.setdefault(graph.kinds[node], [])
            if len(of_kind) < 2:
                of_kind.append(graph.entity_ids[node])
    return found


def _questions(kb: KnowledgeBase, hubs: dict[Kind, list[str]]) -> dict[str, Callable[[], object]]:
    company, (product, other) = hubs[Kind.COMPANY][0], hubs[Kind.PRODUCT]
    indicator = hubs[Kind.INDICATOR][0]
    return {
        "chain": lambda: kb.chain(product),
        "impact": lambda: kb.impact(indicator),
        "relate a company and a product": lambda: kb.relate(company, product),
        "relate two products": lambda: kb.relate(product, other),
        "profile of a company": lambda: kb.profile(company),
        "profile of an indicator": lambda: kb.profile(indicator),
        "neighbours": lambda: kb.neighbours(company),
        "facts": kb.facts,
        "facts of a company": lambda: kb.facts(name=company),
        "stats": kb.stats,
    }


if __name__ == "__main__":
    main()
