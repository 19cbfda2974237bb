"""`liantu export neo4j`, loaded by the real `neo4j-admin` and indexed by its script, answers the documented Cypher."""

from __future__ import annotations

import re
import sys
from datetime import date
from typing import TYPE_CHECKING

import pytest

from kg.interop.exports.content import plain
from kg.interop.exports.formats import export
from tests.architecture.source import ROOT
from tests.kg.interop.exports.sample import BYD, CATL, HOSTILE, MARGIN, PRICE, base
from tests.kg.interop.peers.environment import documented
from tests.neo4j.server import Server, imported, missing, started

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.neo4j
_EXAMPLES = re.findall(r"```cypher\n(.*?)```", (ROOT / "docs" / "interop.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if reason := missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("export") / "neo4j"
    with base().reader() as view:
        export(view, "neo4j", folder)
    home = tmp_path_factory.mktemp("server")
    assert "IMPORT DONE" in imported(home, folder)
    for server in started(home):
        for statement in (folder / "schema.cypher").read_text(encoding="utf-8").split(";\n"):
            if statement.strip():
                server.run(statement)
        yield server


def test_every_fact_is_a_relationship_of_its_own_type(server: Server):
    ((count,),) = server.run("MATCH (:Entity)-[r]->(:Entity) WHERE NOT r:ABOUT RETURN count(r)")
    assert count == base().stats()["facts"]
    about = server.run("MATCH (a:Indicator)-[r:ABOUT]->(b:Entity) WHERE a.id = $one RETURN r.caption", one=PRICE)
    assert about == [["衡量"]]
    ((sign, begin, end, published, quote, documents),) = server.run(
        "MATCH (a:Indicator {id: $one})-[r:AFFECTS]->(b {id: $other}) "
        "RETURN r.sign, r.valid_from, r.valid_to, r.published_on, r.quote, r.documents",
        one=PRICE,
        other=MARGIN,
    )
    assert sign == -1
    assert [bound.to_native() for bound in (begin, end)] == [date(2024, 1, 1), date(2024, 4, 1)]  # type: ignore[attr-defined]
    assert published.to_native() == date(2024, 1, 2)  # type: ignore[attr-defined]
    assert documents == ["doc:1"]
    document = base().view().document("doc:1")
    assert document
    assert quote in document.text


def test_a_view_of_a_day_is_one_condition(server: Server):
    asked = "MATCH ()-[r:SUPPLIES|PRODUCES]->() WHERE r.published_on <= date($day) RETURN count(r)"
    assert server.run(asked, day="2024-01-03") == [[1]]
    assert server.run(asked, day="2024-12-31") == [[3 + len(HOSTILE)]]


def test_lists_and_hostile_names_come_back_as_they_were(server: Server):
    assert server.run("MATCH (n:Company {id: $id}) RETURN n.codes, n.aliases", id=CATL) == [[["300750.SZ"], ["宁王"]]]
    names = {row[0] for row in server.run("MATCH (:Entity {id: $id})-[:PRODUCES]->(n) RETURN n.name", id=CATL)}
    assert {plain(name) for name in HOSTILE} <= names
    assert server.run("MATCH (n:Entity) RETURN count(n) > 5") == [[True]]


def test_themes_have_their_members(server: Server):
    found = server.run("MATCH (n)-[:IN_COMMUNITY]->(t:Community {name: '锂电池', level: 0}) RETURN n.id ORDER BY n.id")
    assert [BYD] in found
    assert len(found) == 4


def test_the_script_makes_constraints_and_indexes(server: Server):
    names = {row[0] for row in server.run("SHOW CONSTRAINTS YIELD name RETURN name")}
    assert {"entity_id", "document_id", "community_id"} <= names
    ((state,),) = server.run("SHOW INDEXES YIELD name, state WHERE name = 'supplies_published_on' RETURN state")
    assert state == "ONLINE"


def test_the_documented_statements_give_the_documented_rows(server: Server):
    rows = [server.run(statement) for statement in _EXAMPLES]
    for statement, found in zip(_EXAMPLES, rows, strict=True):
        sys.stdout.write("\n".join(("", statement, *map(str, found), "")))  # with `pytest -s`
    assert all(rows)
    assert {*documented("neo4j", "export")} <= {str(row) for found in rows for row in found}
