"""A base on a Neo4j server can be asked in Cypher: the statements of docs/store.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.architecture.source import ROOT
from tests.contracts.readings import day
from tests.kg.interop.exports.sample import base
from tests.neo4j.server import emptied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.store.port import Store
    from tests.neo4j.server import Server

pytestmark = pytest.mark.neo4j
STATEMENTS = re.findall(r"```cypher\n(.*?)```", (ROOT / "docs" / "store.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def store(neo4j_server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    yield from emptied(neo4j_server, monkeypatch)


def test_the_documented_statements_answer(store: Store, neo4j_server: Server):
    sample = base()
    with store.writer() as writer:
        for head in sample.view().documents():
            written = sample.reading(head.id)
            assert written
            writer.write(written)
        for run in sample.view().runs():
            writer.publish(run)
    supply, price, members = (neo4j_server.run(each) for each in STATEMENTS)
    stated = [(*row[:3], *map(str, row[3:5])) for row in supply]
    assert ("宁德时代", "比亚迪", "报告2", str(day(3)), "宁德时代") in stated
    assert ["碳酸锂价格", "碳酸锂"] in price
    assert {row[1] for row in members} >= {"宁德时代", "比亚迪"}
    with store.writer() as writer:
        for run in list(sample.view().runs()):
            writer.withdraw(run.id)
    assert neo4j_server.run("MATCH (c:Community) RETURN c") == []
