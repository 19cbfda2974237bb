"""The corpus gate: the bundled reports give the same facts as before; `make goldens` after an intended change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from liantu import open_kb
from tests.goldens.demo_corpus import GOLDEN, claims, figures

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kg.store.port import View

SLACK = 0.01  # processors round the model's probabilities differently, so a fact at a threshold may come or go


@pytest.fixture(scope="module")
def view(demo_base: Path) -> Iterator[View]:
    with open_kb(demo_base) as kb:
        yield kb.store.view()


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize("counted", ["facts", "edges", "entities"])
def test_counts_are_unchanged(view: View, golden: dict[str, Any], counted: str):
    found = figures(view)
    assert found[counted].keys() == golden[counted].keys()
    moved = {
        name: f"{before} → {found[counted][name]}"
        for name, before in golden[counted].items()
        if abs(found[counted][name] - before) > max(2, SLACK * before)
    }
    assert not moved, f"{counted}: {moved}; if intended, run `make goldens`"


def test_every_report_is_read_and_no_entity_is_an_orphan(view: View, golden: dict[str, Any]):
    found = figures(view)
    assert found["documents"] == golden["documents"]
    assert found["orphan_entities"] == 0


def test_the_sampled_facts_are_still_read(view: View, golden: dict[str, Any]):
    now = {line for lines in claims(view).values() for line in lines}
    lost = [line for line in golden["sample"] if line not in now]
    assert not lost, "facts lost or changed; if intended, run `make goldens`:\n" + "\n".join(lost)
