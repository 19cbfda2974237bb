"""Print random facts with quotes for manual review: `python -m benchmarks.sample --kb KB --count 50 --seed 7`."""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from kg.query.session import QuerySession
from kg.query.wording import claim_text
from kg.store.open import open_store

_MEASURED = ("reports", "rates")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kb", type=Path, required=True)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--relation", help="only facts of this relation")
    parser.add_argument("--edges", action="store_true", help="only relations, no measured facts")
    parser.add_argument("--figures", action="store_true", help="only measured facts")
    parser.add_argument("--min-confidence", type=float, default=0.0)
    options = parser.parse_args()
    store = open_store(options.kb)
    session = QuerySession(store.view())
    facts = [
        fact
        for fact in session.view.facts(relation=options.relation)
        if fact.confidence >= options.min_confidence
        and not (options.edges and fact.relation in _MEASURED)
        and not (options.figures and fact.relation not in _MEASURED)
    ]
    chosen = random.Random(options.seed).sample(facts, min(options.count, len(facts)))  # noqa: S311 -- a repeatable sample
    for number, fact in enumerate(chosen, 1):
        item = fact.evidence[0]
        source = f"{item.published_on}, {item.extractor}, {item.confidence}"
        print(f"{number:3}. [{fact.relation}] {claim_text(session, fact)}  ({source})")
        print(f"     「{item.quote.replace(chr(10), ' ')}」")
    store.close()


if __name__ == "__main__":
    main()
