"""Print random facts with quotes, or entities, to be read one by one.

python -m benchmarks.sample --kb KB --count 50 --seed 7
python -m benchmarks.sample --kb KB --shown --edges --since 2025-09-21 --count 100 --seed 6
python -m benchmarks.sample --kb KB --entities --since 2025-09-21 --count 100 --seed 6
"""

from __future__ import annotations

import argparse
import random
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from kg.query.session import QuerySession
from kg.query.wording import claim_text
from kg.store.open import open_store

if TYPE_CHECKING:
    from kg.model import Fact

_MEASURED = ("reports", "rates")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, required=True)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--relation", help="only facts of this relation")
    parser.add_argument("--edges", action="store_true", help="only relations, no measured facts")
    parser.add_argument("--figures", action="store_true", help="only measured facts")
    parser.add_argument("--min-confidence", type=float, default=0.0)
    parser.add_argument("--shown", action="store_true", help="only facts above the cut of their kind")
    parser.add_argument("--weak", action="store_true", help="only facts that are shown as weak")
    parser.add_argument(
        "--since", type=date.fromisoformat, default=date.min, help="only facts first published from then on"
    )
    parser.add_argument("--entities", action="store_true", help="entities of such facts, each with one of them")
    options = parser.parse_args()
    store = open_store(options.kb)
    session = QuerySession(store.view())
    facts = [
        fact
        for fact in session.view.facts(relation=options.relation)
        if fact.confidence >= options.min_confidence
        and not (options.edges and fact.relation in _MEASURED)
        and not (options.figures and fact.relation not in _MEASURED)
        and min(item.published_on for item in fact.evidence) >= options.since
    ]
    if options.shown or options.weak:
        sure = {fact.id for fact in session.confident(facts)}
        facts = [fact for fact in session.confident(facts, weak=options.weak) if options.shown or fact.id not in sure]
    rng = random.Random(options.seed)  # noqa: S311 -- a repeatable sample
    if options.entities:
        known = {end: fact for fact in facts for end in (fact.subject, fact.object) if end}
        for number, end in enumerate(rng.sample(sorted(known), min(options.count, len(known))), 1):
            kind = end.partition(":")[0]
            print(f"{number:3}. {kind} {session.name(end)}  「{_quote(known[end])}」")
        facts = []
    for number, fact in enumerate(rng.sample(facts, min(options.count, len(facts))), 1):
        item = fact.evidence[0]
        source = f"{item.published_on}, {item.extractor}, {item.confidence}"
        print(f"{number:3}. [{fact.relation}] {claim_text(session, fact)}  ({source})")
        print(f"     「{_quote(fact)}」")
    store.close()


def _quote(fact: Fact) -> str:
    return fact.evidence[0].quote.replace("\n", " ")


if __name__ == "__main__":
    main()
