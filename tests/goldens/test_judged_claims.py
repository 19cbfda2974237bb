"""What a reader judged about the bundled reports: claims that `chain` must show, and claims that it must not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from liantu import open_kb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.service.base import KnowledgeBase

JUDGED = yaml.safe_load(Path(__file__).with_name("judged_claims.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def base(demo_base: Path) -> Iterator[KnowledgeBase]:
    with open_kb(demo_base) as kb:
        yield kb


def shown(base: KnowledgeBase, topic: str) -> set[str]:
    """Return the claims of a chain, as the file words them."""
    found: set[str] = set()
    for layer in base.chain(topic).layers:
        for stage in layer.stages:
            name = stage.node.entity.name
            found |= {name, f"{layer.name}：{name}", *(f"{name}：{each.entity.name}" for each in stage.companies)}
    return found


@pytest.mark.parametrize("topic", JUDGED)
def test_chains_show_what_was_judged_right_and_nothing_that_was_judged_wrong(base: KnowledgeBase, topic: str):
    found = shown(base, topic)
    missing = [claim for claim in JUDGED[topic]["shown"] if claim not in found]
    wrong = [claim for claim in JUDGED[topic]["never"] if claim in found]
    assert (missing, wrong) == ([], [])
