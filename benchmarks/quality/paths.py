"""Print random paths of `impact` and `causes`, or parties of `impact`, with their sentences, to be read one by one.

    python -m benchmarks.quality.paths --kb KB --since 2025-08-13 --steps 2 --count 45 --seed 7
    python -m benchmarks.quality.paths --kb KB --since 2025-08-13 --parties --count 45 --seed 7

Every link of a path is stated by a document of that day or later.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kg.errors import QuestionError
from kg.query.wording import path_text
from kg.service.base import open_kb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime

    from kg.model import Fact
    from kg.query.session import QuerySession
    from kg.service.base import KnowledgeBase

_EACH = 2  # of one question


@click.command()
@click.option("--kb", "path", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), default="1990-01-01")
@click.option("--steps", default=1, help="The least number of steps of a path.")
@click.option("--parties", is_flag=True, help="Who is stated to gain or pay, instead of paths.")
@click.option("--count", default=40)
@click.option("--seed", default=1)
def main(path: Path, since: datetime, steps: int, parties: bool, count: int, seed: int) -> None:
    """Print the sample."""
    rng = random.Random(seed)  # noqa: S311 -- a sample
    with open_kb(path) as kb, kb.session() as session:
        facts = [fact for fact in session.confident(session.view.facts(relation="affects")) if fact.sign]
        ends = {end for fact in facts if _late(fact, since.date()) for end in (fact.subject, fact.object)}
        names = [(session.name(end), way) for end in sorted(ends) for way in ("impact", "causes")]
        rng.shuffle(names)
        shown = 0
        for name, way in names:
            if shown < count and (way == "impact" or not parties):
                found = list(_parties(kb, name) if parties else _paths(kb, session, name, way, steps))
                late = [text for text, stated in found if all(_late(fact, since.date()) for fact in stated)]
                for text in rng.sample(late, min(_EACH, len(late), count - shown)):
                    shown += 1
                    print(f"{shown}. {way} {name}: {text}")


def _paths(
    kb: KnowledgeBase, session: QuerySession, name: str, way: str, steps: int
) -> Iterator[tuple[str, list[Fact]]]:
    for direction in ("up", "down"):
        try:
            answer = getattr(kb, way)(name, direction=direction)
        except QuestionError:
            return
        for each in answer.paths:
            if len(each.links) >= steps:
                first = answer.direction * (1 if answer.forward else each.sign)
                best = [max(link.facts, key=lambda fact: fact.last_published_on) for link in each.links]
                yield "\n   ".join([path_text(session, each, first), *map(_quote, best)]), best


def _parties(kb: KnowledgeBase, name: str) -> Iterator[tuple[str, list[Fact]]]:
    for direction in ("up", "down"):
        try:
            answer = kb.impact(name, direction=direction)
        except QuestionError:
            return
        for party in answer.parties:
            if party.basis != "inferred":
                sign = "+" if party.sign > 0 else "-"
                weak = " weak" if party.weak else ""
                yield (
                    f"{direction}: {party.entity.name} {sign} {party.basis}{weak}\n   {_quote(party.facts[0])}",
                    [party.facts[0]],
                )


def _late(fact: Fact, since: date) -> bool:
    return fact.last_published_on >= since


def _quote(fact: Fact) -> str:
    best = max(fact.evidence, key=lambda item: item.confidence)
    return f"{best.published_on} {best.quote}"


if __name__ == "__main__":
    main()
