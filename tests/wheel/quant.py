# ruff: noqa: T201 -- what a user writes
"""A user's script, `python quant.py KB OUT NAME TOPIC`: test_wheel.py checks its types and runs it."""

from __future__ import annotations

import sys
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from liantu import Entity, Fact, Period, UnknownName, open_kb

if TYPE_CHECKING:
    import pandas as pd

    from liantu import ChainAnswer, KnowledgeBase

DAYS = (date(2023, 6, 30), date(2025, 6, 30))


def suppliers_over_time(kb: KnowledgeBase, name: str) -> dict[date, list[str]]:
    """Return who was known to supply a company, on each day."""
    found: dict[date, list[str]] = {}
    for day in DAYS:
        frame: pd.DataFrame = kb.asof(day).frame("suppliers", name)
        found[day] = sorted(frame["source_name"].tolist())
    return found


def facts_between(kb: KnowledgeBase, first: date, last: date) -> list[Fact]:
    """Return the facts of documents that were published from one day to another."""
    rows: list[Fact] = []
    after = ""
    while True:
        page = kb.facts(published_from=first, published_to=str(last), after=after, limit=500)
        rows += [row.fact for row in page.facts]
        if not (after := page.next):
            return rows


def walk(chain: ChainAnswer) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return layer, stage and the codes of its companies, from upstream to downstream."""
    steps: list[tuple[str, str, tuple[str, ...]]] = []
    for layer in chain.layers:
        for stage in layer.stages:
            codes = tuple(code for company in stage.companies for code in company.entity.codes)
            steps.append((str(layer.name), stage.node.entity.name, codes))
    return steps


def main(base: str, out: str, name: str, topic: str) -> None:
    """Print what a quant asks first."""
    with open_kb(base) as kb:
        print(suppliers_over_time(kb, name))
        facts = facts_between(kb, DAYS[0], DAYS[1] + timedelta(days=1))
        periods: list[Period] = [fact.valid for fact in facts if fact.valid]
        print(len(facts), "facts,", len(periods), "with a period")
        print(kb.themes_frame().head())
        chain = kb.chain(topic, as_of=DAYS[1])
        head: Entity = chain.topic
        print(head.name, walk(chain))
        chain.to_pyvis().write_html(str(Path(out) / "chain.html"))
        try:
            kb.impact(topic[:1] + name, direction="down")
        except UnknownName as error:
            print("did you mean", error.near)


if __name__ == "__main__":
    main(*sys.argv[1:5])
